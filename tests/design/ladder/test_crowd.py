"""Who stays unknown, what is thrown beside the crowd, how many respondents, and what the checker proves of these programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from crowd_problems import LOSS, asked

from discreet.certify.bounds.coins import chance_of
from discreet.certify.bounds.crowd import crowd_upper_bound
from discreet.design.ladder.bounds.chain import best_chain
from discreet.design.ladder.bounds.crowd import (
    MOST_TRIED,
    SURELY,
    CrowdChoice,
    best_crowds,
    choices,
    crowd_bound,
    crowd_of,
    kept,
    planned,
    why_no_crowd,
    with_dice,
)
from discreet.design.ladder.bounds.crowd_program import crowd_program, crowd_states
from discreet.design.ladder.bounds.makers import BOUNDS
from discreet.design.ladder.bounds.quotient import privacy_rows
from discreet.design.ladder.bounds.rungs import CoinsBound, CrowdBound
from discreet.design.ladder.climb import RUNGS
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.rung import Found, Height
from discreet.design.schedule import counted
from discreet.model.certificate import CrowdWitness
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.watch import SILENT


def test_far_types_are_those_on_one_side() -> None:
    every = choices(asked())
    assert [choice.faces for choice in every] == [(0, *range(8, 8 - k, -1)) for k in range(2, 9)]
    crowd = crowd_of(iid_sum(asked()), every[1])
    assert crowd is not None and crowd.faces == (0, 8, 7, 6) and crowd.steps == (1, (8, 7, 6)) and crowd.rays == ((-6, 1), (8, -1))
    mirrored = crowd_of(iid_sum(asked(values=range(0, -9, -1))), choices(asked(values=range(0, -9, -1)))[1])
    assert mirrored is not None and mirrored.faces == crowd.faces and mirrored.steps == (1, (-8, -7, -6))


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
    assert words in str(why_no_crowd(problem))


def test_dice_take_no_more_than_there_is_and_are_held_nearly_surely() -> None:
    problem = asked(60)
    law = iid_sum(problem)
    of = dict(zip(law.types, law.probabilities, strict=True))
    every = with_dice(problem, CrowdChoice((0, 8, 7, 6, 5)))
    assert len(every) > 8 and len(set(every)) == len(every)
    assert any(die[0][0] != 0 for one in every for die in one.small), "near types alone take nobody from the crowd"
    assert {len(one.small) for one in every} == {1, 2}
    for one in every:
        crowd = crowd_of(law, one)
        assert crowd is not None and all(chance_of(60, die) >= SURELY for die in crowd.dice)
        taken = dict(zip(crowd.faces, crowd.shares, strict=True))
        for die in crowd.dice:
            for face, share in zip(die.faces, die.shares, strict=True):
                taken[face] = taken.get(face, Fraction(0)) + share
        assert all(share <= of[face] for face, share in taken.items()) and min(taken.values()) > 0
    assert crowd_of(law, CrowdChoice((0, 8, 7), (((0, 6), 3),))) is None, "too few have that type"
    assert with_dice(problem, CrowdChoice((0, *range(8, 0, -1)))) == []


def test_programs_are_those_of_the_law_and_rows_join_a_count_with_the_one_before() -> None:
    """Averages with m = 1 are one where nothing is left out; states are sorted by how many do not show the first face."""
    crowd = crowd_of(iid_sum(asked(30)), CrowdChoice((0, 8, 7, 6), (((0, 2, 4), 1), ((1, 3), 1))))
    assert crowd is not None
    program = crowd_program(crowd, 9, 1e-6)
    averages = program.averages
    assert averages.masses.sum() == pytest.approx(1, abs=1e-5) and list(averages.states) == sorted(averages.states)
    assert len(averages.states[0]) == 2 + 2 + 1
    whole = [sum(row.weights) for row in averages.rows if row.complete]
    assert len(whole) > averages.size and max(abs(x - 1) for x in whole) < 1e-9
    assert all(averages.states[row.state][0] - averages.states[other][0] in (0, 1) for row in averages.rows for other in row.before)
    cone = privacy_rows(averages, 1.0)
    assert float(np.abs(cone @ np.ones(averages.size)).min()) >= 0
    fewer, masses, _ = crowd_states(crowd, 9, 1e-2)
    assert len(fewer) < averages.size and 1 - 1e-2 <= masses.sum() < 1


@pytest.mark.slow
def test_a_plan_is_solved_and_proved_as_it_promised() -> None:
    """More than a chain proves, no more than a mechanism loses; more time for finer programs or more of them."""
    problem = asked()
    with counted():
        tried = best_crowds(problem, LOSS, 30.0)
        plan, hasty = planned(problem, tried, LOSS, 40.0), planned(problem, tried, LOSS, 6.0)
        assert plan is not None and hasty is not None and plan.size > hasty.size
        assert list(plan.numbers) == sorted(set(plan.numbers)) and max(plan.numbers) <= 24
        found = crowd_bound(problem, hasty, LOSS, 6.0)
    assert found is not None
    proved, witness = found
    assert float(-crowd_upper_bound(problem, witness)) == pytest.approx(proved, rel=1e-3)
    assert 0.9 * hasty.promise < proved < LOSS
    assert proved > 1.02 * best_chain(problem, Height(problem, 1e-6, SILENT).reader.kept)[0]
    assert witness.faces == hasty.choice.faces and {tier.number for tier in witness.tiers} <= set(hasty.numbers)
    size = sum(len(tier.states) * len(tier.multipliers) for tier in witness.tiers)
    assert 0.5 * hasty.size < size, "as fine as planned, or finer where there is time"


def test_finer_programs_keep_more() -> None:
    assert kept((1e-2, 0.3)) < kept((3e-3, 0.2)) < kept((1e-3, 0.15)) < kept((1e-4, 0.1)) < 1


def test_nothing_is_planned_without_time_or_trials() -> None:
    problem = asked()
    assert planned(problem, [], LOSS, 100.0) is None
    with counted():
        tried = best_crowds(problem, LOSS, 10.0)
        assert planned(problem, tried, LOSS, 0.0) is None
        assert best_crowds(problem, LOSS, 0.0) == []


def height_of(problem: Problem) -> Height:
    height = Height(problem, 1e-6, SILENT)
    weights: Weights = (0, 10, 20, 30, 40, 45, 45, 45, 45)
    height.take(Found(loss=LOSS, weights=weights))
    lower, witness = best_chain(problem, height.reader.kept)
    height.take(Found(lower_bound=lower, witness=witness))
    return height


@pytest.mark.slow
def test_the_rung_follows_where_a_crowd_promises_more_than_dice() -> None:
    height = height_of(asked())
    with counted():
        assert CrowdBound().climb(height, 12.0) is None  # dice were not asked yet
        CoinsBound().climb(height, 12.0)
        assert height.by_crowd and height.tried_crowds
        found = CrowdBound().climb(height, 12.0)
    assert found is not None and isinstance(found.witness, CrowdWitness) and (found.lower_bound or 0) > height.lower_bound
    height.take(found)
    with counted():
        assert CrowdBound().climb(height, 12.0) is None  # no finer than before
        assert CoinsBound().climb(height, 12.0) is None


def test_every_decision_maker_alone_may_have_it() -> None:
    """The adversary: dice give way to a rung that is not climbed."""
    assert {CoinsBound, CrowdBound} <= set(map(type, BOUNDS)) & set(map(type, RUNGS))
    for rungs in (BOUNDS, RUNGS):
        order = list(map(type, rungs))
        assert order.index(CoinsBound) < order.index(CrowdBound)


def test_many_types_are_tried_in_part_and_large_crowds_not_at_all() -> None:
    """The adversary: forty far types, and a law of sums that takes longer to list than a trial may take."""
    shares = [Fraction(9, 10) ** t for t in range(41)]
    wide = asked(60, values=range(41), chances=[str(x / sum(shares)) for x in shares])
    assert len(choices(wide)) == 39
    with counted():
        assert len(best_crowds(wide, 400.0, 6.0)) <= MOST_TRIED + len(with_dice(wide, choices(wide)[5])) * MOST_TRIED
        assert best_crowds(asked(3_000), 200.0, 6.0) == []
