"""A rung of the ladder: one more mechanism or one more bound, from what was reached below it.

Adding a rung is adding a class beside its mathematics and its name to `climb.RUNGS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.model.certificate import Witness
from discreet.model.gap import reached
from discreet.model.kernel import Kernel
from discreet.model.problem import Problem
from discreet.model.summary import Summary
from discreet.watch import Watch

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.crowd import CrowdChoice, TriedCrowd


@dataclass(frozen=True, eq=False)
class Found:
    """What a rung adds: a mechanism with its loss, or a lower bound with its witness. `weights` lead the rungs above."""

    loss: float | None = None
    summary: Summary | None = None
    kernel: Kernel | None = None
    words: str = ""
    weights: Weights | None = None
    lower_bound: float | None = None
    witness: Witness | None = None


class Height:
    """How far the climb has come: the best mechanism, the best bound and the best weights, each for itself."""

    def __init__(self, problem: Problem, gap: float, watch: Watch) -> None:
        self.problem, self.gap, self.watch = problem, gap, watch
        self.reader = Reader(problem)
        self.mechanism, self.bound = Found(loss=float("inf")), Found(lower_bound=float("-inf"))
        self.weights: Weights = ()
        self.least_noise = float("inf")
        self.listed = 0
        """Likely histograms that were told apart."""
        self.counted = False
        """Whether noise that follows a count was looked for."""
        self.urn_pace = 1.0
        """What steps of the urn bound take, against what was guessed."""
        self.boxes_in_vain = 0.0
        """The most seconds in which boxes promised nothing."""
        self.searched: set[tuple[int, ...]] = set()
        """Weights of one sum from which better ones were searched for."""
        self.rough_sums: dict[tuple[tuple[int, ...], ...], float] = {}
        """What sums over the others prove in a rough program."""
        self.thrown = False
        """Whether few respondents have thrown dice."""
        self.tried_crowds: list[TriedCrowd] | None = None
        """Who may stay unknown, once they are tried."""
        self.by_crowd: CrowdChoice | None = None
        """Who does, where that promises more than dice."""
        self.solved_crowds: dict[CrowdChoice, int] = {}
        """Those that were solved, with states times nodes of all programs."""
        self.begun_in = 0.0
        """Seconds that the first rungs took."""
        self.makers: list[Height] = []
        """How far each of several decision makers would come alone."""
        self.tried: dict[tuple[Weights, tuple[int, ...]], int] = {}
        """Pairs of a sum and a count, and the most states of each that were solved."""

    @property
    def loss(self) -> float:
        assert self.mechanism.loss is not None
        return self.mechanism.loss

    @property
    def lower_bound(self) -> float:
        assert self.bound.lower_bound is not None
        return self.bound.lower_bound

    @property
    def enough(self) -> bool:
        """Whether the gap that was asked for is reached."""
        return self.mechanism.kernel is not None and reached(self.loss, self.lower_bound, self.gap)

    def take(self, found: Found) -> None:
        """Keep what is better than before."""
        if found.loss is not None and found.loss < self.loss:
            self.mechanism = found
        if found.weights is not None and found.loss is not None and found.loss < self.least_noise:
            self.weights, self.least_noise = found.weights, found.loss
        if found.lower_bound is not None and found.lower_bound > self.lower_bound:
            self.bound = found


class Rung(ABC):
    """One step up: `name` for the reader, `theorem` for its proof."""

    name: str
    theorem: str = ""
    least_seconds: float = 0.0
    """Below this it is not begun."""

    needs_weights: bool = True
    """Whether it begins from weights that were found below."""

    def why_not(self, problem: Problem) -> str | None:
        """The first condition that fails, in words; None when the rung can be climbed."""
        return None

    @abstractmethod
    def climb(self, height: Height, seconds: float) -> Found | None:
        """What this rung adds within the time; None when it would take longer or adds nothing."""
