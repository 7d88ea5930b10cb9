"""Weighted sums read for a decision: exact kernels with the best action after each output.

The ladder proposes weights and noise for squared error. Here a proposal becomes exact: the kernel's ratio is a
rational just above e^−ε (per stair) or e^(−ε/W) (per unit), so that its W-th power is not below e^−ε, and actions
are decimals or listed numbers.

Squared error takes posterior means, or the allowed numbers nearest to them. Absolute and pinball errors take
posterior quantiles: from the joint law of (S, ω) where that is small, else those of a normal law with the posterior's
mean μ and deviation σ,
    a = μ + z_q·σ                                   where `certify` can form the joint law of likely pairs,
    a = μ + σ·(2q−1)/√(4q(1−q))                     where it values by moments (the best a for √(E x²)/2 + (q−½) E x).
Their losses are those that `certify` proves.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log2, sqrt
from statistics import NormalDist

import numpy as np

from discreet.certify.value.joint_sums import MOST_CELLS, MOST_OUTPUTS, joint_cells
from discreet.certify.value.laws import Sums, law_of
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.mechanisms.any_loss import LARGEST_PRICING, other_loss
from discreet.design.ladder.mechanisms.noise import to_outputs
from discreet.design.ladder.mechanisms.proxy import Proxy, best_noise
from discreet.design.ladder.mechanisms.sums import sum_law
from discreet.design.ladder.mechanisms.weights import Weights
from discreet.model.actions import Action, ListedActions, RealActions
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.replies import decimal
from discreet.model.summary import LinearSummary

RATIO_BITS = 80
SMALL_JOINT = 300_000
"""Pairs (S, ω) for which quantiles come from the joint law itself."""
FINE_ENOUGH = 4
"""The largest weight below which a coarser sum is not worth its exact value."""


@dataclass(frozen=True, eq=False)
class Reading:
    """An exact weighted sum with its actions, its loss, and the weights that led to it."""

    summary: LinearSummary
    kernel: ClosedKernel
    loss: float
    found: Weights


def exact_kernel(proxy: Proxy, epsilon: Fraction, actions: tuple[Action, ...]) -> ClosedKernel:
    """The proxy's noise with a rational ratio whose fall over one step is not steeper than e^−ε."""
    from discreet.numerics.brackets import rational_above_exp

    low, high, step = proxy.start, proxy.stop, proxy.sensitivity
    stairs = proxy.noise.stair > 1
    exponent = epsilon if stairs else epsilon / step
    ratio = rational_above_exp(-exponent, RATIO_BITS + max(0, ceil(-log2(float(exponent)))))
    if stairs:
        return StaircaseKernel(low, high, step, proxy.noise.plateau, ratio, actions)
    return GeometricKernel(low, high, step, ratio, actions)


