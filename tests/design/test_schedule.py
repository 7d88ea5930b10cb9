"""Time: work ends when it should, whatever it calls; in tests time is counted work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextvars import Context
from pathlib import Path

import pytest
from design_worlds import document, problem, school

from discreet.certify import privacy
from discreet.design import best_mechanism, design
from discreet.design.routes.ladder import Ladder
from discreet.design.schedule import TimeIsUpError, Until, counted, now, search_seconds, spend, time_left
from discreet.design.watchdog import in_time
from discreet.model.certificate import Certificate
from discreet.watch import SILENT, Deadline

REAL = {"kind": "squared-error", "actions": "real"}


def on_the_clock(work):
    """Run something outside counted time."""
    return Context().run(work)


def test_counted_time_passes_by_work_alone() -> None:
    before = now()
    spend(2.5)
    assert now() - before == 2.5
    ends = Until.after(1.0)
    assert not ends.cancelled() and ends.left == 1.0
    spend(1.0)
    assert ends.cancelled()
    with counted():
        assert now() == 0.0, "counting begins anew inside"
    before = time.monotonic()
    assert before <= on_the_clock(lambda: (spend(1e9), now())[1]) <= time.monotonic()


def test_the_time_left_is_the_least_of_all_that_a_watch_listens_to() -> None:
    assert time_left(None) == time_left(SILENT) == float("inf")
    assert time_left(Until.after(5.0, Until.after(2.0))) == 2.0
    assert 0 < on_the_clock(lambda: time_left(Deadline(100.0))) <= 100.0


@pytest.mark.parametrize(("seconds", "search"), [(1.0, 0.6), (30.0, 18.0), (60.0, 48.0), (118.0, 100.3), (1000.0, 850.0)])
def test_a_long_search_has_more_of_its_time_and_leaves_what_proofs_take(seconds: float, search: float) -> None:
    assert search_seconds(seconds) == pytest.approx(search)


def test_a_search_in_counted_time_is_the_same_every_time() -> None:
    found = [design(problem(school(16, "real")), seconds=0.5) for _ in range(2)]
    assert found[0].mechanism == found[1].mechanism and found[0].seconds == pytest.approx(found[1].seconds)


def test_work_that_never_ends_is_left_behind() -> None:
    """The adversary: a call that waits for ever and asks nobody whether it should stop."""
    gone = threading.Event()
    stuck = threading.Event()

    def endless() -> None:
        try:
            while not stuck.wait(0.01):
                pass
        finally:
            gone.set()

    with pytest.raises(TimeIsUpError):
        on_the_clock(lambda: in_time(endless, 0.2))
    assert gone.wait(600.0), "the thread that was left behind ends at its next line of Python"


def test_what_work_returns_or_raises_comes_through() -> None:
    assert on_the_clock(lambda: in_time(lambda: 7, 60.0)) == 7
    with pytest.raises(ValueError, match="as it is"):
        on_the_clock(lambda: in_time(lambda: int("as it is"), 60.0))


def test_numbers_that_are_not_finite_never_reach_lapack() -> None:
    """Seen endless: ε = 12 on this graph sends a step of the interior point to infinity, and LAPACK's SVD loops on it."""
    names = [f"s{i}" for i in range(8)]
    edges = ["s1-s0", "s2-s0", "s3-s1", "s4-s0", "s5-s1", "s6-s2", "s7-s2", "s2-s1", "s3-s7", "s3-s0", "s5-s0"]
    masses, values = (16, 4, 7, 4, 15, 5, 3, 13), ("5", "2", "1/4", "0", "5/4", "-3", "1", "0")
    doc = {
        "data": {"neighbours": {"states": names, "edges": [edge.split("-") for edge in edges]}},
        "prior": {"kind": "table", "probabilities": {s: f"{m}/67" for s, m in zip(names, masses, strict=True)}},
        "statistic": {"kind": "table", "values": dict(zip(names, values, strict=True))},
        "decision": REAL | {"weight": "1/3"},
        "privacy": {"epsilon": "12"},
    }
    found = design(problem(doc), seconds=20.0)
    assert isinstance(privacy(found.mechanism), Certificate)
    blind = found.baselines["no information"].loss
    assert blind is not None and 0 <= found.lower_bound <= found.loss < blind


def test_a_step_that_would_take_longer_than_is_left_is_not_begun() -> None:
    """The adversary: 2,556 histograms and no time; a single step of the interior point takes seconds."""
    doc = document(70, range(3), {"kind": "exchangeable", "concentration": ["8", "7/5", "3/5"]}, REAL)
    before = now()
    found = design(problem(doc), seconds=0.2, compare=False)
    assert now() - before < 5.0
    assert 0 <= found.lower_bound <= found.loss < 8


def test_workers_end_with_their_parent() -> None:
    """The adversary: a parent that is killed while its workers work for ever."""
    program = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from discreet.design.crew import side_by_side as crew
from discreet.watch import Listening
from pieces import patient
made = crew._hired
def hired(count):
    worker = made(count); print(worker.pid, flush=True); return worker
class Aloud(Listening):
    def hear(self, event): print(event.stage, flush=True)
    def cancelled(self): return False
crew._hired = hired
crew.side_by_side(patient, [1, 2], Aloud(), workers=2)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert [parent.stdout.readline() for _ in range(2)] == ["begun\n", "begun\n"]
        parent.send_signal(signal.SIGKILL)
    for _ in range(6000):
        if not any(alive(pid) for pid in workers):
            return
        time.sleep(0.1)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    raise AssertionError("a worker outlived its parent")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_machine_too_slow_for_every_route_still_gets_a_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine on which nothing comes back in time."""

    def never(work, limit):
        raise TimeIsUpError("too slow")

    monkeypatch.setattr("discreet.design.best_mechanism.in_time", never)
    six = document(20, range(6), ("0.8", "0.1", "0.05", "0.03", "0.015", "0.005"), REAL)
    for asked in (problem(six), problem(school(6))):
        found = design(asked, seconds=0.5, compare=False)
        assert isinstance(privacy(found.mechanism), Certificate)
        assert found.status == "cancelled" and found.loss >= found.lower_bound


def test_weighted_sums_come_before_a_program_only_where_it_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(Ladder, "propose", lambda *_: tried.append("sums") or _raise())
    with counted():
        quick = design(problem(school(6)), gap=1e-3, compare=False)
        assert quick.steps[0].name == "histogram program" and quick.relative_gap <= 1e-3 and not tried
        monkeypatch.setattr(best_mechanism, "usual_seconds", lambda *_: 1e6)
        slow = design(problem(school(6)), gap=1e-3, compare=False)
    assert tried == ["sums"] and slow.relative_gap <= 1e-3


def _raise() -> None:
    raise MemoryError("nothing came of it")
