"""`metadata.json` is a record of the public registry of deployments: it validates and says what was promised, no more.

`registry_schema.json` holds the fields, types, values and required keys of the registry's own schema as of July 2026.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from forging import edited, failed, resealed
from jsonschema import Draft202012Validator, FormatChecker
from towns import make_town

from discreet.errors import InputError
from discreet.publish.metadata import MADE_WITH, UNSTATED, completed, metadata_bytes
from discreet.publish.verification import verified

SCHEMA = json.loads((Path(__file__).parent / "registry_schema.json").read_text(encoding="utf-8"))


def wrong(record: Any) -> list[str]:
    """What the registry's schema says against a record."""
    found = Draft202012Validator(SCHEMA, format_checker=FormatChecker()).iter_errors(record)
    return [f"{list(error.absolute_path)}: {error.message}" for error in found]


def record_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metadata.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_record_validates_and_says_what_was_promised(tmp_path: Path) -> None:
    record = record_of(make_town(tmp_path / "town").publish())
    assert wrong(record) == []
    deployment = record["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1}
    assert deployment["privacy_loss"]["privacy_unit"] == "person"
    assert deployment["basic"]["publication_date"].startswith("20") and deployment["basic"]["data_curators"] == [UNSTATED]
    assert record["status"] == "Draft" and record["tier"] == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("url_slug"),
        lambda d: d.update(dp_flavor="pure"),
        lambda d: d["deployment"]["basic"].update(publication_date="1/1/2026"),
        lambda d: d["deployment"]["dp_variant"].update(variant_name="pure differential privacy"),
        lambda d: d["deployment"]["privacy_loss"]["privacy_parameters"].update(epsilon="1"),
        lambda d: d["deployment"]["basic"].pop("data_curators"),
        lambda d: d.update(tier=4),
    ],
)
def test_the_schema_refuses_what_the_registry_refuses(tmp_path: Path, change: Any) -> None:
    record = record_of(make_town(tmp_path / "town").publish())
    change(record)
    assert wrong(record)


def test_what_only_the_publisher_knows_is_put_in_by_the_publisher(tmp_path: Path) -> None:
    record = record_of(make_town(tmp_path / "town").publish())
    done = completed(
        record, curators=["Town of A"], region="A", use="Planning", sector="Government", authors=["B. C."], slug="Town of A 2026!"
    )
    assert wrong(done) == [] and UNSTATED not in json.dumps(done) and done["url_slug"] == "town-of-a-2026"
    assert done["deployment"]["basic"]["intended_use"] == "Planning"
    assert record["deployment"]["basic"]["data_curators"] == [UNSTATED], "the record itself is left as it was"
    for curators, region, sector in (([], "A", ""), (["x"], " ", ""), (["x"], "A", "Gov")):
        with pytest.raises(InputError):
            completed(record, curators=curators, region=region, sector=sector)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("metadata.json", lambda d: d["deployment"]["privacy_loss"]["privacy_parameters"].update(epsilon=0.1)),
        ("metadata.json", lambda d: d["deployment"]["administrative"].update(notes="Certified by everybody.")),
        ("metadata.json", lambda d: d["deployment"]["basic"].update(data_curators=["Somebody else"])),
        ("facts.json", lambda d: d["implementation"].update(software="discreet 9 with zero privacy loss")),
        ("facts.json", lambda d: d.update(promise="zcdp")),
    ],
)
def test_a_record_that_sounds_better_is_found_out(tmp_path: Path, name: str, change: Any) -> None:
    folder = make_town(tmp_path / "town").publish()
    if name == "metadata.json":
        record = record_of(folder)
        change(record)
        (folder / name).write_bytes(metadata_bytes(record))
    else:
        edited(folder, name, change)
    resealed(folder)
    assert "The metadata says what was committed" in failed(verified(folder))


def test_a_later_version_of_this_software_verifies_it(tmp_path: Path) -> None:
    """Versions may differ; both files then name the version that wrote them."""
    folder = make_town(tmp_path / "town").publish()
    facts = json.loads((folder / "facts.json").read_text())
    edited(folder, "facts.json", lambda d: d["implementation"].update(software="discreet 0.0.9"))
    record = record_of(folder)
    notes = record["deployment"]["administrative"]
    notes["notes"] = notes["notes"].replace(facts["implementation"]["software"], "discreet 0.0.9")
    (folder / "metadata.json").write_bytes(metadata_bytes(record))
    resealed(folder)
    assert "The metadata says what was committed" not in failed(verified(folder))
    assert MADE_WITH.fullmatch(facts["implementation"]["software"])


def test_numbers_are_rounded_up(tmp_path: Path) -> None:
    from discreet.publish.metadata import _number

    for value in (Fraction(1, 3), Fraction(1), Fraction(10**40 + 1, 3 * 10**40)):
        assert Fraction(_number(value)) >= value
