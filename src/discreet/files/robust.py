"""Robust files (`X.robust.json`): a mechanism for several priors with everything that its proof needs.

Holds the mechanism and certificate under the mixture prior, the priors, their weights, and the best mechanism for each prior
with its certificate. `certify.verdict.of_robust` computes both sides of the worst regret again from these.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.files import schema
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes, document_hash
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


def write_robust(path: str | Path, robust: RobustFile) -> str:
    """Write the canonical document and return its hash."""
    document = robust_document(robust)
    write_atomically(Path(path), canonical_bytes(document) + b"\n")
    return document_hash(document)


def robust_document(robust: RobustFile) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "mechanism": mechanism_document(robust.mechanism),
        "certificate": certificate_document(robust.certificate),
        "weights": [format_exact(w) for w in robust.weights],
        "references": [{"mechanism": mechanism_document(m), "certificate": certificate_document(c)} for m, c in robust.references],
    }


def robust_from_document(document: Any) -> RobustFile:
    """What a robust document holds; nothing of it is believed yet."""
    shape = schema.read_shape(schema.Robust, document, "The robust file")
    references = tuple((mechanism_from_shape(r.mechanism), certificate_from_shape(r.certificate)) for r in shape.references)
    return RobustFile(
        mechanism_from_shape(shape.mechanism), certificate_from_shape(shape.certificate), tuple(shape.weights), references
    )
