"""What was kept elsewhere about a ledger: releases, files of heads, places that keep heads, time stamps beside a head.

release-2026/            a release folder: its head, its draw, the hash of its manifest; its files are hashed again
head.json                a head that `discreet ledger head` wrote; head.tsr beside it is a time stamp
/elsewhere/heads         a folder that keeps heads, or git: and a repository
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from discreet.errors import InputError, Refuted
from discreet.files.atomic import read_bytes
from discreet.files.canonical import parse_json
from discreet.ledger.book import Ledger
from discreet.ledger.heads import Head
from discreet.ledger.keepers import keeper_at
from discreet.ledger.stamps import stamp_time
from discreet.model.certificate import Counterexample
from discreet.publish.folder import MANIFEST, carried, changed_since

STAMP = ".tsr"


@dataclass
class Evidence:
    """Heads that a ledger must hold, and releases that it must have recorded."""

    heads: list[Head] = field(default_factory=list)
    releases: dict[str, str] = field(default_factory=dict)
    stamped: list[tuple[Head, Path]] = field(default_factory=list)
    altered: Counterexample | None = None


def evidence(places: Iterable[str], ledger: str) -> Evidence:
    """What is kept at these places; of those that keep heads of many ledgers, the heads of this one."""
    found = Evidence()
    for place in places:
        path = Path(place)
        if (path / MANIFEST).exists():
            head, reservation, digest = carried(path)
            found.heads.append(head)
            found.releases[reservation] = digest
            found.altered = found.altered or changed_since(path)
        elif path.is_file():
            head = read_head(path)
            found.heads.append(head)
            if path.with_suffix(STAMP).exists():
                found.stamped.append((head, path.with_suffix(STAMP)))
        elif path.is_dir() or place.startswith("git:"):
            found.heads += _kept(place, ledger)
        else:
            raise InputError(
                "There is nothing here that a ledger could be compared with",
                found=place,
                allowed="a release folder, a head file, a folder that keeps heads, or git: and a repository",
                remedy="check the path",
            )
    return found


@dataclass(frozen=True)
class LedgerVerdict:
    """What is wrong with a ledger, or how many entries hold; how many heads it was held against, and when which were stamped."""

    wrong: Counterexample | None
    entries: int | None
    heads: int
    stamps: tuple[tuple[str, datetime], ...] = ()


def ledger_verdict(ledger: Ledger, places: Iterable[str], authority: Path | None = None) -> LedgerVerdict:
    """Replay a ledger, and hold it against what is kept at these places; with an authority's certificate also its stamps."""
    wrong = ledger.verify()
    if wrong is not None:
        return LedgerVerdict(wrong, None, 0)
    state = ledger.state
    found = evidence(places, state.trust.ledger)
    keeper = ledger.keeper()
    heads = len(found.heads) + (0 if keeper is None else len(keeper.kept(state.trust.ledger)))
    wrong = found.altered or ledger.verify(found.heads, found.releases)
    if wrong is not None:
        return LedgerVerdict(wrong, None, heads)
    stamped = [] if authority is None else found.stamped
    try:
        stamps = [(str(path), stamp_time(head, path.read_bytes(), authority or Path())) for head, path in stamped]
    except Refuted as error:
        return LedgerVerdict(Counterexample("stamp", str(error.counterexample)), None, heads)
    return LedgerVerdict(None, state.next, heads, tuple(stamps))


def must_agree(ledger: Ledger, places: Iterable[str]) -> int:
    """Refuse a ledger that lacks a head kept at its own place or at these; returns how many heads these hold."""
    ledger.must_be_newest()
    kept = evidence(places, ledger.state.trust.ledger)
    wrong = kept.altered or (ledger.verify(kept.heads, kept.releases) if kept.heads else None)
    if wrong is not None:
        raise Refuted("the ledger does not agree with what was kept elsewhere", wrong)
    return len(kept.heads)


def _kept(place: str, ledger: str) -> list[Head]:
    named = f"git:{Path(place.removeprefix('git:')).absolute()}" if place.startswith("git:") else str(Path(place).absolute())
    found = [kept.head for kept in keeper_at(named).kept(ledger)]
    if not found:
        raise InputError(
            "No head of this ledger is kept here",
            found=place,
            allowed=f"heads of the ledger {ledger}",
            remedy="check the place; a ledger that was begun anew is another ledger",
        )
    return found


def read_head(path: Path) -> Head:
    """A head in a file of its own."""
    try:
        return Head.from_document(parse_json(read_bytes(path, "the head"), "the head"))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            "This file holds no head", found=str(path), allowed="a file made by discreet ledger head", remedy="check the path"
        ) from None
