"""The likeliest states of a law: what programs are solved for, where the others count as no loss."""

from __future__ import annotations

import numpy as np


def likely(masses: np.ndarray, left_out: float) -> np.ndarray:
    """The likeliest states, ascending, without the share that may be left out of what all have."""
    order = np.argsort(-masses, kind="stable")
    most = (1 - left_out) * float(masses.sum())
    return np.sort(order[: int(np.searchsorted(np.cumsum(masses[order]), most)) + 1])