@dataclass(frozen=True, eq=False)
class Reader:
    """A problem about an iid sum as the ladder reads it: only types that may occur, numbers as floats."""

    problem: Problem

    @cached_property
    def law(self) -> IidSum:
        return iid_sum(self.problem)

    @cached_property
    def probabilities(self) -> np.ndarray:
        return self.law.floats[0]

    @cached_property
    def values(self) -> list[float]:
        return self.law.floats[1]

    @property
    def respondents(self) -> int:
        return self.law.respondents

    @property
    def epsilon(self) -> float:
        return float(self.problem.epsilon)

    @property
    def given(self) -> tuple[np.ndarray, list[float], int, float]:
        """Probabilities, values, respondents and ε, as proposals are searched with."""
        return self.probabilities, self.values, self.respondents, self.epsilon

    @property
    def loss(self) -> DistanceLoss:
        """What the readers' actions are judged by."""
        loss = self.problem.decision.loss
        assert isinstance(loss, DistanceLoss)
        return loss

    @property
    def quantile(self) -> float:
        """q of a pinball error; ½ for others."""
        level = self.problem.decision.loss.quantile
        return 0.5 if level is None else float(level)

    def read(self, proxy: Proxy) -> Reading:
        """The proxy, or a coarser one, with the best actions for the decision."""
        decision = self.problem.decision
        allowed = decision.actions
        if not isinstance(decision.loss, SquaredLoss):
            return self._exact(*self._by_quantile(proxy.weights), None, proxy.weights)
        actions = tuple(self.allowed(a) for a in proxy.actions.tolist())
        free = isinstance(allowed, RealActions) and allowed.lower is None and allowed.upper is None
        return self._exact(
            proxy, actions, proxy.loss * float(decision.weight) if free else None, proxy.weights
        )

    def _exact(
        self, proxy: Proxy, actions: tuple[Action, ...], loss: float | None, found: Weights
    ) -> Reading:
        problem = self.problem
        kernel = exact_kernel(proxy, problem.epsilon, actions)
        summary = LinearSummary(self.for_every_type(proxy.weights), kernel.low, kernel.high)
        if loss is None:
            loss = float(-weighted_sum_payoff(Mechanism(problem, summary, kernel, problem.guarantee))[0])
        return Reading(summary, kernel, loss, found)

    def for_every_type(self, weights: Weights) -> Weights:
        """A weight for every type; one that cannot occur takes that of the occurring type nearest in value."""
        of = dict(zip(self.law.types, weights, strict=True))
        values = self.law.all_values
        nearest = [min(of, key=lambda k: abs(values[k] - v)) for v in values]
        return tuple(of[t if t in of else nearest[t]] for t in range(len(values)))

    def allowed(self, target: float) -> Fraction:
        """The allowed action nearest to a number."""
        allowed = self.problem.decision.actions
        if isinstance(allowed, RealActions):
            return decimal(target, allowed)
        assert isinstance(allowed, ListedActions)
        numbers = allowed.numbers
        at = min(max(bisect_left(numbers, target), 1), max(len(numbers) - 1, 1))
        return min(numbers[at - 1 : at + 1], key=lambda a: abs(float(a) - target))

    def _by_quantile(self, weights: Weights) -> tuple[Proxy, tuple[Action, ...]]:
        """Absolute and pinball errors: quantiles from the joint law, or from a normal law with its moments."""
        unit, steps = self.law.lattice
        n, allowed = self.respondents, self.problem.decision.actions
        height, width = n * max(steps) + 1, n * max(weights) + 1
        listed = len(allowed) if isinstance(allowed, ListedActions) else 1
        small = height * width <= SMALL_JOINT and listed * width <= LARGEST_PRICING
        if not small:
            return self._by_normal(weights)
        origin = n * min(self.law.values)
        if isinstance(allowed, RealActions):
            proxy = other_loss(self.probabilities, steps, n, self.epsilon, weights, self.loss)
            exact = [origin + unit * round(a) for a in proxy.actions.tolist()]
            exact = [a if allowed.lower is None else max(a, allowed.lower) for a in exact]
            return proxy, tuple(a if allowed.upper is None else min(a, allowed.upper) for a in exact)
        assert isinstance(allowed, ListedActions)
        omegas = np.array([float(origin + unit * k) for k in range(height)])
        gap = omegas[None, :] - np.array([float(a) for a in allowed.numbers])[:, None]
        losses = self.loss.of_gap(gap)
        proxy = other_loss(self.probabilities, steps, n, self.epsilon, weights, losses)
        return proxy, tuple(allowed.numbers[round(i)] for i in proxy.actions.tolist())

    def _by_normal(self, weights: Weights) -> tuple[Proxy, tuple[Action, ...]]:
        coarse = self._fitting(weights)
        q = self.quantile
        if coarse is None:
            coarse, away = weights, (2 * q - 1) / sqrt(4 * q * (1 - q))
        else:
            away = NormalDist().inv_cdf(q)
        law = sum_law(self.probabilities, self.values, coarse, self.respondents)
        centre = float(law.masses @ law.means) / float(law.masses.sum())
        g = law.means - centre
        best: tuple[float, Proxy] | None = None
        for noise in best_noise(self.epsilon, max(coarse)):
            moments = np.stack([law.masses, law.masses * g, law.masses * (g * g + law.variances)])
            density, first, second = to_outputs(moments, law.first, noise, law.first, law.last)
            safe = np.where(density > 0, density, 1.0)
            spread = np.sqrt(np.maximum(second / safe - (first / safe) ** 2, 0.0))
            targets = centre + first / safe + away * spread
            loss = float((density * spread).sum())
            if best is None or loss < best[0]:
                best = (loss, Proxy(coarse, noise, law.first, law.last, targets, loss, 0.0))
        assert best is not None
        return best[1], tuple(self.allowed(a) for a in best[1].actions.tolist())

    def _fitting(self, weights: Weights) -> Weights | None:
        """The weights, or coarser ones, whose joint law with ω `certify` can form; None when they say too little."""
        sizes = []
        for top in (max(weights), max(weights) // 2, max(weights) // 4, FINE_ENOUGH):
            coarse = tuple(round(w * top / max(weights)) for w in weights)
            if FINE_ENOUGH <= top <= max(weights) and max(coarse) == top and min(coarse) == 0:
                sizes.append(coarse)
        for coarse in sizes or [weights]:
            law = law_of(self.problem)
            assert law is not None
            sums = Sums(law, self.for_every_type(coarse), self.law.all_values, self.respondents, self.respondents)
            if self._range(coarse) <= MOST_OUTPUTS and joint_cells(sums) <= MOST_CELLS:
                return coarse
        return None

    def _range(self, weights: Weights) -> int:
        w = np.array(weights, dtype=float)
        variance = float(self.probabilities @ w**2 - (self.probabilities @ w) ** 2)
        return (
            int(
                min(
                    self.respondents * max(weights),
                    24 * sqrt(self.respondents * variance) + 60 * max(weights),
                )
            )
            + 1
        )
