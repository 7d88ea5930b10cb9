"""Backups: every entry as a line of JSON and, last, the head, in one file that fits every store.

A backup is read from one moment, whoever else is writing: copying a SQLite file beside a reader loses what lies in its log. It is
restored into an empty place, after every line has been checked again; a backup that is older than a head kept elsewhere is
refused, since what was spent after it would be granted once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.errors import InputError, Refuted
from discreet.files.atomic import read_bytes, write_atomically
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.ledger.book import Ledger, open_ledger
from discreet.ledger.chain import Entry
from discreet.ledger.heads import Head
from discreet.ledger.keepers import keeper_at
from discreet.ledger.keys import Signer
from discreet.ledger.state import State


def backup(ledger: Ledger, path: str | Path, signer: Signer | None = None) -> int:
    """Write a whole ledger that holds to a file; returns how many entries it has."""
    wrong = ledger.verify()
    if wrong is not None:
        raise Refuted("the ledger does not hold, and is not backed up", wrong)
    head = ledger.head(signer)
    entries = [entry for entry in ledger.history() if entry.sequence <= head.sequence]
    lines = [canonical_bytes(entry.document()) for entry in entries]
    write_atomically(Path(path), b"\n".join([*lines, canonical_bytes({"head": head.document()}), b""]))
    return len(entries)


def restore(path: str | Path, place: str, against: Iterable[Head] = ()) -> int:
    """Write a backup into an empty place; returns how many entries it has."""
    entries, head = read_backup(path)
    state = State()
    for entry in entries:
        state.replay(entry)
    folder = None if "://" in place else Path(place).parent
    known = [head, *against]
    if state.heads is not None:
        known += [kept.head for kept in keeper_at(state.heads, folder).kept(state.trust.ledger)]
    for each in known:
        missing = each.missing_from(entries, state.trust)
        if missing is not None:
            raise Refuted("this backup is not the whole ledger", missing)
    if folder is not None and Path(place).exists():
        raise _taken(place)
    with open_ledger(place, create=True) as ledger, ledger.store.turn() as turn:
        if next(iter(turn.entries()), None) is not None:
            raise _taken("a database with entries")
        for entry in entries:
            turn.append(entry)
    return len(entries)


def _taken(found: str) -> InputError:
    return InputError(
        "There is something at this place already",
        found=found,
        allowed="a new file, or an empty database",
        remedy="choose another place; a ledger is never overwritten",
    )


def read_backup(path: str | Path) -> tuple[list[Entry], Head]:
    """The entries and the head in a backup; their truth is for whoever replays them."""
    data = read_bytes(Path(path), "the backup")
    try:
        *lines, last = data.removesuffix(b"\n").split(b"\n")
        entries = [Entry.from_document(parse_json(line, "a line of the backup")) for line in lines]
        return entries, Head.from_document(parse_json(last, "the last line of the backup")["head"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            "This file is no backup of a ledger, or it was cut short",
            found=str(path),
            allowed="a file made by discreet ledger backup",
            remedy="use another backup",
        ) from None
