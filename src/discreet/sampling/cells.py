"""From histograms to outputs: one draw for each cell, with the mechanism of its size.

    output_c = position drawn from kernel_n(· | summary_n(h_c)),  n = size of cell c (public).

Cells of one size are drawn together; the grouping reads sizes only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, Kernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Integers
from discreet.sampling.closed import ClosedSampler
from discreet.sampling.counted import CountedSampler
from discreet.sampling.table import LazyTableSampler, TableSampler

Sampler = TableSampler | LazyTableSampler | ClosedSampler | CountedSampler


def sampler_of(kernel: Kernel, *, lazy: bool = False) -> Sampler:
    """What draws from a kernel: fixed work by default, lazily read bits for offline batches."""
    match kernel:
        case TableKernel():
            return LazyTableSampler(kernel) if lazy else TableSampler(kernel)
        case ClosedKernel() | GaussianKernel():
            return ClosedSampler(kernel, lazy=lazy)
        case CountedKernel():
            return CountedSampler(kernel, lazy=lazy)


def draw_outputs(mechanism: Mechanism, histograms: NDArray[np.integer], *, lazy: bool = False) -> Integers:
    """One output (its position in `mechanism.outputs`) for each histogram of types, a row each."""
    if mechanism.summary.ordered:
        raise InputError(
            "A mechanism that reads the whole database is not drawn from histograms",
            found="summary 'database'",
            allowed="'histogram' or 'linear'",
            remedy="design with another summary",
        )
    return sampler_of(mechanism.kernel, lazy=lazy).draw(mechanism.places_of(histograms))


def draw_cells(mechanisms: Mapping[int, Mechanism], histograms: NDArray[np.integer], *, lazy: bool = False) -> Integers:
    """One output for each cell, with the mechanism of the cell's size; `mechanisms` maps sizes to mechanisms."""
    rows = np.asarray(histograms, dtype=np.int64)
    sizes = rows.sum(axis=1)
    present = [int(size) for size in np.unique(sizes)]
    uncovered = [size for size in present if size not in mechanisms]
    if uncovered:
        raise InputError(
            "Some cells have a size that the family does not cover",
            found=f"sizes {uncovered[:5]}",
            allowed=f"{min(mechanisms)}..{max(mechanisms)}",
            remedy="design the family for every size of the key set",
        )
    found = np.empty(len(rows), dtype=np.int64)
    for size in present:
        chosen = np.flatnonzero(sizes == size)
        found[chosen] = draw_outputs(mechanisms[size], rows[chosen], lazy=lazy)
    return found
