"""How long it takes to list a universe, its graph and its prior exactly: histograms of N respondents, three types.

Goal: N = 200 within 2 s. The peer is a loop in plain Python over the same histograms and replacements.
"""

from __future__ import annotations

import time
from fractions import Fraction

from discreet.model.neighbours import ReplaceOne
from discreet.model.priors.iid import IidPrior
from discreet.model.states import state_space
from discreet.model.summary import HistogramSummary
from discreet.model.universe import Universe

VALUES = (Fraction(0), Fraction(1), Fraction(2))
PRIOR = IidPrior((Fraction(89, 100), Fraction(9, 100), Fraction(2, 100)))


def ours(respondents: int) -> tuple[int, int, float]:
    """States, edges and seconds of the library."""
    started = time.perf_counter()
    universe = Universe(VALUES, respondents, respondents)
    space = state_space(universe, ReplaceOne(), HistogramSummary())
    weights = PRIOR.on_histograms(space.vectors, universe)
    assert len(weights) == len(space)
    return len(space), len(space.edges), time.perf_counter() - started


def looped(respondents: int) -> tuple[int, int, float]:
    """The same by a loop: a dictionary of histograms, every replacement tried, the prior by its formula."""
    from math import comb

    started = time.perf_counter()
    n = respondents
    states = {(n - b - c, b, c): None for c in range(n + 1) for b in range(n + 1 - c)}
    edges = set()
    for state in states:
        for source in range(3):
            for target in range(3):
                if source != target and state[source]:
                    moved = list(state)
                    moved[source] -= 1
                    moved[target] += 1
                    edges.add(frozenset((state, tuple(moved))))
    p = PRIOR.probabilities
    chances = [p[0] ** a * p[1] ** b * p[2] ** c * comb(n, c) * comb(n - c, b) for a, b, c in states]
    assert sum(chances) == 1
    return len(states), len(edges), time.perf_counter() - started


def main() -> None:
    """Print a table."""
    ours(10)
    print(f"{'N':>5}{'states':>9}{'edges':>9}{'library':>11}{'plain loop':>12}{'ratio':>8}")
    for respondents in (40, 100, 200):
        states, edges, mine = ours(respondents)
        again = looped(respondents)
        assert again[:2] == (states, edges)
        print(f"{respondents:>5}{states:>9,}{edges:>9,}{mine:>9.3f} s{again[2]:>10.3f} s{again[2] / mine:>8.1f}")


if __name__ == "__main__":
    main()
