"""Witnesses that are theorems: conditions checked again, formulas computed again.

`SY Thm 3`: two types, an exchangeable prior, replace-one neighbours, ordered actions and a supermodular payoff: the geometric
mechanism on the count is optimal. The kernel's rational ratio r is not below e^−ε, so it promises a little more than ε; a
rational r′ ≤ e^−ε promises a little less, and by the same theorem its optimum, which is at least the optimum at ε, is the
geometric kernel's with r′ and each output's best action. That is the bound.

`full information`: any problem (`full_information`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.certify.bounds import FULL, GEOMETRIC
from discreet.certify.value.path import Band, Path, bands, path_of
from discreet.certify.value.path_losses import followed, least_followed, least_loss
from discreet.errors import Refuted
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Recommendation, TheoremWitness
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import DistanceLoss, FormulaLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.reductions import reduced
from discreet.model.statistic import on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.supermodular import supermodular_violation
from discreet.model.universe import Universe
from discreet.numerics.brackets import float_up, rational_below_exp


def theorem_value(mechanism: Mechanism, witness: TheoremWitness) -> Fraction | None:
    """A lower side of the value of the geometric mechanism with its listed actions; None for any other kernel, whose value
    does not rest on the theorem."""
    if witness.theorem != GEOMETRIC:
        return None
    problem = geometric_is_optimal(mechanism.problem, witness)
    kernel = mechanism.kernel
    if not isinstance(kernel, GeometricKernel):
        return None
    if kernel.step != 1 or kernel.actions is None:
        raise Refuted("Theorem 3 speaks of a geometric kernel with an action for each output", kernel.family)
    ground = _ground(problem, kernel.ratio, kernel.low, kernel.high, tuple(kernel.actions))
    _must_read_the_count(mechanism, witness, ground.path)
    total = sum(
        followed(
            ground.decision,
            band,
            ground.omegas,
            ground.least,
            [ground.listed[k - kernel.low] for k in band.outputs.tolist()],
        )
        for band in ground.bands
    )
    return -_above(ground.upper(total)) * ground.decision.weight


def theorem_upper_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no private mechanism's expected payoff exceeds, by the named theorem."""
    if witness.theorem == FULL:
        if witness.parameters:
            raise Refuted("full information has no parameters", ", ".join(name for name, _ in witness.parameters))
        from discreet.certify.bounds.full_information import full_information

        return full_information(problem)
    if witness.theorem != GEOMETRIC:
        raise Refuted("the certificate rests on a theorem that is not known", witness.theorem)
    path_problem = geometric_is_optimal(problem, witness)
    return geometric_bound(path_problem)


def geometric_bound(problem: Problem) -> Fraction:
    """The bound of Theorem 3 for a problem whose conditions have been checked."""
    ratio = rational_below_exp(-problem.epsilon, 80)
    ground = _ground(problem, ratio, 0, problem.people.largest)
    total = sum(least_followed(ground.decision, band, ground.omegas, ground.least) for band in ground.bands)
    return -_below(ground.lower(total)) * ground.decision.weight


def geometric_is_optimal(problem: Problem, witness: TheoremWitness) -> Problem:
    """The two-type problem behind the claim, or a refutation that names the condition that fails."""
    merge = dict(witness.parameters).get("reduction")
    if merge is not None:
        problem = reduced(problem, merge).problem
    reason = why_not_geometric(problem)
    if reason is not None:
        raise Refuted("a condition of Theorem 3 does not hold", reason)
    return problem


def why_not_geometric(problem: Problem) -> str | None:
    """The first condition of SY Thm 3 that fails, in words; None when all hold."""
    universe = problem.universe
    if not isinstance(universe, Universe) or universe.types != 2:
        return "respondents have more than two types"
    if not isinstance(problem.neighbours, ReplaceOne):
        return "neighbours do not replace one respondent"
    if problem.epsilon == 0:
        return "ε is 0"
    if not problem.exchangeable:
        return "the prior depends on the order of respondents"
    if problem.statistic.weights(universe) is None:
        return "the statistic is not a sum, mean or count"
    if len(problem.decisions) != 1:
        return "there are several decision makers"
    if universe.respondents > 5_000 and not isinstance(problem.decision.loss, (DistanceLoss, FormulaLoss)):
        return "the payoff lists more values than can be checked"
    violation = supermodular_violation(problem.decision, _telling(problem))
    if violation is not None:
        return (
            f"the payoff is not supermodular: moving from action {violation.action} to {violation.higher_action} pays less "
            f"at ω = {violation.higher_omega} than at {violation.omega}"
        )
    return None


@dataclass(frozen=True, eq=False)
class _Ground:
    """What both sides are computed from: losses with ω and actions counted from the least likely ω in steps of a count."""

    decision: Decision
    listed: tuple[Recommendation, ...]
    path: Path
    bands: list[Band]
    omegas: tuple[Fraction, ...]
    least: np.ndarray
    floor: float
    spread: float

    def upper(self, regret: float) -> float:
        error = self.bands[0].error
        missed = self.bands[0].missed * self.spread
        return self.floor + regret * (1 + 2 * error) + missed + self._slack()

    def lower(self, regret: float) -> float:
        error = self.bands[0].error
        return self.floor + regret * (1 - 2 * error) - self._slack()

    def _slack(self) -> float:
        """Rounding of the floor Σ π·min ℓ, whose terms may have either sign, and of the mass outside the window."""
        size = float((self.path.masses * np.abs(self.least)).sum())
        return size * (self.path.error + 4e-15) + self.path.lost * self.spread


