"""Expected regret on a path: of following given actions, and the least that any actions leave.

Regret is ℓ(a, ω) − min_a′ ℓ(a′, ω) ≥ 0. Given actions: Σ_k Σ_c P(k, c)·regret(a_k, ω_c). The least: each output's best
action, found by kind: the mean's nearest actions for squared error, the quantile's for absolute and pinball, every listed
action otherwise; for f(a) + ω·g(a) on an interval, where the posterior enters through its mean alone, the bottom of a
convex curve, with what its slope there could still hide taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from discreet.certify.path import Band
from discreet.errors import InputError
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Recommendation
from discreet.model.decision import Decision
from discreet.model.expression import Node, affine_parts, as_fraction, derivative
from discreet.numerics.polynomials import multiply, somewhere_negative

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def loss_function(decision: Decision) -> Loss:
    """−u(a, ω) on arrays of numbers, for decisions whose actions are numbers."""
    if decision.kind == "squared-error":
        return lambda a, omega: (omega - a) ** 2
    if decision.kind == "absolute-error":
        return lambda a, omega: np.abs(omega - a)
    if decision.kind == "pinball":
        q = float(decision.quantile or 0)
        return lambda a, omega: np.maximum(q * (omega - a), (q - 1) * (omega - a))
    if decision.kind == "expression" and decision.formula is not None:
        formula = decision.formula
        return lambda a, omega: -formula({"a": a, "omega": omega}) + 0.0 * omega
    raise InputError(
        "This decision has no formula in numbers", found=decision.kind, allowed="a loss or an expression",
        remedy="use a table of payoffs for few respondents",
    )


def least_loss(decision: Decision, omegas: Sequence[Fraction]) -> np.ndarray:
    """min_a ℓ(a, ω) for each ω, in floats."""
    if isinstance(decision.actions, RealActions):
        if decision.is_loss:
            low, high = decision.actions.lower, decision.actions.upper
            clipped = [max(w, low) if low is not None else w for w in omegas]
            clipped = [min(w, high) if high is not None else w for w in clipped]
            return np.array([-float(decision.payoff(a, w)) for a, w in zip(clipped, omegas, strict=True)])
        means = np.array([float(w) for w in omegas])
        best, slack = _bottom(decision, means)
        return loss_function(decision)(best, means) - slack
    if decision.is_loss and isinstance(decision.actions, ListedActions):
        numbers = np.array([float(a) for a in decision.actions.numbers])
        at = np.array([float(w) for w in omegas])
        near = np.clip(np.searchsorted(numbers, at), 1, max(len(numbers) - 1, 1))
        loss = loss_function(decision)
        return np.minimum(loss(numbers[near - 1], at), loss(numbers[np.minimum(near, len(numbers) - 1)], at))
    return np.array([min(-float(decision.payoff(a, w)) for a in decision.actions) for w in omegas])


def followed(
    decision: Decision, band: Band, exact: Sequence[Fraction], least: np.ndarray, actions: Sequence[Recommendation]
) -> float:
    """Σ over the band of joint mass × regret when output k is followed by the k-th of `actions`."""
    at = band.at
    if _judged_one_by_one(decision):
        assert not isinstance(decision.actions, RealActions)
        rows = np.array([decision.actions.position(a) for a in actions if not isinstance(a, tuple)])
        regret = regret_table(decision, exact)[rows[:, None], at]
    else:
        omegas = np.array([float(w) for w in exact])
        chosen = np.array([float(a) for a in actions if isinstance(a, Fraction)])[:, None]
        regret = np.maximum(loss_function(decision)(chosen, omegas[at]) - least[at], 0.0)
    return float((band.joint * regret).sum())


def best_actions(decision: Decision, band: Band, omegas: np.ndarray) -> list[np.ndarray]:
    """For each output one or two numbers among which its best action lies (for listed actions), or is close to."""
    at = band.at
    values = omegas[at]
    mass = band.joint.sum(axis=1)
    safe = np.where(mass > 0, mass, 1.0)
    if decision.kind == "squared-error":
        middle = (band.joint * values).sum(axis=1) / safe
        # a second pass around the first removes the cancellation of large numbers
        middle = middle + (band.joint * (values - middle[:, None])).sum(axis=1) / safe
    elif decision.kind in ("absolute-error", "pinball"):
        middle = _quantile(band.joint, values, 0.5 if decision.quantile is None else float(decision.quantile))
    else:
        middle = (band.joint * values).sum(axis=1) / safe
        best, _ = _bottom(decision, middle)
        return [best]
    if isinstance(decision.actions, RealActions):
        low = -np.inf if decision.actions.lower is None else float(decision.actions.lower)
        high = np.inf if decision.actions.upper is None else float(decision.actions.upper)
        return [np.clip(middle, low, high)]
    assert isinstance(decision.actions, ListedActions)
    numbers = np.array([float(a) for a in decision.actions.numbers])
    right = np.clip(np.searchsorted(numbers, middle), 0, len(numbers) - 1)
    return [numbers[np.maximum(right - 1, 0)], numbers[right], numbers[np.minimum(right + 1, len(numbers) - 1)]]


def least_followed(decision: Decision, band: Band, exact: Sequence[Fraction], least: np.ndarray) -> float:
    """A lower side of Σ_k min_a Σ_c P(k, c)·regret(a, ω_c), up to the band's relative error."""
    at = band.at
    if _judged_one_by_one(decision):
        each = np.stack([(band.joint * row[at]).sum(axis=1) for row in regret_table(decision, exact)])
        return float(each.min(axis=0).sum())
    omegas = np.array([float(w) for w in exact])
    candidates = best_actions(decision, band, omegas)
    loss = loss_function(decision)
    each = np.stack([
        (band.joint * np.maximum(loss(a[:, None], omegas[at]) - least[at], 0.0)).sum(axis=1) for a in candidates
    ])
    mass = band.joint.sum(axis=1)
    if decision.kind == "expression":
        means = (band.joint * omegas[at]).sum(axis=1) / np.where(mass > 0, mass, 1.0)
        _, slack = _bottom(decision, means)
        return float((each.min(axis=0) - mass * slack).sum())
    if decision.kind == "squared-error" and isinstance(decision.actions, RealActions):
        # the float mean misses the true one by at most its relative error times the spread of ω
        miss = band.error * float(np.ptp(omegas))
        return float((each.min(axis=0) - mass * miss * miss).sum())
    return float(each.min(axis=0).sum())


