"""Beliefs: a prior spelled out over atoms, with the value of the statistic at each.

An atom is a histogram, a database, a listed name, or (for many respondents) a total of the summary with its
value of ω. The law of the histogram is enough whenever neither summary nor statistic looks at the order of
respondents, whatever the prior; otherwise whole databases are listed. Weights are logarithms, and exact
rationals when asked for.

Notation: π → prior, ω → statistic. Any prior of `model` can be used, also one that differs from the designer's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.interpret.total_laws import affine, joint_law, total_law
from discreet.interpret.urn_laws import urn_law
from discreet.model.mechanism import Mechanism
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExactWeights,
    IidPrior,
    MixturePrior,
    Prior,
    ReferencePrior,
    on_names,
)
from discreet.model.priors.weights import over_one_denominator
from discreet.model.states import MOST_DATABASES
from discreet.model.statistic import Statistic, of_database, on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import MOST_STATES, AnyUniverse, ListedUniverse, Universe
from discreet.numerics.arrays import Floats
from discreet.numerics.logspace import log_factorial, log_gamma, log_multinomial_pmf

MOST_EXACT = 100_000
"""The most atoms whose posterior is computed in rationals."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Atoms [atom, coordinate], log prior weights, and ω as positions in the ascending `values`."""

    universe: AnyUniverse
    kind: str
    vectors: np.ndarray
    log_weights: Floats
    values: tuple[Fraction, ...]
    omega: np.ndarray
    exact: ExactWeights | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The label of each atom: a histogram "38,2,0", a database "0,1,1", or a name."""
        if isinstance(self.universe, ListedUniverse):
            return self.universe.names
        return tuple(",".join(map(str, row)) for row in self.vectors.tolist())

    @cached_property
    def numbers(self) -> Floats:
        """The values of the statistic as floats."""
        return np.array([float(v) for v in self.values])


def beliefs(
    mechanisms: Sequence[Mechanism],
    prior: Prior | None = None,
    *,
    exact: bool = False,
    statistic: Statistic | None = None,
) -> Beliefs:
    """The prior (the problem's own when none is given) on atoms fine enough for all these mechanisms."""
    if not mechanisms:
        raise InputError(
            "There is no mechanism to read",
            found="none",
            allowed="at least one",
            remedy="give the mechanism's file",
        )
    problem = mechanisms[0].problem
    for other in mechanisms[1:]:
        if other.problem.universe != problem.universe:
            raise InputError(
                "The mechanisms speak of different universes",
                found="two different [data] sections",
                allowed="mechanisms about the same databases",
                remedy="read them one by one",
            )
    prior = problem.prior if prior is None else prior
    statistic = problem.statistic if statistic is None else statistic
    prior.check(problem.universe)
    statistic.check(problem.universe)
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        rows = np.arange(len(universe.names))[:, None]
        return _built(universe, "name", rows, on_names(prior, universe), [
            statistic.of_label(name) for name in universe.names  # type: ignore[union-attr]
        ])  # fmt: skip
    ordered = statistic.ordered or any(m.summary.ordered for m in mechanisms)
    if ordered:
        return _on_databases(universe, prior, statistic)
    if universe.histogram_count <= (MOST_EXACT if exact else MOST_STATES):
        return _on_histograms(universe, prior, statistic, exact)
    if exact:
        raise TooLarge(
            "There are too many histograms for an exact posterior",
            size=f"{universe.histogram_count:,}",
            fits=f"{MOST_EXACT:,}",
            remedy="ask for floating point",
        )
    return _on_totals(mechanisms, universe, prior, statistic)


def log_histogram_law(vectors: np.ndarray, prior: Prior, universe: Universe) -> Floats:
    """log P(h) of each histogram, fast where the prior has a formula."""
    if isinstance(prior, (IidPrior, ReferencePrior)):
        iid = prior.iid if isinstance(prior, ReferencePrior) else prior
        logs = log_multinomial_pmf(vectors, np.array([float(p) for p in iid.probabilities]))
        return logs + _log_sizes(vectors, iid.size, universe)
    if isinstance(prior, DirichletMultinomialPrior):
        c = np.array([float(x) for x in prior.concentration])
        n = vectors.sum(axis=1)
        rises = (log_gamma(c + vectors) - log_gamma(c)).sum(axis=1)
        total = log_gamma(c.sum() + n) - log_gamma(c.sum())
        ways = log_factorial(n) - log_factorial(vectors).sum(axis=1)
        return np.asarray(ways + rises - total + _log_sizes(vectors, prior.size, universe))
    if isinstance(prior, MixturePrior):
        parts = [np.log(float(w)) + log_histogram_law(vectors, one, universe) for w, one in prior.parts]
        return np.asarray(np.logaddexp.reduce(parts, axis=0))
    return prior.on_histograms(vectors, universe).logs()


def _log_sizes(vectors: np.ndarray, size: tuple[Fraction, ...] | None, universe: Universe) -> Floats | float:
    if size is None:
        return 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([float(p) for p in size]))
    return np.asarray(logs[vectors.sum(axis=1) - universe.smallest])


