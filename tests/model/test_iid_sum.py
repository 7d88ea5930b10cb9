"""Iid sums and lattices: what one respondent adds, and ω in whole steps."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import random_worlds as worlds
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.model.iid_sum import IidSum, iid_sum, why_not_iid_sum
from discreet.model.lattice import statistic_lattice
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.statistic import MeanStatistic
from discreet.model.universe import Universe
from discreet.numerics.exact import whole_steps

THREE = (Fraction(0), Fraction(1), Fraction(5, 2))
CHANCES = (Fraction(1, 2), Fraction(0), Fraction(1, 2))


@given(st.lists(st.fractions(-20, 20, max_denominator=60), min_size=1, max_size=6))
def test_whole_steps_are_exact_and_as_coarse_as_can_be(numbers: list[Fraction]) -> None:
    unit, steps = whole_steps(numbers)
    assert unit > 0 and [unit * k for k in steps] == numbers
    assert math.gcd(*steps) in (0, 1)


def test_types_that_cannot_occur_are_left_out() -> None:
    problem = replace(worlds.problem_of(Universe.of(4, THREE), ReplaceOne()), prior=IidPrior(CHANCES))
    law = iid_sum(problem)
    assert (law.respondents, law.types, law.values, law.all_values) == (4, (0, 2), (Fraction(0), Fraction(5, 2)), THREE)
    assert law.mean == Fraction(5, 4) and law.variance == Fraction(25, 16) and law.lattice == (Fraction(5, 2), (0, 1))
    assert law == IidSum.of([0.5, 0.0, 0.5], [0, 1, 2.5], 4)


def test_equal_values_are_one_atom() -> None:
    assert IidSum.of([0.25, 0.5, 0.25], [3, 1, 3], 2).atoms == ((1, Fraction(1, 2)), (3, Fraction(1, 2)))


@pytest.mark.parametrize(
    ("p", "v"), [([0.5], [0, 1]), ([], []), ([0.5, 0.6], [0, 1]), ([-0.5, 1.5], [0, 1]), ([0.5, 0.5], [0, math.inf])]
)
def test_what_is_no_law_is_refused(p: list[float], v: list[float]) -> None:
    with pytest.raises(InputError):
        IidSum.of(p, v, 3)


def test_each_condition_is_named() -> None:
    moving = worlds.problem_of(Universe(THREE, 1, 4), AddRemoveOne())
    together = replace(worlds.problem_of(Universe.of(4, THREE), ReplaceOne()), prior=DirichletMultinomialPrior((Fraction(1),) * 3))
    for problem, words in ((moving, "fixed number"), (together, "independent")):
        reason = why_not_iid_sum(problem)
        assert reason is not None and words in reason
        with pytest.raises(InputError, match="independent respondents"):
            iid_sum(problem)


@pytest.mark.parametrize("universe", [Universe.of(3, (Fraction(1, 2), Fraction(2), Fraction(7, 2))), Universe.of(2, THREE)])
def test_the_lattice_of_a_statistic_holds_every_value(universe: Universe) -> None:
    for problem in (
        worlds.problem_of(universe, ReplaceOne()),
        replace(worlds.problem_of(universe, ReplaceOne()), statistic=MeanStatistic()),
        worlds.problem_of(Universe(universe.values, 1, 3), AddRemoveOne()),
    ):
        lattice = statistic_lattice(problem)
        assert lattice is not None and isinstance(problem.universe, Universe)
        for h in problem.universe.histograms().tolist():
            assert lattice.omega(lattice.summary.of_histogram(tuple(h))) == problem.statistic.of_histogram(h, problem.universe)
        assert math.gcd(*lattice.summary.weights) == 1
