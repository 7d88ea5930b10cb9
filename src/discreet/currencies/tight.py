"""The tight ε of a mechanism, exact.

    ε* = max over edges (i, j) and outputs y of |log P(y|i) − log P(y|j)|

as the logarithm of a ratio of integers, with the edge and the output that attain it. Infinite when an output is
possible on one side of an edge only. Float logarithms over all edges leave a few candidates; they are compared by
cross-multiplying integers. Reference: BG Def. 1 (d_MULT), CY (ε-DP).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from discreet.currencies.bracket import INFINITE, ZERO, Bracket
from discreet.currencies.channel import Edges, LossChannel, channel_of
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import log_bracket
from discreet.numerics.digits import float_above, float_below

LOG_BITS = 96
SAFE = 1e-290
"""Probabilities above this are floats with full relative precision, and so are their quotients."""


@dataclass(frozen=True)
class TightEpsilon:
    """ε* = log ratio (ratio None: infinite), attained by `output` between the states of `edge`."""

    ratio: Fraction | None
    bracket: Bracket
    edge: tuple[str, str] | None = None
    output: str | None = None

    @property
    def upper(self) -> float:
        """The smallest ε that floats can state and the mechanism satisfies."""
        return self.bracket.upper


def log_of(ratio: Fraction | None) -> Bracket:
    """Floats around the logarithm of an exact ratio; infinite for None."""
    if ratio is None:
        return INFINITE
    lower, upper = log_bracket(ratio, LOG_BITS)
    return Bracket(float_below(lower), float_above(upper))


def tight_epsilon(source: Mechanism | LossChannel) -> TightEpsilon:
    """The exact tight ε; 0 for a mechanism without edges or with equal rows on them."""
    channel = channel_of(source)
    if channel not in _KNOWN:
        _KNOWN[channel] = _tight_epsilon(channel)
    return _KNOWN[channel]


_KNOWN: WeakKeyDictionary[LossChannel, TightEpsilon] = WeakKeyDictionary()
"""Of channels still in use, since several currencies begin with it."""


def _tight_epsilon(channel: LossChannel) -> TightEpsilon:
    largest = max((float(losses.max(initial=0.0)) for _, losses in _losses(channel)), default=0.0)
    if largest == math.inf:
        edges, losses = next(found for found in _losses(channel) if found[1].max(initial=0.0) == math.inf)
        at, output = (int(k) for k in np.argwhere(np.isinf(losses))[0])
        first, second = edges[at].tolist()
        if channel.logs[output, first] == -math.inf:
            first, second = second, first
        return TightEpsilon(None, INFINITE, (channel.labels[first], channel.labels[second]), channel.output_label(output, first))
    best: tuple[int, int] = (1, 1)
    where: tuple[int, int, int] | None = None
    for output, first, second in _candidates(channel, largest):
        p, q = _weights(channel, output, first, second)
        if p * best[1] > best[0] * q:
            best, where = (p, q), (output, first, second)
    if where is None:
        return TightEpsilon(Fraction(1), ZERO)
    output, first, second = where
    ratio = Fraction(*best)
    edge = (channel.labels[first], channel.labels[second])
    return TightEpsilon(ratio, log_of(ratio), edge, channel.output_label(output, first))


def _losses(channel: LossChannel) -> Iterator[tuple[Edges, Floats]]:
    """Absolute losses [edge, output] in portions; 0 where neither state can produce the output."""
    rows = np.ascontiguousarray(channel.logs.T)
    for edges in channel.chunks():
        with np.errstate(invalid="ignore"):
            losses = rows[edges[:, 0]]
            losses -= rows[edges[:, 1]]
        np.abs(losses, out=losses)
        if np.isnan(losses.min(initial=0.0)):
            losses[np.isnan(losses)] = 0.0
        yield edges, losses


def _candidates(channel: LossChannel, largest: float) -> Iterator[tuple[int, int, int]]:
    """(output, state of P, state of Q) of every loss that may be the largest, P the likelier."""
    margin = 4 * channel.log_error
    if largest <= 0 and margin == 0:
        return
    found = []
    for edges, losses in _losses(channel):
        at, outputs = np.nonzero(losses >= largest - margin)
        found.append((outputs, edges[at, 0], edges[at, 1]))
    if not found:
        return
    outputs, first, second = (np.concatenate(parts) for parts in zip(*found, strict=True))
    p, q = channel.probabilities[outputs, first], channel.probabilities[outputs, second]
    swapped = p < q
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    p, q = np.maximum(p, q), np.minimum(p, q)
    if (q > SAFE).all():
        # Quotients of correctly rounded floats are within 2^-51: a finer sieve than logarithms.
        quotients = p / q
        kept = quotients >= quotients.max(initial=0.0) * (1 - 2.0**-50)
        outputs, first, second = outputs[kept], first[kept], second[kept]
        if channel.alike is not None:
            _, some = np.unique(channel.alike(outputs, first, second), return_index=True)
            outputs, first, second = outputs[some], first[some], second[some]
        yield from zip(outputs.tolist(), first.tolist(), second.tolist(), strict=True)
        return
    both = zip(outputs.tolist(), first.tolist(), second.tolist(), strict=True)
    for output, one, other in both:
        yield output, one, other
        yield output, other, one


def _weights(channel: LossChannel, output: int, first: int, second: int) -> tuple[int, int]:
    """Integers in the ratio P(output | first) : P(output | second)."""
    if channel.whole is not None:
        weight = channel.whole[0]
        return weight(output, first), weight(output, second)
    p, q = channel.exact(output, first), channel.exact(output, second)
    return p.numerator * q.denominator, q.numerator * p.denominator
