"""Discrete Gaussian noise on a weighted sum, read by Bayes' rule: S = Σ_i w(θ_i), published as S + J clipped to a window.

Integer weights 0..W of a sum that one neighbour moves by W at most need σ² = W²/2ρ exactly. The window reaches a few σ beyond the
totals, since how far outside a noisy total lies still tells something. Floats propose weights and actions; `certify` proves them.

`LawScorer`     squared error of an iid sum: the law of S with E[ω|S] and Var(ω|S), for any number of respondents
`ListedScorer`  anything else whose states can be listed: the joint law of (S, ω), every decision maker replying best
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.proxy import lattice_weights
from discreet.design.ladder.mechanisms.sums import sum_law
from discreet.design.ladder.mechanisms.weights import FINE, clipped_weights, clipping, neighbouring
from discreet.design.program.sections import Ground
from discreet.design.schedule import SECONDS_PER_GAUSSIAN_SCORE, spend
from discreet.errors import DiscreetError, InputError, TooLarge
from discreet.model.actions import Action, RealActions
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.kernel import GaussianKernel
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.model.replies import best_replies, decimal
from discreet.model.summary import LinearSummary
from discreet.watch import Watch

AT_ONCE = 1 << 20
"""Pairs of outputs and totals that are held at once."""
BEYOND = 5
"""How many σ the outputs reach beyond the totals."""
MOST_BEYOND = 400
"""How many outputs they reach at most: much wider noise tells next to nothing, wherever it is clipped."""
MOST_PAIRS, MOST_LISTED = 8_000_000, 1_000_000
"""Outputs times totals that are looked at for one candidate, and where each is held against every value of the statistic."""
LATTICES = (*range(2, 11), 12, 16, 24)
"""Largest weights in which the best clipping is written: the smaller, the fewer totals."""
MOST_TRIED = 80
"""Weights that are tried at most."""
FEW = 1e-7
"""A candidate must be better by this share to be taken."""


@dataclass(frozen=True, eq=False)
class GaussianSum:
    """A summary and its noise, with recommended actions, and the expected loss in floats."""

    weights: Weights
    summary: LinearSummary
    kernel: GaussianKernel
    loss: float

    def beats(self, other: GaussianSum) -> bool:
        """Whether it loses noticeably less; losses may be negative."""
        return self.loss < other.loss - FEW * abs(other.loss)


class Scorer(ABC):
    """What a problem loses with given weights."""

    problem: Problem

    @abstractmethod
    def candidates(self) -> Iterator[Weights]:
        """Weights to begin with."""

    @abstractmethod
    def read(self, weights: Weights) -> GaussianSum:
        """The mechanism with these weights and the best actions; refuses weights that are too large to be looked at."""

    def step(self, weights: Sequence[int]) -> int:
        """How far one neighbour moves the sum."""
        return LinearSummary(tuple(weights)).step(self.problem.neighbours)

    def settled(self, weights: Sequence[int]) -> Weights | None:
        """The same information in the smallest weights from zero; None when they tell nothing."""
        low = 0 if isinstance(self.problem.neighbours, AddRemoveOne) else min(weights)
        found = tuple(int(w) - low for w in weights)
        return found if self.step(found) else None

    def variance(self, step: int) -> Fraction:
        """σ² = Δ²/2ρ."""
        return Fraction(step * step) / (2 * self.problem.rho)


def best_gaussian_sum(scorer: Scorer, watch: Watch) -> GaussianSum:
    """The best of the first candidates, then of their neighbours until none is better or the time is over."""
    known: dict[Weights, GaussianSum | None] = {}

    def tried(weights: Weights) -> GaussianSum | None:
        if weights not in known:
            try:
                known[weights] = scorer.read(weights)
                spend(SECONDS_PER_GAUSSIAN_SCORE)
            except DiscreetError:
                known[weights] = None
        return known[weights]

    best: GaussianSum | None = None
    for weights in scorer.candidates():
        found = tried(weights)
        if found is not None and (best is None or found.beats(best)):
            best = found
        if best is not None and watch.cancelled():
            return best
    if best is None:
        raise InputError(
            "No weighted sum with Gaussian noise fits this problem",
            found=scorer.problem.promise.brief(),
            allowed="totals that can be listed and a ρ that needs σ² up to 10^8",
            remedy="use fewer respondents or a larger ρ",
        )
    improved = True
    while improved:
        improved = False
        for weights in neighbouring(scorer, best.weights):
            if watch.cancelled() or len(known) >= MOST_TRIED:
                return best
            found = tried(weights)
            if found is not None and found.beats(best):
                best, improved = found, True
                watch.report(stage="weights of a Gaussian sum", value=-best.loss)
                break
    return best


class LawScorer(Scorer):
    """Squared error of an iid sum, by the law of the weighted sum."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.law = problem, iid_sum(problem)
        self.probabilities, self.values = self.law.floats

    def candidates(self) -> Iterator[Weights]:
        yield from first_weights(self.values)
        yield from clipped_on_lattices(self.probabilities, self.values, self.law.respondents, float(self.problem.rho))

    def read(self, weights: Weights) -> GaussianSum:
        law = sum_law(self.probabilities, self.values, weights, self.law.respondents)
        kernel = self._kernel(weights, law.first, law.last)
        moments = np.stack([law.masses, law.masses * law.means, law.masses * (law.variances + law.means**2)])
        seen = through(kernel, moments, law.first)
        safe = np.maximum(seen[0], np.finfo(float).tiny)
        actions = [self._allowed(a) for a in np.clip(seen[1] / safe, *self._ends).tolist()]
        numbers = np.array([float(a) for a in actions])
        loss = float((seen[2] - 2 * numbers * seen[1] + numbers**2 * seen[0]).sum())
        every = spread_weights(self.law, weights)
        summary = LinearSummary(every, max(kernel.low, law.first), min(kernel.high, law.last))
        return GaussianSum(weights, summary, kernel.with_actions(actions), loss * float(self.problem.decision.weight))

    @property
    def _ends(self) -> tuple[float, float]:
        return self.law.respondents * min(self.values), self.law.respondents * max(self.values)

    def _kernel(self, weights: Weights, first: int, last: int) -> GaussianKernel:
        variance = self.variance(max(weights))
        reach = min(ceil(BEYOND * sqrt(variance)) + 1, MOST_BEYOND)
        must_fit((last - first + 1 + 2 * reach) * (last - first + 1))
        return GaussianKernel(first - reach, last + reach, max(weights), variance)

    def _allowed(self, target: float) -> Fraction:
        decision = self.problem.decision
        if isinstance(decision.actions, RealActions):
            return decimal(target, decision.actions)
        return decision.listed.nearest(Fraction(target))


