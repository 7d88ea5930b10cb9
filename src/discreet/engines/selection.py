"""Which rows stay when there are too many: the same choice in every engine, made by keyed hashes.

Two limits, both 1-Lipschitz (proofs in docs/engines.md):

A unit keeps at most k rows. Its rows in cell c are numbered 1..min(m_c, k); the k numbers (c, i) with the smallest
H(key, c, i, unit) win, so that q_c rows stay in cell c; which ones, goes by the order of H(key, c, type, unit). How
many stay in each cell does not depend on any value, and the choice reads only that unit's rows.

A cell keeps at most n_c rows. The j-th row of type t in cell c has the priority S(key, c, t, j); the n_c smallest
stay. Rows of one type in one cell are alike, so the choice is a function of the cell's counts and needs no second look
at the data; and every row is as likely to stay as any other.

H is SHA-256 of a text (every engine has it), S is SipHash-2-4 (Aumasson & Bernstein 2012), computed for many at once.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Words = NDArray[np.uint64]

AT_ONCE = 1 << 22
"""Rows whose priorities are held in memory together."""


def unit_prefix(key: bytes) -> str:
    """The text before `cell|number|unit` whose SHA-256 is H."""
    return hashlib.sha256(b"discreet unit\0" + key).hexdigest() + "|"


def number_hash(prefix: str, cell: int, number: int, unit: str) -> str:
    """H for the number-th row of a unit in a cell."""
    return _hex(f"{prefix}{cell}|{number}|{unit}")


def type_hash(prefix: str, cell: int, type_: int, unit: str) -> str:
    """H for the rows of one type of a unit in a cell."""
    return _hex(f"{prefix}{cell}|type {type_}|{unit}")


def cut(counts: Counts, sizes: Counts, key: bytes) -> Counts:
    """Counts [cell, type] with every cell's total at most its size."""
    kept = counts.copy()
    long = np.flatnonzero(counts.sum(axis=1) > sizes)
    secret = hashlib.sha256(b"discreet cell\0" + key).digest()
    keys = int.from_bytes(secret[:8], "little"), int.from_bytes(secret[8:16], "little")
    group: list[int] = []
    rows = 0
    for cell in long.tolist():
        total = int(counts[cell].sum())
        if total > AT_ONCE:
            kept[cell] = _cut_huge(counts[cell], int(sizes[cell]), cell, keys)
            continue
        if rows + total > AT_ONCE:
            _cut_group(kept, sizes, group, keys)
            group, rows = [], 0
        group.append(cell)
        rows += total
    _cut_group(kept, sizes, group, keys)
    return kept


def _cut_group(kept: Counts, sizes: Counts, group: list[int], keys: tuple[int, int]) -> None:
    """Cut the cells of a group in place: sort their rows by cell and priority, keep the first n_c of each."""
    if not group:
        return
    cells = np.array(group)
    here = kept[cells]
    types = here.shape[1]
    flat = here.reshape(-1)
    row_cell = np.repeat(np.repeat(np.arange(len(cells)), types), flat)
    row_type = np.repeat(np.tile(np.arange(types), len(cells)), flat)
    number = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
    priority = siphash(keys, [cells[row_cell], row_type, number], last=24 << 56)
    order = np.lexsort((row_type, priority, row_cell))
    place = np.arange(len(order)) - np.repeat(np.cumsum(here.sum(axis=1)) - here.sum(axis=1), here.sum(axis=1))
    stays = order[place < sizes[cells][row_cell[order]]]
    code = row_cell[stays] * types + row_type[stays]
    kept[cells] = np.bincount(code, minlength=len(cells) * types).reshape(len(cells), types)


def _cut_huge(counts: Counts, size: int, cell: int, keys: tuple[int, int]) -> Counts:
    """One cell with more rows than are held at once: keep the best so far and go on."""
    best = np.zeros(0, dtype=np.uint64)
    best_type = np.zeros(0, dtype=np.int64)
    for type_, total in enumerate(counts.tolist()):
        for start in range(0, total, AT_ONCE):
            number = np.arange(start, min(start + AT_ONCE, total))
            words = siphash(keys, [np.full_like(number, cell), np.full_like(number, type_), number], last=24 << 56)
            best = np.concatenate([best, words])
            best_type = np.concatenate([best_type, np.full(len(number), type_)])
            first = np.lexsort((best_type, best))[:size]
            best, best_type = best[first], best_type[first]
    return np.bincount(best_type, minlength=len(counts))


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


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
