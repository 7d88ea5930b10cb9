"""What the entries add up to: budgets, commitments, reservations and keys, replayed in order.

A reservation counts as spent from the moment it is made. It can be withdrawn only while nothing was drawn on it; a crash
leaves it reserved, which is spent.

In a batch each member is reserved by itself, at most once unless it was withdrawn. The first of them charges the cost of the whole
batch and the others nothing; the charge comes back only when all of them were withdrawn, so when nothing of the batch was
drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import DiscreetError, InputError, Refuted
from discreet.ledger.budget import Budget, Cost, Spent
from discreet.ledger.chain import GENESIS, Entry, entry_hash
from discreet.ledger.names import folded, likeness
from discreet.ledger.trust import Trust, author
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
    attempt: str | None = None


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
    heads: str | None = None
    """The place that keeps the ledger's heads."""
    publishers: dict[str, str] = field(default_factory=dict)
    """For each signed commitment, the public key that signed it."""
    trust: Trust = field(default_factory=Trust)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry; refuses one that does not follow, is not signed as it must be, or is not allowed."""
        expected = entry_hash(entry.sequence, entry.previous, entry.time, entry.event)
        if entry.sequence != self.next or entry.previous != self.head or entry.hash != expected:
            raise Refuted("the ledger was changed", f"entry {entry.sequence} does not follow the one before it")
        kind = str(entry.event.get("kind"))
        if kind not in _HANDLERS:
            raise Refuted("the ledger holds an event of an unknown kind", kind)
        if (kind == "init") != (entry.sequence == 0):
            raise _out_of_place(kind)
        self.trust.must_allow(entry)
        self.settle(entry)
        self.next, self.head, self.time = entry.sequence + 1, entry.hash, entry.time

    def replay(self, entry: Entry) -> None:
        """Take in an entry that was written before: whatever is wrong with it, the ledger is refuted, not what was asked."""
        try:
            self.apply(entry)
        except Refuted:
            raise
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            why = str(error) if isinstance(error, DiscreetError) else "it cannot be read"
            raise Refuted("the ledger was changed", f"entry {entry.sequence} breaks a rule: {why}") from None

    def settle(self, entry: Entry) -> None:
        """What an entry changes, signed or not."""
        if entry.event["kind"] == "budget":
            _must_be_new(self, entry)
        effective = self.trust.follow(entry)
        if effective is not None:
            _HANDLERS[str(effective.event["kind"])](self, effective)

    def account(self, population: str, unit: str) -> Account:
        """The account of a population and unit, which must have a budget."""
        found = (population, unit)
        if found not in self.budgets:
            known = "; ".join(f"{p} ({u})" for p, u in self.budgets) or "none"
            alike = any(likeness(population) == likeness(p) and likeness(unit) == likeness(u) for p, u in self.budgets)
            waits = any(held.event["kind"] == "budget" for held, _ in self.trust.pending.values())
            raise InputError(
                "No budget is declared for this population and privacy unit",
                found=f"{population} ({unit}){', which looks like one that has a budget' if alike else ''}",
                allowed=known,
                remedy="write the name as the budget has it"
                if alike
                else "a budget waits for approval: discreet ledger approve"
                if waits
                else "declare one with: discreet ledger init",
            )
        return found

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


def _out_of_place(kind: str) -> InputError:
    return InputError(
        "A ledger begins with one entry that fixes its currency",
        found=kind,
        allowed="init first, and once",
        remedy="make the ledger with: discreet ledger init",
    )


def _init(state: State, entry: Entry) -> None:
    state.currency = str(entry.event["currency"])
    _heads(state, entry)


def _heads(state: State, entry: Entry) -> None:
    place = entry.event.get("heads")
    state.heads = None if place is None else str(place)


def _budget(state: State, entry: Entry) -> None:
    account = (str(entry.event["population"]), str(entry.event["unit"]))
    state.budgets[account] = _cap(state, entry)
    state.spent[account] = Spent()


def _cap(state: State, entry: Entry) -> Budget:
    return Budget(str(state.currency), exact(entry.event["cap"], "cap"), exact(entry.event.get("delta", 0), "delta"))


def _must_be_new(state: State, entry: Entry) -> None:
    """One budget for each population and unit, however their names are written; also for those that wait for approval."""
    _cap(state, entry)
    account = (str(entry.event["population"]), str(entry.event["unit"]))
    waiting = [
        (str(held.event["population"]), str(held.event["unit"]))
        for held, _ in state.trust.pending.values()
        if held.event["kind"] == "budget"
    ]
    look = likeness if state.trust.format > 1 else folded
    for known in (*state.budgets, *waiting):
        if all(look(mine) == look(other) for mine, other in zip(account, known, strict=True)):
            raise InputError(
                "This population and unit already have a budget"
                if all(folded(mine) == folded(other) for mine, other in zip(account, known, strict=True))
                else "This population and unit look like others that have a budget",
                found=f"{account[0]} ({account[1]}), and there is {known[0]} ({known[1]})",
                allowed="one budget each, for good, under names that people can tell apart",
                remedy="vintages and renamed files share it; another population needs another name",
            )


def _commit(state: State, entry: Entry) -> None:
    state.account(str(entry.event["population"]), str(entry.event["unit"]))
    Cost.from_document(entry.event["cost"])
    public = author(state.trust, entry)
    if public is not None:
        state.publishers[entry.hash] = public
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
    attempt = entry.event.get("attempt")
    state.reservations[entry.hash] = Reservation(
        commitment, account, cost, member, attempt=None if attempt is None else str(attempt)
    )


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


def _about_keys(_state: State, _entry: Entry) -> None:
    """Followed by `Trust` alone."""


_HANDLERS = {
    "init": _init,
    "budget": _budget,
    "commit": _commit,
    "reserve": _reserve,
    "spend": _spend,
    "release": _release,
    "burn": _burn,
    "withdraw": _withdraw,
    "heads": _heads,
    "format": _about_keys,
    "key": _about_keys,
    "revoke": _about_keys,
    "approve": _about_keys,
}
