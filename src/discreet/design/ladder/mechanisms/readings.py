"""Weighted sums read for decisions: exact kernels with the best action after each output.

The ladder proposes weights and noise for squared error. Here a proposal becomes exact: the kernel's ratio is a
rational just above e^−ε (per stair) or e^(−ε/W) (per unit), so that its W-th power is not below e^−ε, and actions
are decimals or listed ones.

A single squared error takes posterior means, or the allowed numbers nearest to them. Any other decisions take the best replies to
the joint law of (S, ω) where that is small. Where it is not, errors of one or several decision makers take μ or, if absolute or
pinball errors, quantiles of a normal law with the posterior's mean μ and deviation σ,
    a = μ + z_q·σ                                   where `certify` can form the joint law of likely pairs,
    a = μ + σ·(2q−1)/√(4q(1−q))                     where it values by moments (the best a for √(E x²)/2 + (q−½) E x),
and other decisions read the statistic itself, whose joint law with itself is small. Losses are those that `certify` proves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd, inf, log2, sqrt
from statistics import NormalDist

import numpy as np

from discreet.certify.value.joint_sums import MOST_CELLS, MOST_OUTPUTS, joint_cells
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.mechanisms.noise import to_outputs
from discreet.design.ladder.mechanisms.population import Population, Weights, population_of
from discreet.design.ladder.mechanisms.proxy import Proxy, best_noise
from discreet.design.ladder.mechanisms.sums import SumPairs
from discreet.design.program.sections import Recommendation
from discreet.design.schedule import SECONDS_PER_PROVED_REPLY, SECONDS_PER_READ_CELL
from discreet.errors import TooLarge
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.actions import Action, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.kernel import ClosedKernel, GeometricKernel, Kernel, StaircaseKernel
from discreet.model.losses import DistanceLoss, FormulaLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.noise_kernel import Recommended
from discreet.model.problem import Problem
from discreet.model.replies import best_for_means, best_replies, decimal
from discreet.model.summary import LinearSummary

RATIO_BITS = 80
MOST_READ = 30_000_000
"""Values of ω times outputs that are read at once."""
FINE_ENOUGH = 4
"""The largest weight below which a coarser sum is not worth its exact value."""


@dataclass(frozen=True, eq=False)
class Reading:
    """An exact weighted sum with its actions, its loss, and the weights that led to it."""

    summary: LinearSummary
    kernel: ClosedKernel
    loss: float
    found: Weights


def noise_kernel(noise: IntegerNoise, step: int, low: int, high: int, epsilon: Fraction, actions: Recommended) -> ClosedKernel:
    """The noise with a rational ratio whose fall over one step is not steeper than e^−ε."""
    from discreet.numerics.brackets import rational_above_exp

    stairs = noise.stair > 1
    exponent = epsilon if stairs else epsilon / step
    ratio = rational_above_exp(-exponent, RATIO_BITS + max(0, ceil(-log2(float(exponent)))))
    if stairs:
        return StaircaseKernel(low, high, step, noise.plateau, ratio, actions)
    return GeometricKernel(low, high, step, ratio, actions)


@dataclass(frozen=True, eq=False)
class Reader:
    """A problem whose statistic adds up, as the ladder's arrays: only types that may occur."""

    problem: Problem

    @cached_property
    def _found(self) -> tuple[Population, list[int]]:
        return population_of(self.problem)

    @property
    def population(self) -> Population:
        return self._found[0]

    @property
    def kept(self) -> list[int]:
        return self._found[1]

    @cached_property
    def all_values(self) -> tuple[Fraction, ...]:
        universe = self.problem.people
        return self.problem.statistic.weights(universe) or ()

    @cached_property
    def law(self) -> IidSum:
        """The iid sum that the problem is about, for rungs that need one."""
        return iid_sum(self.problem)

    @property
    def probabilities(self) -> np.ndarray:
        return self.population.shares

    @property
    def values(self) -> list[float]:
        return self.population.values

    @property
    def respondents(self) -> int:
        universe = self.problem.people
        return universe.respondents

    @property
    def epsilon(self) -> float:
        return float(self.problem.epsilon)

    @property
    def squared(self) -> bool:
        """Whether a single squared error is at stake: then moments are enough."""
        single = len(self.problem.decisions) == 1 and isinstance(self.problem.decisions[0].loss, SquaredLoss)
        return single and self.population.counts.sets_aside

    def read(self, proxy: Proxy, seconds: float = inf, *, proved: bool = True) -> Reading:
        """The proxy, or a coarser one that takes no longer than it may, with the best actions for the decisions.

        A loss that need not be proved may be that of real actions.
        """
        if not self.squared:
            return self._by_replies(proxy.weights, seconds)
        decision = self.problem.decision
        allowed = decision.actions
        actions = tuple(self.allowed(a) for a in proxy.actions.tolist())
        free = isinstance(allowed, RealActions) and allowed.lower is None and allowed.upper is None
        loss = proxy.loss * float(decision.weight) if free or not proved else None
        return self._exact(proxy.weights, proxy.noise, proxy.start, actions, loss, proxy.weights)

    def _exact(
        self,
        weights: Weights,
        noise: IntegerNoise,
        first: int,
        actions: tuple[Recommendation, ...],
        loss: float | None,
        found: Weights,
    ) -> Reading:
        kernel = noise_kernel(noise, self.population.step(weights), first, first + len(actions) - 1, self.problem.epsilon, actions)
        summary = LinearSummary(self.for_every_type(weights), kernel.low, kernel.high)
        return Reading(summary, kernel, self.proved_loss(summary, kernel) if loss is None else loss, found)

    def proved_loss(self, summary: LinearSummary, kernel: Kernel) -> float:
        """What following a mechanism loses at most, as `certify` proves it."""
        return float(-weighted_sum_payoff(Mechanism(self.problem, summary, kernel, self.problem.guarantee))[0])

    def for_every_type(self, weights: Weights) -> Weights:
        """A weight for every type; one that cannot occur takes that of the occurring type nearest in value."""
        of = dict(zip(self.kept, weights, strict=True))
        near = (
            min(self.kept, key=lambda k: abs(self.all_values[k] - v)) if t not in of else t for t, v in enumerate(self.all_values)
        )
        return tuple(of[t] for t in near)

    def allowed(self, target: float, decision: Decision | None = None) -> Fraction:
        """The allowed action nearest to a number, of the only decision maker or of another."""
        decision = self.problem.decision if decision is None else decision
        if isinstance(decision.actions, RealActions):
            return decimal(target, decision.actions)
        numbers = decision.listed.numbers
        at = min(max(bisect_left(numbers, target), 1), max(len(numbers) - 1, 1))
        return min(numbers[at - 1 : at + 1], key=lambda a: abs(float(a) - target))

    def replies(self, joint: np.ndarray, omegas: tuple[Fraction, ...]) -> tuple[list[Recommendation], float]:
        """What each output recommends and what it loses altogether; `joint` is [output, ω]."""
        found = [best_replies(d, joint, omegas) for d in self.problem.decisions]
        loss = sum(float(d.weight) * r.loss for d, r in zip(self.problem.decisions, found, strict=True))
        if len(found) == 1:
            return list(found[0].actions), loss
        return list(zip(*(r.actions for r in found), strict=True)), loss

    def _by_replies(self, weights: Weights, seconds: float) -> Reading:
        """Any decisions: replies to the joint law of (S, ω), with coarser weights where that is too large, or without it."""
        for coarse in self.coarser(weights):
            try:
                if self.population.joint_seconds(coarse) + self._reading_seconds(coarse) <= seconds:
                    return self._from_joint(coarse, self.population.joint(coarse), weights)
            except TooLarge:
                continue
        decisions = self.problem.decisions
        if all(isinstance(d.loss, DistanceLoss) for d in decisions) and self.population.counts.sets_aside:
            return self._by_normal(weights, seconds)
        if len(decisions) == 1 and _has_lines(decisions[0]) and self.population.counts.sets_aside:
            return self._by_means(weights)
        steps, _ = self.population.sums(weights).lattice()
        return self._from_joint(tuple(steps), self.population.joint(steps), weights)

    def _reading_seconds(self, weights: Weights) -> float:
        """A guess of what the replies to every kind of noise take, beside the joint law."""
        steps, _ = self.population.sums(weights).lattice()
        return SECONDS_PER_READ_CELL * self.population.length(steps) * self.population.length(weights)

    def _affordable(self, weights: Weights, seconds: float) -> Weights:
        """The finest of the weights and coarser ones whose replies are proved by moments in the time, or the coarsest."""
        each, reach = SECONDS_PER_PROVED_REPLY * len(self.problem.decisions), self.population.step(weights)
        found = self.coarser(weights, [reach >> k for k in range(1, reach.bit_length())])
        return next((coarse for coarse in found if each * self.population.length(coarse) <= seconds), found[-1])

    def coarser(self, weights: Weights, steps: Sequence[int] | None = None) -> list[Weights]:
        """The weights and coarser ones, as long as they say enough."""
        found, reach = [weights], self.population.step(weights)
        for top in steps or (reach // 2, reach // 4, FINE_ENOUGH):
            coarse = tuple(round(w * top / reach) for w in weights)
            if FINE_ENOUGH <= top < reach and self.population.step(coarse) == top and coarse not in found:
                found.append(coarse)
        return found

    def _from_joint(self, weights: Weights, joint: SumPairs, found: Weights) -> Reading:
        if joint.masses.size > MOST_READ or joint.masses.shape[1] > MOST_OUTPUTS:
            raise TooLarge("the readings of a sum", size=f"{joint.masses.size:,}", fits=f"{MOST_READ:,}", remedy="coarser weights")
        best: tuple[float, IntegerNoise, list[Recommendation]] | None = None
        for noise in best_noise(self.epsilon, self.population.step(weights), gcd(*weights)):
            seen = to_outputs(joint.masses, joint.first, noise, joint.first, joint.last)
            actions, loss = self.replies(seen.T, joint.omegas)
            if best is None or loss < best[0]:
                best = (loss, noise, actions)
        assert best is not None
        return self._exact(weights, best[1], joint.first, tuple(best[2]), None, found)

    def _by_normal(self, weights: Weights, seconds: float) -> Reading:
        """Errors as if ω were normal after each output; as if it lay farthest from its mean where the joint law is too large."""
        fitting, decisions = self._fitting(weights), self.problem.decisions
        coarse = fitting or self._affordable(weights, seconds)
        levels = [float(Fraction(1, 2) if d.distance.quantile is None else d.distance.quantile) for d in decisions]
        away = [NormalDist().inv_cdf(q) if fitting else (2 * q - 1) / sqrt(4 * q * (1 - q)) for q in levels]
        law = self.population.law(coarse)
        centre = float(law.masses @ law.means) / float(law.masses.sum())
        g = law.means - centre
        best: tuple[float, IntegerNoise, np.ndarray, np.ndarray] | None = None
        for noise in best_noise(self.epsilon, self.population.step(coarse), gcd(*coarse)):
            moments = np.stack([law.masses, law.masses * g, law.masses * (g * g + law.variances)])
            density, first, second = to_outputs(moments, law.first, noise, law.first, law.last)
            safe = np.where(density > 0, density, 1.0)
            spread = np.sqrt(np.maximum(second / safe - (first / safe) ** 2, 0.0))
            least = sum(float(d.weight) * float(density @ spread**d.distance.degree) for d in decisions)
            if best is None or least < best[0]:
                best = (least, noise, centre + first / safe, spread)
        assert best is not None
        told = [[self.allowed(a, d) for a in (best[2] + t * best[3]).tolist()] for d, t in zip(decisions, away, strict=True)]
        actions = tuple(told[0]) if len(told) == 1 else tuple(zip(*told, strict=True))
        return self._exact(coarse, best[1], law.first, actions, None, weights)

    def counted(self) -> Reading | None:
        """Where laws are dear and the payoff is f(a) + ω·g(a): the count of the types that say most about ω, read by means."""
        population, decisions = self.population, self.problem.decisions
        if len(decisions) != 1 or not _has_lines(decisions[0]) or not population.counts.sets_aside:
            return None
        shares, values = population.shares, np.array(population.values)
        counts = [values >= v for v in sorted(set(population.values))[1:]]
        if not counts or population.convolved or population.seconds(population.sums([0] * len(values)).lattice()[0]) == 0:
            return None
        told = [
            (shares @ (values * c) - (shares @ values) * (shares @ c)) ** 2 / max(shares @ c * (1 - shares @ c), 1e-300)
            for c in counts
        ]
        return self._by_means(tuple(int(x) for x in counts[int(np.argmax(told))]))

    def _by_means(self, weights: Weights) -> Reading:
        """Payoffs f(a) + ω·g(a): of ω only its mean after each output counts, so the law of S is enough."""
        decision, law = self.problem.decision, self.population.law(weights)
        best: tuple[float, IntegerNoise, list[Action]] | None = None
        for noise in best_noise(self.epsilon, self.population.step(weights), gcd(*weights)):
            moments = np.stack([law.masses, law.masses * law.means])
            density, first = to_outputs(moments, law.first, noise, law.first, law.last)
            means = first / np.where(density > 0, density, 1.0)
            actions, payoffs = _best_on_lines(decision, means)
            loss = -float(decision.weight) * float(density @ payoffs)
            if best is None or loss < best[0]:
                best = (loss, noise, actions)
        assert best is not None
        return self._exact(weights, best[1], law.first, tuple(best[2]), best[0], weights)

    def _fitting(self, weights: Weights) -> Weights | None:
        """The weights, or coarser ones, whose joint law with ω `certify` can form; None when they say too little."""
        for coarse in self.coarser(weights):
            try:
                if self.population.length(coarse) <= MOST_OUTPUTS and joint_cells(self.population.sums(coarse)) <= MOST_CELLS:
                    return coarse
            except TooLarge:
                continue
        return None


def _has_lines(decision: Decision) -> bool:
    """Whether a payoff has the form f(a) + ω·g(a) in numbers a."""
    loss = decision.loss
    return isinstance(loss, FormulaLoss) and loss.parts is not None and not isinstance(decision.actions, NamedActions)


def _best_on_lines(decision: Decision, means: np.ndarray) -> tuple[list[Action], np.ndarray]:
    """The best action for each mean of ω, and what it pays."""
    if isinstance(decision.actions, RealActions):
        actions = [decimal(a, decision.actions) for a in best_for_means(decision, means).tolist()]
        chosen = np.array([float(a) for a in actions])
        return list(actions), np.asarray(decision.formula.formula({"a": chosen, "omega": means}), dtype=np.float64) + 0 * means
    listed = list(decision.actions)
    table = -decision.formula.table(np.array([float(a) for a in listed]), means)
    at = table.argmax(axis=0)
    return [listed[i] for i in at.tolist()], table[at, np.arange(len(means))]
