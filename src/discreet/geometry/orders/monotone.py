"""Who prefers which, among those to whom a higher statistic means a higher action (supermodular payoffs).

Blackwell's order and UPRR (SY Thm 4) are each enough for all of them to prefer one channel; neither is necessary, so where
both fail nothing follows. What does follow is shown by a decision: act when ω reaches a cut, with payoff 1 above it and −r
below, is one of theirs. Its value is f(r) = Σ_s max(P(s, ω ≥ cut) − r·P(s, ω < cut), 0), piecewise linear in r, so two channels
are compared at the kinks of both. Floats choose the cut and r, and the advantage is then computed exactly.

Reference: SY section 5.2; Lehmann (1988) for cuts as tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.geometry.beliefs import Belief
from discreet.geometry.channel import Channel
from discreet.geometry.orders.blackwell import LEAST_ADVANTAGE, value_of
from discreet.numerics.arrays import Floats


@dataclass(frozen=True)
class CutDecision:
    """Acting from state number `cut` on: payoff × prior [action][state], and by how much the other channel is worth more."""

    cut: int
    payoff: tuple[tuple[Fraction, ...], ...]
    advantage: Fraction


def cut_against(ours: Channel, theirs: Channel, prior: Belief, *, exact: bool = True) -> CutDecision | None:
    """A decision with a cut for which the second channel is worth more, or None when none was found."""
    chances = np.array([float(p) for p in prior])
    joints = [np.array([[float(p) for p in row] for row in channel.rows]) * chances for channel in (ours, theirs)]
    best: tuple[float, int, float] | None = None
    for cut in range(1, len(chances)):
        above = [joint[:, cut:].sum(axis=1) for joint in joints]
        below = [joint[:, :cut].sum(axis=1) for joint in joints]
        kinks = _kinks(above, below)
        gains = _values(above[1], below[1], kinks) - _values(above[0], below[0], kinks)
        # Relative to what is at stake at this r, so that rare states count as well.
        at = int(np.argmax(gains / (1 + kinks)))
        if best is None or gains[at] / (1 + kinks[at]) > best[0]:
            best = float(gains[at] / (1 + kinks[at])), cut, float(kinks[at])
    if best is None or best[0] <= 0:
        return None
    payoff = _payoff(prior, best[1], Fraction(best[2]).limit_denominator(10**6))
    advantage = value_of(theirs, payoff) - value_of(ours, payoff)
    return CutDecision(best[1], payoff, advantage) if advantage > (0 if exact else LEAST_ADVANTAGE) else None


def _kinks(above: Sequence[Floats], below: Sequence[Floats]) -> Floats:
    """The r at which some output changes sides, for either channel, and their middles."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.concatenate([a / b for a, b in zip(above, below, strict=True)])
    kinks = np.unique(ratios[np.isfinite(ratios)])
    # Rounding r may step over a kink, where the difference is largest but has a corner: points beside it are tried too.
    return np.concatenate([kinks, (kinks[1:] + kinks[:-1]) / 2]) if len(kinks) else np.array([1.0])


def _values(above: Floats, below: Floats, r: Floats) -> Floats:
    return np.asarray(np.maximum(above[:, None] - below[:, None] * r, 0.0).sum(axis=0))


def _payoff(prior: Belief, cut: int, r: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    act = tuple(p if w >= cut else -r * p for w, p in enumerate(prior))
    return (tuple(Fraction(0) for _ in prior), act)
