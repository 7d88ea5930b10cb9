"""What no model and no prior can exceed: bounds on the probability of a published value and on posteriors.

Let S = supp(x|t, θ): databases that θ can generate and that can publish t. If S is connected, for any model
with this support
  p(t|θ) ∈ p_{x*}(t)·exp(±ε d*(x*)) for every x* in S                             BG Thm 6
  L(t) = sup_{x*} e^(−ε d*) p_{x*}(t),  U(t) = inf_{x*} e^(ε d*) p_{x*}(t)         BG (5); L is the lower, U the upper
  the same with S the union over θ bounds the prior predictive p(t)               BG Thm 10
  π(θ|t) ∈ π(θ)·exp(±ε d**), d** the diameter of S                                BG Thm 11
An unconnected S has no bound; publishing the component beside t (which costs no privacy) restores one: BG Remark 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, nextafter

import numpy as np
from numpy.typing import ArrayLike

from discreet.currencies.bracket import Bracket, enclosed
from discreet.errors import InputError
from discreet.interpret.distances import d_star
from discreet.interpret.intervals import IntervalOfMeasures
from discreet.numerics.arrays import Flags, Floats
from discreet.numerics.digits import about, float_above, float_below
from discreet.numerics.exact import exact
from discreet.numerics.outward import ball

SLACK = 1e-9
FARTHEST = 10_000
"""Shifts of log odds beyond which floats cannot tell a probability from 0 or 1."""


@dataclass(frozen=True, eq=False)
class DensityBounds:
    """Bounds [output] on the probability of each published value, whatever the model with the given support.

    `connected` says for which outputs Thm 6 applies; elsewhere the bounds are 0 and infinity.
    """

    lower: Floats
    upper: Floats
    connected: Flags
    remedy: str | None

    def stated(self, output: int) -> tuple[float, float]:
        """The bounds of one output, outward by more than what floats round: what may be promised."""
        return outward(float(self.lower[output]), float(self.upper[output]))

    def interval(self) -> IntervalOfMeasures:
        """The interval of measures that holds the law of the published value."""
        return IntervalOfMeasures(tuple(self.lower.tolist()), tuple(self.upper.tolist()))

    @property
    def vacuous(self) -> Flags:
        """Outputs whose upper bound is no better than 1."""
        return np.asarray(self.upper >= 1)

    def excess(self) -> Floats:
        """By which factor a vacuous upper bound overshoots 1 (1 where it does not)."""
        return np.maximum(self.upper, 1.0)


def support_of(probabilities: ArrayLike, output: int, model_support: ArrayLike) -> Flags:
    """supp(x|t, θ): states that the model reaches and that can publish the output (BG App. A, finite universe)."""
    return np.asarray(model_support, dtype=bool) & (np.asarray(probabilities)[output] > 0)


def density_bounds(
    probabilities: ArrayLike, distances: Floats, epsilon: float, model_support: ArrayLike | None = None
) -> DensityBounds:
    """Thm 6 (one θ) or Thm 10 (support of all θ together) for every output of a finite mechanism [output, state]."""
    p = np.asarray(probabilities, dtype=np.float64)
    check_epsilon(epsilon)
    wanted = np.ones(p.shape[1], dtype=bool) if model_support is None else np.asarray(model_support, dtype=bool)
    if wanted.shape != (p.shape[1],) or not wanted.any():
        raise InputError(
            "The support of the model holds no state",
            found=f"{int(wanted.sum())} states",
            allowed=f"at least one of {p.shape[1]}",
            remedy="correct the model's support",
        )
    lower, upper = np.zeros(len(p)), np.full(len(p), inf)
    connected = np.ones(len(p), dtype=bool)
    for t in range(len(p)):
        support = support_of(p, t, wanted)
        if not support.any():
            upper[t] = 0.0
            continue
        reach = d_star(distances, support)[support]
        if np.isinf(reach).any():
            connected[t] = False
            continue
        lower[t] = float((np.exp(-epsilon * reach) * p[t, support]).max())
        upper[t] = float((np.exp(epsilon * reach) * p[t, support]).min())
        if lower[t] > upper[t]:
            lower[t] = upper[t] = _met(lower[t], upper[t], t)
    return DensityBounds(lower, upper, connected, None if connected.all() else remark_seven())


def outward(lower: float, upper: float) -> tuple[float, float]:
    """Bounds moved apart by `SLACK`, which covers the roundings of their few exponentials and products."""
    return lower * (1 - SLACK), upper * (1 + SLACK)


def _met(lower: float, upper: float, output: int) -> float:
    """Bounds that cross by rounding meet in the middle; bounds that cross by more belong to another ε or metric."""
    if lower > upper * (1 + 1e-9):
        raise InputError(
            "The mechanism is not private at this ε in this metric, so the bounds contradict each other",
            found=f"lower {about(lower, 6)} above upper {about(upper, 6)} at output {output}",
            allowed="an ε that the mechanism keeps",
            remedy="use the ε of its certificate",
        )
    return (lower + upper) / 2


def remark_seven() -> str:
    """What to do when the support falls apart into unconnected components."""
    return (
        "Some databases behind this value are not connected by neighbours, so privacy says nothing about telling them "
        "apart and there is no bound. Publish which component the database belongs to (its size, an invariant) beside "
        "the value: that costs no privacy budget, and the bounds then hold within the component (BG Remark 7)."
    )


@dataclass(frozen=True)
class PosteriorBounds:
    """π(θ|t) between `lower` and `upper` times the prior, whatever the model: e^∓(ε d**)."""

    epsilon: float | Fraction
    d_star_star: float

    def __post_init__(self) -> None:
        check_epsilon(float(self.epsilon))
        if not self.d_star_star >= 0:
            raise InputError(
                "A distance is not negative",
                found=str(self.d_star_star),
                allowed="0 or above",
                remedy="correct it",
            )

    @property
    def log_factor(self) -> float:
        """ε·d**; infinite for unconnected supports unless ε = 0 and d** finite."""
        return float(self.shift)

    @property
    def shift(self) -> Fraction | float:
        """The same, exact where it is finite."""
        return exact(self.epsilon) * exact(self.d_star_star) if self.d_star_star < inf else inf

    def density(self, prior: ArrayLike) -> tuple[Floats, Floats]:
        """Lower and upper bound of a posterior density at points with these prior densities (Thm 11)."""
        density = np.asarray(prior, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return density * np.exp(-self.log_factor), np.where(density == 0, 0.0, density * np.exp(self.log_factor))

    def probability(self, prior: float) -> tuple[float, float]:
        """Bounds of a posterior probability, outward: prior odds times e^∓(ε d**), which lies inside Thm 11's bounds."""
        return moved_bracket(prior, -self.shift).lower, moved_bracket(prior, self.shift).upper

    def vacuous(self, prior: float) -> float | None:
        """By which factor Thm 11's upper bound on a probability overshoots 1, or None when it does not."""
        if prior <= 0:
            return None
        over = log(prior) + self.log_factor
        return None if over < 0 else (inf if over > 700 else exp(over))


