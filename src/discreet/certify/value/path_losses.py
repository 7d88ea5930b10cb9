"""Expected regret on a path: of following given actions, and the least that any actions leave.

Regret is ℓ(a, ω) − min_a′ ℓ(a′, ω) ≥ 0. Given actions: Σ_k Σ_c P(k, c)·regret(a_k, ω_c), from above. The least, from
below: each output's best action, found by kind: the mean's nearest actions for squared error, the quantile's for absolute
and pinball, every listed action otherwise; for f(a) + ω·g(a) on an interval, where the posterior enters through its mean
alone, the bottom of a convex curve, with what its slope there could still hide taken off.

Losses are computed with their rounding errors (`Near`); min ℓ is a lower side, and the same one in floor and regret, so
that what it is off by cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.certify.value.path import Band
from discreet.errors import InputError
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Recommendation
from discreet.model.decision import Decision
from discreet.model.expression import Node, affine_parts, as_fraction, derivative
from discreet.model.losses import AbsoluteLoss, FormulaLoss, PinballLoss, SquaredLoss
from discreet.numerics.brackets import float_down, float_up
from discreet.numerics.near import Near, larger
from discreet.numerics.polynomials import add, differentiated, multiply, somewhere_negative, subtract
from discreet.numerics.roundings import drift

Slope = Callable[[Near, Near], Near]


def loss(decision: Decision, a: Near, omega: Near) -> Near:
    """−u(a, ω) for decisions whose actions are numbers."""
    judged, short = decision.loss, omega - a
    if isinstance(judged, FormulaLoss):
        return -_folded(judged.formula)({"a": a, "omega": omega}) + 0.0 * omega
    if isinstance(judged, SquaredLoss):
        return short * short
    if isinstance(judged, AbsoluteLoss):
        return abs(short)
    if isinstance(judged, PinballLoss):
        return larger(float(judged.level) * short, -float(1 - judged.level) * short)
    raise InputError(
        "This decision has no formula in numbers",
        found=judged.kind,
        allowed="a loss or an expression",
        remedy="use a table of payoffs for few respondents",
    )


def least_loss(decision: Decision, omegas: Sequence[Fraction]) -> np.ndarray:
    """A lower side of min_a ℓ(a, ω) for each ω, in floats."""
    if isinstance(decision.actions, RealActions):
        if decision.is_loss:
            low, high = decision.actions.lower, decision.actions.upper
            clipped = [max(w, low) if low is not None else w for w in omegas]
            clipped = [min(w, high) if high is not None else w for w in clipped]
            return np.array([float_down(-decision.payoff(a, w)) for a, w in zip(clipped, omegas, strict=True)])
        means = Near.of(omegas)
        best, slack = _bottom(decision, means, omegas)
        return (loss(decision, Near.exactly(best), means) - Near.exactly(slack)).low
    if decision.is_loss and isinstance(decision.actions, ListedActions):
        at, numbers = Near.of(omegas), _listed(decision.actions)
        near = np.clip(np.searchsorted(numbers.value, at.value), 1, max(len(numbers.value) - 1, 1))
        beside = (near - 1, np.minimum(near, len(numbers.value) - 1))
        return np.maximum(np.minimum(*(loss(decision, numbers.at(k), at).low for k in beside)), 0.0)
    return np.array([float_down(-decision.loss.largest_payoff(w, decision.actions)) for w in omegas])


def followed(
    decision: Decision, band: Band, exact: Sequence[Fraction], least: np.ndarray, actions: Sequence[Recommendation]
) -> float:
    """An upper side of Σ over the band of joint mass × regret when output k is followed by the k-th of `actions`."""
    at = band.at
    if _judged_one_by_one(decision):
        assert not isinstance(decision.actions, RealActions)
        rows = np.array([decision.actions.position(a) for a in actions if not isinstance(a, tuple)])
        regret = regret_table(decision, exact)[rows[:, None], at]
    else:
        chosen = Near.of([a for a in actions if isinstance(a, Fraction)]).at((slice(None), None))
        suffered = loss(decision, chosen, Near.of(exact).at(at))
        regret = np.maximum((suffered - _exactly(least[at])).high, 0.0)
    return float((band.joint * regret).sum())


def best_actions(decision: Decision, band: Band, omegas: np.ndarray) -> list[np.ndarray]:
    """For each output a few numbers among which its best action lies (for listed actions), or is close to."""
    middles: tuple[np.ndarray, ...] = (_means(band, omegas),)
    if decision.loss.quantile is not None:
        middles = _quantiles(band.joint, omegas[band.at], decision.loss.quantile)[:2]
    elif isinstance(decision.loss, FormulaLoss):
        ends = [Fraction(float(end)) for end in (omegas.min(), omegas.max())]
        return [_bottom(decision, Near.exactly(middles[0]), ends)[0]]
    if isinstance(decision.actions, RealActions):
        low = -np.inf if decision.actions.lower is None else float_down(decision.actions.lower)
        high = np.inf if decision.actions.upper is None else float_up(decision.actions.upper)
        return [np.clip(middle, low, high) for middle in middles]
    numbers = np.array([float(a) for a in decision.listed.numbers])
    last = len(numbers) - 1
    rights = [np.clip(np.searchsorted(numbers, middle), 0, last) for middle in middles]
    return [numbers[np.clip(right + by, 0, last)] for right in rights for by in (-1, 0, 1)]


def least_followed(decision: Decision, band: Band, exact: Sequence[Fraction], least: np.ndarray) -> float:
    """A lower side of Σ_k min_a Σ_c P(k, c)·regret(a, ω_c), up to the band's relative error."""
    at = band.at
    if _judged_one_by_one(decision):
        each = np.stack([(band.joint * row[at]).sum(axis=1) for row in regret_table(decision, exact)])
        return float(each.min(axis=0).sum())
    values = Near.of(exact)
    omegas = values.value
    off = float(_listed(decision.actions).error.max()) if isinstance(decision.actions, ListedActions) else 0.0
    here = values.at(at)
    each = np.stack(
        [
            (band.joint * np.maximum((_loss_at(decision, a, off, here) - _exactly(least[at])).low, 0.0)).sum(axis=1)
            for a in best_actions(decision, band, omegas)
        ]
    )
    return float((each.min(axis=0) - band.joint.sum(axis=1) * _hidden(decision, band, values, exact)).sum())


