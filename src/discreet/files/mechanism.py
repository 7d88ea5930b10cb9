"""Mechanism files (`X.mechanism.json`): the problem, the summary, the exact kernel, the claims; no floats, canonical.

The edges of a table kernel are written for readers; `certify` derives its own and refutes a file whose edges differ.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.files import schema
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_pieces, parse_json
from discreet.files.mechanism_document import FORMAT as FORMAT
from discreet.files.mechanism_document import mechanism_document as mechanism_document
from discreet.files.mechanism_document import mechanism_hash as mechanism_hash
from discreet.files.problem import problem_from_shape, promise_from_shape
from discreet.files.shape import Shape
from discreet.model.actions import Action
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import (
    CountedKernel,
    GaussianKernel,
    GeometricKernel,
    Kernel,
    Output,
    StaircaseKernel,
    TableKernel,
)
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, Summary
from discreet.numerics.exact import read_integer


def write_mechanism(path: str | Path, mechanism: Mechanism) -> str:
    """Write the mechanism's canonical document and return its hash."""
    written = b"".join(canonical_pieces(mechanism_document(mechanism, streamed=True)))
    write_atomically(Path(path), written + b"\n")
    return sha256(written).hexdigest()


def read_mechanism(path: str | Path) -> Mechanism:
    """The mechanism in a file; its claims are still only claims."""
    return mechanism_from_document(parse_json(read_bytes(Path(path), "the mechanism file"), "the mechanism file"))


def mechanism_from_document(document: Any) -> Mechanism:
    shape = schema.read_shape(schema.Mechanism, document, "The mechanism file")
    return mechanism_from_shape(shape)


def mechanism_from_shape(shape: schema.Mechanism) -> Mechanism:
    stated = shape.guarantee
    return Mechanism(
        problem=problem_from_shape(shape.problem),
        summary=_summary(shape.summary),
        kernel=_kernel(shape.kernel),
        guarantee=Guarantee(promise_from_shape(stated, "guarantee"), stated.neighbours, stated.unit),
        claims=Claims(shape.claims.value, shape.claims.bound),
        provenance=dict(shape.provenance),
    )


def clamp_from_shape(shape: schema.ClampShape | None) -> Clamp | None:
    return None if shape is None else Clamp(tuple(shape.lower), tuple(shape.upper), shape.reference, shape.rest)


def _summary(shape: schema.Summary) -> Summary:
    used = {"histogram": {"clamp"}, "linear": {"weights", "low", "high"}, "database": set()}[shape.kind]
    _refuse_others(shape, used | {"kind"}, f"summary of kind {shape.kind!r}")
    if shape.kind == "histogram":
        return HistogramSummary(clamp_from_shape(shape.clamp))
    if shape.kind == "linear":
        if shape.weights is None:
            raise _lacking("summary.weights")
        return LinearSummary(tuple(shape.weights), shape.low, shape.high)
    return DatabaseSummary()


def _kernel(shape: schema.Kernel) -> Kernel:
    table = {"states", "outputs", "weights", "denominator", "edges"}
    noise = {"from_", "to", "step", "actions"}
    used = {
        "table": table, "geometric": noise | {"ratio"}, "staircase": noise | {"ratio", "plateau"},
        "discrete-gaussian": noise | {"sigma_squared"},
        "counted": noise | {"stride", "ratio", "tail", "weights", "denominator", "radix", "tables"},
    }[shape.family]  # fmt: skip
    _refuse_others(shape, used | {"family"}, f"kernel of family {shape.family!r}")
    one_count = shape.radix is None and shape.tables is None
    for key in sorted(used - {"actions"} - ({"radix", "tables"} if one_count else set())):
        if getattr(shape, key) is None or (key == "tables" and not shape.tables):
            raise _lacking(f"kernel.{key.removesuffix('_')}")
    if shape.family == "table":
        assert shape.states is not None and shape.outputs is not None and shape.weights is not None
        assert shape.denominator is not None and shape.edges is not None
        return TableKernel(
            tuple(shape.states),
            tuple(_output(o) for o in shape.outputs),
            _weights(shape.weights),
            read_integer(shape.denominator, "the denominator"),
            tuple(shape.edges),
        )
    assert shape.from_ is not None and shape.to is not None and shape.step is not None
    actions = None if shape.actions is None else tuple(recommendation_from_shape(a) for a in shape.actions)
    if shape.family == "discrete-gaussian":
        assert shape.sigma_squared is not None
        return GaussianKernel(shape.from_, shape.to, shape.step, shape.sigma_squared, actions)
    assert shape.ratio is not None
    if shape.family == "counted":
        assert shape.stride is not None and shape.tail is not None and shape.weights is not None and shape.denominator is not None
        tail, denominator = read_integer(shape.tail, "the tail"), read_integer(shape.denominator, "the denominator")
        weights = _weights(shape.weights)
        one = (shape.from_, shape.to, shape.step, shape.stride, shape.ratio, tail, weights, denominator, actions)
        return CountedKernel(*one) if one_count else CountedKernel(*one, shape.radix or 1, shape.tables or ())
    if shape.family == "staircase":
        assert shape.plateau is not None
        return StaircaseKernel(shape.from_, shape.to, shape.step, shape.plateau, shape.ratio, actions)
    return GeometricKernel(shape.from_, shape.to, shape.step, shape.ratio, actions)


def _weights(rows: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(read_integer(w, "a weight") for w in row) for row in rows)


def action_from_shape(shape: schema.ActionShape) -> Action:
    if (shape.number is None) == (shape.name is None):
        raise InputError(
            "An action is a number or a name",
            found="both or neither",
            allowed='{"number": "2.5"} or {"name": "open"}',
            remedy="give one of them",
        )
    return shape.number if shape.number is not None else str(shape.name)


def _output(shape: schema.OutputShape) -> Output:
    return Output(shape.label, None if shape.action is None else recommendation_from_shape(shape.action))


def recommendation_from_shape(shape: schema.ActionShape | list[schema.ActionShape]) -> Action | tuple[Action, ...]:
    return tuple(action_from_shape(s) for s in shape) if isinstance(shape, list) else action_from_shape(shape)


def _refuse_others(shape: Shape, used: set[str], what: str) -> None:
    others = {key for key in shape.model_fields_set - used if getattr(shape, key) is not None}
    if others:
        raise InputError(f"A {what} has no such key", found=", ".join(sorted(others)), allowed=sorted(used), remedy="remove it")


def _lacking(key: str) -> InputError:
    return InputError("The mechanism file lacks a key", found=f"no {key}", allowed=f"{key} must be given", remedy="add it")
