"""Exact draws from a table kernel: output = number of cumulative weights that a uniform integer reaches.

With C_k the sum of the weights of outputs 0..k at a state and U uniform on 0..2^B − 1,

    output = #{k : C_k ≤ U},      so P(output = k) = (C_k − C_{k−1}) / 2^B, bit for bit the certified weight.

U is read as ⌈B/64⌉ words; the cumulative weights are kept shifted to the same width, so the spare low bits decide
nothing. `TableSampler` always reads all words and compares all limbs of all cumulative weights: bits read and
operations done do not depend on the state, the output or the bits. What does depend on the state is which row of the
table is read, so a neighbour on the same processor who watches its caches may learn about it; see docs/sampling.md.

`LazyTableSampler` first reads 16 bits. They fix the output unless a cumulative weight falls among the integers that
begin with them; only then does it read on. Its time depends on the output.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, TooLarge
from discreet.model.kernel import TableKernel
from discreet.numerics.arrays import Integers
from discreet.sampling.randomness import Randomness, Stream, Words

MOST_BYTES = 4 * 2**30
"""Memory beyond which cumulative weights are not laid out."""
BLOCK = 1 << 16
"""Comparisons done at a time, so that they stay in the processor's cache."""
CHUNK = 1 << 18
"""Draws made at a time, which bounds the memory for their bits."""
GUIDE_BITS = 16
GUIDE_ENTRIES = 1 << 22


