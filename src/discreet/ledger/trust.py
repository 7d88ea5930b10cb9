"""Who may write to a ledger: the keys that it trusts at each entry, and what a signature covers.

In a ledger with keys every entry is signed, with a key that was trusted just before it. What is signed is the entry at its place:

    {ledger, sequence, previous, time, event with the key that signs}          ledger = hash of the first entry

so that no entry can be moved to another place or into another ledger. Ledgers of format 1 signed commitments and keys alone,
without their place; they are read as they are, and the entry `format` that ends them makes the rules above hold from there on.

With `approvals` = k > 1, budgets, new keys and new places for heads wait until k trusted keys, the proposer's among them, signed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.ledger.chain import GENESIS, Entry
from discreet.ledger.keys import fingerprint, signature_holds

FORMAT = "discreet-ledger/2"


@dataclass
class Trust:
    """Keys as of one place in the chain. Fingerprints name keys."""

    ledger: str = GENESIS
    """The ledger's identity: the hash of its first entry."""
    format: int = 1
    approvals: int = 1
    keys: dict[str, str] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    vouched: dict[str, set[str]] = field(default_factory=dict)
    """For each key that was named later, the keys that signed for it."""
    pending: dict[str, tuple[Entry, set[str]]] = field(default_factory=dict)
    """Entries that wait for approval, by their hash, and who has signed for them."""

    @classmethod
    def after(cls, entries: Iterable[Entry]) -> Trust:
        """The trust that a chain's entries lead to; those that are not about keys are passed over."""
        found = cls()
        for entry in entries:
            found.follow(entry)
        return found

    def signature(self, entry: Entry) -> bool | None:
        """Whether an entry's signature holds at its place; None when it has none."""
        event = entry.event
        public, signature = author(self, entry), event.get("signature")
        if public is None and signature is None:
            return None
        return signature_holds(str(public), _signed(self, entry), str(signature))

    def must_trust(self, public: str) -> None:
        """Refuse a key that was revoked, or that a ledger with keys of its own does not know."""
        digest = fingerprint(public)
        if digest in self.revoked:
            raise InputError(
                "This key was revoked in this ledger",
                found=digest,
                allowed="a key that is still trusted",
                remedy="sign with the key that took its place",
            )
        if self.keys:
            self.must_know(digest)

    def must_know(self, digest: str) -> None:
        """Refuse a key that the ledger never named, or that still waits for approval."""
        if digest not in self.keys:
            raise InputError(
                "The ledger does not know this key",
                found=digest,
                allowed="a key given at ledger init, or named by one that was trusted and approved",
                remedy="check the fingerprint; a ledger made without a key has none",
            )

    def must_allow(self, entry: Entry) -> None:
        """Refuse an entry that is not signed, or not truly, by a key that is trusted here."""
        public, kind = author(self, entry), str(entry.event.get("kind"))
        about_keys = kind in ("key", "revoke", "approve")
        if public is None:
            with_keys = bool(listed(entry)) and "format" in entry.event if kind == "init" else bool(self.keys)
            if about_keys or (with_keys and (self.format > 1 or kind in ("init", "format", "commit"))):
                raise _unsigned()
        elif kind == "init":
            if public not in listed(entry):
                raise Refuted("the ledger was changed", "its first entry is signed with a key that it does not list")
        else:
            if about_keys:
                self.must_know(fingerprint(public))
            self.must_trust(public)
        if self.signature(entry) is False:
            raise Refuted("the ledger was changed", f"entry {entry.sequence} was not signed by the key that it names")

    def follow(self, entry: Entry) -> Entry | None:
        """Take in what an entry says about keys; returns the entry that takes effect now, itself or the one it approves."""
        event, kind = entry.event, str(entry.event["kind"])
        if kind == "init":
            self.approvals = _approvals(entry)
            self.keys = {fingerprint(public): public for public in listed(entry)}
            self.format = 2 if "format" in event else 1
            self.ledger = entry.hash
        elif kind == "format":
            self.format = 2
        elif kind == "revoke":
            self.must_know(str(event["fingerprint"]))
            self.revoked.add(str(event["fingerprint"]))
        elif kind in ("budget", "key", "heads"):
            return self._proposed(entry)
        elif kind == "approve":
            return self._approved(entry)
        return entry

    def _proposed(self, entry: Entry) -> Entry | None:
        if self.approvals > 1:
            self.pending[entry.hash] = (entry, {fingerprint(str(author(self, entry)))})
            return None
        return self._in_force(entry, {fingerprint(str(author(self, entry)))} if author(self, entry) else set())

    def _approved(self, entry: Entry) -> Entry | None:
        name, by = str(entry.event["entry"]), fingerprint(str(author(self, entry)))
        if name not in self.pending:
            raise InputError(
                "Nothing waits for approval under this name",
                found=name,
                allowed=", ".join(self.pending) or "nothing waits",
                remedy="see: discreet ledger show",
            )
        proposal, signed = self.pending[name]
        if by in signed:
            raise InputError(
                "This key has signed for it already",
                found=by,
                allowed="another trusted key: two people approve",
                remedy="let somebody else approve it",
            )
        signed.add(by)
        if len(signed - self.revoked) < self.approvals:
            return None
        del self.pending[name]
        return self._in_force(proposal, signed)

    def _in_force(self, entry: Entry, signed: set[str]) -> Entry:
        if entry.event["kind"] == "key":
            public = str(entry.event["public"])
            if fingerprint(public) in self.revoked:
                self.must_trust(public)
            self.keys[fingerprint(public)] = public
            self.vouched[fingerprint(public)] = signed
        return entry

    def named_from(self, digest: str) -> set[str]:
        """A key and all that it vouched for, directly or through others, without those that were revoked."""
        found = {digest}
        while more := {key for key, signed in self.vouched.items() if signed & found} - found:
            found |= more
        return found - self.revoked


