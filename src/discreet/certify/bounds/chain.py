"""The chain bound, re-proved: no ε-private mechanism loses less, whatever T and N.

Respondents are independent with the same law p over types, ω = Σ_i v(θ_i), neighbours replace one
respondent. The witness names two disjoint sets of types, `low` and `high`, of positive probability, no
value in `low` above any in `high`.

Theorem. Let x and z be the probabilities of `low` and `high`, β = z/(x+z), M ~ Bin(N, x+z), X ~ Bin(M, β)
given M, and Y the output of the geometric mechanism on 0..M with ratio e^−ε at state X. Let λ, τ have the
laws of v given `low` and given `high`, coupled in any way, and m, s² the mean and variance of τ − λ. Then
the expected loss of any ε-private mechanism is at least

    E_M[ m²·E Var(X|Y) + s²·E Σ_k Var(1[X ≥ k] | Y) ]       (squared error)
    E_M[ m·E Σ_k min( q·P(X ≥ k|Y), (1−q)·P(X < k|Y) ) ]    (pinball at q; absolute error is twice q = ½)

Proof. Call a respondent whose type lies in `low` or `high` a player. Enlarge the world: each player i has a
coin (heads with probability β) and, independently of it, a pair (λ_i, τ_i); heads means that his type is
τ_i's, tails λ_i's. Then types have the law they should have. Line the players up: heads first, both groups
shuffled. A line-up together with the number X of heads determines the coins; each of the M! line-ups has
probability 1/M! given X, so the line-up says nothing about X, and X remains Bin(M, β) after one learns M,
the non-players' types, all pairs and the line-up. Let everybody learn these: the least loss over private
mechanisms can only fall. The database is now a function of X alone, and moving X by one replaces one
respondent, so a private mechanism becomes a kernel on the path 0..M whose neighbouring columns differ by
factors of at most e^ε. On the path ω is a constant plus g(X), where g adds up δ_k = τ − λ ≥ 0 along the
line. A loss that is convex in a − g(X) is submodular in (a, X) for increasing g, so the geometric mechanism
is optimal (SY Thm 3), for every g at once. Its loss is E Var(g(X)|Y), or for pinball losses E Σ_k δ_k min(q
P(X≥k|Y), (1−q) P(X<k|Y)): the best action is g at a quantile of X, and the k-th step of g is paid with
weight q where it is missed and 1−q where it is counted in vain. The δ_k are independent of (X, Y) and of
each other; averaging over them gives the formulas. Listed actions only restrict mechanisms.  ∎  [ours]

Coupling: s² is largest when the largest τ meet the smallest λ; that one is used. Larger M, larger loss:
learning one random coin of M+1 leaves the path problem with M, so a block of M's may count as its least.

Arithmetic. The ratio is a rational r ≤ e^−ε, which only weakens the bound. Masses are lowered: for g fixed
the loss above is monotone in the joint law of (X, Y) (it is a sum over y of minima over a of sums that are
linear in the law and non-negative), so smaller masses of X and of M give a smaller bound; that also cuts
the tails. With X in a window all outputs below it have one posterior, as have all above it, so they may be
gathered at its ends. Everything else is floats: sums, products and quotients of non-negative numbers, whose
relative error follows from the number of roundings on the way (`numerics.roundings`). `ROUNDINGS` per step of the window
overstates that number for every quantity below, and each difference is taken from the low side of its first
to the high side of its second term.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np

from discreet.certify.bounds import CHAIN as CHAIN
from discreet.errors import Refuted
from discreet.model.actions import NamedActions
from discreet.model.certificate import TheoremWitness
from discreet.model.iid_sum import iid_sum, why_not_iid_sum
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.numerics.brackets import float_down, rational_below_exp
from discreet.numerics.roundings import drift

ROUNDINGS = 24
LOG_TAIL = 60.0
"""Windows leave out counts of probability about e^−60."""
NEARLY_NEVER = Fraction(1, 1 << 900)
"""Where fewer respondents differ in the mean, all are alike but for less than a rounding; the odds would leave the floats."""
MOST_PLAYERS = 1_500
"""Different M evaluated; more are taken in blocks."""
QUADRATIC_WORK = 200_000_000
LINEAR_WORK = 20_000_000
MATRIX = 2_000_000
FAINT = 1e-120
"""Outputs less likely than this are left out, and this is taken off each variance: more than underflow can hide."""


@dataclass(frozen=True)
class Split:
    """What the theorem needs of `low` and `high`: x + z, β, and mean and variance of τ − λ, exactly."""

    share: Fraction
    beta: Fraction
    mean: Fraction
    variance: Fraction


def chain_upper_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds, by the chain theorem with the witness's sets."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the chain bound does not hold", reason)
    decision = problem.decision
    loss = chain_loss(named_split(problem, witness), iid_sum(problem).respondents, problem.epsilon, decision.distance.quantile)
    return -decision.weight * decision.distance.pinballs * loss


def named_split(problem: Problem, witness: TheoremWitness) -> Split:
    """The numbers behind the sets of types that a witness names, or a refutation when the theorem does not allow them."""
    named = dict(witness.parameters)
    if set(named) != {"low", "high"} or len(witness.parameters) != 2:
        raise Refuted("the chain bound needs the sets low and high and nothing else", ", ".join(sorted(named)))
    return split_of(problem, types_in(named["low"]), types_in(named["high"]))


def why_not_chain(problem: Problem) -> str | None:
    """The first condition of the theorem that fails, in words; None when all hold."""
    reason = why_not_iid_sum(problem)
    return not_a_single_error(problem) if reason is None else reason


def not_a_single_error(problem: Problem) -> str | None:
    """Why the decision is not that of a chain; None when it is."""
    if len(problem.decisions) != 1 or not problem.decision.is_loss or isinstance(problem.decision.actions, NamedActions):
        return "the decision is not a single squared, absolute or pinball error"
    return None


def split_of(problem: Problem, low: tuple[int, ...], high: tuple[int, ...]) -> Split:
    """The exact numbers behind two sets of types, or a refutation when the theorem does not allow them."""
    law = iid_sum(problem)
    of = dict(zip(law.types, zip(law.values, law.probabilities, strict=True), strict=True))
    sets = (*low, *high)
    if len(set(sets)) != len(sets) or not all(0 <= t < len(law.all_values) for t in sets):
        raise Refuted("low and high must be disjoint sets of types", f"low {list(low)}, high {list(high)}")
    parts = [sorted(of[t] for t in part if t in of) for part in (low, high)]
    if not parts[0] or not parts[1]:
        raise Refuted("low and high need positive probability", f"low {list(low)}, high {list(high)}")
    lower, upper = parts[0], parts[1][::-1]
    if lower[-1][0] > upper[-1][0]:
        raise Refuted("a value in low lies above one in high", f"{lower[-1][0]} and {upper[-1][0]}")
    x, z = (sum((mass for _, mass in part), Fraction(0)) for part in (lower, upper))
    # walk along the common refinement of both distributions, smallest λ beside largest τ
    below, above = _cumulated(lower, x), _cumulated(upper, z)
    cuts = sorted({*below, *above})
    gaps = [
        (upper[bisect_left(above, right)][0] - lower[bisect_left(below, right)][0], right - left)
        for left, right in zip([Fraction(0), *cuts], cuts, strict=False)
    ]
    mean = sum((gap * mass for gap, mass in gaps), Fraction(0))
    return Split(x + z, z / (x + z), mean, sum((gap * gap * mass for gap, mass in gaps), Fraction(0)) - mean**2)


def chain_loss(split: Split, respondents: int, epsilon: Fraction, quantile: Fraction | None) -> Fraction:
    """A lower side of the theorem's expression; `quantile` None means squared error."""
    # beyond e^−300 nothing is lost that could be stated: r = 0 is still below e^−ε
    ratio = float_down(rational_below_exp(-epsilon, 80)) if epsilon < 300 else 0.0
    reach = len(binomial_below(respondents, split.beta)[1])
    affordable = LINEAR_WORK // reach if quantile is None else QUADRATIC_WORK // reach**2
    players = Players.of(split, respondents, min(MOST_PLAYERS, affordable))
    ask(len(players.numbers), max(8, affordable))
    if quantile is None:
        brackets = _squared(split, players.numbers, ratio)
    else:
        scale = float_down(split.mean) * (1 - drift(8))
        brackets = scale * np.array([pinball_loss(binomial_below(m, split.beta)[1], ratio, quantile) for m in players.numbers])
    return players.average(np.maximum(brackets, 0.0))


