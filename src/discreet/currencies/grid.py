"""Composition of any finite pairs: a certified two-sided bracket of δ(ε) for independent releases.

δ(ε) = E_P[(1 − e^(ε−S))₊] with S the sum of all losses. The sum is followed on a grid of step h by one discrete Fourier
transform, under a tilted distribution w ∝ p e^(θL) that makes the interesting region typical:

    δ(ε) = M^k E_w[ e^(−θS) (1 − e^(ε−S))₊ ],    M = Σ p e^(θL)   (a product over different pairs).

- Upper end: every loss is split between its two grid neighbours so that P and Q keep their masses. That undoes a
  post-processing, so it can only raise δ; its error is of order h² (Doroshenko et al. 2022, "connect the dots").
- Both ends: every loss is moved to a grid point; the sum of the moves stays within t of its mean but for a chance of
  e^−`DOUBT`, by Bernstein's inequality; S is then known to ±t. The upper end is the better of the two.

The rest of the error is bounded as well and added: rounding of masses, of the transform and of its power, sums beyond
the window (Bernstein again). The library's transform is assumed within `FFT_ULPS`·log₂ N units in the 2-norm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.currencies.bracket import Bracket
from discreet.currencies.loss import loss_distribution
from discreet.currencies.pair import Pair
from discreet.numerics.arrays import Floats, Integers

POINTS = 1 << 18
DOUBT = 34.0
FFT_ULPS = 8
UNIT = 2.0**-52
ROOM = 16
"""Points for each release: indices are rounded by up to a step each, and their sum must stay within half the window."""
STEEPEST = 30.0
"""The largest tilt times one step of the grid."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Finite losses of one pair, their masses (under P, later under the tilt), and how often it is released."""

    losses: Floats
    masses: Floats
    times: int


def grid_delta(pair: Pair, times: int, epsilon: Fraction, *, points: int = POINTS) -> Bracket:
    """δ(ε) of that many releases of one pair in one direction, on a grid of `points` (a power of two) or more."""
    return grid_delta_of([(pair, times)], epsilon, points=points)


def grid_delta_of(releases: Sequence[tuple[Pair, int]], epsilon: Fraction, *, points: int = POINTS) -> Bracket:
    """δ(ε) of releases of several pairs, each as often as said, in one direction."""
    kept, parts = Fraction(1), []
    for pair, times in releases:
        law = loss_distribution(pair)
        kept *= (1 - law.infinite) ** times
        finite = [atom for atom in law.atoms if atom.ratio is not None]
        if finite:
            losses = np.array([atom.loss.middle for atom in finite])
            parts.append(_Part(losses, np.array([float(atom.probability) for atom in finite]), times))
    leak, level = float(1 - kept), float(epsilon)
    if kept == 0:
        return Bracket(1.0, 1.0)
    if sum(part.times * float(part.losses.max()) for part in parts) * (1 + 1e-14) <= level:
        return Bracket(leak * (1 - UNIT), min(leak * (1 + UNIT), 1.0))
    points = max(points, 1 << (ROOM * (sum(part.times for part in parts) + 4) - 1).bit_length())
    tilt = _tilt(parts, level)
    tilted = _tilted(parts, tilt)
    while tilt * _window(tilted, points) > STEEPEST:
        # A coarse grid moves losses so far that e^(θ·move) says nothing: any smaller tilt is valid as well.
        tilt = tilt / 2 if tilt > 1e-3 else 0.0
        tilted = _tilted(parts, tilt)
    scale, relative = -tilt * level, 8 * UNIT
    for part in parts:
        top = float(part.losses.max())
        scale += part.times * (math.log((part.masses * np.exp(tilt * (part.losses - top))).sum()) + tilt * top)
        # Relative errors of masses, exponentials and the moment, as often as it is released.
        relative += part.times * 16 * UNIT * (2 + tilt * float(np.abs(part.losses).max()))
    relative += 8 * UNIT * abs(scale)
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = _nearest(tilted, level, tilt, points)
        split = _split(tilted, level, tilt, points)
    size = math.exp(scale)
    lower = leak * (1 - UNIT) + size * (low * (1 - relative) if low > 0 else 0.0)
    upper = leak * (1 + UNIT) + size * min(_or_unbounded(high), _or_unbounded(split)) * (1 + relative)
    return Bracket(min(max(lower, 0.0), 1.0), min(max(upper, lower), 1.0))


