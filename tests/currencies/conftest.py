"""Channels and mechanisms that the tests of the currencies share."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior, Prior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import DatabaseSummary, LinearSummary
from discreet.model.universe import Universe

BITS = 80


def _problem(respondents: int, prior: Prior | None, types: int = 2) -> Problem:
    universe = Universe.of(respondents, tuple(Fraction(t) for t in range(types)))
    belief = prior or IidPrior((Fraction(1, types),) * types)
    decision = Decision(SquaredLoss(), RealActions())
    return Problem(universe, ReplaceOne(), belief, SumStatistic(), (decision,), PurePromise(Fraction(1)))


@pytest.fixture
def response() -> Callable[[float], LossChannel]:
    """Randomised response of one bit, exact up to the rounding of e^ε."""

    def build(epsilon: float) -> LossChannel:
        high = 1 / (1 + math.exp(-epsilon))
        return channel_from_rows([[high, 1 - high], [1 - high, high]])

    return build


@pytest.fixture
def random_channel() -> Callable[..., LossChannel]:
    """States with Dirichlet rows; some outputs impossible when `zeros`."""

    def build(seed: int, states: int = 4, outputs: int = 6, *, zeros: bool = False, line: bool = False) -> LossChannel:
        rng = np.random.default_rng(seed)
        rows = rng.dirichlet(np.ones(outputs), states)
        if zeros:
            rows[rng.random(rows.shape) < 0.2] = 0.0
            rows[:, 0] += 0.05
            rows /= rows.sum(axis=1, keepdims=True)
        edges = [(i, i + 1) for i in range(states - 1)] if line else None
        return channel_from_rows(rows.tolist(), edges=edges)

    return build


@pytest.fixture
def geometric() -> Callable[..., Mechanism]:
    """The geometric mechanism on a count of `respondents`, with a rational ratio."""

    def build(respondents: int, ratio: Fraction = Fraction(1, 2)) -> Mechanism:
        problem = _problem(respondents, None)
        kernel = GeometricKernel(0, respondents, 1, ratio)
        return Mechanism(problem, LinearSummary((0, 1)), kernel, Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent"))

    return build


@pytest.fixture
def on_databases() -> Callable[..., Mechanism]:
    """A mechanism that reads the whole database: floats [output, database], rounded to 80 bits."""

    def build(rows: np.ndarray, respondents: int, prior: Prior | None = None, types: int = 2, epsilon: int = 1) -> Mechanism:
        problem = _problem(respondents, prior, types)
        weights = [[int(Fraction(float(p)) * 2**BITS) for p in row] for row in rows]
        for state in range(rows.shape[1]):
            largest = int(np.argmax(rows[:, state]))
            weights[largest][state] += 2**BITS - sum(row[state] for row in weights)
        labels = [",".join(map(str, database)) for database in problem.universe.databases()]  # type: ignore[union-attr]
        kernel = TableKernel(
            tuple(labels), tuple(Output(str(y)) for y in range(rows.shape[0])), tuple(map(tuple, weights)), 2**BITS
        )
        guarantee = Guarantee(PurePromise(Fraction(epsilon)), "replace-one", "respondent")
        return Mechanism(problem, DatabaseSummary(), kernel, guarantee)

    return build
