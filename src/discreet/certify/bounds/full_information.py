"""The plainest bound: nobody does better than to know the truth. It holds for every problem and every promise.

No mechanism's expected payoff exceeds Σ_ω P(ω)·Σ_i weight_i·max_a u_i(a, ω): each decision maker chooses after seeing ω itself.
P(ω) comes from the listed states, or from below by the law of the sum (`value.laws`); what is missing there counts with the
largest payoff, and so does everything where no law can be formed. Only payoffs f(a) + ω·g(a) are bounded better then: the best of
lines φ is convex, so with the ends l and h of ω, E φ(ω) ≤ φ(l) + (φ(h) − φ(l))·(E ω − l)/(h − l).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from types import MappingProxyType
from typing import Any

from discreet.certify.bounds import FULL as FULL
from discreet.certify.duality.chords import least_losses
from discreet.certify.value.laws import law_of
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import MatchLoss, TableLoss
from discreet.model.problem import Believed, Problem, believed, believed_of_histograms
from discreet.model.together import ask
from discreet.model.universe import Universe

BITS = 192
MOST_LISTED = 30_000
MOST_PAYOFFS = 5_000_000
MOST_KEPT = 60_000
"""Values of the statistic up to which the last law is kept."""


def full_information(problem: Problem) -> Fraction:
    """What no mechanism's expected payoff exceeds; the last one is kept, whatever is promised."""
    about = (problem.universe, problem.prior, problem.statistic, problem.decisions, MOST_LISTED, MOST_PAYOFFS, BITS)
    for known, kept in list(_last_bound):
        if known == about:
            return kept
    found = _looked_for(problem)
    _last_bound[:] = [(about, found)]
    return found


_last_bound: list[tuple[tuple[Any, ...], Fraction]] = []


def _looked_for(problem: Problem) -> Fraction:
    if is_answered(problem):
        return Fraction(0)
    try:
        masses, missing = masses_of_statistic(problem)
    except TooLarge:
        return _along_a_chord(problem)
    omegas = sorted(masses)
    best = {w: Fraction(0) for w in omegas}
    for decision in problem.decisions:
        for w, payoff in largest_payoffs(decision, omegas).items():
            best[w] += payoff
    known = sum((p * best[w] for w, p in masses.items() if best[w]), Fraction(0))
    return known + missing * _anywhere(problem, best) if missing else known


def is_answered(problem: Problem) -> bool:
    """Whether every decision maker loses nothing who knows ω: each value of it is an action, and errors are lost."""
    if not all(d.is_loss for d in problem.decisions):
        return False
    if all(d.actions == RealActions() for d in problem.decisions):
        return True
    universe = problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if weights is None:
        return False
    unit, _ = lattice(weights)
    return all(not isinstance(d.actions, NamedActions) and d.actions.covers(*problem.omega_range, unit) for d in problem.decisions)


def _along_a_chord(problem: Problem) -> Fraction:
    """At least the expected best payoff where no law of ω is formed: of lines from the mean of ω, of others the largest."""
    law, universe = law_of(problem), problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if law is None or weights is None or not all(d.is_straight for d in problem.decisions):
        return _anywhere(problem)
    ends = problem.omega_range
    low, high = (sum((largest_payoffs(d, [w])[w] for d in problem.decisions), Fraction(0)) for w in ends)
    mean = sum((v * law.mean(t) for t, v in enumerate(weights)), Fraction(0))
    spread = ends[1] - ends[0] or Fraction(1)  # of a constant statistic, nothing is added
    return low + (high - low) * (mean - ends[0]) / spread


def masses_of_statistic(problem: Problem) -> tuple[dict[Fraction, Fraction], Fraction]:
    """P(ω), from below where states are not listed, and what is missing then; the last one is kept, whoever decides."""
    about = (problem.universe, problem.prior, problem.statistic, MOST_LISTED, BITS)
    for known, found in list(_last):
        if known == about:
            return found
    found = _formed(problem)
    _last[:] = [(about, found)] if len(found[0]) <= MOST_KEPT else []
    return found


_last: list[tuple[tuple[Any, ...], tuple[dict[Fraction, Fraction], Fraction]]] = []


def _formed(problem: Problem) -> tuple[dict[Fraction, Fraction], Fraction]:
    universe = problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if weights is None or not isinstance(universe, Universe) or (universe.histogram_count <= MOST_LISTED and problem.exchangeable):
        belief = believed_of_histograms(problem) if problem.exchangeable else believed(problem, problem.finest())
        return _gathered(belief), Fraction(0)
    law = law_of(problem)
    assert law is not None
    unit, steps = lattice(weights)
    seen = law.masses(steps, BITS)
    whole = 1 << BITS
    return {unit * (seen.first + i): Fraction(m, whole) for i, m in enumerate(seen.masses) if m}, Fraction(seen.missing, whole)


def _gathered(belief: Believed) -> dict[Fraction, Fraction]:
    """The weights of all states with one value of ω together: whole numbers over one denominator."""
    totals = [0] * len(belief.values)
    for column, weight in zip(belief.column, belief.weights.numerators, strict=True):
        totals[column] += weight
    return {omega: Fraction(total, belief.weights.denominator) for omega, total in zip(belief.values, totals, strict=True)}


def lattice(weights: Sequence[Fraction]) -> tuple[Fraction, list[int]]:
    """The weights as whole multiples of their common unit."""
    bottom = lcm(*(w.denominator for w in weights))
    unit = Fraction(gcd(*(int(w * bottom) for w in weights)) or 1, bottom)
    return unit, [int(w / unit) for w in weights]


def largest_payoffs(decision: Decision, omegas: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """A number not below weight·max_a u(a, ω) for each value of the statistic."""
    actions = decision.actions
    if isinstance(actions, RealActions):
        return {w: -loss for w, loss in least_losses(decision, omegas).items()}
    near = decision.is_loss or isinstance(decision.loss, MatchLoss)
    if not near and len(actions) * len(omegas) > MOST_PAYOFFS:
        raise TooLarge(
            "There are too many actions and values of the statistic to look for the best of each",
            size=f"{len(actions) * len(omegas):,}",
            fits=f"{MOST_PAYOFFS:,}",
            remedy="list fewer actions",
        )
    ask((2 if near else len(actions)) * len(omegas), MOST_PAYOFFS)
    best = decision.loss.largest_payoffs(omegas, actions)
    return {w: decision.weight * payoff for w, payoff in zip(omegas, best, strict=True)}


def _anywhere(problem: Problem, known: Mapping[Fraction, Fraction] = MappingProxyType({})) -> Fraction:
    """At least the largest payoff at any value of the statistic, likely or not; at some of them it is known."""
    if all(d.is_loss for d in problem.decisions):
        return Fraction(0)
    universe = problem.universe
    weights = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if weights is None:
        raise Refuted("the statistic has too many values to bound its payoff", "no law of it is formed")
    unit, _ = lattice(weights)
    low, high = problem.omega_range
    count = int((high - low) / unit) + 1
    if count > MOST_PAYOFFS:
        raise Refuted("the statistic has too many values to bound its payoff", f"{count:,}")
    tabled = any(isinstance(d.loss, TableLoss) for d in problem.decisions)
    straight = all(d.is_straight for d in problem.decisions)  # the most of straight lines is convex
    every = (low, high) if straight else problem.omegas if tabled else (low + unit * k for k in range(count))
    others = [w for w in every if w not in known]
    total = [Fraction(0)] * len(others)
    for decision in problem.decisions:
        found = largest_payoffs(decision, others)
        total = [t + found[w] for t, w in zip(total, others, strict=True)]
    return max((*known.values(), *total))
