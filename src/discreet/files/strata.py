"""A family for each stratum (`X.strata.json`): what serves a cell depends on some of its keys and on its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes, document_hash
from discreet.files.family import family_document, family_from_document
from discreet.model.family import Family

STRATA_FORMAT = "discreet-strata/1"

Served = int | tuple[str | int, ...]
"""Which member serves a cell: its size, or the keys of its stratum and its size."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Key columns, and a family for each combination of their values."""

    keys: tuple[str, ...]
    families: Mapping[tuple[str, ...], Family]

    def __post_init__(self) -> None:
        if not self.keys or len(set(self.keys)) != len(self.keys) or not self.families:
            raise InputError(
                "Families by stratum need key columns and families",
                found=", ".join(self.keys) or "no keys",
                allowed="one or more different key columns, one or more families",
                remedy="make the file again",
            )
        if any(len(stratum) != len(self.keys) for stratum in self.families):
            raise InputError(
                "A stratum is not one text for each key column",
                found="another number of texts",
                allowed=f"{len(self.keys)} texts",
                remedy="make the file again",
            )
        promises = {(m.mechanism.guarantee.promise, m.mechanism.guarantee.unit) for f in self.families.values() for m in f.members}
        if len(promises) > 1:
            raise InputError(
                "The families of the strata promise different things",
                found=f"{len(promises)} different guarantees",
                allowed="one promise and one unit",
                remedy="make them again for one promise",
            )


def strata_document(strata: Strata) -> dict[str, Any]:
    """The exact document."""
    listed = [{"stratum": list(stratum), "family": family_document(family)} for stratum, family in sorted(strata.families.items())]
    return {"format": STRATA_FORMAT, "keys": list(strata.keys), "strata": listed}


def write_strata(path: str | Path, strata: Strata) -> str:
    """Write the canonical document and return its hash."""
    document = strata_document(strata)
    write_atomically(Path(path), canonical_bytes(document) + b"\n")
    return document_hash(document)


def strata_from_document(document: Any) -> Strata:
    """The families by stratum that a document describes."""
    try:
        keys, listed = document["keys"], document["strata"]
        named = [tuple(one["stratum"]) for one in listed]
        known = set(document) == {"format", "keys", "strata"} and all(set(one) == {"stratum", "family"} for one in listed)
        texts = all(isinstance(text, str) and text for stratum in (tuple(keys), *named) for text in stratum)
    except (KeyError, TypeError):
        known = texts = False
    if not known or not texts or document["format"] != STRATA_FORMAT or len(set(named)) != len(named):
        raise InputError(
            "The strata file is not one",
            found="another document",
            allowed=f"format {STRATA_FORMAT}, with keys and strata, each once",
            remedy="make the file again",
        )
    return Strata(tuple(keys), {stratum: family_from_document(one["family"]) for stratum, one in zip(named, listed, strict=True)})