def _tilted(parts: list[_Part], tilt: float) -> list[_Part]:
    """The same losses under w ∝ p e^(θL)."""
    found = []
    for part in parts:
        weights = part.masses * np.exp(tilt * (part.losses - part.losses.max()))
        found.append(_Part(part.losses, weights / weights.sum(), part.times))
    return found


def _or_unbounded(upper: float) -> float:
    """An upper end that overflowed on the way says nothing."""
    return math.inf if math.isnan(upper) else upper


def _tilt(parts: list[_Part], level: float) -> float:
    """θ ≥ 0 whose tilted mean of S is ε: where δ has its weight. Any θ is valid."""

    def mean(theta: float) -> float:
        total = 0.0
        for part in parts:
            weights = part.masses * np.exp(theta * (part.losses - part.losses.max()))
            total += part.times * float((weights * part.losses).sum() / weights.sum())
        return total

    if mean(0.0) >= level:
        return 0.0
    low, high = 0.0, 1.0
    while mean(high) < level and high < 1e4:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < level else (low, middle)
    return high


def _nearest(parts: list[_Part], level: float, tilt: float, points: int) -> tuple[float, float]:
    """E_w[e^(−θ(S−ε))(1 − e^(ε−S))₊] from losses moved to grid points: (lower, upper)."""
    step = _good_step(parts, points)
    origin, variance, largest, furthest, rounding, indices = -level, 0.0, 0.0, 0.0, 0.0, []
    for part in parts:
        offset = float(part.losses[0])
        grid = np.rint((part.losses - offset) / step).astype(np.int64)
        moves = part.losses - offset - step * grid
        drift = float(part.masses @ moves)
        away = float(np.abs(moves - drift).max())
        origin += part.times * (offset + drift)
        variance += part.times * float(part.masses @ (moves - drift) ** 2)
        largest, furthest = max(largest, away), furthest + part.times * away
        rounding += part.times * 8 * UNIT * float(np.abs(part.losses).max())
        indices.append(grid)
    spread = min(_bernstein(variance, largest, DOUBT), furthest) + rounding
    sums, weights, error = _distribution(indices, [part.masses for part in parts], parts, points)
    values = np.asarray(origin + step * sums, dtype=np.float64)
    # One doubt for the moves and one for sums outside the window, each with both of its sides.
    doubt = 4 * math.exp(-DOUBT)
    upper = _functional(weights, values, tilt, spread) + error * _norm(values, tilt, spread) + doubt
    lower = _functional(weights, values, tilt, -spread) - error * _norm(values, tilt, -spread) - doubt
    return max(lower, 0.0), upper


def _split(parts: list[_Part], level: float, tilt: float, points: int) -> float:
    """The upper end of the same from losses split between their grid neighbours, P- and Q-mass kept."""
    step = _window(parts, points)
    origin, growth, slack, indices, chances = -level, 0.0, 0.0, [], []
    for part in parts:
        offset = float(part.losses.min())
        below = np.floor((part.losses - offset) / step).astype(np.int64)
        rest = np.clip(part.losses - offset - step * below, 0.0, step)
        share = np.clip(np.expm1(-rest) / math.expm1(-step), 0.0, 1.0)
        # Under the tilt a split mass at a grid point g weighs e^(θ(g − L)) of what it was.
        masses = np.concatenate(
            [part.masses * (1 - share) * np.exp(-tilt * rest), part.masses * share * np.exp(tilt * (step - rest))]
        )
        kept, total = masses > 0, float(masses.sum())
        indices.append(np.concatenate([below, below + 1])[kept])
        chances.append(masses[kept] / total)
        origin += part.times * offset
        growth += part.times * math.log(total)
        slack += part.times * 16 * UNIT * (1 + float(np.abs(part.losses).max()) * (1 + tilt))
    sums, weights, error = _distribution(indices, chances, parts, points)
    values = np.asarray(origin + step * sums, dtype=np.float64)
    found = _functional(weights, values, tilt, slack) + error * _norm(values, tilt, slack) + 2 * math.exp(-DOUBT)
    return found * math.exp(growth) * (1 + slack) if growth < 700 else math.inf


def _functional(weights: Floats, values: Floats, tilt: float, slack: float) -> float:
    """Σ weight · e^(−θ(v − s)) (1 − e^(−v−s))₊ : an upper end for s = slack ≥ 0, a lower end for slack ≤ 0."""
    inside = values > -slack
    v, w = values[inside], np.maximum(weights[inside], 0.0)
    return float(np.sum(w * np.exp(-tilt * (v - slack)) * -np.expm1(-(v + slack))))


