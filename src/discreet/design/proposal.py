"""What the search for a mechanism hands on: proposals, with the rungs that were reached.

A proposal is an exact kernel on a summary, a witness of a bound, or both. Floats proposed it; `certified` proves it.
"""

from __future__ import annotations

from discreet.frozen import dataclass
from discreet.model.certificate import Witness
from discreet.model.gap import relative_gap
from discreet.model.kernel import Kernel
from discreet.model.record import Reached
from discreet.model.summary import Summary


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
