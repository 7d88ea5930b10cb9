"""What accuracy costs around a mechanism's ε: a few quick points of the frontier, as a picture for reports."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from discreet.design.questions.frontier import frontier
from discreet.errors import DiscreetError
from discreet.model.problem import Problem
from discreet.present.figures.frontier import frontier_figure
from discreet.present.report import Chapter, picture
from discreet.watch import SILENT, Watch

SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(2))
"""Levels as shares of the mechanism's ε."""
GAP = 1e-2
SECONDS = 15.0
BESIDE = ("geometric", "staircase", "laplace", "no information")


def accuracy_section(problem: Problem, watch: Watch = SILENT) -> Chapter:
    """The frontier at half to twice the problem's ε, to a gap of one in a hundred, or why there is none."""
    try:
        levels = [problem.epsilon * share for share in SHARES if problem.epsilon > 0]
        found = frontier(problem, levels, watch, gap=GAP, seconds=SECONDS)
        body = picture(frontier_figure(found, None, [n for n in BESIDE if n in found.baseline_names]))
    except DiscreetError as error:
        body = f'<p class="note">Not computed: {escape(str(error))}</p>'
    return Chapter("What accuracy costs", body)
