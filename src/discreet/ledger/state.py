"""What the entries add up to: budgets, commitments, reservations and keys, replayed in order.

A reservation counts as spent from the moment it is made. It can be withdrawn only while nothing was drawn on it; a crash
leaves it reserved, which is spent.

In a batch each member is reserved by itself, at most once unless it was withdrawn. The first of them charges the cost of the whole
batch and the others nothing; the charge comes back only when all of them were withdrawn, so when nothing of the batch was
drawn.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.ledger.budget import Budget, Cost, Spent
from discreet.ledger.chain import GENESIS, Entry, entry_hash
from discreet.ledger.keys import fingerprint, naming_signature
from discreet.numerics.exact import exact

Account = tuple[str, str]
"""A population and a privacy unit."""


@dataclass
class Reservation:
    """A claim on a budget, and how far it has come: reserved, spent, released, burned or withdrawn.

    `member` is the place in a batch; the cost is then that of the whole batch, charged once.
    """

    commitment: str
    account: Account
    cost: Cost
    member: int | None = None
    stage: str = "reserved"
    release: str | None = None


@dataclass
class State:
    """Everything that decides whether the next event is allowed."""

    next: int = 0
    head: str = GENESIS
    time: str = ""
    currency: str | None = None
    budgets: dict[Account, Budget] = field(default_factory=dict)
    spent: dict[Account, Spent] = field(default_factory=dict)
    commitments: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reservations: dict[str, Reservation] = field(default_factory=dict)
    batches: dict[str, dict[int, str]] = field(default_factory=dict)
    """For each batch that was committed, the reservations of its members that were not withdrawn."""
    keys: dict[str, str] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry; refuses one that does not follow or is not allowed."""
        expected = entry_hash(entry.sequence, entry.previous, entry.time, entry.event)
        if entry.sequence != self.next or entry.previous != self.head or entry.hash != expected:
            raise Refuted("the ledger was changed", f"entry {entry.sequence} does not follow the one before it")
        kind = str(entry.event.get("kind"))
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise Refuted("the ledger holds an event of an unknown kind", kind)
        handler(self, entry)
        self.next, self.head, self.time = entry.sequence + 1, entry.hash, entry.time

    def account(self, population: str, unit: str) -> Account:
        """The account of a population and unit, which must have a budget."""
        found = (population, unit)
        if found not in self.budgets:
            known = "; ".join(f"{p} ({u})" for p, u in self.budgets) or "none"
            raise InputError(
                "No budget is declared for this population and privacy unit",
                found=f"{population} ({unit})",
                allowed=known,
                remedy="declare one with: discreet ledger init",
            )
        return found

    def must_trust(self, public: str) -> None:
        """Refuse a key that was revoked, or that a ledger with keys of its own does not know."""
        digest = fingerprint(public)
        if digest in self.revoked:
            raise _revoked(digest)
        if self.keys:
            _must_be_named(self, digest)

    def reservation(self, name: str) -> Reservation:
        """A reservation by its name."""
        if name not in self.reservations:
            raise InputError(
                "There is no such reservation",
                found=name,
                allowed="a reservation of this ledger",
                remedy="reserve first",
            )
        return self.reservations[name]


def _init(state: State, entry: Entry) -> None:
    if state.currency is not None:
        raise Refuted("the ledger is made twice", f"entry {entry.sequence}")
    state.currency = str(entry.event["currency"])
    public = entry.event.get("key")
    if public is not None:
        state.keys[fingerprint(str(public))] = str(public)


def _budget(state: State, entry: Entry) -> None:
    event = entry.event
    account = (str(event["population"]), str(event["unit"]))
    alike = next((known for known in state.budgets if _folded(known) == _folded(account)), None)
    if alike is not None:
        raise InputError(
            "This population and unit already have a budget",
            found=f"{alike[0]} ({alike[1]})",
            allowed="one budget each, for good",
            remedy="vintages and renamed files share it",
        )
    state.budgets[account] = Budget(
        str(state.currency), exact(event["cap"], "cap"), exact(event.get("delta", 0), "delta")
    )
    state.spent[account] = Spent()


def _folded(account: Account) -> Account:
    """Names as people read them: letter case, spacing and ways of writing a character make no second budget."""
    population, unit = (" ".join(unicodedata.normalize("NFKC", name).casefold().split()) for name in account)
    return population, unit


def _commit(state: State, entry: Entry) -> None:
    state.account(str(entry.event["population"]), str(entry.event["unit"]))
    Cost.from_document(entry.event["cost"])
    if entry.event.get("public") is not None:
        state.must_trust(str(entry.event["public"]))
    elif state.keys:
        raise InputError(
            "A ledger with keys takes only signed commitments",
            found="no signature",
            allowed="a commitment signed with a key that the ledger trusts",
            remedy="sign it: discreet commit PLAN --key FILE",
        )
    if "members" in entry.event:
        _must_list_plans(entry)
        state.batches[entry.hash] = {}
    state.commitments[entry.hash] = entry.event


