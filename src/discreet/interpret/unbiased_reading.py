"""Unbiased values of outputs with what one of them is expected to be off by: the summands of unbiased totals.

g with E[g(s) | h] = ω(h) at every state (model.unbiased); the variance is E_π[Var(g(s) | h)] under a prior. Readings of several
mechanisms about one cell are averaged with weights that depend on their variances alone, so the average is unbiased too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.interpret.beliefs import beliefs
from discreet.interpret.channel import kernel_logs
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.unbiased import unbiased_values
from discreet.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class UnbiasedReading:
    """g for each output, and its expected variance under the prior."""

    values: Floats
    variance: float


def unbiased_reading(mechanism: Mechanism, prior: Prior | None = None) -> UnbiasedReading | None:
    """The unbiased value of each output; None when there is none, or the mechanism is too large to find it."""
    values = unbiased_values(mechanism)
    if values is None:
        return None
    held = beliefs([mechanism], prior)
    kernel = np.exp(kernel_logs(mechanism, held.vectors, held.kind))
    spread = (values**2) @ kernel - (values @ kernel) ** 2
    return UnbiasedReading(values, max(float(np.exp(held.log_weights) @ spread), 0.0))
