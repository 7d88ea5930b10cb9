"""The first two rungs of the ladder as exact mechanisms: weighted sums for any number of types and respondents.

Rung 0 clips the values, rung 1 searches integer weights w(type); both publish S = Σ_i w(θ_i), clipped to
its likely window, with staircase or geometric noise, and recommend the best action after each output. The
witness is the chain bound at its best split. Floats propose weights, noise and actions; the kernel's ratio
is a rational just above e^−ε (per stair) or e^(−ε/W) (per unit), so its W-th power is not below e^−ε, and
`certify` values the mechanism and proves the bound again.

Conditions: independent respondents with one law, replace-one neighbours, a sum, mean or count, one decision
with squared, absolute or pinball error. Under the last two, weights are those found for squared error, made
coarser until the joint law of (S, ω) fits.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd, lcm, log2

import numpy as np

from discreet.certify.chain import CHAIN, why_not_chain
from discreet.certify.joint_sums import MOST_CELLS, MOST_OUTPUTS
from discreet.design.ladder.chain import Split, chain_bound
from discreet.design.ladder.losses import LARGEST_PRICING, other_loss
from discreet.design.ladder.noise import Staircase
from discreet.design.ladder.proxy import Proxy
from discreet.design.ladder.weights import Weights, clipped_sum, search_weights
from discreet.design.programmed import Proposal, Tried
from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action, ListedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.replies import decimal
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp
from discreet.watch import SILENT, Watch

RATIO_BITS = 80
SEARCH_SHARE = 20
"""The search over weights takes a twentieth of the time, and at least `SHORTEST_SEARCH` seconds: more gains little."""
SHORTEST_SEARCH = 2.0


def why_not_climb(problem: Problem) -> str | None:
    """The first condition of the ladder's weighted sums that fails, in words; None when all hold."""
    reason = why_not_chain(problem)
    if reason is not None:
        return reason
    if problem.epsilon == 0:
        return "ε is 0, so only a constant may be published"
    if len({value for value, _ in _atoms(problem)}) < 2:
        return "every respondent surely has the same value"
    return None


def climb(problem: Problem, watch: Watch = SILENT, seconds: float = 60.0) -> Proposal:
    """The best weighted sum found within the time, with the chain bound as its witness; `tried` lists the rungs.

    Reports are losses: `value` from above, `bound` from below. Cancelling returns the best rung so far.
    """
    reason = why_not_climb(problem)
    if reason is not None:
        raise TooLarge(
            "This problem has too many states for a program, and the ladder does not serve it",
            size=reason,
            fits="independent respondents, a sum, mean or count, and a squared, absolute or pinball error",
            remedy="use fewer respondents or types, or an iid prior",
        )
    ladder = _Ladder(problem, _Quiet(watch))
    begun = time.perf_counter()
    split, lower = ladder.bound()
    watch.report(stage="chain bound", bound=lower, seconds=time.perf_counter() - begun)
    best, tried = ladder.clipped(), []
    tried.append(Tried("clipped sum", best.loss, lower, time.perf_counter() - begun))
    watch.report(stage="clipped sum", value=best.loss, bound=lower, seconds=tried[0].seconds)
    rung = "clipped sum"
    left = seconds - (time.perf_counter() - begun)
    if left > 0 and not watch.cancelled():
        started = time.perf_counter()
        found = ladder.searched(best.start_weights, min(left, max(SHORTEST_SEARCH, seconds / SEARCH_SHARE)))
        tried.append(Tried("weights by search", found.loss, lower, time.perf_counter() - started))
        watch.report(stage="weights by search", value=found.loss, bound=lower, seconds=tried[-1].seconds)
        if found.loss < best.loss:
            best, rung = found, "weights by search"
    kernel = exact_kernel(best.proxy, problem.epsilon, best.actions)
    summary = LinearSummary(ladder.spread_out(best.proxy.weights), kernel.low, kernel.high)
    words = f"{rung}: weights {', '.join(map(str, summary.weights))} with {kernel.family} noise"
    return Proposal(
        summary,
        kernel,
        chain_witness(problem, split),
        words,
        kernel.high - kernel.low + 1,
        "weighted sum",
        tuple(tried),
    )


def exact_kernel(proxy: Proxy, epsilon: Fraction, actions: tuple[Action, ...]) -> ClosedKernel:
    """The proxy's noise with a rational ratio whose fall over one step is not steeper than e^−ε."""
    low, high, step = proxy.start, proxy.stop, proxy.sensitivity
    if isinstance(proxy.noise, Staircase):
        ratio = rational_above_exp(-epsilon, _bits(epsilon))
        return StaircaseKernel(low, high, step, proxy.noise.plateau, ratio, actions)
    ratio = rational_above_exp(-epsilon / step, _bits(epsilon / step))
    return GeometricKernel(low, high, step, ratio, actions)


