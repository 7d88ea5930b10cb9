"""The ledger as people use it: declare budgets, commit, reserve, spend, release; ask what remains; verify.

    init ── budget … ── commit ── reserve ── spend ── release        burn: drawn on but never published
            (approve)                └────── withdraw                only while nothing was drawn

    A batch of plans is one commitment; each of its members is reserved, drawn and released by itself.

Each call is one exclusive turn at the store: the event is checked against everything before it and appended, or nothing is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BudgetExceeded, InputError, Refuted
from discreet.files.atomic import write_atomically
from discreet.files.canonical import canonical_bytes
from discreet.ledger.budget import CURRENCIES, Budget, Cost
from discreet.ledger.chain import Entry, verify_chain
from discreet.ledger.checks import understated, unrecorded
from discreet.ledger.heads import Head
from discreet.ledger.keys import Signer
from discreet.ledger.sqlite_store import SqliteStore
from discreet.ledger.state import Reservation, State
from discreet.ledger.trust import FORMAT
from discreet.ledger.writing import Writer, next_entry
from discreet.model.certificate import Counterexample
from discreet.numerics.exact import format_exact

if TYPE_CHECKING:
    from discreet.ledger.batches import Batch


def open_ledger(place: str, *, create: bool = False, signer: Signer | None = None, read_only: bool = False) -> Ledger:
    """The ledger at a path, or at a PostgreSQL address (postgresql://…); `signer` signs what is appended.

    `read_only` opens what is there to be looked at: nothing is written, and no file appears beside it.
    """
    if place.startswith(("postgresql://", "postgres://")):
        from discreet.ledger.postgres_store import PostgresStore

        return Ledger(PostgresStore(place, create=create, read_only=read_only), signer)
    return Ledger(SqliteStore(place, create=create, read_only=read_only), signer)


class Ledger(Writer):
    """One ledger, open in this process. What is appended is signed with `signer`, or with the key given for that entry."""

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def init(
        self,
        currency: str,
        signer: Signer | None = None,
        *,
        others: Sequence[str] = (),
        approvals: int = 1,
        heads: str | None = None,
    ) -> Entry:
        """Fix the currency for good; the first entry, which makes the ledger unlike any other.

        `others` are public keys that are trusted beside the signer's; budgets and new keys need so many `approvals`. `heads` is
        the place that keeps the ledger's heads. From here on this object signs with `signer`.
        """
        if currency not in CURRENCIES:
            raise InputError("This currency is not known", found=currency, allowed=CURRENCIES, remedy="choose one of these")
        event: dict[str, Any] = {"kind": "init", "format": FORMAT, "currency": currency, "nonce": secrets.token_hex(32)}
        self.signer = signer or self.signer
        if self.signer is not None:
            event["keys"] = list(dict.fromkeys([self.signer.public, *others]))
        if approvals != 1:
            event["approvals"] = approvals
        if heads is not None:
            event["heads"] = heads
        return self._append(event)

    def declare(
        self,
        population: str,
        unit: str,
        cap: Fraction,
        delta: Fraction = Fraction(0),
        signer: Signer | None = None,
        *,
        apart: str | None = None,
    ) -> Entry:
        """Give a population and a privacy unit its budget, once; it waits for approval where the ledger asks for that.

        Where heads are kept, a budget of another ledger for the same people is noticed there; `apart` says, for the record, why
        these are others.
        """
        if not population.strip() or not unit.strip():
            raise InputError(
                "A budget belongs to a named population and unit",
                found="an empty name",
                allowed="two names",
                remedy="say who is protected, and among whom",
            )
        state = self.state
        Budget(str(state.currency), cap, delta)
        keeper = self.keeper()
        alike = None if keeper is None else keeper.alike(state.trust.ledger, (population, unit))
        if alike is not None and not (apart or "").strip():
            raise InputError(
                "Another ledger has a budget for these people, and two budgets add up",
                found=alike,
                allowed="one ledger for one population",
                remedy="use that ledger; if these are other people, say why: --apart REASON",
            )
        event = {"kind": "budget", "population": population, "unit": unit, "cap": format_exact(cap)}
        more = ({"delta": format_exact(delta)} if delta else {}) | ({"apart": apart} if apart else {})
        return self._append(event | more, signer)

    def keep_heads(self, place: str, signer: Signer | None = None) -> Entry:
        """Name the place that keeps this ledger's heads from here on."""
        return self._append({"kind": "heads", "heads": place}, signer)

    def approve(self, entry: str, signer: Signer | None = None) -> Entry:
        """Sign for a budget or a key that somebody else proposed; it takes effect with the last approval needed."""
        return self._append({"kind": "approve", "entry": entry}, signer)

    def commit(
        self,
        population: str,
        unit: str,
        cost: Cost,
        hashes: Mapping[str, str],
        signer: Signer | None = None,
        attested: Mapping[str, str] | None = None,
    ) -> Entry:
        """Record what will be published, before any data is opened."""
        event: dict[str, Any] = {
            "kind": "commit",
            "population": population,
            "unit": unit,
            "cost": cost.document(),
            "hashes": dict(hashes),
            "attested": dict(attested or {}),
        }
        return self._append(event, signer)

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
        return self._append(event, signer)

    def reserve(
        self, commitment: str, member: int | None = None, signer: Signer | None = None, *, attempt: str | None = None
    ) -> Entry:
        """Set the committed cost aside; the entry's hash names the reservation. From here on it counts as spent.

        In a batch the first member to be reserved sets the cost of the whole batch aside, the others nothing more. `attempt`
        is a name, known before, by which whoever reserved finds the reservation again after a crash.
        """
        named = {} if attempt is None else {"attempt": attempt}
        return self._append(_reserving(commitment, member) | named, signer)

    def spend(self, reservation: str, signer: Signer | None = None) -> Entry:
        """Say that drawing begins."""
        return self._append({"kind": "spend", "reservation": reservation}, signer)

    def release(self, reservation: str, digest: str, signer: Signer | None = None) -> Entry:
        """Say what was published."""
        return self._append({"kind": "release", "reservation": reservation, "release": digest}, signer)

    def burn(self, reservation: str, reason: str, signer: Signer | None = None) -> Entry:
        """Close a reservation that will never be published; its cost stays spent."""
        return self._append({"kind": "burn", "reservation": reservation, "reason": reason}, signer)

    def withdraw(self, reservation: str, signer: Signer | None = None) -> Entry:
        """Give a reservation back while nothing was drawn on it."""
        return self._append({"kind": "withdraw", "reservation": reservation}, signer)

    def rotate(self, old: Signer, new: str) -> Entry:
        """Name another public key, signed by one that the ledger trusts; where the ledger asks for it, it waits for approval."""
        return self._append({"kind": "key", "public": new}, old)

    def revoke(self, digest: str, by: Signer) -> Entry:
        """Stop trusting a key from here on, signed by one that the ledger trusts."""
        return self._append({"kind": "revoke", "fingerprint": digest}, by)

    def remaining(self, population: str, unit: str) -> Fraction:
        """How much more would be granted."""
        state = self.state
        account = state.account(population, unit)
        return state.budgets[account].remaining(state.spent[account])

    def must_afford(self, population: str, unit: str, costs: Sequence[Cost]) -> None:
        """Refuse costs that the account does not hold one after the other; nothing is recorded."""
        state = self.state
        account = state.account(population, unit)
        budget, spent = state.budgets[account], state.spent[account]
        after = spent
        for cost in costs:
            after = budget.add(after, cost)
        if not budget.allows(after):
            raise BudgetExceeded(" and ".join(cost.brief(budget.currency) for cost in costs), budget.remaining_words(spent))

    def grants(self, commitment: str, member: int | None = None) -> bool:
        """Whether this reservation would be granted now; nothing is recorded."""
        state = self.state
        try:
            deepcopy(state).settle(next_entry(state, _reserving(commitment, member), None))
        except (InputError, BudgetExceeded):
            return False
        return True

    def reservation(self, name: str) -> Reservation:
        """One reservation as of now."""
        return self.state.reservation(name)

    def export(self, path: str | Path) -> int:
        """Write every entry as one line of canonical JSON; returns how many."""
        lines = [canonical_bytes(entry.document()) for entry in self.history()]
        write_atomically(Path(path), b"\n".join(lines) + b"\n")
        return len(lines)

    def verify(self, against: Iterable[Head] = (), releases: Mapping[str, str] | None = None) -> Counterexample | None:
        """Every entry again from the first: chain, rules, signatures; and every head that was kept elsewhere.

        `releases` maps reservations to the hashes of manifests that were seen: each must be the one recorded.
        """
        try:
            entries = list(self.history())
        except Refuted as error:
            return Counterexample("ledger", str(error.counterexample))
        found = verify_chain(entries)
        if found is not None:
            return found
        state = State()
        for entry in entries:
            try:
                state.replay(entry)
            except Refuted as error:
                return Counterexample("ledger", f"Entry {entry.sequence} breaks a rule: {error.counterexample}")
            wrong = understated(entry)
            if wrong is not None:
                return wrong
        try:
            keeper = None if state.heads is None else self.keeper(state.heads)
            own = [] if keeper is None else [kept.head for kept in keeper.kept(state.trust.ledger)]
        except Refuted as error:
            return Counterexample("head", str(error.counterexample))
        heads = (head.missing_from(entries, state.trust) for head in (*own, *against))
        seen = (unrecorded(state, *pair) for pair in (releases or {}).items())
        return next((problem for problem in (*heads, *seen) if problem is not None), None)


def _reserving(commitment: str, member: int | None) -> dict[str, Any]:
    event: dict[str, Any] = {"kind": "reserve", "commitment": commitment}
    return event if member is None else event | {"member": member}
