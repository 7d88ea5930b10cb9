"""Draws of noise that follows a count: statistics against the kernel, and the same bits read whatever the total."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from laws import FALSE_ALARM, p_value

from discreet.errors import InputError
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
