"""Exact draws on operating-system randomness: what is drawn is bit for bit what was certified.

`sampler_of(kernel).draw(states)` draws for many states at once, `draw_outputs(mechanism, histograms)` and
`draw_cells(family, histograms)` for the cells of a table, `DiscreteGaussianSampler` adds exact Gaussian noise. None of
them takes a seed. Proof of exactness and what the clock may tell: docs/sampling.md.
"""

from discreet.sampling.cells import draw_cells, draw_outputs, sampler_of
from discreet.sampling.closed import ClosedSampler
from discreet.sampling.counted import CountedSampler
from discreet.sampling.gaussian import DiscreteGaussianSampler
from discreet.sampling.randomness import OperatingSystem, Stream
from discreet.sampling.table import LazyTableSampler, TableSampler

__all__ = [
    "ClosedSampler",
    "CountedSampler",
    "DiscreteGaussianSampler",
    "LazyTableSampler",
    "OperatingSystem",
    "Stream",
    "TableSampler",
    "draw_cells",
    "draw_outputs",
    "sampler_of",
]