def _loss_at(decision: Decision, actions: np.ndarray, off: float, omegas: Near) -> Near:
    return loss(decision, Near(actions[:, None], np.full((len(actions), 1), off)), omegas)


def _hidden(decision: Decision, band: Band, values: Near, exact: Sequence[Fraction]) -> np.ndarray:
    """How far, for each output, the least expected loss may lie below that of its candidates."""
    omegas = values.value
    # the float mean misses the true one by at most its relative error times the spread of ω, and its own rounding
    miss = band.error * float(np.ptp(omegas)) + drift(8) * float(np.abs(omegas).max()) + float(values.error.max())
    if isinstance(decision.loss, FormulaLoss):
        means = _means(band, omegas)
        return _bottom(decision, Near(means, np.full_like(means, miss)), exact)[1]
    error = decision.distance
    if error.quantile is None:
        return np.full(len(band.outputs), 4 * miss * miss)
    low, high, steep = _quantiles(band.joint, omegas[band.at], error.quantile)
    return error.pinballs * steep * (high - low)


def _means(band: Band, omegas: np.ndarray) -> np.ndarray:
    values, mass = omegas[band.at], band.joint.sum(axis=1)
    safe = np.where(mass > 0, mass, 1.0)
    middle = (band.joint * values).sum(axis=1) / safe
    # a second pass around the first removes the cancellation of large numbers
    return np.asarray(middle + (band.joint * (values - middle[:, None])).sum(axis=1) / safe)


def _quantiles(joint: np.ndarray, values: np.ndarray, q: Fraction) -> tuple[np.ndarray, np.ndarray, float]:
    """Two values between which each row's q-quantile lies, the same unless rounding decides, and the slope between.

    The smaller of q and 1−q is compared, with the mass on its own side: both keep their relative precision.
    """
    order = 1 if values[0, -1] >= values[0, 0] else -1
    ascending, sorted_values = joint[:, ::order], values[:, ::order]
    size = values.shape[1]
    tolerance = drift(8 * (size + 8))
    share = min(q, 1 - q)
    running = np.cumsum(ascending if 2 * q <= 1 else ascending[:, ::-1], axis=1)
    aims = [float(share) * running[:, -1:] * (1 + sign * tolerance) for sign in (-1, 1)]
    if 2 * q <= 1:
        places = [(running < aim).sum(axis=1) for aim in aims]
    else:
        # running[j] is the mass of the j+1 largest: the quantile lies below all whose mass is at most 1−q
        places = [size - 1 - (running <= aim).sum(axis=1) for aim in reversed(aims)]
    rows = np.arange(len(values))
    low, high = (sorted_values[rows, np.clip(place, 0, size - 1)] for place in places)
    return low, high, 4 * tolerance * float(share)


def _judged_one_by_one(decision: Decision) -> bool:
    """Whether the payoff has no formula that tells which of the listed actions are worth a look."""
    return not decision.is_loss and not isinstance(decision.actions, RealActions)


