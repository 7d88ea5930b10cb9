"""The chain lower bound: no private mechanism has a smaller expected loss, at any T and N.

Respondents are iid with type probabilities p and values v; omega = sum v(theta_i); actions are real, so the
bound holds for any list of actions too.  Squared error first.

Split.  Take the lower tail of the value distribution with mass x (law of lambda) and the upper tail with mass
z (law of tau), x + z <= 1; a type on the border may give a part of its mass.  A respondent of type t plays
with the probability that his mass is in a tail.  Given that he plays he is `high` with probability beta =
z/(x+z).

Proof.  Draw for each player a latent pair (lambda_i, tau_i), with the right marginals and independent of
whether he is high, and let his type be tau_i if high and lambda_i if not: types keep their joint law.  Tell
the designer and the decision maker who plays, the types of the others, all latent pairs, and an order of the
players, uniform among those in which the high ones come first.  Given an order and the number X of high
players, exactly one assignment fits; so the order is uniform whatever X is, and X ~ Bin(M, beta) is
independent of all that was told.  What remains hidden is X.  The databases that X = 0..M stand for form a
path on which one step is one replacement; so a mechanism that is epsilon-DP is, after all was told, an
epsilon-DP kernel on that path.  The statistic is a constant plus g(X) = sum_{k<=X} delta_k with delta_k = tau
- lambda >= 0 of the k-th player in the order; -(a - g(X))^2 is supermodular, and the geometric mechanism is
optimal (SY Thm 3) whatever g is.  Hence the hidden loss is E Var(g(X)|Y).  The delta_k are iid and
independent of (X, Y), with mean m and variance s^2, so that, averaging over them,

    loss >= E_M[ m^2 * E Var(X|Y) + s^2 * E sum_k Var(1[X>=k]|Y) ],      M ~ Bin(N, x+z).

More information cannot hurt, so the bound holds for every mechanism.  [ours]

Other losses.  For absolute error and pinball losses the best action given y is g of a quantile of X, and the
loss is sum_k delta_k min(q P(X>=k|y), (1-q) P(X<k|y)): linear in delta.  Averaging leaves m times the hidden
pinball loss of X itself (`hidden_pinball`); absolute error is twice the pinball loss at q = 1/2.

Coupling.  Any coupling of lambda and tau is allowed; s^2 is largest when large tau meet small lambda
(antithetic).

Fewer players.  The bracket c(M) does not decrease in M: with M+1 players also tell one of them, chosen at
random, and his type; what is left is the problem with M.  So E_M may be replaced by a sum over blocks of M,
each with the c of its smallest member.

Rounding.  m, s^2, x+z and beta are exact rationals; V and U come with the error bounds of `binomial`; the
weights of M have relative error at most (8 d + 8) roundoffs.  All these are subtracted, so `lower_bound` is
valid as a real number for the p, v given (floats are taken at face value, and p is divided by its sum).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.design.ladder.binomial import (
    UNIT_ROUNDOFF,
    binomial_window,
    hidden_pinball,
    hidden_variance,
    likely_range,
)
from discreet.model.iid_sum import IidSum
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.watch import SILENT, Watch

MOST_BLOCKS = 1500
"""Numbers of players evaluated one by one; more are taken in blocks."""

QUADRATIC_WORK = 100_000_000
"""Cells of posterior tables spent on one split where time is quadratic."""

MOST_PROMISING = 3
SQUARED = SquaredLoss()
"""Splits evaluated with error bounds, best first by the quick estimate."""


@dataclass(frozen=True)
class TailSplit:
    """Lower tail of mass `low`, upper tail of mass `high`; mean m and variance s^2 of tau - lambda."""

    low: Fraction
    high: Fraction
    mean: Fraction
    variance: Fraction


@dataclass(frozen=True)
class SplitBound:
    """A proven lower bound on the expected loss, and the split that proves it."""

    lower_bound: float
    split: TailSplit | None


def chain_bound(
    law: IidSum, epsilon: float, loss: DistanceLoss = SQUARED, watch: Watch | None = None
) -> SplitBound:
    """The chain bound at its best split, for squared, absolute or pinball loss.

    Splits at whole types are screened in floating point by a three-point rule over M and the most promising
    ones are evaluated with error bounds; the largest is returned.  (Splitting a type between the tails is
    allowed by the proof, but whole types won wherever it was tried.)
    """
    watch = SILENT if watch is None else watch
    splits, respondents = whole_type_splits(law), law.respondents
    if not splits or respondents < 1:
        return SplitBound(0.0, None)
    kind = _Loss.of(loss)
    ranked = sorted(splits, key=lambda split: -_screen(split, respondents, epsilon, kind))
    best, chosen = 0.0, ranked[0]
    for split in ranked[:MOST_PROMISING]:
        bound = split_bound(split, respondents, epsilon, loss)
        if bound > best:
            best, chosen = bound, split
        watch.report(stage="chain bound", bound=-best)
        if watch.cancelled():
            break
    return SplitBound(best, chosen)


def split_bound(split: TailSplit, respondents: int, epsilon: float, loss: DistanceLoss = SQUARED) -> float:
    """The lower bound that this split proves, rounding errors subtracted."""
    kind = _Loss.of(loss)
    share = split.low + split.high
    beta = split.high / share
    fewest, weights = binomial_window(respondents, share)
    block = math.ceil(len(weights) / kind.blocks(respondents, beta))
    terms: list[float] = []
    for start in range(0, len(weights), block):
        weight = math.fsum(weights[start : start + block])
        terms.append(weight * kind.bracket(split, fewest + start, beta, epsilon))
    relative = (16.0 * len(weights) + 64.0) * UNIT_ROUNDOFF
    return max(0.0, math.fsum(terms) * (1.0 - relative))


@dataclass(frozen=True)
class _Loss:
    """c(M) for one kind of loss: scale times pinball at a quantile, or squared error (quantile None)."""

    scale: float
    quantile: float | None

    @classmethod
    def of(cls, loss: DistanceLoss) -> _Loss:
        return cls(float(loss.pinballs), None if loss.quantile is None else float(loss.quantile))

    def bracket(self, split: TailSplit, players: int, beta: Fraction, epsilon: float) -> float:
        """c(M), rounding errors subtracted."""
        _, masses = binomial_window(players, beta)
        if self.quantile is not None:
            value, error = hidden_pinball(masses, epsilon, self.quantile)
            return self.scale * _rounded_down(split.mean) * max(0.0, value - error)
        hidden = hidden_variance(masses, epsilon)
        count = max(0.0, hidden.count - hidden.count_error)
        indicators = max(0.0, hidden.indicators - hidden.indicators_error)
        return _rounded_down(split.mean**2) * count + _rounded_down(split.variance) * indicators

    def blocks(self, respondents: int, beta: Fraction) -> int:
        """How many numbers of players are worth evaluating one by one."""
        if self.quantile is None:
            return MOST_BLOCKS
        low, high = likely_range(respondents, float(beta))
        return max(8, min(MOST_BLOCKS, QUADRATIC_WORK // (high - low + 1) ** 2))


def tail_split(law: IidSum, low: Fraction, high: Fraction) -> TailSplit:
    """The split with these tail masses and the antithetic coupling; low, high > 0 and low + high <= 1."""
    lower = _normalised(_take(law.atoms, low))
    upper = _normalised(_take(law.atoms[::-1], high))
    product, i, j = Fraction(0), 0, 0
    left, right = lower[0][1], upper[0][1]
    while True:
        step = min(left, right)
        product += step * lower[i][0] * upper[j][0]
        left, right = left - step, right - step
        if not left:
            i += 1
            if i == len(lower):
                break
            left = lower[i][1]
        if not right:
            j += 1
            if j == len(upper):
                break
            right = upper[j][1]
    first = sum((v * w for v, w in upper), Fraction(0)) - sum((v * w for v, w in lower), Fraction(0))
    second = sum((v * v * w for v, w in (*upper, *lower)), Fraction(0)) - 2 * product
    return TailSplit(low, high, first, second - first**2)


def whole_type_splits(law: IidSum) -> list[TailSplit]:
    """All splits whose tails consist of whole types."""
    count = len(law.atoms)
    cumulative = [Fraction(0)]
    for _, mass in law.atoms:
        cumulative.append(cumulative[-1] + mass)
    return [
        tail_split(law, cumulative[i], 1 - cumulative[j]) for i in range(1, count) for j in range(i, count)
    ]


def _take(atoms: Sequence[tuple[Fraction, Fraction]], mass: Fraction) -> list[tuple[Fraction, Fraction]]:
    taken: list[tuple[Fraction, Fraction]] = []
    for value, weight in atoms:
        part = min(weight, mass)
        if part > 0:
            taken.append((value, part))
        mass -= part
    return taken


def _normalised(atoms: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    total = sum((w for _, w in atoms), Fraction(0))
    return [(v, w / total) for v, w in atoms]


def _screen(split: TailSplit, respondents: int, epsilon: float, kind: _Loss) -> float:
    """A quick estimate of the bound: three-point Gauss-Hermite rule over the number of players."""
    share = float(split.low + split.high)
    beta = split.high / (split.low + split.high)
    middle, reach = respondents * share, math.sqrt(3 * respondents * share * max(0.0, 1 - share))
    points = (
        [(middle, 2 / 3), (middle - reach, 1 / 6), (middle + reach, 1 / 6)]
        if reach > 0.5
        else [(middle, 1.0)]
    )
    total = 0.0
    for at, weight in points:
        below = max(0, math.floor(at))
        for players, part in ((below, 1 - (at - below)), (below + 1, at - below)):
            if part > 1e-9 and 0 < players <= respondents:
                total += weight * part * kind.bracket(split, players, beta, epsilon)
    return total


def _rounded_down(x: Fraction) -> float:
    return max(0.0, float(np.nextafter(float(x), -math.inf)))
