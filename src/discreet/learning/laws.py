"""How likely a published number is: the law of a sum over independent cells, and noise on top, through characteristic functions.

Cells are beta-binomial with mean share p and intra-cell correlation ρ: concentrations a = p·A and b = (1−p)·A with A = 1/ρ − 1;
ρ = 0 is binomial. The sum S over cells has φ_S(w) = Π φ_c(w), the noise φ_N (`noise`), and

    P(S + N = y) = 1/M · Σ_k φ_S(w_k)·φ_N(w_k)·e^(−i·w_k·y),   w_k = 2πk/M,

exactly but for what lies M or more away: M is 24 deviations of S and twice as far as noise reaches with probability 10^-14.
Frequencies beyond 9 over the deviation of S are left out, where φ_S is 0. An output at an end of a truncated kernel stands
for everything beyond it. Accurate to about 10^-11 of the largest probability.

Where S has fewer values than that frequencies and noise is geometric, the law of S is found from its own frequencies and meets the
noise number by number.

Geometric noise has tails in which every number is likely enough. Those of Gaussian noise fall below what floats tell from 0, so
numbers less likely than `UNLIKELY` are computed around themselves: with all laws tilted by e^(θx), θ such that y is their mean,

    P(S + N = y) = M_S(θ)·M_N(θ)·e^(−θy)·P_θ(S + N = y).

Notation: ρ → correlation, θ → tilt.
Reference: Daniels (1954), whose saddle point θ is; the probability under the tilted law is not approximated here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lgamma, pi

import numpy as np
from numpy.typing import NDArray

from discreet.learning.noise import GaussianLaw, GeometricLaw, NoiseLaw

Array = NDArray[np.float64]
Transform = Callable[[Array], NDArray[np.generic]]
LEAST = 1e-13
"""The least probability that is told from zero."""
UNLIKELY = 1e-8
STEEPEST = 60.0
"""The largest |θ| that laws are tilted by, apart from what noise alone needs."""


def beta_binomial(n: int, mean: float, correlation: float) -> Array:
    """Probabilities of 0..n."""
    x = np.arange(n + 1)
    ways = _log_factorials(n)
    log_ways = ways[n] - ways[x] - ways[n - x]
    if correlation <= 0:
        return np.asarray(np.exp(log_ways + x * np.log(mean) + (n - x) * np.log1p(-mean)))
    total = 1 / correlation - 1
    rises = [np.concatenate([[0.0], np.cumsum(np.log(c + np.arange(n)))]) for c in (mean * total, (1 - mean) * total, total)]
    return np.asarray(np.exp(log_ways + rises[0][x] + rises[1][n - x] - rises[2][n]))


def apart(first: Array, second: Array) -> Array:
    """The law of |X − Y| for independent X and Y with these laws."""
    both = np.convolve(first, second[::-1])
    centre = len(second) - 1
    found = np.zeros(max(len(first), len(second)))
    found[: len(both) - centre] += both[centre:]
    found[1 : centre + 1] += both[:centre][::-1]
    return found


@dataclass(frozen=True)
class Noise:
    """Noise on 0..largest, what lies beyond gathered at the ends; twice, without ends, for two numbers together."""

    law: NoiseLaw
    largest: int
    times: int = 1

    @property
    def variance(self) -> float:
        """Of the noise itself."""
        return self.times * self.law.variance


def moments(parts: Sequence[tuple[Array, int]]) -> tuple[float, float]:
    """Mean and variance of a sum of independent parts."""
    means = [float(np.arange(len(law)) @ law) for law, _ in parts]
    squares = [float(np.arange(len(law)) ** 2 @ law) for law, _ in parts]
    counts = [count for _, count in parts]
    variance = sum(c * (s - m * m) for c, m, s in zip(counts, means, squares, strict=True))
    return sum(c * m for c, m in zip(counts, means, strict=True)), max(variance, 0.0)


def log_likelihood(parts: Sequence[tuple[Array, int]], noise: Noise, published: int) -> float:
    """log P(published) for a sum of independent parts, each law with how often it occurs."""
    counts = np.array([count for _, count in parts])
    laws = np.zeros((max(len(law) for law, _ in parts), len(parts)))
    for i, (law, _) in enumerate(parts):
        laws[: len(law), i] = law
    chance = _chance(laws, counts, noise, published, noise.law.transform)
    if chance > UNLIKELY or not isinstance(noise.law, GaussianLaw):
        return float(np.log(max(chance, LEAST)))
    return _far_out(laws, counts, noise, noise.law, published)


def _chance(laws: Array, counts: NDArray[np.int64], noise: Noise, published: int, transform: Transform, tilt: float = 0.0) -> float:
    """P(published), where an end stands for all beyond it, each weighed by e^(−tilt) for every step."""
    x = np.arange(len(laws))
    means = x @ laws
    centre = float(means @ counts)
    own = float(((x[:, None] - means) ** 2 * laws).sum(axis=0) @ counts)
    far = noise.law.reach
    away = 0.0 if tilt else abs(published - centre)
    period = 2 * int(np.ceil(away + 12 * own**0.5)) + 2 * far + 65
    frequencies = _frequencies(own, period)
    span = len(x[1:]) * int(counts.sum())
    if isinstance(noise.law, GeometricLaw) and noise.times == 1 and span < frequencies:
        return float(_sum_law(laws, counts, span) @ _near(noise.law.ratio, noise.largest, published, span))
    w = np.asarray(2 * pi / period * np.arange(frequencies + 1), dtype=np.float64)
    factor = _transform(w, laws, counts)
    factor *= np.asarray(transform(w), dtype=np.complex128) ** noise.times
    if noise.times > 1:
        pass
    elif published <= 0:
        factor *= _run(w, far, tilt)  # everything at or below 0
    elif published >= noise.largest:
        factor *= _run(-w, far, -tilt)
    terms = (factor * np.exp(-1j * w * published)).real
    return float((terms[0] + 2 * terms[1:].sum()) / period)


def _transform(w: Array, laws: Array, counts: NDArray[np.int64]) -> NDArray[np.complex128]:
    """φ_S(w) = Π φ_c(w)^count: with whole counts any branch of the logarithm will do."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(np.exp(1j * np.outer(w, np.arange(len(laws)))) @ laws) @ counts))


