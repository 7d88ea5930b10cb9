"""Every decimal in what is told goes back to an exact number and a side: in sentences, in tables, for every kind of result.

A decimal that `numerics.digits` did not write has no side, and is a failure here, as is a text on the wrong side of its number, and
the lower end of a bracket told as an upper limit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from said import recorded, strangers, wrong_ends, wrong_sides

import discreet
from discreet.certify import verdict
from discreet.currencies.statements import statement
from discreet.design import Design, design
from discreet.design.questions.family import FamilyDesign, design_family
from discreet.design.questions.frontier import frontier
from discreet.design.questions.hedge import hedge
from discreet.design.questions.reliance import reliance
from discreet.design.questions.robust import robust_design
from discreet.files.problem import problem_from_document
from discreet.interpret.choosing import choose
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.views.choice import choice_view
from discreet.views.comparison import comparison_view
from discreet.views.conversion import conversion_view, conversions_view
from discreet.views.design import design_view
from discreet.views.family import family_view
from discreet.views.frontier import frontier_view
from discreet.views.limits import limits_view
from discreet.views.noise import noise_view
from discreet.views.profile import profile_view
from discreet.views.reading import reading_view
from discreet.views.reliance import hedge_advice, hedge_view, reliance_view
from discreet.views.robust import robust_view
from discreet.views.sizes import comparison_of_sizes, limits_of_sizes, profile_of_sizes
from discreet.views.subject import Subject
from discreet.views.verdict import verdict_view
from discreet.views.view import Bars, Fact, Grid, Sentence, View


def problem(respondents: int = 3, epsilon: str = "1") -> Problem:
    document: dict[str, Any] = {
        "data": {"respondents": respondents, "values": ["0", "1"]},
        "prior": {"kind": "iid", "probabilities": ["2/3", "1/3"]}, "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "real"}, "privacy": {"epsilon": epsilon, "unit": "household"},
    }  # fmt: skip
    return problem_from_document(document)


@cache
def best() -> Design:
    return design(problem(), gap=1e-3)


@cache
def family() -> FamilyDesign:
    return design_family(problem(), [2, 3], gap=1e-3, workers=1)


def held() -> list[Subject]:
    return [Subject(member.mechanism, member.high) for member in family().family.members]


@cache
def noise() -> Any:
    return geometric_mechanism(problem(), LinearSummary((0, 1)))


VIEWS: dict[str, Callable[[], View]] = {
    "choice": lambda: choice_view(choose(problem(), [Fraction(1, 3), Fraction(2)])),
    "comparison": lambda: comparison_view(
        [("design", best().mechanism), ("hedged", hedge(best().mechanism, best().certificate).mechanism)]
    ),
    "comparison of sizes": lambda: comparison_of_sizes([(name, {s.size or 0: s.mechanism for s in held()}) for name in "ab"]),
    "conversion": lambda: conversion_view(statement("epsilon", epsilon="1/3"), None),
    "conversions": conversions_view,
    "design": lambda: design_view(best()),
    "family": lambda: family_view(family()),
    "frontier": lambda: frontier_view(frontier(problem(), [Fraction(1, 2), Fraction(1)], gap=1e-2, workers=1)),
    "hedge": lambda: hedge_view(hedge(best().mechanism, best().certificate)),
    "hedge advice": lambda: hedge_advice(hedge(best().mechanism, best().certificate)),
    "limits": lambda: limits_view(best().mechanism, sure=0.3),
    "limits of a problem": lambda: limits_view(problem(epsilon="1/7"), alpha=0.01),
    "limits of sizes": lambda: limits_of_sizes(held()),
    "noise": lambda: noise_view(problem(), seconds=20.0),
    "profile": lambda: profile_view(best().mechanism, epsilons=["0.3"], deltas=["0.01"], times=2),
    "profile of noise": lambda: profile_view(noise(), epsilons=["0.7"]),
    "profile of sizes": lambda: profile_of_sizes(held(), epsilons=["0.3"], deltas=["0.01"]),
    "reading": lambda: reading_view(best().mechanism, [best().mechanism.outputs[0].label], None),
    "reliance": lambda: reliance_view(reliance(best().mechanism)),
    "robust": lambda: robust_view(
        robust_design(problem(), [problem().prior, IidPrior((Fraction(1, 2), Fraction(1, 2)))], gap=1e-2, workers=1)
    ),
    "verdict": lambda: verdict_view(verdict.of_mechanism(best().mechanism, best().certificate)),
}
GIVEN = ("0.3", "0.01", "0.7", "0.05", "1e-6", "0.000001", "Def. 1.1", "Prop. 1.6")
"""What was asked for above, or stands in a definition."""


def texts(view: View) -> list[str]:
    found: list[str] = []
    for block in view.told:
        if isinstance(block, Sentence):
            found.append(f"{block.lead} {block.text}")
        elif isinstance(block, Fact):
            found += [block.name, block.text]
        elif isinstance(block, Grid):
            found += [*block.heads, *(str(cell) for row in block.rows for cell in row)]
        elif isinstance(block, Bars):
            found += [label for label, _ in block.rows]
    return found


@pytest.mark.parametrize("name", VIEWS)
def test_every_decimal_goes_back_to_a_number_and_its_side(name: str) -> None:
    best(), family(), noise()
    with recorded() as said:
        view = VIEWS[name]()
    labels = [output.label for one in (best().mechanism, noise(), *(s.mechanism for s in held())) for output in one.outputs]
    assert wrong_sides(said) == []
    assert strangers(texts(view), said, [*GIVEN, *labels]) == []
    assert wrong_ends(dict(view.facts), said) == []


def test_a_lower_end_told_as_an_upper_limit_is_found() -> None:
    """Near-misses: a float formatted by hand, and the wrong end of a bracket."""
    from discreet.numerics.digits import at_least, at_most

    facts = {"epsilon_bracket": [0.25, 0.75]}
    with recorded() as said:
        right = f"between {at_least(0.25)} and {at_most(0.75)}"
    assert strangers([right], said) == [] and wrong_ends(facts, said) == []
    assert strangers(["about 0.3333"], said)
    with recorded() as said:
        at_most(0.25)
    assert wrong_ends(facts, said)


PACKAGES = ("views", "present", "publish", "interpret", "cli", "face", "web")
FORMAT = re.compile(r"\.?\d*[gfeGFE%]$")
BY_HAND = {
    "cli/commands/demo.py": "seconds",
    "cli/commands/new.py": "a prior that is being written into a file",
    "cli/progress.py": "what a search has reached so far, not yet proved",
    "cli/stages/publish.py": "one draw of a demonstration",
    "interpret/diagnostics.py": "how chains of draws did",
    "interpret/doubted_priors.py": "a setting",
    "interpret/models.py": "what was given",
    "interpret/rejection.py": "what was given",
    "present/blocks.py": "the width of a bar",
    "present/figures/two_promises.py": "a δ that was chosen",
    "present/terminal.py": "the shares of bars, which a posterior has to two decimals",
    "publish/bundle.py": "what was given",
    "publish/tables.py": "numbers of a release, which verify computes again",
    "views/levels.py": "columns of a table for programs",
    "views/profile.py": "an order that was chosen",
    "views/two_promises.py": "a δ that was chosen",
    "web/rooms/design.py": "a setting",
    "web/typed.py": "a setting",
}
"""Files that format floats by hand, and what these are: nothing that was proved."""


def test_no_number_is_formatted_by_hand_where_results_are_told() -> None:
    found = set()
    root = Path(discreet.__file__).parent
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
                    spec = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
                    if FORMAT.search(spec):
                        found.add(path.relative_to(root).as_posix())
    assert found - set(BY_HAND) == set(), "numbers become text in numerics.digits, with a side"
    assert set(BY_HAND) - found == set(), "no longer needed"
