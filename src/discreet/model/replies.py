"""Best replies: what each decision maker does after each output, and what it costs, in floats (proposals, not proofs).

`joint` [output, ω] holds P(output, ω). The best reply to output s minimises Σ_ω P(s, ω)·ℓ(a, ω): the mean for squared error, a
quantile for absolute and pinball losses, the least of all listed actions otherwise; for f(a) + ω·g(a) on an interval only the
mean matters, and the best action is sought on a grid and then by golden section. In exact numbers, for one belief: `exact_replies`.
Reference: SY eq. (1), v(π) = max_a E_π u.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.frozen import dataclass
from discreet.model.actions import Action, ListedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import FormulaLoss, MatchLoss

DECIMALS = 10**7
"""Real actions are recommended to seven decimals: under squared error that costs less than 10^-14."""
GRID = 2_001
MOST_EXACT = 100_000
"""Payoffs of a formula that are computed exactly before they become floats."""


@dataclass(frozen=True, eq=False)
class Replies:
    """The reply to each output and its part of the expected loss, Σ_ω P(s, ω)·ℓ(a_s, ω)."""

    actions: list[Action]
    losses: np.ndarray

    @property
    def loss(self) -> float:
        return float(self.losses.sum())


def best_replies(decision: Decision, joint: np.ndarray, omegas: Sequence[Fraction]) -> Replies:
    """The best reply of one decision maker to each output; its weight is left to the caller."""
    numbers = np.array([float(w) for w in omegas])
    if isinstance(decision.actions, RealActions):
        actions: list[Action] = [decimal(a, decision.actions) for a in real_replies(decision, joint, numbers).tolist()]
        return Replies(actions, _loss_of(decision, joint, numbers, actions))
    if decision.is_loss and isinstance(decision.actions, ListedActions):
        return _nearest(decision, decision.actions, joint, numbers)
    if isinstance(decision.loss, MatchLoss):
        return _guesses(decision, joint, omegas)
    listed = list(decision.actions)
    expected = joint @ loss_table(decision, listed, omegas).T
    best = expected.argmin(axis=1)
    return Replies([listed[i] for i in best.tolist()], expected[np.arange(len(best)), best])


def _guesses(decision: Decision, joint: np.ndarray, omegas: Sequence[Fraction]) -> Replies:
    """The likeliest value that is an action; the first action where none can be right. Other actions need not be looked at."""
    first = next(iter(decision.choices))
    held = [j for j, omega in enumerate(omegas) if omega in decision.choices]
    if not held:
        return Replies([first] * len(joint), np.zeros(len(joint)))
    chances = joint[:, held]
    best = chances.argmax(axis=1)
    right = chances[np.arange(len(best)), best]
    told = [omegas[held[i]] if chance > 0 else first for i, chance in zip(best.tolist(), right.tolist(), strict=True)]
    return Replies(told, np.where(right > 0, -right, 0.0))


def reply_loss(decision: Decision, joint: np.ndarray, omegas: Sequence[Fraction], actions: Sequence[Action]) -> np.ndarray:
    """Each output's part of the expected loss when the given actions are followed."""
    if decision.is_loss:
        return _loss_of(decision, joint, np.array([float(w) for w in omegas]), actions)
    return np.asarray((joint * loss_table(decision, actions, omegas)).sum(axis=1))


def loss_table(decision: Decision, actions: Sequence[Action], omegas: Sequence[Fraction]) -> np.ndarray:
    """ℓ [action, ω] of one decision maker in floats: from exact payoffs where these are few, else by the formula in floats."""
    distinct = list(dict.fromkeys(actions))
    loss = decision.loss
    if isinstance(loss, MatchLoss):
        column: dict[Action, int] = {w: j for j, w in enumerate(omegas)}
        table = np.zeros((len(distinct), len(omegas)))
        for i, action in enumerate(distinct):
            if action in column:
                table[i, column[action]] = -1.0
    elif decision.is_loss or (isinstance(loss, FormulaLoss) and len(distinct) * len(omegas) > MOST_EXACT):
        table = loss.table(np.array([float(a) for a in distinct]), np.array([float(w) for w in omegas]))
    else:
        table = np.array([[-float(decision.payoff(a, w)) for w in omegas] for a in distinct])
    if len(distinct) == len(actions):
        return table
    place = {a: i for i, a in enumerate(distinct)}
    return table[[place[a] for a in actions]]


