"""Weighted-sum proxies: perturb S = sum_i w(theta_i) instead of omega, then read the output by Bayes' rule.

A proxy is an integer weight per type, integer noise that is epsilon-DP for steps up to W (`noise`), a range of outputs, and for
each output the action that is best given it.  One neighbour moves S by at most W, so the published output is epsilon-DP.  For
squared error the action is E[omega|y] and

    loss = E Var(omega|S) + E Var(g(S)|Y),      g(s) = E[omega|S=s],

computed in time linear in the range of S: no table of states by outputs is formed.  Other losses go through the joint law of
(S, omega) (`readings`).  Plain floats: what is published is valued by `certify`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.design.ladder.mechanisms.noise import geometric_noise, staircase_noise, to_outputs
from discreet.design.ladder.mechanisms.population import Population
from discreet.design.ladder.mechanisms.sums import SumLaw
from discreet.errors import InputError
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Proxy:
    """A weighted sum, how far a neighbour moves it, its noise, its outputs start..stop, the action after each, and the loss."""

    weights: tuple[int, ...]
    step: int
    noise: IntegerNoise
    start: int
    stop: int
    actions: Floats
    loss: float

    def row(self, state: int) -> Floats:
        """The probabilities of all outputs at one state: a row of the finite kernel."""
        return to_outputs(np.ones(1), state, self.noise, self.start, self.stop)


def squared_loss_proxy(
    population: Population, weights: Sequence[int], noise: IntegerNoise, allowed: Sequence[float] | None = None
) -> Proxy:
    """The proxy with these weights and this noise under squared error, real actions unless some are `allowed`."""
    return read_by_bayes(population.law(weights), weights, population.step(weights), noise, allowed)


def read_by_bayes(
    law: SumLaw, weights: Sequence[int], step: int, noise: IntegerNoise, allowed: Sequence[float] | None = None
) -> Proxy:
    """Attach noise and the best action after each output (of the allowed ones; None: all reals) to a sum."""
    centre = float(law.masses @ law.means) / float(law.masses.sum())
    g = law.means - centre
    moments = np.stack([law.masses, law.masses * g, law.masses * g * g])
    density, first, second = to_outputs(moments, law.first, noise, law.first, law.last)
    safe = np.where(density > 0, density, 1.0)
    hidden = math.fsum(np.maximum(second - first * first / safe, 0.0))
    actions = centre + first / safe
    if allowed is not None:
        nearest = _nearest(actions, np.sort(np.asarray(allowed, dtype=np.float64)))
        hidden += math.fsum(density * (nearest - actions) ** 2)
        actions = nearest
    return Proxy(tuple(int(w) for w in weights), step, noise, law.first, law.last, actions, law.unexplained + hidden)


def _nearest(points: Floats, allowed: Floats) -> Floats:
    if len(allowed) == 1:
        return np.full(len(points), allowed[0])
    above = np.clip(np.searchsorted(allowed, points), 1, len(allowed) - 1)
    low, high = allowed[above - 1], allowed[above]
    return np.where(points - low <= high - points, low, high)


def lattice_weights(values: Sequence[float], finest: int = 10_000) -> tuple[tuple[int, ...], bool]:
    """Integers proportional to values - min, and whether that is exact (to 1e-12 of the span)."""
    low, span = min(values), max(values) - min(values)
    if span == 0:
        raise InputError("all types have the same value: the statistic is a constant", found=list(values))
    shares = (np.asarray(values, dtype=np.float64) - low) / span
    for steps in range(1, finest + 1):
        scaled = shares * steps
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-12 * steps):
            return tuple(int(x) for x in np.round(scaled)), True
    return tuple(int(x) for x in np.round(shares * 240)), False


def best_noise(epsilon: float, sensitivity: int, unit: int = 1) -> list[IntegerNoise]:
    """Noises worth trying: the staircase of least variance and its neighbours, and the geometric.

    A sum that moves in steps of `unit` is told the output's remainder for nothing, and for each remainder the noise is one in
    steps: a centre of 2m − 1 ≈ c·unit integers holds c of them for nearly every remainder, an even c included. On steps that are
    few to a stair that is better than any centre of an odd number: by 1.3 % for two of them at ε = 1, by 5 % for three at ε = 2.
    """
    middle = staircase_noise(epsilon, sensitivity).plateau
    plateaus = set(range(max(1, middle - 2), min(sensitivity, middle + 2) + 1))
    if unit > 1:
        held = (2 * middle - 1) // unit
        plateaus |= {(c * unit + 1) // 2 for c in range(max(1, held - 1), held + 3) if (c * unit + 1) // 2 <= sensitivity}
    return [*(staircase_noise(epsilon, sensitivity, r) for r in sorted(plateaus)), geometric_noise(epsilon, sensitivity)]
