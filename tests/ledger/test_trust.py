"""Whose signature a ledger takes, for which entries, at which place; and budgets and keys that two people must approve."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InputError, Refuted
from discreet.ledger import Cost, Entry, Ledger, Signer, open_ledger
from discreet.ledger.state import State
from discreet.ledger.trust import entry_statement

EVIDENCE = Path(__file__).parent.parent / "publish" / "evidence"
HALF = Cost(Fraction(1, 2))


def key(folder: Path, name: str) -> Signer:
    path = folder / f"{name}.pem"
    return Signer.read(path) if path.exists() else Signer.create(path)


def started(place: str, signer: Signer) -> Ledger:
    """A ledger with a key, a budget and a commitment."""
    book = open_ledger(place, create=True)
    book.init("pure", signer)
    book.declare("households", "household", Fraction(2))
    book.commit("households", "household", HALF, {})
    return book


def committed(book: Ledger) -> str:
    return next(iter(book.state.commitments))


def test_keys_rotate_and_are_revoked(place: str, tmp_path: Path) -> None:
    old, new = Signer.create(tmp_path / "old.pem"), Signer.create(tmp_path / "new.pem")
    with open_ledger(place, create=True) as ledger:
        ledger.init("pure", old)
        with pytest.raises(InputError):
            ledger.rotate(new, old.public)
        ledger.rotate(old, new.public)
        ledger.revoke(old.fingerprint, new)
        with pytest.raises(InputError):
            ledger.rotate(old, new.public)
        assert ledger.verify() is None


def test_only_trusted_keys_name_revoke_and_sign(place: str, tmp_path: Path) -> None:
    ours, strange = Signer.create(tmp_path / "ours.pem"), Signer.create(tmp_path / "strange.pem")
    with open_ledger(place, create=True) as ledger:
        ledger.init("pure", ours)
        ledger.declare("households", "household", Fraction(2))
        for refused in (
            lambda: ledger.revoke(ours.fingerprint, strange),
            lambda: ledger.revoke(strange.fingerprint, ours),
            lambda: ledger.commit("households", "household", Cost(Fraction(1)), {}, strange),
        ):
            with pytest.raises(InputError):
                refused()
        ledger.commit("households", "household", Cost(Fraction(1)), {}, ours)
        ledger.revoke(ours.fingerprint, ours)
        with pytest.raises(InputError):
            ledger.commit("households", "household", Cost(Fraction(1)), {}, ours)
        assert ledger.verify() is None


UNSIGNED: dict[str, Callable[[Ledger], object]] = {
    "budget": lambda book: book.declare("firms", "firm", Fraction(1)),
    "commit": lambda book: book.commit("households", "household", HALF, {}),
    "reserve": lambda book: book.reserve(committed(book)),
    "spend": lambda book: book.spend(next(iter(book.state.reservations))),
    "withdraw": lambda book: book.withdraw(next(iter(book.state.reservations))),
    "burn": lambda book: book.burn(next(iter(book.state.reservations)), "no"),
    "release": lambda book: book.release(list(book.state.reservations)[1], "d" * 64),
    "approve": lambda book: book.approve("d" * 64),
}


@pytest.mark.parametrize("kind", UNSIGNED)
def test_a_ledger_with_keys_takes_only_signed_entries(place: str, tmp_path: Path, kind: str) -> None:
    """The near-misses: signed by a stranger it is refused as well; signed by its own key it is taken, or refused otherwise."""
    ours, strange = key(tmp_path, "ours"), key(tmp_path, "strange")
    with started(place, ours) as book:
        book.reserve(committed(book))
        book.spend(book.reserve(committed(book)).hash)
    with open_ledger(place) as book:
        before = book.head().hash
        with pytest.raises(InputError, match="only signed entries"):
            UNSIGNED[kind](book)
        book.signer = strange
        with pytest.raises(InputError, match="does not know this key"):
            UNSIGNED[kind](book)
        assert book.state.head == before and book.verify() is None
        book.signer = ours
        if kind == "approve":
            with pytest.raises(InputError, match="Nothing waits"):
                UNSIGNED[kind](book)
        else:
            UNSIGNED[kind](book)
            assert book.verify() is None


def forged(book: Ledger, about: dict[str, object], signer: Signer | None = None, **place: object) -> Entry:
    """An entry that follows the last one, signed for the place that is given instead of its own."""
    last = list(book.history())[-1]
    entry = Entry.after(last, last.time, about | ({} if signer is None else {"by": signer.public}))
    if signer is None:
        return entry
    statement = entry_statement(book.state.trust.ledger, entry) | place
    return Entry.after(last, last.time, dict(entry.event) | {"signature": signer.sign(statement)})


@pytest.mark.parametrize("wrong", ["ledger", "sequence", "previous", "time", "event"])
def test_a_signature_made_for_another_place_does_not_hold_here(place: str, tmp_path: Path, wrong: str) -> None:
    """Entries are public: whoever can write to the store replays a withdrawal of another ledger, or of another day."""
    ours = key(tmp_path, "ours")
    other = {"ledger": "a" * 64, "sequence": 3, "previous": "b" * 64, "time": "2020-01-01", "event": {"kind": "withdraw"}}
    with started(place, ours) as book:
        held = book.reserve(committed(book)).hash
        event: dict[str, object] = {"kind": "withdraw", "reservation": held}
        entry = forged(book, event, ours, **{wrong: other[wrong]})
        with book.store.turn() as turn:
            turn.append(entry)
    with open_ledger(place, signer=ours) as book:
        found = book.verify()
        assert found is not None and "not signed by the key" in found.words
        with pytest.raises(Refuted):
            book.reserve(committed(book))


@pytest.mark.parametrize("event", [{"kind": "withdraw"}, {"kind": "budget", "population": "x", "unit": "y", "cap": "9"}])
def test_what_is_written_without_a_key_refutes_the_ledger(place: str, tmp_path: Path, event: dict[str, object]) -> None:
    """Whoever can write to the store but has no key cannot give budget back: nothing more is granted, and it shows."""
    ours = key(tmp_path, "ours")
    with started(place, ours) as book:
        held = book.reserve(committed(book)).hash
        more = event | ({"reservation": held} if event["kind"] == "withdraw" else {})
        with book.store.turn() as turn:
            turn.append(forged(book, more))
    with open_ledger(place, signer=ours) as book:
        assert book.verify() is not None
        with pytest.raises(Refuted, match="only signed entries"):
            book.remaining("households", "household")


def test_two_ledgers_are_never_the_same(tmp_path: Path) -> None:
    """Made by the same key in the same microsecond, they still differ: what is signed for one is worth nothing in the other."""
    ours = key(tmp_path, "ours")
    names = set()
    for name in ("a.db", "b.db"):
        with open_ledger(str(tmp_path / name), create=True) as book:
            names.add((book.init("pure", ours).hash, book.state.trust.ledger))
    assert len(names) == 2 and all(first == second for first, second in names)


def test_budgets_wait_for_a_second_person(place: str, tmp_path: Path) -> None:
    first, second, strange = (key(tmp_path, name) for name in ("first", "second", "strange"))
    with open_ledger(place, create=True) as book:
        book.init("pure", first, others=[second.public], approvals=2)
        name = book.declare("households", "household", Fraction(2)).hash
        with pytest.raises(InputError, match="waits for approval"):
            book.commit("households", "household", HALF, {})
        with pytest.raises(InputError, match="signed for it already"):
            book.approve(name)
        with pytest.raises(InputError, match="does not know this key"):
            book.approve(name, strange)
        with pytest.raises(InputError, match="already have a budget"):
            book.declare("households", "household", Fraction(9))
        book.approve(name, second)
        with pytest.raises(InputError, match="Nothing waits"):
            book.approve(name, second)
        book.commit("households", "household", HALF, {})
        assert book.verify() is None
    with open_ledger(place) as book:
        assert book.remaining("households", "household") == 2 and book.verify() is None


def test_one_person_cannot_make_a_second_one(place: str, tmp_path: Path) -> None:
    """Where two must approve, a key that one of them names is worth nothing until the other has signed for it."""
    first, second, third = (key(tmp_path, name) for name in ("first", "second", "third"))
    with open_ledger(place, create=True) as book:
        book.init("pure", first, others=[second.public], approvals=2)
        budget = book.declare("households", "household", Fraction(2)).hash
        named = book.rotate(first, third.public).hash
        for refused in (lambda: book.approve(budget, third), lambda: book.approve(named, third)):
            with pytest.raises(InputError, match="does not know this key"):
                refused()
        book.approve(named, second)
        book.approve(budget, third)
        assert book.remaining("households", "household") == 2 and book.verify() is None
        trust = book.state.trust
        assert third.fingerprint in trust.named_from(first.fingerprint) & trust.named_from(second.fingerprint)


@pytest.mark.parametrize("approvals", [0, 2, -1])
def test_more_approvals_than_keys_are_refused(tmp_path: Path, approvals: int) -> None:
    with open_ledger(str(tmp_path / "l.db"), create=True) as book, pytest.raises(InputError, match="approvals"):
        book.init("pure", key(tmp_path, "ours"), others=[key(tmp_path, "ours").public], approvals=approvals)


def test_an_approval_by_a_revoked_key_does_not_count(place: str, tmp_path: Path) -> None:
    first, second, third = (key(tmp_path, name) for name in ("first", "second", "third"))
    with open_ledger(place, create=True) as book:
        book.init("pure", first, others=[second.public, third.public], approvals=2)
        name = book.declare("households", "household", Fraction(2)).hash
        book.revoke(first.fingerprint, second)
        book.approve(name, second)
        with pytest.raises(InputError, match="waits"):
            book.state.account("households", "household")
        book.approve(name, third)
        assert book.remaining("households", "household") == 2 and book.verify() is None


def old_ledger(place: str, folder: Path) -> tuple[Ledger, Signer]:
    """A ledger that an earlier version wrote, with its key."""
    with zipfile.ZipFile(EVIDENCE / "format-1.zip") as archive:
        archive.extractall(folder)
    (folder / "key.pem").chmod(0o600)
    book = open_ledger(place, create=True)
    with book.store.turn() as turn:
        for line in (folder / "ledger.jsonl").read_text().splitlines():
            turn.append(Entry.from_document(json.loads(line)))
    return book, Signer.read(folder / "key.pem")


def test_a_ledger_of_format_1_is_read_and_goes_on_signed(place: str, tmp_path: Path) -> None:
    book, ours = old_ledger(place, tmp_path)
    with book:
        assert book.verify() is None and book.state.trust.format == 1 and book.remaining("the town", "person") == 3
        name = committed(book)
        with pytest.raises(InputError, match="only signed entries"):
            book.reserve(name)
        book.reserve(name, signer=ours)
        assert [entry.event["kind"] for entry in book.history()][-2:] == ["format", "reserve"]
        with pytest.raises(InputError, match="only signed entries"):
            book.reserve(name)
        assert book.verify() is None and book.state.trust.format == 2 and book.remaining("the town", "person") == 2


def test_nothing_is_unsigned_after_the_format_changed(place: str, tmp_path: Path) -> None:
    """An entry as format 1 had them, written to the store after the change."""
    book, ours = old_ledger(place, tmp_path)
    with book:
        book.reserve(committed(book), signer=ours)
        with book.store.turn() as turn:
            turn.append(forged(book, {"kind": "reserve", "commitment": committed(book)}))
        assert book.verify() is not None


def test_the_first_entry_cannot_name_keys_that_did_not_sign_it(tmp_path: Path) -> None:
    """Whoever begins a ledger in another's name needs that other's key."""
    ours, thief = key(tmp_path, "ours"), key(tmp_path, "thief")
    event = {"kind": "init", "format": "discreet-ledger/2", "currency": "pure", "nonce": "0" * 64, "keys": [ours.public]}
    for more in ({}, {"by": thief.public, "signature": "0" * 128}, {"by": ours.public, "signature": "0" * 128}):
        with pytest.raises((InputError, Refuted)):
            State().apply(Entry.after(None, "2026", event | more))
