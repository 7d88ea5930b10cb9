"""What to do after reading a published value: the action with the highest expected payoff under the posterior.

a*(s) = argmax_a Σ_ω u(a, ω) π(ω|s). Squared error asks for the mean, absolute error for the median, pinball for its
quantile, match for the most probable value; with listed numbers the nearest in loss; otherwise payoffs are compared.
Ties go to the smaller (earlier) action. Exact posteriors get exact replies (model.exact_replies). Reference: SY eq. (1).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.errors import TooLarge
from discreet.interpret.posteriors import Posterior
from discreet.interpret.reading import Readings
from discreet.model.actions import Action, RealActions
from discreet.model.decision import Decision
from discreet.model.exact_replies import exact_reply
from discreet.model.losses import SquaredLoss
from discreet.model.replies import best_replies, real_replies

MOST_PAYOFFS = 20_000_000


def best_action(decision: Decision, posterior: Posterior) -> Action | float:
    """The best action: a rational or a name when it is one, a float when it was computed in floats."""
    real = isinstance(decision.actions, RealActions)
    if posterior.exact is not None and (decision.is_loss or not real):
        _must_be_comparable(decision, posterior)
        return exact_reply(decision, posterior.exact, posterior.numbers)
    row = posterior.probabilities[None, :]
    if isinstance(decision.loss, SquaredLoss) and decision.actions == RealActions():
        return posterior.mean()  # to the last digit the mean that is shown beside it
    if real:
        return float(real_replies(decision, row, np.array([float(v) for v in posterior.numbers]))[0])
    _must_be_comparable(decision, posterior)
    return best_replies(decision, row, posterior.numbers).actions[0]


def best_actions(decision: Decision, table: Readings) -> list[Action | float | None]:
    """The best action of every output of a table of readings; None for an output of probability zero."""
    labels = tuple(str(v) for v in table.values)
    return [
        best_action(decision, Posterior("statistic", labels, table.values, row, float(log))) if np.isfinite(log) else None
        for row, log in zip(table.posteriors, table.log_probability, strict=True)
    ]


def expected_loss(decision: Decision, posterior: Posterior, action: Action | float) -> float:
    """−E[u(a, ω) | s]."""
    a = Fraction(action) if isinstance(action, float) else action
    payoffs = [float(decision.payoff(a, v)) for v in posterior.numbers]
    return -float(np.dot(posterior.probabilities, payoffs))


def _must_be_comparable(decision: Decision, posterior: Posterior) -> None:
    """Refuse to compare more payoffs than fit; losses need only a few."""
    if decision.is_loss or isinstance(decision.actions, RealActions):
        return
    actions, values = len(decision.actions), len(posterior.numbers)
    if actions * values > MOST_PAYOFFS:
        raise TooLarge(
            "There are too many payoffs to compare",
            size=f"{actions:,} actions × {values:,} values",
            fits=f"{MOST_PAYOFFS:,}",
            remedy="list fewer actions",
        )
