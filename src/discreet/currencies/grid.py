"""Composition of any finite pair: a certified two-sided bracket of δ(ε) for k independent releases.

δ(ε) = E_P[(1 − e^(ε−S))₊] with S the sum of k losses. The sum is followed on a grid of step h by one discrete Fourier
transform, under a tilted distribution w ∝ p e^(θL) that makes the interesting region typical:

    δ(ε) = M^k E_w[ e^(−θS) (1 − e^(ε−S))₊ ],    M = Σ p e^(θL).

- Upper end: every loss is split between its two grid neighbours so that P and Q keep their masses. That undoes a
  post-processing, so it can only raise δ; its error is of order h² (Doroshenko et al. 2022, "connect the dots").
- Both ends: every loss is moved to a grid point; the sum of the moves stays within t of its mean but for a chance of
  e^−`DOUBT`, by Bernstein's inequality; S is then known to ±t. The upper end is the better of the two.

The rest of the error is bounded as well and added: rounding of masses, of the transform and of its power, sums beyond
the window (Bernstein again). The library's transform is assumed within `FFT_ULPS`·log₂ N units in the 2-norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.currencies.bracket import Bracket
from discreet.currencies.channel import Array
from discreet.currencies.loss import loss_distribution
from discreet.currencies.pair import Pair

POINTS = 1 << 18
DOUBT = 34.0
FFT_ULPS = 8
UNIT = 2.0**-52


@dataclass(frozen=True, eq=False)
class _Atoms:
    """Finite losses, their masses under P, and the mass of an infinite loss."""

    losses: Array
    masses: Array
    infinite: Fraction


def grid_delta(pair: Pair, times: int, epsilon: Fraction, *, points: int = POINTS) -> Bracket:
    """δ(ε) of that many releases in one direction, on a grid of `points` (a power of two)."""
    atoms = _atoms(pair)
    leak = float(1 - (1 - atoms.infinite) ** times)
    level = float(epsilon)
    if len(atoms.losses) == 0 or times * float(atoms.losses.max()) <= level:
        return Bracket(leak * (1 - UNIT), min(leak * (1 + UNIT), 1.0))
    tilt = _tilt(atoms, times, level)
    moment = atoms.masses * np.exp(tilt * (atoms.losses - atoms.losses.max()))
    log_moment = math.log(moment.sum()) + tilt * float(atoms.losses.max())
    chances = moment / moment.sum()
    scale = times * log_moment - tilt * level
    # Relative errors of masses, exponentials and the moment, k times, and of the exponent itself.
    relative = times * 16 * UNIT * (2 + tilt * float(np.abs(atoms.losses).max())) + 8 * UNIT * (1 + abs(scale))
    low, high = _nearest(atoms.losses, chances, times, level, tilt, points)
    split = _split(atoms.losses, chances, times, level, tilt, points)
    size = math.exp(min(scale, 700.0))
    lower = max(leak * (1 - UNIT) + size * low * (1 - relative), 0.0)
    upper = leak * (1 + UNIT) + size * min(high, split) * (1 + relative)
    return Bracket(min(lower, 1.0), min(max(upper, lower), 1.0))


def _atoms(pair: Pair) -> _Atoms:
    found = loss_distribution(pair)
    finite = [atom for atom in found.atoms if atom.ratio is not None]
    return _Atoms(
        np.array([atom.loss.middle for atom in finite]), np.array([float(atom.probability) for atom in finite]),
        found.infinite,
    )


def _tilt(atoms: _Atoms, times: int, level: float) -> float:
    """θ ≥ 0 whose tilted mean of S is ε plus a little: where δ has its weight. Any θ is valid."""
    def mean(theta: float) -> float:
        weights = atoms.masses * np.exp(theta * (atoms.losses - atoms.losses.max()))
        return times * float((weights * atoms.losses).sum() / weights.sum())
    if mean(0.0) >= level:
        return 0.0
    low, high = 0.0, 1.0
    while mean(high) < level and high < 1e4:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < level else (low, middle)
    return high


def _nearest(
    losses: Array, chances: Array, times: int, level: float, tilt: float, points: int
) -> tuple[float, float]:
    """E_w[e^(−θ(S−ε))(1 − e^(ε−S))₊] from losses moved to grid points: (lower, upper)."""
    step = _good_step(losses, chances, times, points)
    offset = float(losses[0])
    indices = np.rint((losses - offset) / step).astype(np.int64)
    moves = losses - offset - step * indices
    drift = float(chances @ moves)
    spread = min(
        _bernstein(times * float(chances @ (moves - drift) ** 2), float(np.abs(moves - drift).max()), DOUBT),
        times * float(np.abs(moves - drift).max()),
    ) + times * 8 * UNIT * float(np.abs(losses).max())
    sums, weights, error = _distribution(indices, chances, times, points)
    values = np.asarray(offset * times + step * sums + times * drift - level, dtype=np.float64)
    doubt = 2 * math.exp(-DOUBT)
    upper = _functional(weights, values, tilt, spread) + error * _norm(values, tilt, spread) + doubt
    lower = _functional(weights, values, tilt, -spread) - error * _norm(values, tilt, -spread) - doubt
    tail = 2 * math.exp(-DOUBT)
    return max(lower - tail, 0.0), upper + tail


def _split(losses: Array, chances: Array, times: int, level: float, tilt: float, points: int) -> float:
    """The upper end of the same from losses split between their grid neighbours, P- and Q-mass kept."""
    step = _window(losses, chances, times, points)
    offset = float(losses.min())
    below = np.floor((losses - offset) / step).astype(np.int64)
    rest = np.clip(losses - offset - step * below, 0.0, step)
    share = np.clip(np.expm1(-rest) / math.expm1(-step), 0.0, 1.0)
    # Under the tilt a split mass at a grid point g weighs e^(θ(g − L)) of what it was.
    indices = np.concatenate([below, below + 1])
    masses = np.concatenate(
        [chances * (1 - share) * np.exp(-tilt * rest), chances * share * np.exp(tilt * (step - rest))]
    )
    total = float(masses.sum())
    kept = masses > 0
    sums, weights, error = _distribution(indices[kept], masses[kept] / total, times, points)
    values = np.asarray(offset * times + step * sums - level, dtype=np.float64)
    slack = times * 16 * UNIT * (1 + float(np.abs(losses).max()) * (1 + tilt))
    found = _functional(weights, values, tilt, slack) + error * _norm(values, tilt, slack) + 2 * math.exp(-DOUBT)
    return found * math.exp(min(times * math.log(total), 700.0)) * (1 + times * 8 * UNIT)


def _functional(weights: Array, values: Array, tilt: float, slack: float) -> float:
    """Σ weight · e^(−θ(v − s)) (1 − e^(−v−s))₊ : an upper end for s = slack ≥ 0, a lower end for slack ≤ 0."""
    inside = values > -slack
    v, w = values[inside], np.maximum(weights[inside], 0.0)
    return float(np.sum(w * np.exp(-tilt * (v - slack)) * -np.expm1(-(v + slack))))


def _norm(values: Array, tilt: float, slack: float) -> float:
    """The 2-norm of the functional's coefficients, which an error of the weights is multiplied by."""
    v = values[values > -slack]
    return float(np.linalg.norm(np.exp(-tilt * (v - slack)) * -np.expm1(-(v + slack)))) + 1e-300


