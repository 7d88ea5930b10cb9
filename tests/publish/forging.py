"""What a forger does with everything public in hand: releases, ledgers' entries, fingerprints; and any key but the publisher's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines.writer import write_parquet
from discreet.files.canonical import canonical_bytes, document_hash
from discreet.ledger import Signer
from discreet.ledger.chain import Entry
from discreet.ledger.checks import Head
from discreet.publish.folder import MANIFEST, SIGNATURE, file_hash, signed_release
from discreet.publish.page import page
from discreet.publish.tables import columns_of, csv_bytes
from discreet.publish.verdict import Verdict
from discreet.publish.verification import _bundle


def failed(verdict: Verdict) -> list[str]:
    """The checks that say no."""
    return [check.words for check in verdict.checks if check.holds is False]


def resealed(folder: Path, signer: Signer | None = None) -> None:
    """Make the manifest fit again, and sign it with a key that the forger has."""
    names = sorted(p.name for p in folder.iterdir() if p.name not in (MANIFEST, SIGNATURE))
    document = {"format": "discreet-release/1", "files": {name: file_hash(folder / name) for name in names}}
    (folder / MANIFEST).write_bytes(canonical_bytes(document) + b"\n")
    if signer is not None:
        signed = {"public": signer.public, "signature": signer.sign(signed_release(document_hash(document)))}
        (folder / SIGNATURE).write_bytes(canonical_bytes(signed) + b"\n")


def edited(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON file of the folder, written as discreet would."""
    document = json.loads((folder / name).read_bytes())
    found = change(document)
    (folder / name).write_bytes(canonical_bytes(document if found is None else found) + b"\n")


def other_values(folder: Path) -> None:
    """Another output that the mechanism could have drawn, restated in tables and page: only a signature can know."""
    bundle = _bundle(folder)
    rows = list(csv.DictReader(io.StringIO((folder / "release.csv").read_text())))
    positions = np.array([int(row["published"]) for row in rows])
    positions[0] = (positions[0] + 1) % 5
    columns = columns_of(bundle.key_set, bundle.used, positions)
    (folder / "release.csv").write_bytes(csv_bytes(columns))
    write_parquet(folder / "release.parquet", columns)
    facts = json.loads((folder / "metadata.json").read_bytes())
    (folder / "index.html").write_text(page(bundle, facts, columns), encoding="utf-8")


def retold(folder: Path, tell: Callable[[list[Entry], dict[str, Any]], list[dict[str, Any]]], signer: Signer | None = None) -> None:
    """A chain made anew of events that `tell` makes of the old entries, with names, head and metadata to match."""
    document = json.loads((folder / "ledger.json").read_bytes())
    old = [Entry.from_document(entry) for entry in document["entries"]]
    made: list[Entry] = []
    renamed: dict[str, str] = {}
    for event in tell(old, document):
        was = event.pop("was", None)
        for key in ("commitment", "reservation"):
            if event.get(key) in renamed:
                event[key] = renamed[event[key]]
        entry = Entry.after(made[-1] if made else None, "2026-01-01T00:00:00.000000+00:00", event)
        if was is not None:
            renamed[was] = entry.hash
        made.append(entry)
    head = Head(made[-1].sequence, made[-1].hash)
    if signer is not None:
        head = Head(head.sequence, head.hash, signer.public, signer.sign(head.signed()))
    document |= {
        "entries": [entry.document() for entry in made],
        "commitment": renamed[document["commitment"]],
        "reservation": renamed[document["reservation"]],
        "head": head.document(),
    }
    (folder / "ledger.json").write_bytes(canonical_bytes(document) + b"\n")
    edited(folder, "metadata.json", lambda d: d.update(commitment=document["commitment"]))


def replayed(entries: list[Entry], _document: dict[str, Any]) -> list[dict[str, Any]]:
    """The true events in an invented chain of a ledger that has no keys."""
    events = [dict(entry.event) | {"was": entry.hash} for entry in entries if entry.event["kind"] not in ("key", "revoke")]
    events[0].pop("key", None)
    return events
