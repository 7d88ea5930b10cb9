"""Absolute and pinball errors, listed actions and several decision makers on the higher rungs, below and above the truth."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from ladder_problems import problem_of

from discreet.certify.bounds.quotient import quotient_upper_bound
from discreet.certify.optimality import proved_bound, proved_value, upper_bound
from discreet.design.ladder.bounds.averaged import averages
from discreet.design.ladder.bounds.groupings import quotient
from discreet.design.ladder.bounds.makers import EachMaker
from discreet.design.ladder.bounds.rungs import GroupedQuotient
from discreet.design.ladder.bounds.stakes import Stakes, reaching
from discreet.design.ladder.climb import FIRST
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.rungs import ProgramOnSumAndCount, ProgramOnTheSum
from discreet.design.ladder.rung import Height
from discreet.design.program.listed import programmed
from discreet.design.proposal import Proposal
from discreet.design.schedule import counted
from discreet.design.solver.threads import one_thread
from discreet.design.units import Units
from discreet.errors import InputError, Refuted
from discreet.files.certificate import _witness, _witness_document
from discreet.files.schema import Witness, read_shape
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import OptimalityClaim, SeveralWitness, TheoremWitness
from discreet.model.decision import Decision, integer_actions
from discreet.model.kernel import TableKernel
from discreet.model.losses import AbsoluteLoss, PinballLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IndependentPrior
from discreet.watch import SILENT

FIVE = ([0.8, 0.1, 0.05, 0.03, 0.015, 0.005], [0, 1, 2, 3, 4, 5])
HIGH = PinballLoss(Fraction(9, 10))
STEPS = ListedActions(tuple(map(Fraction, range(0, 120, 5))))
PAIRS = ListedActions(tuple(map(Fraction, range(0, 42, 2))))
OTHERS = [
    Decision(AbsoluteLoss(), RealActions()),
    Decision(HIGH, RealActions(), weight=Fraction(3)),
    Decision(AbsoluteLoss(), ListedActions((Fraction(-1), Fraction(1), Fraction(5, 2), Fraction(40)))),
    Decision(SquaredLoss(), integer_actions(Fraction(0), Fraction(15))),
    Decision(HIGH, STEPS),
]


def least(problem):
    """What the best mechanism loses: absolute and pinball errors are least at values of ω."""
    if problem.real_actions:
        whole = replace(problem.decision, actions=integer_actions(*problem.omega_range))
        problem = replace(problem, decisions=(whole,))
    proposal = programmed(problem, 1e-7)
    return -float(proved_value(Mechanism(problem, proposal.summary, proposal.kernel, problem.guarantee), claim(proposal)))


def claim(proposal):
    return OptimalityClaim(Fraction(0), Fraction(0), proposal.witness)


@pytest.mark.parametrize("decision", OTHERS, ids=lambda d: f"{d.loss.kind}-{type(d.actions).__name__}")
@pytest.mark.parametrize("small", [200, 0])
def test_quotients_stay_below_the_truth_and_near_it(decision, small, monkeypatch):
    """By interior point and by first-order steps, with every type a group of its own: what is certified is what floats foretell."""
    monkeypatch.setattr("discreet.design.ladder.bounds.groupings.SMALL", small)
    problem = problem_of([0.6, 0.3, 0.1], [0, 1, 4], 3, 1.0, (decision,))
    reader, best = Reader(problem), least(problem)
    program = averages(reader.law, groups=[[1], [2]], leave_out=1e-9)
    with counted(), one_thread():
        found = quotient(reader, program, best, 1e-4, 2.0)
    proved = -float(quotient_upper_bound(problem, found.witness))
    assert proved <= best * (1 + 1e-12)
    assert proved == pytest.approx(found.lower_bound, rel=1e-6, abs=1e-9)
    assert proved > 0.96 * best


def test_nodes_that_leave_nothing_between():
    omegas = np.array([3.0, 2.0, 7.0])
    assert Stakes.of(Decision(AbsoluteLoss(), RealActions()), omegas).nodes.tolist() == [2.0, 3.0, 7.0]
    listed = Stakes.of(Decision(SquaredLoss(), STEPS), omegas)
    assert listed.listed and listed.nodes.tolist() == [0.0, 5.0, 10.0]
    assert Stakes.of(Decision(SquaredLoss(), RealActions()), omegas).nodes is None
    many = Stakes.of(Decision(AbsoluteLoss(), RealActions()), np.arange(500.0))
    assert many.nodes is None and not many.listed
    assert reaching(np.array([1.0, 2.0]), 5.0, 9.0).tolist() == [2.0] and reaching(np.array([5.0]), 0.0, 1.0).tolist() == [5.0]


def test_what_lies_between_nodes_is_counted():
    """Kinks between nodes: the least over real actions, by a fine search."""
    rng = np.random.default_rng(3)
    stakes, knots = Stakes(HIGH), np.array([0.0, 1.5, 2.0, 6.0])
    omegas, masses = rng.uniform(0, 6, 40), rng.uniform(0.1, 1, 40)
    tilt = rng.normal(size=(4, 40))
    found = stakes.least(masses * stakes.costs(knots, omegas) + tilt, knots, masses, omegas)
    fine = np.linspace(0, 6, 6001)
    between = np.stack([np.interp(fine, knots, column) for column in tilt.T], axis=1)
    seen = (masses * stakes.costs(fine, omegas) + between).min(axis=0)
    assert np.all(found <= seen + 1e-12) and np.allclose(found, seen, atol=2e-3)


def climbed(problem, *rungs, seconds=2.1):
    """A height after the first rungs and these."""
    height = Height(problem, 1e-3, SILENT)
    with counted(), one_thread():
        for rung in (*FIRST, *rungs):
            assert rung.why_not(problem) is None
            found = rung.climb(height, seconds)
            if found is not None:
                height.take(found)
    return height


@pytest.mark.parametrize("decision", [OTHERS[0], Decision(SquaredLoss(), PAIRS)], ids=["absolute", "listed"])
def test_the_higher_rungs_serve_other_losses(decision):
    problem = problem_of(*FIVE, 8, 1.0, (decision,))
    begun, height = climbed(problem), climbed(problem, ProgramOnTheSum(), ProgramOnSumAndCount(), GroupedQuotient())
    assert height.loss < begun.loss and height.lower_bound > 1.05 * begun.lower_bound
    found = height.mechanism
    mechanism = Mechanism(problem, found.summary, found.kernel, problem.guarantee)
    bare = OptimalityClaim(Fraction(0), Fraction(0), height.bound.witness)
    assert -float(proved_value(mechanism, bare)) == pytest.approx(height.loss, rel=1e-9)
    assert -float(proved_bound(mechanism, bare)) == pytest.approx(height.lower_bound, rel=1e-6)
    assert height.lower_bound > 0.95 * height.loss


def test_several_decision_makers_read_a_program():
    """Combinations of real actions are not listed; those that likely outputs recommend are enough to beat noise."""
    both = Decision(SquaredLoss(), RealActions()), Decision(HIGH, RealActions(), weight=Fraction(10))
    problem = problem_of(*FIVE, 8, 1.0, both)
    begun, height = climbed(problem), climbed(problem, ProgramOnTheSum(), ProgramOnSumAndCount())
    assert height.loss < 0.999 * begun.loss and isinstance(height.mechanism.kernel, TableKernel)
    assert all(isinstance(output.action, tuple) and len(output.action) == 2 for output in height.mechanism.kernel.outputs)


def test_bounds_of_each_maker_add_up_and_stay_below_the_truth():
    """Listed actions have an optimum for both together; the sum of what each could have alone lies below it and above chains."""
    few = ListedActions(tuple(map(Fraction, (0, 1, 3, 6, 12))))
    both = Decision(SquaredLoss(), few), Decision(HIGH, few, weight=Fraction(10))
    problem = problem_of([0.6, 0.3, 0.05, 0.05], [0, 1, 3, 4], 3, 1.0, both)
    best = least(problem)
    begun, height = climbed(problem), climbed(problem, EachMaker(), seconds=20.0)
    proved = -float(upper_bound(problem, height.bound.witness))
    assert proved == pytest.approx(height.lower_bound, rel=1e-6)
    assert begun.lower_bound < 0.9 * proved < proved <= best < 1.1 * proved


def test_a_witness_for_several_survives_its_file_and_fits_or_is_refuted():
    each = TheoremWitness("full information"), TheoremWitness("chain", (("low", "0"), ("high", "2")))
    witness = SeveralWitness(each)
    document = json.loads(json.dumps(_witness_document(witness)))
    assert _witness(read_shape(Witness, document, "The witness")) == witness
    problem = problem_of([0.6, 0.3, 0.1], [0, 1, 4], 3, 1.0, (OTHERS[0], OTHERS[0]))
    alone = replace(problem, decisions=(OTHERS[0],))
    assert upper_bound(problem, witness) == sum(upper_bound(alone, part) for part in each)
    for parts in ((), each[:1], (*each, each[0])):
        with pytest.raises(Refuted, match="each decision maker"):
            upper_bound(problem, SeveralWitness(parts))
    for wrong, words in (({"kind": "several"}, "lacks"), ({**document, "each": [document]}, "one for each"),
                         ({**document, "rays": [[1, 1]]}, "another kind")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            _witness(read_shape(Witness, wrong, "The witness"))


def test_units_reach_into_a_witness_for_several():
    """Values of 1e9: actions of every part are told in the problem's own units."""
    far = problem_of([0.6, 0.3, 0.05, 0.05], [0, 1e9, 3e9, 4e9], 3, 1.0, (Decision(AbsoluteLoss(), RealActions()),) * 2)
    units = Units.of(far)
    inner = climbed(units.inner, EachMaker(), seconds=7.0)
    proposal = Proposal(inner.mechanism.summary, inner.mechanism.kernel, inner.bound.witness, "", "stalled", ())
    found = units.restored(proposal)
    assert float(upper_bound(far, found.witness)) == pytest.approx(float(upper_bound(units.inner, inner.bound.witness)), rel=1e-9)


def test_makers_are_not_begun_where_that_would_take_the_time():
    """Chains of a Dirichlet took 13 processor seconds of 8.6 when three makers had three seconds."""
    both = Decision(SquaredLoss(), RealActions()), Decision(HIGH, RealActions())
    height = climbed(problem_of(*FIVE, 8, 1.0, both))
    height.begun_in = 1.0
    assert EachMaker().climb(height, 3.9) is None and not height.makers
    separate = replace(
        height.problem, prior=IndependentPrior(tuple((Fraction(k, 10), *(Fraction(10 - k, 50),) * 5) for k in range(1, 9)))
    )
    assert "another bound" in EachMaker().why_not(separate)
    assert "one decision maker" in EachMaker().why_not(problem_of(*FIVE, 8, 1.0))
