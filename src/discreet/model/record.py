"""The record of a design: how a mechanism came about and what was computed beside it, kept so that nobody has to guess it again.

It names its mechanism by hash. Nothing in it is proved: proofs stand in the certificate. Numbers are floats, as they were computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from math import sqrt
from typing import Any

from discreet.frozen import dataclass
from discreet.model.gap import relative_gap


@dataclass(frozen=True)
class Step:
    """A route that was considered: whether it was taken, by which theorem, and why or why not."""

    name: str
    applied: bool
    theorem: str
    reason: str

    def __str__(self) -> str:
        verdict = "applied" if self.applied else "did not apply"
        cited = f" ({self.theorem})" if self.theorem else ""
        return f"{self.name}{cited} {verdict}: {self.reason}"


@dataclass(frozen=True)
class Reached:
    """A rung of the ladder that was climbed: its loss and lower bound as floats, and the seconds it took."""

    name: str
    loss: float
    lower_bound: float
    seconds: float

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.loss, self.lower_bound)

    def __str__(self) -> str:
        return f"rung {self.name}: loss {self.loss:.6g}, lower bound {self.lower_bound:.6g}, {self.seconds:.1f} s"


@dataclass(frozen=True)
class Baseline:
    """What another way of publishing would be worth with the same ε; None with a reason when it cannot be computed."""

    name: str
    value: float | None
    words: str

    @property
    def loss(self) -> float | None:
        return None if self.value is None else 0.0 - self.value  # no loss is 0, not -0

    def without_value(self, reason: str) -> Baseline:
        """The same, with the reason why its worth is not told."""
        return Baseline(self.name, None, f"{self.words}; not computed: {reason}")


@dataclass(frozen=True, eq=False)
class Behaviour:
    """How recommended actions behave: regression on ω (slope), bias and squared error under the prior, the largest risk at any ω.

    NaN where actions are no numbers. `unbiased_variance` is that of an unbiased estimator from the outputs, where there is one.
    """

    slope: float
    average_bias: float
    spread: float
    worst_risk: float
    unbiased_variance: float | None

    def total_error(self, cells: int) -> float:
        """Root mean squared error of a total of actions over many cells whose ω are drawn from the prior."""
        return sqrt(max(cells * self.spread + (cells * self.average_bias) ** 2, 0.0))

    @property
    def for_adding_up(self) -> bool:
        """Whether high and low cells are reported without being pulled together: the regression of action on ω is near 1."""
        return self.unbiased_variance is not None or abs(self.slope - 1.0) < 0.05


@dataclass(frozen=True, eq=False)
class Making:
    """How a design was made: what was considered, what people do today, where the time went and how it ended."""

    steps: tuple[Step, ...]
    baselines: Mapping[str, Baseline]
    seconds: Mapping[str, float]
    status: str
    within: str | None = None
    price: float | None = None
    notes: tuple[str, ...] = field(default=())
    rungs: tuple[Reached, ...] = field(default=())

    @property
    def course(self) -> dict[str, Any]:
        """All of this by its names."""
        return {each.name: getattr(self, each.name) for each in fields(Making)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Record(Making):
    """What a design knew when it was made, beside mechanism and certificate; `behaviour` is None where nobody looked."""

    mechanism: str
    behaviour: Behaviour | None = None
