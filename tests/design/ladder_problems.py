"""Problems with independent respondents, from plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe


def problem_of(
    p: Sequence[float], v: Sequence[float], respondents: int, epsilon: float, decisions: tuple[Decision, ...] | None = None
) -> Problem:
    """A sum over independent respondents with one law, squared error and real actions unless other decisions are given."""
    shares = [Fraction(float(x)) for x in p]
    return Problem(
        Universe.of(respondents, tuple(Fraction(x) for x in v)),
        ReplaceOne(),
        IidPrior(tuple(x / sum(shares) for x in shares)),
        SumStatistic(),
        decisions or (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(epsilon)),
    )
