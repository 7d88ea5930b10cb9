"""The smallest ρ with D_α ≤ ρα for every order α > 1, over all edges of a table, from both sides.

With t = α − 1 and K(t) = log Σ p e^(tL), convex with K(0) = 0,

    ρ = max over directed edges of sup_{t>0} K(t) / (t(1+t)).

Between two points a convex K lies below its chord c₁t − k, so on [t₁, t₂] the quotient is at most that of the
chord, which has its peak at t = (k + √(k² + c₁k))/c₁. Intervals of all edges are split until no chord rises above
the best point by more than `RELATIVE_WIDTH`. Beyond T = ε*/ρ − 1 nothing can win, because D_α ≤ ε*.
Floats with counted roundings (`moments`); the sign of every rounding is taken outward. Reference: Bun & Steinke (2016), Def. 1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.moments import log_moments
from discreet.numerics.outward import ball

if TYPE_CHECKING:
    from flint import arb

RELATIVE_WIDTH = 1e-9
ROUNDS = 60
FIRST_POINT = 1e-9
MOST_INTERVALS = 1 << 18
SHORTEST = 1e-14
CHUNK = 1 << 20
PEAK_SLACK = 1e-12
"""Relative: a peak's place is known to 10^-7 or better, so its height, flat there, to 10^-14; its sums have no cancellation."""


def pure_rho_ball(epsilon: Fraction) -> arb:
    """ε·tanh(ε/2): the largest relative entropy, and the largest ρ, of ε-private mechanisms (CY; Bun & Steinke, Prop. 3.3)."""
    return ball(epsilon) * ball(epsilon / 2).tanh()


