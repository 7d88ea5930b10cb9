"""Four ways to say that a finite mechanism is ε-differentially private, each checked as it is written.

I    d_MULT(P_x, P_x′) ≤ ε·d(x, x′) for all x, x′
II   P_x′(S) ≤ e^ε P_x(S) for every event S and all x, x′ at distance one
III  P_x′ ∈ I(e^−δε P_x, e^δε P_x) for all x, x′ at distance δ
IV   p_x′(s) ∈ p_x(s)·exp(±ε d(x, x′)) for every output s and all connected x, x′

They are equivalent when d is the distance of a graph with unit edges (Assumption 4); without it II is weaker.
Each function returns None, or the counterexample (x, x′, event). References: BG Thm 5. `certify` proves
privacy exactly; this explains it.
"""

from __future__ import annotations

from itertools import combinations
from math import exp, inf

import numpy as np

from discreet.errors import TooLarge
from discreet.interpret.intervals import ROUNDING, IntervalOfMeasures, d_mult
from discreet.numerics.arrays import Floats

Counterexample = tuple[int, int, tuple[int, ...]]
MOST_OUTPUTS = 16
"""Outputs beyond which the 2^outputs events of statement II are not enumerated."""


def statement_one(probabilities: Floats, distances: Floats, epsilon: float) -> Counterexample | None:
    """I: the Lipschitz condition."""
    for x, y, d in _pairs(distances):
        if d_mult(probabilities[:, x], probabilities[:, y]) > epsilon * d + ROUNDING * (1 + epsilon * d):
            return x, y, (_worst(probabilities, x, y),)
    return None


def statement_two(probabilities: Floats, distances: Floats, epsilon: float) -> Counterexample | None:
    """II: every event, neighbours only."""
    outputs = len(probabilities)
    if outputs > MOST_OUTPUTS:
        raise TooLarge(
            "There are too many events to enumerate",
            size=f"2^{outputs}",
            fits=f"2^{MOST_OUTPUTS}",
            remedy="statement IV says the same of single outputs",
        )
    bits = (np.arange(2**outputs)[:, None] >> np.arange(outputs)) & 1
    events = bits @ probabilities
    for x, y, d in _pairs(distances):
        if d != 1:
            continue
        for a, b in ((x, y), (y, x)):
            broken = events[:, b] > exp(epsilon) * events[:, a] * (1 + ROUNDING)
            if broken.any():
                return a, b, tuple(np.flatnonzero(bits[int(np.argmax(broken))]).tolist())
    return None


def statement_three(probabilities: Floats, distances: Floats, epsilon: float) -> Counterexample | None:
    """III: intervals of measures around each P_x."""
    for x, y, d in _pairs(distances):
        for a, b in ((x, y), (y, x)):
            interval = IntervalOfMeasures.around(probabilities[:, a].tolist(), epsilon * d)
            output = interval.violation(probabilities[:, b].tolist())
            if output is not None:
                return a, b, (output,)
    return None


def statement_four(probabilities: Floats, distances: Floats, epsilon: float) -> Counterexample | None:
    """IV: densities, output by output."""
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    for x, y, d in _pairs(distances):
        for s in range(len(logs)):
            a, b = logs[s, x], logs[s, y]
            if a == b:
                continue
            if abs(a - b) > epsilon * d + ROUNDING * (1 + epsilon * d):
                return x, y, (s,)
    return None


STATEMENTS = (statement_one, statement_two, statement_three, statement_four)


def _pairs(distances: Floats) -> list[tuple[int, int, float]]:
    d = np.asarray(distances, dtype=np.float64)
    found = combinations(range(len(d)), 2)
    return [(x, y, float(d[x, y])) for x, y in found if 0 <= d[x, y] < inf]


def _worst(probabilities: Floats, x: int, y: int) -> int:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(probabilities[:, x]) - np.log(probabilities[:, y]))
    return int(np.argmax(np.nan_to_num(ratios, nan=0.0, posinf=inf)))
