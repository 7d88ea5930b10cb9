"""Polynomials over the rationals, with Sturm sequences: signs and roots on an interval, decided exactly.

A polynomial is the tuple of its coefficients, constant first, without zeros at the end; () is zero.
Sturm: the number of distinct roots in (x, y], neither end a root, is the fall in sign changes of p, p′, −rem, … from x
to y.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

Polynomial = tuple[Fraction, ...]


def somewhere_negative(p: Polynomial, lower: Fraction, upper: Fraction) -> Fraction | None:
    """A point of [lower, upper] at which p < 0, or None when p ≥ 0 throughout.

    Between consecutive distinct roots the sign is constant, so one point in each gap decides.
    """
    if not p:
        return None
    for point in (lower, upper):
        if at(p, point) < 0:
            return point
    cuts = [lower, *separators(p, lower, upper), upper]
    for left, right in itertools.pairwise(cuts):
        for point in (left, (left + right) / 2, right):
            if at(p, point) < 0:
                return point
    return None


def separators(p: Polynomial, lower: Fraction, upper: Fraction) -> list[Fraction]:
    """Points that are no roots, with exactly one distinct root of p between neighbouring ones."""
    chain = sturm(p)

    def isolate(low: Fraction, high: Fraction) -> list[Fraction]:
        if sign_changes(chain, low) - sign_changes(chain, high) <= 1:
            return []
        middle = (low + high) / 2
        while at(p, middle) == 0:
            middle = (middle + high) / 2
        return [*isolate(low, middle), middle, *isolate(middle, high)]

    margin = (upper - lower) / 1024
    low, high = lower - margin, upper + margin
    while at(p, low) == 0:
        low -= margin
    while at(p, high) == 0:
        high += margin
    return [point for point in isolate(low, high) if lower < point < upper]


def sturm(p: Polynomial) -> list[Polynomial]:
    """The Sturm sequence p, p′, −rem(p, p′), …"""
    chain = [p, differentiated(p)]
    while chain[-1]:
        chain.append(tuple(-c for c in remainder(chain[-2], chain[-1])))
    return chain[:-1]


def has_root(p: Polynomial, lower: Fraction, upper: Fraction) -> bool:
    """Whether p vanishes somewhere on [lower, upper]."""
    if not p or at(p, lower) == 0 or at(p, upper) == 0:
        return True
    chain = sturm(p)
    return sign_changes(chain, lower) != sign_changes(chain, upper)


def sign_changes(chain: Sequence[Polynomial], x: Fraction) -> int:
    signs = [s for s in (sign(at(q, x)) for q in chain) if s]
    return sum(a != b for a, b in itertools.pairwise(signs))


def trim(coefficients: Sequence[Fraction]) -> Polynomial:
    kept = list(coefficients)
    while kept and kept[-1] == 0:
        kept.pop()
    return tuple(kept)


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    longest = max(len(p), len(q))
    padded = [(*r, *(Fraction(0),) * (longest - len(r))) for r in (p, q)]
    return trim([x + y for x, y in zip(*padded, strict=True)])


def subtract(p: Polynomial, q: Polynomial) -> Polynomial:
    return add(p, tuple(-c for c in q))


def differentiated(p: Polynomial) -> Polynomial:
    """p′."""
    return trim([k * c for k, c in enumerate(p)][1:])


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    found = [Fraction(0)] * max(len(p) + len(q) - 1, 0)
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            found[i + j] += x * y
    return trim(found)


def remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    left = list(p)
    while len(left) >= len(q):
        factor = left[-1] / q[-1]
        for i in range(1, len(q) + 1):
            left[-i] -= factor * q[-i]
        left.pop()
    return trim(left)


def at(p: Polynomial, x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)
