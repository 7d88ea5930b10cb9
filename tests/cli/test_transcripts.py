"""What a person sees: at 80 and 200 columns, on a terminal and without one, when a pipe closes, and when something is wrong.

Lines never outgrow the width, except where a name, an address or a hash must stay whole to be copied.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from office import problem_text, shell

MAIN = [sys.executable, "-c", "from discreet.cli.main import main; main()"]
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LOOKED_AT = [
    "design places.toml --gap 0.001",
    "frontier places.toml --points 3 --gap 0.01 --workers 1",
    "choose places.toml --limits-only",
    "compare places.mechanism.json usual.mechanism.json",
    "certify places.mechanism.json",
    "cell-keys certify d5v3.txt",
    "cell-keys improve d5v3.txt",
    "check table.csv --neighbours counts --epsilon 1.1 --best",
    "profile places.mechanism.json",
    "convert epsilon=1",
    "read places.mechanism.json 1",
    "limits places.mechanism.json",
    "noise buses.toml",
    "verify release-2026",
    "ledger show ledger.db",
    "ledger remaining ledger.db",
    "ledger verify ledger.db",
    "cite places.mechanism.json",
    "publish plan.toml --dry-run",
]
WHOLE = ("Written:", "found:", "Next:", "Drawn:", "hash", "Mechanism sha256:", "Published:", "Committed:")
"""Lines that hold a name, a command or a hash to be copied."""


def on_a_terminal(folder: Path, words: list[str], columns: int, **environment: str) -> str:
    """What a terminal of so many columns shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*MAIN, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), **environment},
    )  # fmt: skip
    os.close(theirs)
    shown, end = b"", time.monotonic() + 600
    while time.monotonic() < end:
        ended = process.poll() is not None  # asked first: what it wrote last is then there to be read
        if not select.select([ours], [], [], 0.2)[0]:
            if ended:
                break
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(timeout=600) == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def too_long(text: str, columns: int) -> list[str]:
    """The lines that outgrow the width without a reason."""
    return [
        line for line in ANSI.sub("", text).splitlines()
        if len(line.rstrip()) > columns and not line.strip().startswith(WHOLE) and max(map(len, line.split())) < 60
    ]  # fmt: skip


@pytest.mark.parametrize("call", LOOKED_AT)
def test_lines_fit_and_are_plain_without_a_terminal(call: str, released: Path) -> None:
    for columns in (80, 200):
        done = shell(released, *call.split(), COLUMNS=str(columns))
        assert done.returncode == 0, done.stderr
        assert not ANSI.search(done.stdout + done.stderr)
        assert too_long(done.stdout, columns) == []
        if "design" not in call and "frontier" not in call:
            break


@pytest.mark.parametrize("call", ["certify places.mechanism.json", "verify release-2026", "noise buses.toml"])
def test_a_terminal_gets_colours_unless_it_asks_for_none(call: str, released: Path) -> None:
    assert ANSI.search(on_a_terminal(released, call.split(), 80))
    plain = on_a_terminal(released, call.split(), 80, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7][0-9;]*m", plain), "a colour although NO_COLOR is set"
    assert not ANSI.search(on_a_terminal(released, call.split(), 80, TERM="dumb"))


@pytest.mark.parametrize("columns", [80, 200])
def test_a_table_fits_a_terminal(columns: int, released: Path) -> None:
    shown = on_a_terminal(released, ["design", "places.toml", "--gap", "0.001"], columns)
    result = shown.split("\r")[-1]
    assert "this design" in result and too_long(result, columns) == []


def test_json_on_a_terminal_has_no_colours(released: Path) -> None:
    assert not ANSI.search(on_a_terminal(released, ["cite", "places.mechanism.json", "--json"], 80))


