"""Power: how well anyone can tell two hypotheses apart from a published value.

For H0: θ0 against H1: θ1 with every database of one connected to every database of the other by at most d** steps
between neighbours, any level-α test has power at most f^d**(α), the iterate of one step's limit

    f(α) = min(e^ε α, 1 − e^−ε(1 − α)),       f^d(α) = min over j of 1 − e^−(d−j)ε (1 − e^jε α),

because the false alarms at one end of a step are the level at the other, and f is concave and rises. The geometric
mechanism on a count attains it: no smaller number is true of every ε-DP mechanism. The ends j = d and j = 0 are BG Thm 8
and the same theorem for the complement of the rejection region; where a distance is no number of steps they are all.
The most powerful test rejects where p1/p0 is large and, at the boundary, by a coin (Neyman & Pearson). For one
Laplace-noised count whose two databases are n apart, Thm 8 is attained exactly when α e^(nε) ≤ 1/2; above that
the exact power is 1 − e^(−nε)/(4α) while the threshold stays within [0, n], and the second cap beyond (α ≥ 1/2).

Notation: α → alpha (false alarms), power = 1 − β (β missed). References: BG Thm 8, fn 3, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, inf, log, nextafter

import numpy as np

from discreet.currencies.bracket import Bracket, enclosed
from discreet.errors import InputError
from discreet.interpret.bounds import FARTHEST, check_epsilon
from discreet.interpret.predictive import prior_predictive
from discreet.mechanisms.geometric import TruncatedGeometric
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.arrays import Floats
from discreet.numerics.digits import about, given
from discreet.numerics.exact import exact
from discreet.numerics.logspace import log_multinomial_pmf
from discreet.numerics.outward import ball

Number = float | Fraction
TIE = 1e-13
"""Relative difference below which two likelihood ratios of floats count as equal."""


@dataclass(frozen=True)
class PowerBound:
    """The most power any level-α test can have, between two floats, and which cap decides.

    `level` is the ε, or the ρ, that it follows from. Caps: `level` (every step multiplies the level), `complement` (every step
    divides what is left), `both` (first the one, then the other), `divergence` and `variation` (under ρ), `one` (nothing is ruled
    out).
    """

    alpha: Number
    level: Number
    distance: float
    bracket: Bracket
    cap: str

    @property
    def value(self) -> float:
        """The limit that may be promised."""
        return self.bracket.upper

    @property
    def vacuous(self) -> bool:
        """Whether nothing is ruled out."""
        return self.value >= 1


def power_bound(alpha: Number, epsilon: Number, distance: float) -> PowerBound:
    """f^d**(α), rounded outward; `distance` is d** in steps between neighbours (BG Thm 8 where it is no whole number)."""
    check_alpha(alpha)
    check_epsilon(float(epsilon))
    if not distance >= 0:
        raise InputError("A distance is not negative", found=str(distance), allowed="0 or above", remedy="correct it")
    level, rate = exact(alpha), exact(epsilon)
    if distance == inf or rate * exact(distance) > FARTHEST:
        return PowerBound(alpha, epsilon, distance, Bracket(1.0 if distance == inf else nextafter(1.0, 0.0), 1.0), "one")
    steps = exact(distance)
    found = {j: _after(level, rate, j, steps - j) for j in _turns(level, rate, steps)}
    best = min(found, key=lambda j: found[j].upper)
    cap = "level" if best == steps else "complement" if best == 0 else "both"
    lowest = min(bracket.lower for bracket in found.values())
    return PowerBound(alpha, epsilon, distance, Bracket(lowest, found[best].upper), cap if lowest < 1 else "one")


def _turns(level: Fraction, rate: Fraction, steps: Fraction) -> set[Fraction]:
    """Numbers of steps that multiply the level among which the best is: x − αx² is largest nearest to x = e^jε = 1/2α."""
    if rate == 0 or steps.denominator != 1:
        return {Fraction(0), steps}
    turn = floor(min((log(level.denominator) - log(2 * level.numerator)) / float(rate), float(steps)))
    return {min(max(Fraction(j), Fraction(0)), steps) for j in range(turn - 1, turn + 3)}


def _after(level: Fraction, rate: Fraction, multiplied: Fraction, divided: Fraction) -> Bracket:
    """1 − e^−(divided·ε) (1 − e^(multiplied·ε) α)."""
    return enclosed(
        lambda: ball(level) * ball((multiplied - divided) * rate).exp() - ball(-divided * rate).expm1(), low=0.0, high=1.0
    )


@dataclass(frozen=True)
class MostPowerfulTest:
    """Reject with probability `rejection[s]` after output s; only boundary outputs need the coin."""

    alpha: Number
    power: Number
    size: Number
    rejection: tuple[Number, ...]

    @property
    def randomised(self) -> bool:
        """Whether some output needs a coin."""
        return any(0 < r < 1 for r in self.rejection)


def neyman_pearson(null: Sequence[Number], alternative: Sequence[Number], alpha: Number) -> MostPowerfulTest:
    """The most powerful level-α test between two laws of the output, exact when everything is rational."""
    check_alpha(alpha)
    if len(null) != len(alternative) or not null:
        raise InputError(
            "The two hypotheses need the probability of the same outputs",
            found=f"{len(null)} and {len(alternative)}",
            allowed="the same number, at least one",
            remedy="complete them",
        )
    order = sorted(range(len(null)), key=lambda s: _ratio(null[s], alternative[s]), reverse=True)
    exact = all(isinstance(p, (int, Fraction)) for p in (*null, *alternative, alpha))
    zero: Number = Fraction(0) if exact else 0.0
    rejection: list[Number] = [zero] * len(null)
    size, power = zero, zero
    place = 0
    while place < len(order):
        tied = [order[place]]
        while place + len(tied) < len(order) and _tied(null, alternative, tied[0], order[place + len(tied)], exact):
            tied.append(order[place + len(tied)])
        place += len(tied)
        mass0 = sum((null[s] for s in tied), zero)
        mass1 = sum((alternative[s] for s in tied), zero)
        share: Number = 1 if mass0 <= alpha - size else (alpha - size) / mass0
        for s in tied:
            rejection[s] = share
        size, power = size + share * mass0, power + share * mass1
        if share < 1:
            break
    return MostPowerfulTest(alpha, power if exact else min(float(power), 1.0), size, tuple(rejection))


def most_powerful_test(mechanism: Mechanism, null: Prior, alternative: Prior, alpha: float) -> MostPowerfulTest:
    """The best test that reads the published value, between two simple hypotheses about the data."""
    return neyman_pearson(
        prior_predictive(mechanism, null).tolist(),
        prior_predictive(mechanism, alternative).tolist(),
        float(alpha),
    )


def laplace_shift_power(alpha: float, epsilon: float, distance: float) -> float:
    """Exact power of the best test between two databases whose Laplace-noised counts are `distance` apart."""
    check_alpha(alpha)
    check_epsilon(epsilon, positive=True)
    shift = epsilon * distance
    if alpha >= 0.5:
        return 1 - exp(-shift) * (1 - alpha)
    if log(alpha) + shift <= log(0.5):
        return alpha * exp(shift)
    return 1 - exp(-shift) / (4 * alpha)


def least_epsilon(alpha: float, power: float, distance: float) -> float:
    """The ε below which no ε-DP mechanism at all lets a level-α test reach this power: `power_bound` inverted, rounded down."""
    check_alpha(alpha)
    _check_power(power, alpha)
    if not 0 < distance < inf:
        raise InputError(
            "The distance between the hypotheses must be positive and finite",
            found=str(distance),
            allowed="above 0",
            remedy="hypotheses about the same database cannot be told apart",
        )
    wanted = exact(power)
    if wanted == exact(alpha):
        return 0.0
    low, high = 0.0, 1.0
    while power_bound(alpha, high, distance).bracket.lower < wanted:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return low
        # Where the bracket holds the power itself, the lower end stays where nothing reaches it.
        low, high = (middle, high) if power_bound(alpha, middle, distance).value < wanted else (low, middle)


def epsilon_needed(power_at: Callable[[float], float], power: float, *, most: float = 50.0) -> float:
    """The smallest ε at which `power_at(ε)` reaches the power, by bisection; power must grow with ε."""
    low, high = 0.0, 1.0
    while power_at(high) < power:
        low, high = high, 2 * high
        if high > most:
            raise InputError(
                "No ε in range reaches this power",
                found=f"{about(power_at(most), 6)} at ε = {given(most)}",
                allowed=f"power {given(power)}",
                remedy="the data themselves are too few: ask for less power or more respondents",
            )
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def respondents_needed(power_at: Callable[[int], float], power: float, *, most: int = 1_000_000) -> int:
    """The smallest number of respondents at which `power_at(n)` reaches the power, by doubling and bisection."""
    low, high = 0, 1
    while power_at(high) < power:
        low, high = high, 2 * high
        if high > most:
            raise InputError(
                "No number of respondents in range reaches this power",
                found=f"power {given(power)} not reached at {low:,}",
                allowed=f"up to {most:,} respondents",
                remedy="raise ε (with ε = 0 no number suffices) or ask for less power",
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def geometric_count_power(respondents: int, epsilon: float, first: float, second: float, alpha: float) -> float:
    """Power of the best test of a proportion, `first` against `second`, from a geometric-noised count."""
    null, alternative = (count_law(respondents, epsilon, p) for p in (first, second))
    return float(neyman_pearson(null.tolist(), alternative.tolist(), float(alpha)).power)


def count_law(respondents: int, epsilon: float, proportion: float) -> Floats:
    """The law of a published count: binomial respondents through the truncated geometric mechanism."""
    check_epsilon(epsilon)
    k = np.arange(respondents + 1)
    law = np.exp(log_multinomial_pmf(np.stack([respondents - k, k], axis=1), np.array([1 - proportion, proportion])))
    if epsilon == 0:
        # Nothing is published: both ends with probability one half.
        flat = np.zeros(respondents + 1)
        flat[[0, -1]] = 0.5
        return flat
    kept = law > 1e-18
    kernel = TruncatedGeometric(Fraction(epsilon).limit_denominator(10**9), 0, respondents)
    return np.asarray(kernel.pmf(k[:, None], k[None, kept]) @ law[kept])


def _ratio(null: Number, alternative: Number) -> Number:
    if null == 0:
        return inf if alternative > 0 else -inf
    return alternative / null


def _tied(null: Sequence[Number], alternative: Sequence[Number], s: int, r: int, exact: bool) -> bool:
    left, right = alternative[s] * null[r], alternative[r] * null[s]
    if exact:
        return bool(left == right)
    return bool(abs(float(left) - float(right)) <= TIE * max(abs(float(left)), abs(float(right))))


def check_alpha(alpha: Number) -> None:
    if not 0 < alpha < 1:
        raise InputError(
            "A level lies between 0 and 1",
            found=str(alpha),
            allowed="0 < alpha < 1",
            remedy="for instance 0.05",
        )


def _check_power(power: float, alpha: float) -> None:
    if not alpha <= power < 1:
        raise InputError(
            "A power lies between the level and 1",
            found=str(power),
            allowed=f"{given(alpha)} to below 1",
            remedy="for instance 0.8",
        )
