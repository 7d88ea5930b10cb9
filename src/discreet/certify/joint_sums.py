"""What a weighted sum with closed-form noise is worth under any payoff, through the joint law of (S, ω).

E loss = Σ_ω Σ_s P(s, ω) Σ_y K(y|s) ℓ(a_y, ω), ℓ = (largest payoff) − u ≥ 0.

P(s, ω) is the law of one weighted sum with weights w_t + (N·W + 1)·v_t, values in their common unit; it is
computed from below in whole numbers (`sum_laws`). The rest is floats: every term is non-negative and every
factor comes from positive formulas, so a result that passed through at most k roundings has relative error
at most k·2^−52. The bracket carries that error and what is missing from P times the largest loss.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np

from discreet.certify.sum_laws import SumLaw, noise_shape, sum_masses
from discreet.errors import TooLarge
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel
from discreet.model.summary import LinearSummary

UNIT = 2.0**-52
FAINT = 1e-280
"""More than underflow can take from any sum."""
BITS = 100
MOST_CELLS = 1_000_000
"""Pairs (S, ω) beyond which the joint law is not formed."""
MOST_OUTPUTS = 6_000


def joint_payoff(
    law: SumLaw, kernel: ClosedKernel, summary: LinearSummary, decision: Decision
) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff, or a refusal when the joint law is too large."""
    size, outputs = joint_cells(law), kernel.high - kernel.low + 1
    if size > MOST_CELLS or outputs > MOST_OUTPUTS:
        raise TooLarge(
            "This payoff needs the joint law of the weighted sum and the statistic",
            size=f"{size:,} pairs, {outputs:,} outputs",
            fits=f"{MOST_CELLS:,} pairs, {MOST_OUTPUTS:,} outputs",
            remedy="use smaller weights or fewer respondents; squared error has no such limit",
        )
    joint, omegas, missing = _joint(law, kernel, summary)
    actions = list(dict.fromkeys(kernel.actions or ()))
    payoffs = [[decision.payoff(a, w) for w in omegas] for a in actions]  # type: ignore[arg-type]
    top = max(max(row) for row in payoffs)
    table = np.array([[float(top - u) for u in row] for row in payoffs])
    place = {a: i for i, a in enumerate(actions)}
    chosen = np.array([place[a] for a in kernel.actions or ()])
    pushed = joint @ _rows(kernel)
    loss = float((pushed * table[chosen].T).sum())
    roundings = 8 * (joint.shape[0] + 3 * outputs) + 256
    error = Fraction(loss * roundings * UNIT) + Fraction(FAINT)
    worst = top - min(min(row) for row in payoffs)
    low, high = Fraction(loss) - error, Fraction(loss) + error + missing * worst
    return decision.weight * (top - high), decision.weight * (top - low)


def joint_cells(law: SumLaw) -> int:
    """How many pairs (S, ω) the joint law spans."""
    steps, _ = _lattice(law)
    return (law.respondents * (max(law.weights) - min(law.weights)) + 1) * (law.respondents * max(steps) + 1)


def _lattice(law: SumLaw) -> tuple[list[int], Fraction]:
    """v_t − min v as whole multiples of a unit."""
    above = [v - min(law.values) for v in law.values]
    bottom = lcm(*(v.denominator for v in above))
    top = gcd(*(int(v * bottom) for v in above)) or 1
    unit = Fraction(top, bottom)
    return [int(v / unit) for v in above], unit


def _joint(
    law: SumLaw, kernel: ClosedKernel, summary: LinearSummary
) -> tuple[np.ndarray, list[Fraction], Fraction]:
    """P [ω, state of the kernel] from below, the values of ω, and the mass that is missing."""
    steps, unit = _lattice(law)
    n, low = law.respondents, min(law.weights)
    stride = n * (max(law.weights) - low) + 1
    combined = [w - low + stride * step for w, step in zip(law.weights, steps, strict=True)]
    first, masses, missing = sum_masses(law.probabilities, combined, n, BITS)
    held = [(i + first, mass) for i, mass in enumerate(masses) if mass]
    rows = sorted({at // stride for at, _ in held})
    place = {row: i for i, row in enumerate(rows)}
    joint = np.zeros((len(rows), kernel.high - kernel.low + 1))
    for at, mass in held:
        state = summary.clip(at % stride + n * low)
        joint[place[at // stride], state - kernel.low] += mass / 2.0**BITS
    return joint, [n * min(law.values) + unit * row for row in rows], Fraction(missing, 1 << BITS)


def _rows(kernel: ClosedKernel) -> np.ndarray:
    """K(y|s) as floats [state, output]; powers by repeated products, tails from their positive formulas."""
    width, plateau = noise_shape(kernel)
    ratio = kernel.ratio
    size = kernel.high - kernel.low + 1
    unit = 1 / ((2 * plateau - 1) + 2 * width * ratio / (1 - ratio))
    distance = np.arange(size)
    stairs = (distance + width - plateau) // width
    with np.errstate(under="ignore"):
        powers = np.cumprod(np.concatenate([[1.0], np.full(int(stairs[-1]) + 1, float(ratio))]))
        noise = float(unit) * powers[stairs]
        # from j on: what is left of j's stair, then whole stairs
        left = stairs * width + plateau - distance
        rest = left * powers[stairs] + float(width * ratio / (1 - ratio)) * powers[stairs]
        tails = float(unit) * rest
    tails[0] = float((1 + unit) / 2)
    rows = noise[np.abs(distance[:, None] - distance[None, :])]
    rows[:, 0] = tails
    rows[:, -1] = tails[::-1]
    return rows
