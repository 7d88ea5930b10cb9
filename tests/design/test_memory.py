"""Memory is bounded: what would not fit is passed over by name, before it begins where its size is known."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import tracemalloc
import weakref
from contextvars import Context
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import design_worlds as worlds
import numpy as np
import pytest

from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design import best_mechanism, design
from discreet.design import memory as room
from discreet.design.comparison import evaluation, large, plain_noise
from discreet.design.comparison.behaviour import behaviour
from discreet.design.comparison.evaluation import evaluate, must_be_listed
from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.memory import (
    LEAST,
    allowed,
    allowing,
    as_a_worker,
    bytes_of,
    for_workers,
    half_of_what_is_free,
    must_fit,
    words_of,
)
from discreet.design.watchdog import Keep, forget, in_time, in_time_or_so_far
from discreet.errors import InputError, TooLarge
from discreet.model import problem as problems
from discreet.model.kernel import StaircaseKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.views.design import design_view
from discreet.views.reliance import relied_on
from discreet.views.view import Sentence
from discreet.watch import SILENT, Watch

SCHOOL = worlds.document(20, prior=(".89", ".09", ".02"), decision={"kind": "squared-error", "actions": "real"})


@pytest.mark.parametrize(("text", "size"), [("64MiB", 64 << 20), ("2 GB", 2 * 10**9), ("1.5GiB", 3 << 29), ("100000 kb", 10**8)])
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "2", "GB", "-1GB", "1e3MB", "1MB", "2 parsecs", "2GB4", "nanMB"])
def test_what_is_no_size_or_too_small_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no amount of memory"):
        bytes_of(text)


def test_half_of_what_is_free_is_allowed_unless_somebody_says_otherwise() -> None:
    assert allowed() == half_of_what_is_free() == 4 << 30  # of what tests say is free
    with allowing(10**9):
        assert allowed() == 10**9
        must_fit(10**9, "a table")
        with pytest.raises(MemoryError, match=r"a table takes about 1\.1 GB .* more than the 1\.0 GB"):
            must_fit(1.1 * 10**9, "a table")
    assert allowed() == half_of_what_is_free()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if next to nothing were allowed."""
    monkeypatch.setattr(room, "half_of_what_is_free", lambda: 20_000)


def test_a_design_with_next_to_no_memory_names_what_it_left_out(tiny: None) -> None:
    found = design(worlds.problem(SCHOOL), gap=1e-3, seconds=5.0)
    told = " ".join(step.reason for step in found.steps)
    assert re.search(r"a program of [0-9]+ states takes about .* of memory, more than the 20.0 kB that are allowed", told), told
    assert found.loss < 20  # a weighted sum was proved all the same
    view = design_view(found) + relied_on(found, None, SILENT)
    words = " ".join(block.text for block in view.told if isinstance(block, Sentence))
    assert "Passed over: histogram program, given up: a program of" in words and "Not compared: noisy histogram" in words
    seen = view.facts["evaluation"]  # by the law of the sum, since states could not be listed
    assert seen["worst_risk"] is None and view.facts["loss"] == pytest.approx(float(found.loss))


def test_a_baseline_that_would_not_fit_says_what_it_takes(tiny: None) -> None:
    found = design(worlds.problem(SCHOOL), gap=0.5, seconds=5.0)
    assert "a table of noisy histograms takes about" in found.baselines["noisy histogram"].words
    assert found.baselines["no information"].value is not None


def test_the_machine_gives_no_more_and_what_fails_is_one_piece_of_work() -> None:
    """An estimate that is too small: the array is refused by the machine, and all is as before afterwards."""
    with allowing(LEAST), pytest.raises(MemoryError):
        np.ones(10**9)
    assert np.ones(10**6).sum() == 10**6


