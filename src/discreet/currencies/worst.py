"""The worst edge: floats over all edges propose, exact pairs of the leaders decide.

For a currency D and directed edges e let v_e be floats with |v_e − D(e)| ≤ m_e, both proved. Edges are opened in
order of v_e + m_e. Once that falls below the best exact lower bound no other edge can be the worst; if too many
edges lie that close, the rest are covered by their v_e + m_e. Either way

    lower ≤ max_e D(e) ≤ upper.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.currencies.bracket import ZERO, Bracket, Worst
from discreet.currencies.channel import LossChannel
from discreet.currencies.pair import Pair
from discreet.numerics.arrays import Floats

MOST_OPENED = 24
"""Different exact pairs that are looked at before the rest are covered by their float bounds."""
MOST_TIED = 500
"""Edges that are compared with an opened pair before the rest are covered by their float bounds."""


def worst_edge(channel: LossChannel, values: Floats, margins: Floats | float, exactly: Callable[[Pair], Bracket]) -> Worst:
    """The bracket of the largest value over directed edges, and the edge that attains its lower end."""
    if len(values) == 0:
        return Worst(ZERO)
    reach = np.asarray(values + margins)
    order = np.argsort(-reach, kind="stable")
    best_lower, best_upper, best_edge = -math.inf, -math.inf, int(order[0])
    opened: dict[object, Bracket] = {}
    for rank, direction in enumerate(order.tolist()):
        bound = float(reach[direction])
        if bound <= best_lower:
            break
        if rank >= MOST_TIED or len(opened) >= MOST_OPENED:
            best_upper = max(best_upper, bound)
            break
        pair = channel.pair(*channel.states_of(direction))
        found = opened.get(pair.key)
        if found is None:
            found = opened[pair.key] = exactly(pair)
        if found.lower > best_lower:
            best_lower, best_edge = found.lower, direction
        best_upper = max(best_upper, min(found.upper, bound) if found.upper > bound >= found.lower else found.upper)
    return Worst(Bracket(best_lower, max(best_upper, best_lower)), channel.edge_labels(best_edge))
