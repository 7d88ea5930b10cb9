"""Nothing private stays behind: an attacker with the disk, after the process ended as processes end.

The process is stopped while its rows wait in the temporary folder, by signals that leave no time, and the folder is searched.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from discreet.engines.spill import LOCK, PREFIX, clear_leftovers, private_folder

COUNTING = """
import sys, time
from pathlib import Path
from discreet.engines import DuckEngine, duck, histograms, roll
from discreet.model.key_set import KeySet
from discreet.model.plan import Plan, Source, Unit
from discreet.model.recoding import Bounds, Recoding

def waiting(self):
    print("waiting", self.file is not None, flush=True)
    time.sleep(600)

roll.Roll.parts = waiting
duck.SHARE = 10**6
used = Plan(dataset="d", source=Source("csv", sys.argv[1]), keys=("s",), key_set="k", population="p", mechanism="m",
    recoding=Recoding("v", Bounds(0, 2), 4, missing=3, outside=3, absent=3), unit=Unit("household", "u"), protects="presence")
histograms(used, KeySet(("s",), (("s0",),), (10,)), key=b"k", engine=DuckEngine("100MB", 1, Path(sys.argv[2])))
"""
HOLDING = """
import sys, time
from pathlib import Path
from discreet.engines import spill
folder = spill.folder_of_this_process() if sys.argv[2] == "process" else spill._made(Path(sys.argv[1]))[0]
(folder / "rows").write_text("secret-4711")
print(folder, flush=True)
time.sleep(600)
"""


def started(code: str, *arguments: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A process, and the first line that it says."""
    environment = os.environ | {"TMPDIR": str(folder)}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, env=environment)
    output: IO[str] | None = process.stdout
    assert output is not None
    return process, output.readline().strip()


def ended(process: subprocess.Popen[str], how: signal.Signals) -> int:
    process.send_signal(how)
    assert process.stdout is not None
    process.stdout.close()
    return process.wait(timeout=600)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_count_that_is_stopped_leaves_no_file(how: signal.Signals, tmp_path: Path) -> None:
    spilled = tmp_path / "tmp"
    spilled.mkdir()
    rows = tmp_path / "rows.csv"
    rows.write_text("s,v,u\n" + "".join(f"s0,1,secret{i % 50}\ns0,1,{i % 70}\n" for i in range(3000)))
    process, said = started(COUNTING, str(rows), str(spilled), folder=spilled)
    assert said == "waiting True", "the rows are in a file while this happens"
    assert ended(process, how) != 0
    assert list(spilled.iterdir()) == []


def test_the_folder_of_a_process_goes_on_sigterm_and_its_leftovers_go_next_time(tmp_path: Path) -> None:
    """SIGKILL leaves the folder; while its process lives nobody removes it, afterwards the next one does."""
    process, folder = started(HOLDING, str(tmp_path), "process", folder=tmp_path)
    clear_leftovers(tmp_path)
    assert (Path(folder) / "rows").exists(), "it is held"
    assert ended(process, signal.SIGTERM) == 128 + signal.SIGTERM
    assert not Path(folder).exists()
    process, folder = started(HOLDING, str(tmp_path), "process", folder=tmp_path)
    ended(process, signal.SIGKILL)
    assert (Path(folder) / "rows").exists()
    clear_leftovers(tmp_path)
    assert not Path(folder).exists()


def test_only_our_own_folders_are_cleared(tmp_path: Path) -> None:
    """Near-misses: other names, other modes, links, fresh folders without a lock; old ones of earlier versions go."""
    for name, mode in (("discreet-open", 0o755), ("other", 0o700), ("discreet-fresh", 0o700), ("discreet-old", 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "discreet-open" / LOCK).touch()
    (tmp_path / "discreet-link").symlink_to(tmp_path / "other")
    os.utime(tmp_path / "discreet-old", (0, 0))
    with private_folder(tmp_path) as mine:
        clear_leftovers(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {
            "discreet-open", "other", "discreet-fresh", "discreet-link", mine.name
        }  # fmt: skip
    assert not mine.exists()
    clear_leftovers(tmp_path / "nowhere")


def test_a_folder_that_goes_away_while_it_is_looked_at_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen when two published at once: the other's folder was gone between two looks, after the commitment."""
    folder = tmp_path / f"{PREFIX}other"
    folder.mkdir(mode=0o700)

    def gone(*_: object) -> int:
        folder.rmdir()
        raise FileNotFoundError(folder)

    monkeypatch.setattr("discreet.engines.spill.os.open", gone)
    clear_leftovers(tmp_path)
    assert not folder.exists()
