"""Which problems the ladder serves: those whose statistic adds up over respondents who may differ."""

from __future__ import annotations

from discreet.certify.value.laws import law_of
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.model.universe import Universe


def why_not_read(problem: Problem) -> str | None:
    """Why no weighted sum serves a problem, in words; None when some do."""
    universe = problem.universe
    if not isinstance(universe, Universe):
        return "databases without types have no sums"
    values = problem.statistic.weights(universe)
    if values is None:
        return "the statistic is not a sum, a count, or the mean of a fixed number of respondents"
    if problem.epsilon == 0:
        return "ε is 0, so only a constant may be published"
    law = law_of(problem)
    assert law is not None
    likely = {v for t, v in enumerate(values) if law.mean(t)}
    if len(likely) < 2 and not (isinstance(problem.neighbours, AddRemoveOne) and any(likely)):
        return "every respondent surely has the same value"
    return None
