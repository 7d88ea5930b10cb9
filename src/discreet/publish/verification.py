"""Verify a release from its folder alone, and say what each check is worth.

Four classes: *enforced* by hashes and order; *attested by signature*; *detectable* with heads kept elsewhere; *not verifiable*.
A key carried in the folder proves that nothing changed, not who published: for that the reader brings a fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, InputError
from discreet.files.atomic import read_bytes
from discreet.files.certificate import certificate_document
from discreet.ledger.chain import Entry, entry_hash
from discreet.ledger.heads import Head
from discreet.model.certificate import Certificate
from discreet.publish.bundle import Bundle, check_bundle, named
from discreet.publish.commitment import Commitment
from discreet.publish.facts import ATTESTED_COUNTS, first_facts, release_facts
from discreet.publish.folder import (
    FACTS,
    FORMATS,
    IN_BROWSER,
    MANIFEST,
    METADATA,
    STANDALONE,
    altered,
    bundle_in,
    document_in,
    release_format,
    standalone_verifier,
)
from discreet.publish.learned import does_not_follow, learned_priors, told
from discreet.publish.metadata import MADE_WITH, metadata, metadata_bytes
from discreet.publish.signatures import Carried, check_signatures
from discreet.publish.spreadsheets import disarmed, disarmed_1
from discreet.publish.tables import restated
from discreet.publish.verdict import ATTESTED, DETECTABLE, ENFORCED, NOT_VERIFIABLE, ReleaseVerdict

STEPS_AFTER = {"spend": ("reserve",), "release": ("spend",), "burn": ("reserve", "spend"), "withdraw": ("reserve",)}
"""What a reservation must have come to before each step."""


def verify(folder: str | Path, key: str | None = None) -> ReleaseVerdict:
    """Check everything that the folder allows; `key` is the fingerprint of the publisher that the reader trusts."""
    where = Path(folder)
    verdict = ReleaseVerdict()
    try:
        if not _files(where, verdict):
            return verdict
        manifest = document_in(where, MANIFEST)
        ledger = document_in(where, "ledger.json")
        entries = [Entry.from_document(document) for document in ledger["entries"]]
        head = Head.from_document(ledger["head"])
        entry = _commitment(entries, str(ledger["commitment"]), verdict)
        committed = _committed(entries, entry, str(ledger["reservation"]))
        _contents(where, ledger, committed, verdict)
        _currency(entries, str(ledger["currency"]), committed, verdict)
        _order(entries, head, committed, str(ledger["reservation"]), verdict)
        carried = Carried.of(entries)
        _identity(ledger, manifest, head, carried, verdict)
        check_signatures(where, ledger, carried, committed, fingerprint_of(key), verdict)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        verdict.say(ENFORCED, "The folder can be read as a release", False, type(error).__name__)
        return verdict
    verdict.say(
        DETECTABLE,
        "The ledger was not rewritten, cut or back-dated since this release (compare its head with others kept elsewhere)",
        None,
        head.hash,
    )
    verdict.say(NOT_VERIFIABLE, "The values were drawn honestly from the mechanism, once", None)
    verdict.say(NOT_VERIFIABLE, "Nobody looked at the data before the commitment", None)
    return verdict


def verified(folder: str | Path, key: str | None = None) -> ReleaseVerdict:
    """As `verify`, with unreadable folders told as a failed check rather than an error."""
    try:
        return verify(folder, key)
    except DiscreetError as error:
        verdict = ReleaseVerdict()
        verdict.say(ENFORCED, "The folder can be read as a release", False, str(error))
        return verdict


def _files(where: Path, verdict: ReleaseVerdict) -> bool:
    """Hashes come first: what is not as the manifest says is not opened."""
    wrong, extra = altered(where)
    verdict.say(ENFORCED, "Every file is as the manifest says", not wrong, ", ".join(wrong))
    verdict.say(ENFORCED, "The folder holds nothing else", not extra, ", ".join(extra))
    if wrong:
        verdict.say(ENFORCED, "The rest (not looked at, since files differ from the manifest)", None)
    return not wrong


def fingerprint_of(key: str | None) -> str | None:
    """A fingerprint as people write it: capitals, colons and spaces do not matter; anything else is refused, not compared."""
    if key is None:
        return None
    found = "".join(key.split()).replace(":", "").lower()
    if len(found) != 64 or not set(found) <= set("0123456789abcdef"):
        raise InputError(
            "This is not the fingerprint of a key",
            found=key,
            allowed="64 hexadecimal digits",
            remedy="copy the whole fingerprint from where the publisher shows it",
        )
    return found


def _identity(
    ledger: Mapping[str, Any], manifest: Mapping[str, Any], head: Head, carried: Carried, verdict: ReleaseVerdict
) -> None:
    """Which ledger: its name is the hash of its first entry, and entries, head and release speak of the same one."""
    first = carried.entries[0].hash
    fits = manifest["format"] == FORMATS[carried.end.format - 1]
    if manifest["format"] != FORMATS[0]:
        fits = fits and ledger["ledger"] == head.ledger == first
    verdict.say(ENFORCED, "Entries, head and files speak of one ledger, in one format", fits, first)


def _commitment(entries: list[Entry], name: str, verdict: ReleaseVerdict) -> Entry | None:
    found = next((entry for entry in entries if entry.hash == name), None)
    genuine = found is not None and found.hash == entry_hash(found.sequence, found.previous, found.time, found.event)
    verdict.say(ENFORCED, "The commitment is the ledger entry that it names", genuine, name)
    return found


def _committed(entries: list[Entry], entry: Entry | None, reservation: str) -> Commitment:
    """The commitment, and which member of it the reservation is for when it is a batch."""
    reserved = next((e for e in entries if e.hash == reservation), None)
    member = None if reserved is None else reserved.event.get("member")
    event = {"hashes": {}, "cost": {"epsilon": "0"}, "population": "", "unit": ""} if entry is None else entry.event
    if member is not None and not 0 <= int(member) < len(event["members"]):
        raise IndexError("member")
    return Commitment("" if entry is None else entry.hash, event, None if member is None else int(member))


def _contents(where: Path, ledger: Mapping[str, Any], committed: Commitment, verdict: ReleaseVerdict) -> None:
    """Plan, key set and mechanism are the committed ones; every mechanism is proved; the tables only restate its outputs."""
    bundle = bundle_in(where)
    hashes = committed.hashes
    for name, digest in bundle.hashes.items():
        same = hashes.get(name) == digest
        verdict.say(ENFORCED, f"The {name.replace('_', ' ')} is the committed one", same, digest)
    lost = sorted(set(hashes) - set(bundle.hashes))
    if lost:
        verdict.say(ENFORCED, "Everything that was committed is in the folder", False, ", ".join(lost))
    try:
        check_bundle(bundle)
    except DiscreetError as error:
        verdict.say(ENFORCED, "Plan, key set and mechanism fit each other", False, str(error))
        return
    verdict.say(ENFORCED, "Plan, key set and mechanism fit each other", True)
    _cost(committed, bundle, verdict)
    _proofs(where, bundle, verdict)
    table = read_bytes(where / "release.csv", "release.csv")
    disarming = disarmed_1 if release_format(where) == 1 else disarmed
    differs = restated(
        table, where / "release.parquet", bundle.cells, bundle.used, disarming, served=bundle.served, meant=bundle.asked is None
    )
    verdict.say(
        ENFORCED,
        "Both tables list the committed cells, each with an output of its mechanism and what that output implies",
        differs is None,
        differs or "",
    )
    _prior(bundle, str(ledger.get("ledger")), verdict)
    verdict.say(ENFORCED, "The metadata says what was committed", _metadata(where, bundle, ledger))


def _prior(bundle: Bundle, ledger: str, verdict: ReleaseVerdict) -> None:
    """A prior that names a learning release follows from it; where any other prior comes from nobody can check."""
    if bundle.learned is None and not learned_priors(bundle):
        return
    wrong = does_not_follow(bundle, ledger)
    words = "The prior is exactly what follows from the learning release that it names, which verifies as well"
    verdict.say(ENFORCED, words, wrong is None, told(wrong) if wrong is not None else bundle.hashes["learned"])


def _metadata(where: Path, bundle: Bundle, ledger: Mapping[str, Any]) -> bool:
    """Whether facts and registry record are written as this release writes them; old releases have the facts alone."""
    new = (where / FACTS).exists()
    stated = document_in(where, FACTS if new else METADATA)
    software = str(stated["implementation"]["software"])
    attested = stated["implementation"]["histograms"] == ATTESTED_COUNTS
    mine = (release_facts if new else first_facts)(bundle, ledger, attested)
    mine["implementation"]["software"] = software
    if stated != mine or not MADE_WITH.fullmatch(software):
        return False
    return not new or read_bytes(where / METADATA, METADATA) == metadata_bytes(metadata(mine, bundle, ledger))


def _cost(committed: Commitment, bundle: Bundle, verdict: ReleaseVerdict) -> None:
    """The cost is computed again from the mechanisms; that of a batch from what the commitment says of all its members."""
    short = committed.shortfall(bundle)
    verdict.say(
        ENFORCED,
        "The cost in the ledger is that of these mechanisms, on the account of this population and unit",
        short is None and committed.binds(bundle),
        short or str(bundle.cost),
    )
    batch = committed.batch
    if batch is None:
        return
    words = f"The cost of the whole batch ({len(batch.members)} plans, {batch.cost}) follows from its members"
    wrong = batch.shortfall()
    verdict.say(ENFORCED, f"{words}, by the rule: {batch.rule}", wrong is None, wrong or "")
    words = "What the batch says of its other members is true of their mechanisms: the release of each shows it for that one"
    verdict.say(ATTESTED, words, None)


def _proofs(where: Path, bundle: Bundle, verdict: ReleaseVerdict) -> None:
    found = bundle.verdicts()
    refuted = {size: one.counterexample for size, one in found.items() if one.counterexample is not None}
    verdict.say(
        ENFORCED,
        f"Every mechanism in use is private as its certificate says, proved in integers ({len(found)})",
        not refuted,
        "; ".join(f"{named(size)}: {proof}" for size, proof in refuted.items()),
    )
    stated = document_in(where, "certificates.json")
    mine = {
        named(size): certificate_document(Certificate(one.hash, one.privacy))
        for size, one in found.items()
        if one.privacy is not None
    }
    verdict.say(ENFORCED, "The proofs in the folder are those of these mechanisms", stated == mine)
    if any(one.not_proved for one in found.values()):
        words = "Value and bound of the certificate are true (discreet certify proves them from mechanism.json)"
        verdict.say(ENFORCED, words, None)
    carried = [name for name in (STANDALONE, IN_BROWSER) if name == STANDALONE or (where / name).exists()]
    same = all(read_bytes(where / name, name) == standalone_verifier(name) for name in carried)
    verdict.say(
        ENFORCED, "The verifier in the folder is the one of this version of discreet", True if same else None, "another text"
    )


def _order(entries: list[Entry], head: Head, made: Commitment, mine: str, verdict: ReleaseVerdict) -> None:
    genuine = all(e.hash == entry_hash(e.sequence, e.previous, e.time, e.event) for e in entries)
    rising = all(a.sequence < b.sequence and a.time <= b.time for a, b in pairwise(entries))
    joined = all(b.previous == a.hash for a, b in pairwise(entries) if b.sequence == a.sequence + 1)
    place = {e.hash: e for e in entries}
    steps = _steps(entries)
    reserved = place.get(mine)
    committed = place.get(made.name)
    ordered = (
        reserved is not None
        and committed is not None
        and reserved.event.get("commitment") == made.name
        and committed.sequence < reserved.sequence
        and steps is not None
        and steps.get(mine) == "spend"
    )
    verdict.say(ENFORCED, "In ledger order: committed, then reserved, then drawn", genuine and rising and joined and ordered)
    last = entries[-1]
    ends = last.sequence < head.sequence or (last.sequence, last.hash) == (head.sequence, head.hash)
    verdict.say(ENFORCED, "The head of the ledger comes after the draw", ends, head.hash)
    draws = sum(e.event["kind"] == "reserve" for e in entries)
    if made.member is not None:
        kept = [int(place[name].event["member"]) for name, step in (steps or {}).items() if step != "withdraw"]
        once = steps is not None and len(set(kept)) == len(kept)
        verdict.say(ENFORCED, "Each member of the batch was drawn at most once", once)
    what = "this commitment" if made.member is None else "this batch"
    verdict.say(
        DETECTABLE,
        f"All draws on {what} are listed: {draws} up to this release, so publishing only one of several would show",
        None,
    )


def _steps(entries: list[Entry]) -> dict[str, str] | None:
    """The last step of each reservation that is listed; None when one took a step that no ledger allows."""
    found: dict[str, str] = {}
    for entry in entries:
        kind = str(entry.event["kind"])
        if kind == "reserve":
            found[entry.hash] = kind
        elif kind in STEPS_AFTER:
            name = str(entry.event["reservation"])
            if found.get(name) not in STEPS_AFTER[kind]:
                return None
            found[name] = kind
    return found


def _currency(entries: list[Entry], stated: str, committed: Commitment, verdict: ReleaseVerdict) -> None:
    """The currency is the one that the ledger was made with; only one of them has a δ for batches."""
    first = entries[0]
    made = first.event.get("currency") if (first.sequence, first.event["kind"]) == (0, "init") else None
    batch = committed.batch
    fits = batch is None or not batch.cost.delta or made == "approximate"
    verdict.say(ENFORCED, "The currency is the one that the ledger was made with", made == stated and fits, stated)