def moved(probability: float, shift: float) -> float:
    """A probability whose log odds moved by `shift`: p e^s / (p e^s + 1 − p)."""
    if not 0 <= probability <= 1:
        raise _no_probability(probability)
    if probability in (0, 1):
        return float(probability)
    if shift == inf or shift == -inf:
        return 1.0 if shift > 0 else 0.0
    odds = log(probability) - np.log1p(-probability) + shift
    return float(1 / (1 + exp(-odds))) if odds > -700 else 0.0


def moved_bracket(probability: float | Fraction, shift: float | Fraction) -> Bracket:
    """The same between two floats, for exact numbers: `upper` is what may be promised as a limit."""
    if not 0 <= probability <= 1:
        raise _no_probability(probability)
    chance = exact(probability)
    if chance in (0, 1) or shift == 0:
        return Bracket(float_below(chance), float_above(chance))
    odds = (1 - chance) / chance
    if abs(shift) == inf:
        return Bracket(1.0, 1.0) if shift > 0 else Bracket(0.0, 0.0)
    if not -FARTHEST <= shift <= FARTHEST:
        far = Fraction(1, 10**300) < odds < 10**300
        return Bracket(nextafter(1.0, 0.0) if far else 0.0, 1.0) if shift > 0 else Bracket(0.0, 5e-324 if far else 1.0)
    return enclosed(lambda: 1 / (1 + ball(odds) * ball(-exact(shift)).exp()), low=0.0, high=1.0)


