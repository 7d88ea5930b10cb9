"""What a weighted sum with closed-form noise is worth under any payoff, through the joint law of (S, ω).

E loss = Σ_ω Σ_s P(s, ω) Σ_y K(y|s) ℓ(a_y, ω), ℓ = (largest payoff) − u ≥ 0.

P(s, ω) is the law of one weighted sum, with weights w_t + R·v_t and values in their common unit, computed from
below in whole numbers (`sum_laws`). When R is the number of likely totals S, a total outside the likely window
is taken for one inside at another ω; that happens with at most the probability that S leaves the window, which
is known. With R above every total nothing is mistaken; payoffs that are not losses need that.

The rest is floats: every term is non-negative and every factor comes from positive formulas, so a result that
passed through at most k roundings has relative error at most k·2^−52. The bracket carries that error, the
rounding of ω − a, and what is missing or mistaken times the largest loss.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np

from discreet.certify.value.sum_laws import SumLaw, noise_shape, sum_masses
from discreet.errors import TooLarge
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel
from discreet.model.losses import DistanceLoss, TableLoss
from discreet.model.summary import LinearSummary

UNIT = 2.0**-52
FAINT = 1e-280
"""More than underflow can take from any sum."""
BITS = 88
MOST_CELLS = 600_000
"""Likely pairs (S, ω) beyond which the joint law is not formed."""
MOST_OUTPUTS = 6_000


def joint_payoff(
    law: SumLaw, kernel: ClosedKernel, summary: LinearSummary, decision: Decision
) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff, or a refusal when the joint law is too large."""
    outputs = kernel.high - kernel.low + 1
    if not joint_fits(law, kernel, decision):
        size = joint_cells(law, exact=not decision.is_loss)
        raise TooLarge(
            "This payoff needs the joint law of the weighted sum and the statistic",
            size=f"{size:,} pairs, {outputs:,} outputs",
            fits=f"{MOST_CELLS:,} pairs, {MOST_OUTPUTS:,} outputs",
            remedy="use smaller weights or fewer respondents; squared error has no such limit",
        )
    joint, omegas, missing, mistaken = _joint(law, kernel, summary, exact=not decision.is_loss)
    losses, top, worst, off = (
        _losses(law, kernel, decision, omegas)
        if decision.is_loss
        else _regrets(law, kernel, decision, omegas)
    )
    loss = float((joint @ _rows(kernel) * losses).sum())
    roundings = 8 * (joint.shape[0] + 3 * outputs) + 256
    error = Fraction(loss * roundings * UNIT) + Fraction(FAINT) + off
    low = Fraction(loss) - error - mistaken * worst
    high = Fraction(loss) + error + (missing + mistaken) * worst
    return decision.weight * (top - high), decision.weight * (top - low)


def joint_fits(law: SumLaw, kernel: ClosedKernel, decision: Decision) -> bool:
    """Whether the joint law and the kernel on its totals are small enough to be formed."""
    few = kernel.high - kernel.low < MOST_OUTPUTS
    return few and joint_cells(law, exact=not decision.is_loss) <= MOST_CELLS


def joint_cells(law: SumLaw, exact: bool = False) -> int:
    """How many pairs (S, ω) the joint law spans: likely ones, or (`exact`) all."""
    steps, _ = _lattice(law)
    n = law.respondents
    if exact:
        return (n * (max(law.weights) - min(law.weights)) + 1) * (n * max(steps) + 1)
    totals, values = (len(sum_masses(law.probabilities, each, n, BITS)[1]) for each in (law.weights, steps))
    return totals * values


def _losses(
    law: SumLaw, kernel: ClosedKernel, decision: Decision, omegas: list[Fraction]
) -> tuple[np.ndarray, Fraction, Fraction, Fraction]:
    """ℓ [ω, output] of an absolute or pinball error, 0 as largest payoff, the largest loss, and the error of any ℓ."""
    actions = [a for a in kernel.actions or () if isinstance(a, Fraction)]
    gap = np.array([float(w) for w in omegas])[:, None] - np.array([float(a) for a in actions])[None, :]
    assert isinstance(decision.loss, DistanceLoss)
    losses = decision.loss.of_gap(gap)
    n = law.respondents
    ends = (n * min(law.values), n * max(law.values), min(omegas), max(omegas))
    worst = max(abs(w - a) for w in ends for a in (min(actions), max(actions)))
    largest = max(map(abs, (*ends, min(actions), max(actions))))
    return losses, Fraction(0), worst, 8 * Fraction(UNIT) * largest


def _regrets(
    law: SumLaw, kernel: ClosedKernel, decision: Decision, omegas: list[Fraction]
) -> tuple[np.ndarray, Fraction, Fraction, Fraction]:
    """ℓ = top − u [ω, output] of any payoff, top, the largest ℓ at any value of ω, and no further error."""
    steps, unit = _lattice(law)
    lattice = [law.respondents * min(law.values) + unit * k for k in range(law.respondents * max(steps) + 1)]
    every = list((decision.loss.columns if isinstance(decision.loss, TableLoss) else None) or lattice)
    actions = list(dict.fromkeys(kernel.actions or ()))
    payoffs = [[decision.payoff(a, w) for w in every] for a in actions]  # type: ignore[arg-type]
    top, least = max(map(max, payoffs)), min(map(min, payoffs))
    at = {w: j for j, w in enumerate(every)}
    table = np.array([[float(top - row[at[w]]) for w in omegas] for row in payoffs])
    place = {a: i for i, a in enumerate(actions)}
    chosen = np.array([place[a] for a in kernel.actions or ()])
    return table[chosen].T, top, top - least, Fraction(0)


def _lattice(law: SumLaw) -> tuple[list[int], Fraction]:
    """v_t − min v as whole multiples of a unit."""
    above = [v - min(law.values) for v in law.values]
    bottom = lcm(*(v.denominator for v in above))
    top = gcd(*(int(v * bottom) for v in above)) or 1
    unit = Fraction(top, bottom)
    return [int(v / unit) for v in above], unit


def _joint(
    law: SumLaw, kernel: ClosedKernel, summary: LinearSummary, exact: bool
) -> tuple[np.ndarray, list[Fraction], Fraction, Fraction]:
    """P [ω, state of the kernel], the values of ω, the mass that is missing and the mass that may be mistaken."""
    steps, unit = _lattice(law)
    n = law.respondents
    start, stride, outside = n * min(law.weights), n * (max(law.weights) - min(law.weights)) + 1, 0
    if not exact:
        start, likely, outside = sum_masses(law.probabilities, law.weights, n, BITS)
        stride = len(likely)
    combined = [w + stride * step for w, step in zip(law.weights, steps, strict=True)]
    first, masses, missing = sum_masses(law.probabilities, combined, n, BITS)
    held = [(*divmod(first + i - start, stride), mass) for i, mass in enumerate(masses) if mass]
    rows = sorted({row for row, _, _ in held})
    place = {row: i for i, row in enumerate(rows)}
    joint = np.zeros((len(rows), kernel.high - kernel.low + 1))
    for row, offset, mass in held:
        joint[place[row], summary.clip(start + offset) - kernel.low] += mass / 2.0**BITS
    omegas = [n * min(law.values) + unit * row for row in rows]
    return joint, omegas, Fraction(missing, 1 << BITS), Fraction(outside, 1 << BITS)


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
