"""Predictive checks: would these published values be a surprise under this prior?

prior predictive      p(s) = Σ_x π(x) m(s|x)
posterior predictive  p(s′|s) = Σ_x π(x|s) m(s′|x), for a second, independent publication about the same database
tail probability      Σ p(s′) over outputs s′ no likelier than s: small means that prior and value are in conflict
table check           Pearson's X² of the outputs of many cells against p(s), rare outputs merged

BG section 6 (prior predictive, conflict); Evans & Moshonov (2006) for the tail probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.interpret.beliefs import beliefs
from discreet.interpret.channel import Outputs, output_count, position_of, positions_of
from discreet.interpret.reading import grouped, output_logs
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.logspace import log_sum_exp

Array = NDArray[np.float64]
LEAST_EXPECTED = 5.0
"""Expected number of cells below which outputs are merged, so that X² is close to its limit law."""
TIE = 1e-9


@dataclass(frozen=True)
class TableCheck:
    """Pearson's statistic over merged outputs and its approximate p-value."""

    statistic: float
    degrees: int
    p_value: float
    cells: int


def prior_predictive(mechanism: Mechanism, prior: Prior | None = None) -> Array:
    """p(s) for every output."""
    return np.exp(_log_predictive(mechanism, prior, None))


def posterior_predictive(
    mechanism: Mechanism, output: str | int | Fraction, prior: Prior | None = None
) -> Array:
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
    from scipy.stats import chi2

    law = prior_predictive(mechanism, prior)
    places = positions_of(mechanism, outputs)
    counts = np.bincount(places, minlength=len(law)).astype(np.float64)
    expected = law * len(places)
    order = np.argsort(expected)
    # The rarest outputs are merged into the first bin until it is large enough.
    merged = int(np.searchsorted(np.cumsum(expected[order]), LEAST_EXPECTED)) + 1
    while merged < len(order) and expected[order[merged]] < LEAST_EXPECTED:
        merged += 1
    bins_seen = np.concatenate([[counts[order[:merged]].sum()], counts[order[merged:]]])
    bins_expected = np.concatenate([[expected[order[:merged]].sum()], expected[order[merged:]]])
    if len(bins_seen) < 2:
        raise InputError(
            "There are too few cells to check",
            found=f"{len(places)} cells",
            allowed=f"enough that two outputs are each expected {LEAST_EXPECTED:g} times",
            remedy="check single values with their tail probability",
        )
    statistic = float(np.sum((bins_seen - bins_expected) ** 2 / bins_expected))
    degrees = len(bins_seen) - 1
    return TableCheck(statistic, degrees, float(chi2.sf(statistic, degrees)), len(places))


def _log_predictive(mechanism: Mechanism, prior: Prior | None, given: int | None) -> Array:
    held = beliefs([mechanism], prior)
    _, log_states, atoms = grouped(mechanism, held)
    logs = output_logs(mechanism, held, atoms, np.arange(output_count(mechanism)))
    if given is not None:
        log_states = log_states + logs[given]
        log_states = log_states - log_sum_exp(log_states)
    return log_sum_exp(logs + log_states, axis=1)