@dataclass(frozen=True, eq=False)
class Players:
    """The law of M, the number of players, lowered and in blocks by their least: `masses` of `numbers`, for so many `counts`."""

    numbers: list[int]
    masses: np.ndarray
    counts: int

    @classmethod
    def of(cls, split: Split, respondents: int, affordable: int) -> Players:
        """In at most so many blocks, or eight."""
        fewest, weights = binomial_below(respondents, split.share)
        block = ceil(len(weights) / max(8, affordable))
        masses = np.add.reduceat(weights, np.arange(0, len(weights), block))
        return cls(list(range(fewest, fewest + len(weights), block)), masses, len(weights))

    def average(self, losses: np.ndarray) -> Fraction:
        """A lower side of the expected loss, given those of each number of players, from 0."""
        total = float((self.masses * losses).sum())
        return Fraction(max(0.0, total * (1 - drift(4 * (self.counts + 16)))))


def binomial_below(trials: int, probability: Fraction) -> tuple[int, np.ndarray]:
    """(first, masses): masses at most those of Bin(trials, probability) on its likely counts first, first+1, ….

    Ratios of neighbouring masses from the mode outwards, divided by more than their total: ratios fall away
    from the mode, so a geometric series bounds each tail.
    """
    if probability == 1 or trials == 0:
        return trials, np.ones(1)
    if min(probability, 1 - probability) * trials < NEARLY_NEVER:
        return round(probability) * trials, np.array([1 - drift(1)])
    p, odds = float(probability), float(probability / (1 - probability))
    half = LOG_TAIL / 3 + sqrt((LOG_TAIL / 3) ** 2 + 2 * trials * p * (1 - p) * LOG_TAIL)
    mode = min(trials, int((trials + 1) * probability))
    low, high = max(0, mode - ceil(half) - 1), min(trials, mode + ceil(half) + 1)
    up = np.arange(mode, high, dtype=float)
    down = np.arange(mode, low, -1, dtype=float)
    above = np.cumprod((trials - up) / (up + 1) * odds)
    below = np.cumprod(down / ((trials - down + 1) * odds))
    masses = np.concatenate([below[::-1], [1.0], above])
    tail = _tail(masses[-1], (trials - high) / (high + 1) * odds) + _tail(masses[0], low / ((trials - low + 1) * odds))
    return low, masses / (masses.sum() + tail) * (1 - drift(16 * (len(masses) + 4)))


