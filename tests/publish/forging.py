"""What a forger does with everything public in hand: releases, ledgers' entries, fingerprints; and any key but the publisher's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.engines.writer import write_parquet
from discreet.files.canonical import canonical_bytes
from discreet.ledger import Signer
from discreet.ledger.chain import GENESIS, Entry
from discreet.ledger.heads import Head
from discreet.ledger.trust import entry_statement
from discreet.publish.folder import FORMATS, MANIFEST, SIGNATURE, bundle_in, file_hash, signed_release
from discreet.publish.metadata import metadata, metadata_bytes
from discreet.publish.page import page
from discreet.publish.tables import columns_of, csv_bytes
from discreet.publish.verdict import ReleaseVerdict


def failed(verdict: ReleaseVerdict) -> list[str]:
    """The checks that say no."""
    return [check.words for check in verdict.checks if check.holds is False]


def resealed(folder: Path, signer: Signer | None = None, release_format: str = FORMATS[-1]) -> None:
    """Make the manifest fit again, and sign it with a key that the forger has."""
    names = sorted(p.name for p in folder.iterdir() if p.name not in (MANIFEST, SIGNATURE))
    document = {"format": release_format, "files": {name: file_hash(folder / name) for name in names}}
    (folder / MANIFEST).write_bytes(canonical_bytes(document) + b"\n")
    if signer is not None:
        statement = signed_release(document, json.loads((folder / "ledger.json").read_bytes()))
        signed = {"public": signer.public, "signature": signer.sign(statement)}
        (folder / SIGNATURE).write_bytes(canonical_bytes(signed) + b"\n")


def edited(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON file of the folder, written as discreet would."""
    document = json.loads((folder / name).read_bytes())
    found = change(document)
    (folder / name).write_bytes(canonical_bytes(document if found is None else found) + b"\n")


def other_values(folder: Path) -> None:
    """Another output that the mechanism could have drawn, restated in tables and page: only a signature can know."""
    bundle = bundle_in(folder)
    rows = list(csv.DictReader(io.StringIO((folder / "release.csv").read_text())))
    earlier = "code" not in rows[0]
    positions = np.array([int(row["published" if earlier else "code"]) for row in rows])
    positions[0] = (positions[0] + 1) % 5
    columns = columns_of(bundle.key_set, bundle.used, positions, earlier=earlier)
    (folder / "release.csv").write_bytes(csv_bytes(columns))
    write_parquet(folder / "release.parquet", columns)
    facts = json.loads((folder / ("facts.json" if (folder / "facts.json").exists() else "metadata.json")).read_bytes())
    (folder / "index.html").write_text(page(bundle, facts, columns), encoding="utf-8")


Telling = Callable[[list[Entry]], list[dict[str, Any]]]


def retold(folder: Path, tell: Telling, signer: Signer | None = None) -> None:
    """A chain made anew of events that `tell` makes of the old entries, with names, head and metadata to match.

    With a key the forger signs every entry that has no signature any more, and the head.
    """
    document = json.loads((folder / "ledger.json").read_bytes())
    made: list[Entry] = []
    renamed: dict[str, str] = {}
    for event in tell([Entry.from_document(entry) for entry in document["entries"]]):
        was = event.pop("was", None)
        for key in ("commitment", "reservation", "entry"):
            if event.get(key) in renamed:
                event[key] = renamed[event[key]]
        made.append(_following(made, event, signer))
        if was is not None:
            renamed[was] = made[-1].hash
    head = Head(made[-1].sequence, made[-1].hash, made[0].hash)
    if signer is not None:
        head = replace(head, public=signer.public, signature=signer.sign(head.signed()))
    document |= {
        "ledger": made[0].hash,
        "entries": [entry.document() for entry in made],
        "commitment": renamed.get(document["commitment"], document["commitment"]),
        "reservation": renamed.get(document["reservation"], document["reservation"]),
        "head": head.document(),
    }
    (folder / "ledger.json").write_bytes(canonical_bytes(document) + b"\n")
    edited(folder, "facts.json", lambda d: d.update(commitment=document["commitment"]))
    restated_metadata(folder)


def restated_metadata(folder: Path) -> None:
    """The registry's record written again from facts and ledger, as a forger who knows this software would."""
    facts, ledger = (json.loads((folder / name).read_bytes()) for name in ("facts.json", "ledger.json"))
    (folder / "metadata.json").write_bytes(metadata_bytes(metadata(facts, bundle_in(folder), ledger)))


def _following(made: list[Entry], event: dict[str, Any], signer: Signer | None) -> Entry:
    last, time = (made[-1] if made else None), "2026-01-01T00:00:00.000000+00:00"
    if signer is None or "signature" in event:
        return Entry.after(last, time, event)
    entry = Entry.after(last, time, event | {"by": signer.public})
    statement = entry_statement(made[0].hash if made else GENESIS, entry)
    return Entry.after(last, time, dict(entry.event) | {"signature": signer.sign(statement)})


def replayed(entries: list[Entry]) -> list[dict[str, Any]]:
    """The true events, commitment and its signature among them, in an invented chain of a ledger that has no keys."""
    found = unsigned(entries, keep=("commit",))
    found[0].pop("keys", None)
    return found


def unsigned(entries: list[Entry], keep: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The true events without their signatures, but for those of some kinds."""
    found = []
    for entry in entries:
        kept = entry.event["kind"] in keep
        event = {name: value for name, value in entry.event.items() if kept or name not in ("by", "signature")}
        found.append(event | {"was": entry.hash})
    return found
