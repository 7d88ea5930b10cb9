"""The hash chain: each entry holds the hash of the one before it, so that no entry can be changed, moved or left out unseen.

hash_n = SHA-256(canonical JSON of {sequence, previous, time, event}); the head is the last hash. Cutting off the end leaves a
valid shorter chain: only a head that was kept elsewhere (a release carries one, signed) shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.files.canonical import document_hash
from discreet.model.certificate import Counterexample

GENESIS = "0" * 64
"""What the first entry holds in place of a previous hash."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    sequence: int
    previous: str
    time: str
    event: Mapping[str, Any]
    hash: str

    @classmethod
    def after(cls, last: Entry | None, time: str, event: Mapping[str, Any]) -> Entry:
        """The entry that follows `last`."""
        sequence = 0 if last is None else last.sequence + 1
        previous = GENESIS if last is None else last.hash
        return cls(sequence, previous, time, event, entry_hash(sequence, previous, time, event))

    def document(self) -> dict[str, Any]:
        """The entry as exact text."""
        return {
            "sequence": self.sequence,
            "previous": self.previous,
            "time": self.time,
            "event": dict(self.event),
            "hash": self.hash,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Entry:
        """The entry that a document holds; its hash is checked by `verify_chain`."""
        return cls(
            int(document["sequence"]),
            str(document["previous"]),
            str(document["time"]),
            dict(document["event"]),
            str(document["hash"]),
        )


def entry_hash(sequence: int, previous: str, time: str, event: Mapping[str, Any]) -> str:
    """The hash of an entry's content."""
    return document_hash({"sequence": sequence, "previous": previous, "time": time, "event": dict(event)})


def verify_chain(entries: Iterable[Entry]) -> Counterexample | None:
    """None when every entry follows from the one before; otherwise the first that does not."""
    last: Entry | None = None
    for entry in entries:
        expected = 0 if last is None else last.sequence + 1
        if entry.sequence != expected:
            return Counterexample(
                "ledger",
                f"Entry {expected} is missing or out of order",
                found=str(entry.sequence),
                allowed=str(expected),
            )
        if entry.previous != (GENESIS if last is None else last.hash):
            return Counterexample(
                "ledger",
                f"Entry {entry.sequence} does not follow the one before it",
                found=entry.previous,
                allowed=GENESIS if last is None else last.hash,
            )
        if entry.hash != entry_hash(entry.sequence, entry.previous, entry.time, entry.event):
            return Counterexample("ledger", f"Entry {entry.sequence} was changed after it was written", found=entry.hash)
        last = entry
    return None
