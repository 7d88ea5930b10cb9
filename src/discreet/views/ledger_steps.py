"""What a command did to a ledger: a budget declared or approved, a key named, a head written, a copy made or brought back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.ledger.chain import Entry
from discreet.ledger.heads import Head
from discreet.ledger.keepers import Keeper
from discreet.ledger.keys import Signer, fingerprint
from discreet.ledger.state import State
from discreet.views.view import Block, Fact, Sentence, View, mind, told


def declared_view(place: str, state: State, entry: Entry, signer: Signer | None) -> View:
    """A budget, whose key signed for it, and whether somebody else has to sign too."""
    event = entry.event
    facts: dict[str, Any] = {
        "ledger": without_password(place),
        "currency": state.currency,
        "population": event["population"],
        "unit": event["unit"],
        "budget": event["cap"],
        "fingerprint": None if signer is None else signer.fingerprint,
    }
    words: list[Block] = [Sentence(f"Budget {event['cap']} ({state.currency}) for {event['population']}, unit: {event['unit']}.")]
    if signer is not None:
        words.append(Sentence(f"Publisher's key fingerprint: {signer.fingerprint}", whole=True))
    return told(facts, *words) + _waiting(place, state, entry)


def approved_view(state: State, entry: Entry) -> View:
    """Whether an entry that somebody signed for is in force now."""
    pending = state.trust.pending.get(entry.hash)
    missing = 0 if pending is None else state.trust.approvals - len(pending[1])
    words = "It is in force." if pending is None else f"{missing} more must sign."
    return told({"entry": entry.hash, "in_force": pending is None}, Sentence(f"Approved entry {entry.sequence}. {words}"))


def key_view(signer: Signer) -> View:
    """The public half of a key."""
    return _listed({"fingerprint": signer.fingerprint, "public": signer.public})


def rotated_view(place: str, state: State, entry: Entry, public: str) -> View:
    """A key that a ledger trusts from here on."""
    name = fingerprint(public)
    return told({"fingerprint": name}, Sentence(f"New key: {name}", whole=True)) + _waiting(place, state, entry)


def revoked_view(name: str) -> View:
    """A key that a ledger trusts no longer."""
    return told({"revoked": name}, Sentence(f"Revoked: {name}", whole=True))


def heads_view(state: State, keeper: Keeper | None, kept: Sequence[Head]) -> View:
    """Where the heads of a ledger are kept, and how far."""
    newest = kept[-1].sequence if kept else None
    facts: dict[str, Any] = {
        "ledger": state.trust.ledger, "entries": state.next, "heads": None if keeper is None else keeper.place, "kept": len(kept),
        "newest": newest,
    }  # fmt: skip
    words: list[Block] = [Fact("ledger", state.trust.ledger, whole=True), Fact("entries", str(state.next))]
    if keeper is None:
        return told(facts, *words, Sentence("No place keeps its heads: name one with --to."))
    words += [Fact("kept at", keeper.place, whole=True), Fact("kept", f"{len(kept)} heads, the newest of entry {newest}")]
    return told(facts, *words)


def head_view(head: Head, file: Path, more: Mapping[str, Path]) -> View:
    """A head, the file that it was written to, and what was written beside it: a time stamp, or the question for one."""
    return _listed({"head": file, "sequence": head.sequence, "hash": head.hash} | dict(more))


def copied_view(file: Path, count: int, *, with_head: bool) -> View:
    """Entries that were written to a file, alone or with the head."""
    words = f"{count} entries and the head are in {file}" if with_head else f"{count} entries written to {file}"
    return told({"file": file, "entries": count}, Sentence(words))


def restored_view(place: str, count: int, heads: int) -> View:
    """A backup that was brought back, and how many heads it was compared with."""
    words: list[Block] = [Sentence(f"{count} entries restored to {place}.", whole=True)]
    if not heads:
        words.append(mind("nothing was compared: what was spent after the backup would be granted again. Use --against."))
    return told({"ledger": without_password(place), "entries": count, "heads": heads}, *words)


def without_password(place: str) -> str:
    """Where a ledger lies, without the user and password that an address may begin with."""
    return place.split("@")[-1]


def _waiting(place: str, state: State, entry: Entry) -> View:
    """What somebody else has to do before an entry is in force, where anything is."""
    if entry.hash not in state.trust.pending:
        return View({}, ())
    words = f"It waits for approval: discreet ledger approve {place} --entry {entry.sequence} --key KEY"
    return told({"waits": entry.hash}, Sentence(words, whole=True))


def _listed(facts: Mapping[str, Any]) -> View:
    return told(facts, *(Fact(name, str(text), whole=True) for name, text in facts.items()))