def _must_read_the_count(mechanism: Mechanism, witness: TheoremWitness, path: Path) -> None:
    """The kernel must be fed the count that the path is about, clipped at most where that count is unlikely."""
    merge = dict(witness.parameters).get("reduction")
    weights = (0, 1) if merge is None else reduced(mechanism.problem, merge).summary.weights
    summary = mechanism.summary
    if not isinstance(summary, LinearSummary) or summary.weights != weights:
        raise Refuted("the mechanism does not read the count that Theorem 3 speaks of", summary.kind)
    first, last = int(path.counts[0]), int(path.counts[-1])
    if summary.clip(first) != first or summary.clip(last) != last:
        raise Refuted("the summary clips likely counts", f"{summary.low}..{summary.high}, likely {first}..{last}")


def _ground(problem: Problem, ratio: Fraction, low: int, high: int, listed: tuple[Recommendation, ...] = ()) -> _Ground:
    path = path_of(problem)
    universe = problem.people
    if path.counts[0] < low or path.counts[-1] > high:
        raise Refuted("the kernel's range clips likely counts", f"{low}..{high}")
    n = universe.respondents
    omegas = on_histograms(problem.statistic, np.column_stack([n - path.counts, path.counts]), universe)
    ruler = _ruler(problem, omegas)
    decision, omegas = _measured(problem.decision, ruler, omegas), tuple(map(ruler, omegas))
    listed = tuple(ruler(a) if isinstance(a, Fraction) else a for a in listed)
    least = least_loss(decision, omegas)
    floor = float((path.masses * least).sum())
    spread = _spread(problem, decision, ruler, listed)
    return _Ground(decision, listed, path, bands(path, ratio, low, high), omegas, least, floor, spread)


@dataclass(frozen=True)
class _Ruler:
    """(x − origin)/unit: losses of ω − a become small whole numbers at any place and any scale, so floats keep them."""

    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    def __call__(self, x: Fraction) -> Fraction:
        return (x - self.origin) / self.unit


def _ruler(problem: Problem, omegas: tuple[Fraction, ...]) -> _Ruler:
    weights = problem.statistic.weights(problem.people)
    if not problem.decision.is_loss or weights is None:
        return _Ruler()
    return _Ruler(min(omegas), abs(weights[1] - weights[0]) or Fraction(1))


def _measured(decision: Decision, ruler: _Ruler, omegas: tuple[Fraction, ...]) -> Decision:
    """The same decision with numbers measured by the ruler; its weight makes up for the unit.

    Errors grow away from ω, so of listed actions only those between likely values of ω, and the next beyond, can be best.
    """
    if not isinstance(decision.loss, DistanceLoss):
        return decision
    actions = decision.actions
    if isinstance(actions, ListedActions):
        near = slice(max(bisect_right(actions.numbers, min(omegas)) - 1, 0), bisect_left(actions.numbers, max(omegas)) + 1)
        actions = ListedActions(tuple(map(ruler, actions.numbers[near])))
    elif isinstance(actions, RealActions) and actions.lower is not None and actions.upper is not None:
        actions = RealActions(ruler(actions.lower), ruler(actions.upper))
    return replace(decision, actions=actions, weight=decision.weight * ruler.unit**decision.loss.degree)


def _spread(problem: Problem, decision: Decision, ruler: _Ruler, listed: tuple[Recommendation, ...]) -> float:
    """At least the largest loss and the largest regret of any action of the problem or of the kernel, at any ω."""
    low, high = map(ruler, problem.omega_range)
    if isinstance(decision.loss, DistanceLoss):
        every = getattr(problem.decision.actions, "numbers", (problem.omega_range[0],))
        numbers = (low, high, ruler(every[0]), ruler(every[-1]), *(a for a in listed if isinstance(a, Fraction)))
        width = max(abs(a - w) for a in (min(numbers), max(numbers)) for w in (low, high))
        return float_up(width**decision.loss.degree)
    if isinstance(decision.actions, RealActions):
        # least_loss refuses what is not concave in a at both ends of ω: the least payoff stands at a corner, the largest is its own
        ends = [end for end in (decision.actions.lower, decision.actions.upper) if end is not None]
        payoffs = [abs(decision.payoff(a, w)) for a in ends for w in (low, high)]
        return 2 * max(float_up(max(payoffs)), float(np.abs(least_loss(decision, (low, high))).max()))
    return 2 * float_up(max(abs(decision.payoff(a, w)) for a in decision.actions for w in _telling(problem)))


def _telling(problem: Problem) -> tuple[Fraction, ...]:
    """The values of ω that decide about a payoff: its ends where that is straight in ω or an error, else all."""
    return problem.omega_range if any((problem.decision.is_loss, problem.decision.is_straight)) else problem.omegas


def _above(x: float) -> Fraction:
    return Fraction(float(np.nextafter(x, np.inf)))


def _below(x: float) -> Fraction:
    return Fraction(float(np.nextafter(x, -np.inf)))