def test_each_piece_of_work_is_given_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libraries asked for and never wrote to (VmData beyond RssAnon) is not held against the work."""
    bounds: list[int] = []
    with allowing(LEAST):
        monkeypatch.setattr(room, "_bounded", bounds.append)
        monkeypatch.setattr(room, "_taken", lambda what="VmData": {"VmData": 700 << 20, "RssAnon": 30 << 20}[what])
        monkeypatch.setattr(room, "_given_back", lambda: 0)
        room.held()
        monkeypatch.setattr(room, "_given_back", lambda: 10 << 20)
        room.held(5)
        monkeypatch.setattr(room, "_taken", lambda *_: 900 << 20)
        room.held()
        monkeypatch.undo()
    room.held()  # nobody said how much is allowed
    left = LEAST - (30 << 20)
    assert bounds == [(700 << 20) + left + room.LOADED, (690 << 20) + left + 5, (900 << 20) + room.LOADED]


FREE = """
from discreet.design import memory as room

kept = [bytearray(100_000) for _ in range(200)]
pins = [bytearray(600) for _ in range(200)]  # behind them, so that the heap cannot shrink
del kept[::2]
taken, given = room._taken("RssAnon"), room._given_back()
print(given, taken - room._taken("RssAnon"))
"""


def test_what_lies_free_in_the_heaps_is_given_back_and_counted() -> None:
    """It is asked for already, so that no bound on what is asked for would notice when it is written to again."""
    done = subprocess.run([sys.executable, "-c", FREE], capture_output=True, text=True)
    given, less = map(int, done.stdout.split())
    assert min(given, less) > 9_000_000, done.stderr


NARROW = """
import numpy as np
from discreet.design import memory as room

with room.allowing(room.LEAST):
    room.held(0)
    kept = np.ones(40 << 17)
    some = np.ones((300, 400))
    print(float((some.T @ some)[0, 0]), kept.size)
"""


def test_a_first_product_in_a_narrow_place_does_not_end_the_process() -> None:
    """A library for products takes its buffers once; refused them, it ended the process, at 70MB in each of six designs."""
    done = subprocess.run([sys.executable, "-c", NARROW], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["300.0", str(40 << 17)]), done.stderr


ONE_HEAP = """
import threading
from discreet.design import memory as room

def size():
    return room._taken("VmSize") >> 20

def some():
    kept.append([bytearray(1000) for _ in range(1000)])

kept = []
with room.allowing(room.LEAST):
    before = size()
    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
        thread.join()
    print(size() - before, len(kept))
