"""Record files (`X.record.json`): how designs came about, kept beside their mechanisms.

One file serves a mechanism or a whole family: each record names its mechanism by hash, and a record about another mechanism says
nothing about this one. Numbers are the decimals of the floats that were computed; what was not finite is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

from discreet.files import schema
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.model.record import Baseline, Behaviour, Reached, Record, Step
from discreet.numerics.exact import exact, format_exact

FORMAT = "discreet-record/1"


def record_path(mechanism: str | Path) -> Path:
    """The record that stands beside a file: X.mechanism.json → X.record.json, X.family.json → X.family.record.json."""
    path = Path(mechanism)
    return path.with_name(path.name.removesuffix(".json").removesuffix(".mechanism") + ".record.json")


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write the records of the mechanisms in one file."""
    document = {"format": FORMAT, "records": [record_document(record) for record in records]}
    write_atomically(Path(path), canonical_bytes(document) + b"\n")


def read_records(path: str | Path) -> dict[str, Record]:
    """The records in a file by the hash of their mechanism."""
    document = parse_json(read_bytes(Path(path), "the record"), "the record")
    shape = schema.read_shape(schema.Records, document, "The record")
    return {record.mechanism: record for record in map(record_from_shape, shape.records)}


def record_beside(path: str | Path, mechanism: str) -> Record | None:
    """The record of the mechanism with this hash in the file beside a mechanism file; None when nobody kept one."""
    place = record_path(path)
    return read_records(place).get(mechanism) if place.exists() else None


def record_document(record: Record) -> dict[str, Any]:
    """The record as a document without floats."""
    document: dict[str, Any] = {
        "mechanism": record.mechanism,
        "status": record.status,
        "steps": [{"name": s.name, "applied": s.applied, "theorem": s.theorem, "reason": s.reason} for s in record.steps],
        "baselines": [{"name": b.name, "value": _text(b.value), "words": b.words} for b in record.baselines.values()],
        "rungs": [
            {"name": r.name, "loss": _text(r.loss), "lower_bound": _text(r.lower_bound), "seconds": _text(r.seconds)}
            for r in record.rungs
        ],
        "notes": list(record.notes),
        "seconds": {name: _text(seconds) for name, seconds in record.seconds.items()},
    }
    if record.within is not None:
        document |= {"within": record.within, "price": _text(record.price)}
    if record.behaviour is not None:
        document["behaviour"] = {name: _text(getattr(record.behaviour, name)) for name in BEHAVIOUR}
    return document


BEHAVIOUR = ("slope", "average_bias", "spread", "worst_risk", "unbiased_variance")


def record_from_document(document: Any) -> Record:
    return record_from_shape(schema.read_shape(schema.RecordShape, document, "The record"))


def record_from_shape(shape: schema.RecordShape) -> Record:
    return Record(
        mechanism=shape.mechanism,
        steps=tuple(Step(s.name, s.applied, s.theorem, s.reason) for s in shape.steps),
        baselines={b.name: Baseline(b.name, _number(b.value, None), b.words) for b in shape.baselines},
        seconds=_seconds(shape.seconds),
        status=shape.status,
        within=shape.within,
        price=_number(shape.price, None),
        notes=tuple(shape.notes),
        rungs=tuple(
            Reached(r.name, _number(r.loss, inf), _number(r.lower_bound, -inf), _number(r.seconds, nan)) for r in shape.rungs
        ),
        behaviour=None if shape.behaviour is None else _behaviour(shape.behaviour),
    )


def _behaviour(shape: schema.BehaviourShape) -> Behaviour:
    numbers = {name: _number(getattr(shape, name), nan) for name in BEHAVIOUR}
    return Behaviour(**numbers | {"unbiased_variance": _number(shape.unbiased_variance, None)})


def _seconds(given: Mapping[str, Any]) -> dict[str, float]:
    return {name: _number(seconds, nan) for name, seconds in given.items()}


def _text(number: float | None) -> str | None:
    return None if number is None or not isfinite(number) else format_exact(exact(float(number)))


def _number(given: Any, otherwise: Any) -> Any:
    return otherwise if given is None else float(given)
