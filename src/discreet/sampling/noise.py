"""Two-sided geometric and staircase noise on the integers, exact for any ratio, from independent coins.

The binary digits of a geometric number G, P(G = g) = (1−x)·x^g, are independent (since x^g factors over them):

    P(digit i of G is 1) = x_i / (1 + x_i),  x_i = x^(2^i);      P(G ≥ 2^n) = x_n, independent of the digits below n.

So n coins and one for the overflow give min(G, 2^n) exactly, with the same work for every value. Staircase noise of
step W and plateau m (`discreet.model.kernel`) is then put together from independent parts:

    with probability c·(2m−1)   uniform on −(m−1)..m−1
    otherwise                   ±(m + W·G + V), a fair sign, V uniform on 0..W−1,      c⁻¹ = (2m−1) + 2W·x/(1−x).

Two-sided geometric noise is W = m = 1. All parts are drawn for every number and one is chosen at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from discreet.errors import TooLarge
from discreet.numerics.arrays import Flags, Integers
from discreet.sampling.coins import Bracket, Coin, Die, of_fraction
from discreet.sampling.randomness import Randomness

Power = Callable[[int, int], tuple[int, int]]
"""(e, bits) → (lo, hi) with lo ≤ x^e·2^bits ≤ hi."""

MOST_REACH = 2**60


def powers_of(x: Fraction) -> Power:
    """Brackets of x^(2^i) by squaring rounded numbers, so that no power is ever written out."""

    @lru_cache(maxsize=256)
    def power(exponent: int, bits: int) -> tuple[int, int]:
        squarings = exponent.bit_length() - 1
        inner = bits + 2 * squarings + 16
        lo, hi = of_fraction(x)(inner)
        for _ in range(squarings):
            lo, hi = lo * lo >> inner, -(-hi * hi >> inner)
        return lo >> inner - bits, -(-hi >> inner - bits)

    return power


@dataclass(frozen=True, eq=False)
class GeometricCoins:
    """G with P(G ≥ g) = x^g: the digits below `digits` and, beyond them, how many times 2^digits fits."""

    power: Power
    digits: int
    limbs: int

    def draw(self, count: int, randomness: Randomness) -> tuple[Integers, Flags]:
        """The digits as one number, and whether G ≥ 2^digits on top of them."""
        low = np.zeros(count, dtype=np.int64)
        for i, coin in enumerate(self._coins):
            low |= coin.toss(count, randomness).astype(np.int64) << i
        return low, self.overflow.toss(count, randomness)

    @cached_property
    def _coins(self) -> list[Coin]:
        return [Coin(self._odds(2**i), self.limbs) for i in range(self.digits)]

    @cached_property
    def overflow(self) -> Coin:
        """The coin for G ≥ 2^digits; by lack of memory also for another 2^digits, and so on."""
        return Coin(lambda bits: self.power(2**self.digits, bits), self.limbs)

    def _odds(self, exponent: int) -> Bracket:
        def bracket(bits: int) -> tuple[int, int]:
            lo, hi = self.power(exponent, bits)
            one = 1 << bits
            return (lo << bits) // (one + lo), -(-(hi << bits) // (one + hi))

        return bracket


@dataclass(frozen=True, eq=False)
class StaircaseNoise:
    """Noise of the given step, plateau and rational ratio, held at ±reach (beyond which no output tells it apart)."""

    step: int
    plateau: int
    ratio: Fraction
    reach: int
    limbs: int

    def __post_init__(self) -> None:
        if self.reach >= MOST_REACH:
            raise TooLarge(
                "noise over that range",
                size=f"{self.reach:,}",
                fits=f"below {MOST_REACH:,}",
                remedy="Clip the summary to a smaller range.",
            )

    def draw(self, count: int, randomness: Randomness) -> Integers:
        """`count` independent numbers."""
        flat = self._flat.toss(count, randomness)
        negative = (randomness.words(count) >> np.uint64(63)).astype(bool)
        stairs, beyond = self._stairs.draw(count, randomness)
        size = self.plateau + self.step * stairs
        if self.step > 1:
            size += Die(self.step, self.limbs).roll(count, randomness)
        size = np.where(beyond, self.reach, np.minimum(size, self.reach))
        noise = np.where(negative, -size, size)
        inner = np.zeros(count, dtype=np.int64)
        if self.plateau > 1:
            inner = Die(2 * self.plateau - 1, self.limbs).roll(count, randomness) - (self.plateau - 1)
        return np.where(flat, inner, noise)

    @cached_property
    def _flat(self) -> Coin:
        middle = 2 * self.plateau - 1
        weight = middle / (middle + 2 * self.step * self.ratio / (1 - self.ratio))
        return Coin(of_fraction(weight), self.limbs)

    @cached_property
    def _stairs(self) -> GeometricCoins:
        # 2^digits stairs reach beyond the range, so an overflow means `reach`.
        return GeometricCoins(powers_of(self.ratio), (self.reach // self.step).bit_length(), self.limbs)
