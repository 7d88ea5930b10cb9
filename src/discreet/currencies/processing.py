"""Post-processing: whatever is done with an output, without the data, can only lower every currency.

    (f∘M)(z|state) = Σ_y f(z|y) M(y|state).

Reference: DR Prop. 1.2.1 (deterministic and randomised maps).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.currencies.channel import LossChannel, channel_from_rows, whole_channel
from discreet.currencies.pair import distribution
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism


def processed(source: Mechanism | LossChannel, rows: Sequence[Sequence[object]]) -> LossChannel:
    """The channel after a randomised map: `rows` has for each old output the distribution of the new one."""
    channel = whole_channel(source)
    if len(rows) != len(channel.outputs):
        raise InputError(
            "A map needs a distribution for every output",
            found=f"{len(rows)} rows",
            allowed=f"{len(channel.outputs)} rows",
            remedy="one row per output",
        )
    moves = [distribution(row) for row in rows]
    old = range(len(channel.outputs))
    fresh = []
    for state in range(len(channel.labels)):
        masses = [channel.exact(y, state) for y in old]
        fresh.append([sum((masses[y] * moves[y][z] for y in old), Fraction(0)) for z in range(len(moves[0]))])
    return channel_from_rows(
        fresh,
        edges=[(int(a), int(b)) for a, b in channel.edges],
        blocks=[[int(s) for s in block if s >= 0] for block in channel.blocks],
        labels=channel.labels,
    )


def merged(source: Mechanism | LossChannel, groups: Sequence[int]) -> LossChannel:
    """The channel after a deterministic map: output y becomes groups[y]."""
    count = max(groups, default=0) + 1
    return processed(source, [[int(z == group) for z in range(count)] for group in groups])
