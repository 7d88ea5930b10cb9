"""A bundle: everything a publication stands on, gathered and checked without opening any data.

Plan, key set and mechanisms (one, a family by cell size, or a family for each stratum) must fit each other: the same types, a
mechanism for every cell, the plan's unit, and a summary that engines can compute. A plan to learn from publishes numbers that are
pooled over cells (learning.questions); a plan under a learned prior carries the release that it was learned from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.certify.verdict import MechanismVerdict, of_mechanism
from discreet.errors import InputError, Refuted
from discreet.files.atomic import read_bytes
from discreet.files.canonical import document_hash, parse_json
from discreet.files.certificate import certificate_from_document, certificate_path
from discreet.files.family import family_from_document
from discreet.files.mechanism import mechanism_from_document
from discreet.files.plan import key_set_hash, located, plan_hash, read_key_set, read_plan
from discreet.files.strata import STRATA_FORMAT, Served, strata_from_document
from discreet.learning.questions import Question, answers, learning_cells, questions
from discreet.ledger.budget import Cost
from discreet.model.certificate import Certificate
from discreet.model.family import Member
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.model.plan import Plan
from discreet.model.universe import Universe
from discreet.numerics.arrays import Integers
from discreet.publish.costs import least_cost, rounded_up
from discreet.publish.learned import LearnedFolder, must_follow, read_learned
from discreet.publish.tables import OWN_COLUMNS, places_of

Sampler = Callable[[Mechanism, Integers], Integers]
"""Draws one output for each histogram."""


@dataclass(frozen=True, eq=False)
class Bundle:
    """What is committed: a plan with its paths resolved, its key set, and the mechanism for each size of cell."""

    plan: Plan
    written: Plan
    key_set: KeySet
    members: Mapping[Served, Member | Mechanism]
    mechanism_document: Any
    certificate_document: Any = None
    path: Path | None = None
    learned: LearnedFolder | None = None

    @cached_property
    def hashes(self) -> dict[str, str]:
        """What a commitment binds."""
        found = {
            "plan": plan_hash(self.written),
            "key_set": key_set_hash(self.key_set),
            "mechanism": document_hash(self.mechanism_document),
        }
        if self.certificate_document is not None:
            found["certificate"] = document_hash(self.certificate_document)
        if self.learned is not None:
            found["learned"] = self.learned.digest
        return found

    @cached_property
    def asked(self) -> tuple[Question, ...] | None:
        """The questions of a plan to learn from."""
        learning = self.plan.learning
        if learning is None:
            return None
        return questions(self.key_set, self.plan.recoding.types, learning.strata, kinds=learning.kinds)

    @cached_property
    def cells(self) -> KeySet:
        """What is published, line by line: the key set's cells, or the questions of a plan to learn from."""
        learning = self.plan.learning
        return self.key_set if self.asked is None or learning is None else learning_cells(self.asked, learning.strata)

    @property
    def types(self) -> int:
        """How many types the histograms have that mechanisms read."""
        return self.plan.recoding.types if self.asked is None else 2

    @cached_property
    def served(self) -> tuple[Served, ...]:
        """Which member serves each published line: its size, or its stratum and size."""
        if not is_stratified(self.mechanism_document):
            return self.cells.sizes
        at = [self.cells.columns.index(name) for name in self.mechanism_document["keys"] if name in self.cells.columns]
        return tuple((*(cell[i] for i in at), size) for cell, size in zip(self.cells.cells, self.cells.sizes, strict=True))

    @cached_property
    def used(self) -> dict[Served, Mechanism]:
        """The mechanisms that the cells call for."""
        return {kind: mechanism_for(self.members[kind]) for kind in sorted(set(self.served))}

    def draw(self, counts: NDArray[np.integer], sampler: Sampler) -> Integers:
        """One output for each line; cells of a padded member are first filled up with absent respondents."""
        rows = np.asarray(counts, dtype=np.int64)
        if self.asked is not None:
            rows = answers(self.asked, rows)
        found = np.empty(len(rows), dtype=np.int64)
        for kind, at in places_of(self.served).items():
            mechanism, member = self.used[kind], self.members[kind]
            found[at] = sampler(mechanism, filled(member, rows[at]) if isinstance(member, Member) else rows[at])
        return found

    @cached_property
    def least_cost(self) -> Cost:
        """What one publication costs a unit at least: cells of one partition are parallel, so the worst of them counts."""
        return least_cost(self.plan.exposure, self.used.values())

    @cached_property
    def cost(self) -> Cost:
        """What is charged for one publication."""
        return rounded_up(self.least_cost)

    def verdicts(self) -> dict[Served, MechanismVerdict]:
        """What holds of the privacy of every used mechanism and of what its certificate says of that; worth is not proved here."""
        stated = None if self.certificate_document is None else certificate_from_document(self.certificate_document)
        return {
            size: of_mechanism(served.mechanism, served.certificate, worth=False)
            if isinstance(served, Member)
            else of_mechanism(served, stated, worth=False)
            for size, served in ((size, self.members[size]) for size in self.used)
        }

    def prove(self) -> dict[Served, Certificate]:
        """Every used mechanism proved private again; refuses one that is not, or whose certificate says other things."""
        found = {}
        for size, verdict in self.verdicts().items():
            if verdict.counterexample is not None or verdict.privacy is None:
                words = f"the mechanism for cells of {named(size)} respondents is not private as claimed"
                raise Refuted(words, verdict.counterexample)
            found[size] = Certificate(verdict.hash, verdict.privacy)
        return found


