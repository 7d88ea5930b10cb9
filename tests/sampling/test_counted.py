"""Draws of noise that follows a count: statistics against the kernel, and the same bits read whatever the total."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from laws import FALSE_ALARM, p_value

from discreet.errors import InputError, TooLarge
from discreet.model.kernel import CountedKernel
from discreet.sampling import CountedSampler, sampler_of
from discreet.sampling.testing import Seeded

KERNEL = CountedKernel(
    -3, 12, 2, 20, Fraction(2, 5), 10, ((4, 9, 20, 7, 4), (8, 8, 10, 10, 8), (10, 8, 8, 8, 10)), 64
)  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("total", [4, 20 + 5, 40 + 0])
def test_draws_follow_the_table_of_their_count_and_no_other(total: int, lazy: bool) -> None:
    """False-alarm probability 1e-7 for each of six tests."""
    drawn = CountedSampler(KERNEL, lazy=lazy).draw(np.full(100_000, total))
    outputs = range(KERNEL.low, KERNEL.high + 1)
    assert p_value(drawn, [KERNEL.mass(k, total) for k in outputs]) > FALSE_ALARM
    other = (total + KERNEL.stride) % KERNEL.state_count
    assert p_value(drawn, [KERNEL.mass(k, other) for k in outputs]) < FALSE_ALARM


@pytest.mark.parametrize("table", [0, 1, 2])
def test_draws_of_cells_follow_the_table_of_both_counts(table: int) -> None:
    """Two of the second class, one, or one of the first; false-alarm probability 1e-7 for each of three tests."""
    kernel = replace(KERNEL, radix=9, tables=(2, 1))
    total = 5 + 20 * (3, 1, 9 + 4)[(1, 0, 2).index(table)] if table else 5
    places = kernel.capped(np.full(100_000, total))
    drawn = sampler_of(kernel).draw(places)
    outputs = range(KERNEL.low, KERNEL.high + 1)
    laws = [[KERNEL.mass(k, 5 + 20 * i) for k in outputs] for i in range(3)]
    assert [p_value(drawn, law) > FALSE_ALARM for law in laws] == [i == table for i in range(3)]


class Counting(Seeded):
    """Counts the words that are read."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.sizes: list[int] = []

    def words(self, count: int) -> np.ndarray:
        self.sizes.append(count)
        return super().words(count)


def test_the_same_bits_are_read_whatever_the_total() -> None:
    read = []
    for total in (0, 5, 20, 31, 40, 52):
        source = Counting(3)
        sampler_of(KERNEL).decode(np.full(50, total), source)
        read.append(source.sizes)
    assert all(each == read[0] for each in read)


def test_totals_of_no_state_are_refused_without_being_told() -> None:
    for wrong in (13, -1, 60, 10**9):
        with pytest.raises(InputError, match="outside the kernel") as caught:
            sampler_of(KERNEL).draw(np.array([wrong]))
        assert str(wrong) not in str(caught.value)
    with pytest.raises(InputError, match="whole numbers"):
        sampler_of(KERNEL).draw(np.array([1.0]))


def test_a_range_in_which_noise_wraps_around_is_refused() -> None:
    """Noise wide enough to reach both ends of 2^61 gathers at them as it should; of 3·2^61 it came out at the other one."""
    wide = replace(KERNEL, low=-(2**59), high=2**59, ratio=1 - Fraction(1, 2**59))
    drawn = sampler_of(wide).decode(np.full(40_000, 5), Seeded(4))
    share = KERNEL.tail / KERNEL.denominator * exp(-0.5)  # 2^58 stairs of width two lie before either end
    assert all(abs((drawn == end).mean() - share) < 0.01 for end in (0, 2**60))
    with pytest.raises(TooLarge, match="64 bits"):
        sampler_of(replace(wide, low=-3 * 2**60, high=3 * 2**60))
