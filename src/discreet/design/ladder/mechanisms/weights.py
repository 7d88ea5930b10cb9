"""Choosing the weights of a proxy: clipping first (rung 0), then a local search over integers (rung 1).

Clipping at lo..hi costs the variance of what is cut off and saves noise:

    (lo, hi) = argmin  N Var(v - clip(v, lo, hi)) + kappa(epsilon) (hi-lo)^2,

kappa the variance of continuous staircase noise of sensitivity one.  The formula ignores that Bayes remapping
recovers part of what is cut, so its neighbourhood is searched by evaluating proxies.  Weights are integers
0..W proportional to the clipped values; W is kept fine, so that the staircase can place its plateau.

The search keeps one incumbent and tries, in turn: one type's weight up or down, all types at the top together
(a different clipping), all weights rescaled to another W.  It searches with quick Fourier convolutions, and
states the value of what it found with direct ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.design.ladder.mechanisms.noise import unit_variance
from discreet.design.ladder.mechanisms.proxy import Proxy, best_noise, lattice_weights, read_by_bayes
from discreet.design.ladder.mechanisms.sums import LARGEST_RANGE, likely_length, sum_law
from discreet.design.schedule import SECONDS_PER_LIKELY_TOTAL, SECONDS_PER_SCORE, now, spend
from discreet.watch import SILENT, Watch

Weights = tuple[int, ...]

FINE = 24
"""A fine W: rescaled lattices come near it; finer ones gain less than a part in a thousand."""


def best_clipping(
    probabilities: ArrayLike, values: Sequence[float], respondents: int, epsilon: float
) -> tuple[float, float]:
    """(lo, hi) that minimise N Var(v - clip(v, lo, hi)) + kappa (hi-lo)^2, on a grid refined twice."""
    p = np.atleast_2d(np.asarray(probabilities, dtype=np.float64)).mean(axis=0)
    v = np.asarray(values, dtype=np.float64)
    used = v[p > 0]
    kappa = unit_variance(epsilon)
    lows = highs = np.linspace(used.min(), used.max(), 41)
    lo = hi = float(used.min())
    for _ in range(3):
        grid_lo, grid_hi = np.meshgrid(lows, highs, indexing="ij")
        clipped = np.clip(v, grid_lo[..., None], np.maximum(grid_lo, grid_hi)[..., None])
        cut = v - clipped
        variance = (cut**2) @ p - (cut @ p) ** 2
        cost = respondents * variance + kappa * np.maximum(grid_hi - grid_lo, 0.0) ** 2
        i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
        lo, hi = float(lows[i]), float(max(lows[i], highs[j]))
        step = float(lows[1] - lows[0]) if len(lows) > 1 else 0.0
        lows = np.clip(np.linspace(lo - step, lo + step, 21), used.min(), used.max())
        highs = np.clip(np.linspace(hi - step, hi + step, 21), used.min(), used.max())
    return lo, hi


def clipped_weights(values: Sequence[float], lo: float, hi: float, steps: int) -> Weights | None:
    """Integers 0..steps nearest to proportional to clip(v, lo, hi); None when they are all equal."""
    shares = (np.clip(np.asarray(values, dtype=np.float64), lo, hi) - lo) / (hi - lo) if hi > lo else None
    if shares is None:
        return None
    w = np.round(shares * steps).astype(np.int64)
    w -= w.min()
    return tuple(int(x) for x in w) if w.max() > 0 else None


def clipped_sum(
    probabilities: ArrayLike,
    values: Sequence[float],
    respondents: int,
    epsilon: float,
    watch: Watch | None = None,
) -> Proxy:
    """Rung 0: the best of the clipped sums near the clipping formula, and of the counts above a threshold."""
    watch = SILENT if watch is None else watch
    score = _scorer(probabilities, values, respondents, epsilon)
    best: tuple[float, Weights] | None = None
    for weights in _clipped_candidates(probabilities, values, respondents, epsilon):
        found = score(weights)
        if best is None or found < best[0]:
            best = (found, weights)
        if watch.cancelled():
            break
    assert best is not None  # thresholds always give a candidate: lattice_weights refuses constant values
    return settle(probabilities, values, respondents, epsilon, best[1])


def search_weights(
    probabilities: ArrayLike,
    values: Sequence[float],
    respondents: int,
    epsilon: float,
    start: Weights | None = None,
    seconds: float = 5.0,
    watch: Watch | None = None,
) -> Proxy:
    """Rung 1: local search over integer weights from rung 0's (or the given) ones within a time limit."""
    watch = SILENT if watch is None else watch
    ends = now() + seconds
    score = _scorer(probabilities, values, respondents, epsilon)
    weights = clipped_sum(probabilities, values, respondents, epsilon).weights if start is None else start
    loss = score(weights)
    improved = True
    while improved:
        improved = False
        for candidate in _moves(weights):
            if now() > ends or watch.cancelled():
                return settle(probabilities, values, respondents, epsilon, weights)
            if likely_length(probabilities, candidate, respondents) > LARGEST_RANGE // 4:
                continue
            found = score(candidate)
            if found < loss * (1 - 1e-7):
                weights, loss, improved = candidate, found, True
                watch.report(stage="search over weights", value=-loss)
                break
    return settle(probabilities, values, respondents, epsilon, weights)


