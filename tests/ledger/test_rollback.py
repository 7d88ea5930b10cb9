"""A ledger that was rolled back, copied, rewritten or begun a second time is noticed where its heads are kept."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import InputError, Refuted
from discreet.ledger import Cost, Ledger, Signer, open_ledger
from discreet.ledger.backups import backup, read_backup, restore
from discreet.ledger.keepers import KeptHead, keeper_at

PEOPLE = ("households", "household")
HALF = Cost(Fraction(1, 2))


@pytest.fixture(params=["folder", "git", "bare git"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place that keeps heads."""
    place = tmp_path / "elsewhere"
    if request.param == "folder":
        place.mkdir()
        return str(place)
    words = ["--bare"] if request.param == "bare git" else []
    subprocess.run(["git", "init", "--quiet", *words, str(place)], check=True)
    return f"git:{place}"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.create(tmp_path / "key.pem")


def started(disk: Path, signer: Signer, heads: str | None, name: str = "ledger.db") -> Ledger:
    """A ledger of ε = 1 with a commitment."""
    book = open_ledger(str(disk / name), create=True)
    book.init("pure", signer, heads=heads)
    book.declare(*PEOPLE, Fraction(1))
    book.commit(*PEOPLE, HALF, {})
    return book


def commitment(book: Ledger) -> str:
    return next(iter(book.state.commitments))


def test_a_restored_copy_of_the_file_grants_nothing_more(disk: Path, signer: Signer, elsewhere: str) -> None:
    """ε = 2 was spent of 1: everything was spent, yesterday's file put back, and spent again."""
    with started(disk, signer, elsewhere) as book:
        name = commitment(book)
    shutil.copytree(disk, disk.with_name("yesterday"))
    with open_ledger(str(disk / "ledger.db"), signer=signer) as book:
        for _ in range(2):
            book.reserve(name)
        book.must_be_newest()
    shutil.rmtree(disk)
    shutil.copytree(disk.with_name("yesterday"), disk)
    with open_ledger(str(disk / "ledger.db"), signer=signer) as book:
        assert book.remaining(*PEOPLE) == 1, "alone it looks like a ledger"
        for refused in (lambda: book.reserve(name), lambda: book.declare("firms", "firm", Fraction(1)), book.must_be_newest):
            with pytest.raises(Refuted, match="rolled back"):
                refused()
        found = book.verify()
        assert found is not None and "restored" in found.words


def test_a_copy_that_went_another_way_is_noticed(disk: Path, signer: Signer, elsewhere: str) -> None:
    """Two copies of one ledger, both in use: the second to write is refused, even if it has written as much before."""
    with started(disk, signer, elsewhere):
        pass
    other = Path(shutil.copytree(disk, disk.with_name("copy")))
    with open_ledger(str(disk / "ledger.db"), signer=signer) as book:
        name = commitment(book)
        book.reserve(name)
    with closing(sqlite3.connect(other / "ledger.db")) as link:
        heads = link.execute("SELECT max(sequence) FROM entries").fetchone()
    with open_ledger(str(other / "ledger.db"), signer=signer) as book:
        with pytest.raises(Refuted, match="rolled back"):
            book.reserve(name)
        book.keeper = lambda _place=None: None  # type: ignore[method-assign,assignment]
        book.reserve(name)
        book.reserve(name)
    with open_ledger(str(other / "ledger.db"), signer=signer) as book:
        assert book.state.next > heads[0] + 1
        with pytest.raises(Refuted, match="rewritten"):
            book.withdraw(list(book.state.reservations)[-1])


def test_heads_are_kept_in_order_whoever_comes_late(tmp_path: Path, elsewhere: str) -> None:
    from discreet.ledger.heads import Head

    keeper = keeper_at(elsewhere)
    for sequence in (0, 5, 3, 5, 6):
        keeper.keep(KeptHead(Head(sequence, "a" * 64, "b" * 64), "2026-01-01T00:00:00.000000+00:00", (PEOPLE,)))
    assert [kept.head.sequence for kept in keeper.kept("b" * 64)] == [0, 5, 6]
    assert keeper.kept("c" * 64) == [] and keeper.ledgers() == ["b" * 64]


def test_a_line_that_a_crash_cut_short_was_not_written(disk: Path, signer: Signer, tmp_path: Path) -> None:
    (tmp_path / "heads").mkdir()
    with started(disk, signer, "../heads") as book:
        [file] = (tmp_path / "heads").iterdir()
        whole = file.read_bytes()
        file.write_bytes(whole + whole.splitlines()[-1][:40])
        book.reserve(commitment(book))
        assert file.read_bytes().startswith(whole) and book.verify() is None
        assert len(file.read_bytes().splitlines()) == len(whole.splitlines()) + 1


