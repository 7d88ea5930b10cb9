"""The price of noise: what reading only the statistic costs in a given problem.

price = (best value of any private mechanism) − (best value of one that reads only ω) ≥ 0.

K_Ω ≠ PK says that some decision pays a price; how much this one pays is a number, found by solving the problem twice:
as it is, and as `oblivious_problem`. Any solver that returns a value with a bound will do; the default concavifies,
which is exact and for small problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.geometry.concavification import concavify
from discreet.geometry.of_problem import oblivious_problem
from discreet.model.problem import Problem

Solve = Callable[[Problem], tuple[Fraction, Fraction]]
"""A problem's (value, bound): what some private mechanism reaches, and what none exceeds."""


@dataclass(frozen=True)
class Price:
    """Values with bounds of the best mechanism and of the best oblivious one."""

    value: Fraction
    bound: Fraction
    oblivious_value: Fraction
    oblivious_bound: Fraction

    @property
    def at_least(self) -> Fraction:
        """What adding noise costs for certain; zero when the brackets overlap."""
        return max(Fraction(0), self.value - self.oblivious_bound)

    @property
    def at_most(self) -> Fraction:
        """What it can cost at the very most."""
        return max(Fraction(0), self.bound - self.oblivious_value)


def price_of_noise(problem: Problem, solve: Solve | None = None) -> Price:
    """Solve the problem and its oblivious twin."""
    solver = solve if solve is not None else concavified
    value, bound = solver(problem)
    oblivious_value, oblivious_bound = solver(oblivious_problem(problem))
    return Price(value, bound, oblivious_value, oblivious_bound)


def concavified(problem: Problem) -> tuple[Fraction, Fraction]:
    """Value and bound by concavification over extreme points."""
    found = concavify(problem)
    return found.value, found.bound
