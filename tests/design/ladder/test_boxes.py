"""Boxes that are proposed: types, players and states, what the checker proves of them, and where they are passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from discreet.certify.bounds import boxes as certified
from discreet.certify.bounds.boxes import (
    MOST_IN_BOX,
    MOST_NUMBERED,
    boxes_stage,
    boxes_upper_bound,
    must_be_told_soon,
    told_worth,
    unknown_in_box,
)
from discreet.certify.bounds.urn import urn_of
from discreet.certify.optimality import proved_value
from discreet.design.ladder.bounds import boxes as proposing
from discreet.design.ladder.bounds import counts
from discreet.design.ladder.bounds.boxes import (
    MOST_RESPONDENTS,
    BoxProgram,
    boxes_bound,
    why_no_boxes,
)
from discreet.design.ladder.bounds.makers import FIRST
from discreet.design.ladder.bounds.rungs import BoxesBound
from discreet.design.ladder.bounds.telling import DEARER, FEWEST_STATES, MOST_FAR, Telling, _likeliest, choices
from discreet.design.ladder.rung import Height
from discreet.design.schedule import box_seconds, counted, now, spend, states_within, time_left
from discreet.files.problem import problem_from_document
from discreet.model.certificate import BoxesWitness, BoxPart, Multipliers, OptimalityClaim
from discreet.model.guarantee import Guarantee
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.watch import SILENT, Watch

CONTENTS = ("16", "1", "3/10", "1/10")


def asked(
    respondents: int = 60, contents: Sequence[str] = CONTENTS, values: Sequence[int] = (0, 2, 4, 5), **more: object
) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": list(values)},
            "prior": more.get("prior", {"kind": "exchangeable", "concentration": list(contents)}),
            "statistic": {"kind": "sum"},
            "decision": {"kind": more.get("kind", "squared-error"), "actions": more.get("actions", "real")},
            "privacy": {"epsilon": more.get("epsilon", "2"), "unit": "person"},
        }
    )


def test_types_are_the_likeliest_and_the_farthest_on_one_side() -> None:
    law = urn_of(asked())
    assert choices(law) == [((0, 3, 2), ()), ((0, 3, 2), (1,)), ((0, 3, 2, 1), ())]
    mirrored = urn_of(asked(contents=CONTENTS[::-1]))
    assert choices(mirrored)[0] == ((3, 0, 1), ())
    assert choices(urn_of(asked(contents=("8", "1"), values=(0, 1)))) == []


@pytest.mark.parametrize("pairs", [(), (1,)])
def test_masses_are_those_of_the_checker(pairs: tuple[int, ...]) -> None:
    law = urn_of(asked())
    telling = Telling(law, (0, 3, 2), pairs)
    assert telling.chances.sum() == pytest.approx(1)
    references = telling.references(4)
    assert len(references) == 4 and references == sorted(references) and telling.chances[references].min() > 0
    boxes = [telling.box(players, 80) for players in references]
    cuts, parts, losses = [references[0] - 1, *references, 61], [], []
    for k, box in enumerate(boxes):
        part = box.part((cuts[k] + 1, cuts[k + 2] - 1))
        unknown = unknown_in_box(law, telling.faces, pairs, part)
        stage = boxes_stage(law, telling.faces, pairs, part, range(unknown.size))
        held = float(sum(stage.masses[h] for h in box.kept))
        kept = tuple((h, h, 0) for h in box.kept)
        parts.append(replace(part, multipliers=(Multipliers(Fraction(0), kept),)))
        losses.append(Fraction(held / box.share * box.felt))
        sums = [sum(unknown_in_box(law, telling.faces, pairs, part).states[h]) for h in box.kept]
        assert tuple(sorted(set(sums))) == box.sums and 0 < box.share < 1
        assert box.felt == pytest.approx(1 - DEARER * (1 - box.share))
    worth = telling.worth(boxes)
    assert worth == pytest.approx(float(told_worth(law, telling.faces, pairs, parts, losses)), rel=1e-9)
    assert 0.7 < worth < 1


def test_the_likeliest_states_are_kept_in_windows_that_the_checker_takes() -> None:
    law = urn_of(asked())
    box = Telling(law, (0, 3, 2), (1,)).box(40, 50)
    unknown = unknown_in_box(law, (0, 3, 2), (1,), box.part((40, 45)))
    stage = boxes_stage(law, (0, 3, 2), (1,), box.part((40, 45)), range(unknown.size))
    assert len(box.kept) == 50
    out = set(range(len(stage.omegas))) - set(box.kept)
    assert max(stage.masses[h] for h in out) <= min(stage.masses[h] for h in box.kept)
    wide = Telling(urn_of(asked(1000, ("16", "3/10", "1/10", "1/10"))), (0, 3, 2, 1), ()).box(800, 1200)
    assert len(wide.kept) == 1200 and MOST_IN_BOX < prod(last - first + 1 for first, last in wide.windows) <= MOST_NUMBERED
    assert all(first == 0 for first, _ in wide.windows), "wherever few have a type"
    few = Telling(law, (0, 3, 2), (1,)).box(5, 500)
    assert unknown_in_box(law, (0, 3, 2), (1,), few.part((5, 5))).size >= len(few.kept)


def test_the_likeliest_are_found_as_by_looking_at_all() -> None:
    rng = np.random.default_rng(3)
    for states in (1, 7, 60, 500):
        for _ in range(20):
            left, chance = rng.integers(0, 30, 25), -5 * rng.random(25)
            table, own = -np.cumsum(rng.random(rng.integers(1, 31))), rng.random(30)
            every = [(i, x) for i, x in product(range(25), range(len(table))) if x <= left[i]]
            worth = [chance[i] + table[x] + own[left[i] - x] for i, x in every]
            best = sorted(sorted(range(len(every)), key=lambda k: -worth[k])[:states])
            assert list(zip(*_likeliest(chance, left, table, own, states), strict=True)) == [every[k] for k in best]
    assert [list(each) for each in _likeliest(np.zeros(2), np.array([1, 1]), np.zeros(2), np.zeros(2), 3)] == [[0, 0, 1], [0, 1, 0]]


def test_states_of_the_widest_windows_have_numbers() -> None:
    assert 2 * (MOST_RESPONDENTS + 1) ** MOST_FAR <= MOST_NUMBERED
    law = urn_of(asked(40, ["9", *["1"] * 9], range(10)))
    assert {len(faces) - 1 for faces, _ in choices(law)} == {2, 3, 4, 5} and max(len(pairs) for _, pairs in choices(law)) == 1


def test_boxes_that_the_checker_refuses_are_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several programs that share players are more work than one."""
    problem = asked()
    telling = Telling(urn_of(problem), (0, 3, 2), (1,))
    free = telling.boxes(0.5, problem, 1, (1, 2, 4))[1]
    assert len(free) > 1 and telling.is_told_soon(free)
    alone = telling.boxes(0.5, problem, 1, (1,))[1]
    states, sums = len(alone[0].kept), [len(alone[0].sums)]
    work = must_be_told_soon(telling.law, telling.faces, telling.pairs, telling.parts(alone), states, sums)
    monkeypatch.setattr(certified, "MOST_WORK", work)
    assert telling.boxes(0.5, problem, 1, (1, 2, 4))[1] == alone and not telling.is_told_soon(free)
    monkeypatch.setattr(certified, "MOST_WORK", 1)
    assert telling.boxes(0.5, problem, 1, (1, 2, 4)) == (0.0, [])
    with counted():
        assert boxes_bound(problem, 0.5, 0.0) is None