def _no_probability(found: object) -> InputError:
    return InputError("This is no probability", found=str(found), allowed="0 to 1", remedy="correct it")


def binary_sum_laplace(t: ArrayLike, respondents: int, epsilon: float) -> tuple[Floats, Floats]:
    """BG Ex. 3: bounds on the density of a Laplace-privatised sum of n bits, for every model of n bits.

    Every database has its complement at Hamming distance n, so d* = n. The printed density lacks its minus sign, and
    the text names L the upper and U the lower by mistake. Needs a fixed n: databases of other sizes are unconnected.
    """
    check_epsilon(epsilon, positive=True)
    if respondents < 1:
        raise InputError("There are no respondents", found=str(respondents), allowed="1 or more", remedy="correct n")
    x = np.asarray(t, dtype=np.float64)
    nearest = np.abs(x - np.clip(x, 0, respondents))
    if respondents:
        inside = np.clip(np.rint(x), 0, respondents)
        nearest = np.where((x >= 0) & (x <= respondents), np.abs(x - inside), nearest)
    farthest = np.maximum(np.abs(x), np.abs(x - respondents))
    lower = epsilon / 2 * np.exp(-epsilon * respondents - epsilon * nearest)
    upper = epsilon / 2 * np.exp(epsilon * respondents - epsilon * farthest)
    return lower, upper


def binary_sum_masses(respondents: int, epsilon: float) -> tuple[float, float]:
    """The total masses L(ℝ) and U(ℝ) of BG Ex. 3's lower and upper measures.

    U = e^(εn/2): both sides of the middle fall off from n/2. L = e^(−εn)(1 + n(1 − e^(−ε/2))): tails and unit pieces.
    """
    check_epsilon(epsilon, positive=True)
    upper = exp(epsilon * respondents / 2)
    # Outside [0, n] the two tails integrate to 1; between, n unit pieces each hold 2(1 − e^(−ε/2)) halves.
    lower = exp(-epsilon * respondents) * (1 + respondents * (1 - exp(-epsilon / 2)))
    return lower, upper


def randomised_response_bounds(length: int | Sequence[int], epsilon: float) -> tuple[Floats, Floats]:
    """BG Ex. 4: 1/(e^ε+1)^n ≤ p(t|θ) ≤ e^(nε)/(e^ε+1)^n for n = |t| answers under randomised response."""
    check_epsilon(epsilon)
    n = np.asarray(length, dtype=np.float64)
    log_total = n * np.logaddexp(epsilon, 0.0)
    return np.exp(-log_total), np.exp(n * epsilon - log_total)


def check_epsilon(epsilon: float, *, positive: bool = False) -> None:
    """ε from 0; above 0 where noise would otherwise be infinite."""
    if not (epsilon >= 0 and np.isfinite(epsilon)) or (positive and epsilon == 0):
        raise InputError(
            "ε is out of range",
            found=str(epsilon),
            allowed="a finite number above 0" if positive else "a finite number from 0",
            remedy="with ε = 0 nothing is learned and nothing needs a bound" if epsilon == 0 else "correct ε",
        )
