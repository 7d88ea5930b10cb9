"""Disks that are really full: the kernel refuses the write. Nothing is under-counted, no half release, and a restart ends well.

A limit on file sizes works for everybody (`filling.py`); where the tests may mount, a tiny file system is filled as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from killing import check
from towns import BUDGET, Town, make_town

from discreet.errors import DiscreetError, InputError
from discreet.publish import verify
from discreet.publish.release import STEPS

FILLING = Path(__file__).parent / "filling.py"


def filled(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(FILLING), *words], capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_town(tmp_path_factory.mktemp("full") / "town").folder


@pytest.mark.parametrize("step", STEPS)
def test_no_byte_can_be_written_from_a_step_on(template: Path, tmp_path: Path, step: str) -> None:
    town = Town(Path(shutil.copytree(template, tmp_path / "town")))
    done = filled("publish", str(town.folder), step, "0")
    assert done.returncode == (0 if step == "tidy" else 3), done.stderr
    assert "Traceback" not in done.stderr
    if step in ("prove", "reserve"):
        assert town.stages() == []
    check(town)


@pytest.mark.parametrize(
    ("since", "limit"),
    [
        ("reserve", 24), ("reserve", 12_000), ("reserve", 20_000), ("reserve", 25_000),
        ("stage", 10), ("stage", 40), ("write", 300), ("write", 3_000), ("write", 9_000),
    ],
)  # fmt: skip
def test_writes_fail_half_way(template: Path, tmp_path: Path, since: str, limit: int) -> None:
    """Files may begin and not end: draws, seal, tables, the page, the ledger's log."""
    town = Town(Path(shutil.copytree(template, tmp_path / "town")))
    done = filled("publish", str(town.folder), since, str(limit))
    assert done.returncode in (0, 3), done.stderr
    check(town)


@pytest.mark.parametrize("limit", [0, 33_000, 50_000, 120_000])
def test_a_ledger_on_a_full_disk_never_counts_less_than_it_acknowledged(tmp_path: Path, limit: int) -> None:
    town = make_town(tmp_path / "town", cap=Fraction(1000))
    done = filled("spend", str(town.folder), str(limit))
    granted = int(done.stdout)
    assert "ledger cannot be used" in done.stderr or granted == 200
    with town.ledger() as book:
        assert book.verify() is None
        assert 1000 - book.remaining("the town", "person") >= granted
        [name] = book.state.commitments
        before = len(book.state.reservations)
        assert before >= granted
        book.reserve(name, signer=town.signer)
        assert book.remaining("the town", "person") == 1000 - before - 1, "it goes on when there is room again"
        assert book.verify() is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small file system")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let tests mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


@pytest.mark.parametrize("left", [0, 24, 64, 140])
def test_a_file_system_without_room(template: Path, small_disk: Path, left: int) -> None:
    """So many kilobytes are left when publishing begins; then there is room again."""
    town = Town(Path(shutil.copytree(template, small_disk / "town")))
    filler = small_disk / "filler"
    room = shutil.disk_usage(small_disk).free - left * 1024
    filler.write_bytes(b"\0" * max(room, 0))
    made = False
    try:
        town.publish()
        made = True
    except DiscreetError as refused:
        assert isinstance(refused, InputError)
    filler.unlink()
    if made:
        assert verify(town.target).holds and town.stages() == ["released"] and town.remaining() == BUDGET - 1
    else:
        check(town)
