"""How entries come into a ledger: one exclusive turn each, signed at its place, with heads kept elsewhere before and after.

The event is checked against everything before it and appended, or nothing is. Where the ledger names a place for its heads, the
newest kept there must be in the chain first: a restored backup or a second copy is noticed before more is spent from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.ledger.chain import GENESIS, Entry
from discreet.ledger.heads import Head
from discreet.ledger.keepers import Keeper, KeptHead, keeper_at
from discreet.ledger.keys import Signer
from discreet.ledger.state import State
from discreet.ledger.store import Store, Turn
from discreet.ledger.trust import FORMAT, entry_statement

UNTIMED = ("spend", "release", "withdraw")
"""Events that come after data was read."""


class Writer:
    """A ledger open in this process, as far as reading and appending go."""

    def __init__(self, store: Store, signer: Signer | None = None) -> None:
        self.store = store
        self.signer = signer
        self._state = State()
        self._keepers: dict[str, Keeper] = {}

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    @property
    def state(self) -> State:
        """Budgets, commitments and reservations as of now."""
        return self._caught_up(self.store.entries(self._state.next))

    def history(self) -> Iterator[Entry]:
        """Every entry in order."""
        return self.store.entries()

    def entry(self, sequence: int) -> Entry:
        """One entry, by its number."""
        found = next((entry for entry in self.history() if entry.sequence == sequence), None)
        if found is None:
            raise InputError(
                "This ledger has no such entry",
                found=f"entry {sequence}",
                allowed=f"0 to {self.state.next - 1}",
                remedy="look at: discreet ledger show",
            )
        return found

    def head(self, signer: Signer | None = None) -> Head:
        """The end of the chain, signed when there is a key."""
        return _head(self.state, signer or self.signer)

    def keeper(self, place: str | None = None) -> Keeper | None:
        """The keeper of heads at a place, by default the ledger's own; None when it names none."""
        named = place if place is not None else self._state.heads
        if named is None:
            return None
        if named not in self._keepers:
            self._keepers[named] = keeper_at(named, self.store.folder)
        return self._keepers[named]

    def must_be_newest(self) -> None:
        """Refuse a ledger that is behind a head kept at its own place, or beside it."""
        state = self.state
        keeper = self.keeper()
        if keeper is not None:
            _must_be_newest(keeper, state, self.store)

    def _append(self, event: Mapping[str, Any], signer: Signer | None = None) -> Entry:
        """One turn: catch up, check the event against the state, append it. If it cannot be kept, the state is read anew.

        A ledger of format 1 first gets the entry after which everything is signed at its place.
        """
        key = signer or self.signer
        try:
            with self.store.turn() as turn:
                state = self._caught_up(turn.entries(self._state.next))
                asked = event.get("heads") if event["kind"] in ("init", "heads") else state.heads
                keeper = None if asked is None else self.keeper(str(asked))
                if keeper is not None and state.next:
                    _must_be_newest(keeper, state, turn)
                if state.next and state.trust.format == 1:
                    turn.append(_taken(state, {"kind": "format", "format": FORMAT}, key))
                entry = _taken(state, event, key)
                turn.append(entry)
        except BaseException:
            self._state = State()
            raise
        if keeper is not None:
            keeper.keep(KeptHead(_head(state, key), entry.time, tuple(state.budgets)))
        return entry

    def _caught_up(self, newer: Iterable[Entry]) -> State:
        for entry in newer:
            self._state.replay(entry)
        return self._state


def _must_be_newest(keeper: Keeper, state: State, turn: Turn | Store) -> None:
    """Refuse to write to a ledger that is behind a head that was kept elsewhere, or beside it."""
    kept = keeper.kept(state.trust.ledger)
    if not kept:
        return
    newest = kept[-1].head
    if newest.sequence < state.next:
        found = next(iter(turn.entries(newest.sequence)))
        if found.hash == newest.hash:
            return
        raise Refuted("the ledger was rewritten", f"entry {newest.sequence} differs from the head kept at {keeper.place}")
    raise Refuted(
        "the ledger was rolled back: what was spent since is missing here",
        f"it ends with entry {state.next - 1}, and entry {newest.sequence} is known at {keeper.place}",
    )


def _head(state: State, signer: Signer | None) -> Head:
    head = Head(state.next - 1, state.head, state.trust.ledger)
    return head if signer is None else replace(head, public=signer.public, signature=signer.sign(head.signed()))


def _taken(state: State, event: Mapping[str, Any], signer: Signer | None) -> Entry:
    """The entry for an event, after the state has taken it in."""
    entry = next_entry(state, event, signer)
    state.apply(entry)
    return entry


def next_entry(state: State, event: Mapping[str, Any], signer: Signer | None) -> Entry:
    """The entry for an event now, signed at its place; a clock that went back does not take the ledger's time with it.

    Events that follow the reading of data take the time of the entry before them: how long it took depends on the data.
    """
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    last = None if state.next == 0 else Entry(state.next - 1, "", "", {}, state.head)
    time = state.time if event["kind"] in UNTIMED else max(now, state.time)
    if signer is None:
        return Entry.after(last, time, dict(event))
    unsigned = Entry.after(last, time, dict(event) | {"by": signer.public})
    statement = entry_statement(GENESIS if last is None else state.trust.ledger, unsigned)
    return Entry.after(last, time, dict(unsigned.event) | {"signature": signer.sign(statement)})