def _bits(exponent: Fraction) -> int:
    """Enough bits to tell e^−exponent from 1."""
    return RATIO_BITS + max(0, ceil(-log2(float(exponent))))


def chain_witness(problem: Problem, split: Split) -> TheoremWitness:
    """The types in the tails of a split, by number."""
    atoms = sorted((value, t) for value, t in _atoms(problem))
    prior = problem.prior
    assert isinstance(prior, (IidPrior, ReferencePrior))
    low: list[int] = []
    high: list[int] = []
    for tail, ordered, mass in ((low, atoms, split.low), (high, atoms[::-1], split.high)):
        left = mass
        for _, t in ordered:
            if left > 0:
                tail.append(t)
                left -= prior.probabilities[t]
    return TheoremWitness(CHAIN, (("low", _listed(low)), ("high", _listed(high))))


def _listed(types: list[int]) -> str:
    return ",".join(map(str, sorted(types)))


def _atoms(problem: Problem) -> list[tuple[Fraction, int]]:
    """(value of the statistic's weight, type) of every type that may occur."""
    prior, universe = problem.prior, problem.universe
    assert isinstance(prior, (IidPrior, ReferencePrior)) and isinstance(universe, Universe)
    values = problem.statistic.weights(universe)
    assert values is not None
    return [(values[t], t) for t, p in enumerate(prior.probabilities) if p > 0]


@dataclass(frozen=True)
class _Quiet:
    """Passes on only the wish to stop: the ladder's own reports speak in payoffs."""

    inner: Watch

    def report(self, **told: object) -> None:
        """Say nothing."""

    def cancelled(self) -> bool:
        return self.inner.cancelled()


@dataclass(frozen=True)
class _Reading:
    """A proxy with its exact actions, its loss under the decision, and the weights it started from."""

    proxy: Proxy
    actions: tuple[Action, ...]
    loss: float
    start_weights: Weights


