"""What a promise limits, whatever its kind: how far beliefs about one respondent move, and how well tests tell hypotheses apart.

Pure ε: log odds move by at most ε, after every published value; tests as in `power`. Under ρ (zCDP) no limit holds after every
value. With L = ln P(s)/Q(s) for neighbours P, Q and any order α > 1, E_P e^((α−1)L) ≤ e^(α(α−1)ρ), hence

    P(L ≥ t) ≤ e^(−(t−ρ)²/4ρ) for t ≥ ρ, by the order α = (t + ρ)/2ρ,      and   Q(L ≥ t) ≤ e^−t P(L ≥ t).

So whichever is true, log odds rise by less than ρ + 2√(ρ ln 1/c) except with a chance of at most c. A test with false alarms a and
power b has b^α a^(1−α) ≤ e^(α(α−1)ρ), so with α = √(ln(1/a)/ρ)

    b ≤ e^(−(√ln(1/a) − √ρ)²) while ρ ≤ ln(1/a),      and always b ≤ a + TV with the TV that ρ implies.

k respondents who answer alike, or hypotheses k steps apart, are k²ρ (Bun & Steinke 2016, Prop. 1.9; their Lemma 3.5 for the first).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

from discreet.currencies import convert, statement
from discreet.currencies.bracket import Bracket, enclosed
from discreet.interpret.bounds import FARTHEST
from discreet.interpret.power import Number, PowerBound, check_alpha, power_bound
from discreet.model.promises import ConcentratedPromise, Promise, pure_epsilon
from discreet.numerics.exact import exact
from discreet.numerics.outward import ball

RARE = Fraction(1, 10**6)
"""The chance with which a limit under ρ may fail to hold."""


@dataclass(frozen=True)
class OddsLimit:
    """How far log odds can rise, except with a chance of at most `except_for`."""

    size: Fraction | float
    except_for: Fraction = Fraction(0)


def promised_shift(promise: Promise, together: int = 1) -> OddsLimit:
    """The most that a published value moves the log odds of a fact about one respondent, `together` of whom answer alike."""
    if not isinstance(promise, ConcentratedPromise):
        return OddsLimit(pure_epsilon(promise) * together)
    rho = promise.rho * together**2
    return OddsLimit(enclosed(lambda: ball(rho) + 2 * (ball(rho) * -ball(RARE).log()).sqrt(), low=0.0).upper, RARE)


def promised_power(promise: Promise, alpha: Number, distance: float) -> PowerBound:
    """The most power of any test with `alpha` false alarms between hypotheses that are `distance` steps apart."""
    if not isinstance(promise, ConcentratedPromise):
        return power_bound(alpha, pure_epsilon(promise), distance)
    check_alpha(alpha)
    level = exact(alpha)
    if distance == inf:
        return PowerBound(alpha, promise.rho, distance, Bracket(1.0, 1.0), "one")
    rho = promise.rho * exact(distance) ** 2
    if rho > FARTHEST:
        return PowerBound(alpha, promise.rho, distance, Bracket(nextafter(1.0, 0.0), 1.0), "one")
    found = {"variation": min(float(level) * (1 + 2**-50) + float(_variation(rho)), 1.0), "divergence": _by_divergence(level, rho)}
    cap = min(found, key=lambda name: found[name])
    return PowerBound(alpha, promise.rho, distance, Bracket(float(level), found[cap]), cap if found[cap] < 1 else "one")


def _by_divergence(level: Fraction, rho: Fraction) -> float:
    """e^(−(√ln(1/a) − √ρ)²), or 1 where ρ is too large for it."""
    if level == 0:
        return 0.0

    def root() -> object:
        return (-ball(level).log()).sqrt() - ball(rho).sqrt()

    if enclosed(root).lower <= 0:  # type: ignore[arg-type]
        return 1.0
    return enclosed(lambda: (-(root() ** 2)).exp(), low=0.0, high=1.0).upper  # type: ignore[operator]


def _variation(rho: Fraction) -> Fraction:
    """The total variation that follows from ρ, rounded up."""
    return convert(statement("zcdp", rho=rho), "tv").result.numbers["tv"] if rho else Fraction(0)
