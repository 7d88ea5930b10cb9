"""Who signed a release: commitment, head and files, each with a key that the ledger trusted then, and whose key that is."""

from __future__ import annotations

from pathlib import Path

from discreet.ledger.chain import Entry
from discreet.ledger.checks import Head
from discreet.ledger.keys import commitment_signature, fingerprint, signature_holds, trust_after
from discreet.publish.commitment import Commitment
from discreet.publish.folder import SIGNATURE, document_in, signed_release
from discreet.publish.verdict import ATTESTED, DETECTABLE, Verdict


def check_signatures(
    entries: list[Entry], head: Head, commitment: Entry | None, committed: Commitment, verdict: Verdict
) -> str | None:
    """Whether commitment and head are signed with keys that the ledger trusted; the commitment's key if it is."""
    public, signed = committed.event.get("public"), commitment_signature(committed.event)
    before = [] if commitment is None else [e for e in entries if e.sequence < commitment.sequence]
    if signed is None:
        words = "The prior and the plan used only public data or earlier releases"
        named, _ = trust_after(before)
        verdict.say(ATTESTED, words, False if named else None, "the commitment is not signed")
    else:
        statement = str(committed.attested.get("statement", ""))
        verdict.say(ATTESTED, statement or "The commitment is signed", signed, fingerprint(str(public)))
        _trusted("The ledger trusted the commitment's key when it signed", str(public), before, verdict)
    if head.signature is not None:
        holds = signature_holds(str(head.public), head.signed(), head.signature)
        verdict.say(ATTESTED, "The head of the ledger is signed", holds, fingerprint(str(head.public)))
        _trusted("The ledger trusted the head's key when it signed", str(head.public), entries, verdict)
    return str(public) if signed else None


def check_release(where: Path, digest: str, entries: list[Entry], verdict: Verdict) -> None:
    """Whether the files are those that the publisher signed; otherwise only the ledger knows which values were drawn."""
    if not (where / SIGNATURE).exists():
        words = "The published values are those that were drawn (compare the manifest with the ledger's record)"
        verdict.say(DETECTABLE, words, None, digest)
        return
    stated = document_in(where, SIGNATURE)
    public = str(stated["public"])
    holds = signature_holds(public, signed_release(digest), str(stated["signature"]))
    verdict.say(ATTESTED, "The published values and all other files are as the publisher signed them", holds, digest)
    _trusted("The ledger trusted the release's key when it signed", public, entries, verdict)


def check_identity(public: str | None, key: str | None, verdict: Verdict) -> None:
    """Whose key signed the commitment: only a fingerprint from elsewhere tells."""
    if key is None:
        words = "Who published: without --key a key carried in the folder proves integrity, not identity"
        verdict.say(ATTESTED, words, None)
        return
    found = "no valid signature of the commitment" if public is None else fingerprint(public)
    verdict.say(ATTESTED, "The publisher is the one whose key fingerprint you gave", found == key.strip().lower(), found)


def _trusted(words: str, public: str, before: list[Entry], verdict: Verdict) -> None:
    """Follow rotations and revocations up to a moment: who was named by a trusted key, and not yet revoked."""
    keys, revoked = trust_after(before)
    digest = fingerprint(public)
    verdict.say(ATTESTED, words, digest not in revoked and (not keys or digest in keys), digest)
