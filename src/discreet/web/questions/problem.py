"""A problem as it is written: read by the same reader as the command line's, told in words with its prior."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import DiscreetError, Refuted
from discreet.files.problem import problem_from_text
from discreet.files.problem_document import prior_document, problem_document
from discreet.publish.learned import fails, packed_in, read_learned
from discreet.views.learning import learned_view
from discreet.views.problem import prior_view, problem_view
from discreet.views.view import View
from discreet.web.questions import Reply, Setting
from discreet.web.typed import share_of


def check(setting: Setting, toml: str) -> Reply:
    """The problem in words, and how likely each value of the statistic is beforehand."""
    problem = problem_from_text(toml, "problem")
    view = problem_view(problem)
    try:
        view += prior_view(problem)
    except DiscreetError:  # a prior that cannot be listed is still a prior
        view += type(view)({"prior_of_statistic": None}, ())
    return Reply(view, extra={"document": problem_document(problem)})


def learned(setting: Setting, place: str, stamp: str, change: str = "0") -> Reply:
    """The prior of each stratum that follows from a learning release, or from the one that a release carries."""
    where = setting.home.parent / place
    folder = packed_in(where) or read_learned(where)
    wrong = fails(folder)
    if wrong is not None:
        raise Refuted("no prior follows from this release", wrong)
    changed = share_of(change, "change")
    found, follow = folder.fitted(changed), folder.priors(changed)
    view = learned_view(found, Path(place))
    priors = [{"stratum": list(stratum), "prior": prior_document(prior)} for stratum, prior in follow.items()]
    return Reply(View({**view.facts, "release": folder.digest, "priors": priors}, view.told))
