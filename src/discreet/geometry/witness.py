"""Witnesses: a private posterior about the database whose projection no private oblivious mechanism can induce.

A witness is an integer labelling k with |k(i) − k(j)| ≤ 1 on every edge, so that π ∝ π0·e^{εk} lies in K, and a pair
of adjacent values ω, ω′ of the statistic with (Pπ(ω)/Pπ(ω′)) / (μ0(ω)/μ0(ω′)) > e^ε, so that Pπ lies outside K_Ω.
Both facts are checked exactly when a witness is built. References: SY Theorem 1 and Appendix A; Lemma 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import log

from discreet.errors import InputError, Refuted
from discreet.geometry.beliefs import Belief
from discreet.geometry.exponentials import add_term, sign_at_exp, value_at_exp
from discreet.geometry.labellings import ExtremePoint
from discreet.geometry.of_problem import StatedProblem
from discreet.model.problem import Problem
from discreet.model.statistic import MeanStatistic, SumStatistic
from discreet.model.universe import Universe


@dataclass(frozen=True, eq=False)
class Witness:
    """Exponents on the listed states, and the pair (raised, lowered) of values whose odds move beyond ε."""

    listed: StatedProblem
    exponents: tuple[int, ...]
    raised: Fraction
    lowered: Fraction

    def __post_init__(self) -> None:
        for i, j in self.listed.edges:
            if abs(self.exponents[i] - self.exponents[j]) > 1:
                raise Refuted("this labelling is not private", (self.listed.space.labels[i], self.listed.space.labels[j]))
        pair = tuple(sorted(self.listed.omegas.index(omega) for omega in (self.raised, self.lowered)))
        if pair not in self.listed.statistic_edges:
            raise Refuted("no neighbouring databases have these two values", (str(self.raised), str(self.lowered)))
        if self.sign <= 0:
            raise Refuted("the odds of these two values move by no more than ε", (str(self.raised), str(self.lowered)))

    @cached_property
    def sign(self) -> int:
        """The sign of μ0(ω′)·Σ_ω π0 e^{εk} − e^ε·μ0(ω)·Σ_ω′ π0 e^{εk}: positive outside K_Ω."""
        excess: dict[int, Fraction] = {}
        mass = dict(zip(self.listed.omegas, self.listed.statistic_prior, strict=True))
        for omega, p, k in zip(self.listed.omega_of, self.listed.prior, self.exponents, strict=True):
            if omega == self.raised:
                add_term(excess, k, mass[self.lowered] * p)
            elif omega == self.lowered:
                add_term(excess, k + 1, -mass[self.raised] * p)
        return sign_at_exp(excess, self.listed.problem.epsilon)

    @cached_property
    def log_shift(self) -> float:
        """log of (Pπ(ω)/Pπ(ω′)) / (μ0(ω)/μ0(ω′)), which is above ε."""
        return statistic_log_shift(self.listed, self.exponents, self.raised, self.lowered)

    def posterior(self, ratio: Fraction) -> Belief:
        """The belief about the listed states with a rational in the place of e^ε."""
        return ExtremePoint(self.exponents).belief(self.listed.prior, ratio)


def statistic_log_shift(listed: StatedProblem, exponents: Sequence[int], omega: Fraction, other: Fraction) -> float:
    """How far the odds of two values of the statistic move under π ∝ π0·e^{εk}, in log terms."""
    top: dict[int, Fraction] = {}
    bottom: dict[int, Fraction] = {}
    mass = dict(zip(listed.omegas, listed.statistic_prior, strict=True))
    for value, p, k in zip(listed.omega_of, listed.prior, exponents, strict=True):
        if value == omega:
            add_term(top, k, p / mass[omega])
        elif value == other:
            add_term(bottom, k, p / mass[other])
    above = value_at_exp(top, listed.problem.epsilon)[0]
    below = value_at_exp(bottom, listed.problem.epsilon)[0]
    return log(above / below)


def magnitude_witness(listed: StatedProblem) -> Witness:
    """SY Theorem 1's posterior for sums of values 0..T (up to an affine map) with T > 1 and N ≥ 2.

    k = −ψ, ψ(θ) = min(M, d(θ, θ̂)), and one less at the cap where ω_θ = ω_θ̂; M = min(N, T) and θ̂ has M ones.
    (The case table in the proof is wrong in one corner; that |ψ(θ) − ψ(θ′)| ≤ 1 is checked here for every edge.)
    """
    universe, problem = listed.problem.universe, listed.problem
    if not magnitude_sum(problem) or not isinstance(universe, Universe):
        raise InputError(
            "Theorem 1 speaks of sums of consecutive values",
            found=f"statistic {problem.statistic.kind!r}, {getattr(universe, 'types', 'listed')} types",
            allowed="a sum or mean of three or more equally spaced values, two or more respondents",
            remedy="ask for a witness by transport instead",
        )
    if not listed.summary.ordered:
        raise InputError(
            "Theorem 1's posterior is about databases",
            found="histograms",
            allowed="on = 'databases'",
            remedy="list the problem on its databases",
        )
    # A type's rank among the ascending values plays the part of its value 0..T.
    ranks = {t: r for r, t in enumerate(sorted(range(universe.types), key=universe.values.__getitem__))}
    databases = [[ranks[t] for t in row] for row in listed.space.vectors.tolist()]
    most = min(universe.respondents, universe.types - 1)
    peak = [1] * most + [0] * (universe.respondents - most)
    exponents = []
    for database in databases:
        away = sum(a != b for a, b in zip(database, peak, strict=True))
        exponents.append(-min(most - int(sum(database) == most), away))
    omega_at = {tuple(database): omega for database, omega in zip(databases, listed.omega_of, strict=True)}
    nothing = tuple([0] * universe.respondents)
    return Witness(listed, tuple(exponents), omega_at[tuple(peak)], omega_at[nothing])


def magnitude_sum(problem: Problem) -> bool:
    """Whether Theorem 1 applies: replace-one, N ≥ 2, T > 1, a sum (or mean) of equally spaced values."""
    universe = problem.universe
    if not isinstance(universe, Universe) or problem.neighbours.name != "replace-one" or not universe.fixed:
        return False
    if not isinstance(problem.statistic, (SumStatistic, MeanStatistic)):
        return False
    values = sorted(universe.values)
    gaps = {b - a for a, b in pairwise(values)}
    return universe.respondents >= 2 and universe.types >= 3 and len(gaps) == 1 and gaps != {Fraction(0)}
