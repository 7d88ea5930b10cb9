"""Noise read along a line: what it loses follows from two moments, so no law has to be formed.

The mechanism publishes S = Σ_t w_t·n_t plus geometric or staircase noise Z that falls by r once every W units, gathered at the
ends low and high of its range (`model.closed_kernel`), and recommends a(y) = α + β·y after every output y. ω = Σ_t v_t·n_t, under
any prior. With D = Σ_t (β w_t − v_t)·n_t, m the least distance from a value of S to an end of the range, and q = ⌊m/W⌋,

    E (a − ω)² ≤ (√A + √B)²,     A = E (D + α)² + β²·E Z²,     B = β²·r^q·E Z².

Proof. Without gathering a − ω = (D + α) + βZ, and Z is independent of D with mean 0: that is A. Gathering moves an output by
(Z − m)₊ at most on either side; noise does not rise away from 0 and falls by r with every W, P(Z = m + j) ≤ P(Z = qW + j) =
r^q·P(Z = j) for j ≥ 0, so E (Z − m)₊² ≤ r^q·E Z²/2. Then Minkowski. ∎

E Z²: |Z| = kW + t, 0 ≤ t < W, has probability c·r^k·g(t), g = 1 on the plateau t < p and r beyond. With G_i = Σ_t t^i·g(t)
    E Z² = 2c·[W²·G_0·r(1+r)/(1−r)³ + 2W·G_1·r/(1−r)² + G_2/(1−r)];     geometric noise is W = p = 1, E Z² = 2r/(1−r)².

Arithmetic. Exact rationals; r^q is rounded up, and (√A + √B)² ≤ (1 + t)·A + (1 + 1/t)·B for every t > 0. [ours]
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from discreet.certify.value.sums import Sums, sums_of
from discreet.model.kernel import ClosedKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary

BITS = 256
LEAST_MARGIN = 40
"""r^q is at most 2 to the minus this, or the bound is too far from the loss to be of use."""


def line_payoff(mechanism: Mechanism) -> Fraction | None:
    """A lower side of the expected payoff; None when the mechanism is not noise read along a line for one squared error."""
    kernel, sums, decisions = mechanism.kernel, sums_of(mechanism), mechanism.problem.decisions
    if sums is None or not isinstance(kernel, ClosedKernel) or not isinstance(decisions[0].loss, SquaredLoss):
        return None
    power, line = _beyond(mechanism, kernel), _line(kernel)
    if line is None or power.bit_length() > BITS - LEAST_MARGIN:
        return None
    return -decisions[0].weight * _loss(sums, second_moment(kernel), power, *line)


def second_moment(kernel: ClosedKernel) -> Fraction:
    """E Z² of noise that no end gathers."""
    r, wide, flat = kernel.ratio, kernel.stair, kernel.plateau
    none, one, two = (r * all_of + (1 - r) * inner for all_of, inner in zip(_sums(wide), _sums(flat), strict=True))
    found = wide**2 * none * r * (1 + r) / (1 - r) ** 3 + 2 * wide * one * r / (1 - r) ** 2 + two / (1 - r)
    return 2 * kernel.unit * found


def _sums(count: int) -> tuple[int, int, int]:
    """Σ_{t<count} t^i for i = 0, 1, 2."""
    return count, count * (count - 1) // 2, (count - 1) * count * (2 * count - 1) // 6


def _loss(sums: Sums, second: Fraction, power: int, start: Fraction, slope: Fraction) -> Fraction:
    """An upper side of E (a − ω)²."""
    values = tuple(slope * w - v for w, v in zip(sums.weights, sums.values, strict=True))
    mean = sum((d * sums.law.mean(t) for t, d in enumerate(values)), Fraction(0))
    noise = slope**2 * second
    smooth = sums.law.second(values) + 2 * start * mean + start**2 + noise
    share = Fraction(1, 1 << (BITS + 1 - power.bit_length()) // 2)  # about the root of r^q
    return (1 + share) * smooth + (1 + 1 / share) * noise * Fraction(power, 1 << BITS)


def _beyond(mechanism: Mechanism, kernel: ClosedKernel) -> int:
    """At least 2^BITS·r^q; of what is clipped or lies outside the range, all of it."""
    summary = mechanism.weighted_sum
    low, high = LinearSummary(summary.weights).range(mechanism.problem.people)
    held = (summary.clip(low), summary.clip(high)) == (low, high)
    return _power_above(kernel.ratio, max(0, min(low - kernel.low, kernel.high - high)) // kernel.stair) if held else 1 << BITS


def _line(kernel: ClosedKernel) -> tuple[Fraction, Fraction] | None:
    """(α, β) with a(y) = α + β·y for every output y; None when there are none, or an output recommends several actions."""
    if isinstance(kernel.actions, Progression):
        return kernel.actions.start - kernel.actions.step * kernel.low, kernel.actions.step
    numbers = [a for a in kernel.actions or () if isinstance(a, Fraction)]
    if len(numbers) < 2 or len(numbers) != kernel.width:
        return None
    slope = numbers[1] - numbers[0]
    if any(after - before != slope for before, after in pairwise(numbers)):
        return None
    return numbers[0] - slope * kernel.low, slope


def _power_above(ratio: Fraction, exponent: int) -> int:
    """At least 2^BITS·r^q: squares and products, each rounded up."""
    whole, found = -((-ratio.numerator << BITS) // ratio.denominator), 1 << BITS
    for digit in f"{exponent:b}":
        found = -(-found * found >> BITS)
        if digit == "1":
            found = -(-found * whole >> BITS)
    return found
