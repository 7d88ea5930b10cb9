"""Who signed a release: commitment, head and files, each with a key that the ledger trusted then, and all by one publisher.

Once anything says that there is a publisher (a signed commitment, a ledger with keys, a fingerprint that the reader brings), all
three signatures are demanded: a forger without the key can delete a signature, but not make one. They are by one publisher
when head and files were signed with the commitment's key, or with one that it named in this ledger and that was not revoked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.ledger.chain import Entry
from discreet.ledger.checks import Head
from discreet.ledger.keys import commitment_signature, fingerprint, named_from, signature_holds, trust_after
from discreet.publish.commitment import Commitment
from discreet.publish.folder import SIGNATURE, document_in, signed_release
from discreet.publish.verdict import ATTESTED, DETECTABLE, Verdict


@dataclass(frozen=True)
class Signature:
    """One of the three: what it is of, whether it holds (None: there is none), by whom, and the entries before it."""

    of: str
    words: str
    holds: bool | None
    public: str
    before: list[Entry]

    @property
    def by(self) -> str:
        """The fingerprint of the key that it names."""
        return "no signature" if self.holds is None else fingerprint(self.public)


def check_signatures(
    where: Path,
    digest: str,
    entries: list[Entry],
    head: Head,
    commitment: Entry | None,
    committed: Commitment,
    key: str | None,
    verdict: Verdict,
) -> None:
    """Say of commitment, head and files who signed them, and whether that is one publisher, the reader's own if `key` is given."""
    before = [] if commitment is None else [e for e in entries if e.sequence < commitment.sequence]
    found = [
        _of_commitment(committed, before),
        _of_head(head, entries),
        _of_files(where, digest, entries),
    ]
    demanded = key is not None or found[0].holds is not None or bool(trust_after(entries)[0])
    for signature in found:
        _say(signature, demanded, digest, verdict)
    _one_publisher(found, key, demanded, verdict)


def _of_commitment(committed: Commitment, before: list[Entry]) -> Signature:
    signed = commitment_signature(committed.event)
    statement = "The prior and the plan used only public data or earlier releases"
    words = str(committed.attested.get("statement", "")) or "The commitment is signed"
    return Signature(
        "commitment", statement if signed is None else words, signed, str(committed.event.get("public", "")), before
    )


def _of_head(head: Head, entries: list[Entry]) -> Signature:
    words = "The head of the ledger is signed"
    if head.signature is None and head.public is None:
        return Signature("head", words, None, "", entries)
    holds = signature_holds(str(head.public), head.signed(), str(head.signature))
    return Signature("head", words, holds, str(head.public), entries)


def _of_files(where: Path, digest: str, entries: list[Entry]) -> Signature:
    words = "The published values and all other files are as the publisher signed them"
    if not (where / SIGNATURE).exists():
        return Signature("release", words, None, "", entries)
    stated = document_in(where, SIGNATURE)
    public = str(stated["public"])
    holds = set(stated) == {"public", "signature"} and signature_holds(
        public, signed_release(digest), str(stated["signature"])
    )
    return Signature("release", words, holds, public, entries)


def _say(signature: Signature, demanded: bool, digest: str, verdict: Verdict) -> None:
    """Whether a signature holds and the ledger trusted its key; without any, what only the ledger's record can tell."""
    if signature.holds is None and not demanded:
        if signature.of == "release":
            words = "The published values are those that were drawn (compare the manifest with the ledger's record)"
            verdict.say(DETECTABLE, words, None, digest)
        else:
            verdict.say(ATTESTED, signature.words, None, f"the {signature.of} is not signed")
        return
    found = f"the {signature.of} is not signed" if signature.holds is None else signature.by
    verdict.say(ATTESTED, signature.words, signature.holds is True, found)
    if signature.holds is not None:
        keys, revoked = trust_after(signature.before)
        trusted = signature.by not in revoked and (not keys or signature.by in keys)
        verdict.say(ATTESTED, f"The ledger trusted the {signature.of}'s key when it signed", trusted, signature.by)


def _one_publisher(found: list[Signature], key: str | None, demanded: bool, verdict: Verdict) -> None:
    """All three by one publisher; only a fingerprint from elsewhere tells whose key that is."""
    if demanded:
        anchor = found[0].by if key is None else "".join(key.split()).replace(":", "").lower()
        strange = list(_strangers(found, anchor))
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
        known = {anchor} if signature.of == "commitment" else named_from(anchor, signature.before)
        if not signature.holds or signature.by not in known:
            yield f"{signature.of}: {signature.by}"
