"""Weights of one sum over the others are searched for: by one step at a time, within the time, never for less."""

from __future__ import annotations

from typing import Any

import design_worlds as worlds
import pytest

from discreet.design.ladder.bounds import rungs
from discreet.design.ladder.bounds.far import many_respondents
from discreet.design.ladder.bounds.rungs import CoinsBound, SetAside
from discreet.design.ladder.bounds.set_aside import fitting_program, forms_of, set_aside_bound
from discreet.design.ladder.bounds.set_aside_forms import better_form, neighbours, proved_roughly, trial_seconds
from discreet.design.ladder.bounds.throws import dice_of
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.rung import Found, Height
from discreet.design.schedule import Until, counted
from discreet.files.problem import problem_from_document
from discreet.model.certificate import SetAsideWitness
from discreet.model.problem import Problem
from discreet.watch import SILENT

LONG = 1e4
ROUGH: Weights = (0, 0, 1, 1)
"""Weights that tell little."""
LOSS = 15.0


def staff(values: Any = range(4), epsilon: str = "3/4") -> Problem:
    real = {"kind": "squared-error", "actions": "real"}
    document = worlds.document(40, values, (".6", ".2", ".15", ".05"), real)
    return problem_from_document(document | {"privacy": {"epsilon": epsilon, "unit": "person"}})


class Stopped:
    """Wants nothing more."""

    def report(self, **told: Any) -> None:
        """Hear nothing."""

    def cancelled(self) -> bool:
        return True


def test_neighbours_are_one_step_away() -> None:
    assert neighbours((0, 1, 1, 1), (0, 1, 2, 3)) == [(0, 2, 2, 2), (0, 1, 2, 2)]
    assert neighbours((0, 1, 3, 3), (0, 1, 2, 3)) == [(0, 2, 4, 4), (0, 0, 2, 2), (0, 1, 4, 4), (0, 1, 2, 2), (0, 1, 3, 4)]


def test_neighbours_keep_the_order_of_the_types() -> None:
    """The adversary: values in no order, the lowest weight in the middle."""
    assert neighbours((3, 0, 1), (9, 2, 5)) == [(4, 0, 2), (2, 0, 0), (4, 0, 1), (2, 0, 1)]


def test_a_search_proves_more_than_where_it_starts() -> None:
    problem = staff()
    found = better_form(Reader(problem), ROUGH, LOSS, LONG, SILENT)
    before, after = (proved_roughly((problem, [(w,) for w in form], LOSS), SILENT) for form in (ROUGH, found))
    assert found != ROUGH and after > 1.02 * before


@pytest.mark.parametrize("share", [0.0, 0.99])
def test_without_time_for_a_few_trials_nothing_is_searched(share: float) -> None:
    reader = Reader(staff())
    assert better_form(reader, ROUGH, LOSS, 4 * share * trial_seconds(reader, ROUGH, LOSS), SILENT) == ROUGH


def test_a_search_that_is_told_to_stop_stays_where_it_is() -> None:
    assert better_form(Reader(staff()), ROUGH, LOSS, LONG, Stopped()) == ROUGH


def test_the_rung_searches_once_where_one_sum_proves_most() -> None:
    problem = staff()
    height, rung = Height(problem, 1e-6, SILENT), SetAside()
    height.take(Found(loss=LOSS))
    fitted = fitting_program(height.reader, [(w,) for w in ROUGH], LOSS, LONG)
    assert fitted is not None
    start = set_aside_bound(height.reader, fitted, LOSS, 2e-3, LONG)
    found = rung._by_better_weights(height, start, LONG)
    assert found is not None and start.lower_bound < found.lower_bound < LOSS
    assert rung._by_better_weights(height, start, LONG) is None
    height.take(Found(lower_bound=LOSS, witness=found.witness))
    assert rung._by_better_weights(height, found, LONG) is None  # that is enough


