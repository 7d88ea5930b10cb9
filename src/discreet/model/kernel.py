"""Kernels: exact probabilities of each output at each state (DR Def. 1.1.2).

`table` is integer weights [output][state] over one denominator 2^B shared by all states; `geometric` and `staircase` are closed
forms (`closed_kernel`), `discrete-gaussian` is known from both sides (`gaussian_kernel`), `counted` is noise that follows a count
beside a sum (`counted_kernel`). Every kernel answers the same
questions: `width`, `output(k)`, `outputs`, `recommended`, and, for what it reads of states (`places`), `probability`,
`whole_rows`, `floats`, `logs` and `logs_at`; and says what it reads (`by_state`) and whether its numbers are `rational`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import Action
from discreet.model.closed_kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.model.counted_kernel import CountedKernel
from discreet.model.gaussian_kernel import GaussianKernel
from discreet.model.noise_kernel import NoiseKernel
from discreet.model.output import Output
from discreet.model.priors.weights import log_ratio
from discreet.numerics.exact import brief


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
    by_state = True
    rational = True
    first_place = 0

    def __post_init__(self) -> None:
        if self.denominator <= 0 or self.denominator & (self.denominator - 1):
            raise InputError(
                "The denominator of a kernel must be a power of two",
                found=brief(self.denominator),
                allowed="2^B",
                remedy="write the weights over a power of two",
            )
        if not self.states or not self.outputs:
            raise InputError(
                "A kernel needs states and outputs",
                found=f"{len(self.states)} states, {len(self.outputs)} outputs",
                allowed="at least one of each",
                remedy="complete the kernel",
            )
        _must_differ(self.states, "states")
        _must_differ([output.label for output in self.outputs], "outputs")
        if len(self.weights) != len(self.outputs) or any(len(row) != len(self.states) for row in self.weights):
            raise InputError(
                "The weights are not one row for each output with one entry for each state",
                found=f"{len(self.weights)} rows",
                allowed=f"{len(self.outputs)} rows of {len(self.states)} weights",
                remedy="complete the weights",
            )
        sums = [0] * len(self.states)
        for row in self.weights:
            if min(row) < 0:
                raise InputError(
                    "A weight is negative",
                    found=brief(min(row)),
                    allowed="whole numbers from 0",
                    remedy="a probability is never negative: correct it",
                )
            sums = [s + w for s, w in zip(sums, row, strict=True)]
        for label, total in zip(self.states, sums, strict=True):
            if total != self.denominator:
                raise InputError(
                    f"The weights of state {label!r} do not sum to the denominator",
                    found=f"a difference of {brief(total - self.denominator)}",
                    allowed="a difference of 0",
                    remedy="every state's probabilities must sum to one",
                )

    @property
    def width(self) -> int:
        """How many outputs there are."""
        return len(self.outputs)

    @property
    def state_count(self) -> int:
        """How many states it can be read at."""
        return len(self.states)

    @property
    def recommended(self) -> tuple[Action | tuple[Action, ...] | None, ...]:
        """What each output recommends."""
        return tuple(output.action for output in self.outputs)

    def output(self, position: int) -> Output:
        return self.outputs[position]

    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> TableKernel:
        """The same draws with other recommendations."""
        outputs = tuple(replace(output, action=action) for output, action in zip(self.outputs, actions, strict=True))
        return replace(self, outputs=outputs)

    def places(self, vectors: np.ndarray) -> np.ndarray:
        """What the kernel reads of each state: its position."""
        return np.arange(len(vectors))

    def probability(self, output: int, place: int) -> Fraction:
        """P(output | state) by their positions."""
        return Fraction(self.weights[output][place], self.denominator)

    def whole_rows(self, places: Sequence[int]) -> tuple[list[list[int]], int]:
        """Probabilities [output][state] as whole numbers over one denominator."""
        return [[row[place] for place in places] for row in self.weights], self.denominator

    def floats(self, places: Sequence[int]) -> np.ndarray:
        """Probabilities [output, state], correctly rounded."""
        d = self.denominator
        return np.array([[row[place] / d for place in places] for row in self.weights])

    def logs(self, places: Sequence[int]) -> np.ndarray:
        """Natural logarithms [output, state], −inf where an output is impossible; no underflow."""
        every = range(len(self.states))
        return self.log_table if list(places) == list(every) else self.log_table[:, list(places)]

    @cached_property
    def log_table(self) -> np.ndarray:
        """The logarithms [output, state] of all states."""
        plain = self.floats(range(len(self.states)))
        with np.errstate(divide="ignore"):
            logs = np.log(plain)
        for output, state in np.argwhere(plain < 1e-300).tolist():
            logs[output, state] = log_ratio(self.weights[output][state], self.denominator)
        return logs

    def logs_at(self, positions: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Natural logarithms [output, state] of some outputs at some states, both by position."""
        return np.asarray(self.log_table[np.ix_(positions, places)])

    def must_be_drawable(self) -> None:
        """Every table can be drawn from."""

    @cached_property
    def output_index(self) -> dict[str, int]:
        return {output.label: i for i, output in enumerate(self.outputs)}


Kernel = TableKernel | ClosedKernel | GaussianKernel | CountedKernel


def _must_differ(labels: Sequence[str], what: str) -> None:
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise InputError(
            f"Two {what} of the kernel have the same label",
            found=repr(twice[0]),
            allowed="different labels",
            remedy="merge or rename them",
        )


__all__ = [
    "ClosedKernel",
    "CountedKernel",
    "GaussianKernel",
    "GeometricKernel",
    "Kernel",
    "NoiseKernel",
    "Output",
    "StaircaseKernel",
    "TableKernel",
]
