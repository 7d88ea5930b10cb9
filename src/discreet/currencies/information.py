"""Mutual-information privacy: how many nats about one respondent a release can carry when all others are known.

    MI = max over i and distributions of X of I(X_i; Y | X^{−i}) = max over blocks of the capacity of their channel,

a block being the states that one respondent can reach while the others stay. For any inputs p with outputs
q = Σ_x p_x W_x the capacity C of a block is caught from both sides,

    I(p) = Σ_x p_x D(W_x‖q)  ≤  C  ≤  max_x D(W_x‖q),

with equality at the optimum, so a good p is its own certificate. All blocks are solved at once by a primal-dual
Newton method (few inputs, so a step is a small linear system); blocks that cannot win are dropped as soon as
their upper end falls below another's lower end; the winners are certified in balls.

D is computed as Σ q φ(u), u = (W − q)/q, φ(u) = (1 + u) log(1 + u) − u, whose terms do not cancel at small ε.
References: CY (MI-DP and the observation that product priors give the same maximum), Arimoto (1972), Blahut (1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.currencies.bracket import ZERO, Bracket, enclosed
from discreet.currencies.channel import LossChannel, channel_of
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Flags, Floats, Integers
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from flint import fmpq

RELATIVE_GAP = 1e-9
"""The certified gap (upper − lower)/lower that is aimed at."""
ROUNDS = 80
MOST_CERTIFIED = 12


@dataclass(frozen=True)
class Information:
    """The bracket in nats, the states of the worst block, and the input distribution that attains its lower end."""

    bracket: Bracket
    states: tuple[str, ...] = ()
    inputs: tuple[Fraction, ...] = ()

    @property
    def gap(self) -> float:
        """(upper − lower)/lower; 0 when nothing is revealed."""
        return self.bracket.width / self.bracket.lower if self.bracket.lower > 0 else self.bracket.upper


def mutual_information(source: Mechanism | LossChannel, *, watch: Watch = SILENT) -> Information:
    """The smallest ε for which the mechanism is ε-MI-DP, certified from both sides, with its witness."""
    channel = channel_of(source)
    if len(channel.blocks) == 0:
        return Information(ZERO)
    solved = _solve(channel, watch)
    order = np.argsort(-solved.upper, kind="stable")
    best, upper = Information(ZERO), 0.0
    for rank, block in enumerate(order.tolist()):
        if solved.upper[block] <= best.bracket.lower * (1 + RELATIVE_GAP / 4) and rank:
            upper = max(upper, float(solved.upper[block]))
            break
        if rank >= MOST_CERTIFIED:
            upper = max(upper, float(solved.upper[block]))
            break
        found = certified(channel, channel.blocks[block], solved.inputs[block])
        upper = max(upper, found.bracket.upper)
        if found.bracket.lower > best.bracket.lower or rank == 0:
            best = found
    return Information(Bracket(best.bracket.lower, max(upper, best.bracket.lower)), best.states, best.inputs)


def certified(channel: LossChannel, block: Integers, inputs: Floats) -> Information:
    """The bracket that an input distribution proves for one block, in balls."""
    from flint import arb

    members = [int(state) for state in block if state >= 0]
    scaled = [max(round(float(p) * 2**60), 1) for p, state in zip(inputs, block, strict=True) if state >= 0]
    total = sum(scaled)
    chances = tuple(Fraction(p, total) for p in scaled)
    states = tuple(channel.labels[state] for state in members)
    rows = [[channel.exact(y, state) for state in members] for y in range(len(channel.outputs))]
    if all(min(row) == max(row) for row in rows):
        return Information(ZERO, states, chances)
    mixed = [sum((p * w for p, w in zip(chances, row, strict=True)), Fraction(0)) for row in rows]
    terms = [
        [(_rational(w), _rational(w / q)) for w, q in zip(column, mixed, strict=True) if w and w != q]
        for column in zip(*rows, strict=True)
    ]

    def divergences() -> list[arb]:
        return [sum((arb(w) * arb(ratio).log() for w, ratio in term), arb(0)) for term in terms]

    def inner() -> arb:
        return sum((arb(_rational(p)) * d for p, d in zip(chances, divergences(), strict=True)), arb(0))

    def outer() -> arb:
        best = arb(0)
        for found in divergences():
            best = best.max(found)
        return best

    return Information(Bracket(enclosed(inner, low=0.0).lower, enclosed(outer, low=0.0).upper), states, chances)


def _rational(value: Fraction) -> fmpq:
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


@dataclass(frozen=True, eq=False)
class _Solved:
    """Inputs [block, member] and an upper bound of each block's capacity, the error of the floats included."""

    inputs: Floats
    upper: Floats


