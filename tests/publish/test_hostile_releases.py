"""Folders made to harm whoever verifies them: small files that stand for gigabytes, absurd sizes, and files that are none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from forging import failed, resealed
from towns import Town, make_town

from discreet.publish.verification import verified

MEASURED = """
import resource, sys
from discreet.publish.verification import verified
for folder in sys.argv[1:]:
    print(verified(folder).holds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Town:
    town = make_town(tmp_path_factory.mktemp("hostile") / "town")
    town.publish()
    return town


@pytest.fixture
def copy(signed: Town, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed.target, tmp_path / "release"))


BOMBS = {
    "many rows": "SELECT true_table.* FROM true_table, range(1000000)",
    "long texts": "SELECT * REPLACE (repeat('s', 100000000) AS street) FROM true_table",
    "lists": "SELECT * REPLACE ((SELECT list(7) FROM range(10000000)) AS size) FROM true_table",
    "another column": "SELECT *, repeat('x', 100000000) AS more FROM true_table",
}


def rewritten(target: Path, query: str) -> None:
    """Another table in place of the true one."""
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE true_table AS SELECT * FROM read_parquet('{target}')")
        con.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_that_stands_for_gigabytes_is_not_unpacked(signed: Town, copy: Path, bomb: str) -> None:
    """Verifying takes at most 150 MB more than for the true release, whether or not the manifest was made to fit."""
    rewritten(copy / "release.parquet", BOMBS[bomb])
    fitting = Path(shutil.copytree(copy, copy.with_name("fitting")))
    resealed(fitting)
    assert (copy / "release.parquet").stat().st_size < 200_000
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, (signed.target, copy, fitting))], capture_output=True, text=True, check=True
    )
    (true, before), (wrong, hashed), (other, compared) = (line.split() for line in done.stdout.splitlines())
    assert (true, wrong, other) == ("True", "False", "False")
    assert int(hashed) <= int(before) + 5 and int(compared) < int(before) + 150
    assert any(words.startswith("Both tables") for words in failed(verified(fitting)))


@pytest.mark.parametrize("name", ["release.csv", "manifest.json", "ledger.json", "signature.json", "metadata.json", "index.html"])
def test_a_file_of_absurd_size_is_not_opened(copy: Path, name: str) -> None:
    """A sparse file of a terabyte takes no room; reading it would take hours."""
    os.truncate(copy / name, 1 << 40)
    verdict = verified(copy)
    assert not verdict.holds and any("Too large" in check.found for check in verdict.checks)


@pytest.mark.parametrize("name", ["release.csv", "manifest.json", "signature.json", "key_set.csv"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop"])
def test_what_is_no_file_is_not_opened(copy: Path, name: str, kind: str) -> None:
    """A pipe would wait for ever, and /dev/zero never ends."""
    (copy / name).unlink()
    if kind == "folder":
        (copy / name).mkdir()
    elif kind == "pipe":
        os.mkfifo(copy / name)
    else:
        (copy / name).symlink_to("/dev/zero" if kind == "device" else name)
    assert not verified(copy).holds


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b'"', b"a" * 200_000, b"street\n\x00\n", b"published\n" * 1000, b"\n\n\n"])
@pytest.mark.parametrize("name", ["release.csv", "key_set.csv", "release.parquet"])
def test_tables_that_are_none_fail_in_words(copy: Path, name: str, text: bytes) -> None:
    (copy / name).write_bytes(text)
    resealed(copy)
    assert not verified(copy).holds
