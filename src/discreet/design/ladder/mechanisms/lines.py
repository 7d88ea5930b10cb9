"""Weighted sums with noise, read along a line: what they lose needs two moments of the counts and no law.

With C the covariances of the counts, v the values, w the weights and z the variance of the noise for the step of w, the best line
has slope β = w′Cv/(w′Cw + z) and loses v′Cv − (w′Cv)²/(w′Cw + z). The kernel reaches so far beyond the values of S that nothing is
gathered at its ends (`certify.value.on_a_line`).
"""

from __future__ import annotations

from math import ceil

import numpy as np

from discreet.certify.value.on_a_line import line_payoff
from discreet.design.ladder.mechanisms.noise import geometric_noise, staircase_noise
from discreet.design.ladder.mechanisms.population import Population, Weights
from discreet.design.ladder.mechanisms.readings import Reader, Reading, noise_kernel
from discreet.design.ladder.mechanisms.weights import clipped_candidates, neighbouring
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.actions import RealActions
from discreet.model.mechanism import Mechanism
from discreet.model.progression import Progression
from discreet.model.replies import decimal
from discreet.model.summary import LinearSummary

MOST_OUTPUTS = 200_000
"""Of a kernel that is written with an action for each."""
BEYOND = 48.0
"""How many times step/ε the kernel reaches beyond the values of the sum."""
MOST_TRIED = 2_000
"""Weights that are tried by the formula above."""


def line_reading(reader: Reader) -> Reading | None:
    """The best weighted sum read along a line that was found; None where the law of a sum is at hand, or no line is allowed."""
    population = reader.population
    if population.convolved or population.listed is not None or not reader.squared:
        return None
    if reader.problem.decision.actions != RealActions():
        return None
    moments = _Moments(population)
    allowed = [w for w in clipped_candidates(population) if outputs(population, w) <= MOST_OUTPUTS]
    if not allowed:
        return None
    weights = min(allowed, key=moments.loss)
    tried, improved = 0, True
    while improved and tried < MOST_TRIED:
        improved = False
        for candidate in neighbouring(population, weights):
            tried += 1
            if outputs(population, candidate) <= MOST_OUTPUTS and moments.loss(candidate) < moments.loss(weights) * (1 - 1e-7):
                weights, improved = candidate, True
                break
    return _exact(reader, weights, moments)


def outputs(population: Population, weights: Weights) -> int:
    """How many outputs the kernel has."""
    return _reach(population, weights)[1] - _reach(population, weights)[0] + 1


def _reach(population: Population, weights: Weights) -> tuple[int, int]:
    beyond = ceil(BEYOND * population.step(weights) / population.epsilon)
    sizes = (population.smallest, population.largest)
    ends = [n * w for n in sizes for w in (min(weights), max(weights))]
    return min(ends) - beyond, max(ends) + beyond


class _Moments:
    """Means and covariances of the counts, and what they say about any weights."""

    def __init__(self, population: Population) -> None:
        law, kinds = population.counts, range(len(population.exact_values))
        self.population, self.values = population, np.asarray(population.values)
        self._noises: dict[int, IntegerNoise] = {}
        self.means = np.array([float(law.mean(t)) for t in kinds])
        self.covariances = np.zeros((len(kinds), len(kinds)))
        for t in kinds:
            others = law.without(t)
            if others is not None:
                self.covariances[t] = [float(law.mean(t) * (others.mean(u) + (t == u) - law.mean(u))) for u in kinds]

    def slope(self, weights: Weights) -> tuple[float, float]:
        """β, and the covariance of S and ω."""
        numbers = np.asarray(weights, dtype=float)
        shared = float(numbers @ self.covariances @ self.values)
        return shared / (float(numbers @ self.covariances @ numbers) + self.noise(weights).variance()), shared

    def noise(self, weights: Weights) -> IntegerNoise:
        """The noise of least variance."""
        step = self.population.step(weights)
        if step not in self._noises:
            tried = (geometric_noise(self.population.epsilon, step), staircase_noise(self.population.epsilon, step))
            self._noises[step] = min(tried, key=lambda noise: noise.variance())
        return self._noises[step]

    def loss(self, weights: Weights) -> float:
        slope, shared = self.slope(weights)
        return float(self.values @ self.covariances @ self.values) - slope * shared


def _exact(reader: Reader, weights: Weights, moments: _Moments) -> Reading:
    slope = decimal(moments.slope(weights)[0], RealActions())
    middle = float(moments.means @ (moments.values - float(slope) * np.asarray(weights)))
    start = decimal(middle, RealActions())
    low, high = _reach(reader.population, weights)
    actions = Progression(start + slope * low, slope, high - low + 1)
    kernel = noise_kernel(moments.noise(weights), reader.population.step(weights), low, high, reader.problem.epsilon, actions)
    summary = LinearSummary(reader.for_every_type(weights))
    value = line_payoff(Mechanism(reader.problem, summary, kernel, reader.problem.guarantee))
    assert value is not None
    return Reading(summary, kernel, float(-value), weights)
