"""Watching: reports reach the inner watch, deadlines end, Ctrl-C cancels first and interrupts second."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from typing import Any

import pytest

from discreet.watch import SILENT, Deadline, Event, Interruptible


class Recorder:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.stop = False

    def report(self, **told: Any) -> None:
        self.events.append(Event(**told))

    def cancelled(self) -> bool:
        return self.stop


def test_events_are_picklable_values() -> None:
    event = Event("solve", value=-2.5, bound=-2.4, seconds=0.1, message="second round")
    assert pickle.loads(pickle.dumps(event)) == event


def test_silence_never_cancels() -> None:
    SILENT.report(stage="solve", value=1.0, bound=2.0, seconds=0.5)
    assert not SILENT.cancelled()


def test_a_deadline_in_the_past_cancels_and_one_far_away_does_not() -> None:
    assert Deadline(0).cancelled()
    assert not Deadline(3600).cancelled()


@pytest.mark.parametrize("wrap", [lambda inner: Deadline(3600, inner), Interruptible])
def test_reports_and_cancellation_pass_through(wrap: Any) -> None:
    inner = Recorder()
    watch = wrap(inner)
    watch.report(stage="solve", value=1.0)
    assert inner.events == [Event("solve", value=1.0)]
    assert not watch.cancelled()
    inner.stop = True
    assert watch.cancelled()


def test_the_first_interrupt_cancels_and_the_second_raises() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruptible() as watch:
        assert not watch.cancelled()
        os.kill(os.getpid(), signal.SIGINT)
        assert watch.cancelled()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_it_is_just_its_inner_watch() -> None:
    answers: list[bool] = []

    def work() -> None:
        with Interruptible() as watch:
            answers.append(watch.cancelled())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [False]
