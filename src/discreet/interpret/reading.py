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
    output_at,
    output_count,
    output_logs,
    places_at,
    positions_of,
)
from discreet.interpret.regions import check_level, equal_tailed_positions
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.arrays import Floats

MOST_ENTRIES = 50_000_000
"""The most entries [output, value] of a table of posteriors that is kept."""
MOST_WORK = 1_000_000_000
"""The most entries that are computed, a piece at a time."""


class Cells(NamedTuple):
    """Posterior mean and credible interval of each published cell."""

    mean: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Readings:
    """One row for each output of a mechanism. An output of probability zero has NaN as its mean and interval.

    `covered` is the posterior probability that each output's interval holds.
    """

    mechanism: Mechanism
    level: float
    values: tuple[Fraction, ...]
    log_probability: Floats
    table: Floats
    standard_deviation: Floats
    covered: Floats
    held: Beliefs

    @property
    def mean(self) -> Floats:
        """E[ω|s] of each output."""
        return np.asarray(self.table[:, 0])

    @property
    def lower(self) -> Floats:
        """Lower end of the interval of each output."""
        return np.asarray(self.table[:, 1])

    @property
    def upper(self) -> Floats:
        """Upper end of the interval of each output."""
        return np.asarray(self.table[:, 2])

    @cached_property
    def posteriors(self) -> Floats:
        """The whole posterior of every output [output, value], where that fits."""
        if self.table.shape[0] * len(self.values) > MOST_ENTRIES:
            raise TooLarge(
                "There are too many posteriors to keep",
                size=f"{len(self.table):,} outputs × {len(self.values):,} values",
                fits=f"{MOST_ENTRIES:,} entries",
                remedy="ask for the posteriors of single outputs",
            )
        return posterior_rows(self.mechanism, self.held, np.arange(len(self.table)))[0]

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
        return float(np.nansum(np.exp(self.log_probability) * self.covered))

    def labels(self) -> list[str]:
        """The label of each output."""
        return [output_at(self.mechanism, i).label for i in range(len(self.table))]


def readings(mechanism: Mechanism, prior: Prior | None = None, *, level: float = 0.9) -> Readings:
    """Every output's posterior about the statistic, with mean and equal-tailed interval."""
    level = check_level(level)
    held = beliefs([mechanism], prior)
    outputs, width = output_count(mechanism), len(held.values)
    if outputs * width > MOST_WORK:
        raise TooLarge(
            "There are too many posteriors to compute",
            size=f"{outputs:,} outputs × {width:,} values",
            fits=f"{MOST_WORK:,} entries",
            remedy="read the outputs that were published one by one",
        )
    numbers = held.numbers
    chunk = max(1, MOST_ENTRIES // 8 // width)
    pieces = []
    for start in range(0, outputs, chunk):
        rows, logs = posterior_rows(mechanism, held, np.arange(start, min(start + chunk, outputs)))
        # Of a hundred thousand values all but some thousand have probability 0 in every row.
        seen = np.flatnonzero((rows > 0).any(axis=0))
        here = slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) else slice(0, 1)
        rows, there = np.nan_to_num(rows[:, here]), numbers[here]
        first, last = equal_tailed_positions(rows, level)
        means = rows @ there
        spread = np.sqrt(np.maximum(rows @ there**2 - means**2, 0.0))
        sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
        line = np.arange(len(rows))
        covered = sums[line, last + 1] - sums[line, first]
        pieces.append(np.column_stack([means, there[first], there[last], spread, covered, logs]))
    whole = np.concatenate(pieces)
    whole[~np.isfinite(whole[:, 5]), :5] = np.nan
    return Readings(
        mechanism,
        level,
        held.values,
        whole[:, 5],
        np.ascontiguousarray(whole[:, :3]),
        whole[:, 3],
        whole[:, 4],
        held,
    )


def posterior_rows(mechanism: Mechanism, held: Beliefs, places: np.ndarray) -> tuple[Floats, Floats]:
    """Posteriors [output, value of ω] and log probabilities of the outputs at these positions."""
    from scipy.sparse import csr_matrix

    groups, log_states, representatives = grouped(mechanism, held)
    inside = np.exp(held.log_weights - log_states[groups])
    shares = csr_matrix(
        (np.where(np.isfinite(log_states[groups]), inside, 0.0), (groups, held.omega)),
        shape=(len(log_states), len(held.values)),
    )
    logs = output_logs(mechanism, places, held.vectors[representatives], held.kind) + log_states
    peak = logs.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled = np.exp(logs - peak)
    totals = scaled.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        scaled /= totals
    if shares.nnz == len(log_states) == len(set(shares.indices.tolist())):
        # Every state has a value of ω of its own: a permutation, which needs no product.
        rows = np.zeros((len(scaled), len(held.values)))
        rows[:, shares.indices] = scaled
    else:
        rows = np.asarray(scaled @ shares)
    evidence = np.where(np.isfinite(peak), np.log(totals) + peak, -np.inf)
    return rows, np.asarray(evidence[:, 0], dtype=np.float64)


def grouped(mechanism: Mechanism, held: Beliefs) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Atoms grouped by state: the group of each atom, the log prior of each group, one atom of each group."""
    keys = places_at(mechanism, held.vectors, held.kind)
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
