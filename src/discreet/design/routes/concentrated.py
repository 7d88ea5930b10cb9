"""The routes under ρ (zCDP): Gaussian noise on a weighted sum, tables on histograms or totals, bounds (`design.concentrated`)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.certify.bounds import FULL
from discreet.design.program.sections import ground
from discreet.design.proposal import Proposal
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked, Route
from discreet.errors import DiscreetError
from discreet.model.certificate import TheoremWitness, Witness
from discreet.model.iid_sum import iid_sum, why_not_iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.record import Step
from discreet.model.universe import Universe

if TYPE_CHECKING:
    from discreet.design.concentrated.gaussian_sums import Scorer


class GaussianSums(Route):
    """Discrete Gaussian noise on a weighted sum, weights by search."""

    name = "Gaussian sum"
    theorem = "ρ = Δ²/2σ²"
    serves = (ConcentratedPromise,)

    def obstacle(self, problem: Problem) -> str | None:
        if not isinstance(problem.universe, Universe):
            return "databases that are only listed by name have no types to weigh"
        if not problem.exchangeable and too_many(problem) is not None:
            return too_many(problem)
        if problem.omega_range[0] == problem.omega_range[1]:
            return "the statistic is a constant"
        if by_law(problem):
            return "every respondent surely has the same value" if len(iid_sum(problem).atoms) < 2 else None
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return "noise on a weighted sum needs no list of states" if by_law(problem) else "every state is listed once"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        from discreet.design.concentrated.chain import concentrated_chain_witness
        from discreet.design.concentrated.gaussian_sums import best_gaussian_sum

        found = best_gaussian_sum(scorer_of(problem), asked.watch)
        words = f"weights {', '.join(map(str, found.summary.weights))} with discrete Gaussian noise"
        witness = concentrated_chain_witness(problem, asked.watch)
        status = "cancelled" if asked.watch.cancelled() else "optimal"
        return Proposal(found.summary, found.kernel, witness or TheoremWitness(FULL), words, status)

    def taken(self, problem: Problem, proposal: Proposal) -> Step:
        return Step(self.name, True, self.theorem, f"{self.why(problem)}; {proposal.words}")


class RenyiTables(Route):
    """The convex program on few states, with several orders."""

    name = "Rényi program"
    theorem = "convexity of Rényi divergences"
    serves = (ConcentratedPromise,)

    def obstacle(self, problem: Problem) -> str | None:
        if problem.real_actions and len(problem.decisions) > 1:
            return "real actions are solved for a single decision maker"
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return "the likely states are few enough for a table"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        from discreet.design.concentrated.cuts import cut_witness
        from discreet.design.concentrated.tables import best_table, of_histograms

        base = ground(problem)
        witness = cut_witness(base, asked.watch) or TheoremWitness(FULL)
        scene = of_histograms(base)
        kernel = None if scene is None else best_table(scene, asked.gap, asked.watch)
        if scene is None or kernel is None:
            return _nothing(problem, witness)
        return Proposal(scene.summary, kernel, witness, "program on the likely states", "optimal")


class RenyiSums(Route):
    """The convex program on the likely totals of a weighted sum."""

    name = "Rényi program on a sum"
    theorem = "convexity of Rényi divergences"
    serves = (ConcentratedPromise,)

    def obstacle(self, problem: Problem) -> str | None:
        if problem.real_actions and len(problem.decisions) > 1:
            return "real actions are solved for a single decision maker"
        if (
            isinstance(problem.universe, Universe)
            and problem.universe.histogram_count <= FEW
            and RenyiTables().obstacle(problem) is None
        ):
            return f"tables on {FEW:,} histograms or fewer need no sum"
        return GaussianSums().obstacle(problem)

    def why(self, problem: Problem) -> str:
        return "the likely totals of a weighted sum are few enough for a table"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        from discreet.design.concentrated.tables import best_sum_table

        found = best_sum_table(scorer_of(problem), asked.gap, asked.watch)
        if found is None:
            return _nothing(problem, None)
        scene, kernel = found
        status = "cancelled" if asked.watch.cancelled() else "optimal"
        return Proposal(scene.summary, kernel, None, "program on the likely totals of a sum", status)


class PlayersCuts(Route):
    """No mechanism, a bound: everybody learns all but what the players of a few types have."""

    name = "cuts for players"
    theorem = "convexity of Rényi divergences"
    serves = (ConcentratedPromise,)

    def obstacle(self, problem: Problem) -> str | None:
        universe = problem.universe
        if isinstance(universe, Universe) and universe.histogram_count <= FEW:
            return f"the program on all of {FEW:,} histograms or fewer bounds better"
        from discreet.certify.bounds.concentrated_chain import why_not_under_rho

        return why_not_under_rho(problem)

    def why(self, problem: Problem) -> str:
        return "a bound for more histograms than a program takes"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        from discreet.design.concentrated.players import players_witness
        from discreet.design.routes.blind import blind_proposal

        witness = players_witness(problem, asked.watch)
        return replace(blind_proposal(problem), witness=witness, words="a bound, no mechanism", status="optimal")


class ImpliedPure(Route):
    """The best purely ε-private mechanism whose ε implies ρ: at a large ρ it may beat noise on a sum."""

    name = "pure design"
    theorem = "ρ = ε·tanh(ε/2)"
    serves = (ConcentratedPromise,)

    def obstacle(self, problem: Problem) -> str | None:
        universe = problem.universe
        if isinstance(universe, Universe) and universe.histogram_count > MOST_PURE:
            return f"{universe.histogram_count:,} histograms are more than the {MOST_PURE:,} it is tried for"
        try:
            _under_epsilon(problem)
        except DiscreetError as error:
            return str(error)
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return "whatever is ε-private with ε·tanh(ε/2) = ρ keeps ρ"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        pure, route = _under_epsilon(problem)
        found = route.propose(pure, asked)
        return replace(found, witness=None, words=f"best for ε = {float(pure.epsilon):.6g}, {found.words}")


def _under_epsilon(problem: Problem) -> tuple[Problem, Route]:
    """The same problem under the ε that implies its ρ, and the first route to a mechanism for it; refuses where there is none."""
    from discreet.design.concentrated.equal_promises import pure_level
    from discreet.design.routes.order import considered

    pure = problem.with_promise(PurePromise(pure_level(problem.rho * BELOW)))
    return pure, considered(pure)[0][0]


FEW = 1_000
"""Histograms up to which the program on all of them bounds better than one for some players."""
MOST_PURE = 300
"""Histograms up to which the program under ε is solved beside those under ρ."""
BELOW = Fraction(10**9 - 1, 10**9)
"""A little less than ρ is aimed at, for the roundings of the proof."""


def _nothing(problem: Problem, witness: Witness | None) -> Proposal:
    """What is proposed where the program is too large: its bound at most."""
    from discreet.design.routes.blind import blind_proposal

    return replace(blind_proposal(problem), witness=witness, words="publishing nothing: the program is too large")


def scorer_of(problem: Problem) -> Scorer:
    """How weighted sums of this problem are valued."""
    from discreet.design.concentrated.gaussian_sums import LawScorer, ListedScorer

    return LawScorer(problem) if by_law(problem) else ListedScorer(ground(problem))


def by_law(problem: Problem) -> bool:
    """Whether the law of the weighted sum says everything: squared error of a sum over iid respondents."""
    squared = len(problem.decisions) == 1 and isinstance(problem.decision.loss, SquaredLoss)
    return squared and why_not_iid_sum(problem) is None
