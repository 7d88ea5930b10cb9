"""The ladder's quotient bounds: which groups of types, how many states, how long, and the witness that comes out.

The quotient reads any private mechanism through (number of respondents without the reference type, ω); the grouped quotient
counts two groups of types apart, those that the best weighted sum reads in full and those that it clips (or the nearest type and
the rest). Small programs go to an interior point, larger ones to first-order steps; a program leaves out as little of the prior
as the time allows.

Conditions: those of the chain bound, and squared error. Nodes are real, so listed actions are bounded too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from discreet.design.ladder.averaged import Averages, averages
from discreet.design.ladder.quotient import QuotientBound, large_quotient_bound, quotient_bound_of
from discreet.design.ladder.quotient_witness import quotient_witness
from discreet.design.ladder.weights import Weights
from discreet.design.readings import Reader
from discreet.errors import TooLarge
from discreet.model.certificate import QuotientWitness
from discreet.watch import SILENT, Watch

LEAVE_OUT = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7)
"""Shares of the prior that a program may leave out, tried in turn as long as its states fit."""
FINE = 1e-4
"""What is left out below this share matters only to programs small enough for an interior point."""
SMALL = 200
"""States up to which the interior point is quick."""
STATES_PER_SECOND = 300
"""So that a thousand steps fit."""
MOST_STATES = 5_000
CLIPPED = 0.75
"""From this share of the largest weight on, a type counts as read by the clipped end of a weighted sum."""
SHORTEST = 2.0
"""Seconds below which nothing is begun."""


@dataclass(frozen=True, eq=False)
class Tighter:
    """A lower bound on the loss, the decision's weight included, with its witness."""

    name: str
    lower_bound: float
    witness: QuotientWitness


def quotient(
    reader: Reader, program: Averages, loss: float, gap: float, seconds: float, watch: Watch = SILENT
) -> Tighter:
    """The bound that a fitting program proves within the time; `loss` is that of a good mechanism."""
    name = "quotient bound" if len(program.groups) == 1 else "grouped quotient bound"
    weight = float(reader.problem.decision.weight)
    found: QuotientBound
    if program.size <= SMALL:
        found = quotient_bound_of(program, reader.epsilon, gap=max(1e-6, 0.1 * gap), seconds=seconds, watch=watch)
    else:
        mean = float(program.masses @ program.statistics) / float(program.masses.sum())
        variance = float(program.masses @ (program.statistics - mean) ** 2)
        spread = sqrt(max(variance - loss / weight, 0.05 * variance))
        found = large_quotient_bound(program, reader.epsilon, spread, max(1e-5, 0.1 * gap), seconds, watch)
    witness = quotient_witness(found, reader.kept, reader.problem.omega_range)
    return Tighter(name, found.lower_bound * weight, witness)


def fitting(reader: Reader, groups: Sequence[Sequence[int]] | None, seconds: float) -> Averages | None:
    """The program that leaves out least among those that the time allows; None when there is none, or no squared error.

    One group is for few states, where it is quick, and for three types, where ω tells the other two apart; elsewhere the chain
    bound is as good (observed).
    """
    if seconds < SHORTEST or reader.problem.decision.kind != "squared-error":
        return None
    most = int(min(MOST_STATES, STATES_PER_SECOND * seconds))
    if groups is None and len(reader.kept) > 3:
        most = min(most, SMALL)
    found = None
    for share in LEAVE_OUT:
        most = most if share >= FINE else min(most, SMALL)
        try:
            found = averages(
                reader.exact_probabilities, reader.exact_values, reader.respondents, None, groups, most, share
            )
        except TooLarge:
            break
    return found


def two_groups(reader: Reader, weights: Weights) -> list[list[int]] | None:
    """The types but the reference in two groups; None when there are fewer than three: two are told apart by ω already."""
    p, v = reader.exact_probabilities, reader.exact_values
    reference = max(range(len(p)), key=lambda t: p[t])
    others = [t for t in range(len(p)) if t != reference]
    if len(others) < 3:
        return None
    reads = {t: abs(weights[t] - weights[reference]) for t in others}
    far = [t for t in others if reads[t] >= CLIPPED * max(reads.values())]
    near = [t for t in others if t not in far]
    if not near:
        least = min(abs(v[t] - v[reference]) for t in others)
        near = [t for t in others if abs(v[t] - v[reference]) == least]
        far = [t for t in others if t not in near]
    return [near, far] if far else None
