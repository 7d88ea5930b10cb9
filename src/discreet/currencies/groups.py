"""Group privacy: the same mechanism seen by k respondents at once.

Two databases that differ in k respondents lie at most k steps apart, so their states do too. The channel at
distance k has an edge between every two states that are 1 to k steps apart; every currency of it is the
currency for a group of k. Its tight ε is at most k times that of one respondent, and often less.
Reference: BG Def. 3 and d_HAM (Lipschitz continuity in a graph metric); DR (group privacy).
"""

from __future__ import annotations

import numpy as np

from discreet.currencies.channel import Edges, LossChannel, channel_of, is_reduced, whole_channel, with_edges
from discreet.currencies.closed import reduced_channel
from discreet.currencies.stairs import stairs_channel
from discreet.errors import InputError, TooLarge
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism

MOST_PAIRS = 5_000_000


def group(source: Mechanism | LossChannel, size: int) -> LossChannel:
    """The channel whose neighbours are all states at most `size` steps apart; a mechanism's, or a channel's with all its states."""
    if size < 1:
        raise InputError(
            "A group has at least one respondent",
            found=str(size),
            allowed="1 or more",
            remedy="correct the size",
        )
    if size == 1:
        return channel_of(source)
    if isinstance(source, LossChannel):
        if source.named is not None:
            raise InputError(
                "A channel reduced to one respondent says nothing of groups",
                found="a reduced channel",
                allowed="a mechanism, or a channel with all its states",
                remedy="give the mechanism itself",
            )
        return with_edges(source, _near(len(source.labels), source.edges, size))
    if isinstance(source.kernel, GeometricKernel) and is_reduced(source):
        return reduced_channel(source, size)
    edges = _near(len(source.space), source.space.edges, size)
    return stairs_channel(source, edges) if is_reduced(source) else with_edges(whole_channel(source), edges)


def _near(count: int, edges: Edges, size: int) -> Edges:
    """Pairs of `count` states that are 1 to `size` steps apart."""
    from scipy.sparse import csr_array, eye_array, triu

    first, second = edges[:, 0], edges[:, 1]
    ends = (np.concatenate([first, second]), np.concatenate([second, first]))
    step = csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(count, count)) + eye_array(count, dtype=bool)
    reached, pairs = step, -1
    for _ in range(size - 1):
        if reached.nnz == pairs:
            break
        pairs = reached.nnz
        reached = reached @ step
        if reached.nnz > 2 * MOST_PAIRS:
            raise TooLarge(
                "Too many pairs of states are that close",
                size=f"more than {MOST_PAIRS:,} pairs",
                fits=f"{MOST_PAIRS:,} pairs",
                remedy="ask for a smaller group or use a coarser summary",
            )
    above = triu(reached, k=1).tocoo()
    order = np.lexsort((above.coords[1], above.coords[0]))
    return np.column_stack([above.coords[0][order], above.coords[1][order]]).astype(np.int64)
