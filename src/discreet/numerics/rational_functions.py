"""Rational functions P/Q on an interval: second derivatives and ranges, enclosed in exact numbers.

On [m − r, m + r] a polynomial differs from p(m) by at most Σ_{k≥1} |p⁽ᵏ⁾(m)/k!|·rᵏ. An interval is halved until the range of
Q leaves out zero, which ends when Q has no root in it, and at least into `PARTS` pieces, so that ranges are not too wide.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.numerics.polynomials import Polynomial, add, at, differentiated, multiply, subtract

RationalFunction = tuple[Polynomial, Polynomial]
"""Numerator and denominator."""

PARTS = 4
DEEPEST = 40


def second_derivative(function: RationalFunction) -> RationalFunction:
    """(P/Q)″ = (P″Q² − 2P′Q′Q − PQQ″ + 2PQ′²)/Q³."""
    p, q = function
    p1, q1 = differentiated(p), differentiated(q)
    p2, q2 = differentiated(p1), differentiated(q1)
    two = (Fraction(2),)
    top = subtract(multiply(p2, multiply(q, q)), multiply(two, multiply(p1, multiply(q1, q))))
    top = subtract(top, multiply(p, multiply(q, q2)))
    top = add(top, multiply(two, multiply(p, multiply(q1, q1))))
    return top, multiply(q, multiply(q, q))


def value_at(function: RationalFunction, x: Fraction) -> Fraction:
    """P(x)/Q(x)."""
    return at(function[0], x) / at(function[1], x)


def range_on(function: RationalFunction, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Numbers that P/Q does not leave between `low` and `high`."""
    step = (high - low) / PARTS
    parts = [_range(function, low + k * step, low + (k + 1) * step, DEEPEST) for k in range(PARTS)]
    return min(part[0] for part in parts), max(part[1] for part in parts)


def _range(function: RationalFunction, low: Fraction, high: Fraction, depth: int) -> tuple[Fraction, Fraction]:
    top, bottom = (polynomial_range(p, low, high) for p in function)
    if bottom[0] <= 0 <= bottom[1]:
        if not depth or low == high:
            raise InputError(
                "A payoff is divided by something that comes too close to zero",
                found=f"between {float(low):.6g} and {float(high):.6g}",
                allowed="payoffs without a pole",
                remedy="choose a range of actions further away from it",
            )
        middle = (low + high) / 2
        left, right = (_range(function, *ends, depth - 1) for ends in ((low, middle), (middle, high)))
        return min(left[0], right[0]), max(left[1], right[1])
    quotients = [x / y for x in top for y in bottom]
    return min(quotients), max(quotients)


def polynomial_range(p: Polynomial, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """p(m) ± Σ_{k≥1} |p⁽ᵏ⁾(m)/k!|·rᵏ with m the middle and r the half width."""
    middle, radius = (low + high) / 2, (high - low) / 2
    value, spread, power, factorial = at(p, middle), Fraction(0), Fraction(1), 1
    derivative = p
    for k in range(1, len(p)):
        derivative = differentiated(derivative)
        power *= radius
        factorial *= k
        spread += abs(at(derivative, middle)) * power / factorial
    return value - spread, value + spread
