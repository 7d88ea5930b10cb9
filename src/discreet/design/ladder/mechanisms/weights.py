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
from math import ceil, gcd
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.design.ladder.mechanisms.noise import unit_variance
from discreet.design.ladder.mechanisms.population import Population, Weights
from discreet.design.ladder.mechanisms.proxy import Proxy, best_noise, lattice_weights, read_by_bayes
from discreet.design.ladder.mechanisms.sums import LARGEST_RANGE
from discreet.design.schedule import SECONDS_PER_LIKELY_TOTAL, SECONDS_PER_SCORE, TooDearError, now, spend, time_left
from discreet.errors import TooLarge
from discreet.watch import SILENT, Watch

FINE = 24
"""A fine W: rescaled lattices come near it; finer ones gain less than a part in a thousand."""
CLIPPED = 0.75
"""From this share of the largest weight on, a type counts as read by the clipped end of a weighted sum."""
MOST_THRESHOLDS = 100
"""Of many values, counts above so many of them are tried."""
MOST_OUTPUTS = 40_000
"""Likely totals, about, up to which a lattice is refined: each is an output with its action."""


def best_clipping(population: Population) -> tuple[float, float]:
    """(lo, hi) of the best clipping under staircase noise."""
    return clipping(
        population.shares, population.values, population.size, unit_variance(population.epsilon), presence=population.presence
    )


def clipping(
    shares: ArrayLike, values: Sequence[float], size: float, kappa: float, *, presence: bool = False
) -> tuple[float, float]:
    """(lo, hi) that minimise N Var(v - clip(v, lo, hi)) + kappa (hi-lo)^2, on a grid refined twice.

    Where respondents are added or removed, a type of value 0 weighs nothing: 0 stays between lo and hi.
    """
    p, v = np.asarray(shares, dtype=np.float64), np.asarray(values, dtype=np.float64)
    used = v[p > 0]
    lows = highs = np.linspace(min(used.min(), 0.0) if presence else used.min(), used.max(), 41)
    if presence:
        lows, highs = lows[lows <= 0.0], highs[highs >= 0.0]
    lo = hi = float(lows.min())
    for _ in range(3):
        grid_lo, grid_hi = np.meshgrid(lows, highs, indexing="ij")
        clipped = np.clip(v, grid_lo[..., None], np.maximum(grid_lo, grid_hi)[..., None])
        cut = v - clipped
        variance = (cut**2) @ p - (cut @ p) ** 2
        cost = size * variance + kappa * np.maximum(grid_hi - grid_lo, 0.0) ** 2
        i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
        lo, hi = float(lows[i]), float(max(lows[i], highs[j]))
        step = float(lows[1] - lows[0]) if len(lows) > 1 else 0.0
        least, most = (min(used.min(), 0.0), max(used.max(), 0.0)) if presence else (used.min(), used.max())
        lows = np.clip(np.linspace(lo - step, lo + step, 21), least, min(most, 0.0) if presence else most)
        highs = np.clip(np.linspace(hi - step, hi + step, 21), max(least, 0.0) if presence else least, most)
    return lo, hi


def clipped_weights(values: Sequence[float], lo: float, hi: float, steps: int, presence: bool = False) -> Weights | None:
    """Integers within `steps` nearest to proportional to clip(v, lo, hi), from 0 or as they are; None when they are all equal."""
    if hi <= lo:
        return None
    origin, span = (0.0, max(abs(lo), abs(hi))) if presence else (lo, hi - lo)
    w = np.round((np.clip(np.asarray(values, dtype=np.float64), lo, hi) - origin) / span * steps).astype(np.int64)
    if not presence:
        w -= w.min()
    return tuple(int(x) for x in w) if np.abs(w).max() > 0 else None


def clipped_sum(population: Population, watch: Watch | None = None, first: Weights | None = None) -> Proxy:
    """Rung 0: the best of the clipped sums near the clipping formula, and of the counts above a threshold, some weights `first`."""
    watch = SILENT if watch is None else watch
    score = _scorer(population)
    best: tuple[float, Weights] | None = None
    for weights in [*([first] if first else []), *_affordable(population, list(clipped_candidates(population)), watch)]:
        if best is not None and (watch.cancelled() or population.seconds(weights) > time_left(watch)):
            break
        found = score(weights)
        if found is not None and (best is None or found < best[0]):
            best = (found, weights)
    if best is None:
        raise TooLarge(
            "the law of every weighted sum of these values",
            size=f"{population.largest:,} respondents",
            fits="fewer",
            remedy="use fewer respondents or values on a coarser lattice",
        )
    return settle(population, best[1])


def must_be_affordable(population: Population, watch: Watch) -> None:
    """Refuse before any work respondents of whom not even the quickest sum is valued in time."""
    dear = min(map(population.seconds, clipped_candidates(population)), default=0.0) if population.convolved else 0.0
    if dear > max(time_left(watch), 0.0):  # what takes next to nothing is done however late it is
        raise TooDearError(f"the law of its quickest sum takes about {dear:.2g} s beyond the time")


