"""Two decision makers and values far apart: too many totals for the joint law of a sum and the statistic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest
from ladder_problems import problem_of

from discreet.certify.bounds import other_chains
from discreet.certify.value import joint_sums
from discreet.design import certified
from discreet.design.ladder.bounds.chain import best_chain
from discreet.design.ladder.mechanisms import population
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.schedule import SECONDS_PER_PROVED_REPLY
from discreet.errors import TooLarge
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import PinballLoss, SquaredLoss
from discreet.model.priors import DirichletMultinomialPrior


def far_apart(respondents, *makers):
    """Values that make many totals, and cells that differ."""
    spread = DirichletMultinomialPrior((Fraction(16), Fraction(2), Fraction(1, 10)))
    return replace(problem_of([0.8, 0.1, 0.1], [0, 1, 300], respondents, 1.0, makers), prior=spread)


def test_two_makers_beyond_the_joint_law_are_read_by_moments(monkeypatch):
    """600 respondents with values 0, 1, 300: the ladder was given up, and noise at face value lost 2.4 times as much. What is read
    is as coarse as its time asks for."""
    makers = Decision(SquaredLoss(), RealActions()), Decision(PinballLoss(Fraction(9, 10)), RealActions(), weight=Fraction(10))
    reader = Reader(far_apart(60, *makers))
    monkeypatch.setattr(joint_sums, "MOST_CELLS", 1000)
    monkeypatch.setattr(population, "LARGEST_JOINT", 1000)
    fine, coarse = (reader._by_replies((0, 0, 64), seconds) for seconds in (inf, 60 * 16 * 2 * SECONDS_PER_PROVED_REPLY * 1.01))
    assert fine.kernel.step == 64 and coarse.kernel.step == 16 and reader._by_replies((0, 0, 64), 0.0).kernel.step == 4
    assert fine.loss < coarse.loss < 1.2 * fine.loss
    assert all(len(action) == 2 and action[0] < action[1] for action in fine.kernel.actions)


def test_where_a_sum_says_the_statistic_its_table_is_asked_for_before_its_law(monkeypatch):
    """22 billion cells were refused after the law of 150,000 totals was formed."""
    monkeypatch.setattr(population, "joint_masses", lambda *_, **__: pytest.fail("it was formed"))
    with pytest.raises(TooLarge, match="Asked for: 32,400,360,001 cells"):
        Reader(far_apart(600, Decision(SquaredLoss(), RealActions()))).population.joint((0, 1, 300))


def test_the_chain_of_overdispersed_cells_is_proved_once(monkeypatch):
    """A pinball error of 600 respondents takes a second: it was proved for its maker, for all of them, and once more at the end."""
    seen, found = [], other_chains.pinball_loss
    monkeypatch.setattr(other_chains, "pinball_loss", lambda *given: seen.append(1) or found(*given))
    makers = Decision(SquaredLoss(), RealActions()), Decision(PinballLoss(Fraction(9, 10)), RealActions())
    best_chain(far_apart(23, *makers), range(3))
    first = len(seen)
    loss, witness = best_chain(far_apart(23, *makers), range(3))
    assert first and len(seen) == first and loss > 0
    assert certified.Proofs(far_apart(23, *makers)).bounded(witness).bound < 0 and len(seen) == first