class _Ladder:
    """The ladder's arrays for one problem: only types that may occur."""

    def __init__(self, problem: Problem, watch: _Quiet) -> None:
        atoms = _atoms(problem)
        prior, universe = problem.prior, problem.universe
        assert isinstance(prior, (IidPrior, ReferencePrior)) and isinstance(universe, Universe)
        self.watch = watch
        self.decision: Decision = problem.decision
        self.types = universe.types
        self.kept = [t for _, t in atoms]
        self.exact_values = [value for value, _ in atoms]
        self.exact_probabilities = [prior.probabilities[t] for t in self.kept]
        self.probabilities = np.array([float(p) for p in self.exact_probabilities])
        self.values = [float(v) for v in self.exact_values]
        self.respondents = universe.respondents
        self.epsilon = float(problem.epsilon)
        self.all_values = problem.statistic.weights(universe) or ()

    def bound(self) -> tuple[Split, float]:
        """The best split and the loss that no private mechanism goes below, decision weight included."""
        kind = self.decision.kind.removesuffix("-error")
        level = float(self.decision.quantile) if self.decision.quantile is not None else 0.5
        found = chain_bound(
            self.exact_probabilities,
            self.exact_values,
            self.respondents,
            self.epsilon,
            kind,
            level,
            self.watch,
        )
        if found.split is None:
            raise InputError("There is nothing to bound", found="one value", allowed="at least two values")
        return found.split, found.lower_bound * float(self.decision.weight)

    def clipped(self) -> _Reading:
        """Rung 0."""
        return self.read(
            clipped_sum(self.probabilities, self.values, self.respondents, self.epsilon, self.watch)
        )

    def searched(self, start: Weights, seconds: float) -> _Reading:
        """Rung 1."""
        return self.read(
            search_weights(
                self.probabilities, self.values, self.respondents, self.epsilon, start, seconds, self.watch
            )
        )

    def spread_out(self, weights: Weights) -> Weights:
        """A weight for every type; one that cannot occur takes that of the occurring type nearest in value."""
        of = dict(zip(self.kept, weights, strict=True))
        nearest = [min(self.kept, key=lambda k: abs(self.all_values[k] - v)) for v in self.all_values]
        return tuple(of[t if t in of else nearest[t]] for t in range(self.types))

    def read(self, proxy: Proxy) -> _Reading:
        """The proxy with the best actions for the decision."""
        weight = float(self.decision.weight)
        if self.decision.kind != "squared-error":
            other, actions = self._other(proxy.weights)
            return _Reading(other, actions, other.loss * weight, proxy.weights)
        actions = tuple(self._action(a) for a in proxy.actions.tolist())
        away = np.array([float(a) for a in actions]) - proxy.actions if self.restricted else None
        loss = proxy.loss if away is None else proxy.loss + self._restriction(proxy, away)
        return _Reading(proxy, actions, loss * weight, proxy.weights)

    @property
    def restricted(self) -> bool:
        """Whether the decision maker cannot choose every real number."""
        allowed = self.decision.actions
        return not isinstance(allowed, RealActions) or allowed.lower is not None or allowed.upper is not None

    def _action(self, mean: float) -> Fraction:
        allowed = self.decision.actions
        if isinstance(allowed, RealActions):
            return decimal(mean, allowed)
        assert isinstance(allowed, ListedActions)
        return _nearest(allowed, mean)

    def _restriction(self, proxy: Proxy, away: np.ndarray) -> float:
        """What it costs that actions lie `away` from the posterior means: Σ_y P(y)·away²."""
        from discreet.design.ladder.noise import to_outputs
        from discreet.design.ladder.sums import sum_law

        law = sum_law(self.probabilities, self.values, proxy.weights, self.respondents)
        density = to_outputs(law.masses, law.first, proxy.noise, proxy.start, proxy.stop)
        return float((density * away**2).sum())

    def _other(self, weights: Weights) -> tuple[Proxy, tuple[Action, ...]]:
        """Absolute and pinball error: the joint law of (S, ω) on the lattice of the statistic."""
        least = min(self.exact_values)
        above = [v - least for v in self.exact_values]
        bottom = lcm(*(v.denominator for v in above))
        unit = Fraction(gcd(*(int(v * bottom) for v in above)), bottom)
        steps = [int(v / unit) for v in above]
        coarse = self._fitting(weights, max(steps))
        kind = self.decision.kind.removesuffix("-error")
        level = float(self.decision.quantile) if self.decision.quantile is not None else 0.5
        allowed = self.decision.actions
        origin = self.respondents * least
        if isinstance(allowed, RealActions):
            proxy = other_loss(self.probabilities, steps, self.respondents, self.epsilon, coarse, kind, level)
            numbers = [origin + unit * round(a) for a in proxy.actions.tolist()]
            bounded = [a if allowed.lower is None else max(a, allowed.lower) for a in numbers]
            bounded = [a if allowed.upper is None else min(a, allowed.upper) for a in bounded]
            return replace(proxy, loss=proxy.loss * float(unit)), tuple(bounded)
        assert isinstance(allowed, ListedActions)
        if len(allowed) * (self.respondents * max(coarse) + 1) > LARGEST_PRICING:
            raise TooLarge(
                "There are too many listed actions to price at every output",
                size=f"{len(allowed):,} actions",
                fits=f"{LARGEST_PRICING // (self.respondents * max(coarse) + 1):,}",
                remedy='use actions = "real"',
            )
        omegas = [float(origin + unit * k) for k in range(self.respondents * max(steps) + 1)]
        gap = np.array(omegas)[None, :] - np.array([float(a) for a in allowed.numbers])[:, None]
        losses = np.abs(gap) if kind == "absolute" else np.maximum(level * gap, (level - 1) * gap)
        proxy = other_loss(self.probabilities, steps, self.respondents, self.epsilon, coarse, losses)
        return proxy, tuple(allowed.numbers[round(i)] for i in proxy.actions.tolist())

    def _fitting(self, weights: Weights, highest: int) -> Weights:
        """The weights, or coarser ones, whose joint law with ω can be formed and certified."""
        n = self.respondents
        most = min(MOST_OUTPUTS // n, (MOST_CELLS // (n * highest + 1) - 1) // n)
        for top in range(min(max(weights), most), 0, -1):
            coarse = tuple(round(w * top / max(weights)) for w in weights)
            if min(coarse) == 0 < max(coarse):
                return coarse
        raise TooLarge(
            "This loss needs the joint law of the weighted sum and the statistic",
            size=f"{n:,} respondents and {n * highest + 1:,} values of the statistic",
            fits=f"{MOST_CELLS:,} pairs",
            remedy="use squared error, which has no such limit, or fewer respondents",
        )


def _nearest(allowed: ListedActions, target: float) -> Fraction:
    from bisect import bisect_left

    numbers = allowed.numbers
    at = min(max(bisect_left(numbers, target), 1), max(len(numbers) - 1, 1))
    near = numbers[at - 1 : at + 1]
    return min(near, key=lambda a: abs(float(a) - target))
