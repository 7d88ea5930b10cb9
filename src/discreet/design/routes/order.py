"""The routes to a mechanism, in the order in which they are considered."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.routes.concentrated import GaussianSums, ImpliedPure, PlayersCuts, RenyiSums, RenyiTables
from discreet.design.routes.geometric import GeometricRoute
from discreet.design.routes.ladder import Ladder
from discreet.design.routes.program import PROGRAMS, states_of
from discreet.design.routes.reduced import Reducing
from discreet.design.routes.route import Route
from discreet.errors import InputError, TooLarge
from discreet.model.problem import Problem
from discreet.model.record import Step
from discreet.model.reductions import REDUCTIONS, NotReduced

LADDER = Ladder()
CONCENTRATED: tuple[Route, ...] = (GaussianSums(), RenyiTables(), RenyiSums(), PlayersCuts(), ImpliedPure())
"""The routes of designs under ρ."""
LISTING = (RenyiTables, ImpliedPure)
"""Those of them that list states: they are taken for the smaller problem where there is one, and only for it."""


def considered(problem: Problem) -> tuple[list[Route], list[Step]]:
    """The routes that apply, the most promising first, and the steps that say why the others do not."""
    if problem.unbiased is not None:
        return _unbiased(problem)
    inner: list[Route] = [GeometricRoute(), *PROGRAMS]
    _must_be_served(problem, [*inner, LADDER, *CONCENTRATED])
    steps: list[Step] = []
    shorter: list[str] = []
    for name, attempt in REDUCTIONS.items():
        found = attempt(problem)
        if isinstance(found, NotReduced):
            steps.append(Step(found.name, False, "", found.reason))
        else:
            shorter.append(name)
    smaller = [Reducing(name, route) for name in shorter[:1] for route in inner]
    under_rho = [Reducing(shorter[0], route) if shorter and isinstance(route, LISTING) else route for route in CONCENTRATED]
    routes = [*smaller, *inner, LADDER, *under_rho]
    open_ways = []
    for route in routes:
        reason = route.why_not(problem)
        if reason is None:
            open_ways.append(route)
        elif not isinstance(route, Reducing):
            steps.append(route.passed_by(reason))
    if not open_ways:
        reasons = "; ".join(f"{s.name}: {s.reason}" for s in steps if s.theorem)
        raise TooLarge(
            "No way to a mechanism fits this problem",
            size=reasons,
            fits=f"fewer {states_of(problem)}, or independent respondents with a sum, mean or count and one squared, absolute or "
            "pinball error",
            remedy="use fewer respondents or types, or an iid prior",
        )
    return open_ways, steps


def _unbiased(problem: Problem) -> tuple[list[Route], list[Step]]:
    """The routes to unbiased values: mechanisms that shrink towards the prior are none."""
    from discreet.design.routes.unbiased import UNBIASED_ROUTES

    _must_be_served(problem, UNBIASED_ROUTES)
    reasons = {route: route.why_not(problem) for route in UNBIASED_ROUTES}
    open_ways = [route for route, reason in reasons.items() if reason is None]
    if not open_ways:
        raise TooLarge(
            "No way to unbiased values fits this problem",
            size="; ".join(f"{route.name}: {reason}" for route, reason in reasons.items()),
            fits="a sum, mean or count at ε > 0, or any statistic of few histograms or databases",
            remedy="use fewer respondents, or leave decision.unbiased out",
        )
    return open_ways, [route.passed_by(reason) for route, reason in reasons.items() if reason is not None]


def _must_be_served(problem: Problem, routes: Sequence[Route]) -> None:
    """Refuse a promise that no route designs for."""
    if not any(isinstance(problem.promise, route.serves) for route in routes):
        kinds = sorted({" with ".join(form.keys) for route in routes for form in route.serves})
        raise InputError(
            "Nothing is designed for this promise yet",
            found=problem.promise.brief(),
            allowed=f"privacy.{' or privacy.'.join(kinds)}",
            remedy="ask for pure ε, or certify a mechanism that somebody made for this promise",
        )
