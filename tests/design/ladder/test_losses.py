"""Any decisions through the joint law: against moments, against tables of losses, against the chain bound."""

from fractions import Fraction

import numpy as np
import pytest
from ladder_problems import problem_of

from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.bounds.chain import best_chain
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.weights import settle
from discreet.errors import TooLarge
from discreet.model.actions import ListedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, FormulaLoss, PinballLoss, SquaredLoss
from discreet.model.mechanism import Mechanism

P, V, W, N = [0.6, 0.3, 0.1], [0, 1, 2], (0, 1, 1), 8
WHOLE = ListedActions(tuple(map(Fraction, range(17))))


def read(decisions, weights=W, p=P, v=V, respondents=N):
    """What is read with these weights, and the problem."""
    problem = problem_of(p, v, respondents, 1.0, decisions)
    reader = Reader(problem)
    return problem, reader.read(settle(reader.population, weights))


def test_squared_error_by_replies_equals_moments():
    """The same decision written as a formula is read through the joint law instead."""
    _, moments = read((Decision(SquaredLoss(), WHOLE),))
    _, replies = read((Decision(FormulaLoss("-(a - omega)**2"), WHOLE),))
    assert replies.loss == pytest.approx(moments.loss, rel=1e-10)
    assert replies.kernel.actions == moments.kernel.actions


@pytest.mark.parametrize("loss", [AbsoluteLoss(), PinballLoss(Fraction(4, 5))])
def test_losses_equal_their_formulas_and_respect_the_chain_bound(loss):
    problem, named = read((Decision(loss, WHOLE),))
    q = loss.quantile
    text = "-abs(a - omega)" if isinstance(loss, AbsoluteLoss) else f"-max({q}*(omega - a), ({q} - 1)*(omega - a))"
    assert named.loss == pytest.approx(read((Decision(FormulaLoss(text), WHOLE),))[1].loss, rel=1e-9)
    bound, _ = best_chain(problem, [0, 1, 2])
    assert 0.6 * named.loss < bound <= named.loss
    # Near miss: another quantile's actions are worse for this loss.
    _, other = read((Decision(PinballLoss(Fraction(1, 50)), WHOLE),))
    wrong = Mechanism(problem, other.summary, other.kernel, problem.guarantee)
    assert -weighted_sum_payoff(wrong)[0] > named.loss * 1.05


def test_two_types_are_optimal():
    problem, found = read((Decision(AbsoluteLoss(), RealActions()),), (0, 1), [0.7, 0.3], [0, 1], 12)
    assert found.loss == pytest.approx(best_chain(problem, [0, 1])[0], rel=1e-9)


def test_several_decision_makers_are_read_together():
    makers = (Decision(AbsoluteLoss(), WHOLE), Decision(SquaredLoss(), RealActions(), weight=Fraction(2)))
    _, both = read(makers)
    alone = [read((maker,))[1].loss for maker in makers]
    assert all(isinstance(a, tuple) and len(a) == 2 for a in both.kernel.actions)
    assert both.loss == pytest.approx(sum(alone), rel=0.02)


def test_a_joint_law_that_is_too_large_is_refused():
    reader = Reader(problem_of(P, [0, 1, 1000], 1000, 1.0))
    with pytest.raises(TooLarge, match="joint law"):
        reader.population.joint((0, 1, 7))
    joint = Reader(problem_of(P, V, N, 1.0)).population.joint(W)
    assert joint.masses.sum() == pytest.approx(1.0) and joint.omegas == tuple(map(Fraction, range(17)))
    assert np.all(joint.masses >= 0)