class ListedScorer(Scorer):
    """Any decision under any prior on states that can be listed."""

    def __init__(self, base: Ground) -> None:
        self.problem, self.base = base.problem, base
        vectors = np.asarray(base.space.vectors)
        universe = base.problem.people
        self.universe = universe
        if not base.problem.exchangeable:
            vectors = universe.histograms_of(vectors)
        self.vectors = vectors

    def candidates(self) -> Iterator[Weights]:
        values = self.problem.statistic.weights(self.universe)
        fixed = self.universe.fixed
        if values is not None and len(set(values)) > 1:
            yield from first_weights([float(v) for v in values], shift=fixed)
            counts = self.base.masses @ self.vectors / self.base.masses.sum()
            rho, size = float(self.problem.rho), float(counts.sum())
            if fixed and size > 0:
                yield from clipped_on_lattices(counts / size, [float(v) for v in values], size, rho)
        for kept in range(self.universe.types):  # the number of respondents of one type
            yield tuple(int(t == kept) for t in range(self.universe.types))

    def read(self, weights: Weights) -> GaussianSum:
        totals = self.vectors @ np.array(weights)
        low, high = int(totals.min()), int(totals.max())
        summary = LinearSummary(weights)
        variance = self.variance(max(1, summary.step(self.problem.neighbours)))
        reach = min(ceil(BEYOND * sqrt(variance)) + 1, MOST_BEYOND)
        must_fit((high - low + 1 + 2 * reach) * (high - low + 1 + len(self.base.exact_omegas)), MOST_LISTED)
        ends = summary.range(self.universe)
        kernel = GaussianKernel(
            min(low - reach, ends[0]), max(high + reach, ends[1]), max(1, summary.step(self.problem.neighbours)), variance
        )
        joint = np.zeros((high - low + 1, len(self.base.exact_omegas)))
        np.add.at(joint, (totals - low, self.base.column), self.base.masses)
        seen = through(kernel, joint.T, low).T
        each = [best_replies(d, seen, self.base.exact_omegas) for d in self.problem.decisions]
        loss = sum(float(d.weight) * r.loss for d, r in zip(self.problem.decisions, each, strict=True))
        actions: list[Action] | list[tuple[Action, ...]] = (
            each[0].actions if len(each) == 1 else list(zip(*(r.actions for r in each), strict=True))
        )
        return GaussianSum(weights, summary, kernel.with_actions(actions), loss)


