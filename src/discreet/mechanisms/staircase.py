"""The staircase mechanism: noise that falls by e^(−ε) once per sensitivity Δ, in steps rather than smoothly.

Continuous, with step fraction γ in (0, 1] and b = e^(−ε): the density is a on [0, γΔ), b·a on [γΔ, Δ), falls by b
with every further Δ, and is even;  a = (1 − b) / ( 2Δ(γ + b(1 − γ)) ).
Discrete, with integer Δ and step width w in 1..Δ: a for |k| < w, b·a for w ≤ |k| < Δ, falling by b with every
further Δ;  a = (1 − b) / ( 2(w + b(Δ − w)) − (1 − b) ).

Values at most Δ apart have at most one fall between them, so it is ε-DP; with w = Δ = 1 it is the geometric
mechanism. Among additive noise it has the least mean absolute error at γ = 1/(1 + e^(ε/2)) and the least
variance at another γ.

Notation: b → fall, γ → step_fraction, w → step_width, Δ → sensitivity.
Reference: Geng & Viswanath (2014), "The optimal mechanism in differential privacy".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError
from discreet.mechanisms.parameters import integer, positive
from discreet.mechanisms.tables import must_be_private, path_edges, rounded_table, within
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, StaircaseKernel, TableKernel, closed_rows
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import format_exact

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Staircase:
    """Staircase noise on the real line."""

    epsilon: Fraction
    sensitivity: Fraction
    step_fraction: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        object.__setattr__(self, "step_fraction", positive(self.step_fraction, "step_fraction"))
        if self.step_fraction > 1:
            raise InputError(
                "the step fraction of a staircase is above one",
                found=format_exact(self.step_fraction),
                allowed="numbers above 0 and at most 1",
                remedy="Use best_step_fraction for the loss in question.",
            )

    def log_pdf(self, noise: ArrayLike) -> Array:
        """Log density of the noise."""
        gamma, fall = float(self.step_fraction), float(self.epsilon)
        distance = np.abs(np.asarray(noise, dtype=np.float64)) / float(self.sensitivity)
        whole = np.floor(distance)
        steps = whole + (distance - whole >= gamma)
        log_height = math.log(-math.expm1(-fall)) - math.log(2 * float(self.sensitivity) * self._weight(1))
        return np.asarray(log_height - fall * steps)

    def pdf(self, noise: ArrayLike) -> Array:
        """Density of the noise."""
        return np.exp(self.log_pdf(noise))

    def cdf(self, noise: ArrayLike) -> Array:
        """P(noise ≤ x)."""
        x = np.asarray(noise, dtype=np.float64)
        gamma, b = float(self.step_fraction), math.exp(-float(self.epsilon))
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

    def guarantee(self, neighbours: str, unit: str) -> Guarantee:
        """ε for neighbours between whom the statistic moves by at most the sensitivity."""
        return Guarantee(PurePromise(self.epsilon), neighbours, unit)

    def _weight(self, power: int) -> float:
        """c_m = γ^m + b(1 − γ^m)."""
        reached = float(self.step_fraction) ** power
        return reached + math.exp(-float(self.epsilon)) * (1 - reached)


@dataclass(frozen=True)
class DiscreteStaircase:
    """Staircase noise on the integers."""

    epsilon: Fraction
    sensitivity: int
    step_width: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", least=1))
        object.__setattr__(self, "step_width", integer(self.step_width, "step_width", least=1))
        if self.step_width > self.sensitivity:
            raise InputError(
                "the step of a discrete staircase is wider than the sensitivity",
                found=f"a step of {self.step_width} at sensitivity {self.sensitivity}",
                allowed=f"integers from 1 to {self.sensitivity}",
                remedy="Use best_step_width for the loss in question.",
            )

    def log_pmf(self, noise: ArrayLike) -> Array:
        """Log probabilities of integer noise."""
        distance = np.abs(np.asarray(noise, dtype=np.float64))
        whole = np.floor(distance / self.sensitivity)
        steps = whole + (distance - whole * self.sensitivity >= self.step_width)
        return np.asarray(math.log(self._height()) - float(self.epsilon) * steps)

    def pmf(self, noise: ArrayLike) -> Array:
        """Probabilities of integer noise."""
        return np.exp(self.log_pmf(noise))

    def cdf(self, noise: ArrayLike) -> Array:
        """P(noise ≤ k)."""
        k = np.floor(np.asarray(noise, dtype=np.float64))
        tail = self._from(np.where(k >= 0, k + 1, -k))
        return np.where(k >= 0, 1 - tail, tail)

    def variance(self) -> float:
        """E noise², period by period: |k| = mΔ + t has weight a·b^m·(1 or b)."""
        b, rest = math.exp(-float(self.epsilon)), -math.expm1(-float(self.epsilon))
        zeroth, first, second = (self._within(power) for power in (0, 1, 2))
        periods = self.sensitivity**2 * b * (1 + b) / rest**3 * zeroth
        crossed = 2 * self.sensitivity * b / rest**2 * first
        return 2 * self._height() * (periods + crossed + second / rest)

    def mean_absolute(self) -> float:
        """E|noise|."""
        b, rest = math.exp(-float(self.epsilon)), -math.expm1(-float(self.epsilon))
        periods = self.sensitivity * b / rest**2 * self._within(0)
        return 2 * self._height() * (periods + self._within(1) / rest)

    def guarantee(self, neighbours: str, unit: str) -> Guarantee:
        """ε for neighbours between whom the statistic moves by at most the sensitivity."""
        return Guarantee(PurePromise(self.epsilon), neighbours, unit)

    def kernel(self, low: int, high: int, bits: int = 64) -> StaircaseKernel:
        """The closed form kept to low..high, with a rational ratio not below e^(−ε)."""
        ratio = rational_above_exp(-self.epsilon, bits)
        return StaircaseKernel(low, high, self.sensitivity, self.step_width, ratio)

    def table(self, low: int, high: int) -> TableKernel:
        """Integer weights over a power of two, checked on every pair of values one neighbour may join."""
        ratio = rational_above_exp(-within(self.epsilon), 64)
        kernel = StaircaseKernel(low, high, self.sensitivity, self.step_width, ratio)
        labels = [str(value) for value in range(low, high + 1)]
        rows = closed_rows(kernel, range(low, high + 1))
        table = rounded_table(labels, [Output(label) for label in labels], rows, self.epsilon)
        return must_be_private(table, path_edges(low, high, self.sensitivity), self.epsilon)

    def _height(self) -> float:
        """a, the probability of no noise."""
        rest = -math.expm1(-float(self.epsilon))
        return rest / (2 * self._within(0) - rest)

    def _within(self, power: int) -> float:
        """Σ_{t<w} t^m + b Σ_{w≤t<Δ} t^m, for m = 0, 1, 2."""
        upper_steps = _power_sum(self.step_width, power)
        return upper_steps + math.exp(-float(self.epsilon)) * (
            _power_sum(self.sensitivity, power) - upper_steps
        )

    def _from(self, distance: Array) -> Array:
        """P(noise ≥ distance) for distance ≥ 1."""
        b, rest = math.exp(-float(self.epsilon)), -math.expm1(-float(self.epsilon))
        whole = np.floor(distance / self.sensitivity)
        within = distance - whole * self.sensitivity
        passed = np.minimum(within, self.step_width) + b * np.maximum(within - self.step_width, 0.0)
        return np.asarray(self._height() * b**whole * (self._within(0) / rest - passed))


def best_step_fraction(epsilon: object, loss: str = "squared") -> Fraction:
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


def best_step_width(epsilon: object, sensitivity: int, loss: str = "squared") -> int:
    """The integer step width of least variance ("squared") or least mean absolute error ("absolute")."""
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


def staircase_mechanism(
    problem: Problem, summary: LinearSummary, loss: str = "squared", bits: int = 64
) -> Mechanism:
    """Staircase noise of the best step width on a weighted sum, kept to its range, in closed form."""
    if not isinstance(problem.universe, Universe):
        raise InputError(
            "the staircase mechanism reads a weighted sum of respondents",
            found="databases listed by name",
            allowed="a universe of respondents and values",
            remedy="Use the exponential or the inverse sensitivity mechanism on the listed databases.",
        )
    low, high = summary.range(problem.universe)
    sensitivity = max(1, summary.step(problem.neighbours))
    width = best_step_width(problem.epsilon, sensitivity, loss)
    family = DiscreteStaircase(problem.epsilon, sensitivity, width)
    guarantee = family.guarantee(problem.neighbours.name, problem.unit)
    provenance = {"family": "staircase", "step width": str(width)}
    return Mechanism(problem, summary, family.kernel(low, high, bits), guarantee, provenance=provenance)


def _power_sum(count: int, power: int) -> int:
    """Σ_{t<count} t^power for power 0, 1, 2."""
    if power == 0:
        return count
    if power == 1:
        return count * (count - 1) // 2
    return (count - 1) * count * (2 * count - 1) // 6


def _known_loss(loss: str) -> str:
    if loss not in ("squared", "absolute"):
        raise InputError(
            "unknown loss for the best step",
            found=str(loss),
            allowed='"squared" or "absolute"',
            remedy="Name one of the two.",
        )
    return loss