def settle(
    probabilities: ArrayLike, values: Sequence[float], respondents: int, epsilon: float, weights: Weights
) -> Proxy:
    """The best noise for these weights, evaluated with direct convolutions."""
    return _best_reading(probabilities, values, respondents, epsilon, weights, quick=False)


def _best_reading(
    probabilities: ArrayLike,
    values: Sequence[float],
    respondents: int,
    epsilon: float,
    weights: Weights,
    quick: bool,
) -> Proxy:
    law = sum_law(probabilities, values, weights, respondents, quick)
    tried = [
        read_by_bayes(law, weights, noise, values, respondents) for noise in best_noise(epsilon, max(weights))
    ]
    return min(tried, key=lambda proxy: proxy.loss)


def _scorer(
    probabilities: ArrayLike, values: Sequence[float], respondents: int, epsilon: float
) -> Callable[[Weights], float]:
    known: dict[Weights, float] = {}

    def score(weights: Weights) -> float:
        if weights not in known:
            quick = respondents * max(weights) > 200
            known[weights] = _best_reading(probabilities, values, respondents, epsilon, weights, quick).loss
            spend(SECONDS_PER_SCORE + SECONDS_PER_LIKELY_TOTAL * likely_length(probabilities, weights, respondents))
        return known[weights]

    return score


def _clipped_candidates(
    probabilities: ArrayLike, values: Sequence[float], respondents: int, epsilon: float
) -> Iterator[Weights]:
    seen: set[Weights] = set()

    def fresh(weights: Weights | None) -> Iterator[Weights]:
        if weights is not None and weights not in seen:
            seen.add(weights)
            yield weights

    lo, hi = best_clipping(probabilities, values, respondents, epsilon)
    lattice, exact = lattice_weights(values)
    span, low = max(values) - min(values), min(values)
    unit = span / max(lattice)
    for stretch in (1.0, 0.9, 1.1, 0.8, 1.2, 1.35):
        top = min(max(values), lo + (hi - lo) * stretch)
        yield from fresh(clipped_weights(values, lo, top, FINE))
        if exact:
            first, last = round((lo - low) / unit), round((top - low) / unit)
            if last > first:
                repeat = max(1, round(FINE / (last - first)))
                yield from fresh(tuple(repeat * (min(max(w, first), last) - first) for w in lattice))
    for threshold in sorted(set(values))[1:]:
        yield from fresh(tuple(int(v >= threshold) for v in values))


def _moves(weights: Weights) -> Iterator[Weights]:
    """Neighbouring weights: the top level first, then single types, then a different resolution."""
    top = max(weights)
    for step in (1, -1, 2, -2):
        yield from _valid(tuple(w + step if w == top else w for w in weights))
    for step in (1, -1, 2, -2, 4, -4):
        for t in range(len(weights)):
            yield from _valid((*weights[:t], weights[t] + step, *weights[t + 1 :]))
    for target in (2 * top, top // 2, top + 1, top - 1, 3, 2):
        if target >= 1:
            scaled: NDArray[np.float64] = np.round(np.asarray(weights) * (target / top))
            yield from _valid(tuple(int(x) for x in scaled))


def _valid(weights: Weights) -> Iterator[Weights]:
    low = min(weights)
    shifted = tuple(w - low for w in weights)
    if 1 <= max(shifted) <= 400:
        yield shifted
