"""The best mechanism that reads only the statistic, kept beside the best of all: what the restriction costs.

A bound on all mechanisms bounds these as well. Whatever is proved on the way competes if it reads no more than the statistic, what
people do today included; ways that read more are not shown beside a design that may not.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.design.certified import Bound, Candidate, Proofs
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import statistic_lattice
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.numerics.exact import whole_steps

OBLIVIOUS = "oblivious"


class ObliviousProofs(Proofs):
    """The best candidate that reads only the statistic, and the best bound on all."""

    def keep(self, candidate: Candidate | None, limit: Bound | None) -> bool:
        admitted = candidate if candidate is not None and reads_only_the_statistic(candidate.mechanism) else None
        return super().keep(admitted, limit)


def reads_only_the_statistic(mechanism: Mechanism) -> bool:
    """Whether the state that it reads follows from ω: a sum with the same steps, clipped or not, or nothing at all."""
    lattice, summary = statistic_lattice(mechanism.problem), mechanism.summary
    if lattice is None or not isinstance(summary, LinearSummary) or isinstance(mechanism.kernel, CountedKernel):
        return False
    least = min(summary.weights) if mechanism.problem.people.fixed else 0
    _, steps = whole_steps([Fraction(w - least) for w in summary.weights])
    return not any(steps) or steps == lattice.summary.weights
