"""How long it takes to read a million published cells, beside a NumPy gather from a table of the same size.

A reader has a million outputs, as positions or as published numbers, and wants the posterior mean and a credible
interval of each. The peer is `np.take` from an array [output, 3], the fastest gather NumPy has. They are run in turn,
so that a busy machine slows them alike; medians are shown. Goal: within 3 times. Making the table is shown apart.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.interpret import readings
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

CELLS = 1_000_000
ROUNDS = 15
SIZES = (40, 400)


def mechanism_of(respondents: int) -> Mechanism:
    """The geometric mechanism on a sum of values 0, 1, 2."""
    universe = Universe.of(respondents, (Fraction(0), Fraction(1), Fraction(2)))
    prior = IidPrior((Fraction(89, 100), Fraction(9, 100), Fraction(2, 100)))
    decision = Decision(SquaredLoss(), RealActions())
    problem = Problem(universe, ReplaceOne(), prior, SumStatistic(), (decision,), PurePromise(Fraction(1)))
    kernel = GeometricKernel(0, 2 * respondents, 2, rational_above_exp(Fraction(-1, 2), 64))
    return Mechanism(problem, LinearSummary((0, 1, 2)), kernel, Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent"))


def seconds(work: Callable[[], object]) -> float:
    """The wall-clock time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Print medians and ratios."""
    print(f"{CELLS:,} cells, median of {ROUNDS}")
    heads = ("outputs", "table", "gather", "read", "ratio", "by value", "ratio", "by label")
    print(f"{'respondents':>12}" + "".join(f"{head:>10}" for head in heads))
    for respondents in SIZES:
        mechanism = mechanism_of(respondents)
        started = time.perf_counter()
        table = readings(mechanism)
        prepared = time.perf_counter() - started
        positions = np.random.default_rng(0).integers(0, len(table.table), size=CELLS)
        plain = np.array(table.table)
        gather, read, valued = [], [], []
        for _ in range(ROUNDS):
            gather.append(seconds(lambda: np.take(plain, positions, axis=0)))  # noqa: B023
            read.append(seconds(lambda: table.at(positions)))  # noqa: B023
            valued.append(seconds(lambda: table.of(positions)))  # noqa: B023
        labels = [str(p) for p in positions.tolist()]
        labelled = seconds(lambda: table.of(labels))  # noqa: B023
        peer, ours, third = (statistics.median(times) for times in (gather, read, valued))
        shown = (
            f"{len(plain)}", f"{prepared * 1000:.0f} ms", f"{peer * 1000:.1f} ms", f"{ours * 1000:.1f} ms",
            f"{ours / peer:.2f}", f"{third * 1000:.1f} ms", f"{third / peer:.2f}", f"{labelled * 1000:.0f} ms",
        )  # fmt: skip
        print(f"{respondents:>12}" + "".join(f"{word:>10}" for word in shown))


if __name__ == "__main__":
    main()
