"""Which types stay unknown, how many respondents of them, and what the checker proves of their programs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import design_worlds as worlds
import pytest

from discreet.certify.bounds.told import told_upper_bound
from discreet.design.ladder.bounds.chain import best_chain
from discreet.design.ladder.bounds.makers import BOUNDS
from discreet.design.ladder.bounds.rungs import CoinsBound, ToldBound
from discreet.design.ladder.bounds.told import MOST_TRIED, best_choice, choices, kept, planned, size_of, told_bound, why_not_told
from discreet.design.ladder.climb import RUNGS
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.rung import Found, Height
from discreet.design.schedule import counted
from discreet.files.problem import problem_from_document
from discreet.model.certificate import ToldWitness
from discreet.model.problem import Problem
from discreet.watch import SILENT

FALLING = [0.6**t for t in range(9)]
LOSS = 29.974
"""What the best weighted sum loses with 24 of values 0..8 at ε = 1."""


def asked(respondents: int = 24, epsilon: str = "1", values: Sequence[Any] = range(9), **more: Any) -> Problem:
    chances = more.get("chances", [str(round(x / sum(FALLING), 6)) for x in FALLING[: len(values)]])
    real = {"kind": more.get("kind", "squared-error"), "actions": "real"}
    document = worlds.document(respondents, list(values), chances, real)
    return problem_from_document(document | {"privacy": {"epsilon": epsilon, "unit": "person"}})


def test_far_types_are_those_on_one_side() -> None:
    every = choices(asked())
    assert [choice.types for choice in every] == [(0, *range(8, 8 - k, -1)) for k in range(2, 9)]
    first = every[1]
    assert first.types == (0, 8, 7, 6) and first.forms == ((0, 0), (1, 0), (1, 1), (1, 2))
    mirrored = choices(asked(values=range(0, -9, -1)))
    assert mirrored[1].types == first.types and mirrored[1].forms == first.forms
    assert all(max(form[1] for form in choice.forms) > 0 for choice in every)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (asked(values=(0, 1), chances=["0.9", "0.1"]), "two far types"),
        (asked(kind="absolute-error"), "not squared"),
        (asked(8), "two far types"),
        (asked(values=(0, 1, 1000), chances=["0.8", "0.1", "0.1"]), "two far types"),
    ],
)
def test_where_it_bounds_nothing_the_reason_is_told(problem: Problem, words: str) -> None:
    assert words in str(why_not_told(problem))


@pytest.mark.slow
def test_a_plan_is_solved_and_proved_as_it_promised() -> None:
    """More than a chain proves, no more than a mechanism loses; more time for finer programs or more of them."""
    problem = asked()
    with counted():
        tried = best_choice(problem, LOSS, 30.0)
        plan, hasty = planned(problem, tried, LOSS, 40.0), planned(problem, tried, LOSS, 10.0)
        assert plan is not None and hasty is not None and plan.size > hasty.size
        assert list(plan.numbers) == sorted(set(plan.numbers)) and max(plan.numbers) <= 24
        found = told_bound(problem, hasty, LOSS, 1e4)
    assert found is not None
    proved, witness = found
    assert float(-told_upper_bound(problem, witness)) == pytest.approx(proved, rel=1e-3)
    assert 0.9 * hasty.promise < proved < LOSS
    assert proved > 1.02 * best_chain(problem, Height(problem, 1e-6, SILENT).reader.kept)[0]
    assert witness.types == hasty.choice.types and set(witness.numbers) <= set(hasty.numbers)
    assert 0.5 * hasty.size < size_of(witness) < 2 * hasty.size


def test_finer_programs_keep_more() -> None:
    assert kept((1e-2, 0.4)) < kept((3e-3, 0.2)) < kept((1e-3, 0.15)) < kept((1e-4, 0.1)) < 1


def test_nothing_is_planned_without_time_or_trials() -> None:
    problem = asked()
    assert planned(problem, [], LOSS, 100.0) is None
    with counted():
        tried = best_choice(problem, LOSS, 10.0)
        assert planned(problem, tried, LOSS, 0.0) is None
        assert best_choice(problem, LOSS, 0.0) == []


def height_of(problem: Problem) -> Height:
    height = Height(problem, 1e-6, SILENT)
    weights: Weights = (0, 10, 20, 30, 40, 45, 45, 45, 45)
    height.take(Found(loss=LOSS, weights=weights))
    lower, witness = best_chain(problem, height.reader.kept)
    height.take(Found(lower_bound=lower, witness=witness))
    return height


@pytest.mark.slow
def test_the_rung_follows_where_far_types_promise_more_than_dice() -> None:
    height = height_of(asked())
    with counted():
        assert ToldBound().climb(height, 12.0) is None  # dice were not asked yet
        CoinsBound().climb(height, 12.0)
        assert height.by_told and height.tried_told
        found = ToldBound().climb(height, 12.0)
    assert found is not None and isinstance(found.witness, ToldWitness) and (found.lower_bound or 0) > height.lower_bound
    height.take(found)
    with counted():
        assert ToldBound().climb(height, 12.0) is None  # no finer than before
        assert CoinsBound().climb(height, 12.0) is None


def test_every_decision_maker_alone_may_have_it() -> None:
    """The adversary: dice give way to a rung that is not climbed."""
    assert {CoinsBound, ToldBound} <= set(map(type, BOUNDS)) & set(map(type, RUNGS))
    for rungs in (BOUNDS, RUNGS):
        order = list(map(type, rungs))
        assert order.index(CoinsBound) < order.index(ToldBound)


def test_many_types_are_tried_in_part_and_large_sums_not_at_all() -> None:
    """The adversary: forty far types, and a law of sums that takes longer to list than a trial may take."""
    shares = [Fraction(9, 10) ** t for t in range(41)]
    wide = asked(60, values=range(41), chances=[str(x / sum(shares)) for x in shares])
    assert len(choices(wide)) == 39
    with counted():
        assert len(best_choice(wide, 400.0, 6.0)) <= MOST_TRIED
        assert best_choice(asked(3_000), 200.0, 6.0) == []