def _solve(channel: LossChannel, watch: Watch) -> _Solved:
    blocks = channel.blocks
    present = blocks >= 0
    inputs = present / present.sum(axis=1, keepdims=True)
    upper = np.full(len(blocks), np.inf)
    rows = np.ascontiguousarray(channel.probabilities.T)
    size = max((1 << 22) // (blocks.shape[1] * max(rows.shape[1], 1)), 1)
    lower = 0.0
    for start in range(0, len(blocks), size):
        here = slice(start, start + size)
        lower = _solve_portion(rows, blocks[here], inputs[here], upper[here], lower, watch)
        watch.report(stage="capacity", value=lower, bound=float(upper[: here.stop].max()))
    return _Solved(inputs, upper)


def _solve_portion(rows: Floats, blocks: Integers, inputs: Floats, upper: Floats, lower: float, watch: Watch) -> float:
    """Improve `inputs` and `upper` in place until every block is solved or cannot win; the best lower end."""
    open_ones = np.arange(len(blocks))
    slacks: Floats | None = None
    for _ in range(ROUNDS):
        members = blocks[open_ones]
        present = members >= 0
        w = rows[members] * present[..., None]
        p = inputs[open_ones]
        divergences, excess, margin = _divergences(w, p, present)
        value = (p * np.where(p > 0, divergences, 0.0)).sum(axis=1)
        top = np.where(present, divergences, -np.inf).max(axis=1)
        upper[open_ones] = np.minimum(upper[open_ones], top + margin)
        lower = max(lower, float((value - margin).max(initial=0.0)))
        unsolved = top - value > 0.01 * RELATIVE_GAP * np.maximum(value, 0.0)
        going = (upper[open_ones] > lower) & unsolved & (top > margin)
        if not going.any() or watch.cancelled():
            break
        if slacks is None:
            scale = np.maximum(top - value, 1e-3 * top)[:, None]
            slacks = np.where(present, np.maximum(top[:, None] - divergences, 0.0) + scale, 1.0)
        open_ones, p, present = open_ones[going], p[going], present[going]
        stepped, slacks = _step(p, slacks[going], divergences[going], excess[going], w[going], present)
        inputs[open_ones] = stepped
    return lower


def _divergences(w: Floats, p: Floats, present: Flags) -> tuple[Floats, Floats, Floats]:
    """D(W_x‖q) [block, member], u = (W − q)/q [block, member, output], and a bound on the error of D per block."""
    q = np.einsum("bm,bmn->bn", p, w)[:, None, :]
    # q is rounded by a few units in the last place: against W − q of size ε·q that is a relative error of 2^-50/ε.
    gaps = w - q
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(q > 0, gaps / q, 0.0)
        ratio = np.where(q > 0, w / q, 0.0)
        logs = np.where(ratio > 0, np.where(u < -0.5, np.log(ratio), np.log1p(u)), 0.0)
        phi = np.where(np.abs(u) < 1e-2, _small_phi(u), ratio * logs - u)
    divergences = np.where(present, (q * phi).sum(axis=2), 0.0)
    unreached = (w > 0) & (q <= 0)
    divergences = np.where(unreached.any(axis=2) & present, np.inf, divergences)
    spread = ((q + w) * (np.abs(logs) + np.abs(phi))).sum(axis=2).max(axis=1)
    margin = (2.0**-48) * spread + w.shape[2] * 1e-307
    return divergences, u, margin


def _small_phi(u: Floats) -> Floats:
    """(1 + u) log(1 + u) − u = Σ_{k≥2} (−u)^k / (k(k−1)) for |u| < 1/100, to full relative precision."""
    total = np.zeros(u.shape)
    for k in range(10, 1, -1):
        total = 1 / (k * (k - 1)) - u * total
    return np.asarray(u * u * total)


def _step(p: Floats, s: Floats, divergences: Floats, u: Floats, w: Floats, present: Flags) -> tuple[Floats, Floats]:
    """One primal-dual step towards D_x + s_x = C, p_x s_x = μ: new inputs and slacks, both positive.

    The curvature is Σ_y W_x W_z/q − 1 = Σ_y q u_x u_z, which keeps its digits when all rows are close.
    """
    count, width = p.shape
    q = np.einsum("bm,bmn->bn", p, w)
    p = np.where(present, np.maximum(p, 1e-15), 1.0)
    finite = np.where(np.isfinite(divergences), divergences, 700.0)
    mean = (p * s * present).sum(axis=1) / present.sum(axis=1)
    target = np.where(present, 0.05 * mean[:, None], 0.0)
    scale = np.maximum(np.abs(finite).max(axis=1), 1e-290)
    curvature = np.einsum("bmn,bzn->bmz", q[:, None, :] * u, u)
    system = np.zeros((count, width + 1, width + 1))
    system[:, :width, :width] = curvature / scale[:, None, None]
    diagonal = np.arange(width)
    system[:, diagonal, diagonal] += np.where(present, s / p / scale[:, None], 1.0)
    system[:, :width, width] = system[:, width, :width] = present
    right = np.zeros((count, width + 1))
    right[:, :width] = np.where(present, (finite + target / p) / scale[:, None], 0.0)
    solution = np.linalg.solve(system, right[..., None])[..., 0]
    dp = np.where(present, solution[:, :width], 0.0)
    ds = np.where(present, (target - p * s - s * dp) / p, 0.0)
    p_next = p + _length(p, dp, present) * dp
    s_next = s + _length(s, ds, present) * ds
    p_next = np.where(present, p_next, 0.0)
    return p_next / p_next.sum(axis=1, keepdims=True), s_next


def _length(values: Floats, steps: Floats, present: Flags) -> Floats:
    """How far along the step everything stays positive, at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(present & (steps < 0), -values / steps, np.inf).min(axis=1, keepdims=True)
    return np.minimum(1.0, 0.995 * reach)
