"""Read a block back: what the published value of one block means to the school district, and to an attacker."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

TITLE = "Read one block back"


def run(folder: Path) -> Mapping[str, Any]:
    """The first block of the release, with its posterior."""
    from discreet.files.family import read_family
    from discreet.interpret import posterior
    from discreet.views.words import attacker_words

    with (folder / "release" / "release.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    mechanism = read_family(folder / "places.family.json").member(int(row["size"])).mechanism
    found = posterior(mechanism, row["code"])
    low, high = found.interval(0.9)
    return {
        "block": {key: row[key] for key in ("county", "block", "size", "published", "code")},
        "mean": found.mean(),
        "interval": [float(low), float(high)],
        "attacker": attacker_words(mechanism.guarantee),
    }


def tell(result: Mapping[str, Any], console: Console) -> None:
    """The block in words."""
    from discreet.numerics.digits import about, between, given

    block = result["block"]
    low, high = result["interval"]
    span = f"exactly {given(low)}" if low == high else between(low, high, 12)
    console.print(
        f"{block['county']}, block {block['block']} ({block['size']} households): plan the published "
        f"{block['published']} places; on average {about(result['mean'], 2)} children live there, {span} with "
        "at least 90 % probability."
    )
    console.print(result["attacker"])