def _quantile(joint: np.ndarray, values: np.ndarray, q: float) -> np.ndarray:
    order = 1 if values[0, -1] >= values[0, 0] else -1
    running = np.cumsum(joint[:, ::order], axis=1)
    place = (running < q * running[:, -1:]).sum(axis=1)
    place = np.minimum(place, values.shape[1] - 1)
    return values[:, ::order][np.arange(len(values)), place]


def _judged_one_by_one(decision: Decision) -> bool:
    """Whether the payoff has no formula that tells which of the listed actions are worth a look."""
    return not decision.is_loss and not isinstance(decision.actions, RealActions)


def regret_table(decision: Decision, omegas: Sequence[Fraction]) -> np.ndarray:
    """ℓ(a, ω) − min_a′ ℓ(a′, ω) [action, ω] of listed actions: exact differences, then floats."""
    assert not isinstance(decision.actions, RealActions)
    columns = [[-decision.payoff(a, w) for a in decision.actions] for w in omegas]
    return np.array([[float(loss - min(column)) for loss in column] for column in columns]).T


def _bottom(decision: Decision, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The action that minimises −f(a) − m·g(a) for each mean m, and how far below its loss the minimum could lie."""
    assert isinstance(decision.actions, RealActions) and decision.formula is not None
    lower, upper = decision.actions.lower, decision.actions.upper
    assert lower is not None and upper is not None
    slope = _convex_slope(decision, lower, upper, means)
    low, high = np.full(len(means), float(lower)), np.full(len(means), float(upper))
    for _ in range(200):
        middle = (low + high) / 2
        rising = slope(middle, means) > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    best = (low + high) / 2
    at = slope(best, means)
    # convex: f(a) ≥ f(a*) + f′(a*)(a − a*)
    slack = np.where(at > 0, at * (best - float(lower)), -at * (float(upper) - best))
    edge = (best - float(lower) < 1e-12) | (float(upper) - best < 1e-12)
    return best, np.where(edge, np.abs(at) * 1e-11, slack + 1e-14 * np.abs(loss_function(decision)(best, means)))


def _convex_slope(decision: Decision, lower: Fraction, upper: Fraction, means: np.ndarray) -> Loss:
    """d/da of the loss, after proving that the loss is convex in a at the smallest and the largest mean (so at all)."""
    parts = None if decision.formula is None else affine_parts(decision.formula)
    assert parts is not None
    first = [derivative(part, "a") for part in parts]
    second = [None if d is None else derivative(d, "a") for d in first]
    f2, g2 = second
    if f2 is None or g2 is None or first[0] is None or first[1] is None:
        raise _not_convex(decision)
    for mean in (Fraction(float(means.min())), Fraction(float(means.max()))):
        curve = Node("negative", (Node("+", (f2, Node("*", (Node("number", number=mean), g2)))),))
        fraction = as_fraction(curve)
        if fraction is None or somewhere_negative(multiply(*fraction), lower, upper) is not None:
            raise _not_convex(decision)
    f1, g1 = first[0], first[1]
    return lambda a, m: -(f1({"a": a}) + m * g1({"a": a})) + 0.0 * m


def _not_convex(decision: Decision) -> InputError:
    return InputError(
        "For real actions the payoff must be concave in a over their range", found=decision.expression,
        allowed="for instance -omega/a - 0.1*a for a > 0", remedy="list the actions, or give { from, to, step }",
    )
