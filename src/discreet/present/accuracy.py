"""What accuracy costs around a mechanism's level: a few quick points of the frontier, as a picture for reports.

Under ρ the best purely ε-private mechanisms stand beside it, at equal ρ and at equal (ε, δ); under ε those under ρ do
when asked for.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape

from discreet.design.questions.frontier import frontier
from discreet.design.questions.two_promises import beside, two_promises
from discreet.errors import DiscreetError
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise
from discreet.present.figures.frontier import frontier_figure
from discreet.present.figures.two_promises import two_promises_figure
from discreet.present.report import Chapter, picture
from discreet.views.two_promises import two_promises_view
from discreet.views.view import Sentence
from discreet.watch import SILENT, Watch

SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(2))
"""Levels as shares of the mechanism's ε or ρ."""
FEW = (SHARES[0], SHARES[2], SHARES[4])
"""Those at which the other promise is designed for as well."""
GAP = 1e-2
SECONDS = 15.0
BESIDE = ("geometric", "staircase", "laplace", "discrete gaussian", "discrete gaussian at face value", "no information")


def accuracy_section(problem: Problem, watch: Watch = SILENT, *, both: bool | None = None) -> Chapter:
    """The frontier at half to twice the problem's level, to a gap of one in a hundred, or why there is none.

    `both` adds the other promise; None: for a problem that asks for ρ.
    """
    try:
        own = problem.promise.level
        levels = [own * share for share in SHARES if own > 0]
        paired = isinstance(problem.promise, ConcentratedPromise) if both is None else both
        if paired:
            beside(problem, levels)
        found = frontier(problem, levels, watch, gap=GAP, seconds=SECONDS)
        body = picture(frontier_figure(found, None, [n for n in BESIDE if n in found.baseline_names]))
        if paired:
            together = two_promises(problem, [own * share for share in FEW], watch, own=found, gap=GAP, seconds=SECONDS)
            told = (block.text for block in two_promises_view(together).told if isinstance(block, Sentence))
            body += picture(two_promises_figure(together)) + "".join(f"<p>{escape(words)}</p>" for words in told)
    except DiscreetError as error:
        body = f'<p class="note">Not computed: {escape(str(error))}</p>'
    return Chapter("What accuracy costs", body)
