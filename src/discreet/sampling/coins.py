"""Coins and dice with any computable bias, tossed exactly and, but for a tiny chance, with fixed work.

A coin with P(heads) = p compares a uniform real U with p. Only a prefix u of U's bits is read: with integers
lo ≤ p·2^b ≤ hi and u the first b bits,

    u + 1 ≤ lo ⇒ U < p (heads),      u ≥ hi ⇒ U ≥ p (tails),      else more bits are read, p bracketed closer.

The prefix has 64·limbs bits and is compared in full whatever it is, so work is fixed except with probability
(hi − lo)/2^b, at most 2^−126 for two limbs; whether that happens depends on the bits alone, never on data. The result
is exact: P(heads) = p for every p, rational with any denominator or irrational.

A die shows ⌊U·n⌋, by the same rule. Reference: the lazy comparison goes back to von Neumann (1951).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import TooLarge
from discreet.numerics.arrays import Flags, Integers
from discreet.sampling.randomness import Randomness, Words

Bracket = Callable[[int], tuple[int, int]]
"""bits → (lo, hi) with lo ≤ p·2^bits ≤ hi, closing in as bits grow."""


MOST_FACES = 2**31
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def of_fraction(p: Fraction) -> Bracket:
    """The bracket of a rational: exact as soon as the bits suffice."""

    def bracket(bits: int) -> tuple[int, int]:
        lo, rest = divmod(p.numerator << bits, p.denominator)
        return lo, lo + (rest > 0)

    return bracket


@dataclass(frozen=True, eq=False)
class Coin:
    """Heads with probability p, known by its brackets."""

    bracket: Bracket
    limbs: int

    def toss(self, count: int, randomness: Randomness) -> Flags:
        """`count` independent tosses, True for heads."""
        prefix = randomness.words(self.limbs * count).reshape(self.limbs, count)
        lo, hi = self._bounds
        heads = at_most(prefix, lo - 1)
        open_ = at_most(prefix, hi - 1) & ~heads
        if open_.any():
            for i in np.flatnonzero(open_).tolist():
                heads[i] = decide(joined(prefix[:, i]), 64 * self.limbs, self.bracket, randomness)
        return heads

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        return self.bracket(64 * self.limbs)


@dataclass(frozen=True, eq=False)
class Die:
    """A face 0..faces−1, all alike."""

    faces: int
    limbs: int

    def __post_init__(self) -> None:
        if not 1 <= self.faces < MOST_FACES:
            raise TooLarge(
                "a die with that many faces",
                size=f"{self.faces:,}",
                fits=f"1 to {MOST_FACES - 1:,}",
                remedy="Use a kernel with a smaller step.",
            )

    def roll(self, count: int, randomness: Randomness) -> Integers:
        """`count` independent faces."""
        prefix = randomness.words(self.limbs * count).reshape(self.limbs, count)
        n = np.uint64(self.faces)
        carry = np.zeros(count, dtype=np.uint64)
        for limb in prefix[::-1]:
            for half in (limb & _LOW, limb >> _HALF):
                last = half * n + carry
                carry = last >> _HALF
        faces = carry.astype(np.int64)
        # U·n crosses a whole number within the prefix's interval only if the fraction is within n/2^bits of one.
        open_ = (last & _LOW) == _LOW
        if open_.any():
            for i in np.flatnonzero(open_).tolist():
                faces[i] = self._decide(joined(prefix[:, i]), randomness)
        return faces

    def _decide(self, prefix: int, randomness: Randomness) -> int:
        bits = 64 * self.limbs
        while (prefix * self.faces) >> bits != ((prefix + 1) * self.faces - 1) >> bits:
            prefix, bits = lengthened(prefix, randomness), bits + 64
        return (prefix * self.faces) >> bits


def decide(prefix: int, bits: int, bracket: Bracket, randomness: Randomness) -> bool:
    """Whether U < p, reading on after a prefix of its bits."""
    while True:
        lo, hi = bracket(bits)
        if prefix < lo:
            return True
        if prefix >= hi:
            return False
        prefix, bits = lengthened(prefix, randomness), bits + 64


def at_most(limbs: Words, bound: int) -> Flags:
    """Which columns of [limb, draw], most significant limb first, are at most `bound`; every limb is compared."""
    if bound < 0:
        return np.zeros(limbs.shape[1], dtype=bool)
    digits = [np.uint64(bound >> 64 * i & 0xFFFFFFFFFFFFFFFF) for i in reversed(range(len(limbs)))]
    found = limbs[-1] <= digits[-1]
    for limb, digit in zip(limbs[-2::-1], digits[-2::-1], strict=True):
        found = (limb < digit) | ((limb == digit) & found)
    return np.asarray(found)


def lengthened(prefix: int, randomness: Randomness) -> int:
    """A prefix with 64 more bits."""
    return prefix << 64 | int(randomness.words(1)[0])


def joined(limbs: Words) -> int:
    """One integer from limbs, most significant first."""
    return int.from_bytes(limbs.astype(">u8").tobytes(), "big")
