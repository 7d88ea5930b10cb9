"""The usual way to make levels agree: weighted least squares on a tree, as a yardstick beside the coherent posterior.

Every node has a noisy number y_v with variance σ_v² (or none); the x that adds up and makes Σ (x_v − y_v)²/σ_v² least is found in
two passes: upwards z_v is the average, by precision, of y_v and Σ z_c; downwards what is missing is shared out by variance. It
knows neither prior nor mechanism, so its numbers may be negative and are not whole. Hay, Rastogi, Miklau and Suciu (2010), with
weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.numerics.arrays import Floats


def least_squares(leaves: int, children: Sequence[Sequence[int]], values: Floats, variances: Floats) -> Floats:
    """Consistent numbers for every node; a node without a number of its own has an infinite variance."""
    z, spread = np.array(values, dtype=np.float64), np.array(variances, dtype=np.float64)
    sums = np.zeros(len(z))
    for node, mine in enumerate(children, leaves):
        below, width = float(z[list(mine)].sum()), float(spread[list(mine)].sum())
        sums[node] = below
        own = spread[node]
        if not np.isfinite(own):
            z[node], spread[node] = below, width
        elif width == 0 or own == 0:
            z[node], spread[node] = (z[node] if own == 0 else below), 0.0
        else:
            weight = own / (own + width)
            z[node], spread[node] = weight * below + (1 - weight) * z[node], own * width / (own + width)
    found = z.copy()
    for node in range(leaves + len(children) - 1, leaves - 1, -1):
        mine = list(children[node - leaves])
        width = float(spread[mine].sum())
        missing = found[node] - sums[node]
        share = spread[mine] / width if width > 0 else np.full(len(mine), 1 / len(mine))
        found[mine] = z[mine] + missing * share
    return found