@pytest.mark.parametrize("junk", [b"{}\n", b"nonsense\n", b'{"head":3,"time":"","accounts":[]}\n', b"\xff\n"])
def test_a_place_that_was_tampered_with_stops_the_ledger(disk: Path, signer: Signer, tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "heads").mkdir()
    with started(disk, signer, "../heads") as book:
        [file] = (tmp_path / "heads").iterdir()
        file.write_bytes(file.read_bytes() + junk)
        with pytest.raises(Refuted, match="place that keeps heads"):
            book.reserve(commitment(book))
        assert book.verify() is not None


def test_a_place_that_is_gone_stops_the_ledger_until_another_is_named(disk: Path, signer: Signer, tmp_path: Path) -> None:
    (tmp_path / "heads").mkdir()
    with started(disk, signer, "../heads") as book:
        shutil.rmtree(tmp_path / "heads")
        with pytest.raises(InputError, match="cannot be used"):
            book.reserve(commitment(book))
        (tmp_path / "new").mkdir()
        with pytest.raises(InputError, match="cannot be used"):
            book.keep_heads("../nowhere")
        book.keep_heads("../new")
        book.reserve(commitment(book))
        assert len(list((tmp_path / "new").iterdir())) == 1 and book.verify() is None


def test_a_second_ledger_for_the_same_people_is_noticed(disk: Path, signer: Signer, elsewhere: str) -> None:
    """Also under a name that only looks the same: zero-width, Cyrillic, a digit for a letter."""
    with started(disk, signer, elsewhere):
        pass
    with open_ledger(str(disk / "second.db"), create=True) as book:
        book.init("pure", signer, heads=elsewhere)
        for name in ("households", "House\u200bholds", "h\u043eusehоlds", "HOUSEHOLDS", "house-holds"[:5] + "h0lds"):
            with pytest.raises(InputError, match="two budgets add up"):
                book.declare(name, "household", Fraction(1))
        book.declare("firms", "firm", Fraction(1))
        book.declare("households", "household", Fraction(1), apart="those of another country")
        assert list(book.history())[-1].event["apart"] == "those of another country"


@pytest.mark.parametrize(
    "name",
    ["households 2026", "Households  2026", "households\u200b 2026", "h\u043euseholds 2026", "households 2O26", "hοuseholds 2026",
     "households\u00ad 2026", "hôuseholds 2026", "households-2026", "\u2066households 2026\u2069", "ｈouseholds 2026",
     "hou\u0455eholds 2026"],
)  # fmt: skip
def test_names_that_look_alike_are_one_budget(tmp_path: Path, name: str) -> None:
    with open_ledger(str(tmp_path / "l.db"), create=True) as book:
        book.init("pure")
        book.declare("households 2026", "household", Fraction(1))
        with pytest.raises(InputError, match=r"look like|already have"):
            book.declare(name, "household", Fraction(1))
        if name != "households 2026":
            with pytest.raises(InputError, match="looks like one that has a budget"):
                book.commit(name, "household", HALF, {})


