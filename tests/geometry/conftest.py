"""Small problems for the tests of the geometry."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import DatabaseSummary, LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp


def make_problem(
    respondents: int = 2, weights: tuple[int, ...] = (2, 1), values: tuple[int, ...] | None = None, **changes: object
) -> Problem:
    """A sum of iid respondents with squared error."""
    total = sum(weights)
    parts: dict[str, object] = {
        "universe": Universe.of(respondents, tuple(Fraction(v) for v in values or range(len(weights)))),
        "neighbours": ReplaceOne(),
        "prior": IidPrior(tuple(Fraction(w, total) for w in weights)),
        "statistic": SumStatistic(),
        "decisions": (Decision(SquaredLoss(), RealActions()),),
        "promise": PurePromise(Fraction(1)),
    }
    if "epsilon" in changes:
        changes["promise"] = PurePromise(changes.pop("epsilon"))  # type: ignore[arg-type]
    return Problem(**{**parts, **changes})  # type: ignore[arg-type]


def make_geometric(problem: Problem, weights: tuple[int, ...], epsilon: Fraction | None = None) -> Mechanism:
    """Truncated geometric noise on an integer sum."""
    summary = LinearSummary(weights)
    step = summary.step(problem.neighbours)
    low, high = summary.range(problem.universe)  # type: ignore[arg-type]
    kernel = GeometricKernel(low, high, step, rational_above_exp(-(epsilon or problem.epsilon) / step, 64))
    return Mechanism(problem, summary, kernel, Guarantee(PurePromise(problem.epsilon), "replace-one", problem.unit))


def make_response(problem: Problem) -> Mechanism:
    """Two respondents of two types: the first one's type, told truthfully with probability 5/8."""
    states = ("0,0", "0,1", "1,0", "1,1")
    kernel = TableKernel(states, (Output("no"), Output("yes")), ((5, 5, 3, 3), (3, 3, 5, 5)), 8)
    return Mechanism(problem, DatabaseSummary(), kernel, Guarantee(PurePromise(problem.epsilon), "replace-one", problem.unit))


@pytest.fixture
def problem() -> Callable[..., Problem]:
    """`make_problem`."""
    return make_problem


@pytest.fixture
def geometric() -> Callable[..., Mechanism]:
    """`make_geometric`."""
    return make_geometric


@pytest.fixture
def response() -> Callable[..., Mechanism]:
    """`make_response`."""
    return make_response
