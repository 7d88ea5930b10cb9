"""Knots for real actions: a finite program whose multipliers prove a bound for every real action.

Squared error.  Multipliers f are given at knots b_0 < b_1 < ... and taken linear in between.  With r_k(s) the
bracket (loss minus priced rows) at knot k, the bracket between two knots at distance D is at least

    (1-t) r_k + t r_{k+1} - t(1-t) pi(s) D^2,

because a square lies below its chord by t(1-t)D^2.  Suppose the bracket at knot k exceeds the price lambda(s)
by pi(s) e_k^2.  Then it exceeds it on the whole interval if and only if e_k + e_{k+1} >= D.  So a program in
which playing knot k is rewarded by e_k^2 proposes multipliers that prove a bound for all real actions.  A
*target* is a knot with e = 0: an action that the optimum is expected to play.  With one knot midway between
neighbouring targets (e = half the distance) the reward is what randomising between the two targets would
cost, so when the optimum plays only targets little is lost (observed, not proved: 3e-6 in SY's Example 1).
Where targets are not known, knots stand densely and nothing is rewarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from discreet.numerics.arrays import Floats

GROWTH = 1.5
"""Beyond the outermost targets, where nobody plays, intervals grow by this factor."""


WITHIN = 2.5


def place_knots(targets: Sequence[float], low: float, high: float, step: float) -> tuple[Floats, Floats]:
    """(knots, e) covering low..high: targets, points midway, and outside them intervals that grow from
    `step`."""
    inside = sorted({t for t in targets if low < t < high}) or [(low + high) / 2]
    points: dict[float, bool] = dict.fromkeys(inside, True)
    for a, b in pairwise(inside):
        points[(a + b) / 2] = False
    for edge, end, sign in ((inside[0], low, -1.0), (inside[-1], high, 1.0)):
        width = step
        at = edge + sign * width
        while sign * (end - at) > 0:
            points[at] = False
            width *= GROWTH
            at += sign * width
        points.setdefault(end, False)
    knots = np.array(sorted(points))
    return knots, rewards(knots, [points[float(k)] for k in knots])


def dense_knots(mean: float, spread: float, low: float, high: float, apart: float) -> Floats:
    """Knots covering low..high: at most `apart` from each other within `WITHIN` spreads of the mean, growing intervals outside."""
    first, last = max(low, mean - WITHIN * spread), min(high, mean + WITHIN * spread)
    inner = np.linspace(first, last, max(2, int(np.ceil((last - first) / apart)) + 1))
    outer: list[float] = []
    for edge, end, sign in ((first, low, -1.0), (last, high, 1.0)):
        width, at = float(inner[1] - inner[0]), edge
        while sign * (end - at) > 0:
            width *= GROWTH
            at = end if sign * (end - at) <= 1.5 * width else at + sign * width
            outer.append(at)
    return np.unique(np.concatenate([inner, outer]))


def clustered(points: Sequence[float], weights: Sequence[float], apart: float) -> list[float]:
    """Weighted means of runs of points, each nearer than `apart` to the mean of the run before it."""
    runs: list[tuple[float, float]] = []
    for point, weight in sorted(zip(map(float, points), map(float, weights), strict=True)):
        if runs and point - runs[-1][0] < apart:
            mean, held = runs[-1]
            runs[-1] = (mean + (point - mean) * weight / (held + weight), held + weight)
        else:
            runs.append((point, weight))
    return [mean for mean, _ in runs]


def rewards(knots: Floats, target: list[bool]) -> Floats:
    """Least e found greedily with e = 0 at targets and e_k + e_{k+1} >= distance."""
    e = np.zeros(len(knots))
    gaps = np.diff(knots)
    for k, gap in enumerate(gaps):
        for own, other in ((k, k + 1), (k + 1, k)):
            if target[own] and not target[other]:
                e[other] = max(e[other], gap)
    for k, gap in enumerate(gaps):
        if not target[k] and not target[k + 1]:
            short = max(0.0, gap - e[k] - e[k + 1])
            e[k] += short / 2
            e[k + 1] += short / 2
    return e


def least_between(bracket: Floats, knots: Floats, masses: Floats) -> Floats:
    """For each state the least value of the bracket [knot, state] over all real actions within the knots."""
    least: Floats = bracket.min(axis=0)
    for low, high, width in zip(bracket[:-1], bracket[1:], np.diff(knots), strict=True):
        curve = masses * width**2
        t = np.clip(0.5 - (high - low) / (2.0 * curve), 0.0, 1.0)
        least = np.minimum(least, low + t * (high - low) - t * (1.0 - t) * curve)
    return least