def _distribution(
    indices: NDArray[np.int64], chances: Array, times: int, points: int
) -> tuple[NDArray[np.int64], Array, float]:
    """Sums of `times` grid indices, their weights, and a bound on the 2-norm of the weights' error.

    The transform of one release has few terms and is summed directly; its power is transformed back.
    """
    angle = np.arange(points // 2 + 1)
    roots = np.exp(-2j * np.pi * np.arange(points) / points)
    transform = np.zeros(points // 2 + 1, dtype=np.complex128)
    for index, chance in zip(indices.tolist(), chances.tolist(), strict=True):
        transform += chance * roots[(index % points) * angle % points]
    one = (len(chances) + 8) * UNIT
    powered, left, square = np.ones_like(transform), times, transform.copy()
    while left:
        if left & 1:
            powered *= square
        square, left = square * square, left >> 1
    sizes = np.minimum(np.abs(transform) + one, 1 + one)
    wrong = sizes ** (times - 1) * times * (one + 4 * UNIT * sizes)
    weights = np.fft.irfft(powered, points)
    transform_error = FFT_ULPS * UNIT * math.log2(points) * float(np.linalg.norm(powered))
    error = math.sqrt(2) * (float(np.linalg.norm(wrong)) + transform_error) / math.sqrt(points)
    centre = times * float(chances @ indices)
    start = math.floor(centre) - points // 2
    sums = start + np.arange(points)
    return sums, weights[sums % points], error


def _window(losses: Array, chances: Array, times: int, points: int) -> float:
    """The least grid step whose window holds the sum of the losses but for a chance of 2e^−DOUBT."""
    width = float(losses.max() - losses.min())
    mean = float(chances @ losses)
    reach = min(_bernstein(times * float(chances @ (losses - mean) ** 2), width, DOUBT), times * width)
    # Each index is rounded by at most one step, and so is the centre.
    return max(2 * reach * 1.01 / (points / 2), 1e-12 * max(width, 1e-300)) if width else 1.0


def _good_step(losses: Array, chances: Array, times: int, points: int) -> float:
    """A step from once to twice the least one that leaves the losses nearest to grid points."""
    least = _window(losses, chances, times, points)
    gaps = np.unique(np.abs(losses - losses[0]))
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
    relative = (losses - losses[0])[None, :] / steps[:, None]
    moves = (relative - np.rint(relative)) * steps[:, None]
    scores = (chances * (moves - (moves @ chances)[:, None]) ** 2).sum(axis=1)
    return float(steps[int(np.argmin(scores))])


def _bernstein(variance: float, largest: float, doubt: float) -> float:
    """t with P(|Σ − mean| > t) ≤ 2e^−doubt for independent terms within `largest` of their means."""
    third = largest * doubt / 3
    return third + math.sqrt(third * third + 2 * variance * doubt)
