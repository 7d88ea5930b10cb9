"""The geometric mechanism at any size: a few states and outputs that hold all its currencies.

Let the states that one respondent can reach be c + o for offsets o in {0, …, L}. Every output at or below c has the
same ratios between these states, r^(difference of offsets), and so has every output at or above c + L. Merging each
side into one output loses nothing, and what is left is the geometric kernel on 0..L, whatever c is and wherever the
range was cut off: P(Y ≤ c | c + o) = r^o/(1 + r). A million states need L + 1.

Where the summary is clipped, a respondent near the clip reaches clipped offsets; every such block is listed too.
Reference: SY fn 28, Lemma 1 (the truncated geometric mechanism is a sufficient statistic of the whole one).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.errors import InputError, TooLarge
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

MOST_SHIFT = 500
"""Units between two states of a listed pair: their rationals have as many digits as there are units, and all are listed."""


def reduced_channel(mechanism: Mechanism, size: int = 1) -> LossChannel:
    """The small channel with every currency of a mechanism with a geometric kernel; states are offsets "+o".

    For a group of `size` respondents offsets reach that many steps, and every edge is a block.
    """
    kernel, summary = mechanism.kernel, mechanism.summary
    if not isinstance(kernel, GeometricKernel) or not isinstance(summary, LinearSummary):
        raise InputError(
            "Only geometric kernels reduce to a few states",
            found=f"kernel {kernel.family!r}",
            allowed="'geometric'",
            remedy="use the mechanism itself",
        )
    universe = mechanism.problem.universe
    present = [0] if isinstance(mechanism.problem.neighbours, AddRemoveOne) else []
    if isinstance(universe, Universe) and not present:
        size = min(size, universe.largest)  # no more respondents can be replaced than there are
    offsets = sorted({*summary.weights, *present})
    clipped = summary.low is not None or summary.high is not None
    shifts = _shifts(offsets, star=bool(present), clipped=clipped, size=size, most=kernel.high - kernel.low)
    plain = tuple(o - offsets[0] for o in offsets)
    blocks = {plain}
    if clipped:
        for cut in range(plain[-1] + 1):
            if summary.high is not None:
                blocks.add(tuple(sorted({min(o, cut) for o in plain})))
            if summary.low is not None:
                blocks.add(tuple(sorted({max(o, cut) for o in plain})))
    pairs = [(0, shift) for shift in shifts]
    listed = pairs if size > 1 else sorted(block for block in blocks if len(block) > 1)
    span = max(plain[-1], shifts[-1] if shifts else 0)
    small = GeometricKernel(0, max(span, 1), kernel.step, kernel.ratio)
    rows = [[small.mass(y, s) for y in range(small.high + 1)] for s in range(span + 1)]
    channel = channel_from_rows(rows, edges=pairs, blocks=listed, labels=[f"+{s}" for s in range(span + 1)])
    between = [f"+{s}" for s in range(1, small.high)]
    names = ("at most +0", *between, f"at least +{span}")
    return replace(channel, outputs=names, named=lambda output, _: names[output])


def _shifts(offsets: list[int], *, star: bool, clipped: bool, size: int, most: int) -> list[int]:
    """How far apart two states can be that `size` steps join: a step goes from one offset to another, or from or to the absent 0.

    Where the two lie says nothing more, so pairs are told apart by their distance alone. A clip may stop a step anywhere.
    """
    steps = set(offsets) if star else {a - b for a, b in product(offsets, repeat=2)}
    single = {abs(step) for step in steps}
    farthest = max(single)
    if min(size * farthest, most) > MOST_SHIFT:
        raise TooLarge(
            "A group of this size moves the sum too far to be listed",
            size=f"{size} respondents × {farthest:,} units",
            fits=f"{MOST_SHIFT:,} units",
            remedy="ask for a smaller group; its tight ε is at most the number of respondents times that of one",
        )
    if clipped:
        return list(range(1, min(size * farthest, most) + 1))
    # Steps in another order add up to the same, so nothing is lost where no partial sum leaves the range by more than a step.
    reached, before = {0}, 0
    for _ in range(size):
        if len(reached) == before:
            break
        before = len(reached)
        moved = {at + sign * step for at in reached for step in single for sign in (1, -1)}
        reached |= {at for at in moved if -farthest <= at <= most + farthest}
    return sorted(shift for shift in reached if 0 < shift <= most)
