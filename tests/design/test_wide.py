"""Programs that are not solved in time as a whole: windows are planned for the time there is, and proved like anything else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.certify.bounds.dual import dual_upper_bound
from discreet.design.memory import allowing
from discreet.design.program import listed
from discreet.design.program.listed import first_tolerance, truncated, wide_plan
from discreet.design.program.real import coarse, continuous
from discreet.design.program.sections import ground, losses, recommendations
from discreet.design.program.wide import centres_of, lattice_of, planned
from discreet.design.proposal import Proposal
from discreet.design.schedule import Until, counted
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
