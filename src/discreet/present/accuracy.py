"""What accuracy costs around a mechanism's ε: a few quick points of the frontier, as a picture for reports."""

from __future__ import annotations

from fractions import Fraction

from discreet.design.frontier import frontier
from discreet.errors import DiscreetError
from discreet.model.problem import Problem
from discreet.present.figure import Figure
from discreet.present.figures.frontier import frontier_figure
from discreet.watch import SILENT, Watch

SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(2))
"""Levels as shares of the mechanism's ε."""
GAP = 1e-2
SECONDS = 15.0
BESIDE = ("geometric", "staircase", "laplace", "no information")


def accuracy_figure(problem: Problem, watch: Watch = SILENT) -> Figure | None:
    """The frontier at half to twice the problem's ε, to a gap of one in a hundred; None where it cannot be drawn."""
    if problem.epsilon == 0:
        return None
    try:
        found = frontier(problem, [problem.epsilon * share for share in SHARES], watch, gap=GAP, seconds=SECONDS)
        return frontier_figure(found, None, [n for n in BESIDE if n in found.baseline_names])
    except DiscreetError:
        return None
