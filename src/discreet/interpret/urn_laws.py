"""The law of a weighted sum S = Σ_i w(θ_i) with the statistic ω = Σ_i v(θ_i), of respondents drawn from an urn.

Under a Dirichlet the n-th respondent has type t with probability (c_t + n_t)/(A + n − 1), A = Σ c_t. Let μ_t be the law of (S, ω)
together with "the last one has type t": one shift and one average add a respondent,

    μ_t(S + w_t, ω + v_t) = [c_t·Σ_k μ_k(S, ω) + (n − 1)·μ_t(S, ω)]/(A + n − 1),

without subtraction, so that the relative precision of floats is kept. Pairs are held as (ω, R) with R = S − k·ω for the whole k
that makes R shortest: a sum that is ω and a count beside it has as many R as counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

import numpy as np

from discreet.errors import TooLarge
from discreet.interpret.total_laws import FAINT, PairLaw
from discreet.numerics.exact import whole_steps

MOST_WORK = 3_000_000_000
"""Pairs times respondents times types: some seconds."""
MOST_HELD = 10_000_000
"""Pairs times types: a quarter of a gigabyte."""


def urn_law(respondents: int, concentration: Sequence[Fraction], weights: Sequence[int], values: Sequence[Fraction]) -> PairLaw:
    """The likely pairs (S, ω) of respondents whose histogram is Dirichlet-multinomial."""
    base = min(values)
    unit, steps = whole_steps([v - base for v in values])
    slope = _slope(weights, steps)
    rest = [w - slope * v for w, v in zip(weights, steps, strict=True)]
    low = min(rest)
    apart = gcd(*(r - low for r in rest)) or 1
    moves = [(v, (r - low) // apart) for v, r in zip(steps, rest, strict=True)]
    tall, wide = (max(move[k] for move in moves) for k in (0, 1))
    pairs = (respondents * tall + 1) * (respondents * wide + 1)
    if pairs * respondents * len(moves) > MOST_WORK or pairs * len(moves) > MOST_HELD:
        raise TooLarge(
            "There are too many pairs of the weighted sum and the statistic",
            size=f"{pairs:,} pairs of {respondents:,} respondents",
            fits=f"{MOST_WORK:,} pairs × respondents × types, {MOST_HELD:,} pairs × types",
            remedy="read fewer respondents, an iid prior, or a mechanism with smaller weights",
        )
    total = float(sum(concentration, Fraction(0)))
    law = np.ones((1, 1))
    held = [np.zeros((1, 1)) for _ in moves]
    for n in range(respondents):
        grown = []
        for (v, r), c, before in zip(moves, concentration, held, strict=True):
            after = np.zeros((law.shape[0] + tall, law.shape[1] + wide))
            after[v : v + law.shape[0], r : r + law.shape[1]] = (float(c) * law + n * before) / (total + n)
            grown.append(after)
        held, law = grown, np.sum(grown, axis=0)
    omega, place = np.nonzero(law > FAINT * law.max())
    reached = np.unique(omega)
    totals = slope * omega + apart * place + respondents * low
    exact = tuple(base * respondents + int(k) * unit for k in reached.tolist())
    return PairLaw(totals, np.searchsorted(reached, omega), np.log(law[omega, place]), exact)


def _slope(weights: Sequence[int], steps: Sequence[int]) -> int:
    """The whole k for which w − k·v lie nearest together."""

    def spread(k: int) -> int:
        rest = [w - k * v for w, v in zip(weights, steps, strict=True)]
        low = min(rest)
        return (max(rest) - low) // (gcd(*(r - low for r in rest)) or 1)

    tried = {0} | {(w - weights[0]) // (v - steps[0]) for w, v in zip(weights, steps, strict=True) if v != steps[0]}
    return min(sorted(tried), key=spread)
