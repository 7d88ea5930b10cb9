"""The chain bound under a Dirichlet prior, and where respondents are added or removed. Both leave a single count hidden (`chain`).

**Overdispersed chain.** Respondents are exchangeable with a Dirichlet-multinomial law of concentrations c, neighbours replace one,
ω = Σ_i v(θ_i). The witness names two disjoint sets of types, `low` and `high`, no value in `low` above any in `high`; x and z are
their concentrations, A that of all types. Let M ~ BetaBin(N; x+z, A−x−z), X ~ BetaBin(M; z, x) given M, and Y the output of the
geometric mechanism on 0..M at state X. With τ and λ types of `high` and `low` at random in proportion to c, m the mean of
v(τ) − v(λ), s² = Var v(τ) + Var v(λ) and k = Var v(τ)/(z+1) + Var v(λ)/(x+1), any ε-private mechanism's expected loss is at least

    E_M[ (m² + k)·E Var(X|Y) + (s² − k)·E Σ_j Var(1[X ≥ j] | Y) ]        (squared error)
    E_M[ m·E Σ_j min( q·P(X ≥ j|Y), (1−q)·P(X < j|Y) ) ]                 (pinball at q; absolute error is twice q = ½)

Proof. Of a Dirichlet the shares within `low`, within `high` and of the three groups are independent. So call a respondent of `low`
or `high` a player, with a coin for `high`; the players' coins are exchangeable, and there are exchangeable sequences λ_i, τ_i,
independent of the coins and of each other, such that player i has type τ_i if his coin shows heads and λ_i if not. As in `chain`
everybody learns M, the others' types, both sequences and a line-up with heads first; X keeps its law, X determines the database,
one step of X is one replacement, and the geometric mechanism is optimal for g(X) = Σ_{j≤X} δ_j, δ = v(τ) − v(λ) along the line.
Averaging over δ, E[δ_j δ_l] = m² + k for j ≠ l and m² + s² for j = l, because two draws from one Dirichlet-multinomial of total
concentration z have covariance Var/(z+1).  ∎  [ours]

**Growing chain.** Respondents are added or removed, n has probability P(n), types are independent or Dirichlet. The witness names a
set `high` of types whose values are all ≥ 0, or all ≤ 0. Let X be the number of respondents in `high`, R that of the others, and Y
the output of the geometric mechanism on the possible values of X given R. With m, s² the mean and variance of v(τ) in `high` and
k = s²/(z+1) (0 for independent respondents) the bound is that above with E_R in place of E_M.

Proof. Let everybody learn the others' types (and so R) and the sequence of types that members of `high` would have. Given R neither
says anything about X. One respondent more or fewer in `high` moves X by one, so a private mechanism is one on the path of X, where
the geometric mechanism is optimal (SY Thm 3) for g(X) = Σ_{j≤X} v(τ_j), which is monotone; a falling g swaps q and 1−q.  ∎  [ours]

Arithmetic. All laws have the form P_n(j) = u_j·w_{n−j}/t_n: (z)_j/j!, (x)_k/k! and (z+x)_n/n! for a Dirichlet, p^j/j!, (1−p)^k/k!
and 1/n! for independent respondents. u, w and t are whole numbers of DIGITS bits with exponents, each step rounded down by less
than one part in 2^(DIGITS − 1); then floats, a few roundings away from them. The rest is as in `chain`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from discreet.certify.bounds import GROWING as GROWING
from discreet.certify.bounds.chain import (
    LINEAR_WORK,
    MATRIX,
    QUADRATIC_WORK,
    chain_upper_bound,
    hidden_variances,
    not_a_single_error,
    pinball_loss,
    types_in,
)
from discreet.certify.bounds.full_information import full_information
from discreet.errors import Refuted
from discreet.model.certificate import TheoremWitness
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.together import ask, together
from discreet.model.universe import Universe
from discreet.numerics.brackets import float_down, rational_below_exp
from discreet.numerics.roundings import drift

DIGITS = 320
"""Bits of the numbers behind a law that is found step by step."""
LEAST_EXPONENT = -1000
"""Masses below two to this power are left out: floats would round them."""
MOST_RESPONDENTS = 6_000

Series = tuple[np.ndarray, np.ndarray]
"""Mantissas and exponents of two."""
Values = list[tuple[Fraction, Fraction]]
"""(value, share) of the types of a set, shares summing to one."""


def why_not_overdispersed_chain(problem: Problem) -> str | None:
    """The first condition of the overdispersed chain that fails, in words; None when all hold."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not universe.fixed or not isinstance(problem.neighbours, ReplaceOne):
        return "neighbours do not replace one of a fixed number of respondents"
    if not isinstance(problem.prior, DirichletMultinomialPrior):
        return "the prior is not a Dirichlet-multinomial"
    if universe.respondents > MOST_RESPONDENTS:
        return f"there are more than {MOST_RESPONDENTS:,} respondents"
    return _not_an_error_of_a_sum(problem)


