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

Arithmetic. Laws of X and of M or R are whole numbers over 2^BITS, rounded down; the rest is as in `chain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import comb, lcm, ldexp, nextafter

import numpy as np

from discreet.certify.bounds.chain import (
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
from discreet.model.losses import DistanceLoss
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.numerics.brackets import float_down, rational_below_exp
from discreet.numerics.roundings import drift

GROWING = "growing chain"
BITS = 240
DIGITS, SPARE = 320, 64
"""Bits of the numbers behind a law that is found step by step."""
MOST_RESPONDENTS = 1_000
"""Beyond it the counts of players are too many to be weighed one by one, unless everybody plays."""
MOST_PLAYING = 6_000

Values = list[tuple[Fraction, Fraction]]
"""(value, share) of the types of a set, shares summing to one."""


def why_not_overdispersed_chain(problem: Problem) -> str | None:
    """The first condition of the overdispersed chain that fails, in words; None when all hold."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not universe.fixed or not isinstance(problem.neighbours, ReplaceOne):
        return "neighbours do not replace one of a fixed number of respondents"
    if not isinstance(problem.prior, DirichletMultinomialPrior):
        return "the prior is not a Dirichlet-multinomial"
    if universe.respondents > MOST_PLAYING:
        return f"there are more than {MOST_PLAYING:,} respondents"
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
    assert isinstance(problem.universe, Universe)
    if problem.statistic.weights(problem.universe) is None:
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
    return sum((full_information(p) if not_a_single_error(p) else bound(p, witness) for p in alone), Fraction(0))


def overdispersed_chain_bound(problem: Problem, witness: TheoremWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds, by the overdispersed chain."""
    reason = why_not_overdispersed_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the chain bound does not hold", reason)
    low, high = _sets(witness, ("low", "high"))
    return overdispersed_chain(problem, low, high)


def overdispersed_chain(problem: Problem, low: tuple[int, ...], high: tuple[int, ...]) -> Fraction:
    """The bound for two sets of types; refutes sets that the theorem does not allow."""
    universe, prior = problem.people, problem.prior
    assert isinstance(prior, DirichletMultinomialPrior)
    if set(low) & set(high) or not low or not high:
        raise Refuted("low and high must be disjoint sets of types", f"low {list(low)}, high {list(high)}")
    below, above = _inside(problem, low), _inside(problem, high)
    if max(v for v, _ in below) > min(v for v, _ in above):
        raise Refuted("a value in low lies above one in high", f"low {list(low)}, high {list(high)}")
    x, z = (sum((prior.concentration[t] for t in part), Fraction(0)) for part in (low, high))
    rest = sum(prior.concentration, Fraction(0)) - x - z
    n = universe.respondents
    if rest and n > MOST_RESPONDENTS:
        raise Refuted("so many respondents need sets that hold every type", f"{n:,} respondents")
    (mean_low, var_low), (mean_high, var_high) = _moments(below), _moments(above)
    shared = var_low / (x + 1) + var_high / (z + 1)
    players = enumerate(beta_binomial(n, x + z, rest)) if rest else [(n, 1 << BITS)]
    columns = ([weight * p >> BITS for p in beta_binomial(m, z, x)] for m, weight in players if m and weight)
    return _bound(problem, columns, mean_high - mean_low, var_low + var_high, shared)


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
    chances = [(p.numerator << BITS) // p.denominator for p in prior.size or ()]  # type: ignore[union-attr]
    sizes = {universe.smallest + i: p for i, p in enumerate(chances)}
    if isinstance(prior, DirichletMultinomialPrior):
        z = sum((prior.concentration[t] for t in high), Fraction(0))
        rest = sum(prior.concentration, Fraction(0)) - z
        laws = {n: beta_binomial(n, z, rest) if rest else [0] * n + [1 << BITS] for n in sizes}
        shared = variance / (z + 1)
    else:
        assert isinstance(prior, (IidPrior, ReferencePrior))
        share = sum((prior.probabilities[t] for t in high), Fraction(0))
        laws = {n: binomial(n, share) for n in sizes}
        shared = Fraction(0)
    columns = (
        [sizes[r + j] * laws[r + j][j] >> BITS for j in range(max(0, universe.smallest - r), universe.largest - r + 1)]
        for r in range(universe.largest + 1)
    )
    return _bound(problem, columns, mean, variance, shared)


def beta_binomial(trials: int, first: Fraction, second: Fraction) -> list[int]:
    """At most 2^BITS·C(n, j)·(a)_j·(b)_{n−j}/(a+b)_n for j = 0..n, hardly less: from j to j + 1, each step rounded down."""
    scale = lcm(first.denominator, second.denominator)
    a, b = int(first * scale), int(second * scale)
    mass, exponent = 1 << DIGITS, BITS - DIGITS  # mass·2^exponent, in units of 2^−BITS
    for i in range(trials):
        mass = mass * (b + i * scale) // (a + b + i * scale)
        mass, exponent = _fitted(mass, exponent)
    found = []
    for j in range(trials + 1):
        found.append(mass << exponent if exponent >= 0 else mass >> -exponent)
        if j < trials:
            mass = mass * ((trials - j) * (a + j * scale)) // ((j + 1) * (b + (trials - j - 1) * scale))
            mass, exponent = _fitted(mass, exponent)
    return found


def _fitted(mass: int, exponent: int) -> tuple[int, int]:
    """The same number, or hardly less, with about DIGITS bits."""
    excess = mass.bit_length() - DIGITS
    if excess < -SPARE:
        return mass << SPARE, exponent - SPARE
    return (mass >> SPARE, exponent + SPARE) if excess > SPARE else (mass, exponent)


def binomial(trials: int, share: Fraction) -> list[int]:
    """⌊2^BITS·C(n, j)·p^j·(1−p)^{n−j}⌋ for j = 0..n."""
    top, bottom = share.numerator, share.denominator
    under = bottom**trials
    return [(comb(trials, j) * top**j * (bottom - top) ** (trials - j) << BITS) // under for j in range(trials + 1)]


def _bound(problem: Problem, columns: Iterator[list[int]], mean: Fraction, variance: Fraction, shared: Fraction) -> Fraction:
    """−(the theorem's expression), from below, summed over paths whose states have the given masses."""
    decision = problem.decision
    assert isinstance(decision.loss, DistanceLoss)
    epsilon, quantile = problem.epsilon, decision.loss.quantile
    ratio = float_down(rational_below_exp(-epsilon, 80)) if epsilon < 300 else 0.0
    total, added = 0.0, 0
    if quantile is not None:
        level = quantile if mean >= 0 else 1 - quantile
        scale, work = float_down(abs(mean)) * (1 - drift(8)), 0
        for column in columns:
            work += len(column) ** 2
            if work <= QUADRATIC_WORK:
                added += 1
                total += scale * max(0.0, pinball_loss(np.array(_floats(column)), ratio, level))
    else:
        counted, stepped = float_down(mean**2 + shared), float_down(variance - shared)
        for matrix in _side_by_side(columns):
            count, indicators = hidden_variances(matrix, ratio)
            added += count.size
            total += float(((counted * count + stepped * indicators) * (1 - drift(8))).sum())
    lower = Fraction(max(0.0, total * (1 - drift(4 * (added + 16)))))
    return -decision.weight * decision.loss.pinballs * lower


def _side_by_side(columns: Iterator[list[int]]) -> Iterator[np.ndarray]:
    """Masses [state, path] of many paths at once, as floats rounded down, shorter paths ended by zeros."""
    held: list[list[float]] = []
    longest = 0
    for column in columns:
        if len(column) < 2 or not any(column):
            continue
        held.append(_floats(column))
        longest = max(longest, len(column))
        if longest * len(held) > MATRIX:
            yield _matrix(held, longest)
            held, longest = [], 0
    if held:
        yield _matrix(held, longest)


def _floats(column: list[int]) -> list[float]:
    """Masses as floats not above them."""
    return [ldexp(nextafter(float(p), 0.0), -BITS) for p in column]


def _matrix(columns: list[list[float]], longest: int) -> np.ndarray:
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
