"""A problem as it is written: read by the same reader as the command line's, told in words with its prior."""

from __future__ import annotations

from discreet.errors import DiscreetError
from discreet.files.problem import problem_from_text
from discreet.files.problem_document import problem_document
from discreet.views.problem import prior_view, problem_view
from discreet.web.questions import Reply, Setting


def check(setting: Setting, toml: str) -> Reply:
    """The problem in words, and how likely each value of the statistic is beforehand."""
    problem = problem_from_text(toml, "problem")
    view = problem_view(problem)
    try:
        view += prior_view(problem)
    except DiscreetError:  # a prior that cannot be listed is still a prior
        view += type(view)({"prior_of_statistic": None}, ())
    return Reply(view, extra={"document": problem_document(problem)})
