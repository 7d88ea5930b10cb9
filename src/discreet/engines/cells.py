"""From counts to histograms of declared size: the last step, the same for every engine.

    h_c = cut(counts_c, n_c) + (n_c − |cut(counts_c, n_c)|)·e_absent,      so |h_c| = n_c for every cell, come what may.

One row added to or removed from cell c moves h_c by at most one replacement, and so does one changed value. Nothing
here can fail on what the rows say. Without padding the number of rows is declared public and must be as listed.
"""

from __future__ import annotations

import numpy as np

from discreet.engines.selection import Counts, cut
from discreet.errors import InputError
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan


def fitted(plan: Plan, key_set: KeySet, counts: Counts, key: bytes) -> Counts:
    """Histograms [cell, type] in the order of the key set, each with exactly its declared number of respondents."""
    sizes = np.array(key_set.sizes, dtype=np.int64)
    if not plan.padding:
        differing = int((counts.sum(axis=1) != sizes).sum())
        if differing:
            raise InputError(
                "Membership is declared public, but the key set's sizes are not those of the data",
                found=f"{differing} of {len(sizes)} cells differ",
                allowed="the exact number of rows of every cell",
                remedy="correct the key set, or set cells.padding = true",
            )
        return counts
    histograms = cut(counts, sizes, key)
    assert plan.recoding.absent is not None
    histograms[:, plan.recoding.absent] += sizes - histograms.sum(axis=1)
    return histograms


def check_key_set(plan: Plan, key_set: KeySet) -> None:
    """The key set is for the columns of the plan."""
    if key_set.columns != plan.keys:
        raise InputError(
            "The key set is not for the plan's key columns",
            found=", ".join(key_set.columns),
            allowed=", ".join(plan.keys),
            remedy="list the same columns in the same order",
        )
