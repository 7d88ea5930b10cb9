"""Totals over cells viewed: one region, a difference, a share, or many regions with their ranks.

`asked_total`, `asked_share` and `asked_regions` take the cells of releases and a choice of keys, and answer with typed results;
the views say them. What is left out of an interval is bounded from above, what it holds from below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.interpret.comparing_totals import Rank, RegionShare, ranks, ranks_over, share_over
from discreet.interpret.doubted_priors import doubted
from discreet.interpret.totals import Total, region_totals, total
from discreet.numerics.arrays import Integers
from discreet.numerics.digits import about, given, percent_about, percent_at_least, percent_given
from discreet.publish.cell_regions import chosen, overlap
from discreet.publish.cells import PublishedCells
from discreet.views.view import Block, Fact, Grid, Sentence, View, mind

MOST_ROWS = 60


@dataclass(frozen=True, eq=False)
class AskedTotal:
    """A total, or a difference of two, with the words it was asked in."""

    found: Total
    where: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    level: float = 0.9
    over: Fraction | None = None
    doubt: float | None = None

    @property
    def words(self) -> str:
        """Which cells, in words."""
        first = ", ".join(self.where) or "all cells"
        return f"{first} less {', '.join(self.less)}" if self.less else first


@dataclass(frozen=True, eq=False)
class AskedRegion:
    """One of many regions: its name, its total, its rank where regions share no cell."""

    name: str
    found: Total
    rank: Rank | None


def asked_total(
    cells: PublishedCells,
    where: Sequence[str] = (),
    *,
    less: Sequence[str] = (),
    level: float = 0.9,
    over: Fraction | None = None,
    doubt: float | None = None,
) -> AskedTotal:
    """The total over the cells with these keys, less that over others; `doubt` allows the prior to be off by that share."""
    plus = chosen(cells, where)
    minus = chosen(cells, less) if less else None
    found = total(cells.beliefs, plus, minus)
    if doubt is not None:
        found = doubted(found, *cells.doubt(doubt).move(cells.beliefs, plus, minus))
    return AskedTotal(found, tuple(where), tuple(less), level, over, doubt)


def asked_share(
    cells: PublishedCells, where: Sequence[str], of: Sequence[str] = (), level: float = 0.9, doubt: float | None = None
) -> RegionShare:
    """The share of the cells `where` in the cells `of` (all by default), in which they must lie."""
    part, whole = chosen(cells, where), chosen(cells, of)
    outside = np.setdiff1d(part, whole)
    rest = np.setdiff1d(whole, part)
    if len(outside) or not len(rest):
        raise InputError(
            "A share is of a part in a larger whole",
            found=f"{len(outside)} cells outside, {len(rest)} beside it",
            allowed="a part inside the whole, and smaller",
            remedy="choose the whole with --of, or leave --of out for all cells",
        )
    totals = [total(cells.beliefs, part), total(cells.beliefs, rest)]
    scenarios = [totals] if doubt is None else cells.doubt(doubt).shifted(cells.beliefs, totals, [part, rest])
    return share_over([(one, other) for one, other in scenarios], level)


def asked_regions(
    cells: PublishedCells, regions: Mapping[str, Integers], level: float = 0.9, doubt: float | None = None
) -> list[AskedRegion]:
    """The total over each region; their ranks where no two share a cell."""
    found = region_totals(cells.beliefs, list(regions.values()))
    ranked = len(found) > 1 and not overlap(regions)
    places: Sequence[Rank | None] = [None] * len(found)
    if doubt is None:
        places = ranks(found, level) if ranked else places
    else:
        moves = cells.doubt(doubt)
        if ranked:
            places = ranks_over(moves.shifted(cells.beliefs, found, list(regions.values())), level)
        found = [doubted(one, *moves.move(cells.beliefs, at)) for one, at in zip(found, regions.values(), strict=True)]
    return [AskedRegion(name, one, rank) for name, one, rank in zip(regions, found, places, strict=True)]


def total_facts(found: Total, level: float, over: Fraction | None = None) -> dict[str, Any]:
    """A total as a mapping."""
    low, high = found.interval(level)
    facts: dict[str, Any] = {
        "cells": found.cells,
        "mean": found.mean,
        "standard_deviation": found.standard_deviation,
        "level": level,
        "interval": [_plain(low), _plain(high)],
        "interval_probability": found.holds(low, high),
        "unbiased": found.unbiased,
        "standard_error": found.standard_error,
        "published": found.published,
        "error": found.law.error,
    }
    if over is not None:
        facts |= {"threshold": _plain(over), "exceeds": list(found.exceeds(over))}
    return facts


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def total_view(asked: AskedTotal, part: RegionShare | None = None, of: Sequence[str] = ()) -> View:
    """A total, what it rests on, and what to use instead when the prior is not believed."""
    facts = {"where": list(asked.where), "less": list(asked.less), **total_facts(asked.found, asked.level, asked.over)}
    if asked.doubt is not None:
        facts["doubt"] = asked.doubt
    if part is not None:
        facts["share"] = {"of": list(of), "median": part.median, "interval": [part.lower, part.upper]}
    return View(facts, tuple(_told(asked, facts, part, of)))


def _told(asked: AskedTotal, facts: Mapping[str, Any], part: RegionShare | None, of: Sequence[str]) -> Iterator[Block]:
    found = asked.found
    low, high = found.interval(asked.level)
    held = f"at least {percent_at_least(facts['interval_probability'])}"
    if asked.doubt is not None:
        held = f"about {percent_about(facts['interval_probability'])}"
    yield Sentence(
        f"The {'difference' if asked.less else 'total'} over {_cells(found)} ({asked.words}) is about {about(found.mean, 6)}: "
        f"from {given(low)} to {given(high)} with a probability of {held}."
    )
    yield Fact("mean", f"{about(found.mean, 8)} (standard deviation {about(found.standard_deviation)})")
    yield Fact("interval", f"{given(low)} to {given(high)} (asked for: {percent_given(asked.level)})")
    if asked.over is not None:
        chance = found.exceeds(asked.over)
        yield Fact("chance", f"{percent_about(sum(chance) / 2)} to exceed {given(asked.over)}")
    if part is not None:
        whole = ", ".join(of) or "all cells"
        yield Fact("share", f"{percent_about(part.median)} of {whole} ({percent_about(part.lower)} to {percent_about(part.upper)})")
    if asked.doubt is not None:
        yield Fact("prior", f"may be off by {percent_given(asked.doubt)} in every probability, as far as the release allows")
    yield from _beside(found, asked.doubt is None)


def _cells(found: Total) -> str:
    return "1 cell" if found.cells == 1 else f"{found.cells:,} cells"


def _beside(found: Total, believed: bool = True) -> Iterator[Block]:
    """The unbiased sum, and what the published column would have added up to."""
    if found.unbiased is not None and found.standard_error is not None:
        sure = "unbiased whatever the prior, or near it where the design says nearby"
        yield Fact("unbiased sum", f"{about(found.unbiased, 8)} ± {about(found.standard_error)} ({sure})")
    if found.published is not None:
        yield Fact("published", f"{about(found.published, 8)} when the published values are added up as they are")
    if found.unbiased is None and believed:
        yield mind(
            "the total rests on the prior: these mechanisms have no unbiased values, so a prior that is wrong in the same way in "
            "every cell moves the total with it. Allow for that with --doubt 0.1, or read it under your own with --prior."
        )


def regions_view(regions: Sequence[AskedRegion], level: float = 0.9, over: Fraction | None = None, least: int = 0) -> View:
    """A row for each region, with ranks where regions share no cell; `least` is how many cells they have in all."""
    rows = []
    for region in regions:
        row = {"region": region.name, **total_facts(region.found, level, over)}
        if region.rank is not None:
            r = region.rank
            row["rank"] = {"expected": r.expected, "interval": None if r.best is None else [r.best, r.worst], "first": r.first}
        rows.append(row)
    facts = {"regions": rows, "level": level, "cells": least or sum(region.found.cells for region in regions)}
    return View(facts, tuple(_regions_told(regions, level, over)))


def _regions_told(regions: Sequence[AskedRegion], level: float, over: Fraction | None) -> Iterator[Block]:
    ranked = all(region.rank is not None for region in regions)
    unbiased = all(region.found.unbiased is not None for region in regions)
    heads = ["region", "cells", "mean", f"{percent_given(level)} interval"]
    heads += ["unbiased sum"] * unbiased + ["chance"] * (over is not None) + ["rank"] * ranked
    lines = []
    for region in regions[:MOST_ROWS]:
        found = region.found
        low, high = found.interval(level)
        line = [region.name, f"{found.cells:,}", about(found.mean, 6), f"{given(low)} to {given(high)}"]
        if unbiased and found.unbiased is not None and found.standard_error is not None:
            line.append(f"{about(found.unbiased, 6)} ± {about(found.standard_error, 3)}")
        if over is not None:
            line.append(percent_about(sum(found.exceeds(over)) / 2))
        if ranked and region.rank is not None:
            line.append(_rank(region.rank))
        lines.append(line)
    yield Grid(tuple(heads), lines)
    if len(regions) > MOST_ROWS:
        yield Sentence(f"The first {MOST_ROWS} of {len(regions):,} regions; --json prints all of them.")
    if over is not None:
        yield Sentence(f"Chance: the probability that the total exceeds {given(over)}.")
    if ranked:
        yield Sentence("Ranks: the largest total first; between which ranks the region's lies, as sure as the interval.")
    elif len(regions) > 1:
        yield Sentence("Regions that share cells are not ranked.")


def _rank(rank: Rank) -> str:
    if rank.best is None or rank.worst is None:
        return about(rank.expected, 4)
    return str(rank.best) if rank.best == rank.worst else f"{rank.best} to {rank.worst}"
