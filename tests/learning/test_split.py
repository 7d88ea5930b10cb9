"""Learning is never worse than noise at face value by more than was said beforehand, at truths where that is hardest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.certify.whole_set import risks
from discreet.design import design
from discreet.learning.fit import fit
from discreet.learning.noise import GeometricLaw
from discreet.learning.questions import questions
from discreet.learning.split import split
from discreet.model.decision import Decision, integer_actions
from discreet.model.key_set import KeySet
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.prior_set import prior_at
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

CELLS, SIZE, DRAWS = 60, 8, 4
UNIVERSE = Universe.of(SIZE, (Fraction(0), Fraction(1)))
DECISION = Decision(SquaredLoss(), integer_actions(Fraction(0), Fraction(SIZE)))


@pytest.mark.parametrize(("frequency", "correlation"), [("0.5", "0.1"), ("0.02", "0")])
def test_learning_keeps_what_was_said_against_noise(frequency: str, correlation: str) -> None:
    """Data and noise of learning are drawn from fixed seeds; the loss of the release is an expectation. Where cells differ most,
    whole-number actions gain nearly nothing over noise: a prediction for real actions (99 %) would be broken there."""
    p, rho = Fraction(frequency), Fraction(correlation)
    key_set = KeySet(("cell",), tuple((str(i),) for i in range(CELLS)), (SIZE,) * CELLS)
    asked = questions(key_set, 2)
    halves = split(asked, key_set, [0, 1], PurePromise(Fraction(1)))
    ratio = float(np.exp(-float(halves.share)))
    truth = prior_at((1 - p, p), rho)
    weights = truth.on_histograms(UNIVERSE.histograms(), UNIVERSE).floats()
    losses = []
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        spread = float(1 / rho - 1) if rho else 0.0
        rates = random.beta(float(p) * spread, float(1 - p) * spread, CELLS) if rho else np.full(CELLS, float(p))
        ones = random.binomial(SIZE, rates)
        counts = np.stack([SIZE - ones, ones], axis=1)
        noisy = [q.answer(counts) + int(random.geometric(1 - ratio) - random.geometric(1 - ratio)) for q in asked]
        heard = [min(max(y, 0), q.largest) for y, q in zip(noisy, asked, strict=True)]
        prior = fit(asked, heard, key_set, 2, GeometricLaw(ratio))[()].prior()
        rest = PurePromise(1 - halves.share)
        made = design(Problem(UNIVERSE, ReplaceOne(), prior, SumStatistic(), (DECISION,), rest, "unit"), gap=0.01, compare=False)
        losses.append(float(np.array([float(r) for r in risks(made.mechanism)]) @ weights))
    noise = 2 * np.exp(-1) / (1 - np.exp(-1)) ** 2
    assert np.mean(losses) / noise <= halves.chosen.worst