def _on_histograms(universe: Universe, prior: Prior, statistic: Statistic, exact: bool) -> Beliefs:
    vectors = universe.histograms()
    omegas = on_histograms(statistic, vectors, universe)
    if exact:
        return _built(universe, "histogram", vectors, prior.on_histograms(vectors, universe), omegas)
    values, omega = _ranked(omegas)
    return Beliefs(universe, "histogram", vectors, log_histogram_law(vectors, prior, universe), values, omega)


def _on_databases(universe: Universe, prior: Prior, statistic: Statistic) -> Beliefs:
    universe.must_list(universe.database_count, "databases", MOST_DATABASES)
    rows = list(universe.databases())
    weights = over_one_denominator([prior.of_database(row, universe) for row in rows])
    return _built(universe, "database", np.array(rows), weights, [of_database(statistic, row, universe) for row in rows])


def _built(universe: AnyUniverse, kind: str, vectors: np.ndarray, weights: ExactWeights, omegas: Sequence[Fraction]) -> Beliefs:
    values, omega = _ranked(omegas)
    return Beliefs(universe, kind, vectors, weights.logs(), values, omega, weights)


def _ranked(omegas: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], np.ndarray]:
    values = tuple(sorted(set(omegas)))
    at = {value: i for i, value in enumerate(values)}
    return values, np.array([at[omega] for omega in omegas], dtype=np.int64)


def _on_totals(mechanisms: Sequence[Mechanism], universe: Universe, prior: Prior, statistic: Statistic) -> Beliefs:
    """Many respondents, iid or from an urn, read through a weighted sum S: the law of (S, ω), or of S where that says ω."""
    summaries = {m.summary for m in mechanisms}
    summary = next(iter(summaries))
    weights = statistic.weights(universe)
    iid = prior.iid if isinstance(prior, ReferencePrior) else prior
    summed = len(summaries) == 1 and universe.fixed
    if summed and isinstance(summary, LinearSummary) and weights is not None and isinstance(iid, DirichletMultinomialPrior):
        pairs = urn_law(universe.respondents, iid.concentration, summary.weights, weights)
        return Beliefs(universe, "total", pairs.totals[:, None], pairs.logs, pairs.values, pairs.omega)
    if not summed or not isinstance(summary, LinearSummary) or weights is None or not isinstance(iid, IidPrior):
        raise TooLarge(
            "There are too many histograms to list",
            size=f"{universe.histogram_count:,}",
            fits=f"{MOST_STATES:,}",
            remedy="use an iid or exchangeable prior and a mechanism that reads a weighted sum",
        )
    chances = np.array([float(p) for p in iid.probabilities])
    line = affine(summary.weights, weights)
    if line is None:
        law = joint_law(universe.respondents, chances, summary.weights, weights)
        return Beliefs(universe, "total", law.totals[:, None], law.logs, law.values, law.omega)
    slope, shift = line
    totals, logs = total_law(universe.respondents, chances, summary.weights)
    reached = np.isfinite(logs)
    totals, logs = totals[reached], logs[reached]
    scale = lcm(slope.denominator, shift.denominator)
    step, start = int(slope * scale), int(shift * universe.respondents * scale)
    omegas = [Fraction(step * s + start, scale) for s in totals.tolist()]
    order = np.arange(len(omegas)) if slope >= 0 else np.arange(len(omegas))[::-1]
    values = tuple(omegas[i] for i in order.tolist())
    omega = np.empty(len(omegas), dtype=np.int64)
    omega[order] = np.arange(len(omegas))
    return Beliefs(universe, "total", totals[:, None], logs, values, omega)
