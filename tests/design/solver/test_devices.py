"""Where a program is solved never decides what is proved: places are chosen by size, and a GPU's sums are those of NumPy."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.design import schedule
from discreet.design.routes import program as routes
from discreet.design.solver.elimination import half_inverse
from discreet.design.solver.interior import interior_point
from discreet.design.solver.kernels import LARGEST
from discreet.design.solver.program import Program
from discreet.files.problem import problem_from_document
from discreet.numerics import devices

LARGE, SMALL = (24, 14_469, 1_122), (5, 80, 9)


class Device:
    """Stands for a GPU's module."""


@pytest.fixture
def with_device(monkeypatch: pytest.MonkeyPatch) -> type[Device]:
    for module in (schedule, routes):
        monkeypatch.setattr(module, "device", lambda: Device)
    monkeypatch.setattr(schedule, "device_bytes", lambda: 100 << 30)
    monkeypatch.setattr(schedule, "is_counted", lambda: False)
    return Device


def test_large_programs_move_and_small_ones_stay(with_device: type[Device]) -> None:
    assert schedule.interior_place(*LARGE) is with_device
    assert schedule.interior_place(*SMALL) is np
    assert schedule.interior_seconds(*LARGE) < 10


def test_counted_time_knows_no_device(with_device: type[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "is_counted", lambda: True)
    assert schedule.interior_place(*LARGE) is np


def test_what_does_not_fit_on_the_device_stays(with_device: type[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "device_bytes", lambda: 1 << 30)
    assert schedule.interior_place(*LARGE) is np


def test_without_a_device_nothing_changes() -> None:
    if devices.device() is None:
        assert schedule.interior_place(*LARGE) is np
        assert devices.device_bytes() == 0
    with pytest.raises(schedule.TimeIsUpError):
        schedule.must_be_affordable(24, 100_000, 4, schedule.Until.after(1.0))


@pytest.mark.parametrize("word", ["off", "0", "No"])
def test_a_device_can_be_forbidden(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_GPU", word)
    assert devices.device.__wrapped__() is None


@pytest.mark.parametrize(("error", "swallowed"), [("CUDARuntimeError", True), ("ValueError", False)])
def test_a_missing_driver_is_no_device_and_a_broken_package_says_so(
    error: str, swallowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class CUDARuntimeError(RuntimeError):
        pass

    def count() -> int:
        raise {"CUDARuntimeError": CUDARuntimeError, "ValueError": ValueError}[error]("no")

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=CUDARuntimeError)
    monkeypatch.delenv("DISCREET_GPU", raising=False)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    with nullcontext() if swallowed else pytest.raises(ValueError, match="no"):
        assert devices.device.__wrapped__() is None


def test_more_histograms_are_taken_with_a_device(with_device: type[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    document: dict[str, Any] = {
        "data": {"respondents": 60, "values": ["0", "1", "2", "3", "4"]},
        "prior": {"kind": "iid", "probabilities": [".84", ".09", ".04", ".02", ".01"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": "1"},
    }
    problem = problem_from_document(document)
    assert routes.too_many(problem) is None
    monkeypatch.setattr(routes, "device", lambda: None)
    assert "more than the 30,000" in (routes.too_many(problem) or "")


def test_multipliers_that_begin_small_are_given_time_to_grow() -> None:
    """Many types: for eight steps neither value nor bound improves while the prices settle (it was given up after five)."""
    from discreet.design.program.listed import first_tolerance, truncated
    from discreet.design.program.sections import ground, losses, recommendations
    from discreet.design.solver.pricing import likely_actions

    document: dict[str, Any] = {
        "data": {"respondents": 10, "values": ["0", "1", "2", "3", "4"]},
        "prior": {"kind": "iid", "probabilities": [".84", ".09", ".04", ".02", ".01"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": "1"},
    }
    problem = problem_from_document(document)
    base = ground(problem)
    table = losses(problem, recommendations(problem), base.exact_omegas)
    section = truncated(base, table, first_tolerance(base, table, 1e-4))
    whole = Program(section.lower(table)[0], section.space.edges, 1.0)
    found = interior_point(whole.restricted(likely_actions(whole)), limit=9)
    assert found.status == "iteration limit"


@pytest.mark.skipif(devices.device() is None, reason="needs a GPU and pip install 'discreet[gpu]'")
@pytest.mark.parametrize("size", [5, 12, LARGEST, LARGEST + 1, 200])
def test_a_device_eliminates_as_numpy_does(size: int) -> None:
    rng = np.random.default_rng(size)
    off = rng.random((7, size, size)) * np.exp(8 * rng.normal(size=(7, size, size)))
    off = (off + off.transpose(0, 2, 1)) * (1 - np.eye(size))
    sums = 1e-3 * rng.random((7, size))
    here = half_inverse(off.copy(), sums.copy())
    there = devices.fetched(half_inverse(devices.device().asarray(off), devices.device().asarray(sums)))
    assert np.allclose(here, there, rtol=1e-13, atol=0)