def _loss_of(decision: Decision, joint: np.ndarray, omegas: np.ndarray, actions: Sequence[Action]) -> np.ndarray:
    chosen = np.array([float(a) for a in actions])
    return np.asarray((joint * decision.loss.table(chosen, omegas)).sum(axis=1))


def real_replies(decision: Decision, joint: np.ndarray, omegas: np.ndarray) -> np.ndarray:
    """The best real action for each row, as a float that nothing has rounded."""
    mass = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
    if decision.loss.quantile is not None:
        return _clip(decision, omegas[_quantile(decision.loss.quantile, joint)])
    means = joint @ omegas / mass
    if decision.is_loss:
        with np.errstate(over="ignore", invalid="ignore"):
            means += (joint * (omegas[None, :] - means[:, None])).sum(axis=1) / mass
        # an output of next to no mass may have any reply, but a finite one: a mean lies within the range of ω
        return _clip(decision, np.clip(np.nan_to_num(means, nan=omegas[0]), omegas.min(), omegas.max()))
    return best_for_means(decision, means)


def _quantile(q: Fraction, joint: np.ndarray) -> np.ndarray:
    running = np.cumsum(joint, axis=1)
    return np.minimum((running < float(q) * running[:, -1:]).sum(axis=1), joint.shape[1] - 1)


def _nearest(decision: Decision, listed: ListedActions, joint: np.ndarray, omegas: np.ndarray) -> Replies:
    """These losses are convex in a, so the best listed action stands beside the best real one."""
    mass = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
    q = decision.loss.quantile
    target = joint @ omegas / mass if q is None else omegas[_quantile(q, joint)]
    numbers = listed.floats
    right = np.clip(np.searchsorted(numbers, target), 0, len(numbers) - 1)
    places = np.stack([np.maximum(right - 1, 0), right, np.minimum(right + 1, len(numbers) - 1)])
    losses = np.stack([(joint * decision.loss.table(numbers[row], omegas)).sum(axis=1) for row in places])
    best = losses.argmin(axis=0)
    each = np.arange(len(best))
    return Replies([listed.numbers[i] for i in places[best, each].tolist()], losses[best, each])


def best_for_means(decision: Decision, means: np.ndarray) -> np.ndarray:
    """The best real action of a payoff f(a) + ω·g(a) for each mean of ω: the best of a grid, then golden section."""
    formula = decision.formula.formula
    first, last = decision.interval.ends
    grid = np.linspace(float(first), float(last), GRID)
    table = -formula({"a": grid[None, :], "omega": means[:, None]})
    at = table.argmin(axis=1)
    low, high = grid[np.maximum(at - 1, 0)], grid[np.minimum(at + 1, GRID - 1)]
    golden = (5**0.5 - 1) / 2
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        nearer = formula({"a": left, "omega": means}) >= formula({"a": right, "omega": means})
        low, high = np.where(nearer, low, left), np.where(nearer, right, high)
    return (low + high) / 2


def _clip(decision: Decision, actions: np.ndarray) -> np.ndarray:
    bounds = decision.interval
    low = -np.inf if bounds.lower is None else float(bounds.lower)
    high = np.inf if bounds.upper is None else float(bounds.upper)
    return np.clip(actions, low, high)


def decimal(a: float, actions: RealActions) -> Fraction:
    """A real action as a decimal within its range."""
    return actions.nearest(Fraction(round(a * DECIMALS), DECIMALS))
