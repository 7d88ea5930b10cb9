"""School planning's frontier (SY Example 1, figure of the README): what accuracy costs, and how much privacy a design saves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

from discreet.design.comparison.baselines import baselines
from discreet.design.program.sections import ground
from discreet.design.questions.frontier import Frontier, frontier
from discreet.design.questions.smallest_epsilon import saving
from discreet.files.problem import problem_from_text
from discreet.gallery.schools import PROBLEM
from discreet.model.problem import Problem
from discreet.present.figure import Figure
from discreet.present.figures.frontier import frontier_figure

HOUSEHOLDS = 40
EPSILONS = tuple(Fraction(k, 4) for k in (1, 2, 3, 4, 5, 6, 8))
BESIDE = ("geometric", "staircase", "laplace", "no information")
GAP = 1e-3
SECONDS = 900.0
"""Long enough that a busy machine draws the same picture."""


def places() -> Problem:
    """How many school places a block of 40 households needs."""
    return problem_from_text(PROBLEM.format(households=HOUSEHOLDS), "places")


@cache
def places_frontier() -> Frontier:
    """The frontier with the baselines that need no solving, kept."""
    found = frontier(places(), EPSILONS, gap=GAP, seconds=SECONDS, compare=False)
    points = tuple(replace(p, baselines=baselines(ground(places().with_epsilon(p.level)), oblivious=False)) for p in found.points)
    return replace(found, points=points)


def frontier_picture() -> Figure:
    """The picture of the README."""
    found = places_frontier()
    usual = next(p for p in found.points if p.level == places().epsilon).baselines["geometric"].loss
    assert usual is not None
    known = tuple((p.level, p.lower_bound, p.loss) for p in found.points)
    return frontier_figure(found, saving(places(), "geometric", usual, seconds=SECONDS, known=known), BESIDE)
