"""Read a block back: what the published value of one block means to the school district, and to an attacker."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from discreet.views.view import Sentence, View, told

TITLE = "Read one block back"


def run(folder: Path) -> View:
    """The first block of the release, with its posterior."""
    from discreet.files.family import read_family
    from discreet.interpret import posterior
    from discreet.numerics.digits import about, between, given
    from discreet.views.words import attacker_words

    with (folder / "release" / "release.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    mechanism = read_family(folder / "places.family.json").member(int(row["size"])).mechanism
    found = posterior(mechanism, row["code"])
    low, high = found.interval(0.9)
    facts: dict[str, Any] = {
        "block": {key: row[key] for key in ("county", "block", "size", "published", "code")},
        "mean": found.mean(),
        "interval": [float(low), float(high)],
        "attacker": attacker_words(mechanism.guarantee),
    }
    span = f"exactly {given(low)}" if low == high else between(low, high, 12)
    words = (
        f"{row['county']}, block {row['block']} ({row['size']} households): plan the published {row['published']} places; on "
        f"average {about(found.mean(), 2)} children live there, {span} with at least 90 % probability."
    )
    return told(facts, Sentence(words), Sentence(facts["attacker"]))