def _sum_law(laws: Array, counts: NDArray[np.int64], span: int) -> Array:
    """The law of S on 0..span itself, from as many frequencies as it has values: fewer than wide noise has."""
    w = np.asarray(2 * pi / (span + 1) * np.arange((span + 1) // 2 + 1), dtype=np.float64)
    return np.asarray(np.fft.irfft(np.conj(_transform(w, laws, counts)), span + 1))


def _near(ratio: float, largest: int, published: int, span: int) -> Array:
    """P(what is published | S = s) for s in 0..span under geometric noise, an end standing for all beyond it."""
    s = np.arange(span + 1)
    if published <= 0:
        return np.asarray(ratio**s / (1 + ratio))
    away = np.abs(published - s)
    if published >= largest:
        return np.asarray(np.where(s < published, ratio**away, 1 + ratio - ratio ** (away + 1)) / (1 + ratio))
    return np.asarray((1 - ratio) / (1 + ratio) * ratio**away)


def _far_out(laws: Array, counts: NDArray[np.int64], noise: Noise, law: GaussianLaw, published: int) -> float:
    """log P(published) far from what was to be expected, by laws that are tilted until it is their mean."""
    x = np.arange(len(laws))

    def tilted(tilt: float) -> tuple[Array, Array]:
        """The laws tilted, and the logarithms of what they then sum to."""
        with np.errstate(divide="ignore"):
            heights = np.log(laws) + tilt * x[:, None]
        shift = heights.max(axis=0)
        found = np.exp(heights - shift)
        return found / found.sum(axis=0), np.log(found.sum(axis=0)) + shift

    steepest = STEEPEST + (noise.largest + abs(published)) / law.sigma_squared
    low, high = -steepest, steepest
    for _ in range(80):
        tilt = (low + high) / 2
        mean = float(x @ tilted(tilt)[0] @ counts) + noise.times * tilt * law.sigma_squared
        low, high = (tilt, high) if mean < published else (low, tilt)
    around, logs = tilted(tilt)
    grown = law.tilted(np.zeros(1), tilt)[1]
    chance = _chance(around, counts, noise, published, lambda w: law.tilted(w, tilt)[0], tilt)
    return float(logs @ counts + noise.times * grown - tilt * published + np.log(max(chance, LEAST)))


def _run(w: Array, far: int, tilt: float) -> NDArray[np.complex128]:
    """Σ_{j=0}^{far} e^((i·w + tilt)·j)."""
    step = np.exp(1j * w + tilt)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (1 - step ** (far + 1)) / (1 - step)
    return np.asarray(np.where(np.abs(1 - step) < 1e-12, far + 1, found))


def _frequencies(variance: float, period: int) -> int:
    """How many frequencies count: beyond nine over the deviation a sum of many cells has nothing left of its φ."""
    reach = 9 / max(variance, 1e-12) ** 0.5
    return period // 2 if reach >= 1 else min(int(np.ceil(reach * period / (2 * pi))), period // 2)


@lru_cache(maxsize=1 << 12)
def _log_factorials(n: int) -> Array:
    return np.array([lgamma(k + 1) for k in range(n + 1)])
