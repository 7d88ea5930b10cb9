"""Limits under ρ against real mechanisms: discrete Gaussian noise, whose losses have no largest value, obeys each of them."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from problem_texts import small_count

from discreet.cli.main import run
from discreet.interpret.power import neyman_pearson, power_bound
from discreet.interpret.promised_limits import RARE, promised_power, promised_shift
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.numerics.discrete_gaussian import gaussian_logs
from discreet.views.schema import schema

RHOS = [Fraction(r) for r in ("1/50", "1/2", "2")]


def laws(rho: Fraction, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Discrete Gaussian noise of this ρ on two totals so many steps apart."""
    variance = 1 / (2 * rho)
    outputs = np.arange(-60 - 30 * steps, 61 + 30 * steps)
    first, second = (np.exp(gaussian_logs(variance, np.abs(outputs - at))) for at in (0, steps))
    return first / first.sum(), second / second.sum()


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("together", [1, 3])
def test_log_odds_rise_further_only_with_the_stated_chance(rho: Fraction, together: int) -> None:
    shift = promised_shift(ConcentratedPromise(rho), together)
    scaled = float(rho) * together**2
    assert float(shift.size) == pytest.approx(scaled + 2 * sqrt(scaled * log(10**6))) and shift.except_for == RARE
    first, second = laws(rho, together)
    kept = (first > 0) & (second > 0)
    losses = np.log(first[kept]) - np.log(second[kept])
    for law in (first[kept], second[kept]):
        assert law[losses >= float(shift.size)].sum() <= RARE


def test_a_smaller_shift_is_not_promised() -> None:
    """Near-miss: the ε that ρ implies at δ is smaller than the shift, and Gaussian noise exceeds it more often than δ."""
    first, second = laws(Fraction(1, 2), 1)
    kept = (first > 0) & (second > 0)
    losses = np.log(first[kept]) - np.log(second[kept])
    assert first[kept][losses >= 0.8 * float(promised_shift(ConcentratedPromise(Fraction(1, 2))).size)].sum() > float(RARE)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_no_test_between_gaussian_totals_has_more_power(rho: Fraction, steps: int, alpha: float) -> None:
    null, alternative = (law.tolist() for law in laws(rho, steps))
    limit = promised_power(ConcentratedPromise(rho), alpha, steps)
    assert float(neyman_pearson(null, alternative, alpha).power) <= limit.value + 1e-12
    scaled = float(rho) * steps**2
    if scaled < log(1 / alpha):
        assert limit.value <= exp(-((sqrt(log(1 / alpha)) - sqrt(scaled)) ** 2)) * (1 + 1e-9)


def test_pure_limits_are_what_they_were_and_far_ones_say_nothing() -> None:
    assert promised_power(PurePromise(Fraction(1)), 0.05, 3) == power_bound(0.05, Fraction(1), 3)
    assert promised_shift(PurePromise(Fraction(1)), 4).size == 4 and promised_shift(PurePromise(Fraction(1))).except_for == 0
    assert promised_power(ConcentratedPromise(Fraction(1)), 0.05, float("inf")).vacuous
    assert promised_power(ConcentratedPromise(Fraction(1)), 0.05, 10**6).vacuous
    assert promised_power(ConcentratedPromise(Fraction(0)), 0.05, 1).value == pytest.approx(0.05)


PROBLEM = small_count(3, privacy='rho = "1/2"')


def test_the_questions_answer_under_rho(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, made = tmp_path / "rho.toml", tmp_path / "rho.mechanism.json"
    place.write_text(PROBLEM, encoding="utf-8")
    assert run(["design", str(place), "-o", str(made), "--json"]) == 0
    capsys.readouterr()

    def answer(*words: str) -> dict[str, Any]:
        assert run([*words, "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        jsonschema.validate(found, schema(words[0]))
        return found

    told = answer("limits", str(place))
    assert told["rho"] == "1/2" and told["attacker"]["except_for"] == 1e-6 and "any_model" not in told
    assert "except with a chance of 1 in 1000000" in told["attacker"]["sentences"][0]
    own = answer("limits", str(made))["mechanism"]
    assert own["alone"]["log_odds"] < float("inf")
    rows = answer("choose", str(place), "--rhos", "1/4,1")["rows"]
    assert [row["rho"] for row in rows] == ["1/4", "1"] and rows[0]["loss"] > rows[1]["loss"]
    assert all(row["power"] <= row["power_at_most"] for row in rows)
    assert answer("noise", str(place))["optimal"] is True
    assert 0 < answer("profile", str(made), "--delta", "1e-6")["epsilon"] < float("inf")
    for words in (["choose", str(place), "--epsilons", "1"], ["limits", str(made), "--figure", str(tmp_path / "x.svg")]):
        assert run(words) == 2
    assert "Use --rhos" in capsys.readouterr().err
