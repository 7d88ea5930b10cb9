"""The law of a weighted sum with the statistic: against every histogram, and what it lets readers of many types see."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import TooLarge
from discreet.interpret.reading import readings
from discreet.interpret.total_laws import joint_law
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises.pure import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

THIRDS = (Fraction(-1, 3), Fraction(0), Fraction(2, 3), Fraction(2))


def test_every_pair_has_the_probability_of_its_databases() -> None:
    p, w = (0.4, 0.3, 0.2, 0.1), (0, 1, 1, 3)
    law = joint_law(4, np.array(p), w, THIRDS)
    wanted: Counter[tuple[int, Fraction]] = Counter()
    for types in product(range(4), repeat=4):
        wanted[sum(w[t] for t in types), sum((THIRDS[t] for t in types), Fraction(0))] += float(np.prod([p[t] for t in types]))
    found = {
        (s, law.values[k]): np.exp(x) for s, k, x in zip(law.totals.tolist(), law.omega.tolist(), law.logs.tolist(), strict=True)
    }
    assert found == pytest.approx(dict(wanted), rel=1e-9)


def mechanism_of(respondents: int, types: int) -> Mechanism:
    """Geometric noise on the number of respondents with any value at all, which does not determine the sum."""
    values = tuple(map(Fraction, range(types)))
    prior = IidPrior((Fraction(1, 2), *[Fraction(1, 2 * (types - 1))] * (types - 1)))
    problem = Problem(
        Universe.of(respondents, values), ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(1)), "person",
    )  # fmt: skip
    kernel = GeometricKernel(0, respondents, 1, Fraction(37, 100), tuple(Fraction(k) for k in range(respondents + 1)))
    summary = LinearSummary((0, *[1] * (types - 1)))
    return Mechanism(problem, summary, kernel, Guarantee(PurePromise(Fraction(1)), "replace-one", "person"))


def test_readers_of_many_types_see_means_and_intervals() -> None:
    mechanism = mechanism_of(60, 13)
    found = readings(mechanism)
    assert np.isfinite(found.mean).all() and (found.lower <= found.mean).all() and (found.mean <= found.upper).all()
    # E[ω | count] = 6.5·count, so that the mean after a value is 6.5 times the mean of the count
    counts = np.arange(61)
    logs = np.array([np.log(float(mechanism.problem.prior.probabilities[0])) * 60] * 61)  # type: ignore[union-attr]
    logs = logs + np.array([float(np.log(float(_choose(60, k)))) for k in counts])
    kernel = mechanism.probabilities
    weights = np.exp(logs)
    wanted = 6.5 * (kernel * weights) @ counts / (kernel @ weights)
    assert found.mean == pytest.approx(wanted, rel=1e-6)
    assert 0.9 <= found.coverage() < 0.93


def _choose(n: int, k: int) -> int:
    from math import comb

    return comb(n, k)


def test_pairs_that_do_not_fit_are_refused_in_words() -> None:
    with pytest.raises(TooLarge, match="pairs of the weighted sum"):
        joint_law(10_000, np.full(3, 1 / 3), (0, 1, 1000), (Fraction(0), Fraction(1000), Fraction(7)))
