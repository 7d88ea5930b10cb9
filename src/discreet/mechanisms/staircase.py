"""The staircase mechanism: noise that falls by e^(−ε) once per sensitivity Δ, in steps rather than smoothly.

Continuous, with plateau share γ in (0, 1] and b = e^(−ε): the density is a on [0, γΔ), b·a on [γΔ, Δ), falls by b
with every further Δ, and is even;  a = (1 − b) / ( 2Δ(γ + b(1 − γ)) ).
Discrete, with integer Δ and plateau w in 1..Δ: a for |k| < w, b·a for w ≤ |k| < Δ, falling by b with every
further Δ;  a = (1 − b) / ( 2(w + b(Δ − w)) − (1 − b) ).

Values at most Δ apart have at most one fall between them, so it is ε-DP; with w = Δ = 1 it is the geometric
mechanism. Among additive noise it has the least mean absolute error at γ = 1/(1 + e^(ε/2)) and the least
variance at another γ.

Notation: b → fall, γ → plateau_share, w → plateau, Δ → sensitivity.
Reference: Geng & Viswanath (2014), "The optimal mechanism in differential privacy".
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.mechanisms.integer_noise import Additive, IntegerNoise
from discreet.mechanisms.parameters import OTHERS, Pure, integer, positive
from discreet.mechanisms.tables import must_be_private, path_edges, rounded_table, within
from discreet.model.kernel import Output, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import format_exact


@dataclass(frozen=True)
class Staircase(Pure):
    """Staircase noise on the real line."""

    epsilon: Fraction
    sensitivity: Fraction
    plateau_share: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        object.__setattr__(self, "plateau_share", positive(self.plateau_share, "plateau_share"))
        if self.plateau_share > 1:
            raise InputError(
                "the plateau share of a staircase is above one",
                found=format_exact(self.plateau_share),
                allowed="numbers above 0 and at most 1",
                remedy="Use best_plateau_share for the loss in question.",
            )

    def log_pdf(self, noise: ArrayLike) -> Floats:
        """Log density of the noise."""
        gamma, fall = float(self.plateau_share), float(self.epsilon)
        distance = np.abs(np.asarray(noise, dtype=np.float64)) / float(self.sensitivity)
        whole = np.floor(distance)
        steps = whole + (distance - whole >= gamma)
        log_height = math.log(-math.expm1(-fall)) - math.log(2 * float(self.sensitivity) * self._weight(1))
        return np.asarray(log_height - fall * steps)

    def pdf(self, noise: ArrayLike) -> Floats:
        """Density of the noise."""
        return np.exp(self.log_pdf(noise))

    def cdf(self, noise: ArrayLike) -> Floats:
        """P(noise ≤ x)."""
        x = np.asarray(noise, dtype=np.float64)
        gamma, b = float(self.plateau_share), math.exp(-float(self.epsilon))
        distance = np.abs(x) / float(self.sensitivity)
        whole = np.floor(distance)
        within = distance - whole
        covered = np.minimum(within, gamma) + b * np.maximum(within - gamma, 0.0)
        tail = 0.5 * b**whole * (1 - (1 - b) * covered / self._weight(1))
        return np.where(x >= 0, 1 - tail, tail)

    def variance(self) -> float:
        """Δ² ( b(1 + b)/(1 − b)² + b/(1 − b)·c₂/c₁ + c₃/(3c₁) ) with c_m = γ^m + b(1 − γ^m)."""
        b, rest = math.exp(-float(self.epsilon)), -math.expm1(-float(self.epsilon))
        first, second, third = (self._weight(power) for power in (1, 2, 3))
        unit = b * (1 + b) / rest**2 + b / rest * second / first + third / (3 * first)
        return float(self.sensitivity) ** 2 * unit

    def mean_absolute(self) -> float:
        """E|noise| = Δ ( b/(1 − b) + c₂/(2c₁) )."""
        b, rest = math.exp(-float(self.epsilon)), -math.expm1(-float(self.epsilon))
        return float(self.sensitivity) * (b / rest + self._weight(2) / (2 * self._weight(1)))

    def _weight(self, power: int) -> float:
        """c_m = γ^m + b(1 − γ^m)."""
        reached = float(self.plateau_share) ** power
        return reached + math.exp(-float(self.epsilon)) * (1 - reached)


@dataclass(frozen=True)
class DiscreteStaircase(Additive):
    """Staircase noise on the integers."""

    epsilon: Fraction
    sensitivity: int
    plateau: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", least=1))
        object.__setattr__(self, "plateau", integer(self.plateau, "plateau", least=1))
        if self.plateau > self.sensitivity:
            raise InputError(
                "the plateau of a discrete staircase is wider than the sensitivity",
                found=f"a plateau of {self.plateau} at sensitivity {self.sensitivity}",
                allowed=f"integers from 1 to {self.sensitivity}",
                remedy="Use best_plateau for the loss in question.",
            )

    @property
    def law(self) -> IntegerNoise:
        return IntegerNoise(self.sensitivity, self.plateau, float(self.epsilon))

    def kernel(self, low: int, high: int, bits: int = 64) -> StaircaseKernel:
        """The closed form kept to low..high, with a rational ratio not below e^(−ε)."""
        ratio = rational_above_exp(-self.epsilon, bits)
        return StaircaseKernel(low, high, self.sensitivity, self.plateau, ratio)

    def table(self, low: int, high: int) -> TableKernel:
        """Integer weights over a power of two, checked on every pair of values one neighbour may join."""
        ratio = rational_above_exp(-within(self.epsilon), 64)
        kernel = StaircaseKernel(low, high, self.sensitivity, self.plateau, ratio)
        labels = [str(value) for value in range(low, high + 1)]
        rows = kernel.rows(range(low, high + 1))
        table = rounded_table(labels, [Output(label) for label in labels], rows, self.epsilon)
        return must_be_private(table, path_edges(low, high, self.sensitivity), self.epsilon)


def best_plateau_share(epsilon: object, loss: str = "squared") -> Fraction:
    """The γ of least variance ("squared") or least mean absolute error ("absolute"), to 12 decimals.

    Least variance is at γ = −b/(1 − b) + ( b(1 + b)/2 )^(1/3) / (1 − b).
    """
    exact_epsilon = positive(epsilon, "epsilon")
    b = math.exp(-float(exact_epsilon))
    if _known_loss(loss) == "absolute":
        half = math.exp(-float(exact_epsilon) / 2)
        gamma = half / (1 + half)
    else:
        rest = -math.expm1(-float(exact_epsilon))
        gamma = -b / rest + (b * (1 + b) / 2) ** (1 / 3) / rest
    return Fraction(min(max(gamma, 1e-12), 1.0)).limit_denominator(10**12)


def best_plateau(epsilon: object, sensitivity: int, loss: str = "squared") -> int:
    """The integer plateau of least variance ("squared") or least mean absolute error ("absolute")."""
    squared = _known_loss(loss) == "squared"

    def cost(width: int) -> float:
        noise = DiscreteStaircase(positive(epsilon, "epsilon"), sensitivity, width)
        return noise.variance() if squared else noise.mean_absolute()

    # The cost falls and then rises with the width, so a search over a shrinking range finds its bottom.
    low, high = 1, integer(sensitivity, "sensitivity", least=1)
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if cost(left) <= cost(right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=cost)


def staircase_mechanism(problem: Problem, summary: LinearSummary, loss: str = "squared", bits: int = 64) -> Mechanism:
    """Staircase noise of the best plateau on a weighted sum, kept to its range, in closed form."""
    people = problem.people_for("The staircase mechanism reads a weighted sum of respondents", OTHERS)
    low, high = summary.range(people)
    sensitivity = max(1, summary.step(problem.neighbours))
    plateau = best_plateau(problem.epsilon, sensitivity, loss)
    family = DiscreteStaircase(problem.epsilon, sensitivity, plateau)
    guarantee = family.guarantee(problem.neighbours.name, problem.unit)
    provenance = {"family": "staircase", "plateau": str(plateau)}
    return Mechanism(problem, summary, family.kernel(low, high, bits), guarantee, provenance=provenance)


def _known_loss(loss: str) -> str:
    if loss not in ("squared", "absolute"):
        raise InputError(
            "unknown loss for the best plateau",
            found=str(loss),
            allowed='"squared" or "absolute"',
            remedy="Name one of the two.",
        )
    return loss
