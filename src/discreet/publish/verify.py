"""Verify a release from its folder alone, and say what each check is worth.

Four classes: *enforced* by hashes and order; *attested by signature*; *detectable* with heads kept elsewhere; *not verifiable*.
A key carried in the folder proves that nothing changed, not who published: for that the reader brings a fingerprint.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.certify import privacy
from discreet.errors import DiscreetError, InputError
from discreet.files.atomic import read_bytes
from discreet.files.canonical import document_hash, parse_json
from discreet.files.plan import key_set_hash, plan_from_document, plan_hash, read_key_set
from discreet.ledger.book import Head
from discreet.ledger.chain import Entry, entry_hash
from discreet.ledger.keys import fingerprint, signature_holds
from discreet.model.certificate import Counterexample
from discreet.publish.bundle import mechanism_for, members_of
from discreet.publish.folder import MANIFEST, file_hash
from discreet.publish.tables import shown

ENFORCED, ATTESTED, DETECTABLE, NOT_VERIFIABLE = (
    "enforced",
    "attested by signature",
    "detectable with externally kept heads",
    "not verifiable",
)


@dataclass(frozen=True)
class Check:
    """One statement about the release, its class, and whether it holds (None: nobody can tell from the folder)."""

    kind: str
    words: str
    holds: bool | None
    found: str = ""


@dataclass
class Verdict:
    """All checks of a release."""

    checks: list[Check] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing that can be checked is wrong."""
        return all(check.holds is not False for check in self.checks)

    def say(self, kind: str, words: str, holds: bool | None, found: str = "") -> None:
        """Add a check."""
        self.checks.append(Check(kind, words, holds, found))


def verify(folder: str | Path, key: str | None = None) -> Verdict:
    """Check everything that the folder allows; `key` is the fingerprint of the publisher that the reader trusts."""
    where = Path(folder)
    verdict = Verdict()
    manifest = parse_json(read_bytes(where / MANIFEST, "the manifest"), "the manifest")
    _files(where, manifest, verdict)
    ledger = _document(where, "ledger.json")
    commitment = _commitment(ledger, verdict)
    _contents(where, commitment, verdict)
    _order(ledger, verdict)
    _signature(ledger, commitment, key, verdict)
    verdict.say(
        DETECTABLE,
        "The ledger was not rewritten, cut or back-dated since this release (compare its head with others kept elsewhere)",
        None,
        str(ledger["head"]["hash"]),
    )
    verdict.say(NOT_VERIFIABLE, "The values were drawn honestly from the mechanism, once", None)
    verdict.say(NOT_VERIFIABLE, "Nobody looked at the data before the commitment", None)
    return verdict


def _document(where: Path, name: str) -> Any:
    return parse_json(read_bytes(where / name, name), name)


def _files(where: Path, manifest: Any, verdict: Verdict) -> None:
    listed = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(listed, dict):
        raise InputError(
            "The manifest lists no files",
            found="another document",
            allowed="a release's manifest.json",
            remedy="check that this is a release folder",
        )
    wrong = [
        name for name, digest in listed.items() if not (where / name).is_file() or file_hash(where / name) != digest
    ]
    extra = sorted({p.name for p in where.iterdir()} - set(listed) - {MANIFEST})
    verdict.say(ENFORCED, "Every file is as the manifest says", not wrong, ", ".join(wrong))
    verdict.say(ENFORCED, "The folder holds nothing else", not extra, ", ".join(extra))


def _commitment(ledger: Mapping[str, Any], verdict: Verdict) -> Entry | None:
    for document in ledger["entries"]:
        entry = Entry.from_document(document)
        if entry.hash == ledger["commitment"]:
            genuine = entry.hash == entry_hash(entry.sequence, entry.previous, entry.time, entry.event)
            verdict.say(ENFORCED, "The commitment is the ledger entry that it names", genuine, entry.hash)
            return entry
    verdict.say(ENFORCED, "The commitment is the ledger entry that it names", False, "missing")
    return None


