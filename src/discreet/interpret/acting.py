"""What to do after reading a published value: the action with the highest expected payoff under the posterior.

a*(s) = argmax_a Σ_ω u(a, ω) π(ω|s). Squared error asks for the mean, absolute error for the median, pinball for its
quantile, match for the most probable value; with listed numbers the nearest in loss; otherwise payoffs are compared.
Ties go to the smaller (earlier) action. Reference: SY eq. (1).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import TooLarge
from discreet.interpret.posteriors import Posterior
from discreet.interpret.reading import Readings
from discreet.interpret.regions import exact_quantile, quantile_positions
from discreet.model.actions import Action, ListedActions, RealActions
from discreet.model.decision import LOSSES, Decision
from discreet.model.expression import Node, affine_parts

Array = NDArray[np.float64]
MOST_PAYOFFS = 20_000_000
GRID = 2001


def best_action(decision: Decision, posterior: Posterior) -> Action | float:
    """The best action: a rational or a name when it is one, a float when it was found by search."""
    values = posterior.numbers
    if decision.kind in LOSSES:
        target = _target(decision, posterior)
        if isinstance(decision.actions, RealActions):
            return _clipped(target, decision.actions)
        assert isinstance(decision.actions, ListedActions)
        return _nearest(decision, posterior, target, decision.actions.numbers)
    if isinstance(decision.actions, RealActions):
        return _search(decision, posterior.mean(), decision.actions)
    actions = list(decision.actions)
    if len(actions) * len(values) > MOST_PAYOFFS:
        raise TooLarge(
            "There are too many payoffs to compare",
            size=f"{len(actions):,} actions × {len(values):,} values",
            fits=f"{MOST_PAYOFFS:,}",
            remedy="list fewer actions",
        )
    if posterior.exact is not None:
        exact = [
            sum(
                (p * decision.payoff(a, v) for p, v in zip(posterior.exact, values, strict=True)), Fraction(0)
            )
            for a in actions
        ]
        return actions[exact.index(max(exact))]
    table = np.array([[float(decision.payoff(a, v)) for v in values] for a in actions])
    return actions[int(np.argmax(table @ posterior.probabilities))]


def best_actions(decision: Decision, table: Readings) -> list[Action | float | None]:
    """The best action of every output of a table of readings; None for an output of probability zero."""
    labels = tuple(str(v) for v in table.values)
    return [
        best_action(decision, Posterior("statistic", labels, table.values, row, float(log)))
        if np.isfinite(log)
        else None
        for row, log in zip(table.posteriors, table.log_probability, strict=True)
    ]


def expected_loss(decision: Decision, posterior: Posterior, action: Action | float) -> float:
    """−E[u(a, ω) | s]."""
    a = Fraction(action) if isinstance(action, float) else action
    payoffs = [float(decision.payoff(a, v)) for v in posterior.numbers]
    return -float(np.dot(posterior.probabilities, payoffs))


def _target(decision: Decision, posterior: Posterior) -> Fraction | float:
    if decision.kind == "squared-error":
        return posterior.exact_mean() if posterior.exact is not None else posterior.mean()
    q = Fraction(1, 2) if decision.kind == "absolute-error" else decision.quantile
    assert q is not None
    if posterior.exact is not None:
        return posterior.numbers[exact_quantile(posterior.exact, q)]
    return posterior.numbers[int(quantile_positions(posterior.probabilities, float(q)))]


def _clipped(target: Fraction | float, actions: RealActions) -> Fraction | float:
    if actions.lower is not None and target < actions.lower:
        return actions.lower
    if actions.upper is not None and target > actions.upper:
        return actions.upper
    return target


def _nearest(
    decision: Decision, posterior: Posterior, target: Fraction | float, numbers: tuple[Fraction, ...]
) -> Fraction:
    """These losses are convex in the action, so the best listed number is next to the unconstrained optimum."""
    place = int(np.searchsorted(np.array([float(x) for x in numbers]), float(target)))
    around = [numbers[i] for i in range(max(place - 1, 0), min(place + 2, len(numbers)))]
    if posterior.exact is not None:
        losses = [
            sum(
                (-p * decision.payoff(a, v) for p, v in zip(posterior.exact, posterior.numbers, strict=True)),
                Fraction(0),
            )
            for a in around
        ]
        return around[losses.index(min(losses))]
    return min(around, key=lambda a: expected_loss(decision, posterior, a))


def _search(decision: Decision, mean: float, actions: RealActions) -> float:
    """Real actions of a payoff f(a) + ω g(a): only E[ω|s] matters; the best of a grid is refined by golden section."""
    parts = affine_parts(decision.formula) if decision.formula is not None else None
    assert parts is not None and actions.lower is not None and actions.upper is not None

    def payoff(a: float) -> float:
        return _at(parts[0], a) + mean * _at(parts[1], a)

    grid = np.linspace(float(actions.lower), float(actions.upper), GRID)
    best = int(np.argmax([payoff(float(a)) for a in grid]))
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
    golden = (5**0.5 - 1) / 2
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if payoff(left) >= payoff(right):
            high = right
        else:
            low = left
    candidates = [float(grid[best]), (low + high) / 2]
    return max(candidates, key=payoff)


def _at(part: Node, a: float) -> float:
    return float(part({"a": Fraction(a), "omega": Fraction(0)}))
