"""Designs kept on disk: a long run that stops goes on where it was, and a family is never solved twice.

A file is named by the SHA-256 of the problem's exact document, the version of discreet and the settings. It is written
atomically, and whatever is read back is proved private again: the folder is trusted with nothing. A kept design serves
when it reached the gap, or when its search was allowed at least as much time as is asked for now.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.certify import privacy
from discreet.design.best_mechanism import design
from discreet.design.memory import must_fit
from discreet.design.processes.carried import Finished, carried_over
from discreet.errors import DiscreetError
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_pieces, document_hash, parse_json
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.files.problem_document import problem_document
from discreet.files.record import record_document, record_from_document
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.prior_set import PriorSet, WholeRegret
from discreet.model.problem import Problem
from discreet.model.record import Record
from discreet.numerics.exact import format_exact
from discreet.watch import SILENT, Watch

READING = 45
"""How many times the bytes of a file reading it takes: half a million actions, which a formula makes as easily, 390 MB."""


@dataclass(frozen=True, eq=False)
class Kept:
    """A certified mechanism with the record of its design, how long this took and whether it came from disk."""

    mechanism: Mechanism
    certificate: Certificate
    record: Record
    seconds: float
    cached: bool
    regret: WholeRegret | None = None
    """Where it was hedged over a whole set of priors."""

    @property
    def status(self) -> str:
        return self.record.status

    @property
    def relative_gap(self) -> float:
        assert self.certificate.optimality is not None
        return self.certificate.optimality.relative_gap


def default_folder() -> Path:
    """Where designs are kept unless another folder is given."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "discreet"


def key(problem: Problem, gap: float, over: PriorSet | None = None) -> str:
    """The name of a design: problem, version, settings, and the set that it is hedged over."""
    document: dict[str, Any] = {"problem": problem_document(problem), "version": __version__, "gap": repr(gap)}
    if over is not None:
        parts = (over.centre, *over.reach, over.correlations)
        document["over"] = [[format_exact(x) for x in part] for part in parts]
    return document_hash(document)


def kept_design(
    problem: Problem,
    folder: Path,
    watch: Watch = SILENT,
    *,
    gap: float = 1e-6,
    seconds: float = 60.0,
    nearby: Sequence[Finished] = (),
) -> Kept:
    """The design of a problem: from the folder when it is there and good enough, otherwise designed and kept.

    A design in `nearby`, made under another prior, is taken where it is proved to be within the gap under this one.
    """
    begun = time.perf_counter()
    path = folder / f"{key(problem, gap)}.json"
    found = read_kept(path, problem, gap, seconds)
    if found is not None:
        return Kept(*found, time.perf_counter() - begun, True)
    fresh = carried_over(problem, nearby, gap) or design(problem, watch, gap=gap, seconds=seconds, compare=False)
    allowed = min(seconds, fresh.seconds["solve"]) if watch.cancelled() else seconds
    document = {
        "mechanism": mechanism_document(fresh.mechanism, streamed=True),
        "certificate": certificate_document(fresh.certificate),
        "record": record_document(fresh.record()),
        "seconds": repr(allowed),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, b"".join(canonical_pieces(document)) + b"\n")
    return Kept(fresh.mechanism, fresh.certificate, fresh.record(), time.perf_counter() - begun, False)


def read_kept(path: Path, problem: Problem, gap: float, seconds: float) -> tuple[Mechanism, Certificate, Record] | None:
    """What the file holds when it is whole, private and good enough; None otherwise, and it is designed again."""
    try:
        must_fit(READING * path.stat().st_size, "reading a kept design")
        document: Any = parse_json(path.read_bytes(), "a kept design")
        mechanism = mechanism_from_document(document["mechanism"])
        certificate = certificate_from_document(document["certificate"])
        record, allowed = record_from_document(document["record"]), Fraction(document["seconds"])
    except (OSError, DiscreetError, MemoryError, KeyError, TypeError, ValueError):
        return None
    claim = certificate.optimality
    proof = privacy(mechanism)
    sound = isinstance(proof, Certificate) and proof.mechanism == certificate.mechanism
    same = mechanism.problem == problem and mechanism.guarantee.promise == problem.promise
    good = claim is not None and (claim.relative_gap <= gap or allowed >= Fraction(seconds))
    return (mechanism, certificate, record) if sound and same and good else None
