"""The ledger as people use it: declare budgets, commit, reserve, spend, release; ask what remains; verify.

    init ── budget … ── commit ── reserve ── spend ── release        burn: drawn on but never published
                                     └────── withdraw                only while nothing was drawn

    A batch of plans is one commitment; each of its members is reserved, drawn and released by itself.

Each call is one exclusive turn at the store: the event is checked against everything before it and appended, or nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BudgetExceeded, InputError, Refuted
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes
from discreet.ledger.budget import CURRENCIES, Budget, Cost
from discreet.ledger.chain import Entry, verify_chain
from discreet.ledger.checks import Head, missing, understated, unrecorded, unsigned
from discreet.ledger.keys import Signer
from discreet.ledger.sqlite_store import SqliteStore
from discreet.ledger.state import Reservation, State
from discreet.ledger.store import Store
from discreet.model.certificate import Counterexample
from discreet.numerics.exact import format_exact

if TYPE_CHECKING:
    from discreet.ledger.batches import Batch

UNTIMED = ("spend", "release", "withdraw")
"""Events that come after data was read."""


def open_ledger(place: str, *, create: bool = False) -> Ledger:
    """The ledger at a path, or at a PostgreSQL address (postgresql://…)."""
    if place.startswith(("postgresql://", "postgres://")):
        from discreet.ledger.postgres_store import PostgresStore

        return Ledger(PostgresStore(place, create=create))
    return Ledger(SqliteStore(place, create=create))


class Ledger:
    """One ledger, open in this process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._state = State()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def _append(self, event: Mapping[str, Any]) -> Entry:
        """One turn: catch up, check the event against the state, append it. If it cannot be kept, the state is read anew."""
        try:
            with self.store.turn() as turn:
                state = self._caught_up(turn.entries(self._state.next))
                entry = _next_entry(state, event)
                state.apply(entry)
                turn.append(entry)
        except BaseException:
            self._state = State()
            raise
        return entry

    def _caught_up(self, newer: Iterable[Entry]) -> State:
        for entry in newer:
            self._state.apply(entry)
        return self._state

    @property
    def state(self) -> State:
        """Budgets, commitments and reservations as of now."""
        return self._caught_up(self.store.entries(self._state.next))

    def init(self, currency: str, signer: Signer | None = None) -> Entry:
        """Fix the currency for good; the first entry."""
        if currency not in CURRENCIES:
            raise InputError(
                "This currency is not known", found=currency, allowed=CURRENCIES, remedy="choose one of these"
            )
        event: dict[str, Any] = {"kind": "init", "currency": currency}
        if signer is not None:
            event["key"] = signer.public
        return self._append(event)

    def declare(self, population: str, unit: str, cap: Fraction, delta: Fraction = Fraction(0)) -> Entry:
        """Give a population and a privacy unit its budget, once."""
        if not population.strip() or not unit.strip():
            raise InputError(
                "A budget belongs to a named population and unit",
                found="an empty name",
                allowed="two names",
                remedy="say who is protected, and among whom",
            )
        Budget(str(self.state.currency), cap, delta)
        event = {"kind": "budget", "population": population, "unit": unit, "cap": format_exact(cap)}
        return self._append(event | ({"delta": format_exact(delta)} if delta else {}))

    def commit(
        self,
        population: str,
        unit: str,
        cost: Cost,
        hashes: Mapping[str, str],
        signer: Signer | None = None,
        attested: Mapping[str, str] | None = None,
    ) -> Entry:
        """Record what will be published, before any data is opened; signed when a key is given."""
        event: dict[str, Any] = {
            "kind": "commit",
            "population": population,
            "unit": unit,
            "cost": cost.document(),
            "hashes": dict(hashes),
            "attested": dict(attested or {}),
        }
        return self._append(_signed(event, signer))

    def commit_batch(
        self,
        population: str,
        unit: str,
        batch: Batch,
        signer: Signer | None = None,
        attested: Mapping[str, str] | None = None,
    ) -> Entry:
        """Record several plans that will be published at one cost, before any data is opened."""
        short = batch.shortfall()
        if short is not None:
            raise InputError(
                "A batch costs more than is stated", found=short, allowed="the composed cost", remedy="compose it again"
            )
        event: dict[str, Any] = {
            "kind": "commit",
            "population": population,
            "unit": unit,
            "cost": batch.cost.document(),
            "attested": dict(attested or {}),
        } | batch.document()
        return self._append(_signed(event, signer))

    def reserve(self, commitment: str, member: int | None = None) -> Entry:
        """Set the committed cost aside; the entry's hash names the reservation. From here on it counts as spent.

        In a batch the first member to be reserved sets the cost of the whole batch aside, the others nothing more.
        """
        return self._append(_reserving(commitment, member))

    def spend(self, reservation: str) -> Entry:
        """Say that drawing begins."""
        return self._append({"kind": "spend", "reservation": reservation})

    def release(self, reservation: str, digest: str) -> Entry:
        """Say what was published."""
        return self._append({"kind": "release", "reservation": reservation, "release": digest})

    def burn(self, reservation: str, reason: str) -> Entry:
        """Close a reservation that will never be published; its cost stays spent."""
        return self._append({"kind": "burn", "reservation": reservation, "reason": reason})

    def withdraw(self, reservation: str) -> Entry:
        """Give a reservation back while nothing was drawn on it."""
        return self._append({"kind": "withdraw", "reservation": reservation})

    def rotate(self, old: Signer, new: Signer) -> Entry:
        """Add a key, signed by one that the ledger trusts."""
        event = {"kind": "key", "public": new.public, "by": old.public}
        return self._append(event | {"signature": old.sign(event)})

    def revoke(self, digest: str, by: Signer) -> Entry:
        """Stop trusting a key from here on, signed by one that the ledger trusts."""
        event = {"kind": "revoke", "fingerprint": digest, "by": by.public}
        return self._append(event | {"signature": by.sign(event)})

    def remaining(self, population: str, unit: str) -> Fraction:
        """How much more would be granted."""
        state = self.state
        account = state.account(population, unit)
        return state.budgets[account].remaining(state.spent[account])

    def grants(self, commitment: str, member: int | None = None) -> bool:
        """Whether this reservation would be granted now; nothing is recorded."""
        state = self.state
        try:
            deepcopy(state).apply(_next_entry(state, _reserving(commitment, member)))
        except (InputError, BudgetExceeded):
            return False
        return True

    def reservation(self, name: str) -> Reservation:
        """One reservation as of now."""
        return self.state.reservation(name)

    def history(self) -> Iterator[Entry]:
        """Every entry in order."""
        return self.store.entries()

    def head(self, signer: Signer | None = None) -> Head:
        """The end of the chain, signed when a key is given."""
        state = self.state
        head = Head(state.next - 1, state.head)
        if signer is None:
            return head
        return Head(head.sequence, head.hash, signer.public, signer.sign(head.signed()))

    def export(self, path: str | Path) -> int:
        """Write every entry as one line of canonical JSON; returns how many."""
        lines = [canonical_bytes(entry.document()) for entry in self.history()]
        write_atomically(Path(path), b"\n".join(lines) + b"\n")
        return len(lines)

    def verify(self, against: Iterable[Head] = (), releases: Mapping[str, str] | None = None) -> Counterexample | None:
        """Every entry again from the first: chain, rules, signatures; and every head that was kept elsewhere.

        `releases` maps reservations to the hashes of manifests that were seen: each must be the one recorded.
        """
        entries = list(self.history())
        found = verify_chain(entries)
        if found is not None:
            return found
        state = State()
        for entry in entries:
            try:
                state.apply(entry)
            except (InputError, Refuted) as error:
                return Counterexample("ledger", f"Entry {entry.sequence} breaks a rule: {error}")
            except Exception as error:  # BudgetExceeded and malformed events alike
                return Counterexample("ledger", f"Entry {entry.sequence} is not allowed: {type(error).__name__}")
            wrong = unsigned(entry) or understated(entry)
            if wrong is not None:
                return wrong
        heads = (missing(entries, head, state) for head in against)
        seen = (unrecorded(state, *pair) for pair in (releases or {}).items())
        return next((problem for problem in (*heads, *seen) if problem is not None), None)


def _next_entry(state: State, event: Mapping[str, Any]) -> Entry:
    """The entry for an event now; a clock that went back does not take the ledger's time with it.

    Events that follow the reading of data take the time of the entry before them: how long it took depends on the data.
    """
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    last = None if state.next == 0 else Entry(state.next - 1, "", "", {}, state.head)
    return Entry.after(last, state.time if event["kind"] in UNTIMED else max(now, state.time), dict(event))


def _reserving(commitment: str, member: int | None) -> dict[str, Any]:
    event: dict[str, Any] = {"kind": "reserve", "commitment": commitment}
    return event if member is None else event | {"member": member}


def _signed(event: dict[str, Any], signer: Signer | None) -> dict[str, Any]:
    return event if signer is None else event | {"public": signer.public, "signature": signer.sign(event)}
