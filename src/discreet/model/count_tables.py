"""Which table of noise belongs to which counts: j of a first class of respondents, k of a second.

There are n_0, n_1, …, n_J tables for j = 0, 1, …, J; from J on a first count is as J. Given j they tell k up to n_j − 1:

    i = min(n_0 + … + n_(j′−1) + k, n_0 + … + n_j′ − 1),      j′ = min(j, J).

Capped counts add up: tables of (j, k) and (j + 1, k) are found from (min(j, J), min(k, max n − 1)) alone.
One count is n_j = 1. [ours]
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.numerics.arrays import Integers
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class CountTables:
    """How many tables there are for each count of the first class."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.sizes, default=0) < 1:
            raise InputError(
                "Every first count of a counted kernel has a table or more",
                found=brief(min(self.sizes, default=0)),
                allowed="whole numbers from 1",
                remedy="complete the tables",
            )

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def first(self) -> int:
        """J: from this first count on tables are the same."""
        return len(self.sizes) - 1

    @property
    def second(self) -> int:
        """From this second count on tables are the same, whatever the first."""
        return max(self.sizes) - 1

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The first table of each first count, and what comes after all of them."""
        return tuple(accumulate(self.sizes, initial=0))

    def at(self, firsts: Integers, seconds: Integers) -> Integers:
        """The table of each pair of counts; −1 where a first count is below 0, which nobody has."""
        starts, held = np.array(self._starts, dtype=np.int64), np.minimum(firsts, self.first)
        return np.where(firsts < 0, -1, np.minimum(starts[held] + seconds, starts[held + 1] - 1))

    def of(self, first: int, second: int) -> int:
        """The table of two counts."""
        held = min(first, self.first)
        return min(self._starts[held] + second, self._starts[held + 1] - 1)
