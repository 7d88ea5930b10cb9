"""A release holds committed public facts and functions of the draws, and nothing else.

Neighbouring databases are published with the draws held fixed: folders, ledgers, words and exit codes must be equal, byte for
byte. The clock is held still too, since two runs never happen at the same time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from towns import ANSWERS, Town, make_batch, make_town, write_people

import discreet.ledger.writing as writing
import discreet.publish.release as release
from discreet.engines import Engine, engine_named
from discreet.publish.staging import Stage
from discreet.watch import Silent

NEIGHBOURS = {
    "another answer": "s0,0\ns0,1\ns0,0\ns0,0\n",
    "a value that nothing lists": "s0,0\ns0,1\ns0,\U0001f40d\ns0,0\n",
    "a missing value": "s0,0\ns0,1\ns0,\ns0,0\n",
    "one person fewer": "s0,0\ns0,1\ns0,1\n",
    "one person more": "s0,0\ns0,1\ns0,1\ns0,0\ns0,1\n",
    "a formula": "s0,0\ns0,1\ns0,\"=cmd|'x'!A1\"\ns0,0\n",
}


def neighbouring(town: Town, folder: Path, first_street: str) -> Town:
    """The same town and commitment, with other people in the first street."""
    other = Town(Path(shutil.copytree(town.folder, folder)), town.member)
    write_people(other.folder, ANSWERS)
    lines = (other.folder / "people.csv").read_text().splitlines(keepends=True)
    text = "".join([lines[0], first_street, *(line for line in lines[1:] if not line.startswith("s0,"))])
    (other.folder / "people.csv").write_text(text)
    return other


class StillClock:
    """It is always the same moment."""

    @staticmethod
    def now(_zone: object) -> object:
        from datetime import UTC, datetime

        return datetime(2030, 1, 1, tzinfo=UTC)


class Listening(Silent):
    """Keeps every event but its time."""

    heard: list[object]

    def report(self, **named: object) -> None:
        self.__dict__.setdefault("heard", []).append({k: v for k, v in named.items() if k != "seconds"})


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The clock stands still, and attempts have one name: both are the same whatever the data."""
    monkeypatch.setattr(writing, "datetime", StillClock)
    monkeypatch.setattr(Stage, "name_attempt", staticmethod(lambda: "a" * 32))
    return monkeypatch


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("change", NEIGHBOURS)
def test_with_equal_draws_everything_is_equal(tmp_path: Path, still: pytest.MonkeyPatch, change: str, engine: str) -> None:
    still.setattr(release, "draw_outputs", lambda mechanism, rows: np.arange(len(rows)) % len(mechanism.outputs))
    town = make_town(tmp_path / "a")
    other = neighbouring(town, tmp_path / "b", NEIGHBOURS[change])
    heard = []
    for each in (town, other):
        watch = Listening()
        each.publish(signer=each.signer, watch=watch, engine=_named(engine))
        heard.append(watch.heard)
    assert everything(town.target) == everything(other.target)
    assert heard[0] == heard[1]
    with town.ledger() as one, other.ledger() as two:
        assert [e.document() for e in one.history()] == [e.document() for e in two.history()]
    assert sorted(p.name for p in town.folder.iterdir()) == sorted(p.name for p in other.folder.iterdir())


def test_with_equal_draws_everything_of_a_batch_is_equal(tmp_path: Path, still: pytest.MonkeyPatch) -> None:
    still.setattr(release, "draw_outputs", lambda mechanism, rows: np.arange(len(rows)) % len(mechanism.outputs))
    one, *_ = make_batch(tmp_path / "a")
    two = neighbouring(one, tmp_path / "b", NEIGHBOURS["one person fewer"])
    for town in (one, two):
        for member in ("1", "0"):
            Town(town.folder, member).publish(signer=town.signer)
    for member in ("0", "1"):
        assert everything(one.folder / f"release{member}") == everything(two.folder / f"release{member}")
    with one.ledger() as first, two.ledger() as second:
        assert [e.document() for e in first.history()] == [e.document() for e in second.history()]


def _named(name: str) -> Engine:
    return engine_named(name)


def test_a_draw_that_differs_changes_its_own_line_and_no_other(tmp_path: Path, still: pytest.MonkeyPatch) -> None:
    """Draws as a function of the state: only the first street's may change, and only what restates it."""
    still.setattr(release, "draw_outputs", lambda _mechanism, rows: np.asarray(rows)[:, 1])
    town = make_town(tmp_path / "a")
    other = neighbouring(town, tmp_path / "b", NEIGHBOURS["another answer"])
    town.publish()
    other.publish()
    one, two = everything(town.target), everything(other.target)
    assert {name for name in one if one[name] != two[name]} == {
        "release.csv", "release.parquet", "index.html", "manifest.json", "signature.json",
    }  # fmt: skip
    lines = zip(one["release.csv"].splitlines(), two["release.csv"].splitlines(), strict=True)
    assert [a.split(b",")[0] for a, b in lines if a != b] == [b"s0"]


def test_a_release_that_tells_more_is_noticed(tmp_path: Path, still: pytest.MonkeyPatch) -> None:
    """The near-miss: metadata that mentions the true total makes neighbouring folders differ."""
    still.setattr(release, "draw_outputs", lambda _mechanism, rows: np.zeros(len(rows), dtype=np.int64))
    honest: Callable[..., object] = release.histograms
    total: list[int] = []

    def remembering(*given: object, **named: object) -> object:
        found = honest(*given, **named)
        total.append(int(np.asarray(found)[:, 1].sum()))
        return found

    import discreet.publish.folder as folder

    facts = folder.metadata
    still.setattr(release, "histograms", remembering)
    still.setattr(folder, "metadata", lambda *given: facts(*given) | {"total": total[-1]})
    town = make_town(tmp_path / "a")
    other = neighbouring(town, tmp_path / "b", NEIGHBOURS["another answer"])
    town.publish()
    other.publish()
    assert everything(town.target) != everything(other.target)


def test_the_command_line_says_the_same_of_neighbours(tmp_path: Path) -> None:
    town = make_town(tmp_path / "a")
    other = neighbouring(town, tmp_path / "b", NEIGHBOURS["a value that nothing lists"])
    said = []
    for each in (town, other):
        done = subprocess.run(
            [sys.executable, "-m", "discreet", "publish", "plan.toml", "-o", "release", "--key", "key.pem", "--json"],
            cwd=each.folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said.append((done.returncode, done.stdout, done.stderr))
    assert said[0] == said[1] and said[0][0] == 0
    assert said[0][2].splitlines()[0].startswith("proving"), "progress is told, step by step and without times"


def test_the_ledger_does_not_tell_how_long_counting_took(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spend and release, which follow the reading of data, carry the time of the entry before them."""
    town.publish()
    with town.ledger() as opened:
        times = {str(entry.event["kind"]): entry.time for entry in opened.history()}
    assert times["spend"] == times["release"] == times["reserve"]