def _norm(values: Floats, tilt: float, slack: float) -> float:
    """The 2-norm of the functional's coefficients, which an error of the weights is multiplied by."""
    v = values[values > -slack]
    return float(np.linalg.norm(np.exp(-tilt * (v - slack)) * -np.expm1(-(v + slack)))) + 1e-300


def _distribution(
    indices: list[Integers], chances: list[Floats], parts: list[_Part], points: int
) -> tuple[Integers, Floats, float]:
    """Sums of grid indices, their weights, and a bound on the 2-norm of the weights' error.

    The transform of one release has few terms and is summed directly; the product of all is transformed back.
    """
    angle = np.arange(points // 2 + 1)
    roots = np.exp(-2j * np.pi * np.arange(points) / points)
    product = np.ones(points // 2 + 1, dtype=np.complex128)
    sizes, wrong, centre = np.ones(points // 2 + 1), np.zeros(points // 2 + 1), 0.0
    for grid, weights, part in zip(indices, chances, parts, strict=True):
        transform = np.zeros(points // 2 + 1, dtype=np.complex128)
        for index, chance in zip(grid.tolist(), weights.tolist(), strict=True):
            transform += chance * roots[(index % points) * angle % points]
        one = (len(weights) + 8) * UNIT
        size = np.minimum(np.abs(transform) + one, 1 + one)
        # |Π (z + e)^k − Π z^k| ≤ Π s^k · Σ k e/s, and each multiplication rounds.
        sizes = sizes * size**part.times
        wrong += part.times * (one / size + 4 * UNIT)
        product *= _power(transform, part.times)
        centre += part.times * float(weights @ grid)
    law = np.fft.irfft(product, points)
    transform_error = FFT_ULPS * UNIT * math.log2(points) * float(np.linalg.norm(product))
    error = math.sqrt(2) * (float(np.linalg.norm(sizes * wrong)) + transform_error) / math.sqrt(points)
    sums = math.floor(centre) - points // 2 + np.arange(points)
    return sums, law[sums % points], error


def _power(base: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    powered, square = np.ones_like(base), base.copy()
    while times:
        if times & 1:
            powered *= square
        square, times = square * square, times >> 1
    return powered


def _window(parts: list[_Part], points: int) -> float:
    """The least grid step whose window holds the sum of the losses but for a chance of 2e^−DOUBT."""
    variance, widest, all_widths = 0.0, 0.0, 0.0
    for part in parts:
        width = float(part.losses.max() - part.losses.min())
        mean = float(part.masses @ part.losses)
        variance += part.times * float(part.masses @ (part.losses - mean) ** 2)
        widest, all_widths = max(widest, width), all_widths + part.times * width
    reach = min(_bernstein(variance, widest, DOUBT), all_widths)
    # Half of the window holds the sum; the other half is for indices, which are rounded by up to one step a release.
    return max(2 * reach * 1.01 / (points / 2), 1e-12 * widest) if widest else 1.0


def _good_step(parts: list[_Part], points: int) -> float:
    """A step from once to twice the least one that leaves the losses nearest to grid points."""
    least = _window(parts, points)
    gaps = np.unique(np.concatenate([np.abs(part.losses - part.losses[0]) for part in parts]))
    gaps = gaps[gaps > 0]
    if len(gaps) == 0:
        return least
    trials = [np.linspace(least, 2 * least, 400)]
    for gap in (gaps[0], gaps[-1]):
        high = math.floor(gap / least)
        if high >= 1:
            trials.append(gap / np.unique(np.linspace(max(high // 2, 1), high, 400).astype(np.int64)))
        elif gap < 64 * least:
            trials.append(np.array([gap * math.ceil(least / gap)]))
    steps = np.concatenate(trials)
    steps = steps[steps >= least]
    scores = np.zeros(len(steps))
    for part in parts:
        relative = (part.losses - part.losses[0])[None, :] / steps[:, None]
        moves = (relative - np.rint(relative)) * steps[:, None]
        scores += part.times * (part.masses * (moves - (moves @ part.masses)[:, None]) ** 2).sum(axis=1)
    return float(steps[int(np.argmin(scores))])


def _bernstein(variance: float, largest: float, doubt: float) -> float:
    """t with P(|Σ − mean| > t) ≤ 2e^−doubt for independent terms within `largest` of their means."""
    third = largest * doubt / 3
    return third + math.sqrt(third * third + 2 * variance * doubt)
