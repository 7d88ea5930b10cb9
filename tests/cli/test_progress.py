"""Progress: quiet when quick, one rewriting line on a terminal, one line per stage elsewhere."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from discreet.cli import progress as module
from discreet.cli.progress import Told, line, progress
from discreet.watch import Event


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_an_event_in_words() -> None:
    assert line(Event("solve", value=-2.5, bound=-2.0, seconds=1.25)) == ("solve  value -2.5  bound -2  gap 2.0e-01  1.2 s")
    assert line(Event("solve", value=-2.5, bound=-2.0), losses=True) == "solve  loss 2.5  bound 2  gap 2.0e-01"
    assert line(Event("round", message="second try")) == "round  second try"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still until it is put forward."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_quick_work_is_quiet(clock: SimpleNamespace) -> None:
    stream = Terminal()
    told = Told(stream)
    clock.now += 0.99 * module.QUIET_SECONDS
    told.report(stage="solve", value=1.0)
    assert stream.getvalue() == ""
    clock.now += 0.01 * module.QUIET_SECONDS
    told.report(stage="solve", value=1.0)
    assert "value 1" in stream.getvalue()


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_search_left_behind_says_nothing_after_the_last_words(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0)
    with progress(stream=stream) as watch:
        watch.report(stage="solve", value=1.0)
    told = stream.getvalue()
    assert "value 1" in told
    watch.report(stage="solve", value=2.0)
    assert stream.getvalue() == told


def test_a_terminal_gets_one_line_that_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0)
    stream = Terminal()
    told = Told(stream)
    told.report(stage="solve, first", seconds=1)
    told.report(stage="solve", seconds=2)
    told.close()
    text = stream.getvalue()
    assert "\n" not in text and text.endswith("\r")
    assert text.split("\r")[2] == "solve  2.0 s".ljust(len("solve, first  1.0 s"))


def test_a_log_gets_a_line_now_and_then_and_not_one_for_each_report(clock: SimpleNamespace) -> None:
    stream = io.StringIO()
    with progress(stream=stream) as watch:
        for wait, stage in ((1.0, "solve"), (4.9, "solve"), (0.2, "round")):
            clock.now += wait
            watch.report(stage=stage, seconds=1)
        assert not watch.cancelled()
    assert stream.getvalue() == "solve  1.0 s\nround  1.0 s\n"
