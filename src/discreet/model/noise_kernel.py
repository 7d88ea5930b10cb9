"""Kernels that add noise to a whole number by a formula: what all of them answer, whatever their noise.

Outputs are the whole numbers low..high, counted from `low`; the state is a total. With noise J on all integers a state s is
published as min(max(s + J, low), high), so the ends hold what falls beyond them: clipping is post-processing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action
from discreet.model.output import Output
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary
from discreet.model.universe import MOST_STATES, Universe
from discreet.numerics.exact import brief, counted

Recommended = tuple[Action | tuple[Action, ...], ...] | Progression
MOST_TOTAL = 2**62
"""A total below this is moved in 64 bits."""
MOST_TABLE = 50_000_000
"""Entries beyond which a formula is not expanded into a table."""


def kept(actions: Sequence[Action | tuple[Action, ...]]) -> Recommended:
    """What outputs recommend, as a kernel keeps it."""
    return actions if isinstance(actions, Progression) else tuple(actions)


class NoiseKernel(ABC):
    """Noise on whole numbers low..high; `step` is how far one neighbour moves the state.

    `actions` lists the recommended action of each output, low first, when they are kept with the kernel.
    """

    low: int
    high: int
    step: int
    actions: Recommended | None
    family: str
    by_state: ClassVar[bool] = False
    """Whether it reads the position of a state, as a table does; noise reads a total."""
    rational: ClassVar[bool] = True
    """Whether its probabilities are rational numbers."""
    most_step: ClassVar[int] = MOST_TOTAL
    """A step below this can be drawn."""

    @abstractmethod
    def with_actions(self, actions: Sequence[Action | tuple[Action, ...]]) -> Self:
        """The same draws with other recommendations."""

    @abstractmethod
    def log_masses(self, outputs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """log P(output | state) [output, state] for some outputs and totals, whole numbers in low..high."""

    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What says how wide the noise is, as it stands in files."""

    def plain(self, summary: LinearSummary, universe: Universe) -> LinearSummary:
        """The sum that noise is added to, of what the kernel reads: all of it."""
        return summary

    def _check_range(self) -> None:
        if self.low >= self.high or self.step < 1:
            raise InputError(
                f"A {self.family} kernel needs low < high and a step from 1",
                found=f"{self.low}..{self.high}, step {self.step}",
                allowed="for instance 0..40, step 1",
                remedy="correct the kernel",
            )
        if self.actions is not None and len(self.actions) != self.width:
            raise InputError(
                "A closed-form kernel lists an action for every output or none",
                found=f"{len(self.actions)} actions",
                allowed=f"{self.width}",
                remedy="complete the list or leave it out",
            )

    @property
    def width(self) -> int:
        """How many outputs there are."""
        return self.high - self.low + 1

    @property
    def state_count(self) -> int:
        """How many totals it can be read at."""
        return self.width

    @property
    def recommended(self) -> Sequence[Action | tuple[Action, ...] | None] | None:
        """What each output recommends; None when nothing is kept with the kernel."""
        return self.actions

    def output(self, position: int) -> Output:
        return Output(str(self.low + position), None if self.actions is None else self.actions[position])

    @property
    def outputs(self) -> tuple[Output, ...]:
        if self.width > MOST_STATES:
            raise TooLarge(
                "There are too many outputs to list",
                size=f"{counted(self.width)} outputs",
                fits=f"{MOST_STATES:,} outputs",
                remedy="keep to the closed form",
            )
        return tuple(self.output(k) for k in range(self.width))

    @property
    def first_place(self) -> int:
        """The least of the consecutive places at which it is read."""
        return self.low

    def places(self, vectors: np.ndarray) -> np.ndarray:
        """What the kernel reads of each state: its total."""
        return vectors[:, 0]

    def floats(self, places: Sequence[int]) -> np.ndarray:
        """Probabilities [output, state], accurate to about 10^-13: proofs use exact ones."""
        return np.exp(self.logs(places))

    def logs(self, places: Sequence[int]) -> np.ndarray:
        """Natural logarithms [output, state] in floats, from the formula: accurate to about 10^-13."""
        self._must_fit(len(places))
        return self.log_masses(np.arange(self.low, self.high + 1), np.asarray(places, dtype=np.int64))

    def logs_at(self, positions: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Natural logarithms [output, total] of some outputs by position at some totals."""
        return self.log_masses(self.low + np.asarray(positions), places)

    def must_be_drawable(self) -> None:
        """Refuse totals that 64 bits do not hold while a draw moves them."""
        if max(abs(self.low), abs(self.high)) >= MOST_TOTAL or self.step >= self.most_step:
            raise TooLarge(
                "This closed-form kernel stands too far out to be drawn from",
                size=f"a step of {brief(self.step)}",
                fits="totals below 2^62, steps of a staircase below 2^30",
                remedy="use smaller weights",
            )

    def _must_fit(self, states: int) -> None:
        if self.width * states > MOST_TABLE:
            raise TooLarge(
                "This kernel is too large to be written as a table",
                size=f"{self.width:,} outputs × {states:,} states",
                fits=f"{MOST_TABLE:,} entries",
                remedy="keep its closed form",
            )
