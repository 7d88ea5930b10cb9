"""Zero-concentrated differential privacy: the smallest ρ with D_α ≤ ρα for every order α > 1.

With t = α − 1 and K(t) = log Σ p e^(tL), convex with K(0) = 0,

    ρ = max over edges of sup_{t>0} K(t) / (t(1+t)).

Between two points a convex K lies below its chord c₁t − k, so on [t₁, t₂] the quotient is at most that of the
chord, which has its peak at t = (k + √(k² + c₁k))/c₁. Intervals of all edges are split until no chord rises above
the best point by more than `RELATIVE_WIDTH`. Beyond T = ε*/ρ − 1 nothing can win, because D_α ≤ ε*; at t → 0 the
quotient is relative entropy. Reference: Bun & Steinke (2016), Def. 1.1.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.currencies.bracket import INFINITE, ZERO, Bracket, Worst
from discreet.currencies.channel import Array, Channel, channel_of
from discreet.currencies.divergences import log_moments, pair_renyi, relative_entropy
from discreet.currencies.formulas import relative_entropy as pure_entropy
from discreet.currencies.pair import Pair
from discreet.currencies.tight import tight_epsilon
from discreet.model.mechanism import Mechanism

RELATIVE_WIDTH = 1e-9
ROUNDS = 60
FIRST_POINT = 1e-9
MOST_INTERVALS = 1 << 18
SHORTEST = 1e-14


def rho(source: Mechanism | Channel) -> Worst:
    """The smallest ρ of a mechanism with its worst edge; infinite when some loss is."""
    channel = channel_of(source)
    tight = tight_epsilon(channel)
    if tight.ratio is None:
        return Worst(INFINITE, tight.edge)
    if tight.ratio == 1:
        return Worst(ZERO)
    entropy = relative_entropy(channel)
    search = _Search(channel, entropy.lower, entropy.edge)
    # D_α ≤ ε* gives K(t)/(t(1+t)) ≤ ε*/(1+t), which is below the best beyond the last point.
    last = max(tight.upper / max(entropy.lower, 1e-300) - 1, 1e-6) * (1 + 1e-12)
    search.start(np.unique(np.concatenate([[FIRST_POINT], np.geomspace(1e-6, max(last, 2e-6), 24)])))
    for _ in range(ROUNDS):
        if not search.split():
            break
    # Where all rows nearly agree floats say little; what every ε*-DP mechanism satisfies then says more.
    ceiling = pure_entropy(Fraction(tight.upper)).upper
    lower, upper = search.lower * (1 - 2.0**-50), search.upper() * (1 + 2.0**-50)
    return Worst(Bracket(lower, max(min(upper, ceiling), lower)), search.edge)


class _Search:
    """Intervals of t, each of one directed edge, whose chords still rise above the best point found."""

    def __init__(self, channel: Channel, lower: float, edge: tuple[str, str] | None) -> None:
        self.channel, self.lower, self.edge = channel, lower, edge
        self.closed = lower
        none = np.zeros(0)
        self.left, self.right, self.low, self.high = none, none, none, none
        self.owner = np.zeros(0, dtype=np.int64)

    def start(self, points: Array) -> None:
        """Intervals between 0 and the given points, for every directed edge."""
        every = np.arange(self.channel.directed)
        left, low = np.zeros(len(every)), np.zeros(len(every))
        for t in points.tolist():
            right = np.full(len(every), t)
            high = self._look(every, right)
            self._keep(left, right, low, high, every)
            left, low = right, high

    def split(self) -> bool:
        """Halve every open interval; False when none is left or they are too many or too short to go on."""
        self._close()
        if not 0 < len(self.owner) <= MOST_INTERVALS or float(self.right.min()) < SHORTEST:
            return False
        left, right, low, high, owner = self.left, self.right, self.low, self.high, self.owner
        middle = np.where(left > 0, np.sqrt(left * right), right / 16)
        between = self._look(owner, middle)
        self.left = self.right = self.low = self.high = np.zeros(0)
        self.owner = owner[:0]
        self._keep(left, middle, low, between, owner)
        self._keep(middle, right, between, high, owner)
        return True

    def upper(self) -> float:
        """What no edge exceeds at any t."""
        return max(self.lower, self.closed, float(self._peaks().max(initial=0.0)))

    def _look(self, owner: NDArray[np.int64], t: Array) -> Array:
        """Upper floats of K(t); the best quotient so far is remembered."""
        down, up = moment_ends(self.channel, owner, t)
        quotients = down / t / (1 + t)
        at = int(np.argmax(quotients))
        if quotients[at] > self.lower:
            self.lower, self.edge = float(quotients[at]), self.channel.edge_labels(int(owner[at]))
        return up

    def _keep(self, left: Array, right: Array, low: Array, high: Array, owner: NDArray[np.int64]) -> None:
        self.left, self.right = np.concatenate([self.left, left]), np.concatenate([self.right, right])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        self.owner = np.concatenate([self.owner, owner])

    def _close(self) -> None:
        peaks = self._peaks()
        still = peaks > self.lower * (1 + RELATIVE_WIDTH)
        self.closed = max(self.closed, float(peaks[~still].max(initial=0.0)))
        self.left, self.right, self.owner = self.left[still], self.right[still], self.owner[still]
        self.low, self.high = self.low[still], self.high[still]

    def _peaks(self) -> Array:
        return _chord_peaks(self.left, self.right, self.low, self.high)


def pair_quotient(pair: Pair, order: Fraction) -> Bracket:
    """D_α/α of one pair in one direction: a lower bound of its ρ."""
    found = pair_renyi(pair, order)
    return Bracket(found.lower / float(order) * (1 - 2.0**-50), found.upper / float(order) * (1 + 2.0**-50))


def moment_ends(channel: Channel, directions: NDArray[np.int64], t: Array) -> tuple[Array, Array]:
    """Lower and upper floats of K(t) for directed edges, one t each."""
    lower, upper = np.zeros(len(directions)), np.zeros(len(directions))
    logs, plain = channel.logs.T, channel.probabilities.T
    size = max((1 << 20) // max(len(channel.outputs), 1), 1)
    for start in range(0, len(directions), size):
        here = slice(start, start + size)
        chosen = directions[here]
        edges, way = channel.edges[chosen % len(channel.edges)], chosen >= len(channel.edges)
        first, second = np.where(way, edges[:, 1], edges[:, 0]), np.where(way, edges[:, 0], edges[:, 1])
        with np.errstate(invalid="ignore"):
            losses = logs[first] - logs[second]
        losses[np.isnan(losses) | np.isneginf(losses)] = 0.0
        values, errors = log_moments(plain[first], logs[first], losses, t[here], channel.log_error)
        lower[here], upper[here] = np.maximum(values - errors, 0.0), np.where(t[here] > 0, values + errors, 0.0)
    return lower, upper


def _chord_peaks(left: Array, right: Array, low: Array, high: Array) -> Array:
    """The largest value of chord(t)/(t(1+t)) on each interval [left, right]."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.maximum((high - low) / (right - left), 0.0)
        depth = np.maximum(slope * left - low, 0.0)
        peak = np.where(slope > 0, (depth + np.sqrt(depth * depth + slope * depth)) / slope, left)
        at = np.clip(peak, left, right)
        value = np.where(at > 0, (slope * at - depth) / (at * (1 + at)), slope)
    return np.where(np.isnan(value), math.inf, value)
