"""Balls that hold the exact value: what is stated about a divergence stays true.

`arb` of python-flint carries a midpoint and a proven radius, and assumes nothing else. A lower bound is rounded down and an upper
bound up; `enclosure` adds bits until the two ends agree as closely as asked. Where floats are used instead (`moments`), the
mathematical library is assumed to be within `LIBRARY_ULPS` steps of the truth; the common libraries stay within one or two.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq

from discreet.errors import InputError
from discreet.numerics.brackets import float_down, float_up

LIBRARY_ULPS = 4


def ball(value: Fraction | int | float) -> arb:
    """A ball around an exact number, at the precision in force (exact whenever that allows)."""
    if isinstance(value, float):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def lower_float(value: arb) -> float:
    """A float at most every number in the ball; −inf for an unbounded one."""
    return float_down(_end(value.lower())) if value.is_finite() else -math.inf


def upper_float(value: arb) -> float:
    """A float at least every number in the ball; +inf for an unbounded one."""
    return float_up(_end(value.upper())) if value.is_finite() else math.inf


def lower_fraction(value: arb) -> Fraction:
    """A rational at most every number in a finite ball."""
    return Fraction(_end(value.lower()))


def upper_fraction(value: arb) -> Fraction:
    """A rational at least every number in a finite ball."""
    return Fraction(_end(value.upper()))


def enclosure(compute: Callable[[], arb], *, relative_bits: int = 50, max_bits: int = 1 << 16) -> tuple[float, float]:
    """(lower, upper) floats around what `compute` returns, computed again with more bits until tight.

    Tight means an exact ball or a radius of at most 2^−relative_bits of the value. What stays wider up to
    `max_bits` (terms that cancel to exactly zero, say) is returned as it is: still true, only wide.
    """
    bits = 2 * relative_bits
    while True:
        with ctx.workprec(bits):
            result = compute()
            tight = result.is_finite() and (result.is_exact() or result.rel_accuracy_bits() >= relative_bits)
            if tight or bits >= max_bits:
                return lower_float(result), upper_float(result)
        bits *= 2


def hockey_stick_ball(first: Sequence[int], second: Sequence[int], denominator: int, epsilon: Fraction) -> arb:
    """Σ max(p − e^ε q, 0) for p = first/denominator, q = second/denominator: one direction of δ(ε)."""
    growth, total = ball(epsilon).exp(), arb(0)
    for p, q in _pairs(first, second):
        total += arb(p) if q == 0 else (arb(p) - growth * arb(q)).max(arb(0))
    return total / arb(denominator)


def relative_entropy_ball(first: Sequence[int], second: Sequence[int], denominator: int) -> arb:
    """Σ p log(p/q) for p = first/denominator, q = second/denominator; +∞ when some q = 0 < p."""
    total = arb(0)
    for p, q in _pairs(first, second):
        if p and not q:
            return arb.pos_inf()
        if p != q and p:
            total += arb(p) * arb(fmpq(p, q)).log()
    return total / arb(denominator)


def power_ball(first: Sequence[int], second: Sequence[int], denominator: int, order: Fraction) -> arb:
    """Σ p^α q^(1−α) for p = first/denominator, q = second/denominator; α > 1 with q = 0 < p gives +∞.

    Its logarithm over α − 1 is the Rényi divergence of order α.
    """
    exponent, total = ball(order), arb(0)
    for p, q in _pairs(first, second):
        if p and not q and order > 1:
            return arb.pos_inf()
        if p and q:
            total += arb(q) * arb(fmpq(p, q)) ** exponent
    return total / arb(denominator)


def _pairs(first: Sequence[int], second: Sequence[int]) -> Iterable[tuple[int, int]]:
    if len(first) != len(second):
        raise InputError(
            "two distributions have different numbers of outputs",
            found=f"{len(first)} and {len(second)}",
            allowed="two sequences of integer weights over the same outputs",
            remedy="Give the weights of both states for every output.",
        )
    return zip(first, second, strict=True)


def _end(point: arb) -> Fraction:
    """The exact value of a ball of radius zero."""
    mantissa, exponent = map(int, point.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
