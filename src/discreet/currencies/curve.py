"""The attack curve of a mechanism: the concave hull of (Q(A), P(A)) over all edges, directions and events.

A point says: some attacker flags a true neighbour Q with probability a (false alarms) and P with probability b.
For one edge the corners are the Neyman-Pearson events {L ≥ t}. The hull over all edges is everything at once:

    δ(ε) = max over corners of b − e^ε a,        f(α) = 1 − b at α = a, linear in between.

Here f is the largest trade-off function below those of all edges, the one that f-DP asks for. It is a float
computation with a proved error: sums of n correctly rounded probabilities, losses that may be sorted wrongly
when they are within the error of the logarithms, and corners that are dropped when they stand out by less than
`DROPPED`; all of it is relative to b.

Notation: a → false alarms (FPR, α), b → hits (1 − FNR, 1 − β). Reference: CY (detection); Dong, Roth & Su (2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.currencies.channel import Edges, LossChannel
from discreet.numerics.arrays import Floats, Integers

DROPPED = 2.0**-46
TINIEST = 1e-307
"""Probabilities below this may have lost digits; n of them are added to every error."""


@dataclass(frozen=True, eq=False)
class AttackCurve:
    """Corners in order of rising false alarms; `directions` name the directed edge of each (−1 at the ends).

    True corners lie within `relative_error`·b + `absolute_error` of these, in every δ(ε) and in both coordinates.
    """

    false_alarms: Floats
    hits: Floats
    directions: Integers
    relative_error: float
    absolute_error: float

    def delta_ends(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Lower and upper δ at each ε ≥ 0, rounded outward."""
        growth = np.exp(np.minimum(epsilons, 700.0))[:, None]
        with np.errstate(over="ignore"):
            values = self.hits - growth * self.false_alarms
        margin = (self.relative_error + 2.0**-48) * self.hits + self.absolute_error
        upper = np.clip((values + margin).max(axis=1), 0.0, 1.0)
        lower = np.clip((values - margin).max(axis=1), 0.0, 1.0)
        return np.where(epsilons > 700.0, 0.0, lower), upper

    def slopes(self) -> Floats:
        """e^ε at the kinks: hits gained for each false alarm between one corner and the next, falling."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.diff(self.hits) / np.diff(self.false_alarms))


def attack_curve(channel: LossChannel) -> AttackCurve:
    """The hull over all edges in both directions."""
    count = len(channel.outputs)
    relative = 4 * (count + 8) * 2.0**-53 + 4 * channel.log_error + 2 * DROPPED
    hull = _Hull()
    at = 0
    for edges in channel.chunks():
        for sign, (alarms, hits) in enumerate(edge_corners(channel, edges)):
            hull.add(alarms, hits, at + sign * len(channel.edges))
        at += len(edges)
    a, b, directions = hull.corners()
    return AttackCurve(a, b, directions, relative, 2 * count * TINIEST)


def edge_corners(channel: LossChannel, edges: Edges) -> list[tuple[Floats, Floats]]:
    """(false alarms, hits) as [edge, corner] for both directions: running sums by falling loss, from each end."""
    logs, plain = np.ascontiguousarray(channel.logs.T), np.ascontiguousarray(channel.probabilities.T)
    with np.errstate(invalid="ignore"):
        losses = logs[edges[:, 1]] - logs[edges[:, 0]]
    if np.isnan(losses.min(initial=0.0)):
        losses[np.isnan(losses)] = 0.0
    order = np.argsort(losses, axis=1)
    p = np.take_along_axis(plain[edges[:, 0]], order, axis=1)
    q = np.take_along_axis(plain[edges[:, 1]], order, axis=1)
    forward = (np.cumsum(q, axis=1), np.cumsum(p, axis=1))
    backward = (np.cumsum(p[:, ::-1], axis=1), np.cumsum(q[:, ::-1], axis=1))
    return [forward, backward]


def over_edges(channel: LossChannel, rule: Callable[[Floats, Floats], Floats]) -> Floats:
    """A rule on corners (a, b) [edge, corner], applied to every directed edge."""
    values, at = np.zeros(channel.directed), 0
    for edges in channel.chunks():
        for way, (a, b) in enumerate(edge_corners(channel, edges)):
            start = at + way * len(channel.edges)
            values[start : start + len(edges)] = rule(a, b)
        at += len(edges)
    return values


class _Hull:
    """Collects corners; only those that stand out of the hull so far by more than `DROPPED` are kept."""

    def __init__(self) -> None:
        self.a = np.array([0.0, 1.0])
        self.b = np.array([0.0, 1.0])
        self.directions = np.array([-1, -1])

    def add(self, alarms: Floats, hits: Floats, start: int) -> None:
        """Add corners [edge, corner] of the directed edges start, start + 1, …"""
        self._add_supports(alarms, hits, start)
        # Left of the first corner an attacker without false alarms stands vertical.
        inner = np.interp(alarms.ravel(), self.a, self.b).reshape(alarms.shape)
        out = hits > inner * (1 + DROPPED) + TINIEST
        edge, corner = np.nonzero(out)
        self._merge(alarms[edge, corner], hits[edge, corner], start + edge)

    def _add_supports(self, alarms: Floats, hits: Floats, start: int) -> None:
        """The corner furthest out in a few directions: enough to hide most of the others."""
        furthest = [int((hits - slope * alarms).argmax()) // alarms.shape[1] for slope in (0.5, 1.0, 2.0)]
        chosen = np.array(sorted(set(furthest)))
        corners = np.arange(alarms.shape[1])
        edge, corner = np.repeat(chosen, len(corners)), np.tile(corners, len(chosen))
        self._merge(alarms[edge, corner], hits[edge, corner], start + edge)

    def _merge(self, a: Floats, b: Floats, directions: Integers) -> None:
        all_a, all_b = np.concatenate([self.a, a]), np.concatenate([self.b, b])
        all_directions = np.concatenate([self.directions, directions])
        order = np.lexsort((-all_b, all_a))
        all_a, all_b, all_directions = all_a[order], all_b[order], all_directions[order]
        rising = np.ones(len(all_b), dtype=bool)
        rising[1:] = all_b[1:] > np.maximum.accumulate(all_b)[:-1]
        all_a, all_b, all_directions = all_a[rising], all_b[rising], all_directions[rising]
        kept = _upper_hull(all_a.tolist(), all_b.tolist())
        self.a, self.b, self.directions = all_a[kept], all_b[kept], all_directions[kept]

    def corners(self) -> tuple[Floats, Floats, Integers]:
        """Corners from (0, b₀) to (1, 1); sums that rounding carried beyond 1 are cut."""
        a, b, directions = np.minimum(self.a, 1.0), np.minimum(self.b, 1.0), self.directions
        last = int(np.argmax(b >= 1.0))
        kept = _outstanding(a[: last + 1], b[: last + 1])
        return a[kept], b[kept], directions[kept]


def _outstanding(a: Floats, b: Floats) -> list[int]:
    """The corners that stand out of the line between those kept before and after them by more than `DROPPED`."""
    kept, start = [0], 0
    while start < len(a) - 1:
        stop = start + 1
        while stop + 1 < len(a):
            between = np.arange(start + 1, stop + 1)
            run = a[stop + 1] - a[start]
            line = b[start] + (a[between] - a[start]) / run * (b[stop + 1] - b[start]) if run > 0 else b[between] * 0
            if (b[between] > line * (1 + DROPPED)).any():
                break
            stop += 1
        kept.append(stop)
        start = stop
    return kept


def _upper_hull(a: list[float], b: list[float]) -> list[int]:
    kept: list[int] = []
    for k in range(len(a)):
        while len(kept) > 1:
            i, j = kept[-2], kept[-1]
            if (b[j] - b[i]) * (a[k] - a[j]) > (b[k] - b[j]) * (a[j] - a[i]):
                break
            kept.pop()
        kept.append(k)
    return kept