class TableSampler:
    """Draws with a fixed number of bits and operations."""

    def __init__(self, kernel: TableKernel) -> None:
        self.states = len(kernel.states)
        self.outputs = len(kernel.outputs)
        self.bits = kernel.denominator.bit_length() - 1
        self.limbs = -(-self.bits // 64)
        size = self.states * max(self.outputs - 1, 1) * (8 * self.limbs + 1)
        if size > MOST_BYTES:
            raise TooLarge(
                "the cumulative weights of this kernel",
                size=f"{size / 2**30:.1f} GiB",
                fits=f"{MOST_BYTES // 2**30} GiB",
                remedy="Use a summary with fewer states, or a closed-form kernel.",
            )
        self._lay_out(_cumulative(kernel), kernel.denominator)

    def draw(self, states: NDArray[np.integer]) -> Integers:
        """One output (its position) for each state (its position), independent, on fresh randomness."""
        return self.decode(states, Stream())

    def decode(self, states: NDArray[np.integer], randomness: Randomness) -> Integers:
        """As `draw`, on the given words: ⌈B/64⌉ for each state."""
        states = checked(states, self.states)
        found = np.empty(len(states), dtype=np.int64)
        for start in range(0, len(states), CHUNK):
            here = states[start : start + CHUNK]
            words = randomness.words(self.limbs * len(here)).reshape(self.limbs, len(here))
            found[start : start + CHUNK] = self._compare(here, words)
        return found

    def _compare(self, states: Integers, words: Words) -> Integers:
        """#{k : C_k ≤ U} for each column U of words [limb, draw]."""
        found = np.zeros(len(states), dtype=np.int64)
        if self.limbs == 0 or self.outputs == 1:
            found[:] = self._certain[states]
            return found
        block = max(1, BLOCK // (self.outputs - 1))
        for start in range(0, len(states), block):
            here = slice(start, start + block)
            rows = self._table[states[here]]
            reached = words[-1, here, None] >= rows[:, -1, :]
            for limb in range(self.limbs - 2, -1, -1):
                mine, theirs = words[limb, here, None], rows[:, limb, :]
                reached &= mine == theirs
                reached |= mine > theirs
            reached &= self._reachable[states[here]]
            found[here] = np.count_nonzero(reached, axis=1)
        return found

    def _lay_out(self, cumulative: list[list[int]], denominator: int) -> None:
        """`_table` [state, limb, output] of C_0..C_{m−2}, and `_reachable`: C_k < 2^B, as C_k = 2^B fits no limbs."""
        inner = cumulative[:-1]
        if self.limbs == 0 or not inner:
            # One output is certain at each state; no bit is read.
            reached = np.array(inner, dtype=np.int64).reshape(len(inner), self.states)
            self._certain = (reached == 0).sum(axis=0)
            return
        shift, width = 64 * self.limbs - self.bits, 8 * self.limbs
        data = b"".join(((0 if c == denominator else c) << shift).to_bytes(width, "big") for row in inner for c in row)
        laid = np.frombuffer(data, dtype=">u8").reshape(len(inner), self.states, self.limbs)
        self._table = np.ascontiguousarray(laid.transpose(1, 2, 0).astype(np.uint64))
        full = np.array([[c < denominator for c in row] for row in inner], dtype=bool)
        self._reachable = np.ascontiguousarray(full.T)


class LazyTableSampler:
    """Draws that read as few bits as they need: for offline batches, since time depends on what is drawn."""

    def __init__(self, kernel: TableKernel) -> None:
        self.full = TableSampler(kernel)
        self.states, self.outputs = self.full.states, self.full.outputs
        room = max(1, GUIDE_ENTRIES // self.states).bit_length() - 1
        self.guide_bits = min(GUIDE_BITS, self.full.bits, room)
        self._guide = self._make_guide(_cumulative(kernel))

    def draw(self, states: NDArray[np.integer]) -> Integers:
        """One output (its position) for each state (its position), independent, on fresh randomness."""
        return self.decode(states, Stream())

    def decode(self, states: NDArray[np.integer], randomness: Randomness) -> Integers:
        """As `draw`, on the given words: a quarter of one for each state, and ⌈B/64⌉ more for those left open."""
        states = checked(states, self.states)
        found = np.empty(len(states), dtype=np.int64)
        for start in range(0, len(states), CHUNK):
            found[start : start + CHUNK] = self._decode(states[start : start + CHUNK], randomness)
        return found

    def _decode(self, states: Integers, randomness: Randomness) -> Integers:
        first = randomness.words(-(-len(states) // 4)).view(np.uint16)[: len(states)]
        prefix = first >> np.uint16(16 - self.guide_bits) if self.guide_bits else np.zeros_like(first)
        found = self._guide[(states << self.guide_bits) + prefix].astype(np.int64)
        left = np.flatnonzero(found < 0)
        if len(left):
            words = randomness.words(self.full.limbs * len(left)).reshape(self.full.limbs, len(left)).copy()
            if self.guide_bits:
                # The 16 bits already read lead; the bits of the first word follow them.
                words[0] >>= np.uint64(self.guide_bits)
                words[0] |= prefix[left].astype(np.uint64) << np.uint64(64 - self.guide_bits)
            found[left] = self.full._compare(states[left], words)
        return found

    def _make_guide(self, cumulative: list[list[int]]) -> NDArray[np.int32]:
        """Entry [state·2^g + prefix]: the output that the prefix decides, or −1.

        The integers with prefix b are b·2^s … (b+1)·2^s − 1, s = B − g. With C_k = q·2^s + rest, a rest > 0 leaves
        prefix q open, and every prefix from q + (rest > 0) on has reached C_k.
        """
        span, buckets = self.full.bits - self.guide_bits, 1 << self.guide_bits
        steps = np.zeros((self.states, buckets + 2), dtype=np.int32)
        open_ = np.zeros((self.states, buckets + 1), dtype=bool)
        every = np.arange(self.states)
        for row in cumulative[:-1]:
            bucket = np.array([c >> span for c in row], dtype=np.int64)
            inside = np.array([(c >> span) << span != c for c in row], dtype=bool)
            open_[every, bucket] |= inside
            steps[every, bucket + inside] += 1
        guide = np.cumsum(steps[:, :buckets], axis=1, dtype=np.int32)
        guide[open_[:, :buckets]] = -1
        return guide.reshape(-1)


def checked(states: NDArray[np.integer], count: int) -> Integers:
    """States as positions 0..count−1."""
    found = np.asarray(states)
    if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            "States are drawn from as a list of positions",
            found=f"{found.ndim} axes of {found.dtype}",
            allowed="one axis of whole numbers",
            remedy="pass the position of each state",
        )
    if len(found) and (int(found.min()) < 0 or int(found.max()) >= count):
        raise InputError(
            "A state is outside the kernel",
            allowed=f"positions 0 to {count - 1}",
            remedy="compute states with the mechanism's own summary",
        )
    return found.astype(np.int64)


def _cumulative(kernel: TableKernel) -> list[list[int]]:
    """C[output][state]."""
    return list(accumulate(map(list, kernel.weights), lambda a, b: [x + y for x, y in zip(a, b, strict=True)]))
