"""What `Ledger.verify` looks at beside the chain and the rules: signatures, costs of batches, heads and releases kept elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.ledger.chain import Entry
from discreet.ledger.keys import commitment_signature, fingerprint, signature_holds
from discreet.ledger.state import State
from discreet.model.certificate import Counterexample


@dataclass(frozen=True)
class Head:
    """The end of the chain at some moment, signed or not: kept elsewhere, it shows rewriting and truncation."""

    sequence: int
    hash: str
    public: str | None = None
    signature: str | None = None

    def document(self) -> dict[str, Any]:
        """The head as text."""
        found: dict[str, Any] = {"sequence": self.sequence, "hash": self.hash}
        if self.public is not None and self.signature is not None:
            found |= {"public": self.public, "signature": self.signature}
        return found

    def signed(self) -> dict[str, Any]:
        """What the signature covers."""
        return {"ledger head": self.hash, "sequence": self.sequence}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Head:
        """The head in a document."""
        return cls(
            int(document["sequence"]), str(document["hash"]), document.get("public"), document.get("signature")
        )


def understated(entry: Entry) -> Counterexample | None:
    """A batch whose cost does not follow from its members."""
    if entry.event["kind"] != "commit" or "members" not in entry.event:
        return None
    from discreet.ledger.batches import Batch

    try:
        short = Batch.from_event(entry.event).shortfall()
    except InputError as error:
        short = str(error)
    if short is None:
        return None
    return Counterexample("batch", f"Entry {entry.sequence} commits a batch that costs more than is stated", found=short)


def unsigned(entry: Entry) -> Counterexample | None:
    """A commitment whose signature does not hold; entries about keys without a true one break a rule already."""
    if entry.event["kind"] != "commit" or commitment_signature(entry.event) is not False:
        return None
    public = str(entry.event.get("public"))
    return Counterexample("signature", f"Entry {entry.sequence} was not signed by the key that it names", found=public)


def missing(entries: list[Entry], head: Head, state: State) -> Counterexample | None:
    """A head kept elsewhere that is not in the chain, or not signed by a key of the ledger."""
    if head.sequence >= len(entries):
        return Counterexample(
            "head",
            "The ledger was cut: a head kept elsewhere lies beyond its end",
            found=f"{len(entries)} entries",
            allowed=f"at least {head.sequence + 1}",
        )
    if entries[head.sequence].hash != head.hash:
        return Counterexample(
            "head",
            f"The ledger was rewritten: entry {head.sequence} differs from a head kept elsewhere",
            found=entries[head.sequence].hash,
            allowed=head.hash,
        )
    if head.signature is not None and not signature_holds(str(head.public), head.signed(), head.signature):
        return Counterexample("signature", "A kept head was not signed by the key that it names")
    if head.signature is not None and state.keys and fingerprint(str(head.public)) not in state.keys:
        return Counterexample(
            "signature", "A kept head was signed with a key that the ledger does not know", found=fingerprint(str(head.public))
        )
    return None


def unrecorded(state: State, reservation: str, digest: str) -> Counterexample | None:
    """A release that the ledger recorded otherwise, or not at all."""
    held = state.reservations.get(reservation)
    if held is not None and held.release == digest:
        return None
    return Counterexample(
        "release",
        "A release differs from the one that the ledger recorded for its draw",
        found=digest,
        allowed="nothing recorded" if held is None or held.release is None else held.release,
    )
