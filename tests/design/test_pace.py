"""How slow a machine is beside guesses: by some work that is timed, never where time is counted work, and plans follow it."""

from __future__ import annotations

from itertools import count

import pytest

from discreet.certify.bounds.urn import urn_of
from discreet.design import pace as pacing
from discreet.design.ladder.bounds.telling import Telling
from discreet.design.pace import ALIKE, OLD, ROUNDS, SLOWEST, USUAL, as_pace, measured, pace
from discreet.design.schedule import spend
from discreet.files.problem import problem_from_document


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows what stands in a list, and moves on by the second number when it is looked at."""
    clock = [0.0, 0.0]

    def shown() -> float:
        clock[0] += clock[1]
        return clock[0]

    monkeypatch.setattr(pacing, "now", shown)
    monkeypatch.setattr(pacing, "is_counted", lambda: False)
    monkeypatch.setattr(pacing, "_measured", [])
    return clock


def test_counted_work_takes_what_is_guessed() -> None:
    assert pace() == 1.0
    spend(100.0)
    assert pace() == 1.0


def test_a_machine_is_as_slow_as_it_takes_longer(ticking: list[float]) -> None:
    for longer, expected in ((0.2, 1.0), (0.9, 1.0), (1.2, 1.0), (1.5, 1.5), (4.0, 4.0), (100.0, SLOWEST)):
        ticking[1] = longer * ROUNDS * USUAL
        assert measured() == pytest.approx(expected)
    assert as_pace(ALIKE) == ALIKE and as_pace(ALIKE - 1e-9) == 1.0


def test_it_is_measured_again_when_it_is_old(ticking: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    found = count(2)
    monkeypatch.setattr(pacing, "measured", lambda: float(next(found)))
    assert (pace(), pace()) == (2.0, 2.0)
    ticking[0] += OLD - 1
    assert pace() == 2.0
    ticking[0] += 2
    assert (pace(), pace()) == (3.0, 3.0)
    ticking[0] -= 100  # another clock
    assert pace() == 4.0


def test_plans_for_a_slow_machine_have_fewer_states(ticking: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_from_document(
        {
            "data": {"respondents": 60, "values": [0, 1, 2]},
            "prior": {"kind": "exchangeable", "concentration": ["3", "1", "1/2"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": 1, "unit": "person"},
        }
    )
    telling = Telling(urn_of(problem), (0, 2, 1), ())
    quick = telling.states_within(10.0, problem)
    assert telling.seconds(quick, problem) <= 10.0 < telling.seconds(quick + 1, problem)
    monkeypatch.setattr(pacing, "_measured", [0.0, 4.0])
    slow = telling.states_within(10.0, problem)
    assert slow < quick and telling.seconds(slow, problem) <= 10.0 < telling.seconds(slow + 1, problem)
