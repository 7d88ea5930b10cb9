"""SY-OA Prop. S.1: ε-DP ⇔ under product priors the log odds of a respondent's type move by at most ε.

The bound is attained by a prior that knows all others. It fails for correlated priors: with θ1 = θ2 and randomised
response at ε = 1, the output (1, 1) moves the log odds by exactly 2.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.semantics import largest_shift, product_prior_shift
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior, IndependentPrior, TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import DatabaseSummary
from discreet.model.universe import Universe

F = Fraction
BITS = 90


def mechanism_of(rows: np.ndarray) -> Mechanism:
    """Two respondents of two types; rows [output, database], rounded to 90 bits."""
    universe = Universe.of(2, (F(0), F(1)))
    decision = Decision(SquaredLoss(), RealActions())
    problem = Problem(universe, ReplaceOne(), IidPrior((F(1, 2), F(1, 2))), SumStatistic(), (decision,), PurePromise(F(1)))
    weights = [[int(F(float(p)) * 2**BITS) for p in row] for row in rows]
    for state in range(4):
        weights[int(np.argmax(rows[:, state]))][state] += 2**BITS - sum(row[state] for row in weights)
    kernel = TableKernel(
        ("0,0", "0,1", "1,0", "1,1"), tuple(Output(str(y)) for y in range(len(rows))), tuple(map(tuple, weights)),
        2**BITS,
    )  # fmt: skip
    return Mechanism(problem, DatabaseSummary(), kernel, Guarantee(PurePromise(F(1)), "replace-one", "respondent"))


def responses(epsilon: float) -> np.ndarray:
    high = 1 / (1 + math.exp(-epsilon))
    one = np.array([[high, 1 - high], [1 - high, high]])
    return np.kron(one, one)


@pytest.mark.parametrize("seed", range(6))
def test_product_priors_never_move_the_odds_by_more(seed: int) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    mechanism = mechanism_of(rng.dirichlet(np.ones(4), 4).T)
    tight = product_prior_shift(mechanism)
    for _ in range(5):
        a, b = (F(int(rng.integers(1, 1000)), 1000) for _ in range(2))
        found = largest_shift(mechanism, IndependentPrior(((a, 1 - a), (b, 1 - b))))
        assert found.ratio is not None and tight.ratio is not None and found.ratio <= tight.ratio


def test_a_prior_that_knows_all_others_attains_it() -> None:
    rng = np.random.default_rng(9)
    mechanism = mechanism_of(rng.dirichlet(np.ones(4), 4).T)
    tight = product_prior_shift(mechanism)
    assert tight.edge is not None
    one, other = ([int(t) for t in label.split(",")] for label in tight.edge)
    mover = next(i for i in range(2) if one[i] != other[i])
    known = one[1 - mover]
    rows = [(F(1, 2), F(1, 2)), (F(1 - known), F(known))]
    prior = IndependentPrior(tuple(rows if mover == 0 else rows[::-1]))
    found = largest_shift(mechanism, prior)
    assert found.ratio == tight.ratio and found.respondent == mover
    # Nearly knowing the others comes near, and stays below.
    nearly = [(F(1, 2), F(1, 2)), (F(99, 100), F(1, 100)) if known == 0 else (F(1, 100), F(99, 100))]
    near = largest_shift(mechanism, IndependentPrior(tuple(nearly if mover == 0 else nearly[::-1])))
    assert near.ratio is not None and tight.ratio is not None and near.ratio < tight.ratio


def test_perfect_correlation_doubles_the_shift() -> None:
    mechanism = mechanism_of(responses(1.0))
    correlated = TablePrior((("0,0", F(1, 2)), ("1,1", F(1, 2))))
    found = largest_shift(mechanism, correlated)
    assert found.bracket.middle == pytest.approx(2.0, abs=1e-12)
    assert found.output in ("0", "3") and product_prior_shift(mechanism).upper == pytest.approx(1.0, abs=1e-12)


def test_the_near_miss_of_a_bound_for_every_prior() -> None:
    """A little correlation is enough to break ε: the proposition is about product priors only."""
    mechanism = mechanism_of(responses(1.0))
    slightly = TablePrior((("0,0", F(26, 100)), ("1,1", F(26, 100)), ("0,1", F(24, 100)), ("1,0", F(24, 100))))
    assert largest_shift(mechanism, slightly).bracket.lower > 1.0
