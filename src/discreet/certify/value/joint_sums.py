"""What a mechanism on a weighted sum is worth under any payoffs, through the joint law of (S, ω).

E loss = Σ_ω Σ_s P(s, ω) Σ_y K(y|s) ℓ(a_y, ω), ℓ = (largest payoff) − u ≥ 0, added up over the decision makers.

P(s, ω) is the law of one weighted sum, with weights w_t + R·v_t and values in their common unit, computed from
below in whole numbers (`laws`). When R is the number of likely totals S, a total outside the likely window
is taken for one inside at another ω; that happens with at most the probability that S leaves the window, which
is known. With R above every total nothing is mistaken; payoffs that are not losses need that. Where S determines ω
(noise on the statistic itself) the law of S is the joint law.

The rest is floats: every term is non-negative and every factor comes from positive formulas, so a result that
passed through at most k roundings is off by at most `numerics.roundings.drift(k)` of itself. The bracket carries that error, the
rounding of ω − a, and what is missing or mistaken times the largest loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np

from discreet.certify.value.gaussian import noisy_rows
from discreet.certify.value.laws import Law
from discreet.certify.value.sums import Sums
from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, Kernel, TableKernel
from discreet.model.losses import DistanceLoss, FormulaLoss, MatchLoss, SquaredLoss, TableLoss
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.together import ask
from discreet.numerics.roundings import drift

FAINT = 1e-280
"""More than underflow can take from any sum."""
BITS = 88
MOST_CELLS = 600_000
"""Likely pairs (S, ω) beyond which the joint law is not formed."""
MOST_OUTPUTS = 6_000
MOST_PAYOFFS = 5_000_000


def joint_payoff(mechanism: Mechanism, sums: Sums) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of all decision makers, or a refusal when the joint law is too large."""
    kernel, decisions = mechanism.kernel, mechanism.problem.decisions
    exact = not all(isinstance(d.loss, DistanceLoss) for d in decisions)
    size = joint_cells(sums, exact)
    if not joint_fits(sums, kernel, exact):
        raise TooLarge(
            "This payoff needs the joint law of the weighted sum and the statistic",
            size=f"{size:,} pairs, {kernel.width:,} outputs",
            fits=f"{MOST_CELLS:,} pairs, {MOST_OUTPUTS:,} outputs",
            remedy="use smaller weights or fewer respondents; squared error has no such limit",
        )
    ask(size, MOST_CELLS)
    joint = joint_masses(sums, exact=exact)
    rows = _rows(mechanism)
    seen = joint.through(mechanism.weighted_sum, rows, int(rows.first))
    total = [Fraction(0), Fraction(0)]
    for i, decision in enumerate(decisions):
        actions = recommended(kernel, i, len(decisions))
        losses, top, worst, off = (
            _losses(sums, actions, decision, joint.omegas)
            if isinstance(decision.loss, DistanceLoss)
            else _regrets(mechanism, sums, actions, decision, joint.omegas)
        )
        loss = float((seen * losses).sum())
        roundings = 16 * (len(joint.totals) + len(joint.omegas) + 3 * len(actions)) + 512
        error = Fraction(loss * drift(roundings)) + Fraction(FAINT) + off
        low = Fraction(loss) - error - joint.mistaken * worst
        high = Fraction(loss) + error + (joint.missing + joint.mistaken) * worst
        total[0] += decision.weight * (top - high)
        total[1] += decision.weight * (top - low)
    return total[0], total[1]


def joint_fits(sums: Sums, kernel: Kernel, exact: bool) -> bool:
    """Whether the joint law and the kernel on its totals are small enough to be formed."""
    if kernel.width > MOST_OUTPUTS:
        return False
    try:
        return joint_cells(sums, exact) <= MOST_CELLS
    except TooLarge:
        return False


def joint_cells(sums: Sums, exact: bool = False) -> int:
    """How many pairs (S, ω) the joint law spans: likely ones, or (`exact`) all; refused when their law cannot be formed."""
    if sums.tied is not None:
        return _likely(sums.law, sums.weights)
    steps, _ = sums.lattice()
    spans = [_span(sums, list(sums.weights)), _span(sums, steps)]
    if not exact:
        spans = [_likely(sums.law, tuple(each)) for each in (sums.weights, steps)]
    if not sums.law.fits([w + spans[0] * step for w, step in zip(sums.weights, steps, strict=True)]):
        raise TooLarge(
            "This payoff needs the joint law of the weighted sum and the statistic",
            size=f"{spans[0]:,} totals, {spans[1]:,} values",
            fits="fewer",
            remedy="use smaller weights or fewer respondents; squared error has no such limit",
        )
    return spans[0] * spans[1]


def _span(sums: Sums, weights: list[int]) -> int:
    """How many totals there are from the least to the largest."""
    n = sums.largest
    low, high = (min(0, *weights), max(0, *weights)) if sums.smallest < n else (min(weights), max(weights))
    return n * (high - low) + 1


@lru_cache(maxsize=64)
def _likely(law: Law, weights: tuple[int, ...]) -> int:
    return len(law.masses(weights, BITS).masses)


