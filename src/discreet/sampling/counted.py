"""Exact draws of noise that follows counts: from a table of whole numbers, and where that says so from a staircase beyond it.

A place s + M·i, a sum and the table of its counts, is published as min(max(s + Z, low), high). Every table of the kernel
(`model.counted_kernel`) is one state of a table kernel whose outputs are −R..R and both tails, and is drawn by `table`. A tail is
±(R + 1 + W·G + V), with P(G ≥ g) = r^g and V uniform on 0..W−1, by the coins of `noise`. The staircase is drawn for every number
and used where a tail came up: bits read and work done do not depend on the place: what does is which row of weights is read, as for
any table (docs/sampling.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.kernel import CountedKernel, Output, TableKernel
from discreet.numerics.arrays import Integers
from discreet.sampling.closed import CHUNK, FIXED_LIMBS, LAZY_LIMBS
from discreet.sampling.coins import Die
from discreet.sampling.noise import GeometricCoins, powers_of
from discreet.sampling.randomness import Randomness, Stream
from discreet.sampling.table import LazyTableSampler, TableSampler


class CountedSampler:
    """Draws for places, what the kernel reads of totals (`CountedKernel.capped`); outputs are positions, 0 for low."""

    def __init__(self, kernel: CountedKernel, *, lazy: bool = False) -> None:
        kernel.must_be_drawable()
        self.kernel = kernel
        table = as_table(kernel)
        self.table = LazyTableSampler(table) if lazy else TableSampler(table)
        limbs = LAZY_LIMBS if lazy else FIXED_LIMBS
        # 2^digits stairs reach beyond the range, so an overflow means as far as outputs go.
        digits = ((kernel.high - kernel.low) // kernel.step).bit_length()
        self.stairs, self.die = GeometricCoins(powers_of(kernel.ratio), digits, limbs), Die(kernel.step, limbs)

    def draw(self, states: NDArray[np.integer]) -> Integers:
        """One output (its position) for each place, independent, on operating-system randomness."""
        return self.decode(states, Stream())

    def decode(self, states: NDArray[np.integer], randomness: Randomness) -> Integers:
        """As `draw`, on the given words."""
        kernel, states = self.kernel, np.asarray(states)
        if states.ndim != 1 or not np.issubdtype(states.dtype, np.integer):
            raise InputError(
                "States are drawn from as a list of whole numbers",
                found=f"{states.ndim} axes of {states.dtype}",
                allowed="one axis of whole numbers",
                remedy="pass what the kernel reads of each cell",
            )
        tables, sums = np.divmod(states.astype(np.int64), kernel.stride)
        inside = (tables >= 0) & (tables <= kernel.most) & (sums >= kernel.low) & (sums <= kernel.high)
        if not inside.all():
            raise InputError(
                "A state is outside the kernel",
                allowed=f"sums {kernel.low}..{kernel.high} and tables 0..{kernel.most}",
                remedy="compute states with the mechanism's own summary",
            )
        found = np.empty(len(states), dtype=np.int64)
        for start in range(0, len(states), CHUNK):
            here = slice(start, start + CHUNK)
            moved = sums[here] - kernel.low + self._noise(tables[here], randomness)
            found[here] = np.clip(moved, 0, kernel.high - kernel.low)
        return found

    def _noise(self, tables: Integers, randomness: Randomness) -> Integers:
        """Noise of each of these tables, held where no output tells it apart."""
        kernel, reach = self.kernel, self.kernel.reach
        drawn = self.table.decode(tables, randomness)
        stairs, beyond = self.stairs.draw(len(tables), randomness)
        far = reach + 1 + kernel.step * stairs + self.die.roll(len(tables), randomness)
        furthest = reach + 1 + kernel.high - kernel.low
        far = np.where(beyond, furthest, np.minimum(far, furthest))
        return np.where(drawn <= 2 * reach, drawn - reach, np.where(drawn == 2 * reach + 1, -far, far))


def as_table(kernel: CountedKernel) -> TableKernel:
    """Every table as a state; the noise from −R to R, the lower and the upper tail as outputs."""
    labels = [str(z) for z in range(-kernel.reach, kernel.reach + 1)] + ["below", "above"]
    columns = [(*row, kernel.tail, kernel.tail) for row in kernel.weights]
    states = tuple(str(table) for table in range(kernel.most + 1))
    return TableKernel(states, tuple(map(Output, labels)), tuple(zip(*columns, strict=True)), kernel.denominator)