def _must_list_plans(entry: Entry) -> None:
    members = entry.event["members"]
    bound = isinstance(members, list) and [m.get("hashes") for m in members if isinstance(m, dict)]
    if not bound or len(bound) < len(members) or not all(isinstance(hashes, dict) for hashes in bound):
        raise Refuted("the ledger holds a batch that cannot be read", f"entry {entry.sequence} does not list what it binds")


def _reserve(state: State, entry: Entry) -> None:
    commitment = str(entry.event["commitment"])
    if commitment not in state.commitments:
        raise InputError(
            "Nothing was committed under this name",
            found=commitment,
            allowed="the hash of a commitment",
            remedy="commit the plan first",
        )
    made = state.commitments[commitment]
    account = state.account(str(made["population"]), str(made["unit"]))
    cost = Cost.from_document(made["cost"])
    member = _member(state, commitment, entry.event.get("member"))
    if member is None or not state.batches[commitment]:
        state.spent[account] = state.budgets[account].must_allow(state.spent[account], cost)
    if member is not None:
        state.batches[commitment][member] = entry.hash
    state.reservations[entry.hash] = Reservation(commitment, account, cost, member)


def _member(state: State, commitment: str, given: object) -> int | None:
    """Which member of a batch is reserved: one of its own that was not drawn on yet; None outside batches."""
    taken = state.batches.get(commitment)
    count = 0 if taken is None else len(state.commitments[commitment]["members"])
    if taken is None and given is None:
        return None
    if taken is None or not isinstance(given, int) or not 0 <= given < count:
        raise InputError(
            "A reservation names one member of a batch, or none outside batches",
            found=str(given),
            allowed="none: this commitment is no batch" if taken is None else f"0 to {count - 1}",
            remedy="reserve what was committed",
        )
    if given in taken:
        stage = state.reservations[taken[given]].stage
        again = "commit its plan again to draw it once more"
        raise InputError(
            "This member of the batch was reserved already: each is drawn at most once",
            found=f"member {given + 1}, {stage}",
            allowed="a member that nothing was drawn on",
            remedy=again
            if stage in ("released", "burned")
            else f"if it was interrupted, run the same command with the same folder; if that says the same, {again}",
        )
    return given


def _spend(state: State, entry: Entry) -> None:
    _advance(state, entry, {"reserved"}, "spent")


def _release(state: State, entry: Entry) -> None:
    _advance(state, entry, {"spent"}, "released").release = str(entry.event["release"])


def _burn(state: State, entry: Entry) -> None:
    _advance(state, entry, {"reserved", "spent"}, "burned")


def _withdraw(state: State, entry: Entry) -> None:
    held = _advance(state, entry, {"reserved"}, "withdrawn")
    if held.member is not None:
        del state.batches[held.commitment][held.member]
    charged = {
        name if r.member is None else r.commitment: r.cost
        for name, r in state.reservations.items()
        if r.account == held.account and r.stage != "withdrawn"
    }
    state.spent[held.account] = state.budgets[held.account].spent(charged.values())


def _advance(state: State, entry: Entry, allowed: set[str], stage: str) -> Reservation:
    held = state.reservation(str(entry.event["reservation"]))
    if held.stage not in allowed:
        raise InputError(
            f"A reservation that is {held.stage} cannot become {stage}",
            found=held.stage,
            allowed=" or ".join(sorted(allowed)),
            remedy="reserve anew",
        )
    held.stage = stage
    return held


def _key(state: State, entry: Entry) -> None:
    """A new key, named by one that is trusted: in a ledger made without a key nobody can name one."""
    _must_be_signed(state, entry)
    public = str(entry.event["public"])
    if fingerprint(public) in state.revoked:
        raise _revoked(fingerprint(public))
    state.keys[fingerprint(public)] = public


def _revoke(state: State, entry: Entry) -> None:
    """A key is no longer trusted from here on; what it signed before stays signed."""
    _must_be_signed(state, entry)
    _must_be_named(state, str(entry.event["fingerprint"]))
    state.revoked.add(str(entry.event["fingerprint"]))


def _must_be_signed(state: State, entry: Entry) -> None:
    """Whoever writes to the store without a key can neither name nor revoke one."""
    by = str(entry.event["by"])
    _must_be_named(state, fingerprint(by))
    state.must_trust(by)
    if not naming_signature(entry.event):
        raise Refuted("the ledger was changed", f"entry {entry.sequence} was not signed by the key that it names")


def _must_be_named(state: State, digest: str) -> None:
    if digest not in state.keys:
        raise InputError(
            "The ledger does not know this key",
            found=digest,
            allowed="a key given at ledger init, or named by one that was trusted",
            remedy="check the fingerprint; a ledger made without a key has none",
        )


def _revoked(digest: str) -> InputError:
    return InputError(
        "This key was revoked in this ledger",
        found=digest,
        allowed="a key that is still trusted",
        remedy="sign with the key that took its place",
    )


_HANDLERS = {
    "init": _init,
    "budget": _budget,
    "commit": _commit,
    "reserve": _reserve,
    "spend": _spend,
    "release": _release,
    "burn": _burn,
    "withdraw": _withdraw,
    "key": _key,
    "revoke": _revoke,
}
