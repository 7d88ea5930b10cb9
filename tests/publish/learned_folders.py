"""What tests ask of folders in which a prior was learned: that releases add up, and what becomes of a prior that was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from learners import County

from discreet.certify.edges.privacy import privacy
from discreet.files.canonical import canonical_bytes
from discreet.files.certificate import certificate_document
from discreet.files.mechanism import mechanism_from_document
from discreet.model.certificate import Certificate
from discreet.publish.cell_regions import by_keys
from discreet.publish.cells import published_cells
from discreet.publish.tables import released_table
from discreet.views.total import asked_regions, asked_share, asked_total


def adds_up(folder: Path) -> None:
    """Totals of a release with a learned prior: means of cells and of towns add up, ranks and shares are told, also in doubt."""
    cells, table = published_cells(folder), released_table(folder)
    everything = asked_total(cells)
    assert everything.found.mean == pytest.approx(table["posterior_mean"].sum())
    towns = by_keys(cells, ["town"])
    for doubt in (None, 0.1):
        found = asked_regions(cells, towns, doubt=doubt)
        assert all(region.rank is not None and 1 <= region.rank.expected <= 2 for region in found)
        share = asked_share(cells, ["town=town 0"], doubt=doubt)
        assert 0 <= share.lower <= share.median <= share.upper <= 1
    assert sum(region.found.mean for region in asked_regions(cells, towns)) == pytest.approx(everything.found.mean)
    assert asked_total(cells, doubt=0.1).found.variance > everything.found.variance


def altered(county: County, change: Callable[[dict[str, object]], None]) -> None:
    """Change the prior in the family that the plan names."""
    place = county.folder / "out" / "mechanism.family.json"
    document = json.loads(place.read_text(encoding="utf-8"))
    for member in document["members"]:
        change(member["mechanism"]["problem"]["prior"])
        proved = privacy(mechanism_from_document(member["mechanism"]))
        assert isinstance(proved, Certificate)
        member |= {"certificate": certificate_document(proved), "values": {}}
    place.write_bytes(canonical_bytes(document) + b"\n")


def one_digit(prior: dict[str, object]) -> None:
    key = "concentration" if "concentration" in prior else "probabilities"
    numbers = [Fraction(str(number)) for number in prior[key]]  # type: ignore[attr-defined]
    moved = [numbers[0] + Fraction(1, 10**4), numbers[1] - Fraction(1, 10**4), *numbers[2:]]
    prior[key] = [str(number) for number in moved]
