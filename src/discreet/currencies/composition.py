"""Composition rules: what several releases about the same respondents promise together.

| rule | promise | assumes |
|---|---|---|
| `pure` | ε₁ + … + ε_k | adaptive: a release may depend on earlier outputs; each ε fixed in advance |
| `concentrated` | ρ₁ + … + ρ_k | as `pure` |
| `information` | MI₁ + … + MI_k | each release's randomness is fresh given the database: Y₁ − X − Y₂ is Markov (CY) |
| `advanced` | (kε·tanh(ε/2) + ε√(2k log 1/δ), δ) | k releases, each ε-DP, k and ε fixed in advance; adaptive |
| `optimal` | exact δ(ε′) of k-fold randomised response | as `advanced`; no rule that knows only ε, δ and k is better |

Mechanisms that are known, not only their ε, compose better: see `compose`.
References: DR; Bun & Steinke (2016); CY (subadditivity); Dwork, Rothblum & Vadhan (2010) with the mean of the loss of
CY's tightest claim; Kairouz, Oh & Viswanath (2015), Thm 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from discreet.currencies.bracket import Bracket, enclosed
from discreet.currencies.statements import Statement
from discreet.errors import InputError
from discreet.numerics.exact import exact
from discreet.numerics.outward import ball, lower_float, upper_float

ADAPTIVE = "Releases may be chosen after seeing earlier outputs; their parameters are fixed in advance."
FRESH = "Given the database, the releases use independent randomness (Y1 - X - Y2 is Markov)."
MOST_RELEASES = 100_000


@dataclass(frozen=True)
class Composed:
    """A joint promise, the rule that gives it and what the rule assumes."""

    rule: str
    result: Statement
    assumes: str


def pure(epsilons: Sequence[object]) -> Composed:
    """ε adds up, exactly."""
    total = sum((_positive(e, "epsilon") for e in epsilons), Fraction(0))
    return Composed("sum of ε", Statement("epsilon", {"epsilon": total}), ADAPTIVE)


def concentrated(rhos: Sequence[object]) -> Composed:
    """ρ adds up, exactly."""
    total = sum((_positive(r, "rho") for r in rhos), Fraction(0))
    return Composed("sum of ρ", Statement("zcdp", {"rho": total}), ADAPTIVE)


def information(amounts: Sequence[object]) -> Composed:
    """Mutual information is subadditive: I(X;Y₁,Y₂) ≤ I(X;Y₁) + I(X;Y₂) if Y₁ − X − Y₂."""
    total = sum((_positive(a, "mi") for a in amounts), Fraction(0))
    return Composed("sum of mutual information", Statement("mi", {"mi": total}), FRESH)


def advanced(epsilon: object, releases: int, delta: object) -> Composed:
    """The advanced composition theorem for k releases that are each ε-DP."""
    rate, k, chance = _positive(epsilon, "epsilon"), _count(releases), exact(delta, "delta")
    if not 0 < chance < 1:
        raise InputError("delta is out of range", found=str(chance), allowed="0 < delta < 1", remedy="correct delta")
    bound = enclosed(lambda: k * ball(rate) * ball(rate / 2).tanh() + ball(rate) * (-2 * k * ball(chance).log()).sqrt(), low=0.0)
    numbers = {"epsilon": Fraction(bound.upper), "delta": chance}
    return Composed("advanced composition", Statement("approximate", numbers), ADAPTIVE)


def optimal(epsilon: object, releases: int, *, delta: object = 0, at_epsilon: object = None, at_delta: object = None) -> Composed:
    """The best promise for k releases that are each (ε, δ)-DP: the δ at `at_epsilon`, or the ε at `at_delta`."""
    rate, k, leak = _positive(epsilon, "epsilon"), _count(releases), exact(delta, "delta")
    if (at_epsilon is None) == (at_delta is None):
        raise InputError(
            "Optimal composition is asked at one ε or at one δ",
            found="both or neither",
            allowed="at_epsilon or at_delta",
            remedy="give exactly one",
        )
    if at_epsilon is not None:
        level = _positive(at_epsilon, "epsilon")
        numbers = {"epsilon": level, "delta": Fraction(optimal_delta(rate, leak, k, level).upper)}
    else:
        chance = exact(at_delta, "delta")
        numbers = {"epsilon": Fraction(optimal_epsilon(rate, leak, k, chance).upper), "delta": chance}
    return Composed("optimal composition", Statement("approximate", numbers), ADAPTIVE)


def optimal_delta(epsilon: Fraction, delta: Fraction, releases: int, level: Fraction) -> Bracket:
    """1 − (1−δ)^k (1 − Σ_j C(k,j) max(e^(jε) − e^(ε′+(k−j)ε), 0)/(1+e^ε)^k)."""

    def value() -> arb:
        total = arb(0)
        for j, chance, other in _responses(epsilon, releases):
            if (2 * j - releases) * epsilon <= level:
                break
            total += chance - ball(level).exp() * other
        return total + ball(1 - (1 - delta) ** releases) * (1 - total)

    return enclosed(value, low=0.0, high=1.0)


def optimal_epsilon(epsilon: Fraction, delta: Fraction, releases: int, chance: Fraction) -> Bracket:
    """The least ε′ at which `optimal_delta` is at most `chance`; refused when the leaks alone exceed it."""
    leak = 1 - (1 - delta) ** releases
    if chance < leak or (chance == 0 and epsilon == 0):
        if chance < leak:
            raise InputError(
                "The releases give themselves away more often than that",
                found=f"delta = {float(chance):.6g}",
                allowed=f"at least {float(leak):.6g}",
                remedy="ask at a larger delta",
            )
        return Bracket(0.0, 0.0)
    pure_chance = (chance - leak) / (1 - leak)
    if pure_chance == 0:
        return enclosed(lambda: ball(releases * epsilon))
    with ctx.workprec(256):
        hits = alarms = arb(0)
        lower = upper = 0.0
        for _, gained, false in _responses(epsilon, releases):
            hits, alarms = hits + gained, alarms + false
            at = (hits - ball(pure_chance)) / alarms
            if upper_float(at) <= 0:
                continue
            upper = max(upper, upper_float(at.abs_upper().log()))
            if at > 0:
                lower = max(lower, lower_float(at.log()))
    return Bracket(lower, upper)


def _responses(epsilon: Fraction, releases: int):  # type: ignore[no-untyped-def]
    """(j, P, Q) of k randomised responses with j true answers, j falling: binomial chances with the two roles."""
    odds = ball(epsilon).exp()
    base = (1 / (1 + odds)) ** releases
    ways = arb(1)
    for false in range(releases + 1):
        true = releases - false
        yield true, ways * odds**true * base, ways * odds**false * base
        ways = ways * true / (false + 1)


def _positive(value: object, what: str) -> Fraction:
    number = exact(value, what)
    if number < 0:
        raise InputError(f"{what} is negative", found=str(number), allowed="0 or more", remedy=f"correct {what}")
    return number


def _count(releases: int) -> int:
    if not 1 <= releases <= MOST_RELEASES:
        raise InputError(
            "The number of releases is out of range",
            found=str(releases),
            allowed=f"1 to {MOST_RELEASES:,}",
            remedy="correct it",
        )
    return releases