def why_not_growing_chain(problem: Problem) -> str | None:
    """The first condition of the growing chain that fails, in words; None when all hold."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not isinstance(problem.neighbours, AddRemoveOne):
        return "neighbours do not add or remove a respondent"
    if not isinstance(problem.prior, (IidPrior, ReferencePrior, DirichletMultinomialPrior)):
        return "respondents are neither independent nor Dirichlet"
    if universe.largest > MOST_RESPONDENTS:
        return f"there may be more than {MOST_RESPONDENTS:,} respondents"
    return _not_an_error_of_a_sum(problem)


def _not_an_error_of_a_sum(problem: Problem) -> str | None:
    if problem.statistic.weights(problem.people) is None:
        return "the statistic is not a sum, mean or count"
    return not_a_single_error(problem)


def any_chain_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds, by the chain that belongs to the prior.

    Several decision makers see the same output, and none of them does better than the bound of a problem of its own: the bounds
    add up. Whoever does not minimise an error is bounded by full information.
    """
    if len(problem.decisions) > 1:
        return _added_up(problem, witness, any_chain_bound)
    if isinstance(problem.prior, DirichletMultinomialPrior):
        return overdispersed_chain_bound(problem, witness)
    return chain_upper_bound(problem, witness)


def _added_up(problem: Problem, witness: TheoremWitness, bound: Callable[[Problem, TheoremWitness], Fraction]) -> Fraction:
    alone = [replace(problem, decisions=(d,)) for d in problem.decisions]
    if all(not_a_single_error(p) for p in alone):
        raise Refuted("a condition of the chain bound does not hold", "no decision is a squared, absolute or pinball error")
    with together(len(alone), "bounds of decision makers"):
        return sum((full_information(p) if not_a_single_error(p) else bound(p, witness) for p in alone), Fraction(0))


def overdispersed_chain_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds, by the overdispersed chain."""
    reason = why_not_overdispersed_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the chain bound does not hold", reason)
    low, high = _sets(witness, ("low", "high"))
    return overdispersed_chain(problem, low, high)


def overdispersed_chain(problem: Problem, low: tuple[int, ...], high: tuple[int, ...]) -> Fraction:
    """The bound for two sets of types; refutes sets that the theorem does not allow. The last few are kept."""
    about = (problem, low, high, QUADRATIC_WORK, MATRIX)
    for known, kept in list(_last):
        if known == about:
            return kept
    found = _overdispersed(problem, low, high)
    _last.append((about, found))
    return found


_last: deque[tuple[tuple[Any, ...], Fraction]] = deque(maxlen=8)


def _overdispersed(problem: Problem, low: tuple[int, ...], high: tuple[int, ...]) -> Fraction:
    universe, sizes = problem.people, concentration(problem)
    if set(low) & set(high) or not low or not high:
        raise Refuted("low and high must be disjoint sets of types", f"low {list(low)}, high {list(high)}")
    below, above = _inside(problem, low), _inside(problem, high)
    if max(v for v, _ in below) > min(v for v, _ in above):
        raise Refuted("a value in low lies above one in high", f"low {list(low)}, high {list(high)}")
    x, z = (sum((sizes[t] for t in part), Fraction(0)) for part in (low, high))
    rest = sum(sizes, Fraction(0)) - x - z
    n = universe.respondents
    (mean_low, var_low), (mean_high, var_high) = _moments(below), _moments(above)
    shared = var_low / (x + 1) + var_high / (z + 1)
    players, paths = Paths.dirichlet(n, x + z, rest).law(n), Paths.dirichlet(n, z, x)
    likeliest = [m for m in np.argsort(-players).tolist() if players[m] > 0]
    columns = (players[m] * paths.law(m) * (1 - drift(4)) for m in likeliest)
    return _bound(problem, columns, mean_high - mean_low, var_low + var_high, shared)


def concentration(problem: Problem) -> tuple[Fraction, ...]:
    """The concentration of a Dirichlet-multinomial prior, the only one of this chain."""
    if not isinstance(problem.prior, DirichletMultinomialPrior):
        raise Refuted("the overdispersed chain speaks of a Dirichlet-multinomial prior", f"prior {problem.prior.kind}")
    return problem.prior.concentration


def growing_chain_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds, by the growing chain; several decision makers' bounds add up."""
    if len(problem.decisions) > 1:
        return _added_up(problem, witness, growing_chain_bound)
    reason = why_not_growing_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the chain bound does not hold", reason)
    (high,) = _sets(witness, ("high",))
    return growing_chain(problem, high)


