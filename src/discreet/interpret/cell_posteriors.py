"""Posteriors of many cells at once, each with a bound on its rounding: the summands of totals.

P(ω | s_1 … s_k) ∝ Σ_{x: ω(x) = ω} π(x) Π_j m_j(s_j | x). With table kernels and a prior that can be listed, numerators are whole
numbers and each probability is the nearest double to the exact one: in all off by at most 2^−52. Otherwise logarithms are added in
floating point; their error is taken as `ULPS` steps of the largest logarithm that enters, where the mathematical library is
assumed to be that good (numerics.outward), and what a window of a transform leaves out (total_laws) counts against the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import expm1, prod

import numpy as np

from discreet.errors import TooLarge
from discreet.interpret.beliefs import MOST_EXACT, Beliefs, beliefs
from discreet.interpret.channel import log_likelihood, states_at
from discreet.interpret.posteriors import impossible
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior, MixturePrior, Prior
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.logspace import log_gamma, log_sum_exp

MOST_PRODUCTS = 4_000_000
"""Whole numbers that are multiplied for exact posteriors."""
MOST_ENTRIES = 50_000_000
EXACT_ERROR = 2.0**-52
ULPS = 64 * 2.0**-52
WINDOW = 1e-11
"""Prior mass that a window of a transform may hold wrongly (total_laws)."""


@dataclass(frozen=True, eq=False)
class CellPosteriors:
    """One row for each combination of outputs: probabilities [row, value], what they are off by in all, log evidence."""

    values: tuple[Fraction, ...]
    probabilities: Floats
    errors: Floats
    log_evidence: Floats
    exact: bool


def cell_posteriors(mechanisms: Sequence[Mechanism], rows: Integers, prior: Prior | None = None) -> CellPosteriors:
    """Posteriors of the statistic after outputs at `rows` [row, mechanism] about the same cell."""
    universe = mechanisms[0].problem.universe
    listed = all(m.kernel.by_state for m in mechanisms)
    count = universe.histogram_count if isinstance(universe, Universe) else len(universe.names)
    if listed and count <= MOST_EXACT and count * len(rows) * len(mechanisms) <= MOST_PRODUCTS:
        return _exactly(beliefs(mechanisms, prior, exact=True), mechanisms, rows)
    return _in_floats(beliefs(mechanisms, prior), mechanisms, rows, prior or mechanisms[0].problem.prior)


def _exactly(held: Beliefs, mechanisms: Sequence[Mechanism], rows: Integers) -> CellPosteriors:
    assert held.exact is not None
    states = np.stack([states_at(m, held.vectors, held.kind) for m in mechanisms] + [held.omega], axis=1)
    groups, which = np.unique(states, axis=0, return_inverse=True)
    prior = [0] * len(groups)
    for group, weight in zip(which.reshape(-1).tolist(), held.exact.numerators, strict=True):
        prior[group] += weight
    tables = [mechanism.table for mechanism in mechanisms]
    bottom = held.exact.denominator * prod(table.denominator for table in tables)
    chances = np.zeros((len(rows), len(held.values)))
    evidence = np.zeros(len(rows))
    columns = groups.T.tolist()
    for i, row in enumerate(rows.tolist()):
        joint = list(prior)
        for table, place, at in zip(tables, row, columns[:-1], strict=True):
            weights = table.weights[place]
            joint = [weight * weights[state] for weight, state in zip(joint, at, strict=True)]
        sums = [0] * len(held.values)
        for omega, weight in zip(columns[-1], joint, strict=True):
            sums[omega] += weight
        total = sum(sums)
        if total == 0:
            raise impossible()
        chances[i] = [weight / total for weight in sums]
        evidence[i] = _log(total) - _log(bottom)
    return CellPosteriors(held.values, chances, np.full(len(rows), EXACT_ERROR), evidence, True)


def _log(number: int) -> float:
    shift = max(number.bit_length() - 1000, 0)
    return float(np.log(float(number >> shift)) + shift * np.log(2.0))


def _in_floats(held: Beliefs, mechanisms: Sequence[Mechanism], rows: Integers, prior: Prior) -> CellPosteriors:
    if len(rows) * len(held.values) > MOST_ENTRIES:
        raise TooLarge(
            "There are too many posteriors to keep",
            size=f"{len(rows):,} outputs × {len(held.values):,} values",
            fits=f"{MOST_ENTRIES:,} entries",
            remedy="ask for the total of fewer cells",
        )
    chances = np.zeros((len(rows), len(held.values)))
    evidence, errors = np.zeros(len(rows)), np.zeros(len(rows))
    known = {j: {place: log_likelihood(m, place, held.vectors, held.kind) for place in set(rows[:, j].tolist())}
             for j, m in enumerate(mechanisms)}  # fmt: skip
    windowed = held.kind == "total" and len(held) != len(held.values)
    base = _largest_logarithm(held, prior)
    for i, row in enumerate(rows.tolist()):
        logs = held.log_weights.copy()
        highest, magnitude = 0.0, base
        for j, place in enumerate(row):
            logs = logs + known[j][place]
            highest += float(known[j][place].max())
        total = float(log_sum_exp(logs))
        if total == -np.inf:
            raise impossible()
        shares = np.exp(logs - total)
        likely = shares > 0
        magnitude += float(np.abs(logs[likely]).max()) + abs(total)
        chances[i] = np.bincount(held.omega, weights=shares, minlength=len(held.values))
        evidence[i] = total
        errors[i] = 2 * expm1(min(ULPS * (1 + magnitude), 1.0))
        if windowed:
            errors[i] += 2 * WINDOW * float(np.exp(min(highest - total, 700.0)))
    return CellPosteriors(held.values, chances, np.minimum(errors, 2.0), evidence, False)


def _largest_logarithm(held: Beliefs, prior: Prior) -> float:
    """The largest logarithm that the prior's formula subtracts; formulas that do not cancel have none."""
    if isinstance(prior, DirichletMultinomialPrior) and isinstance(held.universe, Universe):
        return float(log_gamma(np.array([float(sum(prior.concentration)) + held.universe.largest + 1]))[0])
    if isinstance(prior, MixturePrior):
        return max(_largest_logarithm(held, one) for one in prior.components)
    return 0.0
