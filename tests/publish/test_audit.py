"""Audit through publish: what is published of neighbouring databases bounds ε from below, and planted faults are caught.

One publication of many equal streets is as many repetitions. False-alarm probability of each audit: 1e-6.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from math import exp
from pathlib import Path

import numpy as np
import pytest
from towns import Town, make_town, write_people

import discreet.publish.release as release
from discreet.engines import ReferenceEngine
from discreet.errors import InputError
from discreet.publish import audit
from discreet.publish.auditing import log_ratio_bound
from discreet.sampling import draw_outputs

STREETS = 4000
X, Y = (1, 1, 0, 0), (1, 0, 0, 0)


@pytest.fixture(scope="module")
def streets(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return make_town(tmp_path_factory.mktemp("audit") / "town", [X] * STREETS, cap=100)  # type: ignore[arg-type]


def published(town: Town, answers: tuple[int, ...], target: Path, **options: object) -> list[str]:
    write_people(town.folder, [answers] * STREETS)
    town.publish(target, **options)
    with (target / "release.csv").open(encoding="utf-8") as file:
        return [row["code"] for row in csv.DictReader(file)]


def test_an_honest_publication_is_not_refuted_and_the_bound_is_not_idle(streets: Town, tmp_path: Path) -> None:
    found = audit(published(streets, X, tmp_path / "x"), published(streets, Y, tmp_path / "y"))
    assert not found.refutes(1.0)
    assert 0.5 < found.lower_bound <= 1.0, "ε = 1 is used up by these neighbours; half of it is easily seen"


class TwiceEngine(ReferenceEngine):
    """Counts the first yes of each street twice: one person moves the histogram by two."""

    def counts(self, plan, key_set, key, frame=None):  # type: ignore[no-untyped-def]
        found = super().counts(plan, key_set, key, frame)
        moved = np.minimum(1, np.maximum(0, found[:, 1] - 1))
        found[:, 1] += moved
        found[:, 0] -= moved
        return found


def test_an_engine_that_counts_one_too_many_is_caught(streets: Town, tmp_path: Path) -> None:
    honest = published(streets, Y, tmp_path / "y")
    found = audit(published(streets, X, tmp_path / "x", engine=TwiceEngine()), honest)
    assert found.refutes(1.0)


def off_by_one(mechanism, histograms):  # type: ignore[no-untyped-def]
    """Draws one output further for states above one."""
    drawn = draw_outputs(mechanism, histograms)
    return np.clip(drawn + (np.asarray(histograms)[:, 1] > 1), 0, len(mechanism.outputs) - 1)


def never_the_last(mechanism, histograms):  # type: ignore[no-untyped-def]
    """Forgets the last output at some states."""
    drawn = draw_outputs(mechanism, histograms)
    return np.minimum(drawn, len(mechanism.outputs) - 1 - (np.asarray(histograms)[:, 1] < 2))


@pytest.mark.parametrize("planted", [off_by_one, never_the_last])
def test_a_sampler_that_is_off_by_one_is_caught(
    streets: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: Callable[..., object]
) -> None:
    monkeypatch.setattr(release, "draw_outputs", planted)
    found = audit(published(streets, X, tmp_path / "x"), published(streets, Y, tmp_path / "y"))
    assert found.refutes(1.0)


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    """All successes against none in n runs: low = (α/2)^(1/n), high = 1 − (α/2)^(1/n)."""
    low = (0.05 / 2) ** (1 / 50)
    assert exp(log_ratio_bound(50, 0, 50, 0.05)) == pytest.approx(low / (1 - low), rel=1e-9)
    assert log_ratio_bound(0, 10, 50, 0.05) == float("-inf")


def test_randomised_response_is_seldom_overestimated() -> None:
    """1,000 audits of ε = ln 3 at false alarm 0.05: more than 90 wrong ones has probability below 1e-7."""
    draws = np.random.default_rng(7)
    wrong = 0
    for _ in range(1000):
        x, y = draws.random(200) < 0.75, draws.random(200) < 0.25
        wrong += audit(x.tolist(), y.tolist(), false_alarm=0.05).refutes(float(np.log(3)))
    assert wrong <= 90


def test_too_few_outputs_are_refused() -> None:
    with pytest.raises(InputError):
        audit(["0"], ["1"])