def growing_chain(problem: Problem, high: tuple[int, ...]) -> Fraction:
    """The bound for a set of types; refutes a set that the theorem does not allow."""
    universe, prior = problem.people, problem.prior
    inside = _inside(problem, high)
    if min(v for v, _ in inside) < 0 < max(v for v, _ in inside):
        raise Refuted("values in high have both signs", f"high {list(high)}")
    mean, variance = _moments(inside)
    chances = np.array([float_down(p) for p in prior.size or ()])  # type: ignore[union-attr]
    most, least = universe.largest, universe.smallest
    if isinstance(prior, DirichletMultinomialPrior):
        z = sum((prior.concentration[t] for t in high), Fraction(0))
        paths = Paths.dirichlet(most, z, sum(prior.concentration, Fraction(0)) - z)
        shared = variance / (z + 1)
    else:
        assert isinstance(prior, (IidPrior, ReferencePrior))
        paths = Paths.independent(most, sum((prior.probabilities[t] for t in high), Fraction(0)))
        shared = Fraction(0)
    counts = (np.arange(max(0, least - r), most - r + 1) for r in range(most + 1))
    columns = (chances[j + r - least] * paths.at(j, np.full_like(j, r)) * (1 - drift(4)) for r, j in enumerate(counts))
    return _bound(problem, columns, mean, variance, shared)


