"""The quotient bound as a witness that `certify.quotient` checks: whole-number multipliers on inequalities in exact form.

The program's rows speak of averages mbar(a|s), the lemma of masses M_a(s) = pi(s) mbar(a|s).  A multiplier f of
`e^eps avg - mbar(s)` is the multiplier f / (pi(s) sum_j n_j c_j) of `e^eps A(s) - C(s) M(s)`, and so for the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.bounds.quotient import QuotientBound
from discreet.design.ladder.bounds.whole_flows import whole_flows
from discreet.model.certificate import QuotientWitness

FAINT = 1e-14
"""Multipliers below this share of the largest pull on their state are left out."""


def quotient_witness(bound: QuotientBound, types: Sequence[int], ends: tuple[Fraction, Fraction] | None) -> QuotientWitness:
    """The witness of a bound; `types` numbers the problem's types that the bound knows as 0, 1, ….

    `ends` is the range that nodes of real actions must reach over (None: the actions are listed).
    """
    program = bound.program
    states = np.array([row.state for row in program.rows])
    totals = np.array([float(row.total) for row in program.rows])
    factors = np.repeat(1.0 / (program.masses[states] * totals), 2)
    f = np.maximum(np.nan_to_num(bound.multipliers, nan=0.0, posinf=0.0), 0.0)
    complete = np.repeat([row.complete for row in program.rows], 2)
    complete[1::2] = True
    flows = np.where(complete, f, 0.0) * factors
    flows[f <= FAINT * np.repeat(program.masses[states], 2) * float(np.ptp(bound.grid) or 1.0) ** 2] = 0.0
    nodes = [Fraction(float(a)) for a in bound.grid]
    if ends is not None:
        nodes, flows = _reaching(nodes, flows, ends)
    numbers = np.array([2 * row.ray + side for row in program.rows for side in (0, 1)])
    scale, each = whole_flows(nodes, flows, np.repeat(states, 2), numbers)
    groups = tuple(tuple(types[t] for t in group) for group in program.groups)
    return QuotientWitness(types[program.reference], groups, program.rays, program.states, scale, each)


def _reaching(
    nodes: list[Fraction], flows: NDArray[np.float64], ends: tuple[Fraction, Fraction]
) -> tuple[list[Fraction], NDArray[np.float64]]:
    """Beyond the outermost nodes their multipliers serve on: every loss only grows there."""
    if nodes[0] > ends[0]:
        nodes, flows = [ends[0], *nodes], np.vstack([flows[:1], flows])
    if nodes[-1] < ends[1]:
        nodes, flows = [*nodes, ends[1]], np.vstack([flows, flows[-1:]])
    return nodes, flows
