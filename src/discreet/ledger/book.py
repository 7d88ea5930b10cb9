"""The ledger as people use it: declare budgets, commit, reserve, spend, release; ask what remains; verify.

    init ── budget … ── commit ── reserve ── spend ── release        burn: drawn on but never published
                                     └────── withdraw                only while nothing was drawn

Each call is one exclusive turn at the store: the event is checked against everything before it and appended, or nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes
from discreet.ledger.budget import CURRENCIES, Budget, Cost
from discreet.ledger.chain import Entry, verify_chain
from discreet.ledger.keys import Signer, fingerprint, signature_holds
from discreet.ledger.sqlite_store import SqliteStore
from discreet.ledger.state import Reservation, State
from discreet.ledger.store import Store
from discreet.model.certificate import Counterexample
from discreet.numerics.exact import format_exact

UNTIMED = ("spend", "release", "withdraw")
"""Events that come after data was read."""


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
        if signer is not None:
            event |= {"public": signer.public, "signature": signer.sign(event)}
        return self._append(event)

    def reserve(self, commitment: str) -> Entry:
        """Set the committed cost aside; the entry's hash names the reservation. From here on it counts as spent."""
        return self._append({"kind": "reserve", "commitment": commitment})

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
            wrong = _unsigned(entry)
            if wrong is not None:
                return wrong
        heads = (_missing(entries, head, state) for head in against)
        seen = (_unrecorded(state, *pair) for pair in (releases or {}).items())
        return next((problem for problem in (*heads, *seen) if problem is not None), None)


def _next_entry(state: State, event: Mapping[str, Any]) -> Entry:
    """The entry for an event now; a clock that went back does not take the ledger's time with it.

    Events that follow the reading of data take the time of the entry before them: how long it took depends on the data.
    """
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    last = None if state.next == 0 else Entry(state.next - 1, "", "", {}, state.head)
    return Entry.after(last, state.time if event["kind"] in UNTIMED else max(now, state.time), dict(event))


def _unsigned(entry: Entry) -> Counterexample | None:
    event = dict(entry.event)
    signature = event.pop("signature", None)
    if signature is None:
        return None
    public = str(event.pop("public") if entry.event["kind"] == "commit" else event.get("by"))
    if signature_holds(public, event, str(signature)):
        return None
    return Counterexample(
        "signature", f"Entry {entry.sequence} was not signed by the key that it names", found=fingerprint(public)
    )


def _missing(entries: list[Entry], head: Head, state: State) -> Counterexample | None:
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


def _unrecorded(state: State, reservation: str, digest: str) -> Counterexample | None:
    held = state.reservations.get(reservation)
    if held is not None and held.release == digest:
        return None
    return Counterexample(
        "release",
        "A release differs from the one that the ledger recorded for its draw",
        found=digest,
        allowed="nothing recorded" if held is None or held.release is None else held.release,
    )