def gather(path: str | Path) -> Bundle:
    """The bundle of a plan file. Reads plan, key set and mechanism; opens no data."""
    where = Path(path)
    written = read_plan(where)
    plan = located(written, where.parent)
    key_set = read_key_set(plan.key_set, plan)
    document = parse_json(read_bytes(Path(plan.mechanism), "the mechanism or family file"), "the mechanism or family file")
    beside = certificate_path(plan.mechanism)
    certificate = None
    if not is_family(document) and not is_stratified(document) and beside.exists():
        certificate = parse_json(read_bytes(beside, "the certificate"), "the certificate")
    learned = read_learned(Path(plan.learned)) if plan.learned else None
    bundle = Bundle(plan, written, key_set, members_of(document), document, certificate, where, learned)
    check_bundle(bundle)
    must_follow(bundle)
    return bundle


def is_family(document: Any) -> bool:
    """Whether a document is a family, which holds its certificates itself, rather than one mechanism."""
    return isinstance(document, dict) and str(document.get("format", "")).startswith("discreet-family/")


def is_stratified(document: Any) -> bool:
    """Whether a document holds a family for each stratum."""
    return isinstance(document, dict) and document.get("format") == STRATA_FORMAT


def members_of(document: Any) -> dict[Served, Member | Mechanism]:
    """What serves each size of cell (in each stratum), from the document of a mechanism, a family or families by stratum."""
    if is_stratified(document):
        families = strata_from_document(document).families
        return {
            (*stratum, size): member
            for stratum, family in families.items()
            for member in family.members
            for size in range(member.low, member.high + 1)
        }
    if is_family(document):
        family = family_from_document(document)
        return {size: member for member in family.members for size in range(member.low, member.high + 1)}
    mechanism = mechanism_from_document(document)
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe) or not universe.fixed:
        raise InputError(
            "Cells are published with mechanisms for a fixed number of respondents",
            found="another universe",
            allowed="respondents = N",
            remedy="design with replace-one neighbours",
        )
    return {universe.respondents: mechanism}


def mechanism_for(served: Member | Mechanism) -> Mechanism:
    """The mechanism itself."""
    return served.mechanism if isinstance(served, Member) else served


def check_bundle(bundle: Bundle) -> None:
    """Refuse a plan whose parts do not fit, before anything is committed."""
    plan = bundle.plan
    taken = [name for name in bundle.key_set.columns if name in OWN_COLUMNS]
    if taken:
        raise InputError(
            "A key column has the name of a column that every release has",
            found=", ".join(taken),
            allowed=f"other names than {', '.join(OWN_COLUMNS)}",
            remedy="rename the key column in the source, the plan and the key set",
        )
    missing = sorted(set(bundle.served) - set(bundle.members))
    if missing:
        raise InputError(
            "The key set has cells of a size that no mechanism is for",
            found=f"sizes {', '.join(map(named, missing[:5]))}",
            allowed=f"{named(min(bundle.members))} to {named(max(bundle.members))}",
            remedy="design the family for these sizes",
        )
    for size, mechanism in bundle.used.items():
        universe = mechanism.problem.universe
        if not isinstance(universe, Universe) or universe.types - _added(bundle.members[size]) != bundle.types:
            raise InputError(
                f"The mechanism for cells of {named(size)} has other types than the plan's recoding",
                found=f"{bundle.types} types in the plan",
                allowed="as many types as the mechanism",
                remedy="make recoding and problem agree",
            )
        if mechanism.summary.ordered:
            raise InputError(
                "A mechanism that reads the whole database cannot be published from histograms",
                found="summary 'database'",
                allowed="'histogram' or 'linear'",
                remedy="design under an exchangeable prior",
            )
        _must_be_listed(mechanism)
        if mechanism.guarantee.unit != plan.unit.name:
            raise InputError(
                "The mechanism protects another unit than the plan",
                found=f"{mechanism.guarantee.unit!r}",
                allowed=f"{plan.unit.name!r}",
                remedy="use the same name for the privacy unit",
            )
    level = bundle.cost.zcdp if bundle.cost.epsilon is None else bundle.cost.epsilon
    if plan.most is not None and level > plan.most:
        letter = "ρ" if bundle.cost.epsilon is None else "ε"
        raise InputError(
            "This publication costs more than the plan allows",
            found=f"{letter} = {_short(level)}",
            allowed=f"budget.most = {_short(plan.most)}",
            remedy=f"use a smaller {letter} or raise budget.most",
        )


def named(kind: Served) -> str:
    """A size, or a stratum and a size, as text: the key of its proof in a release."""
    return str(kind) if isinstance(kind, int) else json.dumps(list(kind), ensure_ascii=False)


def _must_be_listed(mechanism: Mechanism) -> int:
    """A release has words for every output, and every output can be drawn: what cannot is refused now, not at the draw."""
    mechanism.kernel.must_be_drawable()
    return len(mechanism.outputs)


def filled(member: Member, rows: Integers) -> Integers:
    """Histograms of a member's sizes as the histograms that its mechanism reads."""
    if member.absent is None:
        return rows
    return np.array([member.histogram(row) for row in rows.tolist()], dtype=np.int64).reshape(len(rows), -1)


def _added(served: Member | Mechanism) -> int:
    """1 when a padded member's mechanism has one more type, for absent respondents, than the data."""
    if not isinstance(served, Member) or served.absent is None:
        return 0
    universe = served.mechanism.problem.universe
    return int(isinstance(universe, Universe) and served.absent == universe.types - 1 and _is_extra(served))


def _is_extra(member: Member) -> bool:
    counts = [0] * (len(member.mechanism.problem.universe.values) - 1)  # type: ignore[union-attr]
    counts[0] = member.high
    return len(member.histogram(counts)) == len(counts) + 1


def _short(number: Fraction) -> str:
    return f"{float(number):g}"