@dataclass(frozen=True, eq=False)
class Paths:
    """P_n(j) = u_j·w_{n−j}/t_n from below, for every n up to a largest: the law of how many of n are in a set."""

    inside: Series
    outside: Series
    whole: Series

    @classmethod
    def dirichlet(cls, most: int, first: Fraction, second: Fraction) -> Paths:
        """Of a beta-binomial with these concentrations inside and outside."""
        return cls(*(series(most, c.numerator, c.denominator, c.denominator) for c in (first, second, first + second)))

    @classmethod
    def independent(cls, most: int, share: Fraction) -> Paths:
        """Of a binomial."""
        return cls(*(series(most, p.numerator, 0, p.denominator) for p in (share, 1 - share, Fraction(1))))

    def at(self, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
        """The masses at so many inside and so many outside, as floats not above them."""
        (u, up), (w, wide), (t, total) = self.inside, self.outside, self.whole
        size = inside + outside
        exponents = up[inside] + wide[outside] - total[size]
        masses = np.ldexp(u[inside] * w[outside] / t[size] * (1 - drift(16)), np.maximum(exponents, LEAST_EXPONENT))
        return np.where(exponents > LEAST_EXPONENT, masses, 0.0)

    def law(self, size: int) -> np.ndarray:
        """P_n(0), …, P_n(n)."""
        counts = np.arange(size + 1)
        return self.at(counts, size - counts)


def series(most: int, first: int, step: int, under: int) -> Series:
    """s_0 = 1, s_{k+1} = s_k·(first + k·step)/(under·(k + 1)) for k up to `most`, as mantissas and exponents, hardly less."""
    mass, exponent = 1 << DIGITS, -DIGITS
    mantissas, exponents = np.zeros(most + 1), np.zeros(most + 1, dtype=np.int64)
    for k in range(most + 1):
        mantissas[k], shift = frexp(mass)
        exponents[k] = shift + exponent
        top, bottom = first + k * step, under * (k + 1)
        digits = max(bottom.bit_length() - top.bit_length(), 0) + 1  # so that none is lost
        mass = (mass * top << digits) // bottom
        spare = mass.bit_length() - DIGITS
        mass, exponent = mass >> max(spare, 0), exponent - digits + max(spare, 0)
    return mantissas, exponents


def _bound(problem: Problem, columns: Iterator[np.ndarray], mean: Fraction, variance: Fraction, shared: Fraction) -> Fraction:
    """−(the theorem's expression), from below, summed over paths whose states have the given masses."""
    decision = problem.decision
    epsilon, quantile = problem.epsilon, decision.distance.quantile
    ratio = float_down(rational_below_exp(-epsilon, 80)) if epsilon < 300 else 0.0
    total, added = 0.0, 0
    if quantile is not None:
        level = quantile if mean >= 0 else 1 - quantile
        scale, work = float_down(abs(mean)) * (1 - drift(8)), 0
        for column in columns:
            work += len(column) ** 2
            if work <= QUADRATIC_WORK:
                ask(len(column) ** 2, QUADRATIC_WORK)
                added += 1
                total += scale * max(0.0, pinball_loss(column, ratio, level))
    else:
        counted, stepped = float_down(mean**2 + shared), float_down(variance - shared)
        for matrix in _side_by_side(columns):
            ask(matrix.size, LINEAR_WORK)
            count, indicators = hidden_variances(matrix, ratio)
            added += count.size
            total += float(((counted * count + stepped * indicators) * (1 - drift(8))).sum())
    lower = Fraction(max(0.0, total * (1 - drift(4 * (added + 16)))))
    return -decision.weight * decision.distance.pinballs * lower


def _side_by_side(columns: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """Masses [state, path] of many paths at once, shorter paths ended by zeros."""
    held: list[np.ndarray] = []
    longest = 0
    for column in columns:
        if len(column) < 2 or not column.any():
            continue
        held.append(column)
        longest = max(longest, len(column))
        if longest * len(held) > MATRIX:
            yield _matrix(held, longest)
            held, longest = [], 0
    if held:
        yield _matrix(held, longest)


def _matrix(columns: list[np.ndarray], longest: int) -> np.ndarray:
    matrix = np.zeros((longest, len(columns)))
    for j, column in enumerate(columns):
        matrix[: len(column), j] = column
    return matrix


def _sets(witness: TheoremWitness, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    named = dict(witness.parameters)
    if set(named) != set(names) or len(witness.parameters) != len(names):
        raise Refuted(f"this bound needs {' and '.join(names)} and nothing else", ", ".join(sorted(named)))
    return [types_in(named[name]) for name in names]


def _inside(problem: Problem, kinds: tuple[int, ...]) -> Values:
    """Values and shares of the types of a set, which must exist and be likely."""
    universe, prior = problem.people, problem.prior
    values = problem.statistic.weights(universe)
    assert values is not None
    if len(set(kinds)) != len(kinds) or not kinds or not all(0 <= t < universe.types for t in kinds):
        raise Refuted("a set of types names each of its types once", str(list(kinds)))
    weights = prior.concentration if isinstance(prior, DirichletMultinomialPrior) else prior.probabilities  # type: ignore[union-attr]
    total = sum((weights[t] for t in kinds), Fraction(0))
    if not total:
        raise Refuted("a set of types needs positive probability", str(list(kinds)))
    return [(values[t], weights[t] / total) for t in kinds if weights[t]]


def _moments(inside: Values) -> tuple[Fraction, Fraction]:
    mean = sum((v * p for v, p in inside), Fraction(0))
    return mean, sum((v * v * p for v, p in inside), Fraction(0)) - mean**2
