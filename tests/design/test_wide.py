"""Programs that are not solved in time as a whole: windows are planned for the time there is, and proved like anything else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.certify.bounds.dual import dual_upper_bound
from discreet.design import design
from discreet.design.memory import allowing
from discreet.design.program import listed, real, wide
from discreet.design.program.listed import first_tolerance, truncated, wide_plan
from discreet.design.program.real import coarse, continuous
from discreet.design.program.sections import ground, losses, recommendations
from discreet.design.program.wide import centres_of, lattice_of, planned
from discreet.design.proposal import Proposal
from discreet.design.schedule import TimeIsUpError, Until, counted, now, spend
from discreet.design.solver import stride, windowed
from discreet.files.problem import problem_from_document
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem

SPREAD = {"kind": "exchangeable", "concentration": ["17.8", "1.8", "0.4"]}


def spread(respondents: int, actions: str = "integer", values: tuple[int, ...] = (0, 1, 2)) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": list(values)},
            "prior": SPREAD,
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": actions},
            "privacy": {"epsilon": 1, "unit": "household"},
        }
    )


def loss_and_bound(problem: Problem, proposal: Proposal) -> tuple[float, float]:
    """What is proved of a proposal."""
    from discreet.design.certified import Proofs
    from discreet.model.record import Step

    candidate, limit = Proofs(problem).proved(proposal, Step("wide", True, "", ""))
    assert isinstance(candidate.mechanism, Mechanism) and limit is not None
    return -float(candidate.value), -float(limit.bound)


@pytest.fixture
def never_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no program were solved in time as a whole."""
    monkeypatch.setattr(listed, "fits", lambda *_: False)


@pytest.mark.usefixtures("never_whole")
def test_windows_propose_what_is_proved() -> None:
    problem = spread(10)
    proposal = listed.programmed(problem, 1e-3)
    loss, bound = loss_and_bound(problem, proposal)
    assert 0 < bound < loss and (loss - bound) / loss < 1e-3
    assert proposal.witness is not None and -float(dual_upper_bound(problem, proposal.witness)) == pytest.approx(bound)


@pytest.mark.usefixtures("never_whole")
def test_windows_serve_real_actions() -> None:
    problem = spread(8, "real")
    loss, bound = loss_and_bound(problem, continuous(problem, 1e-2))
    assert 0 < bound < loss and (loss - bound) / loss < 4e-2


def test_the_plan_follows_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = spread(30)
    base, actions = ground(problem), recommendations(problem)
    table = losses(problem, actions, base.exact_omegas)
    with counted():
        assert wide_plan(base, table, actions, 1e-6, 30, Until.after(1e9)) is None  # solved as a whole
        monkeypatch.setattr(listed, "fits", lambda *_: False)
        plans = [wide_plan(base, table, actions, 1e-6, 30, Until.after(seconds)) for seconds in (1.0, 10.0)]
        hurried, patient = (plan for plan in plans if plan is not None)
        assert patient.goal < hurried.goal and patient.radius >= hurried.radius
        assert len(patient.section.space) > len(hurried.section.space)
        assert wide_plan(base, table, actions, 1e-6, 30, Until.after(1e-3)) is None


def test_windows_keep_to_the_memory() -> None:
    problem = spread(60)
    base, actions = ground(problem), recommendations(problem)
    table = losses(problem, actions, base.exact_omegas)
    centres = centres_of(problem, actions)
    assert centres is not None
    plan = planned(truncated(base, table, first_tolerance(base, table, 1e-3)), centres, 1e-3, 1.0)
    assert plan is not None and plan.fits(Until.after(1e6))
    with allowing(64 << 20):
        larger = planned(truncated(base, table, 0.0), centres, 1e-9, 1.0)
        assert larger is not None and not larger.fits(Until.after(1e6))


