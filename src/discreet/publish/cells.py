"""The cells of releases as a reader finds them: their keys and sizes, what was drawn for each, and what is believed of them now.

Several releases may speak of the same cells; what they say is put together cell by cell, since draws are independent given the
data. Refused are releases of different populations or units, whose sizes of a cell differ, and the same draw given twice, which
would count as two. Files must be as the manifest says; whether the release is genuine is for `verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Refuted
from discreet.files.atomic import read_bytes
from discreet.files.strata import Served
from discreet.interpret.doubted_priors import Doubt, doubt
from discreet.interpret.totals import CellBeliefs, PublishedGroup, cell_beliefs
from discreet.model.family import Member
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.model.plan import Plan
from discreet.model.priors import IidPrior, Prior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.sizes import at_size
from discreet.model.statistic import MeanStatistic
from discreet.numerics.arrays import Integers
from discreet.publish.bundle import mechanism_for, named
from discreet.publish.folder import bundle_in, changed_since, document_in, release_format
from discreet.publish.spreadsheets import disarmed, disarmed_1
from discreet.publish.tables import drawn_outputs

Believing = Callable[[Problem], Prior]
"""A reader's own prior for a problem."""


@dataclass(frozen=True, eq=False)
class ReleasedDraws:
    """One release: plan, cells, what serves each of them (`served`), the output drawn for each, and the draw in the ledger."""

    folder: Path
    plan: Plan
    key_set: KeySet
    members: Mapping[Served, Member | Mechanism]
    served: tuple[Served, ...]
    outputs: Integers
    draw: str


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """Cells in the order in which the releases list them, and the releases; `believing` replaces the designs' priors."""

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    sizes: Integers
    releases: tuple[ReleasedDraws, ...]
    believing: Believing | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def position(self) -> dict[tuple[str, ...], int]:
        """The place of each cell."""
        return {cell: i for i, cell in enumerate(self.cells)}

    @cached_property
    def keys(self) -> dict[str, NDArray[np.str_]]:
        """The keys of all cells, column by column."""
        return {name: np.array([cell[i] for cell in self.cells], dtype=np.str_) for i, name in enumerate(self.columns)}

    @cached_property
    def beliefs(self) -> CellBeliefs:
        """What is believed of each cell."""
        return cell_beliefs(self.groups)

    @cached_property
    def groups(self) -> list[PublishedGroup]:
        """Cells of one size that the same releases speak of, each with one mechanism."""
        return self._groups()

    def doubt(self, share: float) -> Doubt:
        """How totals move when every probability of the prior may be off by a share, as far as the releases allow."""
        return doubt(self.groups, self.beliefs, share)

    def _groups(self) -> list[PublishedGroup]:
        outputs = np.full((len(self), len(self.releases)), -1, dtype=np.int64)
        kinds = np.full_like(outputs, -1)
        listed: list[list[Served]] = []
        for j, release in enumerate(self.releases):
            places = np.array([self.position[cell] for cell in release.key_set.cells], dtype=np.int64)
            outputs[places, j] = release.outputs
            listed.append(sorted(set(release.served)))
            number = {kind: i for i, kind in enumerate(listed[j])}
            kinds[places, j] = [number[kind] for kind in release.served]
        shapes, which = np.unique(np.column_stack([self.sizes, kinds]), axis=0, return_inverse=True)
        found = []
        for k, (size, *held) in enumerate(shapes.tolist()):
            at = np.flatnonzero(which.reshape(-1) == k)
            told = {j: listed[j][kind] for j, kind in enumerate(held) if kind >= 0}
            found.append(self._group(at, size, told, outputs[at][:, list(told)]))
        return found

    def _group(self, cells: Integers, size: int, told: Mapping[int, Served], outputs: Integers) -> PublishedGroup:
        served = [self.releases[j].members[kind] for j, kind in told.items()]
        mechanisms = tuple(map(mechanism_for, served))
        priors = [prior_at(member, size, self.believing) for member in served]
        first = mechanisms[0].problem
        if any(m.problem.statistic != first.statistic or m.problem.universe != first.universe for m in mechanisms):
            raise InputError(
                f"The releases speak of different things in cells of {size} respondents",
                found="another statistic or other values",
                allowed="the same values and statistic in every release",
                remedy="add them up one by one",
            )
        if any(prior != priors[0] for prior in priors):
            raise InputError(
                f"The releases were designed under different priors for cells of {size} respondents",
                found="two priors",
                allowed="one prior to read all of them with",
                remedy="give yours with --prior",
            )
        scale = Fraction(size) if isinstance(first.statistic, MeanStatistic) else Fraction(1)
        return PublishedGroup(cells, mechanisms, outputs, priors[0], scale)


