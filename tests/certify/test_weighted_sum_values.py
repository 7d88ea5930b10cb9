"""The value of a weighted sum with closed-form noise, computed without listing states, is the sum over all states."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from random_worlds import mechanism_on, problem_of, random_table

from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.weighted_sums import weighted_sum_payoff, why_not_weighted_sum
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel, GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import loss_of
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.states import state_space
from discreet.model.statistic import CountStatistic, MeanStatistic, SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


@pytest.mark.parametrize("seed", range(80))
def test_both_sides_hold_the_exact_value(seed: int) -> None:
    rng = random.Random(seed)
    types = rng.choice([2, 3])
    universe = Universe.of(rng.randint(1, 6), tuple(Fraction(rng.randint(-3, 6), rng.choice([1, 2])) for _ in range(types)))
    kind = rng.choice(["squared-error", "squared-error", "absolute-error", "pinball"])
    quantile = Fraction(rng.randint(1, 9), 10) if kind == "pinball" else None
    decision = Decision(loss_of(kind, quantile=quantile), RealActions(), weight=Fraction(rng.randint(1, 3), 2))
    parts = [rng.randint(1, 9) for _ in range(types)]
    statistic = rng.choice([SumStatistic(), MeanStatistic(), CountStatistic((0,))])
    prior = IidPrior(tuple(Fraction(p, sum(parts)) for p in parts))
    problem = replace(problem_of(universe, ReplaceOne(), Fraction(1000), decision), prior=prior, statistic=statistic)
    ends = sorted((rng.randint(-4, 6), rng.randint(-4, 8))) if rng.random() < 0.4 else (None, None)
    summary = LinearSummary(tuple(rng.randint(-2, 4) for _ in range(types)), *ends)
    low, high = summary.range(universe)
    low, high = low - rng.choice([0, 0, 2]), high + rng.choice([1, 1, 3])
    step = max(1, summary.step(ReplaceOne()))
    actions = tuple(Fraction(rng.randint(-9, 30), 3) for _ in range(low, high + 1))
    kernel: ClosedKernel = GeometricKernel(low, high, step, Fraction(rng.randint(1, 9), 10), actions)
    if rng.random() < 0.5:
        kernel = StaircaseKernel(low, high, step, rng.randint(1, step), Fraction(rng.randint(1, 9), 10), actions)
    mechanism = mechanism_on(problem, summary, kernel)
    assert why_not_weighted_sum(mechanism) is None
    exact = expected_payoff(mechanism)[0]
    below, above = weighted_sum_payoff(mechanism)
    assert below <= exact <= above
    if kind == "squared-error":
        assert above - below < Fraction(1, 10**9)


@pytest.mark.parametrize("seed", range(40))
def test_tables_on_weighted_and_paired_counts(seed: int) -> None:
    """Random tables, also on S = n_1 + (N+1)·n_2 and with totals that no database has between those of the window."""
    rng = random.Random(seed)
    types, respondents = rng.choice([2, 3, 4]), rng.randint(1, 5)
    universe = Universe.of(respondents, tuple(Fraction(rng.randint(-3, 6), rng.choice([1, 2])) for _ in range(types)))
    parts = [rng.randint(0, 5) for _ in range(types - 1)] + [1]
    prior = IidPrior(tuple(Fraction(p, sum(parts)) for p in parts))
    statistic = rng.choice([SumStatistic(), MeanStatistic(), CountStatistic((0,))])
    problem = replace(problem_of(universe, ReplaceOne(), Fraction(1000)), prior=prior, statistic=statistic)
    paired = rng.random() < 0.5
    weights = tuple(rng.choice([0, 1, respondents + 1]) if paired else rng.randint(-3, 4) for _ in range(types))
    ends = sorted((rng.randint(-6, 9), rng.randint(-6, 12))) if rng.random() < 0.5 else (None, None)
    summary = LinearSummary(weights, *ends)
    space = state_space(universe, ReplaceOne(), summary)
    mechanism = mechanism_on(problem, summary, acting(rng, random_table(rng, space.labels, rng.randint(1, 4))))
    below, above = weighted_sum_payoff(mechanism)
    assert below <= expected_payoff(mechanism)[0] <= above < below + Fraction(1, 10**9)


def acting(rng: random.Random, kernel: TableKernel) -> TableKernel:
    """The same table with a number recommended by each output."""
    outputs = tuple(Output(o.label, Fraction(rng.randint(-9, 30), 3)) for o in kernel.outputs)
    return replace(kernel, outputs=outputs)
