"""How likely a published number is: the law of a sum over independent cells, and geometric noise on top, through characteristic
functions.

Cells are beta-binomial with mean share p and intra-cell correlation ρ: concentrations a = p·A and b = (1−p)·A with A = 1/ρ − 1;
ρ = 0 is binomial. The sum S over cells has φ_S(w) = Π φ_c(w), the noise φ_N(w) = (1−r)²/(1 − 2r·cos w + r²), and

    P(S + N = y) = 1/M · Σ_k φ_S(w_k)·φ_N(w_k)·e^(−i·w_k·y),   w_k = 2πk/M,

exactly but for what lies M or more away: M is 24 deviations of S and twice as far as noise reaches with probability 10^-14.
Frequencies beyond 9 over the deviation of S are left out, where φ_S is 0. An output at an end of a truncated kernel stands
for everything beyond it. Accurate to about 10^-11 of the largest probability.

Notation: ρ → correlation, r → ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, pi

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEAST = 1e-13
"""The least probability that is told from zero."""


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
    """Geometric noise on 0..largest, what lies beyond gathered at the ends; twice, without ends, for two numbers together."""

    ratio: float
    largest: int
    times: int = 1

    @property
    def variance(self) -> float:
        """Of the noise itself."""
        return self.times * 2 * self.ratio / (1 - self.ratio) ** 2


def log_likelihood(parts: Sequence[tuple[Array, int]], noise: Noise, published: int) -> float:
    """log P(published) for a sum of independent parts, each law with how often it occurs."""
    counts = np.array([count for _, count in parts])
    laws = np.zeros((max(len(law) for law, _ in parts), len(parts)))
    for i, (law, _) in enumerate(parts):
        laws[: len(law), i] = law
    x = np.arange(len(laws))
    means = x @ laws
    centre = float(means @ counts)
    own = float(((x[:, None] - means) ** 2 * laws).sum(axis=0) @ counts)
    r = noise.ratio
    far = int(np.ceil(32 / -np.log(r))) + 1
    period = 2 * int(np.ceil(abs(published - centre) + 12 * own**0.5)) + 2 * far + 65
    w = np.asarray(2 * pi / period * np.arange(_frequencies(own, period) + 1), dtype=np.float64)
    factor = np.prod((np.exp(1j * np.outer(w, x)) @ laws) ** counts, axis=1)
    factor *= ((1 - r) ** 2 / (1 - 2 * r * np.cos(w) + r * r)) ** noise.times
    if noise.times > 1:
        pass
    elif published <= 0:
        factor *= _run(w, far)  # everything at or below 0
    elif published >= noise.largest:
        factor *= _run(-w, far)
    terms = (factor * np.exp(-1j * w * published)).real
    chance = (terms[0] + 2 * terms[1:].sum()) / period
    return float(np.log(max(chance, LEAST)))


def _run(w: Array, far: int) -> NDArray[np.complex128]:
    """Σ_{j=0}^{far} e^(i·w·j)."""
    step = np.exp(1j * w)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (1 - step ** (far + 1)) / (1 - step)
    return np.asarray(np.where(np.abs(1 - step) < 1e-12, far + 1, found))


def _frequencies(variance: float, period: int) -> int:
    """How many frequencies count: beyond nine over the deviation a sum of many cells has nothing left of its φ."""
    reach = 9 / max(variance, 1e-12) ** 0.5
    return period // 2 if reach >= 1 else min(int(np.ceil(reach * period / (2 * pi))), period // 2)


def _log_factorials(n: int) -> Array:
    return np.array([lgamma(k + 1) for k in range(n + 1)])