def test_what_has_no_two_counts_has_no_windows() -> None:
    four = problem_from_document(
        {
            "data": {"respondents": 5, "values": [0, 1, 2, 3]},
            "prior": {"kind": "iid", "probabilities": ["0.7", "0.1", "0.1", "0.1"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": 1, "unit": "household"},
        }
    )
    base = ground(four)
    assert lattice_of(truncated(base, coarse(base), 0.0)) is None
    named = spread(5)
    assert centres_of(named, [Fraction(3), Fraction(1)]) is None


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """Lets work on windows take so many times what is guessed, from a time on."""

    def slower(times: float, since: float = 0.0) -> None:
        monkeypatch.setattr(stride, "spend", lambda guess: spend(guess * (times if now() >= since else 1.0)))

    return slower


def left_open(problem: Problem, proposal: Proposal) -> float:
    loss, bound = loss_and_bound(problem, proposal)
    return (loss - bound) / loss


@pytest.mark.usefixtures("never_whole")
@pytest.mark.parametrize(("actions", "times"), [("integer", 25.0), ("real", 15.0)])
def test_a_machine_much_slower_than_guessed_gets_a_plan_for_it(
    actions: str, times: float, slow: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adversary: guesses that are wrong by 15 or 25. What was planned for this time comes to nothing in it."""
    problem, seconds = spread(10, actions), 0.6
    design = listed.programmed if actions == "integer" else continuous
    slow(times)
    begun = now()
    proposal = design(problem, 1e-5, Until.after(seconds))
    assert now() - begun < 1.2 * seconds
    monkeypatch.setattr(wide, "MOST_PLANS", 1)
    stubborn = design(problem, 1e-5, Until.after(seconds))
    assert left_open(problem, proposal) < 0.2 < left_open(problem, stubborn)


@pytest.mark.usefixtures("never_whole")
def test_a_machine_that_slows_down_in_the_middle_keeps_what_it_has(slow: Callable[[float, float], None]) -> None:
    """The adversary: other work begins beside the search. A step that would take all the time ends in the middle."""
    problem = spread(10)
    begun = now()
    slow(1000.0, begun + 0.06)
    proposal = listed.programmed(problem, 1e-5, Until.after(0.8))
    assert proposal.status == "cancelled" and now() - begun < 10.0, "one piece of a step, not all of it"
    assert left_open(problem, proposal) < 0.02


@pytest.mark.usefixtures("never_whole")
def test_prices_that_are_never_found_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: conjugate gradients that would take longer than all the time, from some step on."""
    direction, given = windowed.WindowedIterate.direction, []

    def endless(self, *arguments):
        given.append(self)
        if len(given) > 30:
            monkeypatch.setattr(windowed, "ROUND", 20.0)
            self.prices.ready = np.array
        return direction(self, *arguments)

    monkeypatch.setattr(windowed.WindowedIterate, "direction", endless)
    problem = spread(10)
    begun = now()
    proposal = listed.programmed(problem, 1e-5, Until.after(0.8))
    assert proposal.status == "cancelled" and now() - begun < 1.2
    assert left_open(problem, proposal) < 1e-2


class Impatient:
    """Cancels when it was asked so often."""

    def __init__(self, asked: int) -> None:
        self.left = asked

    def report(self, **_: object) -> None:
        pass

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.usefixtures("never_whole")
@pytest.mark.parametrize("asked", [0, 3, 60])
def test_who_cancels_gets_the_last_iterate(asked: int) -> None:
    problem = spread(10)
    proposal = listed.programmed(problem, 1e-9, Impatient(asked))
    assert proposal.status == "cancelled"
    loss, bound = loss_and_bound(problem, proposal)
    assert bound < loss and (asked < 60 or (loss - bound) / loss < 0.1)


@pytest.mark.parametrize("actions", ["integer", "real"])
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_known_outlives_a_route_that_does_not_come_back(actions: str, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine that stops while a solution is rounded, so that the route is left behind."""
    module = listed if actions == "integer" else real
    rounded, given = module.exact_kernel, []

    def stuck(*arguments):
        given.append(arguments)
        if len(given) == 1:
            raise TimeIsUpError("left behind")
        return rounded(*arguments)

    monkeypatch.setattr(module, "exact_kernel", stuck)
    if not whole:
        monkeypatch.setattr(listed, "fits", lambda *_: False)
    found = design(spread(8, actions), gap=1e-4, seconds=20.0, compare=False)
    assert len(given) > 1 and found.steps[0].name == "histogram program"
    assert float(found.loss - found.lower_bound) < (1e-3 if actions == "integer" or whole else 1e-2) * float(found.loss)
