"""Robust files (`X.robust.json`): a mechanism for several priors with everything that its proof needs.

Holds the mechanism and certificate under the mixture prior, the priors, their weights, and the best mechanism for each prior
with its certificate. `certify.robust.robust_proof` computes both sides of the worst regret again from these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.files import schema
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, document_hash, parse_json
from discreet.files.certificate import certificate_document, certificate_from_shape
from discreet.files.mechanism import mechanism_document, mechanism_from_shape
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.exact import format_exact

FORMAT = "discreet-robust/1"


@dataclass(frozen=True, eq=False)
class RobustFile:
    """What a robust file holds; the priors are those of the references' problems."""

    mechanism: Mechanism
    certificate: Certificate
    weights: tuple[Fraction, ...]
    references: tuple[tuple[Mechanism, Certificate], ...]

    @property
    def priors(self) -> tuple[Prior, ...]:
        return tuple(mechanism.problem.prior for mechanism, _ in self.references)


def write_robust(
    path: str | Path, mechanism: Mechanism, certificate: Certificate, weights: Sequence[Fraction],
    references: Sequence[tuple[Mechanism, Certificate]],
) -> str:
    """Write the canonical document and return its hash."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "mechanism": mechanism_document(mechanism),
        "certificate": certificate_document(certificate),
        "weights": [format_exact(w) for w in weights],
        "references": [
            {"mechanism": mechanism_document(m), "certificate": certificate_document(c)} for m, c in references
        ],
    }
    write_atomically(Path(path), canonical_bytes(document) + b"\n")
    return document_hash(document)


def read_robust(path: str | Path) -> RobustFile:
    """What is in a robust file; nothing of it is believed yet."""
    document = parse_json(read_bytes(Path(path), "the robust file"), "the robust file")
    shape = schema.read_shape(schema.Robust, document, "The robust file")
    references = tuple(
        (mechanism_from_shape(r.mechanism), certificate_from_shape(r.certificate)) for r in shape.references
    )
    return RobustFile(
        mechanism_from_shape(shape.mechanism), certificate_from_shape(shape.certificate), tuple(shape.weights), references
    )
