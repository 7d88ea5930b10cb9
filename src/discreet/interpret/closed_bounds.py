"""Bounds on the probability of a published total for any number of respondents, from the kernel's formula alone.

A closed-form kernel with step W is ε-Lipschitz in d(i, j) = ⌈|i − j|/W⌉ on totals low..high, so BG Thms 6 and 10 hold
with d*(k) = ⌈max(k − low, high − k)/W⌉. One output costs one pass over the totals; no graph and no table is made.

Reference: BG Thms 6, 10. Specialises them.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.interpret.channel import position_of
from discreet.model.kernel import CountedKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

MOST_TOTALS = 20_000_000


def total_bounds(mechanism: Mechanism, output: str | int | Fraction) -> tuple[float, float]:
    """(lower, upper) bound on the probability of one published value, whatever the model of the respondents."""
    kernel, summary, universe = mechanism.kernel, mechanism.summary, mechanism.problem.universe
    if (
        isinstance(kernel, (TableKernel, CountedKernel))
        or not isinstance(summary, LinearSummary)
        or not isinstance(universe, Universe)
    ):
        raise InputError(
            "These bounds are for closed-form kernels",
            found=f"kernel {kernel.family!r}",
            allowed="'geometric' or 'staircase'",
            remedy="use density_bounds, of fewer respondents where states are too many",
        )
    low, high = summary.range(universe)
    if high - low > MOST_TOTALS:
        raise TooLarge(
            "There are too many totals",
            size=f"{high - low:,}",
            fits=f"{MOST_TOTALS:,}",
            remedy="clip the total",
        )
    place = position_of(mechanism, output)
    totals = np.arange(low, high + 1)
    logs = kernel.log_masses(np.array([kernel.low + place]), totals)[0]
    reach = -(-np.maximum(totals - low, high - totals) // kernel.step)
    epsilon = float(mechanism.guarantee.epsilon)
    upper = float((logs + epsilon * reach).min())
    return exp(float((logs - epsilon * reach).max())), exp(upper) if upper < 700 else float("inf")