def regret_table(decision: Decision, omegas: Sequence[Fraction]) -> np.ndarray:
    """ℓ(a, ω) − min_a′ ℓ(a′, ω) [action, ω] of listed actions: exact differences, then floats."""
    assert not isinstance(decision.actions, RealActions)
    columns = [[-decision.payoff(a, w) for a in decision.actions] for w in omegas]
    return np.array([[float(loss - min(column)) for loss in column] for column in columns]).T


def _listed(actions: ListedActions) -> Near:
    """All actions with the largest error of any, so that the nearest float is near enough."""
    numbers = Near.of(actions.numbers)
    return Near(numbers.value, np.full_like(numbers.error, numbers.error.max()))


def _exactly(values: np.ndarray) -> Near:
    return Near.exactly(values)


def _bottom(decision: Decision, means: Near, omegas: Sequence[Fraction]) -> tuple[np.ndarray, np.ndarray]:
    """The action that minimises −f(a) − m·g(a) for each mean m, and how far below its loss the minimum could lie."""
    lower, upper = decision.interval.ends
    slope = _convex_slope(decision, lower, upper, omegas)
    first, last = float_up(lower), float_down(upper)
    if first > last:
        raise InputError(
            "The range of actions is too narrow",
            found="less than a float can tell",
            allowed="a wider range",
            remedy="list the actions",
        )
    low, high = np.full(len(means.value), first), np.full(len(means.value), last)
    middles = Near.exactly(means.value)
    for _ in range(200):
        middle = (low + high) / 2
        if np.all((middle <= low) | (middle >= high)):
            break
        rising = slope(Near.exactly(middle), middles).value > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    best = np.clip((low + high) / 2, first, last)
    at = slope(Near.exactly(best), means)
    # convex: f(a) ≥ f(a*) + f′(a*)(a − a*)
    below = np.maximum(at.high, 0.0) * (Near.exactly(best) - Near.of([lower])).high
    above = np.maximum(-at.low, 0.0) * (Near.of([upper]) - Near.exactly(best)).high
    return best, np.maximum(below, above) * (1 + drift(4))


def _convex_slope(decision: Decision, lower: Fraction, upper: Fraction, omegas: Sequence[Fraction]) -> Slope:
    """d/da of the loss, after proving that the loss is convex in a at the smallest and the largest ω (so at all means)."""
    formula = decision.formula.formula
    if not all(_convex(formula, lower, upper, omega) for omega in {min(omegas), max(omegas)}):
        raise _not_convex(decision.formula)
    f1, g1 = _slopes(formula)
    return lambda a, m: -(f1({"a": a}) + m * g1({"a": a})) + 0.0 * m


@lru_cache(maxsize=64)
def _slopes(formula: Node) -> tuple[Node, Node]:
    """f′ and g′ of f(a) + ω·g(a) without kinks."""
    f1, g1 = (derivative(part, "a") for part in affine_parts(formula) or ())
    assert f1 is not None and g1 is not None
    return _folded(f1), _folded(g1)


@lru_cache(maxsize=64)
def _convex(formula: Node, lower: Fraction, upper: Fraction, omega: Fraction) -> bool:
    """Whether −(f + ω·g) is convex: for u = n/d the sign of u″ is that of ((n″d − nd″)d − 2d′(n′d − nd′))·d."""
    parts = affine_parts(formula)
    whole = None if parts is None else Node("+", (parts[0], Node("*", (Node("number", number=omega), parts[1]))))
    fraction = None if whole is None else as_fraction(whole)
    if fraction is None:
        return False
    n, d = fraction
    n1, d1 = differentiated(n), differentiated(d)
    n2, d2 = differentiated(n1), differentiated(d1)
    bent = multiply(subtract(multiply(n2, d), multiply(n, d2)), d)
    turned = multiply(d1, subtract(multiply(n1, d), multiply(n, d1)))
    rising = multiply(subtract(bent, add(turned, turned)), d) if d1 else multiply(n2, d)
    return somewhere_negative(tuple(-c for c in rising), lower, upper) is None


def _folded(node: Node) -> Node:
    """The same tree with every part that holds no variable computed exactly."""
    if node.operator == "number" or node.variable is not None:
        return node
    if not node.depends_on("a") and not node.depends_on("omega"):
        return Node("number", number=node({}))
    return Node(node.operator, tuple(_folded(operand) for operand in node.operands))


def _not_convex(loss: FormulaLoss) -> InputError:
    return InputError(
        "For real actions the payoff must be concave in a over their range",
        found=loss.text,
        allowed="for instance -omega/a - 0.1*a for a > 0",
        remedy="list the actions, or give { from, to, step }",
    )
