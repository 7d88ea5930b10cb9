"""Several levels of one table (block, tract, county): plans for levels above a plan, and one coherent answer from their releases.

A level above has some of the keys of the finest one; its cells are the sums of those below, sizes included. Each level is a release
of its own, committed together in one batch, so a unit pays the sum over levels (`allocate` splits a budget with a proof). Read
together, the finest level's posteriors and what was published above meet in a tree (interpret.coherent_levels). That is exact as
far as every cell holds what its declared size says: rows cut from a crowded cell are not cut from the cell above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import parse_json
from discreet.files.plan import located, plan_document, read_key_set, read_plan
from discreet.interpret.coherent_levels import CoherentTotals, Likelihood, TotalsTree, coherent_totals
from discreet.interpret.least_squares_levels import least_squares
from discreet.interpret.level_likelihoods import face_value, level_likelihood, must_read_the_total
from discreet.interpret.unbiased_reading import unbiased_reading
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.model.promises import PurePromise
from discreet.model.statistic import MeanStatistic
from discreet.numerics.arrays import Floats, Integers
from discreet.publish.bundle import mechanism_for, members_of
from discreet.publish.cells import Believing, PublishedCells, ReleasedDraws, published_cells, released_draws
from discreet.publish.folder import key_set_bytes


@dataclass(frozen=True, eq=False)
class LevelledCells:
    """Every node of the tree: its level (0 the finest), its keys in that level's columns, its size; and what is believed of it.

    `alone` is the posterior mean of a leaf from its own level; `least_squares` the usual consistent numbers.
    """

    columns: tuple[tuple[str, ...], ...]
    levels: Integers
    keys: tuple[tuple[str, ...], ...]
    sizes: Integers
    mean: Floats
    standard_deviation: Floats
    lower: Floats
    upper: Floats
    whole: Floats
    alone: Floats
    alone_deviation: Floats
    least_squares: Floats
    level: float

    def __len__(self) -> int:
        return len(self.keys)


def levelled_cells(*folders: str | Path, level: float = 0.9, believing: Believing | None = None) -> LevelledCells:
    """One coherent answer from the releases of several levels."""
    read = [released_draws(folder) for folder in folders]
    groups: dict[frozenset[str], list[ReleasedDraws]] = {}
    for release in read:
        groups.setdefault(frozenset(release.key_set.columns), []).append(release)
    order = sorted(groups, key=len, reverse=True)
    if len(order) < 2:
        raise InputError(
            "Levels are releases of which one has more keys than the other",
            found=f"{len(order)} level",
            allowed="two or more",
            remedy="give the releases of every level; discreet total puts releases of one level together",
        )
    for fine, coarse in pairwise(order):
        if not coarse < fine:
            raise InputError(
                "The levels do not nest",
                found=f"{', '.join(sorted(coarse))} beside {', '.join(sorted(fine))}",
                allowed="every level has some of the keys of the next finer one",
                remedy="give levels of one hierarchy",
            )
    _one_population(read)
    finest = published_cells(*(release.folder for release in groups[order[0]]), believing=believing)
    return _answered(finest, [groups[columns] for columns in order[1:]], level)


def _one_population(read: Sequence[ReleasedDraws]) -> None:
    first, seen = read[0], set()
    for release in read:
        if release.draw in seen:
            raise InputError(
                "The same draw is given twice",
                found=str(release.folder),
                allowed="each draw once",
                remedy="leave one of them out: a copy tells nothing new",
            )
        seen.add(release.draw)
        if (release.plan.population, release.plan.unit.name) != (first.plan.population, first.plan.unit.name):
            raise InputError(
                "The releases speak of different populations",
                found=release.plan.population,
                allowed=first.plan.population,
                remedy="give the levels of one population",
            )


def _answered(finest: PublishedCells, above: Sequence[Sequence[ReleasedDraws]], level: float) -> LevelledCells:
    beliefs = finest.beliefs
    leaves = len(finest)
    keys: list[tuple[str, ...]] = list(finest.cells)
    sizes: list[int] = finest.sizes.tolist()
    levels = [0] * leaves
    offsets = [beliefs.offsets[k] for k in beliefs.classes.tolist()]
    values, variances = _readings_of_leaves(finest)
    children: list[list[int]] = []
    told: dict[int, Likelihood] = {}
    columns = [finest.columns]
    below, names = list(range(leaves)), list(finest.columns)
    for depth, releases in enumerate(above, 1):
        own = [name for name in finest.columns if name in releases[0].key_set.columns]
        at = [names.index(name) for name in own]
        grouped: dict[tuple[str, ...], list[int]] = {}
        for node in below:
            grouped.setdefault(tuple(keys[node][i] for i in at), []).append(node)
        nodes = {}
        for cell, mine in grouped.items():
            nodes[cell] = len(keys)
            keys.append(cell)
            sizes.append(sum(sizes[node] for node in mine))
            levels.append(depth)
            offsets.append(sum((offsets[node] for node in mine), Fraction(0)))
            children.append(mine)
            values.append(0.0)
            variances.append(np.inf)
        for release in releases:
            _tell(release, own, nodes, sizes, offsets, beliefs.unit, told, values, variances)
        columns.append(tuple(own))
        below, names = list(nodes.values()), own
    tree = TotalsTree([beliefs.laws[k] for k in beliefs.classes.tolist()], children, told)
    found = coherent_totals(tree, level)
    usual = least_squares(leaves, children, np.array(values), np.array(variances))
    return _in_units(found, np.array(offsets, dtype=object), beliefs.unit, usual, finest, columns, levels, keys, sizes, level)


def _in_units(
    found: CoherentTotals, offsets: NDArray[np.object_], unit: Fraction, usual: Floats, finest: PublishedCells,
    columns: Sequence[tuple[str, ...]], levels: Sequence[int], keys: Sequence[tuple[str, ...]], sizes: Sequence[int], level: float,
) -> LevelledCells:  # fmt: skip
    """Steps of the lattice as values of the statistic."""
    base, step = offsets.astype(np.float64), float(unit)
    alone, deviation = np.full(len(keys), np.nan), np.full(len(keys), np.nan)
    alone[: len(finest)] = finest.beliefs.means[finest.beliefs.classes]
    deviation[: len(finest)] = np.sqrt(finest.beliefs.variances[finest.beliefs.classes])
    return LevelledCells(
        tuple(columns),
        np.array(levels),
        tuple(keys),
        np.array(sizes),
        base + step * found.mean,
        step * found.standard_deviation,
        base + step * found.lower,
        base + step * found.upper,
        base + step * found.whole,
        alone,
        deviation,
        usual,
        level,
    )


def _tell(
    release: ReleasedDraws, own: Sequence[str], nodes: dict[tuple[str, ...], int], sizes: Sequence[int],
    offsets: Sequence[Fraction], unit: Fraction, told: dict[int, Likelihood], values: list[float], variances: list[float],
) -> None:  # fmt: skip
    """What a release of an upper level says about its nodes."""
    at = [release.key_set.columns.index(name) for name in own]
    known: dict[int, tuple[Floats, float] | None] = {}
    for cell, size, kind, output in zip(
        release.key_set.cells, release.key_set.sizes, release.served, release.outputs.tolist(), strict=True
    ):
        node = nodes.get(tuple(cell[i] for i in at))
        if node is None or sizes[node] != size:
            raise InputError(
                "The levels do not nest",
                found=f"{' / '.join(cell)}: " + ("no cell lies in it" if node is None else f"size {size}, its cells {sizes[node]}"),
                allowed="a cell above is the sum of cells below, sizes included",
                remedy="check the key sets of the levels",
            )
        mechanism = mechanism_for(release.members[kind])
        scale = Fraction(size) if isinstance(mechanism.problem.statistic, MeanStatistic) else Fraction(1)
        mine = level_likelihood(mechanism, output, offsets[node], unit, scale)
        told[node] = mine if node not in told else _both(told[node], mine)
        if id(mechanism) not in known:
            known[id(mechanism)] = _reading(mechanism)
        reading = known[id(mechanism)]
        if reading is not None and not np.isfinite(variances[node]):
            values[node], variances[node] = float(reading[0][output] * scale), float(reading[1] * scale**2)


def _both(first: Likelihood, second: Likelihood) -> Likelihood:
    return lambda steps: np.asarray(first(steps) + second(steps))


def _reading(mechanism: Mechanism) -> tuple[Floats, float] | None:
    """An unbiased number for each output where there is one, else what the code says, with its variance."""
    unbiased = unbiased_reading(mechanism)
    return face_value(mechanism) if unbiased is None else (unbiased.values, unbiased.variance)


def _readings_of_leaves(finest: PublishedCells) -> tuple[list[float], list[float]]:
    """The unbiased value of every leaf, or its posterior mean where some have none."""
    held = finest.beliefs
    if np.isfinite(held.unbiased).all():
        return held.unbiased[held.classes].tolist(), held.unbiased_variances[held.classes].tolist()
    return held.means[held.classes].tolist(), held.variances[held.classes].tolist()


def level_plans(plan: str | Path, levels: Sequence[tuple[Sequence[str], str]], folder: str | Path) -> list[Path]:
    """Plan and key set files for levels above a plan: (keys, mechanism file) for each, written into a folder.

    They share source, recoding, unit and budget with the plan; commit all of them together with it, as one batch.
    """
    where, place = Path(plan).absolute(), Path(folder)
    written = located(read_plan(where), where.parent)
    cells = read_key_set(written.key_set, written)
    made = []
    for keys, mechanism in levels:
        if not keys or not set(keys) < set(written.keys) or len(set(keys)) != len(keys):
            raise InputError(
                "A level above has some of the plan's keys",
                found=", ".join(keys) or "none",
                allowed=f"fewer than {', '.join(written.keys)}",
                remedy="leave out the keys that tell its cells apart below",
            )
        at = [written.keys.index(key) for key in keys]
        sums: dict[tuple[str, ...], int] = {}
        for cell, size in zip(cells.cells, cells.sizes, strict=True):
            name = tuple(cell[i] for i in at)
            sums[name] = sums.get(name, 0) + size
        _must_serve(Path(mechanism), set(sums.values()))
        made.append((tuple(keys), str(Path(mechanism).absolute()), KeySet(tuple(keys), tuple(sums), tuple(sums.values()))))
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for keys, mechanism, key_set in made:
        stem = "-".join(key.replace("/", "-") for key in keys)
        write_atomically(place / f"{stem}.csv", key_set_bytes(key_set, written.size_column))
        above = replace(
            written, dataset=f"{written.dataset}, by {', '.join(keys)}", keys=keys, key_set=str((place / f"{stem}.csv").absolute()),
            mechanism=mechanism, public_membership=tuple(k for k in written.public_membership if k in keys),
        )  # fmt: skip
        paths.append(place / f"{stem}.toml")
        write_atomically(paths[-1], toml_text(plan_document(above)).encode())
    return paths


def add_up_in_a_batch(mechanisms: Sequence[str]) -> bool:
    """Whether levels with these mechanisms are committed in one batch; what promises only ρ is committed alone: ρ adds up."""
    what = "the mechanism or family file"
    documents = [parse_json(read_bytes(Path(mechanism), what), what) for mechanism in mechanisms]
    used = (mechanism_for(member) for document in documents for member in members_of(document).values())
    return all(isinstance(mechanism.guarantee.promise, PurePromise) for mechanism in used)


def _must_serve(mechanism: Path, sizes: set[int]) -> None:
    """Refuse a mechanism or family that has no member for a size of the level, or one that reads more than the statistic."""
    what = "the mechanism or family file"
    members = members_of(parse_json(read_bytes(mechanism, what), what))
    missing = sorted(size for size in sizes if size not in members)
    if missing:
        raise InputError(
            "A cell of a level above has a size that no mechanism is for",
            found=f"sizes {missing[:5]} for {mechanism.name}",
            allowed="a mechanism or family for the sums of the sizes below",
            remedy="design one for these sizes",
        )
    for size in sorted(sizes):
        must_read_the_total(mechanism_for(members[size]))


def toml_text(document: dict[str, object]) -> str:
    """A plan's document as TOML: text, numbers and lists, one section for each mapping."""
    import json

    def value(item: object) -> str:
        if isinstance(item, dict):
            return "{ " + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in item.items()) + " }"
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"{name} = {value(item)}" for name, item in document.items() if not isinstance(item, dict)]
    for name, section in document.items():
        if isinstance(section, dict):
            lines += ["", f"[{name}]", *(f"{key} = {value(item)}" for key, item in section.items())]
    return "\n".join([*lines, ""])
