"""Is the published value right on average? Proved in whole numbers, at every state.

Everywhere: Σ_a a·m(a|h) = ω(h) for every database, likely or not. States are compared one by one: histograms, databases, or, where
the summary is the statistic itself up to a unit and an origin, totals. Geometric noise whose ends are read as what they stand for
needs no list: beyond an end the noise has forgotten where it started, so the tail gathered at `high` has mean high + r/(1−r)
whatever the total, and inner outputs read as themselves leave every total unbiased.

Nearby: Σ_h π(h)·b(h) = 0 and Σ_h π(h)·b(h)·n_t(h) = 0 for every type t, b(h) the bias at h; the first makes the others covariances.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.model.certificate import Counterexample
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem, believed
from discreet.model.statistic import of_database, of_name, on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.exact import brief, counted, format_exact

MOST_LISTED = 120_000
MOST_WRITTEN = 500
"""Outputs of a closed form whose means are taken one by one."""


@dataclass(frozen=True)
class UnbiasedProof:
    """The value is unbiased in this way; `states` were compared, none where a lemma speaks for all."""

    kind: str
    states: int


def unbiased(mechanism: Mechanism) -> UnbiasedProof | Counterexample | None:
    """The proof that the mechanism is unbiased as its problem asks, or where it is not; None when nothing is asked.

    Raises `TooLarge` where it can be neither proved nor refuted.
    """
    wanted = mechanism.problem.unbiased
    if wanted is None:
        return None
    if any(not isinstance(action, Fraction) for action in mechanism.kernel.recommended or (None,)):
        return Counterexample("unbiased", "Some output recommends no number, so nothing can be right on average")
    if wanted == "everywhere" or not _listable(mechanism.problem):
        return _everywhere(mechanism)
    if affine(mechanism) is not None:  # right everywhere is right nearby, and totals alone tell: no state is listed
        found = _everywhere(mechanism)
        if isinstance(found, UnbiasedProof):
            return found
    return _nearby(mechanism)


def _everywhere(mechanism: Mechanism) -> UnbiasedProof | Counterexample:
    line = affine(mechanism)
    if isinstance(mechanism.kernel, GeometricKernel) and line is not None:
        return _memoryless(mechanism.kernel, *line)
    means, numbers = state_means(mechanism)
    if line is not None:
        origin, unit = line
        expected = [origin + unit * int(v) for v in mechanism.space.vectors[:, 0]]
        labels: tuple[str, ...] = mechanism.space.labels
        at = list(range(len(means)))
    else:
        if not _listable(mechanism.problem):
            raise _too_many(mechanism.problem)
        labels, expected, at = _ground(mechanism)
    for label, mean, omega in zip(labels, (means[i] for i in at), expected, strict=True):
        if mean != omega * numbers:
            return Counterexample(
                "unbiased",
                f"The published value is biased at state {label}",
                found=_off(mean / numbers - omega),
                allowed=f"exactly {brief(omega)} on average",
            )
    return UnbiasedProof("everywhere", len(labels))


def _memoryless(kernel: GeometricKernel, origin: Fraction, unit: Fraction) -> UnbiasedProof | Counterexample:
    """The lemma for geometric noise: inner outputs read as themselves, the ends as the mean of the tails they stand for."""
    beyond = kernel.ratio / (1 - kernel.ratio)
    actions = kernel.actions or ()
    for k, action in enumerate(actions):
        at = kernel.low + k
        place = at - beyond if at == kernel.low else at + beyond if at == kernel.high else Fraction(at)
        if action != origin + unit * place:
            assert isinstance(action, Fraction)
            return Counterexample(
                "unbiased",
                f"Output {at} is read as another number than the noise there stands for",
                found=brief(action),
                allowed=brief(origin + unit * place),
            )
    return UnbiasedProof("everywhere", 0)


def _nearby(mechanism: Mechanism) -> UnbiasedProof | Counterexample:
    problem = mechanism.problem
    means, numbers = state_means(mechanism)
    labels, expected, at = _ground(mechanism)
    space = problem.finest()
    weights = believed(problem, space).weights.numerators
    vectors = np.asarray(space.vectors)
    counts = vectors
    if not problem.exchangeable:
        counts = problem.people.histograms_of(vectors)
    top = lcm(*(w.denominator for w in expected), *(m.denominator for m in means))
    bias = [int((means[i] - w * numbers) * top) * weight for i, w, weight in zip(at, expected, weights, strict=True)]
    off = Fraction(sum(bias), top * numbers * sum(weights))
    if off:
        return Counterexample("unbiased", "The published value is biased on average over the prior", found=_off(off), allowed="0")
    for t in range(problem.people.types):
        off = Fraction(sum(b * int(n) for b, n in zip(bias, counts[:, t], strict=True)), top * numbers * sum(weights))
        if off:
            return Counterexample(
                "unbiased",
                f"The error of the published value moves with the count of type {t}",
                found=f"a covariance, {_off(off)}",
                allowed="0",
            )
    return UnbiasedProof("nearby", len(labels))


def state_means(mechanism: Mechanism) -> tuple[list[Fraction], int]:
    """E[a | state] times a whole number, for every state; a closed form is written out where that is not too large."""
    kernel = mechanism.kernel
    if not kernel.by_state and kernel.width > MOST_WRITTEN:
        raise TooLarge(
            "The mean of this kernel at each state is not proved",
            size=f"{counted(kernel.width)} outputs of a closed form",
            fits=f"{MOST_WRITTEN:,}, or geometric noise on the statistic",
            remedy="write the kernel as a table",
        )
    actions = [a for a in kernel.recommended or () if isinstance(a, Fraction)]
    bottom = lcm(*(a.denominator for a in actions))
    scaled = [a.numerator * (bottom // a.denominator) for a in actions]
    weights, whole = mechanism.integer_table()
    columns = zip(*weights, strict=True)
    return [Fraction(sum(a * w for a, w in zip(scaled, column, strict=True)), bottom) for column in columns], whole


def affine(mechanism: Mechanism) -> tuple[Fraction, Fraction] | None:
    """(origin, unit) with ω = origin + unit·total at every database; None when the summary is not the statistic in other units."""
    problem, summary = mechanism.problem, mechanism.summary
    universe = problem.universe
    values = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if values is None or not isinstance(summary, LinearSummary) or not isinstance(universe, Universe):
        return None
    if summary.range(universe) != LinearSummary(summary.weights).range(universe):
        return None
    pairs = list(zip(summary.weights, values, strict=True))
    (w, v), (x, y) = min(pairs), max(pairs)
    unit = (y - v) / (x - w) if x != w else Fraction(0)
    base = v - unit * w
    if any(value != base + unit * weight for weight, value in pairs) or (base and not universe.fixed):
        return None
    return (base * universe.respondents if universe.fixed else Fraction(0)), unit


def _ground(mechanism: Mechanism) -> tuple[tuple[str, ...], list[Fraction], list[int]]:
    """Labels, statistic and the mechanism's state of every histogram, or of every database where order or names matter."""
    problem, universe = mechanism.problem, mechanism.problem.universe
    if isinstance(universe, ListedUniverse):
        return universe.names, [of_name(problem.statistic, name) for name in universe.names], list(range(len(universe.names)))
    space = problem.finest()
    vectors = np.asarray(space.vectors)
    if problem.exchangeable:
        return space.labels, list(on_histograms(problem.statistic, vectors, universe)), mechanism.states_of(vectors).tolist()
    omegas = [of_database(problem.statistic, row, universe) for row in vectors.tolist()]
    if not mechanism.summary.ordered:
        vectors = universe.histograms_of(vectors)
    return space.labels, omegas, mechanism.states_of(vectors).tolist()


def _listable(problem: Problem) -> bool:
    universe = problem.universe
    if not isinstance(universe, Universe):
        return True
    return (universe.histogram_count if problem.exchangeable else universe.database_count) <= MOST_LISTED


def _too_many(problem: Problem) -> TooLarge:
    universe = problem.people
    return TooLarge(
        "There are too many states to prove each unbiased",
        size=counted(universe.histogram_count),
        fits=f"{MOST_LISTED:,}",
        remedy="let the mechanism read the statistic itself",
    )


def _off(number: Fraction) -> str:
    text = format_exact(number)
    return f"off by {text}" if len(text) <= 40 else f"off by about {float(number):.3g}"
