"""Heads: the end of a chain at some moment. Kept elsewhere, they show that a ledger was rewritten, cut or rolled back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.ledger.chain import Entry
from discreet.ledger.keys import fingerprint, signature_holds
from discreet.ledger.trust import Trust
from discreet.model.certificate import Counterexample


@dataclass(frozen=True)
class Head:
    """The last entry at some moment. `ledger` is the hash of the first one; heads of old releases do not say it."""

    sequence: int
    hash: str
    ledger: str | None = None
    public: str | None = None
    signature: str | None = None

    def document(self) -> dict[str, Any]:
        """The head as text."""
        found: dict[str, Any] = {"sequence": self.sequence, "hash": self.hash}
        if self.ledger is not None:
            found["ledger"] = self.ledger
        if self.public is not None and self.signature is not None:
            found |= {"public": self.public, "signature": self.signature}
        return found

    def signed(self) -> dict[str, Any]:
        """What the signature covers."""
        if self.ledger is None:
            return {"ledger head": self.hash, "sequence": self.sequence}
        return {"discreet": "ledger head/2", "ledger": self.ledger, "sequence": self.sequence, "hash": self.hash}

    @property
    def holds(self) -> bool | None:
        """Whether its signature holds; None when there is none."""
        if self.public is None and self.signature is None:
            return None
        return signature_holds(str(self.public), self.signed(), str(self.signature))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Head:
        """The head in a document."""
        texts = {name: document.get(name) for name in ("ledger", "public", "signature")}
        return cls(
            int(document["sequence"]),
            str(document["hash"]),
            **{name: None if text is None else str(text) for name, text in texts.items()},
        )

    def missing_from(self, entries: Sequence[Entry], trust: Trust) -> Counterexample | None:
        """Why this head cannot be one of the ledger with these entries and keys; None when it is."""
        if self.ledger is not None and entries and entries[0].hash != self.ledger:
            return Counterexample("head", "A head kept elsewhere is of another ledger", found=entries[0].hash, allowed=self.ledger)
        if not 0 <= self.sequence < len(entries):
            return Counterexample(
                "head",
                "The ledger was cut or an old copy of it was restored: a head kept elsewhere lies beyond its end",
                found=f"{len(entries)} entries",
                allowed=f"at least {self.sequence + 1}",
            )
        if entries[self.sequence].hash != self.hash:
            return Counterexample(
                "head",
                f"The ledger was rewritten: entry {self.sequence} differs from a head kept elsewhere",
                found=entries[self.sequence].hash,
                allowed=self.hash,
            )
        if self.holds is False:
            return Counterexample("signature", "A kept head was not signed by the key that it names")
        if self.holds and trust.keys and fingerprint(str(self.public)) not in trust.keys:
            return Counterexample(
                "signature",
                "A kept head was signed with a key that the ledger does not know",
                found=fingerprint(str(self.public)),
            )
        return None
