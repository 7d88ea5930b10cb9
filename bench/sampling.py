"""Exact draws per CPU-second, beside OpenDP's vector discrete Laplace and NumPy's (inexact) table draw.

    python bench/sampling.py [DRAWS]

The kernel: truncated geometric on 0..40 at ε = 1 as a table of 41 outputs × 41 states over 2^128; each draw has its own
state. Goals: lazy mode at least 30 times OpenDP per CPU-second and within 5 times NumPy. Fixed work is stated. CPU time
of the process, best of the repeats, all in one run. OpenDP adds noise to a vector of the same states at the same ε.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.numerics.brackets import rational_above_exp
from discreet.sampling import ClosedSampler, DiscreteGaussianSampler, sampler_of

DRAWS = 1_000_000
REPEATS = 5
BITS = 128


def kernels() -> tuple[TableKernel, GeometricKernel]:
    """The same law twice: as a table, its remainders given to the first output, and in closed form."""
    closed = GeometricKernel(0, 40, 1, rational_above_exp(Fraction(-1), BITS))
    rows = closed.rows(range(41))
    weights = [[int(p * 2**BITS) for p in row] for row in rows]
    for state in range(41):
        weights[0][state] += 2**BITS - sum(row[state] for row in weights)
    labels = tuple(map(str, range(41)))
    return TableKernel(labels, tuple(map(Output, labels)), tuple(map(tuple, weights)), 2**BITS), closed


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the best of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def opendp_draw(states: np.ndarray) -> Callable[[], object]:
    """OpenDP's discrete Laplace on a vector of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    listed = states.tolist()
    return lambda: measurement(listed)


def numpy_draw(table: TableKernel, states: np.ndarray) -> Callable[[], object]:
    """What one writes without exactness in mind: a double per draw, looked up in the cumulative sums of its state."""
    generator = np.random.default_rng()
    law = np.array([[w / 2**BITS for w in row] for row in table.weights])
    sums = np.cumsum(law, axis=0).T.copy()
    offset = (sums + np.arange(len(sums))[:, None]).ravel()
    return lambda: np.searchsorted(offset, generator.random(len(states)) + states) - states * sums.shape[1]


def main() -> None:
    """Print nanoseconds and ratios."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    table, closed = kernels()
    states = np.random.default_rng(0).integers(0, 41, draws)
    one = np.full(draws, 20)
    fixed, lazy = sampler_of(table), sampler_of(table, lazy=True)
    wide = GeometricKernel(0, 10**6, 1, closed.ratio)
    few = states[: max(1, draws // 10)]
    choice = np.array([w[20] / 2**BITS for w in table.weights])
    runs: dict[str, tuple[Callable[[], object], int]] = {
        "OpenDP vector discrete Laplace": (opendp_draw(few), len(few)),
        "NumPy table draw, many states": (numpy_draw(table, states), draws),
        "NumPy choice, one state": (lambda: np.random.default_rng().choice(41, size=draws, p=choice), draws),
        "table, lazy, many states": (lambda: lazy.draw(states), draws),
        "table, lazy, one state": (lambda: lazy.draw(one), draws),
        "table, fixed work": (lambda: fixed.draw(states), draws),
        "geometric 0..40, fixed work": (lambda: ClosedSampler(closed).draw(states), draws),
        "geometric 0..1000000, fixed work": (lambda: ClosedSampler(wide).draw(states), draws),
        "geometric 0..1000000, lazy": (lambda: ClosedSampler(wide, lazy=True).draw(states), draws),
        "discrete Gaussian, σ² = 4": (lambda: DiscreteGaussianSampler(Fraction(4)).draw(len(few)), len(few)),
    }
    measured = {name: cpu_seconds(work) / count * 1e9 for name, (work, count) in runs.items()}
    peer = measured["OpenDP vector discrete Laplace"]
    bare = measured["NumPy table draw, many states"]
    print(f"{draws:,} draws, CPU time, best of {REPEATS}")
    print(f"{'':<36}{'ns/draw':>10}{'× OpenDP':>10}{'/ NumPy':>10}")
    for name, nanoseconds in measured.items():
        print(f"{name:<36}{nanoseconds:>10.1f}{peer / nanoseconds:>10.1f}{nanoseconds / bare:>10.2f}")
    print("goals for the lazy table: at least 30 × OpenDP, at most 5 / NumPy")


if __name__ == "__main__":
    main()
