"""Exact discrete Gaussian noise: P(Y = y) ∝ e^(−y²/2σ²) on all integers, for rational σ².

Rejection from two-sided geometric noise of ratio e^(−1/t), t = ⌊σ⌋ + 1 (Canonne, Kamath & Steinke 2020, Alg. 3):
propose Y, accept with probability exp(−(|Y| − σ²/t)²/2σ²). Both the proposal's digits and the acceptance are coins
with an irrational bias that is bracketed, so the law is exact; the paper's own coins (Alg. 1) toss a number of times
that depends on what is drawn, ours do not.

How many proposals it takes is independent of what is accepted, hence time tells nothing about the noise, except with
probability below 2^−60 a proposal (one beyond 48·t, whose bias is not in the table). Releases draw it for `discrete-gaussian`
kernels (`closed`), which clip what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, TooLarge
from discreet.model.gaussian_kernel import MOST_VARIANCE
from discreet.numerics.arrays import Flags, Integers
from discreet.numerics.brackets import exp_bracket
from discreet.sampling.coins import Coin, decide, joined, of_fraction
from discreet.sampling.noise import GeometricCoins
from discreet.sampling.randomness import Randomness, Stream

LIMBS = 2
REACH = 48
CHUNK = 1 << 14


class DiscreteGaussianSampler:
    """Discrete Gaussian noise with parameter σ² (its variance is at most that)."""

    def __init__(self, sigma_squared: Fraction) -> None:
        if sigma_squared <= 0:
            raise InputError(
                "The parameter σ² of a discrete Gaussian is positive",
                found=str(sigma_squared),
                allowed="a rational above 0",
                remedy="correct it",
            )
        if sigma_squared > MOST_VARIANCE:
            raise TooLarge(
                "the table of acceptance probabilities",
                size=f"σ² = {float(sigma_squared):g}",
                fits=f"σ² up to {MOST_VARIANCE:,}",
                remedy="Publish a finite kernel instead.",
            )
        self.sigma_squared = sigma_squared
        self.scale = math.isqrt(math.floor(sigma_squared)) + 1

    def draw(self, count: int) -> Integers:
        """`count` independent numbers on fresh operating-system randomness."""
        return self.decode(count, Stream())

    def decode(self, count: int, randomness: Randomness) -> Integers:
        """As `draw`, on the given words."""
        kept: list[Integers] = []
        missing = count
        while missing > 0:
            accepted = self._round(min(CHUNK, 2 * missing + 8), randomness)[:missing]
            kept.append(accepted)
            missing -= len(accepted)
        return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)

    def _round(self, count: int, randomness: Randomness) -> Integers:
        """The accepted ones among `count` proposals, in order."""
        zero = self._zero.toss(count, randomness)
        negative = (randomness.words(count) >> np.uint64(63)).astype(bool)
        low, beyond = self._geometric.draw(count, randomness)
        for i in np.flatnonzero(beyond).tolist():
            times = 1
            while self._geometric.overflow.toss(1, randomness)[0]:
                times += 1
            low[i] += times << self._geometric.digits
        size = np.where(zero, 0, 1 + low)
        proposals = np.where(negative, -size, size)
        return proposals[self._accepted(size, randomness)]

    def _accepted(self, size: Integers, randomness: Randomness) -> Flags:
        prefix = randomness.words(LIMBS * len(size)).reshape(LIMBS, len(size))
        lower, upper = self._table
        row = np.minimum(size, lower.shape[1] - 1)
        taken = _below(prefix, lower[:, row])
        open_ = ~(_below(upper[:, row], prefix) | taken) | (size >= lower.shape[1])
        for i in np.flatnonzero(open_).tolist():
            taken[i] = decide(joined(prefix[:, i]), 64 * LIMBS, self._acceptance(int(size[i])), randomness)
        return taken

    def _acceptance(self, size: int) -> Callable[[int], tuple[int, int]]:
        gap = size - self.sigma_squared / self.scale
        return _of_exponential(-gap * gap / (2 * self.sigma_squared))

    @cached_property
    def _zero(self) -> Coin:
        """Heads when the proposal is 0: probability (1−x)/(1+x), x = e^(−1/t)."""

        def bracket(bits: int) -> tuple[int, int]:
            lo, hi = _of_exponential(Fraction(-1, self.scale))(bits + 8)
            one = 1 << bits + 8
            return ((one - hi) << bits) // (one + hi), -(-((one - lo) << bits) // (one + lo))

        return Coin(bracket, LIMBS)

    @cached_property
    def _geometric(self) -> GeometricCoins:
        def power(exponent: int, bits: int) -> tuple[int, int]:
            return _of_exponential(Fraction(-exponent, self.scale))(bits)

        return GeometricCoins(power, (REACH * self.scale).bit_length(), LIMBS)

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Limbs [limb, size] of lo and of hi − 1 (which always fits) around the acceptance probability, sizes 0..48·t.

        exp(−(y−a)²/2σ²) with a = σ²/t: from y to y+1 it changes by the factor exp(−(2y+1−2a)/2σ²), which itself
        changes by exp(−1/σ²). Numbers are rounded outward at 256 bits. The last entry stands for all beyond.
        """
        bits, variance = 256, self.sigma_squared
        a = variance / self.scale
        value = _of_exponential(-a * a / (2 * variance))(bits)
        factor = _scaled(-(1 - 2 * a) / (2 * variance), bits)
        change = _of_exponential(-1 / variance)(bits)
        lower, upper = [], []
        most = (1 << 64 * LIMBS) - 1
        for _ in range(REACH * self.scale + 1):
            lower.append(min(value[0] >> bits - 64 * LIMBS, most))
            upper.append(min(-(-value[1] >> bits - 64 * LIMBS) - 1, most))
            value = _product(value, factor, bits)
            factor = _product(factor, change, bits)
        return _limbs(lower), _limbs(upper)


class GaussianNoise:
    """Discrete Gaussian noise held at ±reach, beyond which no output tells it apart."""

    def __init__(self, sigma_squared: Fraction, reach: int) -> None:
        self.sampler, self.reach = DiscreteGaussianSampler(sigma_squared), reach

    def draw(self, count: int, randomness: Randomness) -> Integers:
        """`count` independent numbers."""
        return np.clip(self.sampler.decode(count, randomness), -self.reach, self.reach)


def _of_exponential(exponent: Fraction) -> Callable[[int], tuple[int, int]]:
    """Brackets of e^exponent ≤ 1."""

    def bracket(bits: int) -> tuple[int, int]:
        lo, hi = _scaled(exponent, bits)
        return lo, min(hi, 1 << bits)

    return bracket


def _scaled(exponent: Fraction, bits: int) -> tuple[int, int]:
    lo, hi = exp_bracket(exponent, bits + 8)
    return of_fraction(lo)(bits)[0], of_fraction(hi)(bits)[1]


def _product(a: tuple[int, int], b: tuple[int, int], bits: int) -> tuple[int, int]:
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def _limbs(numbers: list[int]) -> NDArray[np.uint64]:
    data = b"".join(number.to_bytes(8 * LIMBS, "big") for number in numbers)
    return np.ascontiguousarray(np.frombuffer(data, dtype=">u8").reshape(-1, LIMBS).T.astype(np.uint64))


def _below(words: NDArray[np.uint64], bounds: NDArray[np.uint64]) -> Flags:
    """Which columns of words [limb, draw] are below their bound; every limb is compared."""
    found = words[-1] < bounds[-1]
    for word, bound in zip(words[-2::-1], bounds[-2::-1], strict=True):
        found = (word < bound) | ((word == bound) & found)
    return np.asarray(found)
