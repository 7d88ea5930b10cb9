"""A problem that asks for a promise which no route serves is refused in words and before any work, whatever is asked about it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from design_worlds import document, problem

from discreet import design as d
from discreet.design.questions.frontier import frontier
from discreet.design.routes.geometric import GeometricRoute
from discreet.design.routes.order import LADDER
from discreet.errors import InputError
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import ApproximatePromise, ConcentratedPromise


class Sentry:
    """A watch that nobody may report to."""

    def report(self, **words: object) -> None:
        raise AssertionError(f"work began: {words}")

    def cancelled(self) -> bool:
        return False


OTHER = IidPrior((Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)))
QUESTIONS: dict[str, Callable[[Problem], Any]] = {
    "design": lambda p: d.design(p, Sentry()),
    "oblivious": lambda p: d.design(p, Sentry(), within="oblivious"),
    "frontier": lambda p: frontier(p, [Fraction(1)], Sentry()),
    "smallest": lambda p: d.smallest_epsilon(p, 1.0, Sentry()),
    "robust": lambda p: d.robust_design(p, [p.prior, OTHER], Sentry()),
    "family": lambda p: d.design_family(p, [2, 3], Sentry(), workers=1),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_promise_that_no_route_serves_is_refused_before_any_work(question: str) -> None:
    asked = problem(document()).with_promise(ApproximatePromise(Fraction(1), Fraction(1, 10**6)))
    with pytest.raises(InputError, match=r"pure|of ε or of ρ alone"):
        QUESTIONS[question](asked)


def test_each_route_says_which_promises_it_serves() -> None:
    asked = problem(document()).with_promise(ConcentratedPromise(Fraction(1, 2)))
    for route in (GeometricRoute(), LADDER):
        reason = route.why_not(asked)
        assert reason is not None and "pure" in reason and "ρ = 0.5" in reason


def test_a_problem_of_rho_is_not_turned_into_one_of_epsilon() -> None:
    with pytest.raises(InputError, match="pure ε"):
        problem(document()).with_promise(ConcentratedPromise(Fraction(1, 2))).with_epsilon(Fraction(1))
