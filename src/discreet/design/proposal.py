"""What the search for a mechanism hands on: proposals, the steps that led to them and the rungs that were reached.

A proposal is an exact kernel on a summary, a witness of a bound, or both. Floats proposed it; `certified` proves it.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.model.certificate import Witness
from discreet.model.gap import relative_gap
from discreet.model.kernel import Kernel
from discreet.model.summary import Summary


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


@dataclass(frozen=True, eq=False)
class Proposal:
    """An exact kernel on a summary, with the witness of a bound when there is one.

    `words` say what the kernel is, `status` how the search for it ended, `reason` why this route was taken.
    """

    summary: Summary
    kernel: Kernel
    witness: Witness | None
    words: str
    status: str
    rungs: tuple[Reached, ...] = ()

    @property
    def relative_gap(self) -> float:
        """Between the least loss and the largest lower bound of all rungs, in floats."""
        return relative_gap(min(r.loss for r in self.rungs), max(r.lower_bound for r in self.rungs))
