"""Who signed a release: its ledger entries, commitment, head and files, with keys that the ledger trusted then, by one publisher.

Once anything says that there is a publisher (a signed commitment, a ledger with keys, a fingerprint that the reader brings), all
signatures are demanded: a forger without the key can delete a signature, but not make one. They are by one publisher
when head and files were signed with the commitment's key, or with one that it named in this ledger and that was not revoked.
What is signed says where it belongs (`ledger.trust`, `ledger.heads`, `folder.signed_release`), so nothing can be moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger.chain import Entry
from discreet.ledger.heads import Head
from discreet.ledger.keys import fingerprint, signature_holds
from discreet.ledger.trust import Trust, author
from discreet.publish.commitment import Commitment
from discreet.publish.folder import MANIFEST, SIGNATURE, document_in, signed_release
from discreet.publish.verdict import ATTESTED, DETECTABLE, ReleaseVerdict


@dataclass(frozen=True)
class Carried:
    """The ledger entries in a release: what was trusted before each, at the end, and those that nobody trusted signed."""

    entries: list[Entry]
    before: dict[str, Trust] = field(default_factory=dict)
    end: Trust = field(default_factory=Trust)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, entries: list[Entry]) -> Carried:
        """Follow the keys through the entries; what is not signed as it must be is passed over, and said."""
        found = cls(entries)
        for entry in entries:
            found.before[entry.hash] = deepcopy(found.end)
            try:
                found.end.must_allow(entry)
                found.end.follow(entry)
            except (DiscreetError, KeyError, TypeError, ValueError):
                found.wrong.append(f"entry {entry.sequence}")
        return found


@dataclass(frozen=True)
class Signature:
    """One of three: what it is of, whether it holds (None: there is none), by whom, and what the ledger trusted then."""

    of: str
    words: str
    holds: bool | None
    public: str
    trust: Trust

    @property
    def by(self) -> str:
        """The fingerprint of the key that it names."""
        return "no signature" if self.holds is None else fingerprint(self.public)


def check_signatures(
    where: Path, ledger: Mapping[str, Any], carried: Carried, committed: Commitment, key: str | None, verdict: ReleaseVerdict
) -> None:
    """Say of entries, commitment, head and files who signed them, and whether that is one publisher: with `key`, that one."""
    manifest = document_in(where, MANIFEST)
    found = [
        _of_commitment(carried, committed),
        _of_head(Head.from_document(ledger["head"]), carried),
        _of_files(where, manifest, ledger, carried),
    ]
    demanded = key is not None or found[0].holds is not None or bool(carried.end.keys)
    if carried.end.keys:
        words = "Every entry of the ledger in the folder is signed"
        words += ", at its place, with a key trusted then" if carried.end.format > 1 else " that its format asks for"
        verdict.say(ATTESTED, words, not carried.wrong, ", ".join(carried.wrong))
    for signature in found:
        _say(signature, demanded, verdict)
    _one_publisher(found, key, demanded, verdict)


def _of_commitment(carried: Carried, committed: Commitment) -> Signature:
    entry = next((entry for entry in carried.entries if entry.hash == committed.name), None)
    trust = Trust() if entry is None else carried.before[entry.hash]
    signed = None if entry is None else trust.signature(entry)
    words = str(committed.attested.get("statement", "")) or "The commitment is signed"
    if entry is None or signed is None:
        words = "The prior and the plan used only public data or earlier releases"
        return Signature("commitment", words, None, "", trust)
    return Signature("commitment", words, signed, str(author(trust, entry)), trust)


def _of_head(head: Head, carried: Carried) -> Signature:
    return Signature("head", "The head of the ledger is signed", head.holds, str(head.public), carried.end)


def _of_files(where: Path, manifest: Mapping[str, Any], ledger: Mapping[str, Any], carried: Carried) -> Signature:
    words = "The published values and all other files are as the publisher signed them"
    if not os.path.lexists(where / SIGNATURE):
        return Signature("release", words, None, "", carried.end)
    stated = document_in(where, SIGNATURE)
    public = str(stated["public"])
    holds = set(stated) == {"public", "signature"} and signature_holds(
        public, signed_release(manifest, ledger), str(stated["signature"])
    )
    return Signature("release", words, holds, public, carried.end)


def _say(signature: Signature, demanded: bool, verdict: ReleaseVerdict) -> None:
    """Whether a signature holds and the ledger trusted its key; without any, what only the ledger's record can tell."""
    if signature.holds is None and not demanded:
        if signature.of == "release":
            words = "The published values are those that were drawn (compare the manifest with the ledger's record)"
            verdict.say(DETECTABLE, words, None)
        else:
            verdict.say(ATTESTED, signature.words, None, f"the {signature.of} is not signed")
        return
    found = f"the {signature.of} is not signed" if signature.holds is None else signature.by
    verdict.say(ATTESTED, signature.words, signature.holds is True, found)
    if signature.holds is not None:
        trust = signature.trust
        trusted = signature.by not in trust.revoked and (not trust.keys or signature.by in trust.keys)
        verdict.say(ATTESTED, f"The ledger trusted the {signature.of}'s key when it signed", trusted, signature.by)


def _one_publisher(found: list[Signature], key: str | None, demanded: bool, verdict: ReleaseVerdict) -> None:
    """All three by one publisher; only a fingerprint from elsewhere tells whose key that is."""
    if demanded:
        strange = list(_strangers(found, found[0].by if key is None else key))
        words = (
            "Commitment, head and files are signed by one publisher"
            if key is None
            else "The publisher is the one whose key fingerprint you gave"
        )
        verdict.say(ATTESTED, words, not strange, "; ".join(strange))
    else:
        words = "Nothing here is signed: whoever can write to the folder could have made all of it"
        verdict.say(ATTESTED, words, None)
    if key is None:
        words = "Who published: without --key a key carried in the folder proves integrity, not identity"
        verdict.say(ATTESTED, words, None)


def _strangers(found: list[Signature], anchor: str) -> Iterator[str]:
    """Signatures that are missing, false, or by another key; head and files may be by one that the publisher's key named."""
    for signature in found:
        known = {anchor} if signature.of == "commitment" else signature.trust.named_from(anchor)
        if not signature.holds or signature.by not in known:
            yield f"{signature.of}: {signature.by}"
