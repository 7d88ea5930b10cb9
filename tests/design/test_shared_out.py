"""Parts of one search shared out: the same parts as here, in turns; the adversaries take workers away."""

from __future__ import annotations

import os
import threading
from contextvars import Context
from functools import wraps
from typing import Any

import design_worlds as worlds
import pytest
from pieces import at_home, doubled, how_many, library_at_home, lost, patient, share, threads_at_home

from discreet.design import design
from discreet.design.crew import side_by_side as crew
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds import boxes, telling
from discreet.design.ladder.bounds.dice import dice_bound, dice_within
from discreet.design.schedule import WORTH_A_PROCESS, counted, hands, working_with
from discreet.errors import InputError
from discreet.files.problem import problem_from_document
from discreet.watch import SILENT

LONG = 600.0
"""More seconds than any of this takes."""
REAL = {"kind": "squared-error", "actions": "real"}


@pytest.fixture(autouse=True)
def by_the_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers know no counted work, so all of this is done by the clock."""
    test = request.node.obj

    @wraps(test)  # pytest shows a test that fails by its code
    def outside(**given: Any) -> None:
        Context().run(test, **given)

    monkeypatch.setattr(request.node, "obj", outside)


class Heard:
    """Keeps messages; is cancelled from the beginning where that is said."""

    def __init__(self, stopped: bool = False) -> None:
        self.messages: list[str] = []
        self.stopped = stopped

    def report(self, **told: Any) -> None:
        self.messages += [told["message"]] if told.get("message") else []

    def cancelled(self) -> bool:
        return self.stopped


def test_parts_come_to_the_same_here_and_by_workers() -> None:
    for count in (1, 2, 3):
        assert shared_out(doubled, [4, 1, 3, 2], SILENT, LONG, "part", hands=count) == [8, 2, 6, 4]


@pytest.mark.parametrize("work", [at_home, threads_at_home, library_at_home, lost])
def test_what_a_worker_cannot_do_is_done_here(work: Any) -> None:
    """The adversaries: a part of the memory that is too small, and a worker that is ended."""
    heard = Heard()
    assert shared_out(work, [os.getpid()] * 3, heard, LONG, "part", hands=2) == ["at home"] * 3
    assert any(message.startswith(("one after the other: ", "with fewer workers: ")) for message in heard.messages)


def test_without_processes_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine that gives one process and refuses the second; the first is sent home."""
    hired, made = crew._hired, []

    def few(count: int) -> Any:
        if made:
            raise BlockingIOError("no more processes")
        made.append(hired(count))
        return made[0]

    monkeypatch.setattr(crew, "_hired", few)
    assert shared_out(doubled, [1, 2], SILENT, LONG, "part", hands=2) == [2, 4]
    assert made[0].poll() is not None


def test_without_threads_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine that gives processes and nobody to speak with the second; both are sent home."""
    hired, made, started = crew._hired, list[Any](), list[Any]()

    class Few(threading.Thread):
        def start(self) -> None:
            if started:
                raise RuntimeError("can't start new thread")
            started.append(self)
            super().start()

    monkeypatch.setattr(crew, "_hired", lambda count: made.append(hired(count)) or made[-1])
    monkeypatch.setattr(crew.threading, "Thread", Few)
    heard = Heard()
    assert shared_out(doubled, [1, 2], heard, LONG, "part", hands=2) == [2, 4]
    assert "with fewer workers: no process could be had: can't start new thread" in heard.messages
    assert [worker.poll() is not None for worker in made] == [True, True]


def test_the_first_part_is_done_whatever_the_time() -> None:
    """A search that is told to stop at once still has something to prove."""
    stopped = Heard(stopped=True)
    for count in (1, 2):
        assert shared_out(patient, [1, 2, 3], stopped, LONG, "part", hands=count)[0] == "stopped"
        assert shared_out(share, [1, 2, 3], SILENT, 0.0, "part", hands=count)[1:] == [None, None]


def test_a_part_has_its_share_of_what_is_left() -> None:
    with counted():
        found = shared_out(share, [1, 2, 3], SILENT, 12.0, "part", hands=1, guess=2.0)
        assert found == [4.0, 5.0, 8.0]
        assert shared_out(share, [1, 2, 3], SILENT, 12.0, "part", hands=1, guess=2.0, longer=2.0) == [8.0, 10.0, 8.0]


def test_a_worker_works_alone_and_counted_work_here() -> None:
    with working_with(2):
        assert hands() == hands_for(LONG) == 2 and hands_for(WORTH_A_PROCESS) == 1
        assert shared_out(how_many, [0, 0], SILENT, LONG, "part", hands=2) == [1, 1]
        with counted():
            assert hands() == hands_for(LONG) == 1
    assert crew.side_by_side(how_many, [0], workers=1) == [1]
    with pytest.raises(InputError, match="nobody"):
        design(problem_from_document(worlds.document(2)), workers=0)


def test_dice_are_the_same_by_one_and_by_two() -> None:
    document = worlds.document(60, range(4), (".8", ".1", ".06", ".04"), REAL)
    problem = problem_from_document(document | {"privacy": {"epsilon": "2", "unit": "person"}})
    dice = max((one for one in dice_within(problem, 1.0) if not one.many), key=lambda one: (len(one.tiers), one.states))
    assert len(dice.tiers) > 1  # on windows each tier is as near as there is time for
    with working_with(1):
        alone = dice_bound(problem, dice, LONG)
    with working_with(2):
        assert dice_bound(problem, dice, LONG) == alone


def test_boxes_are_the_same_by_one_and_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = {"kind": "exchangeable", "concentration": ["8", "1", "3/5", "2/5"]}
    document = worlds.document(40, range(4), prior, REAL) | {"privacy": {"epsilon": "2", "unit": "person"}}
    problem = problem_from_document(document)
    monkeypatch.setattr(telling, "states_within", lambda *_: 80)
    for name in ("PROGRAMS", "ROUGHLY"):
        monkeypatch.setattr(boxes, name, (2,))
    with working_with(1):
        alone = boxes.boxes_bound(problem, LONG, 0.0)
    assert alone is not None and len(alone[1].parts) == 2
    with working_with(2):
        assert boxes.boxes_bound(problem, LONG, 0.0) == alone
