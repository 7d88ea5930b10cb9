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
from itertools import combinations

from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.errors import InputError
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.summary import LinearSummary


def reduced_channel(mechanism: Mechanism) -> LossChannel:
    """The small channel with every currency of a mechanism with a geometric kernel; states are offsets "+o"."""
    kernel, summary = mechanism.kernel, mechanism.summary
    if not isinstance(kernel, GeometricKernel) or not isinstance(summary, LinearSummary):
        raise InputError(
            "Only geometric kernels reduce to a few states",
            found=f"kernel {kernel.family!r}",
            allowed="'geometric'",
            remedy="use the mechanism itself",
        )
    present = [0] if isinstance(mechanism.problem.neighbours, AddRemoveOne) else []
    offsets = sorted({*summary.weights, *present})
    span = offsets[-1] - offsets[0]
    plain = tuple(o - offsets[0] for o in offsets)
    blocks = {plain}
    if summary.low is not None or summary.high is not None:
        for cut in range(span + 1):
            if summary.high is not None:
                blocks.add(tuple(sorted({min(o, cut) for o in plain})))
            if summary.low is not None:
                blocks.add(tuple(sorted({max(o, cut) for o in plain})))
    small = GeometricKernel(0, max(span, 1), kernel.step, kernel.ratio)
    states = range(span + 1)
    rows = [[small.mass(y, s) for y in range(small.high + 1)] for s in states]
    listed = sorted(block for block in blocks if len(block) > 1)
    pairs = _pairs(listed, star=bool(present), origin=-offsets[0])
    channel = channel_from_rows(rows, edges=pairs, blocks=listed, labels=[f"+{s}" for s in states])
    below, above = f"at most +{0}", f"at least +{span}"
    between = [f"+{s}" for s in range(1, small.high)]
    return replace(channel, outputs=(below, *between, above))


def _pairs(blocks: list[tuple[int, ...]], *, star: bool, origin: int) -> list[tuple[int, int]]:
    """Neighbouring offsets: every two of a block, or with add-remove-one the absent respondent with each other."""
    found = {pair for block in blocks for pair in combinations(block, 2)}
    if star:
        # A clip can only bring the absent respondent's offset and another one nearer to each other.
        reach = max(origin, max(max(block) for block in blocks) - origin)
        found = {(a, b) for a, b in found if b - a <= reach}
    return sorted(found)
