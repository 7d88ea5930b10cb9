"""Zipped documents: read as what they hold, the same bytes each time, and never more than was written stands for."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from discreet.errors import InputError, TooLarge
from discreet.files import zipped as room
from discreet.files.atomic import read_bytes
from discreet.files.zipped import MOST_TIMES, unzipped, zipped
from scripts import module_at

DIGITS = "".join(random.Random(3).choices("0123456789,", k=4000)).encode()
WRONG = {
    "cut": gzip.compress(DIGITS)[:-5],
    "more behind it": gzip.compress(DIGITS) + b"{}",
    "two of them": gzip.compress(DIGITS) * 2,
    "damaged": gzip.compress(DIGITS)[:100] + b"\x00" + gzip.compress(DIGITS)[101:],
    "empty": b"\x1f\x8b",
}
BOMB = gzip.compress(bytes(10**7))


@pytest.fixture(scope="module")
def standalone() -> ModuleType:
    path = Path(discreet.__file__).parent / "verify_standalone.py"
    return module_at(path, "standalone_of_zipped")


def test_both_readers_read_what_was_zipped(standalone: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LARGE", 1000)
    small = zipped(DIGITS)
    assert small is not None and small == zipped(DIGITS) and len(small) < 0.6 * len(DIGITS)
    assert unzipped(small, "it") == DIGITS == standalone.inflated(small)
    assert unzipped(DIGITS, "it") == DIGITS == standalone.inflated(DIGITS), "what is not zipped is itself"
    (tmp_path / "x.json.gz").write_bytes(small)
    assert read_bytes(tmp_path / "x.json.gz", "it") == DIGITS
    assert zipped(DIGITS[:1000]) is None, "small documents stay as people can read them"
    assert zipped(bytes(10**5)) is None, "what would not be read back is not written"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_one_whole_document_is_refused(standalone: ModuleType, name: str) -> None:
    with pytest.raises(InputError, match="cannot be unzipped"):
        unzipped(WRONG[name], "it")
    with pytest.raises((ValueError, standalone.BROKEN)):
        standalone.inflated(WRONG[name])


def test_a_small_file_does_not_become_a_large_one(
    standalone: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(BOMB) * MOST_TIMES < 10**7
    with pytest.raises(TooLarge):
        unzipped(BOMB, "it")
    (tmp_path / "bomb.json.gz").write_bytes(BOMB)
    assert standalone.main([str(tmp_path / "bomb.json.gz")]) == 2
    assert capsys.readouterr().out.startswith("TOO LARGE")
    (tmp_path / "cut.json.gz").write_bytes(WRONG["cut"])
    assert standalone.main([str(tmp_path / "cut.json.gz")]) == 2
    assert capsys.readouterr().out.startswith("NOT READABLE")
