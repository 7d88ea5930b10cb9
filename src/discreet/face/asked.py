"""`discreet.problem(…)`: a problem as an object, from keywords, a TOML file, a mapping, or a problem of `model`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, overload

from discreet.design import Design
from discreet.design import design as best_mechanism
from discreet.design.questions.family import design_family
from discreet.design.questions.frontier import Frontier, frontier
from discreet.errors import InputError
from discreet.face.columns import choice_columns, frontier_columns
from discreet.face.designed import DesignedFamily, DesignedMechanism
from discreet.face.shown import Answer, Shown
from discreet.face.tables import listed, sizes_of
from discreet.files import read_problem
from discreet.files.problem import problem_from_document
from discreet.interpret.choosing import Choices
from discreet.model.problem import Problem
from discreet.numerics.exact import exact
from discreet.views.choice import choice_view, choices_with_designs
from discreet.views.frontier import frontier_view
from discreet.views.problem import problem_view
from discreet.views.view import View
from discreet.views.words import problem_words
from discreet.watch import SILENT, Watch

Number = int | float | str | Fraction
LEVELS = ("1/4", "1/2", "1", "2")


def problem(
    source: str | Path | Mapping[str, Any] | Problem | None = None,
    *,
    respondents: int | tuple[int, int] | None = None,
    values: Iterable[Number] | None = None,
    probabilities: Iterable[Number] | None = None,
    counts: Iterable[int] | None = None,
    counts_from: str = "public reference data",
    prior: Mapping[str, Any] | None = None,
    statistic: str | Mapping[str, Any] = "sum",
    decision: str | Mapping[str, Any] | list[Mapping[str, Any]] = "squared-error",
    actions: Any = None,
    unbiased: str | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    unit: str = "respondent",
    neighbours: str = "replace-one",
    name: str = "",
) -> AskedProblem:
    """A problem: what is published, about whom, what for, and how private.

    From keywords: each of so many `respondents` has one of `values`; `probabilities` say how likely each is, or public `counts`
    of each (`counts_from` says whose), or a whole `prior` as in a problem file, such as {"kind": "exchangeable", "concentration":
    [8, 1, 1]}. Values, probabilities and counts may be columns of a frame. `statistic` and `decision` are kinds, or mappings as in
    a problem file; `actions` are "integer" (as a rule), "real" or a list. Values to add up are real and `unbiased`: "everywhere" or
    "nearby". Or from one `source`: a TOML file, a mapping with the sections of one or a `model.Problem`.
    """
    if source is not None:
        if values is not None or respondents is not None:
            raise InputError(
                "A problem comes from one source, or from keywords",
                found="both",
                allowed="one of them",
                remedy="leave one of them out",
            )
        if isinstance(source, (str, Path)):
            return AskedProblem(read_problem(source))
        return AskedProblem(source if isinstance(source, Problem) else problem_from_document(dict(source)))
    given = {"probabilities": probabilities, "counts": counts, "prior": prior}
    told = [key for key, value in given.items() if value is not None]
    if respondents is None or values is None or len(told) != 1 or (epsilon is None) == (rho is None):
        raise InputError(
            "A problem needs respondents, values, one belief about them and one level of privacy",
            found=", ".join(key for key, value in {"respondents": respondents, "values": values, **given, "epsilon": epsilon,
                                                   "rho": rho}.items() if value is not None) or "nothing",
            allowed="respondents, values, one of probabilities, counts and prior, and one of epsilon and rho",
            remedy="for instance discreet.problem(respondents=40, values=[0, 1, 2], probabilities=[0.89, 0.09, 0.02], epsilon=1)",
        )  # fmt: skip
    if probabilities is not None:
        prior = {"kind": "iid", "probabilities": listed(probabilities)}
    elif counts is not None:
        prior = {"kind": "reference", "counts": listed(counts), "source": counts_from}
    decisions = [decision] if isinstance(decision, (str, Mapping)) else decision
    common: dict[str, Any] = {"actions": actions if actions is not None else "integer" if unbiased is None else "real"}
    common |= {} if unbiased is None else {"unbiased": unbiased}
    size = {"from": respondents[0], "to": respondents[1]} if isinstance(respondents, tuple) else respondents
    document = {
        "name": name or None,
        "data": {"respondents": size, "values": listed(values), "neighbours": neighbours},
        "prior": dict(prior or {}),
        "statistic": {"kind": statistic} if isinstance(statistic, str) else dict(statistic),
        "decision": [common | ({"kind": d} if isinstance(d, str) else dict(d)) for d in decisions],
        "privacy": {"unit": unit} | ({"epsilon": epsilon} if rho is None else {"rho": rho}),
    }
    return AskedProblem(problem_from_document(document))


@dataclass(frozen=True, repr=False)
class AskedProblem(Shown):
    """A problem, and the questions that can be asked about it."""

    problem: Problem

    def __repr__(self) -> str:
        return f"<problem: {problem_words(self.problem).split('. ')[0]}; {self.problem.guarantee}>"

    def view(self) -> View:
        """The problem in words."""
        return problem_view(self.problem)

    @overload
    def design(
        self, *, sizes: None = None, within: str | None = None, gap: float = 1e-6, seconds: float = 60.0, watch: Watch = SILENT
    ) -> DesignedMechanism: ...

    @overload
    def design(self, *, sizes: object, gap: float = 1e-6, seconds: float = 60.0, watch: Watch = SILENT) -> DesignedFamily: ...

    def design(
        self, *, sizes: object = None, within: str | None = None, gap: float = 1e-6, seconds: float = 60.0, watch: Watch = SILENT
    ) -> DesignedMechanism | DesignedFamily:
        """The best private mechanism, proved; with `sizes` a family for cells of many sizes.

        `sizes` are numbers, a text such as "10..60", or a table with a column `size` (a frame, a mapping, a CSV file).
        """
        if sizes is not None:
            found = design_family(self.problem, sizes_of(sizes), watch, gap=gap, seconds=seconds)
            return DesignedFamily(self.problem, found)
        best: Design = best_mechanism(self.problem, watch, gap=gap, seconds=seconds, within=within)
        return DesignedMechanism(best)

    def frontier(self, levels: Iterable[Number], *, gap: float | None = None, seconds: float = 60.0) -> Answer[Frontier]:
        """The least loss at each ε (or ρ, where that is asked for), between proved sides, beside what people do today."""
        key = self.problem.promise.keys[0]
        found = frontier(self.problem, [exact(level, key) for level in levels], gap=gap, seconds=seconds)
        return Answer(found, frontier_view(found), frontier_columns)

    def choose(self, levels: Iterable[Number] = LEVELS, *, seconds: float = 20.0) -> Answer[Choices]:
        """Values of ε (or ρ) side by side: attacker, analyst, decision."""
        key = self.problem.promise.keys[0]
        found = choices_with_designs(self.problem, [exact(level, key) for level in levels], seconds=seconds)
        return Answer(found, choice_view(found), choice_columns)
