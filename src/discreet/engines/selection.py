"""Which rows of a long cell stay: decided by their counts and a key, 1-Lipschitz (proof in docs/engines.md).

A cell keeps n_c of its N_c > n_c rows. Rows of one type in one cell are alike, so what counts is how many of each type
stay: the j-th row of type t has the rank a_t / (j − 1 + d), a_t rows of that type, d in (0, 1) from S(key, c, t); the
n_c largest ranks stay. This is apportionment by divisors with random offsets: type t keeps a_t·n_c/N_c rows, rounded up
or down by the key, and the choice needs the counts alone, no second look at the rows.

S is SipHash-2-4 (Aumasson & Bernstein 2012), computed for many at once. Units are held to their rows by
`discreet.engines.units`.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Words = NDArray[np.uint64]

AT_ONCE = 1 << 13
"""Cells cut together, so that they stay in the processor's cache."""
OFFSET_BITS = 12
"""Bits of an offset d: few enough that j − 1 + d is exact in a double for every j up to 2^40."""


def cut(counts: Counts, sizes: Counts, key: bytes) -> Counts:
    """Counts [cell, type] with every cell's total at most its size."""
    long = np.flatnonzero(counts.sum(axis=1) > sizes)
    kept = counts.copy()
    for start in range(0, len(long), AT_ONCE):
        cells = long[start : start + AT_ONCE]
        kept[cells] = apportioned(counts[cells], sizes[cells], offsets(cells, counts.shape[1], key))
    return kept


def offsets(cells: Counts, types: int, key: bytes) -> NDArray[np.float64]:
    """d [cell, type]: odd multiples of 2^−12, from SipHash of the cell's position; a word serves five types."""
    secret = hashlib.sha256(b"discreet cell\0" + key).digest()
    keys = int.from_bytes(secret[:8], "little"), int.from_bytes(secret[8:16], "little")
    fields = 64 // (OFFSET_BITS - 1)
    found = np.empty((len(cells), types))
    for t in range(types):
        if t % fields == 0:
            words = siphash(keys, [cells, np.full_like(cells, t // fields)], last=16 << 56)
        field = words >> np.uint64(t % fields * (OFFSET_BITS - 1)) & np.uint64(2 ** (OFFSET_BITS - 1) - 1)
        found[:, t] = (2 * field.astype(np.float64) + 1) / 2**OFFSET_BITS
    return found


def apportioned(counts: Counts, sizes: Counts, offset: NDArray[np.float64]) -> Counts:
    """The n_c largest ranks of each cell with N_c ≥ n_c rows; of equal ranks the smaller type goes first.

    Starts near the answer and moves one row at a time; division rounds monotonically, so the order it leads to is a
    fixed one, and that is all the proof needs.
    """
    a, d = np.ascontiguousarray(counts.T), np.ascontiguousarray(offset.T)
    kept = np.clip(np.ceil(a * (sizes / a.sum(axis=0)) - d), 0, a).astype(np.int64)
    open_ = np.arange(len(counts))
    while len(open_):
        here, many, away = kept[:, open_], a[:, open_], d[:, open_]
        following = np.where(here < many, many / (here + away), -1.0)
        last = np.where(here > 0, many / np.where(here > 0, here - 1 + away, 1.0), np.inf)
        add = following.argmax(axis=0)
        drop = len(last) - 1 - last[::-1].argmin(axis=0)
        every = np.arange(len(open_))
        best, worst = following[add, every], last[drop, every]
        gap = sizes[open_] - here.sum(axis=0)
        swap = (gap == 0) & ((best > worst) | ((best == worst) & (add < drop)))
        here[add, every] += (gap > 0) | swap
        here[drop, every] -= (gap < 0) | swap
        kept[:, open_] = here
        open_ = open_[(gap != 0) | swap]
    return kept.T.copy()


def siphash(keys: tuple[int, int], message: list[NDArray[np.int64]], last: int) -> Words:
    """SipHash-2-4 of the 64-bit words of `message` and the closing word `last`, for arrays of messages at once."""
    v = [
        np.full(len(message[0]), start ^ key, dtype=np.uint64)
        for start, key in (
            (0x736F6D6570736575, keys[0]), (0x646F72616E646F6D, keys[1]),
            (0x6C7967656E657261, keys[0]), (0x7465646279746573, keys[1]),
        )
    ]  # fmt: skip
    closing = np.full(len(message[0]), last, dtype=np.uint64)
    for word in [*(part.astype(np.uint64) for part in message), closing]:
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= np.uint64(0xFF)
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[Words], count: int) -> None:
    for _ in range(count):
        v[0] += v[1]
        v[2] += v[3]
        v[1] = _rotated(v[1], 13) ^ v[0]
        v[3] = _rotated(v[3], 16) ^ v[2]
        v[0] = _rotated(v[0], 32)
        v[2] += v[1]
        v[0] += v[3]
        v[1] = _rotated(v[1], 17) ^ v[2]
        v[3] = _rotated(v[3], 21) ^ v[0]
        v[2] = _rotated(v[2], 32)


def _rotated(word: Words, by: int) -> Words:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))
