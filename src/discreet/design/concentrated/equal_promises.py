"""Levels of pure ε and of ρ (zCDP) that promise the same: the same ρ, or the same ε at a δ.

    ε implies ρ = ε·tanh(ε/2), and (ε′, δ) with δ = (e^ε − e^ε′)/(e^ε + 1)
    ρ implies (ε′, δ) by the best order (Canonne, Kamath & Steinke 2020)

So a level of one promise has two equals in the other. What is implied is rounded up, and an equal is rounded towards the stronger
promise: whoever keeps it keeps the number that both are said to share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.currencies import Statement, convert, statement
from discreet.currencies.formulas import relative_entropy
from discreet.model.promises import ConcentratedPromise, Promise, PurePromise

DELTA = Fraction(1, 10**6)
PLACES = 10**12
"""Equal levels are decimals with twelve places."""


@dataclass(frozen=True)
class Equal:
    """A level of one promise, what it implies in ρ and in ε at δ, and the levels of the other that imply no more."""

    level: Fraction
    rho: Fraction
    epsilon: Fraction
    same_rho: Fraction
    same_epsilon: Fraction


def equal_levels(promise: Promise, delta: Fraction = DELTA) -> Equal:
    """The equals of a promise of ε or ρ."""
    rho, epsilon = implied_rho(promise), implied_epsilon(promise, delta)
    if isinstance(promise, PurePromise):
        same = _largest(lambda level: _implied_delta(ConcentratedPromise(level), epsilon) <= delta)
        return Equal(promise.level, rho, epsilon, _down(rho), same)
    same = _largest(lambda level: _implied_delta(PurePromise(level), epsilon) <= delta, _down(epsilon))
    return Equal(promise.level, rho, epsilon, pure_level(rho), same)


def implied_rho(promise: Promise) -> Fraction:
    """The ρ that follows from a promise, rounded up; refuses where none does."""
    return convert(_stated(promise), "zcdp").result.numbers["rho"]


def implied_epsilon(promise: Promise, delta: Fraction = DELTA) -> Fraction:
    """The ε that follows from a promise at δ, rounded up; refuses where none does."""
    return convert(_stated(promise), "approximate", delta=delta).result.numbers["epsilon"]


def _implied_delta(promise: Promise, epsilon: Fraction) -> Fraction:
    return convert(_stated(promise), "approximate", epsilon=epsilon).result.numbers["delta"]


def pure_level(rho: Fraction) -> Fraction:
    """The largest ε in twelve decimals with ε·tanh(ε/2) ≤ ρ."""
    return _largest(lambda level: relative_entropy(level).upper <= rho)


def _stated(promise: Promise) -> Statement:
    return statement("epsilon" if promise.kind == "pure" else promise.kind, **promise.numbers)


def _down(number: Fraction) -> Fraction:
    return Fraction(number.numerator * PLACES // number.denominator, PLACES)


def _largest(holds: Callable[[Fraction], bool], low: Fraction = Fraction(0)) -> Fraction:
    """The largest decimal from `low` on at which a condition holds that does not hold for ever: by doubling, then halving."""
    below, step = int(low * PLACES), 1
    while holds(Fraction(below + step, PLACES)):
        below, step = below + step, 2 * step
    above = below + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if holds(Fraction(middle, PLACES)) else (below, middle)
    return Fraction(below, PLACES)