def recommended(kernel: Kernel, maker: int, makers: int) -> list[Action]:
    """What each output recommends to one of the decision makers."""
    listed = list(kernel.recommended or ())
    if not listed or any(a is None for a in listed):
        raise InputError(
            "The mechanism recommends no actions",
            found="a kernel without actions",
            allowed="an action for each output",
            remedy="add the recommended actions",
        )
    each = [a if isinstance(a, tuple) else (a,) for a in listed]
    if any(len(a) != makers for a in each):
        raise InputError(
            "An output needs one action for each decision maker",
            found=f"{len(each[0])} actions",
            allowed=f"{makers}",
            remedy="complete the recommended actions",
        )
    return [a[maker] for a in each if a[maker] is not None]  # type: ignore[misc]


def _losses(
    sums: Sums, actions: list[Action], decision: Decision, omegas: list[Fraction]
) -> tuple[np.ndarray, Fraction, Fraction, Fraction]:
    """ℓ [ω, output] of an error, 0 as largest payoff, the largest loss, and the error of any ℓ."""
    numbers = [a for a in actions if isinstance(a, Fraction)]
    if len(numbers) != len(actions):
        raise InputError(
            "An error needs a number for each output",
            found=f"{len(numbers)} numbers",
            allowed=f"{len(actions)}",
            remedy="recommend a number for each output",
        )
    sizes = (sums.smallest, sums.largest)
    ends = [n * v for n in sizes for v in (min(sums.values), max(sums.values))] + [min(omegas), max(omegas)]
    furthest = max(abs(w - a) for w in ends for a in (min(numbers), max(numbers)))
    # losses depend on differences alone: measured from a likely ω they keep their digits
    origin = omegas[len(omegas) // 2]
    gap = _measured(omegas, origin)[:, None] - _measured(numbers, origin)[None, :]
    largest = max(abs(x - origin) for x in (*ends, min(numbers), max(numbers)))
    off = Fraction(drift(16)) * largest
    losses = decision.distance.of_gap(gap)
    if isinstance(decision.loss, SquaredLoss):
        return losses, Fraction(0), furthest**2, 2 * furthest * off + off**2
    return losses, Fraction(0), furthest, off


def _measured(numbers: Sequence[Fraction], origin: Fraction) -> np.ndarray:
    """Numbers less the origin, each rounded once."""
    below = lcm(origin.denominator, *(x.denominator for x in numbers))
    start = int(origin * below)
    return np.array([(x.numerator * (below // x.denominator) - start) / below for x in numbers])


def _regrets(
    mechanism: Mechanism, sums: Sums, listed: list[Action], decision: Decision, omegas: list[Fraction]
) -> tuple[np.ndarray, Fraction, Fraction, Fraction]:
    """ℓ = top − u [ω, output] of any payoff, top, the largest ℓ at any value of ω, and the error of any ℓ."""
    actions = list(dict.fromkeys(listed))
    place = {a: i for i, a in enumerate(actions)}
    chosen = [place[a] for a in listed]
    if isinstance(decision.loss, FormulaLoss) and decision.loss.parts is not None and not any(isinstance(a, str) for a in actions):
        lines = [tuple(Fraction(part({"a": a})) for part in decision.loss.parts) for a in actions]
        table, top, worst, off = _on_lines(mechanism, lines, omegas)
        return table[chosen].T, top, worst, off
    if isinstance(decision.loss, MatchLoss):
        column: dict[Action, int] = {w: j for j, w in enumerate(omegas)}
        table = np.ones((len(actions), len(omegas)))
        for i, a in enumerate(actions):
            if a in column:
                table[i, column[a]] = 0.0
        return table[chosen].T, Fraction(1), Fraction(1), Fraction(0)
    _, unit = sums.lattice()
    low, high = mechanism.problem.omega_range
    columns = decision.loss.columns if isinstance(decision.loss, TableLoss) else None
    every: Sequence[Fraction] = columns or [low + unit * k for k in range(int((high - low) / unit) + 1)]
    if len(actions) * len(every) > MOST_PAYOFFS:
        raise TooLarge(
            "There are too many actions and values of the statistic to value a payoff",
            size=f"{len(actions) * len(every):,}",
            fits=f"{MOST_PAYOFFS:,}",
            remedy="list fewer actions",
        )
    payoffs = [decision.payoffs_along(a, every) for a in actions]
    top, least = max(map(max, payoffs)), min(map(min, payoffs))
    at = {w: j for j, w in enumerate(every)}
    table = np.array([[float(top - row[at[w]]) for w in omegas] for row in payoffs])
    return table[chosen].T, top, top - least, Fraction(0)


def _on_lines(
    mechanism: Mechanism, lines: Sequence[tuple[Fraction, ...]], omegas: list[Fraction]
) -> tuple[np.ndarray, Fraction, Fraction, Fraction]:
    """The same for payoffs f + ω·g, one (f, g) for each action: straight in ω, so the extremes stand at the ends of its range."""
    ends = [f + w * g for f, g in lines for w in mechanism.problem.omega_range]
    top, least = max(ends), min(ends)
    heights, slopes = np.array([float(top - f) for f, _ in lines]), np.array([float(g) for _, g in lines])
    numbers = np.array([float(w) for w in omegas])
    table = np.maximum(heights[:, None] - slopes[:, None] * numbers[None, :], 0.0)
    furthest = max(map(abs, mechanism.problem.omega_range))
    off = Fraction(drift(16)) * max(abs(top - f) + abs(g) * furthest for f, g in lines)
    return table, top, top - least, off


@dataclass(frozen=True, eq=False)
class _Kernel:
    """K(y|s) as floats [state, output] for the totals first, first + 1, …; a total that no database has has zeros."""

    first: int
    table: np.ndarray


@dataclass(frozen=True, eq=False)
class JointMasses:
    """P(s, ω) from below: `masses` [pair], each at one of `omegas` and one of `totals`; what is missing, what may be mistaken."""

    omegas: list[Fraction]
    totals: list[int]
    row: np.ndarray
    total: np.ndarray
    masses: np.ndarray
    missing: Fraction
    mistaken: Fraction

    def through(self, summary: LinearSummary, kernel: _Kernel, first: int) -> np.ndarray:
        """P(y, ω) as [ω, output]."""
        states = np.array([summary.clip(s) for s in self.totals]) - first
        joint = np.zeros((len(self.omegas), len(kernel.table)))
        np.add.at(joint, (self.row, states[self.total]), self.masses)
        return joint @ kernel.table


@lru_cache(maxsize=4)
def joint_masses(sums: Sums, *, exact: bool) -> JointMasses:
    """The joint law of S and ω."""
    if sums.tied is not None:
        rate, rest = sums.tied
        found = sums.law.masses(sums.weights, BITS)
        held = [(i, mass) for i, mass in enumerate(found.masses) if mass]
        omegas = [rate * (found.first + i) + rest for i, _ in held]
        order = sorted(range(len(held)), key=omegas.__getitem__)
        place = np.empty(len(held), dtype=np.int64)
        place[order] = np.arange(len(held))
        masses = np.array([mass / 2.0**BITS for _, mass in held])
        return JointMasses(
            sorted(omegas), [found.first + i for i, _ in held], place, np.arange(len(held)), masses,
            Fraction(found.missing, 1 << BITS), Fraction(0),
        )  # fmt: skip
    steps, unit = sums.lattice()
    n, varies = sums.largest, sums.smallest < sums.largest
    start = n * min(sums.weights) if not varies else n * min(0, *sums.weights)
    end = n * max(sums.weights) if not varies else n * max(0, *sums.weights)
    stride, outside = end - start + 1, 0
    if not exact:
        likely = sums.law.masses(sums.weights, BITS)
        start, stride, outside = likely.first, len(likely.masses), likely.missing
    combined = [w + stride * step for w, step in zip(sums.weights, steps, strict=True)]
    found = sums.law.masses(combined, BITS)
    held2 = [(*divmod(found.first + i - start, stride), mass) for i, mass in enumerate(found.masses) if mass]
    rows, totals = sorted({row for row, _, _ in held2}), sorted({offset for _, offset, _ in held2})
    row_at, total_at = {row: i for i, row in enumerate(rows)}, {offset: i for i, offset in enumerate(totals)}
    return JointMasses(
        [sums.origin + unit * row for row in rows],
        [start + offset for offset in totals],
        np.array([row_at[row] for row, _, _ in held2]),
        np.array([total_at[offset] for _, offset, _ in held2]),
        np.array([mass / 2.0**BITS for _, _, mass in held2]),
        Fraction(found.missing, 1 << BITS),
        Fraction(outside, 1 << BITS),
    )


def _rows(mechanism: Mechanism) -> _Kernel:
    """The kernel on every total from its lowest to its highest."""
    match mechanism.kernel:
        case GaussianKernel() as kernel:
            return _Kernel(kernel.low, noisy_rows(kernel))
        case ClosedKernel() as kernel:
            return _Kernel(kernel.low, _closed_rows(kernel))
        case CountedKernel():
            raise only_at_face_value()
        case TableKernel() as kernel:
            totals = mechanism.space.vectors[:, 0].tolist()
            table = np.zeros((totals[-1] - totals[0] + 1, len(kernel.outputs)))
            for total, column in zip(totals, zip(*kernel.weights, strict=True), strict=True):
                table[total - totals[0]] = [w / kernel.denominator for w in column]
            return _Kernel(totals[0], table)


def only_at_face_value() -> TooLarge:
    """Where histograms are too many to be listed, noise that follows a count is valued as it stands."""
    return TooLarge(
        "Noise that follows a count is valued at face value on the statistic, where histograms are too many to be listed",
        size="other actions, another sum or another payoff than an error",
        fits="the value that each output shows, as the action of every decision maker",
        remedy="recommend what outputs show, or use fewer respondents",
    )


def _closed_rows(kernel: ClosedKernel) -> np.ndarray:
    """K(y|s) as floats [state, output]; powers by repeated products, tails from their positive formulas."""
    width, plateau = kernel.stair, kernel.plateau
    ratio = kernel.ratio
    size = kernel.width
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
