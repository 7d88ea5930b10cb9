"""A unit keeps at most k rows: which ones, and the same choice for millions of rows at once.

A unit's rows are put in an order of its own, and the first k stay. The order goes by cell, then by type:

    place(cell, type) = a(σ(cell))·2^t + b(type),      a(x) = A·x + B mod 2^m,     2^m ≥ cells
                                                       b(y) = E·(z ⊕ ⌊z/2^s⌋) + F mod 2^t,  z = C·y + D mod 2^t,  2^t ≥ types

σ shuffles the cells by the key; A, C, E are odd, B, D, F any, all from the unit's *seed*; s = ⌈t/2⌉. Odd factors, summands and
such shifts permute the residues, so `place` is one-to-one. With (A, B) also (−A, −B − 1) occurs, which reverses the order, and so
with (E, F): of two cells, or two types, each goes first for one half of all seeds. How many rows stay in a cell depends on
how many there are in each cell, not on types; within a cell, rows stay in an order of types. This is all that the proof
needs (Lemma 2 in docs/engines.md), for any seed.

A unit is told apart exactly: a whole number of 64 bits by itself, however it is written, with a seed mixed from it and the
key; any other text by 128 bits of its SHA-256 with the key, whose first half is its seed. Rows without a unit have the
empty text. `word` and `check` are the two halves, `check` = 0 for numbers; `code` is cell·2^t + type.

At once: a row is *short*, number·2^(m+t) + code in 64 bits, when its unit is a number that leaves room for it, otherwise
*long*: word, check and code. Rows are first counted in buckets by a hash of their unit. Where no bucket has more than k rows,
no unit has, and that is mostly so. The rows in fuller buckets are counted again by another hash, and what is then left is sorted,
short rows with their place instead of their code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import TooLarge

Words = NDArray[np.uint64]
Codes = NDArray[np.uint32]
Rows = NDArray[Any]
"""Short rows (unsigned integers of 64 bits) or long ones."""
LONG = np.dtype([("word", "<u8"), ("check", "<u8"), ("code", "<u4")])

MASK = 2**64 - 1
CHUNK = 1 << 16
ENOUGH = 1 << 19
SAMPLED = 64
MOST_IN_BYTE = 250
SPREAD = 0x9E3779B97F4A7C15
ROUNDS = (SPREAD, 0x6A09E667F3BCC909)
DEALER = 0xD6E8FEB86659FD93
"""Multiplying by an odd number is one-to-one, and by one such as these it spreads words: those of ROUNDS are nearest to 2^64 over
the golden ratio, and to 2^64 times √2 − 1."""
MOST_CODE_BITS = 32
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""Shifts and factors of the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""


@dataclass(frozen=True)
class Order:
    """The order of every unit's rows, for a key and a table of `cells` by `types`."""

    key: bytes
    cells: int
    types: int

    def __post_init__(self) -> None:
        if self.code_bits > MOST_CODE_BITS:
            raise TooLarge(
                "the table",
                size=f"{self.cells:,} cells of {self.types:,} types",
                fits=f"2^{MOST_CODE_BITS} pairs of cell and type, each rounded up to a power of two",
            )

    @cached_property
    def cell_bits(self) -> int:
        """m."""
        return (self.cells - 1).bit_length()

    @cached_property
    def type_bits(self) -> int:
        """t."""
        return (self.types - 1).bit_length()

    @cached_property
    def code_bits(self) -> int:
        """m + t."""
        return self.cell_bits + self.type_bits

    @cached_property
    def prefix(self) -> str:
        """The text before a unit's, whose SHA-256 together makes word and check."""
        return hashlib.sha256(b"discreet unit\0" + self.key).hexdigest() + "|"

    @cached_property
    def salts(self) -> tuple[int, int, int]:
        """What is added before mixing a number, a seed, and a cell."""
        digest = hashlib.sha256(b"discreet order\0" + self.key).digest()
        return tuple(int.from_bytes(digest[i : i + 8], "little") for i in (0, 8, 16))  # type: ignore[return-value]

    def unit(self, text: str) -> tuple[int, int]:
        """(word, check) of a unit as it is written."""
        number = whole_number(text)
        if number is not None:
            return number & MASK, 0
        digest = hashlib.sha256((self.prefix + text).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big") | 1

    @cached_property
    def shuffled(self) -> NDArray[np.uint32]:
        """σ."""
        mixed = _mixed(np.arange(self.cells, dtype=np.uint64) + np.uint64(self.salts[2]))
        places = np.empty(self.cells, dtype=np.uint32)
        places[np.argsort(mixed)] = np.arange(self.cells, dtype=np.uint32)
        return places

    @cached_property
    def unshuffled(self) -> NDArray[np.uint32]:
        """σ backwards, on all of 2^m places, though cells stand at the first ones only."""
        found = np.zeros(1 << self.cell_bits, dtype=np.uint32)
        found[self.shuffled] = np.arange(self.cells, dtype=np.uint32)
        return found

    def place(self, word: int, check: int, cell: int, type_: int) -> int:
        """Where a row stands among its unit's; the definition."""
        seed = word if check else _mixed_one(word + self.salts[0])
        other = _mixed_one(seed + self.salts[1])
        bits = self.type_bits
        high = ((seed >> 32 | 1) * int(self.shuffled[cell]) + seed) % 2**self.cell_bits
        z = ((other >> 48 | 1) * type_ + (other >> 32)) % 2**bits
        low = ((other >> 16 | 1) * (z ^ z >> -(-bits // 2)) + other) % 2**bits
        return high << bits | low

    def seeds(self, words: Words, checks: Words | None) -> Words:
        """The seed of every row's unit."""
        mixed = _mixed(words + np.uint64(self.salts[0]))
        return mixed if checks is None else np.where(checks == 0, mixed, words)

    def places(self, seeds: Words, codes: Codes) -> Words:
        """`place` of every row."""
        bits = np.uint64(self.type_bits)
        cell = self.shuffled.take(codes >> np.uint32(self.type_bits)).astype(np.uint64)
        high = (_odd(seeds, 32) * cell + seeds) & _low(self.cell_bits)
        if not self.type_bits:
            return high
        other = _mixed(seeds + np.uint64(self.salts[1]))
        z = (_odd(other, 48) * (codes & np.uint32(_low(self.type_bits))) + (other >> np.uint64(32))) & _low(self.type_bits)
        low = (_odd(other, 16) * (z ^ z >> self._half) + other) & _low(self.type_bits)
        return high << bits | low

    def codes(self, seeds: Words, places: Words) -> Codes:
        """The rows that stand at these places."""
        bits = np.uint64(self.type_bits)
        cell = _inverse(_odd(seeds, 32)) * ((places >> bits) - seeds) & _low(self.cell_bits)
        cell = self.unshuffled.take(cell.view(np.intp))
        if not self.type_bits:
            return cell
        other = _mixed(seeds + np.uint64(self.salts[1]))
        z = _inverse(_odd(other, 16)) * ((places & _low(self.type_bits)) - other) & _low(self.type_bits)
        z ^= z >> self._half
        type_ = _inverse(_odd(other, 48)) * (z - (other >> np.uint64(32))) & _low(self.type_bits)
        return cell << np.uint32(self.type_bits) | type_.astype(np.uint32)

    @property
    def _half(self) -> np.uint64:
        """s: a shift by half of the bits or more is its own inverse."""
        return np.uint64(-(-self.type_bits // 2))

    def code_of(self, short: Words) -> Words:
        """The codes of short rows."""
        return short & _low(self.code_bits)

    def surplus(self, most: int, blocks: Sequence[Rows]) -> list[Codes]:
        """The codes of the rows that go, so that every unit keeps `most`; a unit's rows may be in any of the blocks."""
        held = [block for block in self._suspected(blocks, most) if len(block)]
        size = sum(map(len, held))
        if size <= most:
            return []
        if held[0].dtype == LONG:
            return [self._long_surplus(most, np.concatenate(held))]
        bits = np.uint64(self.code_bits)
        keys = np.empty(size, dtype=np.uint64)
        end = 0
        for rows in in_cache(held):
            start, end = end, end + len(rows)
            words = rows >> bits
            keys[start:end] = words << bits | self.places(self.seeds(words, None), self.code_of(rows).astype(np.uint32))
        keys.sort()
        found = []
        for start in range(most, size, CHUNK):
            end = min(start + CHUNK, size)
            over = keys[start:end]
            over = over[over >> bits == keys[start - most : end - most] >> bits]
            found.append(self.codes(self.seeds(over >> bits, None), self.code_of(over)))
        return found

    def _long_surplus(self, most: int, rows: Rows) -> Codes:
        words, checks, codes = (np.ascontiguousarray(rows[name]) for name in ("word", "check", "code"))
        order = np.lexsort((self.places(self.seeds(words, checks), codes), checks, words))
        words, checks = words[order], checks[order]
        return codes[order[most:][(words[most:] == words[:-most]) & (checks[most:] == checks[:-most])]]

    def _suspected(self, blocks: Sequence[Rows], most: int) -> Sequence[Rows]:
        """Some of the rows, all those of units with more than `most` among them."""
        if self._mostly_crowded(blocks, most):
            return blocks
        for factor in ROUNDS:
            blocks = self._in_full_buckets(blocks, most, factor)
        return blocks

    def crowded_words(self, blocks: Sequence[Rows], most: int) -> Words:
        """Words of long rows that occur more than `most` times, each once."""
        for factor in ROUNDS:
            blocks = self._in_full_buckets(blocks, most, factor)
        words = np.concatenate([np.zeros(0, dtype=np.uint64), *(rows["word"] for rows in blocks)])
        words.sort()
        over = words[most:][words[most:] == words[:-most]]
        return over[np.flatnonzero(np.diff(over, prepend=~over[:1]))]

    def _mostly_crowded(self, blocks: Sequence[Rows], most: int) -> bool:
        """Whether most rows seem to be of units with more than `most`, by those of one unit in `SAMPLED`: then all are sorted."""
        if sum(map(len, blocks)) < ENOUGH:
            return False
        bound = np.uint64(2**64 // SAMPLED)
        some = [hashes[hashes < bound] for hashes in (self._words(rows) * np.uint64(SPREAD) for rows in in_cache(blocks))]
        _, many = np.unique(np.concatenate(some), return_counts=True)
        return 2 * int(many[many > most].sum()) > int(many.sum())

    def _in_full_buckets(self, blocks: Sequence[Rows], most: int, factor: int) -> Sequence[Rows]:
        """The rows in buckets, by a hash of their unit, with more than `most` rows.

        There are at least four buckets for a row, and the table takes no more memory than the rows. Counts are bytes: a bucket with
        256 rows or more has lost some, then the sum of all falls short, and all are counted again in fewer and wider ones.
        """
        size = sum(map(len, blocks))
        if size <= most:
            return []
        bits = max(size.bit_length() + 2, 6)
        for width in (0, 2) if most <= MOST_IN_BYTE else (2,):
            shift = np.uint64(64 - bits + width)
            table: NDArray[Any] = np.zeros(1 << (bits - width), dtype=np.uint32 if width else np.uint8)
            for rows in in_cache(blocks):
                np.add.at(table, self._buckets(rows, factor, shift), table.dtype.type(1))
            if int(table.sum(dtype=np.int64)) == size:
                break
        if int(table.max()) <= most:
            return []
        return [rows[table.take(self._buckets(rows, factor, shift)) > most] for rows in in_cache(blocks)]

    def _buckets(self, rows: Rows, factor: int, shift: np.uint64) -> NDArray[np.intp]:
        return (self._words(rows) * np.uint64(factor) >> shift).view(np.intp)

    def dealt(self, rows: Rows, parts: int) -> tuple[Rows, NDArray[np.intp]]:
        """Rows in the order of the parts that their units belong to, at most 256, and where each begins and ends.

        By another hash than those above: what is dealt by one and dealt by the same again would all be in one hand.
        """
        part = (self._words(rows) * np.uint64(DEALER) >> np.uint64(56)).astype(np.uint8) >> np.uint8(9 - parts.bit_length())
        return rows[np.argsort(part, kind="stable")], np.append(0, np.cumsum(np.bincount(part, minlength=parts)))

    def _words(self, rows: Rows) -> Words:
        return rows["word"] if rows.dtype == LONG else rows >> np.uint64(self.code_bits)


def whole_number(text: str) -> int | None:
    """The number of 64 bits that a text is the usual way to write."""
    if 0 < len(text) <= 20 and text.isascii() and text.removeprefix("-").isdigit():
        number = int(text)
        if -(2**63) <= number < 2**63 and str(number) == text:
            return number
    return None


def in_cache(blocks: Sequence[Rows], most: int = 0) -> Iterator[Rows]:
    """The rows in pieces of at most `most` (or `CHUNK`), so that what is computed from them stays in the processor's cache."""
    for rows in blocks:
        for start in range(0, len(rows), most or CHUNK):
            yield rows[start : start + (most or CHUNK)]


def _mixed_one(word: int) -> int:
    word &= MASK
    for shift, factor in MIXERS:
        word = (word ^ word >> shift) * factor & MASK
    return word


def _mixed(words: Words) -> Words:
    for shift, factor in MIXERS:
        words = (words ^ words >> np.uint64(shift)) * np.uint64(factor)
    return words


def _odd(words: Words, shift: int) -> Words:
    return words >> np.uint64(shift) | np.uint64(1)


def _inverse(odd: Words) -> Words:
    """The inverse modulo 2^64 of odd numbers, by Newton's iteration: right bits double from 3 to 48, then 96."""
    found = odd * odd * odd
    for _ in range(5):
        found *= np.uint64(2) - odd * found
    return found


def _low(bits: int) -> np.uint64:
    return np.uint64(2**bits - 1)
