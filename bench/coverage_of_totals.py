"""Whether 90 % intervals of totals hold what they say, over simulated releases, where the prior is right and where it is not.

    python bench/coverage_of_totals.py [RELEASES]

Each release has 1,000 cells of 40 respondents (values 0, 1, 2 with probabilities .89, .09, .02 believed) with geometric noise at
ε = 1 on the sum; totals over 5 regions of 200 cells, and over all. "A tenth off": the true probabilities of 1 and 2 are a tenth
higher than believed and that of 0 a tenth lower, before they are normalised, or the other way round. Plain intervals believe the
prior; doubted ones allow it to be off by a tenth (interpret.doubted_priors).
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from discreet.interpret.doubted_priors import doubt, doubted
from discreet.interpret.totals import PublishedGroup, cell_beliefs, region_totals
from totals import drawn, mechanism

CELLS, REGION, SIZE = 1_000, 200, 40
BELIEVED = np.array([0.89, 0.09, 0.02])


def tilted(share: float) -> np.ndarray:
    """Every probability off: those of 1 and 2 by a share up, that of 0 by a share down, normalised."""
    moved = BELIEVED * np.array([1 - share, 1 + share, 1 + share])
    return np.asarray(moved / moved.sum())


def coverage(truth: np.ndarray, releases: int, seed: int = 1) -> None:
    """Print how often intervals of regions and of the whole hold, plain and doubted."""
    random = np.random.default_rng(seed)
    one = mechanism(SIZE)
    width = len(one.outputs)
    group = PublishedGroup(np.arange(width), (one,), np.arange(width)[:, None])
    every = cell_beliefs([group])
    pieces = [*np.split(np.arange(CELLS), CELLS // REGION), np.arange(CELLS)]
    hits = {"plain": np.zeros((releases, len(pieces))), "doubted": np.zeros((releases, len(pieces)))}
    doubting = doubt([group], every, 0.1)
    start = time.process_time()
    for release in range(releases):
        sums = random.multinomial(SIZE, truth, CELLS) @ np.arange(3)
        held = replace(every, classes=drawn(one, sums, random))
        moves = doubting.given(held)
        for i, (cells, found) in enumerate(zip(pieces, region_totals(held, pieces), strict=True)):
            total = sums[cells].sum()
            wider = doubted(found, *moves.move(held, cells))
            for name, answer in (("plain", found), ("doubted", wider)):
                low, high = answer.interval(0.9)
                hits[name][release, i] = low <= total <= high
    spent = time.process_time() - start
    told = "; ".join(f"{name} {x[:, :-1].mean():.1%} (regions), {x[:, -1].mean():.1%} (all)" for name, x in hits.items())
    print(f"truth {np.round(truth, 4).tolist()}: {told}; {releases} releases, {spent:.0f} s", flush=True)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for chances in (BELIEVED, tilted(0.1), tilted(-0.1)):
        coverage(chances, asked)
