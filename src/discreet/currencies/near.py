"""Discrete Gaussian noise as a table of whole numbers near it, from which its currencies are read, rounded outward.

The probabilities of a clipped discrete Gaussian are irrational. Its table here has, entry by entry, logarithms within η = 2^−200 of
the true ones, and columns that sum to one. For distributions whose logarithms are within η of those of P, Q

    tight ε                 moves by at most 2η
    Σ (P − e^ε Q)_+         by at most 4η, since e^ε Q ≤ P wherever a term counts
    D_α                     by at most (2α − 1)η/(α − 1)
    the trade-off, mutual information, relative entropy: by a few η times the largest loss

so with losses up to 2^40 every number moves by less than `SLACK`, by which `outward` moves both of its sides apart.
"""

from __future__ import annotations

from dataclasses import replace
from math import log

from discreet.errors import TooLarge
from discreet.model.kernel import GaussianKernel, TableKernel
from discreet.model.mechanism import Mechanism

BITS = 210
"""Of every entry, relative to it."""
MOST_BITS, MOST_ENTRIES = 60_000, 250_000
"""Of the common denominator, and of the table."""
SLACK, RELATIVE = 2.0**-100, 2.0**-50


def near_table(mechanism: Mechanism) -> Mechanism:
    """A mechanism with a table within η of discrete Gaussian noise; any other is its own. Refuses one too large to be listed."""
    kernel = mechanism.kernel
    if not isinstance(kernel, GaussianKernel):
        return mechanism
    faint = int((kernel.high - kernel.low) ** 2 / (2 * float(kernel.sigma_squared) * log(2))) + 64
    states = mechanism.space.labels
    if faint + BITS > MOST_BITS or kernel.width * len(states) > MOST_ENTRIES:
        raise TooLarge(
            "This discrete Gaussian mechanism has too many or too faint outputs to be listed",
            size=f"{kernel.width:,} outputs × {len(states):,} states, probabilities down to 2^-{faint:,}",
            fits=f"{MOST_ENTRIES:,} entries, 2^-{MOST_BITS:,}",
            remedy="read its ρ from discreet certify, and what follows from it with discreet convert",
        )
    whole, brackets = 1 << BITS + faint, kernel.brackets(BITS + faint)
    columns = []
    for total in mechanism.places.tolist():
        column = [brackets.masses[abs(k - total)][0] for k in range(kernel.low, kernel.high + 1)]
        column[0], column[-1] = brackets.tails[total - kernel.low][0], brackets.tails[kernel.high - total][0]
        column[max(range(len(column)), key=column.__getitem__)] += whole - sum(column)
        columns.append(column)
    return replace(mechanism, kernel=TableKernel(states, mechanism.outputs, tuple(zip(*columns, strict=True)), whole))


def outward(low: float, high: float) -> tuple[float, float]:
    """Both sides moved apart by more than what a table within η can change."""
    return max(low * (1 - RELATIVE) - SLACK, 0.0), high * (1 + RELATIVE) + SLACK
