"""Damaged files of every kind: the commands that read them refute or refuse in words, and never end with "a defect of discreet".

A file of JSON is damaged at a random place: a value replaced by one of another kind, taken away or repeated, or its bytes are
cut and flipped. The seed is fixed; DISCREET_DAMAGES asks for more than a few of each.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from shell import Town, make_town, resealed

from discreet.cli.main import run
from discreet.files.canonical import canonical_bytes
from discreet.ledger.chain import Entry, entry_hash
from discreet.ledger.store import row_of

COUNT = int(os.environ.get("DISCREET_DAMAGES", "15"))
STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, "", "x", "1e999999999", "-5", "nan", "1/0", "\u202e", "\ud7ff\x00", "a" * 5000, [], {}, [[]],
    {"a": {}}, "0" * 64, "f" * 128, "discreet-ledger/2", "init", "٣",
)  # fmt: skip
PUBLIC = [
    "ledger.json", "metadata.json", "plan.json", "mechanism.json", "certificates.json", "manifest.json", "signature.json",
]  # fmt: skip


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    made = make_town(tmp_path_factory.mktemp("damaged") / "town")
    made.publish()
    folder = made.folder
    for command, name in (("head", "head.json"), ("backup", "b.jsonl")):
        line = ["ledger", command, str(folder / "ledger.db"), "-o", str(folder / name), "--key", str(folder / "key.pem")]
        assert run(line) == 0
    return made


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inner = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def damaged(document: Any, chance: random.Random) -> Any:
    """A copy of a document with one place changed."""
    path = chance.choice(places(document))
    strange = chance.choice(STRANGE)
    if not path:
        return strange
    copy = json.loads(json.dumps(document))
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    if chance.random() < 0.3:
        del holder[path[-1]]
    elif chance.random() < 0.2 and isinstance(holder, list):
        holder.append(holder[path[-1]])
    else:
        holder[path[-1]] = strange
    return copy


def scratched(data: bytes, chance: random.Random) -> bytes:
    """Bytes cut or flipped somewhere."""
    place = chance.randrange(len(data))
    if chance.random() < 0.3:
        return data[:place]
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


def answered(capsys: pytest.CaptureFixture[str], *words: object) -> int:
    """The exit code of a command line, which is never that of a defect."""
    code = run([str(word) for word in words])
    out, err = capsys.readouterr()
    assert code in (0, 1, 2), (words, err)
    assert "\x1b" not in out + err and "\u202e" not in out + err, "text of a file was printed raw"
    return code


@pytest.mark.parametrize("name", PUBLIC)
def test_damaged_releases(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    chance = random.Random(f"release {name}")
    for number in range(COUNT):
        folder = Path(shutil.copytree(town.target, tmp_path / str(number)))
        data = (folder / name).read_bytes()
        if chance.random() < 0.7:
            (folder / name).write_bytes(canonical_bytes(damaged(json.loads(data), chance)) + b"\n")
        else:
            (folder / name).write_bytes(scratched(data, chance))
        if name != "manifest.json" and chance.random() < 0.8:
            resealed(folder)
        key = ["--key", town.signer.fingerprint] if chance.random() < 0.5 else []
        assert answered(capsys, "verify", folder, *key) == (0 if (folder / name).read_bytes() == data else 1)
        if number % 4 == 0:
            answered(capsys, "ledger", "verify", town.folder / "ledger.db", "--against", folder)
        shutil.rmtree(folder)


def with_events(chance: random.Random, entries: list[Entry]) -> list[Entry]:
    """A chain whose hashes fit, with one event damaged."""
    place = chance.randrange(len(entries))
    made: list[Entry] = []
    for entry in entries:
        event: Any = dict(entry.event)
        if entry.sequence == place:
            event = damaged(event, chance)
            event = event if isinstance(event, dict) else {"kind": event}
        previous = made[-1].hash if made else entry.previous
        made.append(Entry(entry.sequence, previous, entry.time, event, entry_hash(entry.sequence, previous, entry.time, event)))
    return made


READS: list[Callable[[Town], list[object]]] = [
    lambda town: ["ledger", "show", town.folder / "ledger.db"],
    lambda town: ["ledger", "remaining", town.folder / "ledger.db"],
    lambda town: ["ledger", "verify", town.folder / "ledger.db"],
    lambda town: ["ledger", "export", town.folder / "ledger.db", "-o", town.folder / "out"],
    lambda town: ["ledger", "backup", town.folder / "ledger.db", "-o", town.folder / "out"],
    lambda town: ["ledger", "heads", town.folder / "ledger.db"],
    lambda town: ["publish", town.plan, "--dry-run"],
    lambda town: ["commit", town.plan, "--key", town.folder / "key.pem"],
]


def test_damaged_ledgers(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random("ledger")
    with town.ledger() as book:
        entries = list(book.history())
    for number in range(COUNT):
        other = Town(Path(shutil.copytree(town.folder, tmp_path / str(number), ignore=shutil.ignore_patterns("release"))))
        with closing(sqlite3.connect(other.folder / "ledger.db")) as link:
            link.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal; DELETE FROM entries;")
            made = with_events(chance, entries)
            link.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", list(map(row_of, made)))
            link.commit()
        answered(capsys, *chance.choice(READS)(other))
        assert answered(capsys, "ledger", "verify", other.folder / "ledger.db") == (0 if made == entries else 1)
        shutil.rmtree(other.folder)


def test_scratched_ledger_files(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random("file")
    for number in range(COUNT):
        other = Town(Path(shutil.copytree(town.folder, tmp_path / str(number), ignore=shutil.ignore_patterns("release"))))
        path = other.folder / "ledger.db"
        path.write_bytes(scratched(path.read_bytes(), chance))
        answered(capsys, *chance.choice(READS)(other))
        shutil.rmtree(other.folder)


@pytest.mark.parametrize("name", ["head.json", "b.jsonl"])
def test_damaged_heads_and_backups(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    chance = random.Random(name)
    lines = (town.folder / name).read_bytes().splitlines()
    for number in range(COUNT):
        place = chance.randrange(len(lines))
        changed = damaged(json.loads(lines[place]), chance)
        line = canonical_bytes(changed) if chance.random() < 0.7 else scratched(lines[place], chance)
        (tmp_path / name).write_bytes(b"\n".join([*lines[:place], line, *lines[place + 1 :], b""]))
        if name == "head.json":
            answered(capsys, "ledger", "verify", town.folder / "ledger.db", "--against", tmp_path / name)
            answered(capsys, "publish", town.plan, "--dry-run", "--against", tmp_path / name)
        else:
            answered(capsys, "ledger", "restore", tmp_path / name, tmp_path / f"{number}.db")


@pytest.mark.parametrize("budget", ["1e400", "1e-400", "1/3", "9" * 400, "0", "-1", "nan", "1e99999999", "٣", "1_0", "", "ε"])
def test_strange_budgets(tmp_path: Path, capsys: pytest.CaptureFixture[str], budget: str) -> None:
    place = tmp_path / "l.db"
    words = ["ledger", "init", place, "--population", "p\x1b[31m", "--unit", "u", f"--budget={budget}"]
    if answered(capsys, *words) == 0:
        for command in ("show", "remaining", "verify"):
            assert answered(capsys, "ledger", command, place) == 0


@pytest.mark.parametrize("key", ["", "x", "f" * 63, "f" * 65, "g" * 64, "\ud800", "٣" * 64])
def test_strange_fingerprints(town: Town, capsys: pytest.CaptureFixture[str], key: str) -> None:
    assert answered(capsys, "verify", town.target, "--key", key) == 2
    answered(capsys, "ledger", "revoke", town.folder / "ledger.db", "--fingerprint", key, "--key", town.folder / "key.pem")
    answered(capsys, "ledger", "rotate", town.folder / "ledger.db", "--old", town.folder / "key.pem", "--new", f"agent:{key}")