def first_weights(values: list[float], shift: bool = True) -> Iterator[Weights]:
    """The statistic itself, counts of values from a threshold on, and values clipped on the way, each once."""
    seen: set[Weights] = set()
    found: list[Weights | None] = [lattice_weights(values)[0]] if shift else []
    low, high = min(values), max(values)
    found += [tuple(int(v >= threshold) for v in values) for threshold in sorted(set(values))[1:]]
    if not shift:
        found += [tuple(int(v != 0) for v in values)]
        whole = [round(v) for v in values]
        found += [tuple(whole)] if all(abs(v - w) < 1e-12 for v, w in zip(values, whole, strict=True)) else []
        low = min(low, 0.0)
    for top in sorted(set(values))[1:]:
        for share in (0.5, 0.75, 1.0):
            found.append(clipped_weights(values, low, low + (top - low) * share, FINE))
    for weights in found:
        if weights is not None and any(weights) and weights not in seen:
            seen.add(weights)
            yield weights
    assert high > low, "a constant statistic has no candidates"


def clipped_on_lattices(shares: ArrayLike, values: list[float], size: float, rho: float) -> Iterator[Weights]:
    """The best clipping of the values, in whole weights: noise on a sum that one neighbour moves by one has a variance of 1/2ρ."""
    low, high = clipping(shares, values, size, 1 / (2 * rho))
    found = (clipped_weights(values, low, high, top) for top in LATTICES)
    yield from dict.fromkeys(weights for weights in found if weights is not None)


def through(kernel: GaussianKernel, moments: np.ndarray, first: int) -> np.ndarray:
    """Σ_s moment(s)·K(y|s) [·, output] for totals s = first, first + 1, …, all within the kernel's range."""
    totals = np.arange(first, first + moments.shape[1])
    must_fit(kernel.width * len(totals))
    outputs, some = np.arange(kernel.low, kernel.high + 1), max(AT_ONCE // len(totals), 1)
    blocks = (outputs[k : k + some] for k in range(0, len(outputs), some))
    return np.concatenate([moments @ np.exp(kernel.log_masses(block, totals)).T for block in blocks], axis=1)


def spread_weights(law: IidSum, weights: Weights) -> Weights:
    """A weight for every type; one that cannot occur takes that of the occurring type nearest in value."""
    of = dict(zip(law.types, weights, strict=True))
    nearest = [min(of, key=lambda k: abs(law.all_values[k] - v)) for v in law.all_values]
    return tuple(of[t if t in of else nearest[t]] for t in range(len(law.all_values)))


def must_fit(pairs: int, most: int = MOST_PAIRS) -> None:
    """Refuse weights whose outputs and totals are too many to be looked at."""
    if pairs > most:
        raise TooLarge(
            "The weighted sum and its noise have too many values",
            size=f"{pairs:,} pairs",
            fits=f"{most:,}",
            remedy="use smaller weights",
        )
