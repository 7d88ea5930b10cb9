"""Predictive checks: would these published values be a surprise under this prior?

prior predictive      p(s) = Σ_x π(x) m(s|x)
posterior predictive  p(s′|s) = Σ_x π(x|s) m(s′|x), for a second, independent publication about the same database
tail probability      Σ p(s′) over outputs s′ no likelier than s: small means that prior and value are in conflict
table check           Pearson's X² of the outputs of many cells against p(s), neighbouring outputs merged

Cells of several sizes have laws p_g of their own: outputs are merged into the same shares of each law (its tenths, say), and
with d = observed − expected over these bins X² = dᵀV⁻d, V = Σ_g n_g (diag p_g − p_g p_gᵀ), is χ² with as many degrees as V has
ranks; for one law it is Pearson's. Where the law was fitted to the same cells the truth lies between that and χ² with one degree
less for each parameter, so the p-value given here is the larger of the two.

BG section 6 (prior predictive, conflict); Evans & Moshonov (2006) for the tail probability; Chernoff & Lehmann (1954).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.interpret.beliefs import beliefs
from discreet.interpret.channel import Outputs, output_count, output_logs, position_of, positions_of
from discreet.interpret.reading import grouped
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.arrays import Floats
from discreet.numerics.digits import about, percent_given
from discreet.numerics.logspace import log_sum_exp

LEAST_EXPECTED = 5
"""Expected number of cells below which outputs are merged, so that X² is close to its limit law."""
MOST_BINS = 20
ALARM = 1e-3
"""The p-value below which a fitted model is called wrong: one true model in a thousand, or fewer, is."""
TIE = 1e-9


@dataclass(frozen=True)
class TableCheck:
    """Pearson's statistic over merged outputs and its approximate p-value."""

    statistic: float
    degrees: int
    p_value: float
    cells: int


def prior_predictive(mechanism: Mechanism, prior: Prior | None = None) -> Floats:
    """p(s) for every output."""
    return np.exp(_log_predictive(mechanism, prior, None))


def posterior_predictive(mechanism: Mechanism, output: str | int | Fraction, prior: Prior | None = None) -> Floats:
    """p(s′|s): what a second publication about the same database would say."""
    return np.exp(_log_predictive(mechanism, prior, position_of(mechanism, output)))


def tail_probability(mechanism: Mechanism, output: str | int | Fraction, prior: Prior | None = None) -> float:
    """The probability of publishing a value no likelier than this one."""
    law = prior_predictive(mechanism, prior)
    here = law[position_of(mechanism, output)]
    return float(min(1.0, law[law <= here * (1 + TIE)].sum()))


def check_table(
    mechanism: Mechanism,
    outputs: Outputs,
    prior: Prior | None = None,
) -> TableCheck:
    """Whether the outputs of many independent cells look like draws from the prior predictive law."""
    law = prior_predictive(mechanism, prior)
    places = positions_of(mechanism, outputs)
    found = check_laws([(law, np.bincount(places, minlength=len(law)).astype(np.float64))])
    if found is None:
        raise InputError(
            "There are too few cells to check",
            found=f"{len(places)} cells",
            allowed=f"enough that two shares of the outputs are each expected {LEAST_EXPECTED} times",
            remedy="check single values with their tail probability",
        )
    return found


def check_laws(groups: Sequence[tuple[Floats, Floats]]) -> TableCheck | None:
    """Pearson's check of groups (law of the outputs, how often each was published); None when cells are too few."""
    from scipy.stats import chi2

    cells = int(sum(counts.sum() for _, counts in groups))
    shares = min(MOST_BINS, cells // LEAST_EXPECTED)
    if shares < 2:
        return None
    observed, expected, spread = np.zeros(shares), np.zeros(shares), np.zeros((shares, shares))
    for law, counts in groups:
        chances = law / law.sum()
        bins = np.minimum((shares * (np.cumsum(chances) - chances / 2)).astype(np.int64), shares - 1)
        p, size = np.bincount(bins, chances, shares), counts.sum()
        observed += np.bincount(bins, counts, shares)
        expected += size * p
        spread += size * (np.diag(p) - np.outer(p, p))
    merge = _merged(expected)
    if len(merge) < 2:
        return None
    away, spread = merge @ (observed - expected), merge @ spread @ merge.T
    degrees = int(np.linalg.matrix_rank(spread, tol=1e-9 * cells, hermitian=True))
    statistic = float(away @ np.linalg.pinv(spread, rcond=1e-9, hermitian=True) @ away)
    return TableCheck(statistic, degrees, float(chi2.sf(statistic, degrees)), cells)


def misfit_words(check: TableCheck | None, level: float) -> tuple[str, ...]:
    """What a check says against a fitted model, if it does: one sentence, or none."""
    if check is None or check.p_value >= ALARM:
        return ()
    return (
        f"The model does not fit: published values as far from it as these have probability about {about(check.p_value, 2)} "
        f"under it (X² = {about(check.statistic)} with {check.degrees} degrees of freedom, {check.cells:,} cells). Its standard "
        f"errors and {percent_given(level)} intervals cannot be relied on; let the parameter vary between cells, or split them.",
    )


def _merged(expected: Floats) -> Floats:
    """Which neighbouring bins [merged, bin] together are expected often enough for X² to be near its limit law."""
    rows: list[Floats] = []
    current = np.zeros(len(expected))
    for place, amount in enumerate(expected):
        current[place] = 1.0
        if amount > 0 and current @ expected >= LEAST_EXPECTED:
            rows.append(current)
            current = np.zeros(len(expected))
    if current.any() and rows:
        rows[-1] = rows[-1] + current
    return np.array(rows)


def _log_predictive(mechanism: Mechanism, prior: Prior | None, given: int | None) -> Floats:
    held = beliefs([mechanism], prior)
    _, log_states, atoms = grouped(mechanism, held)
    logs = output_logs(mechanism, np.arange(output_count(mechanism)), held.vectors[atoms], held.kind)
    if given is not None:
        log_states = log_states + logs[given]
        log_states = log_states - log_sum_exp(log_states)
    return log_sum_exp(logs + log_states, axis=1)
