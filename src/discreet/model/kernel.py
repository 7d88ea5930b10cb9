"""Kernels: exact probabilities of each output at each state.

`table`      integer weights [output][state] over one denominator 2^B shared by all states
`geometric`  on whole numbers low..high: output k at state s has probability ∝ r^|k−s|, tails gathered at the ends
`staircase`  the same with probability falling by the factor r once every `step` units beyond a plateau

Closed forms follow from a rational r, so ten million states need no table. With noise f(j) on all integers,
P(k|s) = f(k−s) inside, and the ends hold the tails Σ_{j ≤ low−s} f(j) and Σ_{j ≥ high−s} f(j):
  geometric  f(j) = (1−r)/(1+r) · r^|j|
  staircase  f(j) = c · r^e(|j|), e(x) = ⌊(x + W − m)/W⌋, c⁻¹ = (2m−1) + 2W·r/(1−r), step W, plateau m in 1..W
Geometric is the staircase with W = m = 1. References: SY fn 28, Ghosh et al. 2012; Geng & Viswanath 2015.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action
from discreet.model.priors.weights import log_ratio
from discreet.numerics.exact import brief

MOST_TABLE = 50_000_000
"""Entries beyond which a closed form is not expanded into a table."""


@dataclass(frozen=True)
class Output:
    """A published value and the action that it recommends (several actions for several decision makers)."""

    label: str
    action: Action | tuple[Action, ...] | None = None


@dataclass(frozen=True)
class TableKernel:
    """Weights [output][state] over `denominator`, a power of two; every state's weights sum to it.

    `stated_edges` is what a file says about the graph: never trusted, only compared with the derived one.
    """

    states: tuple[str, ...]
    outputs: tuple[Output, ...]
    weights: tuple[tuple[int, ...], ...]
    denominator: int
    stated_edges: tuple[tuple[int, int], ...] | None = field(default=None, compare=False, repr=False)
    family = "table"

    def __post_init__(self) -> None:
        if self.denominator <= 0 or self.denominator & (self.denominator - 1):
            raise InputError(
                "The denominator of a kernel must be a power of two", found=brief(self.denominator),
                allowed="2^B", remedy="write the weights over a power of two",
            )
        if not self.states or not self.outputs:
            raise InputError(
                "A kernel needs states and outputs", found=f"{len(self.states)} states, {len(self.outputs)} outputs",
                allowed="at least one of each", remedy="complete the kernel",
            )
        _must_differ(self.states, "states")
        _must_differ([output.label for output in self.outputs], "outputs")
        if len(self.weights) != len(self.outputs) or any(len(row) != len(self.states) for row in self.weights):
            raise InputError(
                "The weights are not one row for each output with one entry for each state",
                found=f"{len(self.weights)} rows", allowed=f"{len(self.outputs)} rows of {len(self.states)} weights",
                remedy="complete the weights",
            )
        sums = [0] * len(self.states)
        for row in self.weights:
            if min(row) < 0:
                raise InputError(
                    "A weight is negative", found=brief(min(row)), allowed="whole numbers from 0",
                    remedy="a probability is never negative: correct it",
                )
            sums = [s + w for s, w in zip(sums, row, strict=True)]
        for label, total in zip(self.states, sums, strict=True):
            if total != self.denominator:
                raise InputError(
                    f"The weights of state {label!r} do not sum to the denominator",
                    found=f"a difference of {brief(total - self.denominator)}", allowed="a difference of 0",
                    remedy="every state's probabilities must sum to one",
                )

    def probability(self, output: int, state: int) -> Fraction:
        return Fraction(self.weights[output][state], self.denominator)

    @cached_property
    def output_index(self) -> dict[str, int]:
        return {output.label: i for i, output in enumerate(self.outputs)}


@dataclass(frozen=True)
class StaircaseKernel:
    """States and outputs are the whole numbers low..high; `step` is how far one neighbour moves the state.

    `actions` lists the recommended action of each output, low first, when they are kept with the kernel.
    """

    low: int
    high: int
    step: int
    plateau: int
    ratio: Fraction
    actions: tuple[Action | tuple[Action, ...], ...] | None = None
    family = "staircase"

    def __post_init__(self) -> None:
        if self.low >= self.high or self.step < 1 or not 1 <= self.plateau <= self.step:
            raise InputError(
                "A staircase kernel needs low < high, a step from 1 and a plateau from 1 to the step",
                found=f"{self.low}..{self.high}, step {self.step}, plateau {self.plateau}",
                allowed="for instance 0..40, step 2, plateau 1", remedy="correct the kernel",
            )
        _check_closed_form(self)

    @property
    def unit(self) -> Fraction:
        """c: the probability of noise 0."""
        r = self.ratio
        return 1 / ((2 * self.plateau - 1) + 2 * self.step * r / (1 - r))

    def noise(self, j: int) -> Fraction:
        """f(j)."""
        return self.unit * self.ratio ** self._stair(abs(j))

    def tail(self, j: int) -> Fraction:
        """Σ_{i ≥ j} f(i)."""
        if j <= 0:
            return 1 - self.tail(1 - j)
        stair = self._stair(j)
        if stair == 0:
            inner = self.plateau - j
            return self.unit * (inner + self.step * self.ratio / (1 - self.ratio))
        left = stair * self.step + self.plateau - j  # entries from j to the end of its stair
        return self.unit * (left * self.ratio**stair + self.step * self.ratio ** (stair + 1) / (1 - self.ratio))

    def _stair(self, x: int) -> int:
        return (x + self.step - self.plateau) // self.step


@dataclass(frozen=True)
class GeometricKernel:
    """As the staircase kernel, but falling by the factor r with every unit: r^step must not be below e^−ε."""

    low: int
    high: int
    step: int
    ratio: Fraction
    actions: tuple[Action | tuple[Action, ...], ...] | None = None
    family = "geometric"

    def __post_init__(self) -> None:
        if self.low >= self.high or self.step < 1:
            raise InputError(
                "A geometric kernel needs low < high and a step from 1",
                found=f"{self.low}..{self.high}, step {self.step}", allowed="for instance 0..40, step 1",
                remedy="correct the kernel",
            )
        _check_closed_form(self)

    def noise(self, j: int) -> Fraction:
        r = self.ratio
        return (1 - r) / (1 + r) * r ** abs(j)

    def tail(self, j: int) -> Fraction:
        r = self.ratio
        return r**j / (1 + r) if j > 0 else 1 - r ** (1 - j) / (1 + r)


ClosedKernel = GeometricKernel | StaircaseKernel
Kernel = TableKernel | GeometricKernel | StaircaseKernel


def closed_probability(kernel: ClosedKernel, output: int, state: int) -> Fraction:
    """P(output | state) of a closed form, both whole numbers in low..high."""
    if not (kernel.low <= output <= kernel.high and kernel.low <= state <= kernel.high):
        raise InputError(
            "This kernel has no such state or output", found=f"output {output}, state {state}",
            allowed=f"{kernel.low}..{kernel.high}", remedy="stay in the kernel's range",
        )
    if output == kernel.low:
        return kernel.tail(state - kernel.low)
    if output == kernel.high:
        return kernel.tail(kernel.high - state)
    return kernel.noise(output - state)


def closed_rows(kernel: ClosedKernel, states: Sequence[int]) -> list[list[Fraction]]:
    """Probabilities [output][state] for the given states."""
    width = kernel.high - kernel.low + 1
    if width * len(states) > MOST_TABLE:
        raise TooLarge(
            "This kernel is too large to be written as a table", size=f"{width:,} outputs × {len(states):,} states",
            fits=f"{MOST_TABLE:,} entries", remedy="keep its closed form",
        )
    noise = [kernel.noise(j) for j in range(width)]
    lows = {s: kernel.tail(s - kernel.low) for s in states}
    highs = {s: kernel.tail(kernel.high - s) for s in states}
    inner = [[noise[abs(k - s)] for s in states] for k in range(kernel.low + 1, kernel.high)]
    return [[lows[s] for s in states], *inner, [highs[s] for s in states]]


def closed_log_table(kernel: ClosedKernel, states: Sequence[int]) -> np.ndarray:
    """Natural logarithms [output, state] in floats, from the formula: accurate to about 10^-13, for proposals and readers."""
    width = kernel.high - kernel.low + 1
    if width * len(states) > MOST_TABLE:
        raise TooLarge(
            "This kernel is too large to be written as a table", size=f"{width:,} outputs × {len(states):,} states",
            fits=f"{MOST_TABLE:,} entries", remedy="keep its closed form",
        )
    step, plateau = (1, 1) if isinstance(kernel, GeometricKernel) else (kernel.step, kernel.plateau)
    ratio = kernel.ratio
    fall = log_ratio(ratio.numerator, ratio.denominator)
    beyond = float(step * ratio / (1 - ratio))
    unit = -np.log(2 * plateau - 1 + 2 * beyond)
    places = np.asarray(states, dtype=np.int64)[None, :]
    outputs = np.arange(kernel.low, kernel.high + 1)[:, None]
    stairs = (np.abs(outputs - places) + step - plateau) // step
    table = unit + stairs * fall
    for row, far in ((0, places[0] - kernel.low), (-1, kernel.high - places[0])):
        table[row] = [_log_tail(int(d), step, plateau, fall, beyond, unit) for d in far]
    return np.asarray(table)


def _log_tail(far: int, step: int, plateau: int, fall: float, beyond: float, unit: float) -> float:
    """log Σ_{i ≥ far} f(i): the rest of its stair and all that follow; the whole less the other tail when far ≤ 0."""
    if far <= 0:
        return float(np.log1p(-np.exp(_log_tail(1 - far, step, plateau, fall, beyond, unit))))
    stair = (far + step - plateau) // step
    left = stair * step + plateau - far
    return float(unit + stair * fall + np.log(left + beyond))


def _check_closed_form(kernel: ClosedKernel) -> None:
    if not 0 < kernel.ratio < 1:
        raise InputError(
            "The ratio of a closed-form kernel lies between 0 and 1", found=brief(kernel.ratio),
            allowed="0 < ratio < 1", remedy="correct the ratio",
        )
    if kernel.actions is not None and len(kernel.actions) != kernel.high - kernel.low + 1:
        raise InputError(
            "A closed-form kernel lists an action for every output or none", found=f"{len(kernel.actions)} actions",
            allowed=f"{kernel.high - kernel.low + 1}", remedy="complete the list or leave it out",
        )


def _must_differ(labels: Sequence[str], what: str) -> None:
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise InputError(
            f"Two {what} of the kernel have the same label", found=repr(twice[0]), allowed="different labels",
            remedy="merge or rename them",
        )
