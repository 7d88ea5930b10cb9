"""Work side by side: order, events, errors, cancelling, and scripts that do not guard their main part."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from pieces import OneWay, doubled, ended_at_the_second, killed, lent, lost, never_sent, one_way_back, patient, refused, whose

from discreet.design.crew.side_by_side import WorkerLostError, side_by_side
from discreet.design.crew.worker import _listen, serve
from discreet.errors import InputError


class Listener:
    """Hears everything; cancels once so many pieces have begun."""

    def __init__(self, enough: int | None = None) -> None:
        self.heard: list[str] = []
        self.messages: list[str] = []
        self.enough = enough

    def report(self, *, stage: str, **others: Any) -> None:
        self.heard.append(stage)
        self.messages += [others["message"]] if others.get("message") else []

    def cancelled(self) -> bool:
        return self.heard.count("begun") == self.enough


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks_and_events_arrive(workers: int) -> None:
    listener = Listener()
    assert side_by_side(doubled, [3, 1, 2, 5], listener, workers) == [6, 2, 4, 10]
    assert {"doubling 3", "doubling 5", "piece 4 of 4"} <= set(listener.heard)
    assert "piece: 0 of 4 done" in listener.messages and all(
        re.fullmatch(r"piece: \d of 4 done(, about \d+ (s|min) left)?", m) for m in listener.messages
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_piece_is_raised_as_it_is(workers: int) -> None:
    with pytest.raises(InputError, match="This piece is refused") as caught:
        side_by_side(refused, [1, 2], workers=workers)
    assert caught.value.remedy == "ask for another"


def test_cancelling_reaches_pieces_that_run_and_leaves_out_the_others() -> None:
    found = side_by_side(patient, list(range(5)), Listener(enough=2), 2)
    assert found.count("stopped") == 2 and found.count(None) == 3


def test_a_worker_that_cannot_read_what_it_is_asked_says_so_and_ends() -> None:
    """The adversary: a task of which the worker finds nothing; it would wait for a next one for ever, whoever asked gone or not."""
    asked, tasks, ended = pickle.dumps(("task", doubled, 1)).replace(b"doubled", b"no_such"), Queue[Any](), threading.Event()
    answers = io.BytesIO()
    _listen(io.BytesIO(asked), tasks, threading.Event(), ended.set)
    (_, words), last = tasks.get_nowait(), tasks.get_nowait()
    assert "no_such" in words and last is None and not ended.is_set()
    serve(io.BytesIO(asked), answers)
    kind, error = pickle.loads(answers.getvalue())
    assert kind == "error" and isinstance(error, WorkerLostError) and "no_such" in str(error)


@pytest.mark.parametrize(
    ("work", "tasks", "found", "word"),
    [
        (lent, [threading.Lock()] * 2, ["lent"] * 2, "lock"),
        (whose, [OneWay(os.getpid())] * 2, [os.getpid()] * 2, "only where it was made"),
        (one_way_back, [0, 0], None, "only where it was made"),
        (never_sent, [0, 0], None, "cannot be sent"),
    ],
)
def test_what_cannot_be_sent_or_read_is_done_here(work: Any, tasks: list[Any], found: list[Any] | None, word: str) -> None:
    """The adversaries: tasks that cannot be sent, or not be read there, and results that cannot be sent or be read here."""
    listener = Listener()
    done = side_by_side(work, tasks, listener, 2)
    assert len(done) == 2 and all(done) and found in (None, done)
    assert all(m.startswith("with fewer workers: ") for m in listener.messages if word in m) and word in str(listener.messages)


def test_what_a_lost_worker_had_is_done_by_the_others_or_here_and_nothing_else_twice(tmp_path: Path) -> None:
    """The adversary: somebody who ends each worker at its second piece, in the middle of its group."""
    listener = Listener()
    tasks = [(os.getpid(), str(tmp_path), number) for number in range(6)]
    assert side_by_side(ended_at_the_second, tasks, listener, 2, groups=[0, 0, 0, 1, 1, 1]) == [0, 1, 2, 3, 4, 5]
    begun = [path.name.split("-") for path in tmp_path.iterdir()]
    assert sorted(number for number, _, place in begun if place == "there") == ["0", "1", "3", "4"]
    assert sorted(number for number, _, place in begun if place == "here") == ["1", "2", "4", "5"]
    assert listener.messages.count("with fewer workers: one ended early, with 1") == 2
    assert listener.heard[-1] == "piece 6 of 6"


def test_a_worker_that_is_killed_is_said_to_be() -> None:
    listener = Listener()
    assert side_by_side(killed, [os.getpid()] * 2, listener, 2) == ["at home"] * 2
    assert "with fewer workers: one ended early, by signal 9" in listener.messages


def test_all_is_done_here_where_no_worker_comes_home_unless_that_is_cancelled() -> None:
    assert side_by_side(lost, [os.getpid()] * 3, workers=2) == ["at home"] * 3

    class Cancels(Listener):
        def cancelled(self) -> bool:
            return sum("with fewer workers" in m for m in self.messages) == 2

    assert side_by_side(lost, [os.getpid()] * 3, Cancels(), 2) == [None] * 3


def test_nobody_cannot_work() -> None:
    with pytest.raises(InputError, match="nobody"):
        side_by_side(doubled, [1, 2], workers=0)


@pytest.mark.parametrize("closed", ["", "2>&-", "<&- >&- 2>&-"])
def test_a_script_without_a_main_guard_works_whatever_is_closed(tmp_path: Path, closed: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from operator import pow\n"
        "from fractions import Fraction\n"
        "from discreet.design.crew.side_by_side import side_by_side\n"
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pieces import doubled\n"
        "found = side_by_side(doubled, [1, 2, 3], workers=2)\n"
        f"open({str(tmp_path / 'found')!r}, 'w').write(str(found))\n",
        encoding="utf-8",
    )
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "found").read_text(encoding="utf-8") == "[2, 4, 6]"