def author(trust: Trust, entry: Entry) -> str | None:
    """The public key that an entry says it is signed with; commitments of format 1 named it otherwise."""
    old = trust.format == 1 and entry.event.get("kind") == "commit" and "public" in entry.event
    found = entry.event.get("public" if old else "by")
    return None if found is None else str(found)


def listed(entry: Entry) -> list[str]:
    """The keys that a ledger was made with."""
    old = entry.event.get("key")
    return list(dict.fromkeys(map(str, entry.event.get("keys", [])))) if old is None else [str(old)]


def entry_statement(ledger: str, entry: Entry) -> dict[str, Any]:
    """What is signed of an entry: all of it, at its place in its ledger."""
    return {
        "discreet": "ledger entry/2",
        "ledger": ledger,
        "sequence": entry.sequence,
        "previous": entry.previous,
        "time": entry.time,
        "event": {key: value for key, value in entry.event.items() if key != "signature"},
    }


def _signed(trust: Trust, entry: Entry) -> dict[str, Any]:
    """What an entry's signature covers, in the format of its place."""
    kind = entry.event.get("kind")
    if trust.format > 1 or kind in ("init", "format"):
        return entry_statement(trust.ledger, entry)
    left_out = ("public", "signature") if kind == "commit" and "by" not in entry.event else ("signature",)
    return {key: value for key, value in entry.event.items() if key not in left_out}


def _approvals(entry: Entry) -> int:
    found = entry.event.get("approvals", 1)
    if not isinstance(found, int) or not 1 <= found <= max(1, len(listed(entry))):
        raise InputError(
            "A ledger cannot ask for more approvals than it has keys",
            found=str(found),
            allowed=f"1 to {max(1, len(listed(entry)))}",
            remedy="list more keys, or ask for fewer approvals",
        )
    return found


def _unsigned() -> InputError:
    return InputError(
        "A ledger with keys takes only signed entries",
        found="no signature",
        allowed="an entry signed with a key that the ledger trusts",
        remedy="give the key: --key FILE",
    )
