"""The laws of many sums of the same summands: ten thousand regions of one release, by characteristic functions.

For K classes of summands and a region with n_k of each, the transform of its law on a circle of L points is

    z_f = Π_k φ_k(f)^{n_k} = exp Σ_k n_k log φ_k(f),   φ_k(f) = Σ_j p_k(j) e^{−2πi f j/L}

so that all regions of one length are a matrix product and inverse transforms. What this changes is bounded as in lattice_laws:
wrapping   mass beyond half the circle from the mean, by Bernstein's inequality P(|S − μ| ≥ t) ≤ 2 exp(−t²/2 / (V + M t/3))
rounding   δ = 4·(7·log₂ L + 4)·2^−53 in each φ_k and (K + 8)·2^−53·|log φ_k| in each logarithm and product; with
           ‖ẑ − z‖₂ ≤ √L·Σ n_k δ + ‖z‖₂·Σ n_k·π·(K + 8)·2^−53 and ‖p̂ − p‖₁ ≤ √L·‖p̂ − p‖₂ = ‖ẑ − z‖₂
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log2, pi, sqrt

import numpy as np

from discreet.interpret.lattice_laws import HALF_STEP, OUTWARD, LatticeLaw, cut, sum_law
from discreet.numerics.arrays import Floats, Integers

WRAPPED = 1e-14
"""The most mass that may lie beyond half the circle."""
LONGEST_CIRCLE = 1 << 15
FEWEST = 4
"""Sums of one length from which they are computed together."""
TOGETHER = 1 << 22
"""Entries of a block of transforms."""
FAINTEST = 1e-290


def many_sums(laws: Sequence[LatticeLaw], counts: Integers) -> list[LatticeLaw]:
    """The law of Σ_k Σ_{i ≤ counts[r, k]} X_ki for each row r."""
    lows = np.array([law.start for law in laws])
    lengths = np.array([len(law) for law in laws])
    moments = [_moments(law) for law in laws]
    means, variances = (np.array(column) for column in zip(*moments, strict=True))
    circles = [
        _circle(float(row @ variances), int(lengths[row > 0].max(initial=1)), int(row @ (lengths - 1)) + 1) for row in counts
    ]
    found: list[LatticeLaw | None] = [None] * len(counts)
    for size in sorted(set(circles)):
        at = [i for i, circle in enumerate(circles) if circle == size]
        if size > LONGEST_CIRCLE or len(at) < FEWEST:
            for i in at:
                found[i] = sum_law((laws[k], int(counts[i, k])) for k in np.flatnonzero(counts[i]).tolist())
            continue
        logs = _log_transforms(laws, size)
        step = max(1, TOGETHER // size)
        for begin in range(0, len(at), step):
            piece = at[begin : begin + step]
            for i, law in zip(piece, _block(laws, logs, counts[piece], means, variances, lows, lengths, size), strict=True):
                found[i] = law
    return [law for law in found if law is not None]


def _moments(law: LatticeLaw) -> tuple[float, float]:
    """Mean and variance of the masses, from their start."""
    places = np.arange(len(law))
    mean = float(law.masses @ places)
    return mean, max(float(law.masses @ (places - mean) ** 2), 0.0)


def _circle(variance: float, longest: int, reach: int) -> int:
    """A power of two that wraps less than `WRAPPED`, or holds the whole range."""
    bar = log(2 / WRAPPED)
    third = longest * bar / 3
    needed = 2 * (third + sqrt(third**2 + 2 * variance * bar)) + 2
    return 1 << max(5, (int(min(needed, reach)) + 1).bit_length())


def _log_transforms(laws: Sequence[LatticeLaw], size: int) -> Floats:
    """Real and imaginary parts of log φ_k, side by side [class, 2·frequency]."""
    rows = np.zeros((len(laws), size))
    for row, law in zip(rows, laws, strict=True):
        for begin in range(0, len(law), size):  # what is longer than the circle is wrapped around it
            piece = law.masses[begin : begin + size]
            row[: len(piece)] += piece
    transforms = np.fft.rfft(rows, axis=1)
    modulus = np.maximum(np.abs(transforms), FAINTEST)
    return np.concatenate([np.log(modulus), np.angle(transforms)], axis=1)


def _block(
    laws: Sequence[LatticeLaw], logs: Floats, counts: Integers, means: Floats, variances: Floats, lows: Integers,
    lengths: Integers, size: int,
) -> list[LatticeLaw]:  # fmt: skip
    half = logs.shape[1] // 2
    powers = counts.astype(np.float64) @ logs
    transforms = np.exp(powers[:, :half] + 1j * powers[:, half:])
    masses = np.maximum(np.fft.irfft(transforms, size, axis=1), 0.0)
    weights = np.full(half, 2.0)
    weights[0] = weights[-1] = 1.0
    norms = np.sqrt((np.abs(transforms) ** 2) @ weights)
    delta = 4 * (7 * log2(size) + 4) * HALF_STEP
    step = (len(laws) + 8) * HALF_STEP
    errors = np.array([law.error for law in laws])
    many = counts.sum(axis=1)
    found = []
    for i, row in enumerate(counts):
        mean, variance = float(row @ means), float(row @ variances)
        reach = int(row @ (lengths - 1)) + 1
        longest = int(lengths[row > 0].max(initial=1))
        if reach <= size:
            first, kept, wrapped = 0, masses[i, :reach], 0.0
        else:
            first = round(mean) - size // 2
            kept = np.roll(masses[i], -(first % size))
            t = size / 2 - 1
            wrapped = 2 * exp(-(t**2) / 2 / (variance + longest * t / 3))
        # Σ over rows of the error of each summand, as for a product of factors of modulus at most one
        slips = float(row @ errors)
        rounding = sqrt(size) * float(many[i]) * delta + float(norms[i]) * float(many[i]) * pi * step + 16 * size * HALF_STEP
        error = (slips * exp(min(slips, 1.0)) + rounding + 2 * wrapped) * OUTWARD
        used: list[int] = np.flatnonzero(row).tolist()
        least = int(sum(int(row[k]) * laws[k].least for k in used))
        most = int(sum(int(row[k]) * laws[k].most for k in used))
        found.append(cut(LatticeLaw(int(row @ lows) + first, kept, error, least, most)))
    return found
