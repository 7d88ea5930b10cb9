"""Words that are not random: for tests alone.

Nothing under `discreet` imports this file (a test reads every import), the samplers' `draw` takes no source of
randomness, and neither class is accepted where something is published. `Scripted` hands out the words it was given,
which is how all bit strings of a small kernel are exhausted; `Seeded` repeats itself from a seed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.sampling.randomness import Words


class Scripted:
    """The given words, in order; asking for more than there are is a mistake of the test."""

    def __init__(self, script: Iterable[int]) -> None:
        self._script = np.array([word % 2**64 for word in script], dtype=np.uint64)
        self.read = 0

    def words(self, count: int) -> Words:
        """The next `count` words of the script."""
        if self.read + count > len(self._script):
            raise IndexError("the script of random words has ended")
        self.read += count
        return self._script[self.read - count : self.read].copy()


class Seeded:
    """Words that follow from a seed. Never for data."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self.read = 0

    def words(self, count: int) -> Words:
        """The next `count` words."""
        self.read += count
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)