"""


def test_threads_share_a_heap_where_memory_is_bounded() -> None:
    """Heaps of their own were set aside to be written to, 64 MB each, written to again after: 282 MB of 200."""
    done = subprocess.run([sys.executable, "-c", ONE_HEAP], capture_output=True, text=True)
    more, count = map(int, done.stdout.split())
    assert count == 4 and more < 60, done.stderr


def test_buffers_are_taken_once_by_each_library_that_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(room, "_took", set())
    monkeypatch.setitem(sys.modules, room.SCIPY, SimpleNamespace(dgemm=lambda *numbers: asked.append(numbers)))
    room._take_buffers()
    room._take_buffers()
    assert room._took == room.BUFFERED and len(asked) == 1


def test_an_error_without_words_is_said_to_be_one_of_memory() -> None:
    assert words_of(MemoryError()) == room.OUT_OF_MEMORY and words_of(MemoryError("too large")) == "too large"


def test_states_with_too_many_neighbours_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """201 values and two respondents: listing four million pairs of neighbours took 250 MB and four of six seconds."""
    wide = worlds.problem(worlds.document(2, range(201), ["1/201"] * 201, {"kind": "squared-error", "actions": "real"}))
    noise = noise_on_the_statistic(wide)
    assert noise is not None and wide.people.histogram_pairs > room.MOST_NEIGHBOURS
    monkeypatch.setattr(problems, "state_space", lambda *_: pytest.fail("nothing is listed"))
    monkeypatch.setattr(evaluation, "MOST_LISTED", 10**9)  # as for a kernel with few outputs
    with pytest.raises(TooLarge, match="pairs of neighbours"):
        evaluate(noise)
    assert 0 < behaviour(noise).slope < 1
    few = worlds.problem(SCHOOL)
    with pytest.raises(MemoryError, match="pairs of neighbours takes"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "BYTES_PER_NEIGHBOURS", 10**12)
        must_be_listed(noise_on_the_statistic(few), few)


def _part(task: int, watch: Watch) -> int:
    return allowed() * task


def test_workers_share_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    with allowing(4 * LEAST):
        assert for_workers(2) == {room.SHARED: str(2 * LEAST)} and for_workers(1000) == {room.SHARED: str(LEAST)}
        assert side_by_side(_part, [1, 1], workers=2) == [2 * LEAST, 2 * LEAST]
    assert for_workers(2) == {}


def test_a_worker_takes_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds: list[Any] = []
    monkeypatch.setattr(room, "_bounded", bounds.append)
    monkeypatch.setenv(room.SHARED, "nonsense")
    as_a_worker()
    assert not bounds and allowed() == half_of_what_is_free()
    assert os.environ[room.SHARED] == "nonsense" and Path("/").exists()


def test_noise_of_a_million_values_is_not_begun_where_it_does_not_fit() -> None:
    """A mixture of 100,000 respondents with 200 MB ended in an error after its search: its noise was made, and did not fit. Then it
    was not made, and a sum that loses a million times as much was published: now each value takes a third, and it fits."""
    wide = worlds.problem(worlds.document(10**5, range(11), ["1/11"] * 11, {"kind": "squared-error", "actions": "real"}))
    with allowing(40 * 10**6), pytest.raises(MemoryError, match="noise that shows 1,000,000 values takes about 48"):
        noise_on_the_statistic(wide)
    assert plain_noise.BYTES_PER_VALUE * 10**6 < 200 * 10**6
    small = worlds.problem(worlds.document(90, range(3), ["1/2", "1/4", "1/4"], {"kind": "squared-error", "actions": "real"}))
    search = best_mechanism._Search(small, 1e-6, 1.0, SILENT)
    search._as_a_last_resort()
    shown = large.plain_baseline(small)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_noise, "BYTES_PER_EVEN_VALUE", 10**12)
        search._never_worse(shown, SILENT)
    assert shown["truncated geometric"].value is None and "of memory, more than" in shown["truncated geometric"].words


def test_noise_is_valued_one_list_of_long_numbers_after_another() -> None:
    """A Dirichlet of 400 respondents and 153,409 outputs took 279 MB of the 200 that were allowed: a thousand bytes for each."""
    prior = {"kind": "exchangeable", "concentration": ["16", "2", "0.1"]}
    asked = worlds.problem(worlds.document(40, range(3), prior, {"kind": "squared-error", "actions": "real"}))
    weights, high = (0, 100, 200), 8_000
    actions = tuple(Fraction(k * k % 10_007, 1_000) for k in range(high + 1))
    noise = StaircaseKernel(0, high, 200, 80, Fraction(2, 5), actions)
    mechanism = Mechanism(asked, LinearSummary(weights), noise, asked.guarantee)
    value = weighted_sum_payoff(mechanism)
    tracemalloc.start()
    assert weighted_sum_payoff(mechanism) == value
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 850 * high


class Large:
    """Something that a weak reference can point at."""


def test_what_did_not_fit_is_let_go_before_the_next_is_tried() -> None:
    """A traceback would hold it: the next piece of work, and even its thread, would find no room. By the clock, as in a thread."""
    made: list[weakref.ref[Large]] = []

    def work(keep: Keep[str]) -> str:
        large = Large()
        made.append(weakref.ref(large))
        keep(lambda: "so far" if made[0]() is None else "no room")
        raise MemoryError("an array")

    assert Context().run(in_time_or_so_far, work, 60.0, lambda: 60.0) == "so far"
    with pytest.raises(MemoryError, match="an array"):
        Context().run(in_time, lambda: work(forget), 60.0)
    assert made[1]() is None


def test_a_thread_that_cannot_begin_is_work_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second try has a little more room."""
    begun, start = [], threading.Thread.start

    def starts(thread: threading.Thread, after: int) -> None:
        begun.append(thread)
        if len(begun) <= after:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", lambda thread: starts(thread, 1))
    assert Context().run(in_time, lambda: 3, 60.0) == 3 and len(begun) == 2
    begun.clear()
    monkeypatch.setattr(threading.Thread, "start", lambda thread: starts(thread, 9))
    with pytest.raises(MemoryError, match="to begin with"):
        Context().run(in_time, lambda: 3, 60.0)
