"""The Blackwell order: one channel can be garbled into another, or some decision prefers the other.

σ ≥ σ′ when σ′ = Γσ for a stochastic matrix Γ: P(t|s) = Γ[t][s]. If there is no Γ, there is a payoff w(t, ω) such
that following σ′'s advice (take action t after output t) beats every use of σ:
Σ_t Σ_ω w(t,ω)σ′(t|ω) > Σ_s max_t Σ_ω w(t,ω)σ(s|ω). Reference: Blackwell 1953, SY Lemma 6.

A few simple decisions (name the state, guess it, tell high from low) are tried first, then a linear program proposes.
Γ is solved for exactly, or the payoff is rounded to rationals and its advantage
computed exactly. Where neither is exact, the channels are that close: the remaining deficiency is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.geometry.channel import Channel
from discreet.geometry.linear_algebra import nonnegative_solution, rank

MOST_UNKNOWNS = 60_000
MOST_EXACT = 160
"""The most unknowns of one exact simplex; beyond it only an invertible channel is solved exactly."""
LEAST_ADVANTAGE = Fraction(1, 10**9)
"""The least advantage that refutes a garbling between channels that were rounded first."""
TELLING = Fraction(1, 10**5)
"""The advantage in a simple decision that settles the matter without looking for the best garbling."""
SECONDS = 10.0
"""The time that a program for a garbling may take."""


@dataclass(frozen=True)
class BlackwellAnswer:
    """`holds` True with the garbling, False with the payoff × prior [action][state], None if too close to tell.

    `deficiency` is the total deviation Σ|Γσ − σ′| of the best garbling, where one was looked for.
    """

    holds: bool | None
    garbling: tuple[tuple[Fraction, ...], ...] | None = None
    payoff: tuple[tuple[Fraction, ...], ...] | None = None
    advantage: Fraction | None = None
    deficiency: float | None = None


def blackwell(channel: Channel, other: Channel, exact: bool = True) -> BlackwellAnswer:
    """Whether every decision maker weakly prefers `channel` to `other`; both on the same states.

    Without `exact` no garbling is certified: the answer is False with its decision, or None with the deficiency.
    """
    if channel.states != other.states:
        raise InputError(
            "Channels on different states cannot be compared",
            found=f"{len(channel.states)} and {len(other.states)} states",
            allowed="the same states in the same order",
            remedy="compare mechanisms of the same problem",
        )
    ours, theirs = channel.merged(), other.merged()
    size = len(ours.outputs) * len(theirs.outputs)
    if size > MOST_UNKNOWNS:
        raise TooLarge(
            "There are too many outputs for a garbling",
            size=f"{len(ours.outputs)} × {len(theirs.outputs)} outputs",
            fits=f"{MOST_UNKNOWNS:,} pairs of outputs",
            remedy="compare mechanisms with fewer outputs",
        )
    solved = _unique_garbling(ours, theirs) if exact else None
    if solved is not None:
        return BlackwellAnswer(True, solved, deficiency=0.0)
    least = Fraction(0) if exact else LEAST_ADVANTAGE
    for simple in _simple_decisions(len(ours.states)):
        gain = value_of(theirs, simple) - value_of(ours, simple)
        if gain > TELLING:
            return BlackwellAnswer(False, payoff=simple, advantage=gain)
    proposal = _propose(ours, theirs)
    if proposal is None:
        return BlackwellAnswer(None)
    proposed, payoff, deficiency = proposal
    refuted = _advantage(ours, theirs, payoff)
    if refuted is not None and refuted[1] > least:
        return BlackwellAnswer(False, payoff=refuted[0], advantage=refuted[1], deficiency=deficiency)
    garbling = _exact_garbling(ours, theirs, proposed) if exact else None
    if garbling is not None:
        return BlackwellAnswer(True, garbling, deficiency=0.0)
    return BlackwellAnswer(None, deficiency=deficiency)


def value_of(channel: Channel, payoff: Sequence[Sequence[Fraction]]) -> Fraction:
    """Σ_s max_a Σ_ω w(a,ω)σ(s|ω): what a decision with payoff × prior w is worth, exactly."""
    scale = lcm(*(p.denominator for row in channel.rows for p in row))
    unit = lcm(*(w.denominator for line in payoff for w in line))
    lines = [[int(w * unit) for w in line] for line in payoff]
    total = 0
    for row in channel.rows:
        weights = [p.numerator * (scale // p.denominator) for p in row]
        total += max(sum(map(mul, line, weights)) for line in lines)
    return Fraction(total, scale * unit)


def _simple_decisions(n: int) -> Iterator[tuple[tuple[Fraction, ...], ...]]:
    """Payoffs [action][state] that often tell two channels apart: match, squared error, and each threshold."""
    states = range(n)
    yield tuple(tuple(Fraction(int(a == w)) for w in states) for a in states)
    yield tuple(tuple(-Fraction((a - w) ** 2) for w in states) for a in states)
    for cut in range(1, n):
        yield tuple(tuple(Fraction(int((w >= cut) == high)) for w in states) for high in (False, True))


def _unique_garbling(ours: Channel, theirs: Channel) -> tuple[tuple[Fraction, ...], ...] | None:
    """The only candidate when our outputs are linearly independent: solve Γσ = σ′ and look at the signs."""
    from flint import fmpq, fmpq_mat

    n, k = len(ours.states), len(ours.outputs)
    if k > n or rank(ours.rows) < k:
        return None
    wide = [[row[i] for row in ours.rows] + [row[i] for row in theirs.rows] for i in range(n)]
    entries = [fmpq(x.numerator, x.denominator) for line in wide for x in line]
    reduced, found = fmpq_mat(n, len(wide[0]), entries).rref()
    if found != k:
        return None
    garbling = tuple(tuple(_fraction(reduced[s, k + t]) for s in range(k)) for t in range(len(theirs.outputs)))
    return garbling if all(g >= 0 for line in garbling for g in line) else None


def _propose(ours: Channel, theirs: Channel) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Γ [t, s] with the least total deviation from Γσ = σ′, the multipliers as payoff [t, ω], and the deviation.

    None when the program does not finish in time.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    sigma = np.array([[float(p) for p in row] for row in ours.rows])
    wanted = np.array([[float(p) for p in row] for row in theirs.rows])
    (k, n), t = sigma.shape, len(wanted)
    fit = kron(eye_array(t), csr_array(sigma.T))
    slack = eye_array(t * n)
    sums = kron(np.ones((1, t)), eye_array(k))
    A = vstack([hstack([fit, slack, -slack]), hstack([sums, csr_array((k, 2 * t * n))])]).tocsr()
    costs = np.concatenate([np.zeros(t * k), np.ones(2 * t * n)])
    found = linprog(
        costs,
        A_eq=A,
        b_eq=np.concatenate([wanted.ravel(), np.ones(k)]),
        bounds=(0, None),
        method="highs",
        options={"time_limit": SECONDS},
    )
    if found.status != 0:
        return None
    return found.x[: t * k].reshape(t, k), found.eqlin.marginals[: t * n].reshape(t, n), float(found.fun)


def _advantage(ours: Channel, theirs: Channel, payoff: np.ndarray) -> tuple[tuple[tuple[Fraction, ...], ...], Fraction] | None:
    """The payoff in rationals with its exact advantage for the other channel, or None when it has none."""
    exact = tuple(tuple(Fraction(float(w)).limit_denominator(10**6) for w in line) for line in payoff)
    gain = value_of(theirs, exact) - value_of(ours, exact)
    return (exact, gain) if gain > 0 else None


def _exact_garbling(ours: Channel, theirs: Channel, proposed: np.ndarray) -> tuple[tuple[Fraction, ...], ...] | None:
    """Γ on the proposed support, by exact simplex over all rows together."""
    support = [(int(t), int(s)) for t, s in np.argwhere(proposed > 1e-10)]
    n, t_count, k = len(ours.states), len(theirs.outputs), len(ours.outputs)
    if len(support) > MOST_EXACT or n * t_count + k > 4 * MOST_EXACT:
        return None
    zero = Fraction(0)
    columns = []
    for t, s in support:
        column = [zero] * (n * t_count + k)
        column[t * n : (t + 1) * n] = ours.rows[s]
        column[n * t_count + s] = Fraction(1)
        columns.append(column)
    target = [p for row in theirs.rows for p in row] + [Fraction(1)] * k
    found = nonnegative_solution(columns, target)
    if found.solution is None:
        return None
    garbling = [[zero] * k for _ in range(t_count)]
    for (t, s), g in zip(support, found.solution, strict=True):
        garbling[t][s] = g
    return tuple(map(tuple, garbling))


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))