def _tail(last: float, ratio: float) -> float:
    """More than the sum of a series that starts after `last` and falls at least by `ratio` each time."""
    return 0.0 if ratio == 0 else float(last) * ratio / (1 - ratio) * (1 + 1e-9) if ratio < 1 - 1e-6 else float("inf")


def _squared(split: Split, players: list[int], ratio: float) -> np.ndarray:
    """m²·V + s²·U from below for each number of players, many side by side."""
    square, variance = float_down(split.mean**2), float_down(split.variance)
    found: list[np.ndarray] = []
    start = 0
    while start < len(players):
        longest = len(binomial_below(players[-1], split.beta)[1])
        some = players[start : start + max(1, MATRIX // longest)]
        columns = [binomial_below(m, split.beta)[1] for m in some]
        matrix = np.zeros((max(map(len, columns)), len(some)))
        for j, column in enumerate(columns):
            matrix[: len(column), j] = column
        count, indicators = hidden_variances(matrix, ratio)
        found.append((square * count + variance * indicators) * (1 - drift(8)))
        start += len(some)
    return np.concatenate(found)


def hidden_variances(masses: np.ndarray, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """E Var(X|Y) and E Σ_k Var(1[X≥k]|Y) from below for each column of `masses` [x, problem] on a path from 0.

    With A_i(y) = Σ_{x≤y} P(x) (y−x)^i r^(y−x), C_i the same from above, and B(y) = Σ_{k≤y} P(X<k, y)² (D from above),
        P(y) ∝ A_0 + C_0 − P,   Var(X|y) P(y) = A_2 + C_2 − (C_1−A_1)²/P(y),
        Σ_k Var(1[X≥k]|y) P(y) = A_1 + C_1 − (B + D)/P(y),
    since P(X<k, y) = r^(y−k+1) A_0(k−1) sums to A_1 over k ≤ y.
    """
    size, problems = masses.shape
    if size == 1:
        return np.zeros(problems), np.zeros(problems)
    slack = drift(ROUNDINGS * (size + 8))
    a = _sums(masses, ratio)
    c = [part[::-1] for part in _sums(masses[::-1], ratio)]
    beyond = np.concatenate([ratio * c[0][1:], np.zeros((1, problems))])
    density = a[0] + beyond
    weight = np.full((size, 1), (1 - ratio) / (1 + ratio))
    weight[0] = weight[-1] = 1 / (1 + ratio)
    likely = density > FAINT
    divisor = np.where(likely, density * (1 - slack), 1.0)
    moved = np.abs(c[1] - a[1]) + slack * (c[1] + a[1])
    around = (a[2] + c[2]) * (1 - slack) - moved * moved * (1 + slack) / divisor
    crossed = (a[1] + c[1]) * (1 - slack) - (a[3] + c[3]) * (1 + slack) / divisor
    found = [weight * np.where(likely, np.maximum(part, 0.0), 0.0) for part in (around, crossed)]
    count, indicators = (np.maximum(part.sum(axis=0) * (1 - slack) - FAINT, 0.0) for part in found)
    return count, indicators


def _sums(masses: np.ndarray, ratio: float) -> list[np.ndarray]:
    """A_0, A_1, A_2 and B of every column, by recursion down the rows: non-negative terms only."""
    found = [np.zeros_like(masses) for _ in range(4)]
    zeroth, first, second, squares = found
    zeroth[0] = masses[0]
    with np.errstate(under="ignore"):
        for y in range(1, len(masses)):
            before = zeroth[y - 1]
            zeroth[y] = masses[y] + ratio * before
            first[y] = ratio * (first[y - 1] + before)
            second[y] = ratio * (second[y - 1] + 2 * first[y - 1] + before)
            squares[y] = ratio * ratio * (squares[y - 1] + before * before)
    return found


def pinball_loss(masses: np.ndarray, ratio: float, quantile: Fraction) -> float:
    """E Σ_k min(q P(X≥k|Y), (1−q) P(X<k|Y)) from below on a path; time is quadratic in the window."""
    size = len(masses)
    if size == 1:
        return 0.0
    x = np.arange(size)
    powers = np.cumprod(np.concatenate([[1.0], np.full(size, ratio)]))
    missed, in_vain = float(quantile), float(1 - quantile)
    total = 0.0
    with np.errstate(under="ignore"):
        for start in range(0, size, 256):
            y = x[start : start + 256]
            joint = masses * powers[np.abs(x[None, :] - y[:, None])]
            joint *= np.where((y == 0) | (y == size - 1), 1.0, 1.0 - ratio)[:, None] / (1 + ratio)
            below = np.cumsum(joint, axis=1)[:, :-1]
            above = np.cumsum(joint[:, ::-1], axis=1)[:, ::-1][:, 1:]
            total += float(np.minimum(missed * above, in_vain * below).sum())
    return total * (1 - drift(ROUNDINGS * (size + 8))) - FAINT


def types_in(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise Refuted("a set of types is a list of numbers", text) from None


def _cumulated(atoms: list[tuple[Fraction, Fraction]], total: Fraction) -> list[Fraction]:
    """The shares of the atoms up to each; the last is 1."""
    running, found = Fraction(0), []
    for _, mass in atoms:
        running += mass / total
        found.append(running)
    return found
