"""A problem, viewed: the question in words, what is promised, and how likely each value of the statistic is beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.design.comparison.evaluation import states_listed
from discreet.model.problem import Problem, believed
from discreet.numerics.exact import format_exact
from discreet.views.view import Bars, Fact, View
from discreet.views.words import problem_words

MOST_STATES = 50_000
MOST_ROWS = 40
LEAST = 5e-4
"""Values of the statistic that are less likely than this are not told one by one."""


def problem_view(stated: Problem) -> View:
    """The problem in words."""
    facts = {"promise": str(stated.guarantee), "prior": stated.prior.kind, "notes": list(stated.notes)}
    notes = [Fact("note", note) for note in stated.notes]
    told = (Fact("question", problem_words(stated)), Fact("privacy", str(stated.guarantee)), Fact("prior", stated.prior.kind))
    return View(facts, (*told, *notes))


def prior_view(stated: Problem) -> View:
    """How likely each value of the statistic is before anything is published; nothing where that would take long."""
    if states_listed(stated) > MOST_STATES:
        return View({"prior_of_statistic": None}, ())
    belief = believed(stated, stated.finest())
    masses = belief.weights.floats()
    values = belief.values
    chances = np.bincount(belief.column, masses, len(values))
    likely = [i for i in np.flatnonzero(chances >= LEAST).tolist() if len(values) <= MOST_ROWS or chances[i] >= LEAST]
    shown = likely[:MOST_ROWS]
    facts: dict[str, Any] = {
        "values": [float(values[i]) for i in likely],
        "probabilities": [float(chances[i]) for i in likely],
    }
    rest = max(0.0, 1.0 - float(sum(chances[i] for i in shown)))
    bars = Bars([(format_exact(values[i]), float(chances[i])) for i in shown], "statistic", rest if rest > LEAST else 0.0)
    return View({"prior_of_statistic": facts}, (bars,))
