"""Have the chains mixed? R-hat and effective size, with words when they are bad.

split R-hat     √( ((n−1)/n·W + B/n) / W ) over half-chains: between- against within-chain variance; 1 when they agree
effective size  m·n / (1 + 2 Σ ρ_k), autocorrelations summed by Geyer's initial monotone sequence

Chains [chain, draw]. References: Gelman & Rubin (1992), Geyer (1992), Vehtari et al. (2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.numerics.arrays import Floats

LARGEST_RHAT = 1.01
LEAST_SIZE_PER_CHAIN = 100


@dataclass(frozen=True)
class Diagnosis:
    """R-hat, effective number of independent draws, and what is wrong in words (empty when nothing is)."""

    rhat: float
    effective_size: float
    draws: int
    warnings: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.warnings


def diagnose(chains: ArrayLike) -> Diagnosis:
    """Diagnose one quantity over several chains."""
    x = np.asarray(chains, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < 8 or not np.isfinite(x).all():
        raise InputError(
            "Diagnostics need finite draws of one quantity, as chains by draws",
            found=f"shape {x.shape}",
            allowed="at least one chain of 8 draws",
            remedy="run the sampler longer",
        )
    rhat, size = split_rhat(x), effective_size(x)
    warnings = []
    if not rhat <= LARGEST_RHAT:
        warnings.append(f"The chains disagree: R-hat is {rhat:.3f}, above {LARGEST_RHAT}. Do not use these draws; run longer.")
    wanted = LEAST_SIZE_PER_CHAIN * x.shape[0]
    if not size >= wanted:
        warnings.append(
            f"The draws are worth only {size:.0f} independent ones, fewer than {wanted}. Run longer chains "
            f"before reading quantiles."
        )
    return Diagnosis(rhat, size, x.size, tuple(warnings))


def split_rhat(chains: ArrayLike) -> float:
    """Split R-hat; 1 for constant identical chains, infinity for constant chains that differ."""
    x = _split(np.asarray(chains, dtype=np.float64))
    n = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = n * float(x.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt(((n - 1) / n * within + between / n) / within))


def effective_size(chains: ArrayLike) -> float:
    """Effective number of independent draws in all chains together; at most their number times log10 of it."""
    x = _split(np.asarray(chains, dtype=np.float64))
    m, n = x.shape
    centred = x - x.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=1)
    autocovariance = np.fft.irfft(spectrum * np.conj(spectrum), size, axis=1)[:, :n] / n
    within = float((autocovariance[:, 0] * n / (n - 1)).mean())
    if within == 0:
        return float(m * n) if float(x.mean(axis=1).var()) == 0 else 1.0
    pooled = (n - 1) / n * within + (float(x.mean(axis=1).var(ddof=1)) if m > 1 else 0.0)
    rho = 1 - (within - autocovariance.mean(axis=0) * n / (n - 1)) / pooled
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    # Sums of adjacent autocorrelations are positive and decreasing for a reversible chain: stop where noise takes over.
    positive = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: positive[0]] if len(positive) else pairs)
    time = max(-1 + 2 * float(pairs.sum()), 1 / np.log10(m * n))
    return m * n / time


def _split(x: Floats) -> Floats:
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])
