"""Whether 90 % intervals of totals hold what they say, over simulated releases, where the prior is right and where it is not.

    python bench/coverage_of_totals.py [RELEASES]

Each release has 1,000 cells of 40 respondents (values 0, 1, 2 with probabilities .89, .09, .02 believed) with geometric noise at
ε = 1 on the sum; totals over 5 regions of 200 cells, and over all. "A tenth off": the true probabilities of 1 and 2 are a tenth
higher than believed and that of 0 a tenth lower, before they are normalised, or the other way round. Plain intervals believe the
prior; doubted ones allow it to be off by a tenth (interpret.doubted_priors).

Two figures for each: how often the interval held the total that was drawn, and the mean probability, given what was published and
the true probabilities, that it does. Both estimate the same coverage; the second leaves out the luck of the data, so its standard
error is far smaller (Rao and Blackwell), and where the prior is right it is what every single interval says of itself.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.interpret.doubted_priors import doubt, doubted
from discreet.interpret.totals import PublishedGroup, cell_beliefs, region_totals
from discreet.model.priors import IidPrior
from totals import drawn, mechanism

CELLS, REGION, SIZE = 1_000, 200, 40
BELIEVED = (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))
WAYS = ("plain", "doubted")


def tilted(share: Fraction) -> tuple[Fraction, ...]:
    """Every probability off: those of 1 and 2 by a share up, that of 0 by a share down, normalised."""
    moved = [p * factor for p, factor in zip(BELIEVED, (1 - share, 1 + share, 1 + share), strict=True)]
    return tuple(p / sum(moved) for p in moved)


def coverage(truth: tuple[Fraction, ...], releases: int, seed: int = 1) -> None:
    """Print how often intervals of regions and of the whole hold, plain and doubted, counted and by their probability."""
    random = np.random.default_rng(seed)
    one = mechanism(SIZE)
    width = len(one.outputs)
    group = PublishedGroup(np.arange(width), (one,), np.arange(width)[:, None])
    every, true = cell_beliefs([group]), cell_beliefs([replace(group, prior=IidPrior(truth))])
    pieces = [*np.split(np.arange(CELLS), CELLS // REGION), np.arange(CELLS)]
    chances = np.array([float(p) for p in truth])
    # [way, counted or by probability, release, piece]
    held = np.zeros((len(WAYS), 2, releases, len(pieces)))
    doubting = doubt([group], every, 0.1)
    start = time.process_time()
    for release in range(releases):
        sums = random.multinomial(SIZE, chances, CELLS) @ np.arange(3)
        outputs = drawn(one, sums, random)
        seen = replace(every, classes=outputs)
        moves = doubting.given(seen)
        truths = region_totals(replace(true, classes=outputs), pieces)
        for i, (cells, found) in enumerate(zip(pieces, region_totals(seen, pieces), strict=True)):
            wider = doubted(found, *moves.move(seen, cells))
            for way, answer in enumerate((found, wider)):
                low, high = answer.interval(0.9)
                held[way, :, release, i] = low <= sums[cells].sum() <= high, truths[i].holds(low, high)
    print(f"truth {[round(float(p), 4) for p in truth]}: {releases} releases, {time.process_time() - start:.0f} s")
    for way, name in enumerate(WAYS):
        for what, at in ((f"regions of {REGION}", slice(-1)), ("all cells", slice(-1, None))):
            found = held[way][:, :, at].mean(axis=2)
            means, errors = found.mean(axis=1), found.std(axis=1) / np.sqrt(releases)
            told = (f"{m:.2%} ± {e:.2%}" for m, e in zip(means, errors, strict=True))
            print("  {}, {}: counted {}, by probability {}".format(name, what, *told), flush=True)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for probabilities in (BELIEVED, tilted(Fraction(1, 10)), tilted(Fraction(-1, 10))):
        coverage(probabilities, asked)
