"""`design_family(problem, sizes)`: one exact, certified mechanism for each size of cell, or for each bucket of sizes.

Every member has its own proved gap. Sizes are designed side by side, the largest first, kept on disk (cache) and taken
from there when asked again, so a run that was stopped goes on. Buckets are padded to their largest size (model.sizes);
their payoff is also proved at each true size.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from discreet.certify.optimality import listed_value
from discreet.certify.whole_set import must_be_whole
from discreet.design.certified import outward
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.processes.carried import Finished
from discreet.design.processes.kept import Kept, default_folder, kept_design
from discreet.design.program.neighbour import beginning_near
from discreet.design.questions.hedge import NEVER, hedge, must_be_hedgeable
from discreet.design.questions.reliance import Reliance, reliance, why_not_known
from discreet.design.schedule import TimeIsUpError, until_all_is_shown
from discreet.design.units import Units
from discreet.design.watchdog import while_time_lasts
from discreet.errors import InputError
from discreet.files.sizes import Sizes
from discreet.model.family import Family, Member
from discreet.model.mechanism import Mechanism
from discreet.model.prior_set import PriorSet, WholeRegret
from discreet.model.problem import Problem
from discreet.model.record import Record
from discreet.model.sizes import absent_type, at_size, padded, resized
from discreet.watch import SILENT, Deadline, Watch

BLOCK, SMALLEST_BLOCK = 5, 16
"""So many sizes begin near the one in their middle, from this size on: smaller ones differ too much, and take no time."""


@dataclass(frozen=True)
class Made:
    """How one member came about."""

    low: int
    high: int
    relative_gap: float
    seconds: float
    record: Record
    cached: bool
    reliance: Reliance | None = None
    """What it loses under wrong priors; None where that cannot be computed."""
    regret: WholeRegret | None = None
    """Over the whole set of priors that it was hedged over."""

    @property
    def status(self) -> str:
        return self.record.status


@dataclass(frozen=True, eq=False)
class FamilyDesign:
    """The family, how each member came about, and the ranges of sizes that time did not reach."""

    family: Family
    made: tuple[Made, ...]
    missing: tuple[tuple[int, int], ...]
    cells: dict[int, int]
    seconds: float

    def share_within(self, gap: float) -> float:
        """The share of members proved within a relative gap."""
        return sum(m.relative_gap <= gap for m in self.made) / len(self.made)

    @property
    def loss_per_cell(self) -> float:
        """The average expected loss over the cells that were named, and over every size once of a range in which none was."""
        pairs = [(self.family.member(n).value_at(n), count) for n, count in self.cells.items() if self.family.serves(n)]
        known = [(float(value), count) for value, count in pairs if value is not None]
        return -sum(v * c for v, c in known) / sum(c for _, c in known) if known else float("nan")


def design_family(
    problem: Problem,
    sizes: Sizes | Sequence[int],
    watch: Watch = SILENT,
    *,
    gap: float = 1e-6,
    seconds: float = 60.0,
    limit: float | None = None,
    folder: Path | None = None,
    workers: int | None = None,
    hedged: Fraction | PriorSet | None = None,
    never: float | None = NEVER,
    nearby: Sequence[Family] = (),
) -> FamilyDesign:
    """The family of a problem over sizes of cells; with `hedged`, each member is hedged with this radius, or over this set.

    `seconds` bounds the search for each member and `limit` the whole; members not begun by then are `missing`, and
    asking again goes on from there. `folder` keeps the designs. Members of the families in `nearby`, made for the same question
    under other priors, serve here as well where that is proved to be within the gap.
    """
    wanted = sizes if isinstance(sizes, Sizes) else Sizes(tuple((n, n) for n in sorted(set(sizes))), _counted(sizes))
    if hedged is not None:
        must_be_hedgeable(problem)
    if isinstance(hedged, PriorSet):
        must_be_whole(resized(problem, max(high for _, high in wanted.ranges)))
        if any(low < high for low, high in wanted.ranges):
            raise InputError(
                "A family is hedged over a whole set of priors for cells of one size each",
                found="a range of sizes",
                allowed="a mechanism for each size",
                remedy="give the sizes one by one, or hedge with a radius",
            )
    if problem.unbiased == "nearby" and any(low < high for low, high in wanted.ranges):
        raise InputError(
            "Values unbiased nearby are so for cells of one size",
            found="a range of sizes",
            allowed='a mechanism for each size, or unbiased = "everywhere"',
            remedy="give the sizes one by one",
        )
    begun = time.perf_counter()
    place = default_folder() if folder is None else folder
    others = partial(_finished, nearby)
    between = _between(wanted)
    tasks = [
        _Task(
            problem, low, high, tuple(wanted.served(low, high).items()), gap, seconds, place, hedged, never, others(low, high),
            between.get(high) if low == high else None,
        )
        for low, high in sorted(wanted.ranges, key=lambda r: _turn(r[1], between.get(r[1])))
    ]  # fmt: skip
    watched = watch if limit is None else Deadline(limit, watch)
    groups = [task.high if task.near is None else -task.near for task in tasks]
    found = [pair for pair in side_by_side(make_member, tasks, watched, workers, "member", groups) if pair is not None]
    if not found:
        raise InputError(
            "No member of the family was finished",
            found=f"{len(tasks)} sizes asked for",
            allowed="time for at least one",
            remedy="allow more time",
        )
    found.sort(key=lambda pair: pair[0].low)
    done = {(m.low, m.high) for m, _ in found}
    return FamilyDesign(
        Family(tuple(m for m, _ in found)),
        tuple(how for _, how in found),
        tuple(r for r in wanted.ranges if r not in done),
        {size: count for low, high in wanted.ranges for size, count in wanted.served(low, high).items()},
        time.perf_counter() - begun,
    )


def _between(wanted: Sizes) -> dict[int, int]:
    """For each size of a block 5k+1 … 5k+5 that is asked for whole, the size in its middle, near which all of it begins."""
    alone = {high for low, high in wanted.ranges if low == high}
    blocks = {first: range(first, first + BLOCK) for first in alone if first >= SMALLEST_BLOCK and first % BLOCK == 1}
    return {size: first + BLOCK // 2 for first, block in blocks.items() if alone.issuperset(block) for size in block}


def _turn(size: int, middle: int | None) -> tuple[int, ...]:
    """By what sizes are ordered: the largest first, of a block the one in its middle, and then the others."""
    return (-size, 0) if middle is None else (-(middle + BLOCK // 2), size != middle, -size)


def _counted(sizes: Sequence[int]) -> dict[int, int]:
    return {n: list(sizes).count(n) for n in sizes}


@dataclass(frozen=True)
class _Task:
    problem: Problem
    low: int
    high: int
    cells: tuple[tuple[int, int], ...]
    gap: float
    seconds: float
    folder: Path
    hedged: Fraction | PriorSet | None = None
    never: float | None = NEVER
    nearby: tuple[Finished, ...] = ()
    near: int | None = None


def _finished(families: Sequence[Family], low: int, high: int) -> tuple[Finished, ...]:
    """The members for one range of sizes."""
    members = (m for family in families for m in family.members if (m.low, m.high) == (low, high))
    return tuple(Finished(m.mechanism, m.certificate) for m in members)


def make_member(task: _Task, watch: Watch) -> tuple[Member, Made]:
    """Design, or find, the mechanism for one range of sizes."""
    problem, watch = task.problem, until_all_is_shown(task.seconds, watch)
    if task.low == task.high:
        with beginning_near(None if task.near is None else Units.of(resized(problem, task.near)).inner):
            found = _made(resized(problem, task.high), task, watch)
        assert found.certificate.optimality is not None
        values: tuple[tuple[int, Fraction], ...] = ((task.high, found.certificate.optimality.value),)
        member = Member(task.low, task.high, found.mechanism, found.certificate, values)
        return member, _how(task, found, watch)
    total = sum(count for _, count in task.cells)
    mean = Fraction(sum(n * count for n, count in task.cells), total)
    if mean == task.high:
        mean -= Fraction(1, 2)
    empty = 1 - mean / task.high
    bucket = padded(problem, task.high, empty)
    found = _made(bucket, task, watch)
    shared = absent_type(problem)
    absent = bucket.people.types - 1 if shared is None else shared
    values = tuple((n, value_at(found.mechanism, absent, empty, n)) for n, _ in sorted(task.cells))
    return Member(task.low, task.high, found.mechanism, found.certificate, values, absent, empty), _how(task, found, watch)


def _made(problem: Problem, task: _Task, watch: Watch) -> Kept:
    """The design of one member, hedged if that is asked for."""
    found = kept_design(problem, task.folder, watch, gap=task.gap, seconds=task.seconds, nearby=task.nearby)
    if task.hedged is None:
        return found
    if isinstance(task.hedged, PriorSet):
        from discreet.design.questions.kept_hedge import kept_hedge

        return kept_hedge(found, task.hedged, task.folder, watch, gap=task.gap, seconds=task.seconds)
    safe = hedge(found.mechanism, found.certificate, task.hedged, task.never, watch)
    return replace(found, mechanism=safe.mechanism, certificate=safe.certificate)


def value_at(mechanism: Mechanism, absent: int, empty: Fraction, size: int) -> Fraction:
    """The proved expected payoff of a padded mechanism in a cell that holds exactly `size` respondents."""
    true = at_size(mechanism.problem, absent, empty, size)
    return outward(listed_value(replace(mechanism, problem=true)), down=True)


def _how(task: _Task, found: Kept, watch: Watch) -> Made:
    told = None
    if why_not_known(found.mechanism) is None:
        with suppress(TimeIsUpError, MemoryError):
            told = while_time_lasts(lambda: reliance(found.mechanism), watch)
    record = replace(found.record, mechanism=found.certificate.mechanism)
    return Made(task.low, task.high, found.relative_gap, found.seconds, record, found.cached, told, found.regret)
