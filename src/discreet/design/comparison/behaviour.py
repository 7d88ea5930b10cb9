"""How recommended actions behave under the prior: from the listed states, or by the law of a weighted sum where these are too many.

With b = a − E ω after each output, q the probability of the output and r = E[(ω − E ω)·1(output)],
    slope = Σ b·r / Var ω,        bias = Σ b·q,        E (a−ω)² = Σ b²·q − 2·Σ b·r + Var ω.
What needs each value of ω by itself (the largest risk, an unbiased estimator) is not known then.
"""

from __future__ import annotations

from math import nan

from discreet.design.comparison.evaluation import evaluate
from discreet.design.comparison.truths import SummedWorld, why_not_summed
from discreet.errors import TooLarge
from discreet.model.mechanism import Mechanism
from discreet.model.record import Behaviour


def behaviour(mechanism: Mechanism) -> Behaviour:
    """Slope, bias and spread, by whichever road serves; refuses in words where none does."""
    try:
        return evaluate(mechanism)
    except (TooLarge, MemoryError):
        if why_not_summed(mechanism) is not None:
            raise
    world = SummedWorld(mechanism)
    if world.actions is None:
        return Behaviour(nan, nan, nan, nan, None)
    mean, q, r, variance = world.after_outputs()
    b = world.actions - mean
    bias, together = float(b @ q), float(b @ r)
    error = float(b**2 @ q) - 2 * together + variance
    return Behaviour(together / variance if variance > 0 else 1.0, bias, error - bias**2, nan, None)
