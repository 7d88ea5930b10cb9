"""Family files (`X.family.json`): mechanisms for cells of many sizes with their certificates, in one canonical file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.files import schema
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.files.certificate import certificate_document, certificate_from_shape
from discreet.files.mechanism import mechanism_document, mechanism_from_shape
from discreet.model.family import Family, Member
from discreet.model.together import together
from discreet.numerics.exact import format_exact, read_integer

FORMAT = "discreet-family/1"


def write_family(path: str | Path, family: Family) -> str:
    """Write the family's canonical document and return its hash."""
    document = family_document(family)
    write_atomically(Path(path), canonical_bytes(document) + b"\n")
    return document_hash(document)


def read_family(path: str | Path) -> Family:
    """The family in a file; what it claims is still only claimed."""
    return family_from_document(parse_json(read_bytes(Path(path), "the family file"), "the family file"))


def family_hash(family: Family) -> str:
    return document_hash(family_document(family))


def family_document(family: Family) -> dict[str, Any]:
    return {"format": FORMAT, "members": [member_document(member) for member in family.members]}


def member_document(member: Member) -> dict[str, Any]:
    """One member with its certificate and what it states about each size."""
    document: dict[str, Any] = {
        "from": member.low,
        "to": member.high,
        "mechanism": mechanism_document(member.mechanism),
        "certificate": certificate_document(member.certificate),
        "values": {str(size): format_exact(value) for size, value in member.values},
    }
    if member.absent is not None:
        document["absent"] = member.absent
    if member.absent_probability is not None:
        document["absent_probability"] = format_exact(member.absent_probability)
    return document


def family_from_document(document: Any) -> Family:
    shape = schema.read_shape(schema.Family, document, "The family file")
    with together(len(shape.members), "members"):
        return Family(tuple(_member(m) for m in shape.members))


def _member(shape: schema.MemberShape) -> Member:
    certificate = certificate_from_shape(shape.certificate)
    mechanism = mechanism_from_shape(shape.mechanism)
    values = tuple((read_integer(size, "a size"), value) for size, value in shape.values.items())
    return Member(shape.from_, shape.to, mechanism, certificate, tuple(sorted(values)), shape.absent, shape.absent_probability)