@pytest.mark.parametrize("call", ["convert --table", "ledger show ledger.db --json", "cite places.mechanism.json", "--help"])
def test_a_reader_who_leaves_is_not_complained_about(call: str, released: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # before anything is written, however late this process gets its turn
    done = subprocess.run([*MAIN, *call.split()], cwd=released, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=600)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


PRESSED = """
import os, signal, sys
from discreet.cli import progress
from discreet.cli.main import main

progress.QUIET_SECONDS = progress.LINE_SECONDS = 0.0

class Heard:
    def __init__(self, inner, awaited):
        self.inner, self.awaited = inner, awaited
    def write(self, text):
        written = self.inner.write(text)
        if self.awaited and self.awaited[0] in text:
            self.awaited.pop(0)
            os.kill(os.getpid(), signal.SIGINT)
        return written
    def __getattr__(self, name):
        return getattr(self.inner, name)

sys.stderr = Heard(sys.stderr, sys.argv.pop(1).split(","))
main()
"""
"""A command line that tells everything at once, at which Ctrl-C is pressed the moment it has told what is awaited: at that point on
every machine, however fast."""


def interrupted(folder: Path, words: list[str], *awaited: str) -> tuple[int, str, str]:
    """Run, with Ctrl-C pressed once standard error has told each of `awaited`."""
    command = [sys.executable, "-c", PRESSED, ",".join(awaited), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_an_interrupted_design_keeps_its_best_result(tmp_path: Path) -> None:
    (tmp_path / "big.toml").write_text(problem_text(24, prior="[0.6, 0.3, 0.1]", epsilon="0.5"), encoding="utf-8")
    words = ["design", "big.toml", "-o", "big.mechanism.json", "--gap", "1e-12", "--seconds", "300"]
    code, out, err = interrupted(tmp_path, words, "loss")
    assert "Traceback" not in err and "Stopping with the best result so far" in err
    assert code == 0 and "Written: big.mechanism.json" in out, (code, err)
    assert shell(tmp_path, "certify", "big.mechanism.json").returncode == 0


def test_a_second_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "big.toml").write_text(problem_text(24, prior="[0.6, 0.3, 0.1]", epsilon="0.5"), encoding="utf-8")
    words = ["frontier", "big.toml", "--figure", "f.svg", "--workers", "1", "--seconds", "100", "--gap", "1e-12"]
    code, out, err = interrupted(tmp_path, words, "loss", "Stopping")
    assert (code, out) == (130, "") and "Traceback" not in err and err.endswith("discreet: Interrupted.\n")
    assert {path.name for path in tmp_path.iterdir()} == {"big.toml"}


WRONG = {"missing": None, "folder": None, "empty": b"", "binary": bytes(range(256)) * 8, "other": b'{"format": "something else"}',
         "list": b"[1, 2, 3]", "deep": b"[" * 100_000, "toml": b"x = 1\n"}  # fmt: skip
READS = [
    "design {}", "frontier {}", "choose {} --limits-only", "noise {}", "allocate {} {} --budget 1", "certify {}", "profile {}",
    "compare {} {}", "read {} 1", "limits {}", "limits {}.json", "report {}", "cite {}", "commit {}", "publish {} -o out",
    "verify {}", "ledger show {}", "ledger verify {}", "ledger remaining {}", "ledger export {} -o out",
    "read MECHANISM 1 --prior {}",
    "design PROBLEM --alternative {}", "design PROBLEM --priors {}", "design PROBLEM --sizes {}", "certify MECHANISM {}",
    "ledger rotate LEDGER --old {} --new out", "commit PLAN --key {}", "ledger verify LEDGER --against {}",
]  # fmt: skip


@pytest.mark.parametrize("call", READS)
def test_wrong_files_are_refused_in_words(
    call: str, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli.main import run

    monkeypatch.chdir(tmp_path)
    call = call.replace("PROBLEM", str(released / "buses.toml")).replace("MECHANISM", str(released / "places.mechanism.json"))
    call = call.replace("PLAN", str(released / "plan.toml")).replace("LEDGER", str(released / "ledger.db"))
    for name, content in WRONG.items():
        for ending in ("", ".json"):
            if content is not None:
                (tmp_path / (name + ending)).write_bytes(content)
            elif name == "folder":
                (tmp_path / (name + ending)).mkdir(exist_ok=True)
        before = sorted(path.name for path in tmp_path.iterdir())
        code = run(call.replace("{}", name).split())
        out, err = capfd.readouterr()
        said = [line for line in err.splitlines() if line.startswith("discreet: ")]
        assert code in (1, 2) and "Traceback" not in err, (name, code, out, err)
        assert len(said) == 1 or (code == 1 and out), (name, err)
        assert "defect" not in err and len(err) < 2000, (name, err)
        assert sorted(path.name for path in tmp_path.iterdir()) == before, (name, "something was written")
