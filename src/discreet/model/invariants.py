"""Invariants: some counts are published exactly, and privacy holds only between databases that agree on them.

An invariant is a set of types; how many respondents have one of them is public. Types that belong to the same sets form a class.
Two databases are neighbours when one respondent's type changes *within its class*, so every invariant stays; databases in which an
invariant differs lie in different components, between which nothing is promised (BG Def. 3).

`compiled` turns a problem into one on its listed histograms with that graph: every solver, checker and verifier that takes a given
graph then takes it, proves ε along its edges, and so within each component. `protection` says what is protected and what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.model.neighbours import GivenGraph, ReplaceOne
from discreet.model.priors import TablePrior
from discreet.model.problem import Problem, believed
from discreet.model.states import state_space
from discreet.model.statistic import TableStatistic
from discreet.model.summary import HistogramSummary
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.exact import format_exact

MOST_STATES = 2000
Types = tuple[int, ...]


@dataclass(frozen=True)
class Protection:
    """Classes of types within which a respondent may change unseen, and what everybody learns in words."""

    classes: tuple[Types, ...]
    components: int
    unprotected: tuple[str, ...]


def classes_of(types: int, invariants: Sequence[Types]) -> tuple[Types, ...]:
    """Types that belong to the same invariants, in the order of their first member."""
    found: dict[tuple[bool, ...], list[int]] = {}
    for t in range(types):
        found.setdefault(tuple(t in fixed for fixed in invariants), []).append(t)
    return tuple(tuple(members) for members in found.values())


def compiled(problem: Problem, invariants: Sequence[Types]) -> Problem:
    """The problem on its histograms, with neighbours that keep every invariant; what is not protected stands in its notes."""
    universe = _checked(problem, invariants)
    classes = classes_of(universe.types, invariants)
    space = state_space(universe, problem.neighbours, HistogramSummary())
    known = believed(problem, space)
    vectors = np.asarray(space.vectors)
    of_class = np.array([vectors[:, list(members)].sum(axis=1) for members in classes]).T
    kept = [(int(i), int(j)) for i, j in space.edges.tolist() if (of_class[i] == of_class[j]).all()]
    labels = space.labels
    said = protection(problem, invariants)
    return replace(
        problem,
        universe=ListedUniverse(labels),
        neighbours=GivenGraph(tuple((labels[i], labels[j]) for i, j in kept)),
        prior=TablePrior(tuple((label, known.weights[i]) for i, label in enumerate(labels))),
        statistic=TableStatistic(tuple(zip(labels, known.omegas, strict=True))),
        notes=(*problem.notes, *said.unprotected),
    )


def protection(problem: Problem, invariants: Sequence[Types]) -> Protection:
    """What holds and what does not, before anything is designed."""
    universe = _checked(problem, invariants)
    classes = classes_of(universe.types, invariants)
    vectors = universe.histograms()
    of_class = {tuple(int(row[list(members)].sum()) for members in classes) for row in vectors}
    words = [
        f"Not protected: how many respondents have {_values(universe, fixed)} is public, exactly; "
        "whoever knows all others learns whether you are among them."
        for fixed in invariants
    ]
    for members in classes:
        if len(members) == 1:
            words.append(f"Not protected at all: having {_values(universe, members)}, since no other type keeps the invariants.")
    words.append(
        f"Protected: which of {' or which of '.join(_values(universe, m) for m in classes if len(m) > 1)} a respondent has."
    )
    return Protection(classes, len(of_class), tuple(words))


def _checked(problem: Problem, invariants: Sequence[Types]) -> Universe:
    universe = problem.universe
    if not isinstance(universe, Universe) or not isinstance(problem.neighbours, ReplaceOne):
        raise InputError(
            "Invariants are for a fixed number of respondents of whom one is replaced",
            found=problem.neighbours.name,
            allowed="respondents, values and neighbours = 'replace-one'",
            remedy="list states and edges yourself for any other relation: neighbours = { states, edges }",
        )
    if not problem.exchangeable:
        raise InputError(
            "Invariants need respondents whose order does not matter",
            found=f"a prior of kind {problem.prior.kind!r}, or a statistic of databases",
            allowed="an iid, reference or exchangeable prior",
            remedy="choose one of these",
        )
    for fixed in invariants:
        if not fixed or len(set(fixed)) != len(fixed) or not all(0 <= t < universe.types for t in fixed):
            raise InputError(
                "An invariant is a set of types, numbered from 0",
                found=str(list(fixed)),
                allowed=f"different numbers from 0 to {universe.types - 1}, at least one",
                remedy="correct data.invariants",
            )
    if all(len(members) == 1 for members in classes_of(universe.types, invariants)):
        raise InputError(
            "With these invariants nothing is protected: every type is told apart from every other",
            found=str([list(fixed) for fixed in invariants]),
            allowed="invariants that leave two types together",
            remedy="fix fewer counts",
        )
    if universe.histogram_count > MOST_STATES:
        raise TooLarge(
            "There are too many histograms to list with invariants",
            size=f"{universe.histogram_count:,} histograms",
            fits=f"{MOST_STATES:,}: for instance {universe.fitting(MOST_STATES):,} respondents",
            remedy="ask about smaller cells or fewer types",
        )
    return universe


def _values(universe: Universe, types: Types) -> str:
    return " or ".join(format_exact(universe.values[t]) for t in types)
