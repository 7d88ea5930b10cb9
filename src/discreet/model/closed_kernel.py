"""Closed-form kernels: noise on whole numbers by formula, so that ten million states need no table.

`geometric`  on whole numbers low..high: output k at state s has probability ∝ r^|k−s|, tails gathered at the ends
`staircase`  the same with probability falling by the factor r once every `step` units beyond a plateau

With noise f(j) on all integers, P(k|s) = f(k−s) inside, and the ends hold the tails Σ_{j ≤ low−s} f(j) and Σ_{j ≥ high−s} f(j):
  f(j) = c · r^e(|j|),  e(x) = ⌊(x + W − m)/W⌋,  c⁻¹ = (2m−1) + 2W·r/(1−r),  stair W, plateau m in 1..W.
Geometric noise, f(j) = (1−r)/(1+r) · r^|j|, is the case W = m = 1, and is computed as such.
References: SY fn 28, Ghosh et al. 2012; Geng & Viswanath 2015.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action
from discreet.model.noise_kernel import NoiseKernel, Recommended, kept
from discreet.model.priors.weights import log_ratio
from discreet.numerics.exact import brief, format_exact
from discreet.numerics.logspace import log1mexp


class ClosedKernel(NoiseKernel):
    """Noise that falls by `ratio` once every `stair` units beyond a plateau of `plateau` units either side."""

    ratio: Fraction
    plateau: int

    @property
    @abstractmethod
    def stair(self) -> int:
        """W: over how many units the noise falls once."""

    def _check(self) -> None:
        if not 0 < self.ratio < 1:
            raise InputError(
                "The ratio of a closed-form kernel lies between 0 and 1",
                found=brief(self.ratio),
                allowed="0 < ratio < 1",
                remedy="correct the ratio",
            )

    def parameters(self) -> dict[str, str | int]:
        return {"ratio": format_exact(self.ratio)}

    @property
    def unit(self) -> Fraction:
        """c: the probability of noise 0."""
        return 1 / ((2 * self.plateau - 1) + 2 * self._beyond)

    @property
    def _beyond(self) -> Fraction:
        """What all further stairs weigh, in units of the one before them."""
        return self.stair * self.ratio / (1 - self.ratio)

    def noise(self, j: int) -> Fraction:
        """f(j)."""
        return self.unit * self.ratio ** self._stairs(abs(j))

    def tail(self, j: int) -> Fraction:
        """Σ_{i ≥ j} f(i): the rest of its stair and all that follow."""
        if j <= 0:
            return 1 - self.tail(1 - j)
        stairs = self._stairs(j)
        return self.unit * self.ratio**stairs * (self._left(j, stairs) + self._beyond)

    def _stairs(self, x: int) -> int:
        return (x + self.stair - self.plateau) // self.stair

    def _left(self, x: int, stairs: int) -> int:
        """Units from x to the end of its stair."""
        return stairs * self.stair + self.plateau - x

    def mass(self, output: int, state: int) -> Fraction:
        """P(output | state), both whole numbers in low..high."""
        if not (self.low <= output <= self.high and self.low <= state <= self.high):
            raise InputError(
                "This kernel has no such state or output",
                found=f"output {output}, state {state}",
                allowed=f"{self.low}..{self.high}",
                remedy="stay in the kernel's range",
            )
        if output == self.low:
            return self.tail(state - self.low)
        if output == self.high:
            return self.tail(self.high - state)
        return self.noise(output - state)

    def probability(self, output: int, place: int) -> Fraction:
        """P(output | total), the output by its position."""
        return self.mass(self.low + output, place)

    def rows(self, states: Sequence[int]) -> list[list[Fraction]]:
        """Probabilities [output][state] for the given totals."""
        self._must_fit(len(states))
        noise = [self.noise(j) for j in range(self.width)]
        lows, highs = {s: self.tail(s - self.low) for s in states}, {s: self.tail(self.high - s) for s in states}
        inner = [[noise[abs(k - s)] for s in states] for k in range(self.low + 1, self.high)]
        return [[lows[s] for s in states], *inner, [highs[s] for s in states]]

    def whole_rows(self, places: Sequence[int]) -> tuple[list[list[int]], int]:
        """Probabilities [output][state] as whole numbers over one denominator."""
        rows = self.rows(places)
        whole = lcm(*(p.denominator for row in rows for p in row))
        return [[p.numerator * (whole // p.denominator) for p in row] for row in rows], whole

    def log_masses(self, outputs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """log P(output | state) [output, state] for some outputs and totals, whole numbers in low..high."""
        fall, unit = log_ratio(self.ratio.numerator, self.ratio.denominator), log_ratio(self.unit.numerator, self.unit.denominator)
        beyond = float(self._beyond)

        def tails(far: np.ndarray) -> np.ndarray:
            ahead = np.where(far > 0, far, 1 - far)
            stairs = (ahead + self.stair - self.plateau) // self.stair
            logs = unit + stairs * fall + np.log(stairs * self.stair + self.plateau - ahead + beyond)
            return np.where(far > 0, logs, log1mexp(np.minimum(logs, 0.0)))

        apart = np.abs(outputs[:, None] - states[None, :])
        table = unit + ((apart + self.stair - self.plateau) // self.stair) * fall
        table[outputs == self.low] = tails(states - self.low)
        table[outputs == self.high] = tails(self.high - states)
        return np.asarray(table)


@dataclass(frozen=True)
class StaircaseKernel(ClosedKernel):
    """Noise that falls by the factor r with every step of the summary: r must not be below e^−ε."""

    low: int
    high: int
    step: int
    plateau: int
    ratio: Fraction
    actions: Recommended | None = None
    family = "staircase"
    most_step = 2**30

    def __post_init__(self) -> None:
        if not 1 <= self.plateau <= self.step:
            raise InputError(
                "A staircase kernel needs a plateau from 1 to the step",
                found=f"step {self.step}, plateau {self.plateau}",
                allowed="for instance step 2, plateau 1",
                remedy="correct the kernel",
            )
        self._check_range()
        self._check()

    @property
    def stair(self) -> int:
        return self.step

    def parameters(self) -> dict[str, str | int]:
        return super().parameters() | {"plateau": self.plateau}

    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> StaircaseKernel:
        return replace(self, actions=kept(actions))


@dataclass(frozen=True)
class GeometricKernel(ClosedKernel):
    """Noise that falls by the factor r with every unit: r^step must not be below e^−ε."""

    low: int
    high: int
    step: int
    ratio: Fraction
    actions: Recommended | None = None
    family = "geometric"

    def __post_init__(self) -> None:
        self._check_range()
        self._check()

    stair = 1
    plateau = 1

    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> GeometricKernel:
        return replace(self, actions=kept(actions))