@dataclass(frozen=True, eq=False)
class Rows:
    """Probabilities and their logarithms [output, state] with a bound on the logarithms' errors, and edges between states."""

    probabilities: Floats
    logs: Floats
    edges: Integers
    log_error: float

    def states(self, directions: Integers) -> tuple[Integers, Integers]:
        """States (of p, of q) of directed edges: the edges as listed first, then all of them reversed."""
        edges, turned = self.edges[directions % len(self.edges)], directions >= len(self.edges)
        return np.where(turned, edges[:, 1], edges[:, 0]), np.where(turned, edges[:, 0], edges[:, 1])

    def moment_ends(self, directions: Integers, t: Floats) -> tuple[Floats, Floats]:
        """Lower and upper floats of K(t) for directed edges, one t each."""
        lower, upper = np.zeros(len(directions)), np.zeros(len(directions))
        logs, plain = self.logs.T, self.probabilities.T
        size = max(CHUNK // max(len(self.logs), 1), 1)
        for start in range(0, len(directions), size):
            here = slice(start, start + size)
            first, second = self.states(directions[here])
            with np.errstate(invalid="ignore"):
                losses = logs[first] - logs[second]
            losses[np.isnan(losses) | np.isneginf(losses)] = 0.0
            values, errors = log_moments(plain[first], logs[first], losses, t[here], self.log_error)
            lower[here], upper[here] = np.maximum(values - errors, 0.0), np.where(t[here] > 0, values + errors, 0.0)
        return lower, upper


@dataclass(frozen=True)
class RhoBracket:
    """lower ≤ ρ ≤ upper; the lower side is attained by a directed edge at an order, or known beforehand when `at` is None."""

    lower: float
    upper: float
    at: tuple[int, float] | None


def rho_bracket(rows: Rows, largest_loss: float, known: float = 0.0, points: int = 24) -> RhoBracket:
    """ρ of rows whose losses are all finite and at most `largest_loss`; `known` is a proved lower bound to start from.

    Every edge is looked at in `points` orders first: few where there are many edges, most of which cannot win.
    """
    search = _Search(rows, known)
    every = np.arange(2 * len(rows.edges))
    search.look(every, np.ones(len(every)))
    # D_α ≤ ε* gives K(t)/(t(1+t)) ≤ ε*/(1+t), which is below the best beyond the last point.
    last = max(largest_loss / max(search.lower, 1e-300) - 1, 1e-6) * (1 + 1e-12)
    search.start(np.unique(np.concatenate([[FIRST_POINT], np.geomspace(1e-6, max(last, 2e-6), points)])))
    for _ in range(ROUNDS):
        if not search.split():
            break
    return RhoBracket(search.lower * (1 - 2.0**-50), search.upper() * (1 + 2.0**-50), search.at)


class _Search:
    """Intervals of t, each of one directed edge, whose chords still rise above the best point found."""

    def __init__(self, rows: Rows, lower: float) -> None:
        self.rows, self.lower, self.closed = rows, lower, lower
        self.at: tuple[int, float] | None = None
        none = np.zeros(0)
        self.left, self.right, self.low, self.high = none, none, none, none
        self.owner = np.zeros(0, dtype=np.int64)

    def start(self, points: Floats) -> None:
        """Intervals between 0 and the given points, for every directed edge."""
        every = np.arange(2 * len(self.rows.edges))
        left, low = np.zeros(len(every)), np.zeros(len(every))
        for t in points.tolist():
            right = np.full(len(every), t)
            high = self.look(every, right)
            self._keep(left, right, low, high, every)
            left, low = right, high

    def split(self) -> bool:
        """Halve every open interval; False when none is left or they are too many or too short to go on."""
        self._close()
        if not 0 < len(self.owner) <= MOST_INTERVALS or float(self.right.min()) < SHORTEST:
            return False
        left, right, low, high, owner = self.left, self.right, self.low, self.high, self.owner
        middle = np.where(left > 0, np.sqrt(left * right), right / 16)
        between = self.look(owner, middle)
        self.left = self.right = self.low = self.high = np.zeros(0)
        self.owner = owner[:0]
        self._keep(left, middle, low, between, owner)
        self._keep(middle, right, between, high, owner)
        return True

    def upper(self) -> float:
        """What no edge exceeds at any t."""
        return max(self.lower, self.closed, float(self._peaks().max(initial=0.0)))

    def look(self, owner: Integers, t: Floats) -> Floats:
        """Upper floats of K(t); the best quotient so far is remembered."""
        down, up = self.rows.moment_ends(owner, t)
        quotients = down / t / (1 + t)
        at = int(np.argmax(quotients)) if len(quotients) else -1
        if at >= 0 and quotients[at] > self.lower:
            self.lower, self.at = float(quotients[at]), (int(owner[at]), 1 + float(t[at]))
        return up

    def _keep(self, left: Floats, right: Floats, low: Floats, high: Floats, owner: Integers) -> None:
        self.left, self.right = np.concatenate([self.left, left]), np.concatenate([self.right, right])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        self.owner = np.concatenate([self.owner, owner])

    def _close(self) -> None:
        peaks = self._peaks()
        still = peaks > self.lower * (1 + RELATIVE_WIDTH)
        self.closed = max(self.closed, float(peaks[~still].max(initial=0.0)))
        self.left, self.right, self.owner = self.left[still], self.right[still], self.owner[still]
        self.low, self.high = self.low[still], self.high[still]

    def _peaks(self) -> Floats:
        return _chord_peaks(self.left, self.right, self.low, self.high)


def _chord_peaks(left: Floats, right: Floats, low: Floats, high: Floats) -> Floats:
    """The largest value of chord(t)/(t(1+t)) on each interval [left, right]."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.maximum((high - low) / (right - left), 0.0)
        depth = np.maximum(slope * left - low, 0.0)
        peak = np.where(slope > 0, (depth + np.sqrt(depth * depth + slope * depth)) / slope, left)
        at = np.clip(peak, left, right)
        value = np.where(at > 0, (low + slope * (at - left)) / (at * (1 + at)), slope)
    return np.where(np.isnan(value), math.inf, value * (1 + PEAK_SLACK))
