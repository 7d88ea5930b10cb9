"""The chain bound under ρ (zCDP), re-proved: no ρ-zCDP mechanism has a smaller expected squared error, whatever T and N.

Respondents are independent with the same law over types, ω = Σ_i v(θ_i), neighbours replace one respondent. As in `chain`, the
witness names two disjoint sets of types, `low` and `high`; what everybody may learn leaves a path 0..M of numbers X of players in
`high`, with X ~ Bin(M, β), on which ω is a constant plus g(X) with steps δ_k = g(k) − g(k−1), independent of X, of mean m and
variance s². A private mechanism becomes a kernel on the path whose neighbouring columns keep ρ.

Theorem. For every u ≥ 0 on 0..M−1 (and 0 outside), with π the law of X, the squared error given M and g is at least

    (Σ_x u(x) δ_{x+1})² / Σ_x [(u(x) − u(x−1))² + (e^{2ρ} − 1) u(x−1)²] / π(x).

Proof. Let ψ(x, y) = [u(x−1) m(y|x−1) − u(x) m(y|x)] / (π(x) m(y|x)). Given y its mean is 0, since the sum over x telescopes; so
for any action a(y), E (g(X) − a(Y)) ψ = E g ψ = Σ_x g(x)(u(x−1) − u(x)) = Σ_x u(x) δ_{x+1}. By Cauchy and Schwarz the squared
error is at least its square over E ψ² = Σ_x [u(x−1)² S − 2u(x−1)u(x) + u(x)²]/π(x), with S = Σ_y m(y|x−1)²/m(y|x) ≤ e^{2ρ}.
(An output that is possible at x−1 and not at x is ruled out by ρ; one that is impossible at both counts nowhere.)  ∎
[ours; the inequality of Bobrovsky & Zakai (1976) on a path, with the divergence of order 2 bounded by the promise]

Averaging over the steps gives m²(Σu)² + s²Σu² above. The law of M is lowered and M taken in blocks by their least, as in `chain`:
learning one coin of M + 1 leaves the path of M. Any u may be taken: the one used solves the tridiagonal system of the quadratic
form, in floats, and is then a number like any other. Every sum has non-negative terms; π is lowered, e^{2ρ} raised, roundings are
counted. For ρ → 0 the bound is 1/(1/Var X + 2ρ), which Gaussian noise reaches; at ρ = ½ it is some 40 % below that.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.certify.bounds import CONCENTRATED as CONCENTRATED
from discreet.certify.bounds.chain import LINEAR_WORK, Players, Split, binomial_below, named_split, why_not_chain
from discreet.errors import Refuted
from discreet.model.certificate import TheoremWitness
from discreet.model.iid_sum import iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise
from discreet.numerics.brackets import float_down, float_up, rational_above_exp
from discreet.numerics.roundings import drift

MOST_PLAYERS = 200
"""Different M evaluated; more are taken in blocks."""
LARGEST_RHO = 100
"""Beyond it nothing is left that could be stated."""
ROUNDINGS = 16


def concentrated_chain_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ρ-zCDP mechanism's expected payoff exceeds, by the theorem with the witness's sets."""
    reason = why_not_concentrated_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the chain bound under ρ does not hold", reason)
    split = named_split(problem, witness)
    return -problem.decision.weight * concentrated_loss(split, iid_sum(problem).respondents, problem.rho)


def why_not_concentrated_chain(problem: Problem) -> str | None:
    """The first condition of the theorem that fails, in words; None when all hold."""
    reason = why_not_under_rho(problem)
    if reason is None and not isinstance(problem.decision.loss, SquaredLoss):
        return "the loss is not a squared error"
    return reason


def why_not_under_rho(problem: Problem) -> str | None:
    """Why this is no single error of a sum over independent respondents under ρ; None when it is."""
    if not isinstance(problem.promise, ConcentratedPromise):
        return f"it bounds mechanisms under a promise of ρ, not of {problem.promise.brief()}"
    return why_not_chain(problem)


def concentrated_loss(split: Split, respondents: int, rho: Fraction) -> Fraction:
    """A lower side of the theorem's expression, averaged over the number of players."""
    if rho > LARGEST_RHO:
        return Fraction(0)
    excess = float_up(rational_above_exp(2 * rho, 80) - 1)
    reach = len(binomial_below(respondents, split.beta)[1])
    players = Players.of(split, respondents, min(MOST_PLAYERS, LINEAR_WORK // reach))
    columns = [binomial_below(m, split.beta)[1] for m in players.numbers]
    laws = np.zeros((max(map(len, columns)), len(columns)))
    for j, column in enumerate(columns):
        laws[: len(column), j] = column
    return players.average(path_losses(laws, excess, float_down(split.mean**2), float_down(split.variance)))


def path_losses(laws: np.ndarray, excess: float, square: float, variance: float) -> np.ndarray:
    """(m²(Σu)² + s²Σu²) over the quadratic form, from below, for each column of `laws` [x, problem]; 0 for paths of one state."""
    size, problems = laws.shape
    u = _weights(laws, 1 + excess)
    before = np.concatenate([np.zeros((1, problems)), u[:-1]])
    terms = (u - before) ** 2 + excess * before**2
    held = laws > 0
    gained = square * u.sum(axis=0) ** 2 + variance * (u**2).sum(axis=0)
    slack = drift(ROUNDINGS * (size + 8))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        form = np.where(held, terms / np.where(held, laws, 1.0), 0.0).sum(axis=0)
        found = gained / form * (1 - slack)
    return np.where(np.isfinite(found), found, 0.0)


def _weights(laws: np.ndarray, factor: float) -> np.ndarray:
    """u ≥ 0 [x, problem] that makes the bound large: 0 from each column's last state on."""
    size, problems = laws.shape
    inside = np.concatenate([laws[1:] > 0, np.zeros((1, problems), dtype=bool)])
    here = 1 / np.where(inside, laws, 1.0)
    above = factor / np.where(inside, np.concatenate([laws[1:], np.ones((1, problems))]), 1.0)
    pivot, load = np.ones_like(laws), np.where(inside, 1.0, 0.0)
    pivot[0] = here[0] + above[0]
    for x in range(1, size):
        share = here[x] / pivot[x - 1]
        pivot[x] = here[x] + above[x] - share * here[x]
        load[x] += np.where(inside[x], share * load[x - 1], 0.0)
    u = np.zeros_like(laws)
    for x in range(size - 2, -1, -1):
        u[x] = np.where(inside[x], (load[x] + here[x + 1] * u[x + 1]) / pivot[x], 0.0)
    return u
