"""Memory is bounded: what would not fit is passed over by name, before it begins where its size is known."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import design_worlds as worlds
import numpy as np
import pytest

from discreet.design import best_mechanism, design
from discreet.design import memory as room
from discreet.design.comparison import large, plain_noise
from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.memory import LEAST, allowed, allowing, as_a_worker, bytes_of, for_workers, half_of_what_is_free, must_fit
from discreet.design.processes.side_by_side import side_by_side
from discreet.errors import InputError
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
    assert allowed() == half_of_what_is_free() >= LEAST
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
    """A mixture of 100,000 respondents with 200 MB ended in an error after its search: its noise was made, and did not fit."""
    wide = worlds.problem(worlds.document(10**5, range(11), ["1/11"] * 11, {"kind": "squared-error", "actions": "real"}))
    with allowing(200 * 10**6), pytest.raises(MemoryError, match="noise that shows 1,000,000 values takes about 350"):
        noise_on_the_statistic(wide)
    small = worlds.problem(worlds.document(90, range(3), ["1/2", "1/4", "1/4"], {"kind": "squared-error", "actions": "real"}))
    search = best_mechanism._Search(small, 1e-6, 1.0, SILENT)
    search._as_a_last_resort()
    shown = large.plain_baseline(small)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_noise, "BYTES_PER_VALUE", 10**12)
        search._never_worse(shown, SILENT)
    assert shown["truncated geometric"].value is None and "of memory, more than" in shown["truncated geometric"].words
