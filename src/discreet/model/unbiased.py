"""Unbiased values: for each output g(s) with E[g(s) | h] = ω(h) at every state h, so that totals over many cells are unbiased.

g solves a linear system in the kernel; of all solutions the smallest in mean square is taken. Often none exists: a design that
shrinks towards its prior has no unbiased reading, and then there is no such column. A design for unbiased values has them
as its recommended actions, proved exactly (`model.decision`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.errors import DiscreetError
from discreet.model.mechanism import Mechanism
from discreet.model.statistic import of_database, on_histograms
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats

MOST_STATES = 2_000
TOLERANCE = 1e-6


def unbiased_values(mechanism: Mechanism) -> Floats | None:
    """g for each output, or None when there is none or the mechanism is too large to solve for it."""
    if mechanism.problem.unbiased is not None:  # `certify` proves these
        recommended = mechanism.kernel.recommended or ()
        return np.array([float(a) for a in recommended]) if all(isinstance(a, Fraction) for a in recommended) else None  # type: ignore[arg-type]
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe) or universe.histogram_count > MOST_STATES:
        return None
    statistic = mechanism.problem.statistic
    try:
        if mechanism.summary.ordered:
            if len(mechanism.space) > MOST_STATES:
                return None
            kernel = mechanism.probabilities
            exact = [of_database(statistic, tuple(row), universe) for row in mechanism.space.vectors.tolist()]
        else:
            vectors = universe.histograms()
            exact = list(on_histograms(statistic, vectors, universe))
            # histograms that share state and statistic are one equation
            equations = dict.fromkeys(zip(mechanism.states_of(vectors).tolist(), exact, strict=True))
            kernel = mechanism.probabilities[:, [state for state, _ in equations]]
            exact = [omega for _, omega in equations]
        omegas = np.array([float(w) for w in exact])
    except DiscreetError:
        return None
    if kernel.shape[0] > MOST_STATES:
        return None
    g, *_ = np.linalg.lstsq(kernel.T, omegas, rcond=1e-12)
    miss = float(np.abs(g @ kernel - omegas).max())
    wide = float(np.abs(g).max()) > 1e4 * max(1.0, float(np.abs(omegas).max()))
    return None if wide or miss > TOLERANCE * max(1.0, float(np.abs(omegas).max())) else np.asarray(g)
