"""What whoever watches a design hears: payoffs, though solvers speak of losses."""

from __future__ import annotations

import time
from typing import Any

from discreet.frozen import dataclass
from discreet.model.problem import Problem
from discreet.watch import Watch


@dataclass(frozen=True)
class AsPayoffs:
    """Solvers report losses from above and below; whoever watches a design hears payoffs."""

    inner: Watch
    of_errors: bool = False
    """Whether every decision maker loses an error: no bound below 0 tells anything then."""

    @classmethod
    def of(cls, problem: Problem, watch: Watch) -> AsPayoffs:
        """For whoever watches the design of this problem."""
        return cls(watch, all(d.is_loss for d in problem.decisions))

    def report(self, **told: Any) -> None:
        """Pass the report on with its signs turned."""
        if self.of_errors and told.get("bound") is not None:
            told["bound"] = max(told["bound"], 0.0)
        turned = {name: -told[name] for name in ("value", "bound") if told.get(name) is not None}
        self.inner.report(**told | turned)

    def cancelled(self) -> bool:
        """Whether the one who watches wants to stop."""
        return self.inner.cancelled()


@dataclass(frozen=True)
class Quiet:
    """Passes on only the wish to stop: what a part reports about itself would mislead whoever watches the whole."""

    inner: Watch

    def report(self, **told: object) -> None:
        """Say nothing."""

    def cancelled(self) -> bool:
        return self.inner.cancelled()


@dataclass(frozen=True)
class Among:
    """Adds to what a part reports which part of the whole it is, and how long the rest takes if it goes on like this."""

    inner: Watch
    name: str
    part: int
    parts: int
    begun: float
    """When the first part was."""

    def report(self, **told: Any) -> None:
        """Pass the report on; what the part says of itself comes after."""
        words, done = f"{self.name} {self.part} of {self.parts}", self.part - 1
        if done:
            left = (time.monotonic() - self.begun) / done * (self.parts - done)
            words += f" (all: about {left / 60:.0f} min left)" if left > 90 else f" (all: about {left:.0f} s left)"
        message = told.get("message")
        self.inner.report(**{**told, "message": f"{words}, {message}" if message else words})

    def cancelled(self) -> bool:
        return self.inner.cancelled()
