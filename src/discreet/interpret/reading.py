"""Reading a whole table: what every possible published value means, computed once, then looked up for each cell.

For each output s: probability, posterior mean, standard deviation, equal-tailed interval. A release of a
million cells is then a gather: `Readings.of(outputs)` returns means and intervals in one indexing step.

R[output, state] ∝ π(state) m(s|state) in logarithms; times C[state, ω] = π(ω | state), a sparse matrix. BG eq. (9).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, TooLarge
from discreet.interpret.beliefs import Beliefs, beliefs
from discreet.interpret.channel import (
    Outputs,
    log_likelihood,
    output_at,
    output_count,
    positions_of,
    states_at,
    totals_at,
)
from discreet.interpret.regions import check_level, equal_tailed_positions
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior

Array = NDArray[np.float64]
MOST_ENTRIES = 50_000_000
"""The most entries [output, value] of a table of posteriors."""


class Cells(NamedTuple):
    """Posterior mean and credible interval of each published cell."""

    mean: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class Readings:
    """One row for each output of a mechanism. An output of probability zero has NaN as its mean and interval."""

    mechanism: Mechanism
    level: float
    values: tuple[Fraction, ...]
    posteriors: Array
    log_probability: Array
    table: Array

    @property
    def mean(self) -> Array:
        """E[ω|s] of each output."""
        return np.asarray(self.table[:, 0])

    @property
    def lower(self) -> Array:
        """Lower end of the interval of each output."""
        return np.asarray(self.table[:, 1])

    @property
    def upper(self) -> Array:
        """Upper end of the interval of each output."""
        return np.asarray(self.table[:, 2])

    @cached_property
    def standard_deviation(self) -> Array:
        """Posterior standard deviation of each output."""
        numbers = np.array([float(v) for v in self.values])
        second = self.posteriors @ numbers**2
        return np.sqrt(np.maximum(second - self.mean**2, 0.0))

    def of(self, outputs: Outputs) -> Cells:
        """Means and intervals of many published cells, given as labels or as numbers."""
        return self.at(positions_of(self.mechanism, outputs))

    def at(self, positions: NDArray[np.integer]) -> Cells:
        """Means and intervals of many published cells, given as positions in the mechanism's list of outputs."""
        if positions.size and int(positions.min()) < 0:
            raise InputError(
                "There is no output at this position",
                found=str(int(positions.min())),
                allowed=f"0 to {len(self.table) - 1}",
                remedy="give positions in the mechanism's list of outputs",
            )
        try:
            found = np.take(self.table, positions, axis=0)
        except IndexError:
            raise InputError(
                "There is no output at this position",
                found=str(int(positions.max())),
                allowed=f"0 to {len(self.table) - 1}",
                remedy="give positions in the mechanism's list of outputs",
            ) from None
        return Cells(found[:, 0], found[:, 1], found[:, 2])

    def coverage(self) -> float:
        """The probability, under prior and mechanism, that the interval holds the truth."""
        inside = self._inside()
        weights = np.exp(self.log_probability)
        return float(np.nansum(weights * (self.posteriors * inside).sum(axis=1)))

    def _inside(self) -> NDArray[np.bool_]:
        numbers = np.array([float(v) for v in self.values])
        return (numbers >= self.lower[:, None]) & (numbers <= self.upper[:, None])

    def labels(self) -> list[str]:
        """The label of each output."""
        return [output_at(self.mechanism, i).label for i in range(len(self.table))]


def readings(mechanism: Mechanism, prior: Prior | None = None, *, level: float = 0.9) -> Readings:
    """Every output's posterior about the statistic, with mean and equal-tailed interval."""
    level = check_level(level)
    held = beliefs([mechanism], prior)
    outputs = output_count(mechanism)
    if outputs * len(held.values) > MOST_ENTRIES:
        raise TooLarge(
            "There are too many posteriors to tabulate",
            size=f"{outputs:,} outputs × {len(held.values):,} values",
            fits=f"{MOST_ENTRIES:,} entries",
            remedy="read the outputs that were published one by one",
        )
    posteriors, evidence = posterior_rows(mechanism, held, np.arange(outputs))
    numbers = held.numbers
    with np.errstate(invalid="ignore"):
        first, last = equal_tailed_positions(np.nan_to_num(posteriors), level)
    table = np.column_stack([posteriors @ numbers, numbers[first], numbers[last]])
    table[~np.isfinite(evidence)] = np.nan
    return Readings(mechanism, level, held.values, posteriors, evidence, np.ascontiguousarray(table))


def posterior_rows(mechanism: Mechanism, held: Beliefs, places: np.ndarray) -> tuple[Array, Array]:
    """Posteriors [output, value of ω] and log probabilities of the outputs at these positions."""
    from scipy.sparse import csr_matrix

    groups, log_states, representatives = grouped(mechanism, held)
    inside = np.exp(held.log_weights - log_states[groups])
    shares = csr_matrix(
        (np.where(np.isfinite(log_states[groups]), inside, 0.0), (groups, held.omega)),
        shape=(len(log_states), len(held.values)),
    )
    logs = output_logs(mechanism, held, representatives, places) + log_states
    peak = logs.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled = np.exp(logs - peak)
    totals = scaled.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        rows = np.asarray((scaled / totals) @ shares)
    return rows, np.asarray((np.log(totals) + peak)[:, 0], dtype=np.float64)


def grouped(mechanism: Mechanism, held: Beliefs) -> tuple[np.ndarray, Array, np.ndarray]:
    """Atoms grouped by state: the group of each atom, the log prior of each group, one atom of each group."""
    if isinstance(mechanism.kernel, TableKernel):
        keys = states_at(mechanism, held.vectors, held.kind)
    else:
        keys = totals_at(mechanism, held.vectors, held.kind)
    _, representatives, groups = np.unique(keys, return_index=True, return_inverse=True)
    groups = groups.reshape(-1)
    peak = float(np.max(held.log_weights))
    sums = np.zeros(len(representatives))
    tops = np.full(len(representatives), -np.inf)
    np.maximum.at(tops, groups, held.log_weights)
    shift = np.where(np.isfinite(tops), tops, peak)
    np.add.at(sums, groups, np.exp(held.log_weights - shift[groups]))
    with np.errstate(divide="ignore"):
        return groups, np.log(sums) + shift, representatives


def output_logs(mechanism: Mechanism, held: Beliefs, atoms: np.ndarray, places: np.ndarray) -> Array:
    """log m(s|x) for outputs at `places` and the given atoms."""
    vectors = held.vectors[atoms]
    if isinstance(mechanism.kernel, TableKernel):
        states = states_at(mechanism, vectors, held.kind)
        return np.asarray(mechanism.log_probabilities[np.ix_(places, states)])
    return np.stack([log_likelihood(mechanism, int(p), vectors, held.kind) for p in places])
