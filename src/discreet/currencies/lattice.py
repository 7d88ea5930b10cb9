"""Exact composition of a pair whose losses lie on a lattice: randomised response, geometric, staircase.

All finite ratios P/Q are powers b^i of one rational b. The loss of k independent releases is then log b times a sum of
integers, whose distribution is the k-th power of one polynomial:

    δ(ε) = 1 − m^k + Σ_{s: s log b > ε} π_s (1 − e^ε b^−s),     Σ_s π_s x^s = (Σ_i p_i x^i)^k,

m being the mass of finite losses. Balls carry the digits, so the result is exact to the last float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, fmpq

from discreet.currencies.bracket import Bracket, enclosed
from discreet.currencies.pair import Pair
from discreet.numerics.brackets import compare_ratio_exp
from discreet.numerics.outward import ball

MOST_DEGREE = 60_000
LARGEST_POWER = 4_000


@dataclass(frozen=True)
class Lattice:
    """Losses i·log(base) with exact masses under P, by rising i, and the mass of an infinite loss."""

    base: Fraction
    masses: tuple[tuple[int, Fraction], ...]
    infinite: Fraction

    @property
    def stride(self) -> int:
        """The common step of the powers."""
        first = self.masses[0][0]
        return math.gcd(*(i - first for i, _ in self.masses)) or 1

    def degree(self, times: int) -> int:
        """The degree of the polynomial of that many releases."""
        return times * (self.masses[-1][0] - self.masses[0][0]) // self.stride


def lattice_of(pair: Pair) -> Lattice | None:
    """The lattice of a pair's losses, or None when they lie on none or are all infinite."""
    masses: dict[Fraction, Fraction] = {}
    infinite = Fraction(0)
    for p, q in pair.key:
        if p and q:
            ratio = Fraction(p, q)
            masses[ratio] = masses.get(ratio, Fraction(0)) + Fraction(p, pair.denominator)
        elif p:
            infinite += Fraction(p, pair.denominator)
    powers = _powers(sorted(masses)) if masses else None
    if powers is None:
        return None
    base, exponents = powers
    return Lattice(base, tuple(sorted((exponents[r], m) for r, m in masses.items())), infinite)


def lattice_delta(lattice: Lattice, times: int, epsilon: Fraction) -> Bracket:
    """δ(ε) of that many releases in one direction."""
    first, stride = lattice.masses[0][0], lattice.stride
    base = lattice.base
    start = _first_above(base, epsilon, times * lattice.masses[-1][0])
    leak = 1 - (1 - lattice.infinite) ** times

    def value() -> arb:
        total = ball(leak)
        if start is None:
            return total
        coefficients = [arb(0)] * ((lattice.masses[-1][0] - first) // stride + 1)
        for i, mass in lattice.masses:
            coefficients[(i - first) // stride] = ball(mass)
        powered = (arb_poly(coefficients) ** times).coeffs()
        lowest = times * first
        index = max(-((lowest - start) // stride), 0)
        shrink = ball(epsilon).exp() * (arb(fmpq(base.denominator, base.numerator)) ** (lowest + index * stride))
        step = arb(fmpq(base.denominator, base.numerator)) ** stride
        for k in range(index, len(powered)):
            total += powered[k] * (1 - shrink)
            shrink *= step
        return total

    return enclosed(value, low=0.0, high=1.0)


def _first_above(base: Fraction, epsilon: Fraction, most: int) -> int | None:
    """The least s up to `most` with base^s > e^ε, compared exactly; None when there is none."""
    guess = float(epsilon) / _log(base)
    s = max(math.floor(guess - 2 - 1e-9 * guess), 0)
    while s <= most:
        if compare_ratio_exp(base.numerator**s, base.denominator**s, epsilon) > 0:
            return s
        s += 1
    return None


def _powers(ratios: list[Fraction]) -> tuple[Fraction, dict[Fraction, int]] | None:
    """One rational b > 1 and exponents with ratio = b^exponent for each, if there are any."""
    others = [r for r in ratios if r != 1]
    if not others:
        return Fraction(2), dict.fromkeys(ratios, 0)
    logs = [_log(r) for r in others]
    unit = min(abs(x) for x in logs)
    for x in logs:
        unit = _common(unit, abs(x))
        if unit == 0:
            return None
    exponents = [round(x / unit) for x in logs]
    if max(abs(e) for e in exponents) > LARGEST_POWER:
        return None
    base = Fraction(1)
    divisor, combination = 0, [0] * len(others)
    for k, e in enumerate(exponents):
        divisor, u, v = _bezout(divisor, e)
        combination = [u * c for c in combination]
        combination[k] = v
    for ratio, c in zip(others, combination, strict=True):
        base *= ratio**c
    if base < 1:
        base, exponents = 1 / base, [-e for e in exponents]
    exponents = [e // divisor for e in exponents]
    if base == 1 or any(base**e != r for r, e in zip(others, exponents, strict=True)):
        return None
    return base, {Fraction(1): 0, **dict(zip(others, exponents, strict=True))}


def _log(ratio: Fraction) -> float:
    if abs(ratio - 1) < Fraction(1, 1000):
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _common(a: float, b: float) -> float:
    """A common measure of two lengths by Euclid, 0 when there is none of reasonable size."""
    smallest = max(a, b) / LARGEST_POWER
    while b > 1e-9 * max(a, 1e-300):
        a, b = b, abs(a - round(a / b) * b)
        if a < smallest:
            return 0.0
    return a


def _bezout(a: int, b: int) -> tuple[int, int, int]:
    """(g, u, v) with g = gcd(a, b) > 0 and ua + vb = g."""
    u, v, next_u, next_v = 1, 0, 0, 1
    while b:
        quotient, rest = divmod(a, b)
        a, b = b, rest
        u, v, next_u, next_v = next_u, next_v, u - quotient * next_u, v - quotient * next_v
    return (a, u, v) if a > 0 else (-a, -u, -v)
