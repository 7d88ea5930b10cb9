"""Any file that claims something, told by its `format` and never by its name: a mechanism, a family or a robust file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files import family, mechanism, robust
from discreet.files.atomic import read_bytes
from discreet.files.canonical import document_hash, parse_json
from discreet.files.robust import RobustFile
from discreet.model.family import Family
from discreet.model.mechanism import Mechanism

READERS: dict[str, Callable[[Any], Mechanism | Family | RobustFile]] = {
    mechanism.FORMAT: mechanism.mechanism_from_document,
    family.FORMAT: family.family_from_document,
    robust.FORMAT: robust.robust_from_document,
}


def read_artefact(path: str | Path) -> tuple[Mechanism | Family | RobustFile, str]:
    """What a file holds, with the hash of its document as it stands; what it claims is still only claimed."""
    document = parse_json(read_bytes(Path(path), "the file"), "the file")
    stated = document.get("format") if isinstance(document, dict) else None
    read = READERS.get(stated) if isinstance(stated, str) else None
    if read is None:
        raise InputError(
            "This file makes no claims that can be proved",
            found="no format" if stated is None else f"format {stated}",
            allowed=list(READERS),
            remedy="name a file that discreet design wrote",
        )
    return read(document), document_hash(document)