def test_nothing_is_begun_for_which_trials_left_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposing, "PROGRAMS", ())
    with counted():
        assert boxes_bound(asked(), 0.5, 0.0) is None


def test_what_is_proposed_is_proved_and_no_mechanism_loses_less() -> None:
    problem = asked()
    height = Height(problem, 1e-6, SILENT)
    with counted():
        for rung in FIRST:
            found = rung.climb(height, 10.0)
            assert found is not None
            height.take(found)
        chain, begun = height.lower_bound, now()
        boxes = BoxesBound().climb(height, 1.0)
        assert now() <= begun + 1.0
    assert boxes is not None and isinstance(boxes.witness, BoxesWitness) and boxes.lower_bound is not None
    proved = float(-boxes_upper_bound(problem, boxes.witness))
    assert proved >= boxes.lower_bound * (1 - 1e-4) and proved > 1.05 * chain
    kept = height.mechanism
    assert kept.summary is not None and kept.kernel is not None
    mechanism = Mechanism(problem, kept.summary, kept.kernel, Guarantee(PurePromise(problem.epsilon), "replace-one", "person"))
    assert proved <= -proved_value(mechanism, OptimalityClaim(Fraction(0), Fraction(0), boxes.witness))
    height.take(boxes)
    with counted():
        assert BoxesBound().climb(height, 0.1) is None, "no more states than before"
        assert height.boxes_in_vain == 0.1 and BoxesBound().climb(height, 0.05) is None and now() == 0


def test_whole_actions_are_bounded_as_such() -> None:
    problem = asked(actions="integer")
    with counted():
        found = boxes_bound(problem, 0.5, 0.0)
    assert found is not None
    assert float(-boxes_upper_bound(problem, found[1])) >= found[0] * (1 - 1e-4) > 0


