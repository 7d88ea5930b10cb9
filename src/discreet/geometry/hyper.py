"""Hypers: the distribution of posteriors that a mechanism induces.

A hyper is finitely many posteriors π_j with probabilities ν_j. It is Bayes-plausible when Σ_j ν_j π_j = π0, and then
the channel m(j|θ) = π_j(θ)ν_j/π0(θ) induces it (SY Lemma 4, used in SY Prop. 2). A linearly independent support
pins the probabilities down, and every Bayes-plausible hyper can be thinned to such a support (SY Lemma 7).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.geometry import linear_algebra
from discreet.geometry.beliefs import Belief, belief, full_support, mixture, project
from discreet.geometry.channel import Channel, channel_of, output_probabilities
from discreet.geometry.of_problem import StatedProblem, stated
from discreet.model.mechanism import Mechanism


@dataclass(frozen=True)
class Hyper:
    """Posteriors about the states, each with its positive probability; equal posteriors are kept once."""

    states: tuple[str, ...]
    posteriors: tuple[Belief, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.posteriors or len(self.posteriors) != len(self.weights):
            raise InputError(
                "A hyper needs one probability for each posterior",
                found=f"{len(self.posteriors)} posteriors, {len(self.weights)} probabilities",
                allowed="as many of each, at least one",
                remedy="complete it",
            )
        belief(self.weights, what="the distribution of posteriors")
        if min(self.weights) == 0:
            raise InputError(
                "A posterior that never occurs does not belong to a hyper",
                found="a probability of 0",
                allowed="positive probabilities",
                remedy="leave it out",
            )
        for posterior in self.posteriors:
            belief(posterior, len(self.states), "a posterior")
        if len(set(self.posteriors)) != len(self.posteriors):
            raise InputError(
                "A posterior is listed twice",
                found="a repetition",
                allowed="different posteriors",
                remedy="use hyper(), which adds up the probabilities of equal posteriors",
            )

    def __len__(self) -> int:
        return len(self.posteriors)

    @property
    def mean(self) -> Belief:
        """Σ_j ν_j π_j."""
        return mixture(self.weights, self.posteriors)

    def is_bayes_plausible(self, prior: Belief) -> bool:
        """Whether the posteriors average to the prior, exactly."""
        return self.mean == belief(prior, len(self.states), "the prior")

    @property
    def is_linearly_independent(self) -> bool:
        """Whether no posterior is a combination of the others (for beliefs the same as affinely independent)."""
        return linear_algebra.linearly_independent(self.posteriors)

    @property
    def is_affinely_independent(self) -> bool:
        """Whether no posterior is an affine combination of the others."""
        return linear_algebra.affinely_independent(self.posteriors)

    @property
    def is_unique(self) -> bool:
        """Whether no other distribution on exactly these posteriors has the same mean (SY Lemma 7 iii).

        All probabilities are positive, so a direction in which the mean stays can be followed both ways: uniqueness
        holds exactly for linearly independent posteriors.
        """
        return self.is_linearly_independent

    def thinned(self) -> Hyper:
        """A hyper with the same mean on a linearly independent part of the support (SY Lemma 7 i, Carathéodory)."""
        found = linear_algebra.nonnegative_solution(self.posteriors, self.mean)
        assert found.solution is not None  # the weights themselves are a solution
        return hyper(self.states, self.posteriors, found.solution)

    def project(self, keys: Sequence[Hashable], order: Sequence[Hashable], labels: Sequence[str]) -> Hyper:
        """The distribution of posteriors about a function of the state (SY eq. (6))."""
        return hyper(tuple(labels), [project(p, keys, order) for p in self.posteriors], self.weights)

    def garbled(self, garbling: Sequence[Sequence[Fraction]]) -> Hyper:
        """The hyper after post-processing with P(t | j) = garbling[t][j]."""
        Channel(tuple(map(str, range(len(self)))), tuple(map(str, range(len(garbling)))), tuple(map(tuple, garbling)))
        posteriors, weights = [], []
        for line in garbling:
            joint = [g * w for g, w in zip(line, self.weights, strict=True)]
            total = sum(joint, Fraction(0))
            if total:
                posteriors.append(mixture([x / total for x in joint], self.posteriors))
                weights.append(total)
        return hyper(self.states, posteriors, weights)

    def channel(self, prior: Belief) -> Channel:
        """m(j|θ) = π_j(θ)ν_j/π0(θ), the mechanism that induces this hyper (SY Prop. 2)."""
        full_support(prior, self.states)
        if not self.is_bayes_plausible(prior):
            raise InputError(
                "No mechanism induces a distribution of posteriors that does not average to the prior",
                found="a mean that differs from the prior",
                allowed="a Bayes-plausible hyper",
                remedy="correct the probabilities, or start from a mechanism",
            )
        rows = tuple(
            tuple(w * p / q for p, q in zip(posterior, prior, strict=True))
            for posterior, w in zip(self.posteriors, self.weights, strict=True)
        )
        return Channel(self.states, tuple(str(j) for j in range(len(self))), rows)


def hyper(states: Sequence[str], posteriors: Sequence[Sequence[Fraction]], weights: Sequence[Fraction]) -> Hyper:
    """A hyper from a list in which posteriors may repeat or have probability zero."""
    sums: dict[Belief, Fraction] = {}
    for posterior, weight in zip(posteriors, weights, strict=True):
        if weight:
            sums[tuple(posterior)] = sums.get(tuple(posterior), Fraction(0)) + weight
    return Hyper(tuple(states), tuple(sums), tuple(sums.values()))


def hyper_of_channel(channel: Channel, prior: Belief) -> Hyper:
    """The posteriors after each output, by Bayes' rule: π_s(i) = m(s|i)π0(i)/P(s)."""
    chances = output_probabilities(channel, belief(prior, len(channel.states), "the prior"))
    posteriors = [
        tuple(p * w / chance for p, w in zip(row, prior, strict=True))
        for row, chance in zip(channel.rows, chances, strict=True)
        if chance
    ]
    return hyper(channel.states, posteriors, [chance for chance in chances if chance])


def hyper_of(mechanism: Mechanism, listed: StatedProblem | None = None) -> Hyper:
    """The distribution of posteriors about databases (or histograms) that a mechanism induces."""
    reads_databases = mechanism.summary.ordered
    known = listed if listed is not None else stated(mechanism.problem, "databases" if reads_databases else "finest")
    return hyper_of_channel(channel_of(mechanism, known), known.prior)


def statistic_hyper(found: Hyper, listed: StatedProblem) -> Hyper:
    """A hyper about databases or histograms, projected onto the statistic."""
    from discreet.numerics.exact import format_exact

    return found.project(listed.omega_of, listed.omegas, [format_exact(omega) for omega in listed.omegas])