def test_sums_that_prove_far_less_than_dice_are_tried_roughly_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: values so far apart that two sums fit the time, take all of it and prove nothing."""
    height, rung, asked = Height(staff(), 1e-6, SILENT), SetAside(), []
    height.weights = (0, 1, 2, 3)
    height.take(Found(loss=LOSS))
    forms = forms_of(height.reader, height.weights)
    rough = proved_roughly((height.problem, forms[0], LOSS), Until.after(LONG))
    assert rough > 0 and proved_roughly((height.problem, forms[0], LOSS), Until.after(0.0)) == 0.0
    for held, near in ((rough, True), (1.2 * LOSS, False)):
        height.bound = Found(lower_bound=held)
        assert rung._comes_near(height, forms[0], LONG) is near
    assert height.rough_sums == {tuple(forms[0]): rough}
    assert rung._comes_near(height, forms[-1], 0.0)  # there is no time to say
    height.rough_sums.update({tuple(form): 0.0 for form in forms})
    monkeypatch.setattr(rungs, "proved_roughly", lambda *told: asked.append(told))
    assert rung.climb(height, LONG) is None and asked == []
    begun: list[Any] = []
    monkeypatch.setattr(rungs, "fitting_program", lambda *told: begun.append(told[1]))
    assert rung.climb(height, LONG) is None and begun == [forms[-2]]  # whether two sums fit, and no more
    monkeypatch.setattr(rungs, "dice_of", lambda _: [])  # nothing is tried where there are no dice, all is begun
    assert rung.climb(height, LONG) is None and begun[1:] == [forms[-2], *forms] and asked == []


def test_few_respondents_throw_dice_in_haste_first_and_at_leisure_unless_sums_prove_more(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, given = staff(epsilon="1"), []
    height, rung = Height(problem, 1e-6, SILENT), CoinsBound()
    assert dice_of(problem) and not many_respondents(problem)
    monkeypatch.setattr(rungs, "dice_within", lambda *told: given.append(told[1]) or [])
    monkeypatch.setattr(rungs, "_promise_of_sums", lambda *_: LOSS)  # so that far types are not tried
    height.take(Found(loss=LOSS, lower_bound=1.0))
    with counted():
        assert [rung.climb(height, 100.0) for _ in range(3)] == [None] * 3
        assert given == [pytest.approx(100 * rungs.FEW_DICE), pytest.approx(100.0), pytest.approx(100.0)]
        height.bound = Found(lower_bound=2.0, witness=SetAsideWitness(((0,),), ((0,),), 1, (), ()))
        assert rung.climb(height, 100.0) is None and len(given) == 3
    assert height.tried_crowds is None and not height.by_crowd


def test_few_respondents_of_whom_sums_promise_little_have_all_the_time_for_dice_and_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty of eleven types at ε = 2: two sums took all of the time, and proved less than dice promised."""
    height, given = Height(staff(epsilon="1"), 1e-6, SILENT), []
    monkeypatch.setattr(rungs, "dice_within", lambda *told: given.append(told[1]) or [])
    monkeypatch.setattr(rungs, "best_crowds", lambda *_: [])
    height.take(Found(loss=LOSS, lower_bound=1.0))
    for promise, seconds in ((rungs.PLENTY * LOSS, 100 * rungs.FEW_DICE), (0.9 * LOSS, 100.0)):
        height.thrown = False
        monkeypatch.setattr(rungs, "_promise_of_sums", lambda *_, promise=promise: promise)
        with counted():
            CoinsBound().climb(height, 100.0)
        assert given.pop() == pytest.approx(seconds)
    assert height.tried_crowds == []


def test_sums_promise_what_a_rough_program_says_once(monkeypatch: pytest.MonkeyPatch) -> None:
    height, asked = Height(staff(), 1e-6, SILENT), []
    height.weights = (0, 1, 2, 3)
    height.take(Found(loss=LOSS))
    monkeypatch.setattr(rungs, "_two_sums_fit", lambda *_: True)
    monkeypatch.setattr(rungs, "proved_roughly", lambda *told: asked.append(told) or 2.0)
    assert rungs._promise_of_sums(height, LONG) == pytest.approx(2.0 / rungs.ROUGH_SUMS) == rungs._promise_of_sums(height, LONG)
    assert len(asked) == sum(len(form[0]) > 1 for form in forms_of(height.reader, height.weights))
    height.rough_sums.clear()
    assert rungs._promise_of_sums(height, 0.0) == 0.0, "no time to say"
    monkeypatch.setattr(rungs, "_two_sums_fit", lambda *_: False)
    assert rungs._promise_of_sums(height, LONG) == 0.0
