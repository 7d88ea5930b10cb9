"""What is drawn is what was proved, also where 64-bit totals would wrap around."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.certify import privacy
from discreet.errors import TooLarge
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.publish.bundle import _must_be_listed
from discreet.sampling import draw_outputs

HALF = Fraction(1, 2)
EVERY = np.array([[4 - count, count] for count in range(5)])


def mechanism(weights: tuple[int, int], low: int | None = 0, high: int | None = 5) -> Mechanism:
    problem = Problem(
        Universe.of(4, (Fraction(0), Fraction(1))),
        ReplaceOne(),
        IidPrior((HALF, HALF)),
        SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(1)),
    )
    promise = Guarantee(PurePromise(Fraction(0)), "replace-one", problem.unit)
    kernel = GeometricKernel(0, 5, 1, Fraction(1, 10**9))
    return Mechanism(problem, LinearSummary(weights, low, high), kernel, promise)


@pytest.mark.parametrize("weight", [2**62, 2**70, -(2**62) - 1])
def test_a_constant_summary_of_huge_totals_stays_constant(weight: int) -> None:
    """Every total lies beyond the clip, so ε = 0 is proved; the draw must not see a wrapped total."""
    made = mechanism((weight, weight + 1))
    assert isinstance(privacy(made), Certificate)
    states = made.places_of(EVERY)
    assert set(states.tolist()) == {5 if weight > 0 else 0}
    assert len(set(draw_outputs(made, EVERY).tolist())) == 1  # another output has probability below 10^-8


def test_small_totals_are_read_as_the_summary_says() -> None:
    made = mechanism((7, 7), None, 5)
    assert made.places_of(EVERY).tolist() == [made.summary.of_histogram(tuple(row)) for row in EVERY.tolist()]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "kernel",
    [
        StaircaseKernel(0, 5, 2**40, 1, HALF),
        GeometricKernel(2**64, 2**64 + 5, 1, HALF),
    ],
)
def test_kernels_that_cannot_be_drawn_from_are_refused_before_anything_is_spent(kernel: ClosedKernel) -> None:
    weight = 0 if kernel.low == 0 else 2**62
    summary = LinearSummary((weight, weight + 1))
    with pytest.raises(TooLarge):
        _must_be_listed(replace(mechanism((0, 1)), summary=summary, kernel=kernel))
