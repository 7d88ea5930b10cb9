"""What a rung of the ladder hands on: a mechanism in words and numbers, its loss, and a lower bound beside
it.

| rung | takes | mechanism | lower bound |
|---|---|---|---|
| 0 `weights.clipped_sum` | p or rows of p, v, N, epsilon | clipped sum or count, staircase or geometric |
`chain.chain_bound` | | 1 `weights.search_weights` | the same, a start, seconds | weights found by local
search | the same | | 2, 3 | p, v, N, epsilon, groups, targets | a program on a summary |
`quotient.quotient_bound` | | 4 | the truncated histograms | the design program | its dual |

Rungs 0 and 1 work under squared error with any real values; other losses take the weights found for squared
error and are read by `losses.other_loss`.  The lower bounds need iid respondents.  The chain bound also
serves absolute and pinball losses; it holds for real actions, hence for any list of actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.noise import Staircase
from discreet.design.ladder.proxy import Proxy
from discreet.errors import InputError


@dataclass(frozen=True)
class SumMechanism:
    """A weighted sum with integer noise, ready to be re-expressed as an exact closed-form kernel.

    The output at state s is s + Z moved into start..stop.  `ratio` is a float near the exact one: for
    `geometric` the ratio per unit step, to be rounded up to a rational whose `width`-th power is at least
    e^-epsilon; for `staircase` the ratio per stair of `width` integers, to be rounded up to a rational at
    least e^-epsilon.
    """

    weights: tuple[int, ...]
    family: str
    start: int
    stop: int
    width: int
    plateau: int
    ratio: float
    actions: NDArray[np.float64]

    @classmethod
    def of(cls, proxy: Proxy) -> SumMechanism:
        """The description of a proxy."""
        noise = proxy.noise
        plateau = noise.plateau if isinstance(noise, Staircase) else 1
        return cls(
            proxy.weights,
            noise.family,
            proxy.start,
            proxy.stop,
            proxy.sensitivity,
            plateau,
            noise.ratio,
            proxy.actions,
        )


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: expected loss (with its rounding error), a proven lower bound, and the seconds
    it took."""

    name: str
    mechanism: SumMechanism
    loss: float
    loss_error: float
    lower_bound: float
    seconds: float

    def __post_init__(self) -> None:
        if self.lower_bound > self.loss + self.loss_error:
            raise InputError(
                "a lower bound above a mechanism's loss: one of the two belongs to another problem",
                found=f"bound {self.lower_bound}, loss {self.loss}",
            )

    @property
    def relative_gap(self) -> float:
        """(loss - lower bound) / max(1e-12, loss)."""
        return (self.loss - self.lower_bound) / max(1e-12, abs(self.loss))


def sum_rung(name: str, proxy: Proxy, lower_bound: float, seconds: float) -> Rung:
    """The rung of a weighted sum."""
    return Rung(name, SumMechanism.of(proxy), proxy.loss, proxy.loss_error, lower_bound, seconds)
