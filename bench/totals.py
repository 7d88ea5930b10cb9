"""Totals, regions and levels: 10,000 cells with an interval, ten thousand regions of 100,000 cells, a tree of 100,000 leaves.

    python bench/totals.py [CELLS] [REGIONS]

Cells have 10 to 40 respondents (values 0, 1, 2) with noise on the sum; outputs are drawn. Goals on two cores: a total over 10,000
cells within 5 s from the drawn outputs, ten thousand regions of 100,000 cells within a minute, 100,000 leaves within five.
Beside them, in the same run, the usual way: the bare sum of a column, and least squares on the same tree.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from discreet.interpret.coherent_levels import TotalsTree, coherent_totals
from discreet.interpret.least_squares_levels import least_squares
from discreet.interpret.totals import PublishedGroup, cell_beliefs, region_totals, total
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary

SIZES = range(10, 41)
VALUES = ("0", "1", "2")
PRIOR = ("0.89", "0.09", "0.02")


def mechanism(size: int) -> Mechanism:
    """Geometric noise on the sum, as a table kernel."""
    from discreet.files.problem import problem_from_document
    from discreet.model.kernel import TableKernel

    problem = problem_from_document({
        "data": {"respondents": size, "values": list(VALUES)},
        "prior": {"kind": "iid", "probabilities": list(PRIOR)},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"},
        "privacy": {"epsilon": "1"},
    })  # fmt: skip
    found = geometric_mechanism(problem, LinearSummary((0, 1, 2)))
    assert not isinstance(found.kernel, TableKernel)
    return found


def groups(cells: int, seed: int = 1) -> tuple[list[PublishedGroup], np.ndarray]:
    """Cells with their drawn outputs and true sums."""
    random = np.random.default_rng(seed)
    sizes = random.integers(SIZES.start, SIZES.stop, cells)
    truth = np.zeros(cells, dtype=np.int64)
    found = []
    for size in SIZES:
        at = np.flatnonzero(sizes == size)
        if not len(at):
            continue
        histograms = random.multinomial(size, [float(p) for p in PRIOR], len(at))
        truth[at] = histograms @ np.arange(3)
        one = mechanism(size)
        outputs = drawn(one, truth[at], random)
        found.append(PublishedGroup(at, (one,), outputs[:, None]))
    return found, truth


def drawn(one: Mechanism, sums: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Positions of outputs for these sums."""
    kernel = one.probabilities
    places = np.searchsorted(one.space.vectors[:, 0], sums)
    cumulative = np.cumsum(kernel, axis=0)
    uniform = random.random(len(sums))
    return np.array([int(np.searchsorted(cumulative[:, k], u)) for k, u in zip(places.tolist(), uniform.tolist(), strict=True)])


def main(cells: int = 100_000, regions: int = 10_000) -> None:
    """Print what was measured."""
    few, truth = groups(10_000)
    start = time.process_time()
    held = cell_beliefs(few)
    read = time.process_time()
    found = total(held, np.arange(10_000))
    low, high = found.interval()
    done = time.process_time()
    print(
        f"10,000 cells: posteriors {read - start:.2f} s, total {done - read:.3f} s ({len(held.laws)} classes, {len(found.law):,} "
        f"masses, error at most {found.law.error:.1e}); truth {truth.sum():,} in {low} to {high}: {low <= truth.sum() <= high}"
    )
    many, truth = groups(cells, 2)
    start = time.process_time()
    held = cell_beliefs(many)
    read = time.process_time()
    order = np.random.default_rng(3).permutation(cells)
    for words, pieces in (
        (f"{regions:,} regions of {cells // regions} cells, a partition", np.array_split(order, regions)),
        (f"{regions:,} overlapping regions of 1,000", [order[np.arange(9 * i, 9 * i + 1000) % cells] for i in range(regions)]),
    ):
        start = time.process_time()
        ends = [(one, found.interval()) for one, found in zip(pieces, region_totals(held, pieces), strict=True)]
        spent = time.process_time() - start
        hits = np.mean([a <= truth[one].sum() <= b for one, (a, b) in ends])
        start = time.process_time()
        naive = held.unbiased[held.classes]
        for one in pieces:
            naive[one].sum()
        bare = time.process_time() - start
        print(f"{words}: {spent:.1f} s ({spent / max(bare, 1e-9):.0f} times a bare sum of the column); intervals hold {hits:.1%}")


def tree(leaves: int = 100_000) -> None:
    """A tree of four levels whose three upper levels were published too, beside least squares on the same tree."""
    groups_found, truth = groups(leaves, 4)
    held = cell_beliefs(groups_found)
    children = [list(range(i, i + 100)) for i in range(0, leaves, 100)]
    tracts, counties = leaves // 100, leaves // 1000
    children += [list(range(leaves + i, leaves + i + 10)) for i in range(0, tracts, 10)]
    children.append(list(range(leaves + tracts, leaves + tracts + counties)))
    random = np.random.default_rng(5)
    sums = [int(truth[100 * i : 100 * i + 100].sum()) for i in range(tracts)]
    sums += [sum(sums[10 * i : 10 * i + 10]) for i in range(counties)] + [int(truth.sum())]
    noisy = [total + int(random.geometric(0.4)) - int(random.geometric(0.4)) for total in sums]
    told = {leaves + i: (lambda k, y=y: -0.5 * np.abs(k - y)) for i, y in enumerate(noisy)}
    laws = [held.laws[k] for k in held.classes.tolist()]
    start = time.process_time()
    found = coherent_totals(TotalsTree(laws, children, told))
    done = time.process_time()
    values = np.concatenate([held.means[held.classes], noisy])
    variances = np.concatenate([held.variances[held.classes], np.full(len(noisy), 8.0)])
    usual = least_squares(leaves, children, values, variances)
    ended = time.process_time()
    every = np.concatenate([truth, sums])
    hits = np.mean((found.lower <= every) & (every <= found.upper))
    errors = [[np.sqrt(np.mean((x - every)[at] ** 2)) for x in (found.mean, usual)] for at in (slice(leaves), slice(leaves, None))]
    print(
        f"a tree of {leaves:,} leaves and {len(children):,} above: {done - start:.1f} s (least squares {ended - done:.2f} s); "
        f"root mean squared error of a leaf {errors[0][0]:.3f} (least squares {errors[0][1]:.3f}), of a node above "
        f"{errors[1][0]:.3f} ({errors[1][1]:.3f}); intervals hold {hits:.1%}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
    tree()