def prior_at(served: Member | Mechanism, size: int, believing: Believing | None = None) -> Prior:
    """What is believed of a cell of a known size: for a padded member, the number of absent places is known."""
    mechanism = mechanism_for(served)
    if not isinstance(served, Member) or served.absent is None or served.absent_probability is None:
        return mechanism.problem.prior if believing is None else believing(mechanism.problem)
    bucket = mechanism.problem
    if believing is not None:
        own = believing(bucket)
        if not isinstance(own, (IidPrior, ReferencePrior)):
            raise InputError(
                "Cells that share a mechanism with larger ones are read under independent respondents",
                found=f"a prior of kind {own.kind}",
                allowed="iid or reference",
                remedy="give such a prior",
            )
        absent = served.absent_probability
        mixed = [(1 - absent) * p + absent * (t == served.absent) for t, p in enumerate(own.probabilities)]
        bucket = replace(bucket, prior=IidPrior(tuple(mixed)))
    return at_size(bucket, served.absent, served.absent_probability, size).prior


def published_cells(*folders: str | Path, believing: Believing | None = None) -> PublishedCells:
    """The cells of one or several release folders about the same population."""
    if not folders:
        raise InputError("There is no release", found="none", allowed="one or more folders", remedy="name a release folder")
    releases = tuple(map(released_draws, folders))
    first = releases[0]
    seen: dict[str, Path] = {}
    for release in releases:
        if release.draw in seen:
            raise InputError(
                "The same draw is given twice",
                found=f"{seen[release.draw]} and {release.folder}",
                allowed="each draw once",
                remedy="leave one of them out: a copy tells nothing new",
            )
        seen[release.draw] = release.folder
        mine, theirs = (release.plan.population, release.plan.unit.name), (first.plan.population, first.plan.unit.name)
        if mine != theirs:
            raise InputError(
                "The releases speak of different populations",
                found=f"{mine[0]} ({mine[1]}) in {release.folder}",
                allowed=f"{theirs[0]} ({theirs[1]}), as in {first.folder}",
                remedy="add them up one by one",
            )
        if release.key_set.columns != first.key_set.columns:
            raise InputError(
                "The releases have different keys",
                found=", ".join(release.key_set.columns),
                allowed=", ".join(first.key_set.columns),
                remedy="add them up one by one, or say how their cells nest",
            )
    sizes: dict[tuple[str, ...], int] = {}
    for release in releases:
        for cell, size in zip(release.key_set.cells, release.key_set.sizes, strict=True):
            if sizes.setdefault(cell, size) != size:
                raise InputError(
                    f"The releases give the cell {' / '.join(cell)} different sizes",
                    found=str(size),
                    allowed=str(sizes[cell]),
                    remedy="add them up one by one",
                )
    return PublishedCells(first.key_set.columns, tuple(sizes), np.array(list(sizes.values())), releases, believing)


def released_draws(folder: str | Path) -> ReleasedDraws:
    """What a release folder says was drawn for each of its cells."""
    where = Path(folder)
    if not (where / "release.csv").is_file():
        raise InputError(
            "This folder is no release",
            found=str(where),
            allowed="a folder that publish wrote",
            remedy="give the release's folder",
        )
    changed = changed_since(where)
    if changed is not None:
        raise Refuted("the release is not as it was published", changed)
    bundle = bundle_in(where)
    if bundle.asked is not None:
        raise InputError(
            "The numbers of a learning release are no cells",
            found=str(where),
            allowed="a release of cells",
            remedy="read them with the release that was designed with them",
        )
    missing = sorted(set(bundle.served) - set(bundle.members))
    used = {kind: mechanism_for(bundle.members[kind]) for kind in set(bundle.served) if kind in bundle.members}
    disarming = disarmed_1 if release_format(where) == 1 else disarmed
    table = read_bytes(where / "release.csv", "release.csv")
    read = drawn_outputs(table, bundle.cells, used, disarming, served=bundle.served)
    if missing or isinstance(read, str):
        raise InputError(
            "The table of this release cannot be read",
            found=str(read) if isinstance(read, str) else f"sizes {', '.join(map(named, missing[:5]))}",
            allowed="a folder that publish wrote",
            remedy="run discreet verify on it",
        )
    ledger = document_in(where, "ledger.json")
    return ReleasedDraws(where, bundle.plan, bundle.key_set, bundle.members, bundle.served, read[2], str(ledger["reservation"]))
