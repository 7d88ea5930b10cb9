"""The geometric mechanism (= discrete Laplace): two-sided geometric noise on an integer, whole or truncated.

    P(output j | state i) = (1 − r)/(1 + r) · r^|j − i|,   r = e^(−ε/Δ),   Δ the sensitivity.

Truncated to {low, …, high}, the noise beyond an end is moved to that end, which then has r^|j − i|/(1 + r). Both are
ε-DP: the logarithm of a column falls by at most ε/Δ per step. With Δ = 1 the truncated one is optimal for
every supermodular decision about a count under an exchangeable prior.

Notation: r → ratio, Δ → sensitivity.
References: SY fn 5 (the exponent needs |x|), fn 28, Lemma 1, Thm 3; Ghosh, Roughgarden & Sundararajan (2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.mechanisms.integer_noise import Additive, IntegerNoise
from discreet.mechanisms.parameters import OTHERS, Pure, integer, non_negative, positive
from discreet.mechanisms.tables import must_be_private, path_edges, rounded_table, within
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import rational_above_exp


@dataclass(frozen=True)
class Geometric(Additive):
    """Two-sided geometric noise on the integers."""

    epsilon: Fraction
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", least=1))

    @property
    def rate(self) -> float:
        """ε/Δ, the fall of the log probability per step."""
        return float(self.epsilon / self.sensitivity)

    @property
    def law(self) -> IntegerNoise:
        return IntegerNoise(1, 1, self.rate)

    def truncated(self, low: int, high: int) -> TruncatedGeometric:
        """The same noise with outputs kept to low..high."""
        return TruncatedGeometric(self.epsilon, low, high, self.sensitivity)


@dataclass(frozen=True)
class TruncatedGeometric(Pure):
    """The geometric mechanism on {low, …, high}: outputs beyond an end are reported as that end."""

    epsilon: Fraction
    low: int
    high: int
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "low", integer(self.low, "low"))
        object.__setattr__(self, "high", integer(self.high, "high"))
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", least=1))
        if self.low >= self.high:
            raise InputError(
                "the range of a truncated geometric mechanism is empty",
                found=f"from {self.low} to {self.high}",
                allowed="low < high",
                remedy="Give the smallest and the largest value of the statistic.",
            )

    @property
    def rate(self) -> float:
        """ε/Δ, the fall of the log probability per step."""
        return float(self.epsilon / self.sensitivity)

    def log_pmf(self, output: ArrayLike, state: ArrayLike) -> Floats:
        """Log probabilities of outputs at states, all integers; −inf for outputs outside the range."""
        j, i = np.broadcast_arrays(np.asarray(output, dtype=np.float64), np.asarray(state, dtype=np.float64))
        at_end = (j == self.low) | (j == self.high)
        inner = _log_centre(self.rate) if self.epsilon else -math.inf
        logs = np.where(at_end, -math.log1p(math.exp(-self.rate)), inner) - self.rate * np.abs(j - i)
        return np.where((j >= self.low) & (j <= self.high), logs, -np.inf)

    def pmf(self, output: ArrayLike, state: ArrayLike) -> Floats:
        """Probabilities of outputs at states."""
        return np.exp(self.log_pmf(output, state))

    def cdf(self, output: ArrayLike, state: ArrayLike) -> Floats:
        """P(output ≤ j | state i)."""
        j, i = np.broadcast_arrays(np.asarray(output, dtype=np.float64), np.asarray(state, dtype=np.float64))
        gap = np.floor(j) - i
        tail = np.exp(-self.rate * np.where(gap >= 0, gap + 1, -gap)) / (1 + math.exp(-self.rate))
        return np.where(j >= self.high, 1.0, np.where(j < self.low, 0.0, np.where(gap >= 0, 1 - tail, tail)))

    def matrix(self) -> Floats:
        """Probabilities [output, state] over the whole range."""
        values = np.arange(self.low, self.high + 1)
        return self.pmf(values[:, None], values[None, :])

    def kernel(self, bits: int = 64) -> GeometricKernel:
        """The closed form with a rational ratio not below e^(−ε/Δ), above it by at most 2^−bits of itself."""
        if self.epsilon == 0:
            raise InputError(
                "a geometric kernel in closed form needs a positive epsilon",
                found="epsilon 0",
                allowed="epsilon above 0",
                remedy="Use the table, or publish a constant.",
            )
        ratio = rational_above_exp(-self.epsilon / self.sensitivity, bits)
        return GeometricKernel(self.low, self.high, self.sensitivity, ratio)

    def table(self) -> TableKernel:
        """Integer weights over a power of two, checked on every pair of values one neighbour may join."""
        values = range(self.low, self.high + 1)
        labels = [str(value) for value in values]
        if self.epsilon == 0:
            half, zero = Fraction(1, 2), Fraction(0)
            rows = [[half if value in (self.low, self.high) else zero] * len(values) for value in values]
        else:
            ratio = rational_above_exp(-within(self.epsilon) / self.sensitivity, 64)
            rows = GeometricKernel(self.low, self.high, self.sensitivity, ratio).rows(values)
        kernel = rounded_table(labels, [Output(label) for label in labels], rows, self.epsilon)
        return must_be_private(kernel, path_edges(self.low, self.high, self.sensitivity), self.epsilon)


def geometric_mechanism(problem: Problem, summary: LinearSummary, bits: int = 64) -> Mechanism:
    """The truncated geometric mechanism on a weighted sum, in closed form: any number of respondents, no table."""
    people = problem.people_for("The geometric mechanism reads a weighted sum of respondents", OTHERS)
    low, high = summary.range(people)
    family = TruncatedGeometric(problem.epsilon, low, high, max(1, summary.step(problem.neighbours)))
    guarantee = family.guarantee(problem.neighbours.name, problem.unit)
    return Mechanism(problem, summary, family.kernel(bits), guarantee, provenance={"family": "geometric"})


def _log_centre(rate: float) -> float:
    """log( (1 − r)/(1 + r) ) = log tanh(rate/2)."""
    return math.log(-math.expm1(-rate)) - math.log1p(math.exp(-rate))