def _contents(where: Path, commitment: Entry | None, verdict: Verdict) -> None:
    """Plan, key set and mechanism are the committed ones; every mechanism is proved; the table only restates its outputs."""
    hashes = {} if commitment is None else dict(commitment.event["hashes"])
    document = _document(where, "mechanism.json")
    plan = plan_from_document(_document(where, "plan.json"))
    key_set = read_key_set(where / "key_set.csv", plan)
    for name, digest in (
        ("plan", plan_hash(plan)),
        ("key_set", key_set_hash(key_set)),
        ("mechanism", document_hash(document)),
    ):
        verdict.say(
            ENFORCED, f"The {name.replace('_', ' ')} is the committed one", hashes.get(name) == digest, digest
        )
    mechanisms = {size: mechanism_for(served) for size, served in members_of(document).items()}
    used = sorted(set(key_set.sizes))
    missing = [size for size in used if size not in mechanisms]
    verdict.say(
        ENFORCED, "There is a mechanism for every size of cell", not missing, ", ".join(map(str, missing[:5]))
    )
    refuted = {}
    for size in (s for s in used if s in mechanisms):
        proof = privacy(mechanisms[size])
        if isinstance(proof, Counterexample):
            refuted[size] = proof
    verdict.say(
        ENFORCED,
        f"Each of the {len(used)} mechanisms in use is private, proved in integers",
        not refuted,
        "; ".join(f"{size}: {proof}" for size, proof in refuted.items()),
    )
    if not missing:
        verdict.say(
            ENFORCED,
            "The table lists the committed cells, each with an output of its mechanism and that output's action",
            _table_restates(where, key_set, mechanisms),
        )


def _table_restates(where: Path, key_set: Any, mechanisms: Mapping[int, Any]) -> bool:
    reader = csv.DictReader(
        io.StringIO(read_bytes(where / "release.csv", "release.csv").decode("utf-8"), newline="")
    )
    rows = list(reader)
    if len(rows) != len(key_set):
        return False
    actions = {size: {o.label: shown(o.action) for o in mechanisms[size].outputs} for size in set(key_set.sizes)}
    for row, cell, size in zip(rows, key_set.cells, key_set.sizes, strict=True):
        names = tuple(_armed(row.get(name)) for name in key_set.columns)
        if names != cell or row.get("size") != str(size):
            return False
        if actions[size].get(_armed(row.get("published"))) != _armed(row.get("action")):
            return False
    return True


def _armed(text: str | None) -> str:
    """The text before a risky cell was disarmed for spreadsheets."""
    text = text or ""
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t\r") else text


def _order(ledger: Mapping[str, Any], verdict: Verdict) -> None:
    entries = [Entry.from_document(d) for d in ledger["entries"]]
    genuine = all(e.hash == entry_hash(e.sequence, e.previous, e.time, e.event) for e in entries)
    place = {e.hash: e.sequence for e in entries}
    mine = str(ledger["reservation"])
    spends = [e.sequence for e in entries if e.event["kind"] == "spend" and e.event["reservation"] == mine]
    reserved = place.get(mine, -1)
    committed = place.get(str(ledger["commitment"]), 1 << 62)
    verdict.say(
        ENFORCED,
        "In ledger order: committed, then reserved, then drawn",
        genuine and bool(spends) and committed < reserved < min(spends, default=-1),
    )
    draws = sum(e.event["kind"] == "reserve" for e in entries)
    verdict.say(
        DETECTABLE,
        f"All draws on this commitment are listed: {draws} up to this release, so publishing only one of several would show",
        None,
    )


def _signature(ledger: Mapping[str, Any], commitment: Entry | None, key: str | None, verdict: Verdict) -> None:
    head = Head.from_document(ledger["head"])
    event = {} if commitment is None else dict(commitment.event)
    public, signature = event.pop("public", None), event.pop("signature", None)
    signed = public is not None and signature is not None and signature_holds(str(public), event, str(signature))
    if public is None:
        verdict.say(
            ATTESTED,
            "The prior and the plan used only public data or earlier releases",
            None,
            "the commitment is not signed",
        )
    else:
        statement = str(event.get("attested", {}).get("statement", ""))
        verdict.say(ATTESTED, statement or "The commitment is signed", signed, fingerprint(str(public)))
    if head.signature is not None:
        verdict.say(
            ATTESTED,
            "The head of the ledger is signed",
            signature_holds(str(head.public), head.signed(), head.signature),
        )
    if key is None:
        verdict.say(
            ATTESTED,
            "Who published: without --key a key carried in the folder proves integrity, not identity",
            None,
        )
        return
    same = public is not None and signed and fingerprint(str(public)) == key.strip().lower()
    verdict.say(
        ATTESTED,
        "The publisher is the one whose key fingerprint you gave",
        same,
        "" if public is None else fingerprint(str(public)),
    )


def verified(folder: str | Path, key: str | None = None) -> Verdict:
    """As `verify`, with unreadable folders told as a failed check rather than an error."""
    try:
        return verify(folder, key)
    except DiscreetError as error:
        verdict = Verdict()
        verdict.say(ENFORCED, "The folder can be read as a release", False, str(error))
        return verdict