def test_listed_actions_are_real_where_states_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program on a list of actions is cut off by time there; what real actions lose no listed ones lose less than."""
    monkeypatch.setattr(counts, "FEW_STATES", 50)
    with counted():
        found, real = boxes_bound(asked(actions="integer"), 0.4, 0.0), boxes_bound(asked(), 0.4, 0.0)
    assert found is not None and real is not None
    assert min(len(kept_in(part)) for part in found[1].parts) > 50
    assert found[0] == pytest.approx(real[0], rel=1e-3)
    assert float(-boxes_upper_bound(asked(actions="integer"), found[1])) > (1 - 1e-4) * found[0]


def kept_in(part: BoxPart) -> set[int]:
    """States that multipliers name."""
    return {h for node in part.multipliers for flow in node.flows for h in flow[:2]}


@pytest.mark.parametrize("kind", ["absolute-error", "squared-error"])
def test_each_error_has_its_guess_of_time(kind: str) -> None:
    problem = asked(400, kind=kind)
    telling = Telling(urn_of(problem), (0, 3, 2), ())
    states = [telling.states_within(seconds, problem) for seconds in (10.0, 40.0)]
    assert states == [states_within(seconds, 2, 2.0, kind == "squared-error") for seconds in (10.0, 40.0)]
    assert (states[1] / states[0] < 1.8) == (kind == "absolute-error")


def taking(monkeypatch: pytest.MonkeyPatch, longer: float) -> list[tuple[int, int]]:
    """What is solved where all takes so many times longer than guessed: states, and the most that there might have been."""
    solved: list[tuple[int, int]] = []

    def slowly(program: BoxProgram, until: Watch) -> tuple[float, BoxPart]:
        states = len(program.box.kept)
        solved.append((states, program.most))
        spend(min(longer * program.telling.seconds(states, program.problem), time_left(until)))
        return 5.0, program.part

    monkeypatch.setattr(proposing, "_solved", slowly)
    monkeypatch.setattr(proposing, "told_worth", lambda *_: Fraction(5))
    return solved


@pytest.mark.parametrize("longer", [0.3, 1.0, 4.0])
def test_a_program_has_as_many_states_as_there_is_time_for_by_the_one_before(
    longer: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adversary: a machine that is slower than guessed, on which every program was cut off, or one that is quicker."""
    monkeypatch.setattr(proposing, "PROGRAMS", (8,))
    solved = taking(monkeypatch, longer)
    with counted():
        assert boxes_bound(asked(400), 60.0, 0.0) is not None
        assert now() <= 60.001
    states, most = zip(*solved[-8:], strict=True)
    assert len(set(most)) < 3 and all(FEWEST_STATES <= one <= limit for one, limit in zip(states, most, strict=True))
    if longer == 1.0:
        assert max(states) < 1.3 * min(states)
    else:
        assert (min(states[1:]) > 1.1 * states[0]) == (longer < 1) and (max(states[1:]) < states[0]) == (longer > 1)


def test_no_box_grows_beyond_what_the_checker_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = asked()
    telling = Telling(urn_of(problem), (0, 3, 2), (1,))
    boxes = telling.boxes(0.5, problem, 1, (2,))[1]
    assert len(boxes) == 2
    planned = [len(box.kept) for box in boxes]
    assert proposing._most_told(telling, boxes) == [2 * states for states in planned]
    monkeypatch.setattr(Telling, "is_told_soon", lambda *_: False)
    assert proposing._most_told(telling, boxes) == planned


def test_nothing_is_solved_where_more_is_proved_or_known() -> None:
    problem = asked()
    with counted():
        found = boxes_bound(problem, 0.5, 0.0)
        assert found is not None
        again = boxes_bound(problem, 0.5, 0.0, known=found[1])
        assert again is None or (again[1].faces, again[1].pairs) != (found[1].faces, found[1].pairs), "no more states than before"
        begun = now()
        assert boxes_bound(problem, 0.5, 100.0) is None
        assert now() - begun < 0.3
        assert boxes_bound(problem, 1e-3, 0.0) is None


def test_where_boxes_are_not_tried() -> None:
    assert why_no_boxes(asked()) is None
    assert "independent" in str(why_no_boxes(asked(prior={"kind": "iid", "probabilities": ["0.7", "0.1", "0.1", "0.1"]})))
    assert "too few" in str(why_no_boxes(asked(7, epsilon="4")))
    assert "too few" in str(why_no_boxes(asked(epsilon="1/4")))
    assert why_no_boxes(asked(10)) is None  # with ε = 2 as wide as twenty with ε = 1
    assert "three types" in str(why_no_boxes(asked(contents=("8", "1"), values=(0, 1))))


def test_guesses_of_time_are_inverse_to_each_other() -> None:
    for far, epsilon, squared in product((2, 3), (0.5, 3.0), (True, False)):
        for states in (200, 1000, 2000):
            assert states_within(box_seconds(states, far, epsilon, squared) * 1.0001, far, epsilon, squared) == states
    assert states_within(-1.0, 2, 1.0) == states_within(-1.0, 2, 1.0, squared=False) == 0
    assert box_seconds(100, 2, 3.0) > box_seconds(100, 2, 2.0) == box_seconds(100, 2, 0.5)
    assert box_seconds(100, 3, 1.0) > box_seconds(100, 2, 1.0)
    assert box_seconds(2000, 2, 1.0, squared=False) > box_seconds(2000, 2, 1.0)
