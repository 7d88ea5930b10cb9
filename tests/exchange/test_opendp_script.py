"""A discrete Gaussian design as a script for OpenDP alone: its own map stays below the proved ρ, its draws follow our law."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.cli.main import run
from discreet.exchange.opendp_script import opendp_script, scale
from discreet.files import write_mechanism
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary

pytest.importorskip("opendp")


def mechanism(rho: str = "0.4621171572600098") -> Mechanism:
    problem = discreet.problem(
        respondents=6, values=[0, 1, 2], probabilities=["0.5", "0.3", "0.2"], actions="real", rho=rho
    ).problem
    kernel = GaussianKernel(-3, 9, 1, 1 / (2 * Fraction(rho)))
    return Mechanism(
        problem, LinearSummary((0, 1, 1)), kernel.with_actions([Fraction(k, 3) for k in range(-3, 10)]), problem.guarantee
    )


@pytest.mark.parametrize("rho", ["0.4621171572600098", "1/3", "7", "1/1000"])
def test_opendps_own_map_stays_below_the_proved_rho(rho: str, tmp_path: Path) -> None:
    place = tmp_path / "release.py"
    place.write_text(opendp_script(mechanism(rho)), encoding="utf-8")
    script = runpy.run_path(str(place))
    assert Fraction(rho) * Fraction(999_999, 1_000_000) < Fraction(script["noise"].map(script["STEP"])) <= Fraction(rho)
    sigma_squared = 1 / (2 * Fraction(rho))
    assert sigma_squared < Fraction(scale(sigma_squared)) ** 2 < sigma_squared * Fraction(1 + 10**12, 10**12)


def test_draws_follow_the_law_that_was_designed(tmp_path: Path) -> None:
    """A thousand draws at one total; each of 13 outputs within six deviations: false alarm below 10^-7."""
    made = mechanism()
    place, file = tmp_path / "release.py", tmp_path / "g.mechanism.json"
    write_mechanism(file, made)
    assert run(["export", str(file), "-o", str(place), "--opendp"]) == 0
    publish = runpy.run_path(str(place))["publish"]
    drawn = [publish([0, 1, 2, 0, 0, 1]) for _ in range(1000)]
    assert {action for k, action in drawn if k == 3} <= {"1"}
    counts = np.bincount([k + 3 for k, _ in drawn], minlength=13)
    law = np.exp(made.kernel.log_masses(np.arange(-3, 10), np.array([3])))[:, 0]
    assert (np.abs(counts - 1000 * law) <= 6 * np.sqrt(1000 * law * (1 - law)) + 6).all()


def test_a_table_of_irrational_numbers_is_refused_with_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "g.mechanism.json"
    write_mechanism(file, mechanism())
    for more in ([], ["--pair"]):
        assert run(["export", str(file), "-o", str(tmp_path / "t.csv"), *more]) == 2
        assert "--opendp" in capsys.readouterr().err and not (tmp_path / "t.csv").exists()
