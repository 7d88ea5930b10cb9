"""Lower bounds on loss for real actions: multipliers at nodes, interpolated between them.

Between nodes a_k < a_{k+1} the multipliers are taken linear in a (a convex combination of non-negative multipliers is
non-negative), so each state's bracket is π·ℓ(a, ω) plus a linear function of a, and its minimum over the piece is taken
exactly: squared error is a parabola, absolute and pinball losses are straight between kinks. A payoff f(a) + ω·g(a) is bounded
by its chord and its largest bend (`affine`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from discreet.certify.duality.affine import AffinePayoff, Kink
from discreet.certify.duality.pulls import LARGEST, Looks, Pull, PullStage, added, columns, contenders, rounded
from discreet.errors import Refuted
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss

NARROW = 1e-4
"""Pieces narrower than this, relative to where they stand, are always taken exactly."""


def least_losses(decision: Decision, omegas: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """A number not above min_a ℓ(a, ω) for each value of the statistic, the decision's weight included."""
    if not decision.is_loss:
        return {
            w: decision.weight * low for w, low in _least_of_lines(replace(decision, weight=Fraction(1)), tuple(omegas)).items()
        }
    return {w: -decision.weight * decision.payoff(_nearest(decision, w), w) for w in omegas}


@lru_cache(maxsize=4)
def _least_of_lines(decision: Decision, omegas: tuple[Fraction, ...]) -> Mapping[Fraction, Fraction]:
    """What a payoff f(a) + ω·g(a) loses at least, remembered: bounds of every route ask for it at the same values."""
    return AffinePayoff.of(decision).least_losses(omegas)


def over_pieces(
    decision: Decision,
    omega_range: tuple[Fraction, Fraction],
    stage: PullStage,
    least: dict[Fraction, Fraction],
    pulls: Sequence[Pull],
    looks: Looks | None = None,
) -> Fraction:
    """Σ over box states of the least [π·regret − Gᵀf] over all pieces between action nodes."""
    numbers = [pull.action for pull in pulls if isinstance(pull.action, Fraction)]
    if len(numbers) != len(pulls) or any(a >= b for a, b in pairwise(numbers)):
        raise Refuted("the action nodes of the witness are not ascending numbers", "nodes")
    # actions beyond the statistic's range are never better than the nearest end of it, clipped to what is allowed
    low, high = (_nearest(decision, end) for end in omega_range)
    bends: list[Kink] = []
    parts = np.zeros((2, 0))
    if not decision.is_loss:
        payoff = AffinePayoff.of(decision)
        low, high = payoff.low, payoff.high
        bends = payoff.bends(numbers)
        parts = payoff.parts(numbers)
    if not numbers or numbers[0] > low or numbers[-1] < high:
        raise Refuted("the action nodes of the witness leave out actions", f"nodes must reach from {low} to {high}")
    looks = looks or Looks()
    looks.begin(len(pulls), len(stage.inside))
    ends = np.array([float(a) for a in numbers])
    strange = bool(max(np.abs(ends).max(), np.abs(parts).max(initial=0.0)) > LARGEST)
    heights = [Fraction(0)] * len(numbers)
    total = Fraction(0)
    for h, (state, pulled) in enumerate(zip(stage.inside, columns(pulls, len(stage.inside)), strict=True)):
        mass, omega = rounded(stage.masses[state]), stage.omegas[state]
        weighted, shift = decision.weight * mass, mass * least[omega]
        bulges = [weighted * bend.bulge(omega) for bend in bends]
        if bends:
            rough, size = _rough_chords(float(weighted), float(omega), parts, -pulled, bulges)
        else:
            rough, size = _rough_pieces(decision, float(weighted), float(omega), ends, -pulled)
        if strange or abs(omega) > LARGEST or 0 < weighted < 1 / LARGEST**14 or weighted > LARGEST:
            size = np.inf
        looks.closely(len(near := contenders(rough, size)))
        for k in near:
            heights[k : k + 2] = (-pull.exactly(h) - shift for pull in pulls[k : k + 2])
        pieces = (
            _least_on_piece(decision, weighted, omega, numbers[k : k + 2], heights[k : k + 2], bulges[k : k + 1]) for k in near
        )
        total = added(total, min(pieces))
    return total


def _rough_chords(
    mass: float, omega: float, parts: np.ndarray, heights: np.ndarray, bulges: Sequence[Fraction]
) -> tuple[np.ndarray, float]:
    """`_rough_pieces` of f(a) + ω·g(a), from f and g rounded once: a formula computed in floats may cancel to anything."""
    f, g = mass * parts[0], mass * (omega * parts[1])
    at_ends, below = heights - f - g, np.array([float(bulge) for bulge in bulges])
    size = float((np.abs(f) + np.abs(g) + np.abs(heights)).max()) + float(below.max())
    return np.minimum(at_ends[:-1], at_ends[1:]) - below, size


def _rough_pieces(decision: Decision, mass: float, omega: float, ends: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, float]:
    """`_least_on_piece` for all pieces in floats and the size of their terms, to tell which deserve the exact one."""
    losses = mass * decision.loss.table(ends, np.array([omega]))[:, 0]
    at_ends = losses + heights
    size = float((np.abs(losses) + np.abs(heights)).max())
    if len(ends) == 1:
        return at_ends, size
    a, b, y, z = ends[:-1], ends[1:], heights[:-1], heights[1:]
    narrow = b - a <= NARROW * np.maximum(np.abs(a), np.abs(b))
    slope = (z - y) / np.where(narrow, 1.0, b - a)
    if isinstance(decision.loss, SquaredLoss):
        with np.errstate(over="ignore"):
            turn = np.clip(omega - slope / (2 * mass) if mass > 0 else a, a, b)
    else:
        turn = np.clip(omega, a, b)
    inner = mass * decision.loss.table(turn, np.array([omega]))[:, 0] + y + slope * (turn - a)
    best = np.minimum(np.minimum(at_ends[:-1], at_ends[1:]), inner)
    return np.where(narrow, np.nan, best), size


def _least_on_piece(
    decision: Decision,
    mass: Fraction,
    omega: Fraction,
    ends: Sequence[Fraction],
    heights: Sequence[Fraction],
    bulge: Sequence[Fraction] = (),
) -> Fraction:
    """min over a in the piece of mass·ℓ(a, ω) + the straight line through the heights at its ends, or a number below it."""

    def at_ends() -> Fraction:
        return min(-mass * decision.payoff(a, omega) + y for a, y in zip(ends, heights, strict=True))

    if len(ends) == 1:
        return at_ends()
    if bulge:
        return at_ends() - bulge[0]
    (a, b), (y, z) = ends, heights
    slope = (z - y) / (b - a)
    if isinstance(decision.loss, SquaredLoss) and mass:
        turn = omega - slope / (2 * mass)
        if a < turn < b:
            return y + slope * ((turn + omega) / 2 - a)
    elif a < omega < b:  # a kink; on a straight line nothing
        return min(at_ends(), y + slope * (omega - a))
    return at_ends()


def _nearest(decision: Decision, omega: Fraction) -> Fraction:
    return decision.interval.nearest(omega)
