"""How often 95 % intervals of fits hold the truth, on simulated releases: `python bench/coverage.py [releases]`.

Each line is one setting: the share of simulated releases whose interval holds each true parameter (93 to 97 % is asked for),
whether any search stopped short of a maximum, and how often a true and a false model is called wrong.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

import numpy as np

from discreet.interpret import BinomialModel, MultinomialModel, fit, fit_simplex, output_law
from discreet.mechanisms import geometric_mechanism
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

SETTINGS = (
    (40, "1", ("0.89", "0.09", "0.02"), 800),
    (8, "2", ("0.8", "0.15", "0.05"), 400),
    (8, "2", ("0.6", "0.3", "0.1"), 200),
    (20, "1", ("0.75", "0.25"), 100),
)


def count(respondents: int, epsilon: str, chances: tuple[str, ...]) -> Mechanism:
    """Geometric noise on the sum of types."""
    values = tuple(Fraction(t) for t in range(len(chances)))
    problem = Problem(
        Universe.of(respondents, values), ReplaceOne(), IidPrior(tuple(map(Fraction, chances))), SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),), PurePromise(Fraction(epsilon)), unit="person",
    )  # fmt: skip
    return geometric_mechanism(problem, LinearSummary(tuple(range(len(chances)))))


def coverage(respondents: int, epsilon: str, chances: tuple[str, ...], cells: int, releases: int) -> str:
    """One setting, as a line."""
    model = MultinomialModel(count(respondents, epsilon, chances))
    truth = np.array([float(p) for p in chances])
    law = np.exp(output_law(model, truth))
    hits, wrong, short, began = np.zeros(len(truth)), 0, 0, time.perf_counter()
    for seed in range(releases):
        outputs = np.random.default_rng(seed).choice(len(law), size=cells, p=law / law.sum())
        found = fit_simplex([(model, outputs)])
        hits += [low <= p <= high for (low, high), p in zip(found.intervals, truth, strict=True)]
        short += found.gap > 1e-6 * cells
        wrong += any("does not fit" in words for words in found.warnings)
    seconds = (time.perf_counter() - began) / releases
    shares = "  ".join(f"{p:g}: {share:.1%}" for p, share in zip(truth, hits / releases, strict=True))
    return (
        f"N = {respondents}, ε = {epsilon}, {cells} cells, {releases} releases: {shares}; stopped short {short}, called wrong "
        f"{wrong}; {seconds:.2f} s a fit"
    )


def false_model(releases: int, cells: int = 100) -> str:
    """Cells that differ in their proportion, beta(0.55, 4.45), fitted by one proportion."""
    model = BinomialModel(count(40, "1", ("0.89", "0.11")))
    hits = told = 0
    for seed in range(releases):
        rng = np.random.default_rng(seed)
        kernel = np.exp(model.log_kernel)
        totals = rng.binomial(40, rng.beta(0.55, 4.45, size=cells))
        outputs = np.array([rng.choice(len(kernel), p=kernel[:, k] / kernel[:, k].sum()) for k in totals])
        found = fit([(model, outputs)])
        hits += found.interval[0] <= 0.11 <= found.interval[1]
        told += bool(found.warnings)
    return (
        f"beta-binomial cells, {cells} cells, {releases} releases: interval holds 0.11 {hits / releases:.1%}, called wrong "
        f"{told / releases:.1%}"
    )


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for setting in SETTINGS:
        print(coverage(*setting, asked), flush=True)
    print(false_model(asked), flush=True)
