"""School planning: a generated table of households in blocks, with everything needed to publish it.

A county plans school places block by block. Each household has 0, 1 or 2 children of school age with probabilities
.89, .09 and .02, independently (SY Example 1); 20,000 blocks have 60 to 140 households, 100 on average, so that there
are exactly 2,000,000 households. Nothing here is about real people.

The table follows from counters hashed with SplitMix64 under a fixed seed, so that every machine makes the same one:
household i of block b has h = mix(seed, b, i) mod 100 and 0 children if h < 89, 1 if h < 98, else 2; blocks 2j and 2j+1
have 100 ± mix(seed, j) mod 41 households; rows are in the order of another hash, as in a file that nobody sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.numerics.arrays import Integers

SEED = 20260101
BLOCKS = 20_000
BLOCKS_IN_COUNTY = 200
AVERAGE = 100
SPREAD = 40


@dataclass(frozen=True)
class Schools:
    """Columns of the households' table, and the cells with their sizes."""

    household: Integers
    county: list[str]
    block: Integers
    children: Integers
    cells: tuple[tuple[str, str], ...]
    sizes: Integers


def schools(blocks: int = BLOCKS, average: int = AVERAGE, spread: int = SPREAD) -> Schools:
    """The table, or the part of it in the first `blocks` blocks; blocks of another size are drawn the same way."""
    if not 0 <= spread < average <= 500:
        raise InputError(
            "Blocks have average ± spread households",
            found=f"{average} ± {spread}",
            allowed="0 <= spread < average <= 500",
            remedy="choose other sizes",
        )
    if not 2 <= blocks <= BLOCKS or blocks % 2:
        raise InputError(
            "School planning has an even number of blocks",
            found=str(blocks),
            allowed=f"2 to {BLOCKS:,}",
            remedy="choose an even number",
        )
    half = (_mix(np.arange(blocks // 2), 1) % np.uint64(spread + 1)).astype(np.int64)
    sizes = np.empty(blocks, dtype=np.int64)
    sizes[0::2], sizes[1::2] = average + half, average - half
    block = np.repeat(np.arange(blocks), sizes)
    within = np.arange(len(block)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    percent = (_mix(block * 1000 + within, 2) % np.uint64(100)).astype(np.int64)
    children = (percent >= 89).astype(np.int64) + (percent >= 98)
    order = np.argsort(_mix(np.arange(len(block)), 3), kind="stable")
    block, children = block[order], children[order]
    names = [_county(c) for c in range(-(-blocks // BLOCKS_IN_COUNTY))]
    return Schools(
        household=order + 1,
        county=[names[c] for c in (block // BLOCKS_IN_COUNTY).tolist()],
        block=block % BLOCKS_IN_COUNTY,
        children=children,
        cells=tuple((_county(b // BLOCKS_IN_COUNTY), str(b % BLOCKS_IN_COUNTY)) for b in range(blocks)),
        sizes=sizes,
    )


def write_schools(folder: Path, blocks: int = BLOCKS, average: int = AVERAGE, spread: int = SPREAD) -> Path:
    """Write households.parquet, blocks.csv, places.toml and plan.toml into a folder; the path of the plan.

    The plan asks for `places.family.json`, the design of places.toml for every size in blocks.csv.
    """
    from discreet.engines.writer import write_parquet

    table = schools(blocks, average, spread)
    folder.mkdir(parents=True, exist_ok=True)
    columns = {
        "household": table.household, "county": table.county, "block": table.block.astype(np.int32),
        "children": table.children.astype(np.int8),
    }  # fmt: skip
    write_parquet(folder / "households.parquet", columns)
    lines = [f"{c},{b},{size}" for (c, b), size in zip(table.cells, table.sizes.tolist(), strict=True)]
    (folder / "blocks.csv").write_text("\n".join(["county,block,size", *lines, ""]), encoding="utf-8")
    (folder / "places.toml").write_text(PROBLEM.format(households=average), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return folder / "plan.toml"


def _county(number: int) -> str:
    return f"county {number + 1:03}"


def _mix(counter: Integers, stream: int) -> NDArray[np.uint64]:
    """SplitMix64 of a counter; streams are kept apart by the seed."""
    golden = 0x9E3779B97F4A7C15
    start = np.uint64((SEED * 1000 + stream) * golden % 2**64)
    z = start + counter.astype(np.uint64) * np.uint64(golden)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


PROBLEM = """\
# How many school places does each block need?
[data]
respondents = {households}
values = [0, 1, 2]

[prior]
kind = "iid"
probabilities = [0.89, 0.09, 0.02]

[statistic]
kind = "sum"

[decision]
kind = "squared-error"
actions = "real"

[privacy]
epsilon = 1
unit = "household"
"""

PLAN = """\
dataset = "households, 2026"
mechanism = "places.family.json"

[source]
kind = "parquet"
path = "households.parquet"

[cells]
keys = ["county", "block"]
key_set = "blocks.csv"
padding = true

[recoding]
column = "children"
kind = "bounds"
low = 0
high = 2
missing = 0
outside = 0
absent = 0

[unit]
name = "household"
column = "household"
at_most = 1
protects = "presence"

[budget]
population = "households"
most = 2
"""