@pytest.mark.parametrize("name", ["households 2027", "households", "families 2026", "households 20 26", "hausholds 2026"])
def test_names_that_people_tell_apart_are_two(tmp_path: Path, name: str) -> None:
    """The near-misses."""
    with open_ledger(str(tmp_path / "l.db"), create=True) as book:
        book.init("pure")
        book.declare("households 2026", "household", Fraction(1))
        book.declare(name, "household", Fraction(1))
        assert len(book.state.budgets) == 2


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs_postgres)])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place to restore to, in each store."""
    if request.param == "sqlite":
        yield str(tmp_path / "restored.db")
        return
    import uuid

    import psycopg

    folder = request.getfixturevalue("postgres_cluster")
    name = f"restored_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"host={folder} user=tester dbname=postgres", autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
    yield f"postgresql:///{name}?host={folder}&user=tester"


def test_a_backup_beside_a_reader_is_whole_and_comes_back(disk: Path, signer: Signer, tmp_path: Path, empty: str) -> None:
    """A copy of the file alone held 3 of 6 entries: the others lay in the log."""
    with started(disk, signer, None) as book, open_ledger(str(disk / "ledger.db")) as reader:
        assert reader.remaining(*PEOPLE) == 1
        book.reserve(commitment(book))
        shutil.copy(disk / "ledger.db", tmp_path / "copied.db")
        assert backup(book, tmp_path / "b.jsonl", signer) == 4
        before = list(book.history())
    with closing(sqlite3.connect(tmp_path / "copied.db")) as link:
        tables = link.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0]
        assert not tables or link.execute("SELECT count(*) FROM entries").fetchone()[0] < 4
    assert restore(tmp_path / "b.jsonl", empty) == 4
    with open_ledger(empty, signer=signer) as book:
        assert list(book.history()) == before and book.verify() is None and book.remaining(*PEOPLE) == Fraction(1, 2)
        book.reserve(commitment(book))
    with pytest.raises(InputError, match="already"):
        restore(tmp_path / "b.jsonl", empty)


def test_a_backup_that_is_older_than_a_kept_head_is_refused(disk: Path, signer: Signer, tmp_path: Path, elsewhere: str) -> None:
    with started(disk, signer, elsewhere) as book:
        backup(book, tmp_path / "b.jsonl")
        book.reserve(commitment(book))
        newest = book.head()
    with pytest.raises(Refuted, match="not the whole ledger"):
        restore(tmp_path / "b.jsonl", str(disk / "again.db"))
    assert not (disk / "again.db").exists()
    with started(disk, signer, None, "alone.db") as book:
        backup(book, tmp_path / "c.jsonl")
        book.reserve(commitment(book))
        newest = book.head()
    with pytest.raises(Refuted, match="not the whole ledger"):
        restore(tmp_path / "c.jsonl", str(disk / "again.db"), [newest])
    assert restore(tmp_path / "c.jsonl", str(disk / "again.db")) == 3, "without a head nobody can know"


def _cut(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-2], lines[-1]]


def _edited(lines: list[bytes]) -> list[bytes]:
    entry = json.loads(lines[1])
    entry["event"]["cap"] = "9"
    return [lines[0], json.dumps(entry).encode(), *lines[2:]]


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _edited,
        lambda lines: lines[:-1],
        lambda lines: lines[1:],
        lambda _: [],
        lambda _: [b"nonsense"],
        lambda _: [b"{}", b"{}"],
    ],
    ids=["an entry less", "a larger cap", "no head", "no beginning", "nothing", "nonsense", "empty"],
)
def test_a_damaged_backup_is_not_restored(disk: Path, signer: Signer, tmp_path: Path, damage: object) -> None:
    with started(disk, signer, None) as book:
        backup(book, tmp_path / "b.jsonl")
    lines = (tmp_path / "b.jsonl").read_bytes().splitlines()
    (tmp_path / "b.jsonl").write_bytes(b"\n".join([*damage(lines), b""]))  # type: ignore[operator]
    with pytest.raises((InputError, Refuted)):
        restore(tmp_path / "b.jsonl", str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


def test_a_ledger_that_does_not_hold_is_not_backed_up(disk: Path, signer: Signer, tmp_path: Path) -> None:
    with started(disk, signer, None):
        pass
    with closing(sqlite3.connect(disk / "ledger.db")) as link:
        link.executescript("DROP TRIGGER no_change; UPDATE entries SET time = '2020' WHERE sequence = 1;")
    with open_ledger(str(disk / "ledger.db")) as book, pytest.raises(Refuted, match="not backed up"):
        backup(book, tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()


def test_a_backup_says_where_it_ends(disk: Path, signer: Signer, tmp_path: Path) -> None:
    with started(disk, signer, None) as book:
        backup(book, tmp_path / "b.jsonl", signer)
        entries, head = read_backup(tmp_path / "b.jsonl")
        assert head.holds and head.hash == entries[-1].hash and head.ledger == entries[0].hash


def test_commits_of_heads_are_dated_as_entries_are(disk: Path, signer: Signer, tmp_path: Path) -> None:
    """How long reading took shows in no date: spend and release carry the time of the reservation."""
    place = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(place)], check=True)
    with started(disk, signer, f"git:{place}") as book:
        held = book.reserve(commitment(book)).hash
        book.spend(held)
        book.release(held, "d" * 64)
    dates = subprocess.run(
        ["git", "-C", str(place), "log", "--format=%at %ct"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert len(dates) == 6 and len(set(dates[:3])) == 1
    assert not subprocess.run(["git", "-C", str(place), "status", "--short"], check=True, capture_output=True).stdout


def test_the_functions_stay_functions_once_their_module_is_loaded() -> None:
    import discreet.ledger as package
    from discreet.ledger import backups

    assert package.backup is backups.backup and package.restore is backups.restore
