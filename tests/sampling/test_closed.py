"""Closed forms without a table: the digit law proved in rationals, the coins at their edges, and statistics."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import FALSE_ALARM, p_value

from discreet.errors import InputError, TooLarge
from discreet.model.kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.sampling import ClosedSampler
from discreet.sampling.coins import Coin, Die, decide, of_fraction
from discreet.sampling.noise import StaircaseNoise, powers_of
from discreet.sampling.testing import Scripted, Seeded

KERNELS: list[ClosedKernel] = [
    GeometricKernel(0, 8, 1, Fraction(3, 8)),
    GeometricKernel(-3, 4, 1, Fraction(2, 3)),
    StaircaseKernel(0, 12, 3, 1, Fraction(2, 5)),
    StaircaseKernel(0, 12, 3, 2, Fraction(1, 2)),
    StaircaseKernel(-5, 9, 4, 4, Fraction(5, 7)),
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_parts_put_together_are_the_kernel_exactly(kernel: ClosedKernel) -> None:
    """Every combination of coins and dice, with its rational probability, sums to the kernel's law."""
    noise = ClosedSampler(kernel).noise
    x, W, m = noise.ratio, noise.step, noise.plateau
    digits = noise._stairs.digits
    flat = Fraction(2 * m - 1) / (2 * m - 1 + 2 * W * x / (1 - x))
    law: dict[int, Fraction] = {}
    for face in range(2 * m - 1):
        law[face - m + 1] = law.get(face - m + 1, Fraction(0)) + flat / (2 * m - 1)
    for bits in product((0, 1), repeat=digits):
        p = Fraction(1)
        for i, bit in enumerate(bits):
            power = x**2**i
            p *= (power if bit else 1) / (1 + power)
        stairs = sum(bit << i for i, bit in enumerate(bits))
        over = x**2**digits
        for face, sign in product(range(W), (-1, 1)):
            share = (1 - flat) * p / W / 2
            near = sign * min(m + W * stairs + face, noise.reach)
            law[near] = law.get(near, Fraction(0)) + share * (1 - over)
            law[sign * noise.reach] = law.get(sign * noise.reach, Fraction(0)) + share * over
    assert sum(law.values()) == 1
    for state in range(kernel.low, kernel.high + 1):
        outputs = {k: Fraction(0) for k in range(kernel.low, kernel.high + 1)}
        for j, p in law.items():
            outputs[min(max(state + j, kernel.low), kernel.high)] += p
        assert outputs == {k: kernel.mass(k, state) for k in outputs}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lazy", [False, True])
def test_draws_follow_the_kernel_and_not_a_ratio_off_by_three_percent(kernel: ClosedKernel, lazy: bool) -> None:
    """False-alarm probability 1e-7 for each of ten tests."""
    state = (kernel.low + kernel.high) // 2
    drawn = ClosedSampler(kernel, lazy=lazy).draw(np.full(300_000, state))
    law = [kernel.mass(k, state) for k in range(kernel.low, kernel.high + 1)]
    assert p_value(drawn, law) > FALSE_ALARM
    near = replace(kernel, ratio=kernel.ratio * Fraction(97, 100))
    wrong = [near.mass(k, state) for k in range(kernel.low, kernel.high + 1)]
    assert p_value(drawn, wrong) < FALSE_ALARM


def test_a_million_outputs_need_no_table() -> None:
    """Mean and spread of 10^5 draws around the middle; each bound fails with probability below 1e-8."""
    ratio = Fraction(2**64 - 2**54, 2**64)
    sampler = ClosedSampler(GeometricKernel(0, 10**7, 1, ratio))
    drawn = sampler.draw(np.full(100_000, 5 * 10**6)) - 5 * 10**6
    r = float(ratio)
    variance = 2 * r / (1 - r) ** 2
    assert abs(drawn.mean()) < 6 * (variance / 1e5) ** 0.5
    # The fourth moment of two-sided geometric noise is near that of Laplace noise: 6 variance².
    assert abs(drawn.var() / variance - 1) < 6 * (5 / 1e5) ** 0.5


@settings(max_examples=60)
@given(st.fractions(min_value=0, max_value=1, max_denominator=10**9), st.integers(1, 3))
def test_a_coin_decides_at_its_edges_as_the_real_number_does(p: Fraction, limbs: int) -> None:
    bits = 64 * limbs
    lo, hi = of_fraction(p)(bits)
    assert lo <= p * 2**bits <= hi <= lo + 1
    for u in {lo - 1, lo, hi - 1, hi, 0, 2**bits - 1}:
        if not 0 <= u < 2**bits:
            continue
        following = 0x9E3779B97F4A7C15
        words = [u >> 64 * i & 2**64 - 1 for i in reversed(range(limbs))]
        heads = bool(Coin(of_fraction(p), limbs).toss(1, Scripted([*words, *[following] * 40]))[0])
        # U is the prefix followed by the same word for ever: u + w/(2^64 − 1), over 2^bits.
        real = (u + Fraction(following, 2**64 - 1)) / 2**bits
        assert heads == (real < p)


def test_a_coin_of_eighths_is_exhausted_by_three_bits() -> None:
    for eighths in range(9):
        script = [u << 61 | 0x1234567 for u in range(8)]
        assert Coin(of_fraction(Fraction(eighths, 8)), 1).toss(8, Scripted(script)).sum() == eighths


def test_an_open_coin_reads_on_and_ends() -> None:
    third = of_fraction(Fraction(1, 3))
    alternating = 0x5555555555555555
    assert decide(alternating, 64, third, Scripted([alternating, alternating - 1])) is True
    assert decide(alternating, 64, third, Scripted([alternating, alternating + 1])) is False


@pytest.mark.parametrize("faces", [1, 2, 3, 7, 1000, 2**31 - 1])
@pytest.mark.parametrize("limbs", [1, 2])
def test_a_die_shows_the_floor_of_u_times_n(faces: int, limbs: int) -> None:
    bits = 64 * limbs
    for face in {0, 1, faces // 2, faces - 1}:
        first = -(-(face << bits) // faces)  # the least prefix whose whole interval shows this face or a later one
        for u in (first - 1, first):
            if not 0 <= u < 2**bits:
                continue
            words = [u >> 64 * i & 2**64 - 1 for i in reversed(range(limbs))]
            shown = int(Die(faces, limbs).roll(1, Scripted([*words, *[2**63] * 9]))[0])
            assert shown == int((u + Fraction(2**63, 2**64 - 1)) * faces / 2**bits)


def test_powers_are_bracketed_and_close_in() -> None:
    x = Fraction(355, 452)
    power = powers_of(x)
    for i, bits in product(range(8), (64, 128, 320)):
        lo, hi = power(2**i, bits)
        assert lo <= x**2**i * 2**bits <= hi <= lo + 2


def test_fixed_work_reads_the_same_words_for_every_state() -> None:
    sampler = ClosedSampler(KERNELS[3])
    reads = []
    for state in (0, 5, 12):
        source = Seeded(1)
        sampler.decode(np.full(100, state), source)
        reads.append(source.read)
    assert len(set(reads)) == 1


def test_states_outside_and_ranges_too_wide_are_refused() -> None:
    with pytest.raises(InputError):
        ClosedSampler(KERNELS[0]).draw(np.array([9]))
    with pytest.raises(InputError):
        ClosedSampler(KERNELS[0]).draw(np.array([1.5]))
    with pytest.raises(TooLarge):
        StaircaseNoise(1, 1, Fraction(1, 2), 2**61, 2)
    with pytest.raises(TooLarge):
        Die(2**31, 1)
