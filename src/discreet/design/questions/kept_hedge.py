"""Designs hedged over a whole set of priors, kept on disk beside plain ones (`processes.kept`)."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.design.processes.kept import Kept, key, read_kept
from discreet.design.questions.whole_set import GAP, hedged_over
from discreet.errors import DiscreetError
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.files.certificate import certificate_document
from discreet.files.mechanism_document import mechanism_document
from discreet.files.record import record_document
from discreet.model.prior_set import PriorSet, WholeRegret
from discreet.numerics.exact import format_exact
from discreet.watch import SILENT, Watch

REGRETS = ("worst", "least", "unhedged", "price")


def kept_hedge(plain: Kept, over: PriorSet, folder: Path, watch: Watch = SILENT, *, gap: float, seconds: float) -> Kept:
    """A design hedged over a whole set of priors, from the folder or made and kept."""
    begun = time.perf_counter()
    problem = plain.mechanism.problem
    path = folder / f"{key(problem, gap, over)}.json"
    try:
        document: Any = parse_json(path.read_bytes(), "a kept design")
        numbers = {name: Fraction(document["regret"][name]) for name in REGRETS}
        regret = WholeRegret(**numbers, finished=document["regret"]["finished"] is True)
    except (OSError, DiscreetError, KeyError, TypeError, ValueError):
        regret = None
    found = None if regret is None else read_kept(path, problem, float("inf") if regret.finished else gap, seconds)
    if found is not None:
        return Kept(*found, time.perf_counter() - begun, True, regret)
    near = max(GAP, 2 * Fraction(gap))
    made = hedged_over(plain.mechanism, plain.certificate, over, watch, gap=near, seconds=seconds)
    told = {name: format_exact(getattr(made.regret, name)) for name in REGRETS}
    document = {
        "mechanism": mechanism_document(made.mechanism),
        "certificate": certificate_document(made.certificate),
        "record": record_document(plain.record),
        "seconds": repr(0.0 if watch.cancelled() else seconds),
        "regret": {**told, "finished": made.regret.finished},
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, canonical_bytes(document) + b"\n")
    return Kept(made.mechanism, made.certificate, plain.record, time.perf_counter() - begun, False, made.regret)
