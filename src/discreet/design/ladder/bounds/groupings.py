"""The ladder's quotient bounds: which groups of types, how many states, how long, and the witness that comes out.

The quotient reads any private mechanism through (number of respondents without the reference type, ω); the grouped quotient
counts two groups of types apart: those that the best weighted sum reads in full and those that it clips, or those whose values
are alike. Small programs go to an interior point, larger ones to first-order steps; a program leaves out as little of the prior
as the time allows.

Conditions: those of the chain bound. Where listed actions are too many, nodes are real and bound them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.design.ladder.bounds.averaged import Averages, averages
from discreet.design.ladder.bounds.quotient import QuotientBound, large_quotient_bound, quotient_bound_of
from discreet.design.ladder.bounds.quotient_witness import quotient_witness
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.weights import CLIPPED
from discreet.design.pace import pace
from discreet.design.schedule import SHORTEST_RUNG, STATES_PER_SECOND
from discreet.errors import TooLarge
from discreet.model.certificate import QuotientWitness
from discreet.watch import SILENT, Watch

LEAVE_OUT = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7)
"""Shares of the prior that a program may leave out, tried in turn as long as its states fit."""
FINE = ((3e-4, 600), (1e-4, 200))
"""Below these shares what is left out matters only to programs of so many states, which are solved to more digits."""
SMALL = 200
"""States up to which the interior point is quick."""
MOST_STATES = 5_000
ALIKE = 0.15
"""Share of the variance of one value that may lie within the clipped groups."""


@dataclass(frozen=True, eq=False)
class Tighter:
    """A lower bound on the loss, the decision's weight included, with its witness."""

    name: str
    lower_bound: float
    witness: QuotientWitness


def quotient(reader: Reader, program: Averages, loss: float, gap: float, seconds: float, watch: Watch = SILENT) -> Tighter:
    """The bound that a fitting program proves within the time; `loss` is that of a good mechanism."""
    name = "quotient bound" if len(program.groups) == 1 else "grouped quotient bound"
    weight = float(reader.problem.decision.weight)
    stakes = Stakes.of(reader.problem.decision, program.statistics)
    found: QuotientBound
    if program.size <= SMALL:
        found = quotient_bound_of(program, reader.epsilon, gap=max(1e-6, 0.1 * gap), seconds=seconds, watch=watch, stakes=stakes)
    else:
        found = large_quotient_bound(program, reader.epsilon, loss / weight, max(5e-4, 0.1 * gap), seconds, watch, stakes)
    weighed = replace(found, multipliers=weight * found.multipliers)
    ends = None if stakes.listed else reader.problem.omega_range
    witness = quotient_witness(weighed, reader.law.types, ends)
    return Tighter(name, found.lower_bound * weight, witness)


def grouped_program(reader: Reader, weights: Weights, seconds: float) -> Averages | None:
    """A program for two groups of types; None when there are fewer than three types to group, or when it does not fit."""
    return None if len(_others(reader)) < 3 else fitting(reader, two_groups(reader, weights), seconds)


def fitting(reader: Reader, groups: Sequence[Sequence[int]] | None, seconds: float) -> Averages | None:
    """The program that leaves out least among those that the time allows; None when there is none.

    One group is for few states, where it is quick, and for three types, where ω tells the other two apart; elsewhere the chain
    bound is as good (observed).
    """
    if seconds < SHORTEST_RUNG:
        return None
    most = int(min(MOST_STATES, STATES_PER_SECOND * seconds / pace()))
    if groups is None and len(reader.law.types) > 3:
        most = min(most, SMALL)
    found = None
    for share in LEAVE_OUT:
        most = min([most] + [limit for finer, limit in FINE if share < finer])
        try:
            found = averages(reader.law, None, groups, most, share)
        except TooLarge:
            break
    return found


def clipped_groups(reader: Reader, weights: Weights) -> list[list[int]] | None:
    """The types but the reference: those that a weighted sum reads in full, and those at its clipped end; None without three."""
    v, others = reader.law.values, _others(reader)
    if len(others) < 3:
        return None
    reference = _reference(reader)
    reads = {t: abs(weights[t] - weights[reference]) for t in others}
    far = [t for t in others if reads[t] >= CLIPPED * max(reads.values())]
    near = [t for t in others if t not in far]
    if not near:
        least = min(abs(v[t] - v[reference]) for t in others)
        near = [t for t in others if abs(v[t] - v[reference]) == least]
        far = [t for t in others if t not in near]
    return [near, far] if far else None


def two_groups(reader: Reader, weights: Weights) -> list[list[int]]:
    """The clipped groups, unless their values differ much: then the two runs of values that differ least within."""
    clipped = clipped_groups(reader, weights)
    others = sorted(_others(reader), key=lambda t: reader.law.values[t])
    runs = [[others[:i], others[i:]] for i in range(1, len(others))]
    best = min(runs, key=lambda groups: sum(_within(reader, g) for g in groups))
    whole = _within(reader, list(range(len(reader.law.types))))
    if clipped is not None and sum(_within(reader, g) for g in clipped) <= ALIKE * whole:
        return clipped
    return best


def _within(reader: Reader, types: Sequence[int]) -> float:
    """Σ p (v − mean)² over some types."""
    p, v = reader.probabilities[list(types)], np.array(reader.values)[list(types)]
    return float(p @ (v - p @ v / p.sum()) ** 2)


def _reference(reader: Reader) -> int:
    p = reader.law.probabilities
    return max(range(len(p)), key=lambda t: p[t])


def _others(reader: Reader) -> list[int]:
    return [t for t in range(len(reader.law.types)) if t != _reference(reader)]