def _affordable(population: Population, candidates: list[Weights], watch: Watch) -> list[Weights]:
    """The candidates in their order, those that would take all the time last, quickest first."""
    left = time_left(watch)
    dear = [w for w in candidates if population.seconds(w) > left]
    return [w for w in candidates if w not in dear] + sorted(dear, key=population.seconds)


def search_weights(population: Population, start: Weights | None = None, seconds: float = 5.0, watch: Watch | None = None) -> Proxy:
    """Rung 1: local search over integer weights from rung 0's (or the given) ones within a time limit."""
    watch = SILENT if watch is None else watch
    ends = now() + seconds
    score = _scorer(population)
    weights = clipped_sum(population).weights if start is None else start
    loss = score(weights)
    improved = loss is not None
    while improved:
        improved = False
        for candidate in neighbouring(population, weights):
            if now() > ends or watch.cancelled():
                return settle(population, weights)
            if population.length(candidate) > LARGEST_RANGE // 4:
                continue
            found = score(candidate)
            if found is not None and loss is not None and found < loss * (1 - 1e-7):
                weights, loss, improved = candidate, found, True
                watch.report(stage="search over weights", value=-loss)
                break
    return settle(population, weights)


def settle(population: Population, weights: Weights) -> Proxy:
    """The best noise for these weights, evaluated with direct convolutions."""
    return _best_reading(population, weights, quick=False)


def _best_reading(population: Population, weights: Weights, quick: bool) -> Proxy:
    law, step = population.law(weights, quick), population.step(weights)
    tried = [read_by_bayes(law, weights, step, noise) for noise in best_noise(population.epsilon, step, gcd(*weights))]
    return min(tried, key=lambda proxy: proxy.loss)


def _scorer(population: Population) -> Callable[[Weights], float | None]:
    """The loss of weights; None for those whose law is too large."""
    known: dict[Weights, float | None] = {}

    def score(weights: Weights) -> float | None:
        if weights not in known:
            quick = population.largest * max(map(abs, weights)) > 200 or not population.convolved
            if population.convolved and population.length(weights) > LARGEST_RANGE:
                known[weights] = None  # what cannot be settled is not chosen
                return None
            try:
                known[weights] = _best_reading(population, weights, quick).loss
            except TooLarge:
                known[weights] = None
            spend(SECONDS_PER_SCORE + SECONDS_PER_LIKELY_TOTAL * population.length(weights))
        return known[weights]

    return score


def clipped_candidates(population: Population) -> Iterator[Weights]:
    """Clipped sums near the clipping formula, counts above a threshold, and the values themselves."""
    values, seen = population.values, set[Weights]()

    def fresh(weights: Sequence[int] | None) -> Iterator[Weights]:
        found = None if weights is None else population.settled(weights)
        if found is not None and found not in seen:
            seen.add(found)
            yield found

    lo, hi = best_clipping(population)
    low = min(*values, 0.0) if population.presence else min(values)
    lattice, exact = lattice_weights([*values, 0.0] if population.presence else values)
    span = max(*values, 0.0) - low if population.presence else max(values) - low
    unit = span / max(lattice)
    zero = round(-low / unit) if population.presence else 0
    for stretch in (1.0, 0.9, 1.1, 0.8, 1.2, 1.35):
        top = min(max(values), lo + (hi - lo) * stretch)
        yield from fresh(clipped_weights(values, lo, top, FINE, population.presence))
        if exact:
            first, last = round((lo - low) / unit), round((top - low) / unit)
            if last > first:
                origin = zero if population.presence else first
                steps = tuple(min(max(w, first), last) - origin for w in lattice[: len(values)])
                repeat = max(1, min(round(FINE / (last - first)), MOST_OUTPUTS // population.length(steps)))
                yield from fresh(tuple(repeat * w for w in steps))
    thresholds = sorted(set(values))[0 if population.presence else 1 :]
    for threshold in thresholds[:: ceil(len(thresholds) / MOST_THRESHOLDS) or 1]:
        yield from fresh(tuple(int(v >= threshold) for v in values))
    if exact:
        yield from fresh(tuple(w - zero for w in lattice[: len(values)]))


class Stepping(Protocol):
    """What the neighbours of weights are told by: how far a neighbour moves the sum, and the smallest weights that say the same."""

    def step(self, weights: Sequence[int]) -> int: ...

    def settled(self, weights: Sequence[int]) -> Weights | None: ...


def neighbouring(population: Stepping, weights: Weights) -> Iterator[Weights]:
    """Neighbouring weights: the top level first, then single types, then a different resolution."""
    top = max(weights)
    for step in (1, -1, 2, -2):
        yield from _valid(population, tuple(w + step if w == top else w for w in weights))
    for step in (1, -1, 2, -2, 4, -4):
        for t in range(len(weights)):
            yield from _valid(population, (*weights[:t], weights[t] + step, *weights[t + 1 :]))
    reach = population.step(weights)
    for target in (2 * reach, reach // 2, reach + 1, reach - 1, 3, 2):
        if target >= 1:
            scaled: NDArray[np.float64] = np.round(np.asarray(weights) * (target / reach))
            yield from _valid(population, tuple(int(x) for x in scaled))


def _valid(population: Stepping, weights: Weights) -> Iterator[Weights]:
    found = population.settled(weights)
    if found is not None and population.step(found) <= 400:
        yield found
