"""`discreet new`: a person at a terminal answers, or flags do; the file is read back and never overwritten."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from office import shell

from discreet import files

PROMPT = "]: "
CTRL_C = "\x03"


def typed(folder: Path, words: list[str], answers: list[str]) -> tuple[str, int]:
    """Run `discreet` on a terminal, answer each question as it comes; what the terminal showed, and the exit code.

    Like a person, it presses Ctrl-C again when nothing happens: a signal between a prompt and its read is only noted.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from discreet.cli.main import main; main()", *words],
        cwd=folder, pass_fds=(theirs,), env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
        preexec_fn=lambda: os.login_tty(theirs),
    )  # fmt: skip
    os.close(theirs)
    shown, waiting, end = "", list(answers), time.monotonic() + 600
    unread, last = "", ""
    while time.monotonic() < end:
        ended = process.poll() is not None  # asked first: what it wrote last is then there to be read
        if not select.select([ours], [], [], 0.5)[0]:
            if ended:
                break
            if last == CTRL_C and "Interrupted." not in shown:
                os.write(ours, last.encode())
            continue
        try:
            piece = os.read(ours, 4096).decode()
        except OSError:
            break
        shown, unread = shown + piece, unread + piece
        if unread.endswith(PROMPT) and waiting:
            last, unread = waiting.pop(0), ""
            os.write(ours, last.encode())
    try:
        return shown, process.wait(timeout=600)
    finally:
        os.close(ours)


def test_answers_become_a_problem(tmp_path: Path) -> None:
    answers = ["12\n", "0,1,2,3\n", "0.7,0.1,0.1,0.1\n", "\n", "count:2,3\n", "pinball:0.9\n", "real\n", "1/2\n", "person\n"]
    shown, code = typed(tmp_path, ["new", "mine.toml"], answers)
    assert code == 0, shown
    problem = files.read_problem(tmp_path / "mine.toml")
    assert (problem.universe.largest, problem.unit, problem.epsilon) == (12, "person", 0.5)  # type: ignore[union-attr]
    document = tomllib.loads((tmp_path / "mine.toml").read_text(encoding="utf-8"))
    assert document["statistic"] == {"kind": "count", "of": [2, 3]}
    assert document["decision"] == {"kind": "pinball", "quantile": 0.9, "actions": "real"}
    assert "Next: discreet design mine.toml" in shown


def test_return_takes_every_default(tmp_path: Path) -> None:
    shown, code = typed(tmp_path, ["new"], ["\n"] * 9)
    assert code == 0, shown
    assert shown.count(PROMPT) == 9
    by_hand = (tmp_path / "problem.toml").read_text(encoding="utf-8")
    assert shell(tmp_path, "new", "silent.toml").returncode == 0
    assert (tmp_path / "silent.toml").read_text(encoding="utf-8") == by_hand


def test_an_answer_that_cannot_be_used_is_asked_again(tmp_path: Path) -> None:
    answers = ["forty\n", "40\n", "\n", "\n", "0.5\n", "\n", "some\n", "count\n", "sum\n", "\n", "\n", "\n", "\n"]
    shown, code = typed(tmp_path, ["new"], answers)
    assert code == 0, shown
    assert "Found: 'forty'" in shown and "Found: some" in shown and "count:1,2" in shown
    assert shown.count("How many respondents") == 2 and shown.count("What is published") == 3


def test_what_a_flag_says_is_not_asked(tmp_path: Path) -> None:
    shown, code = typed(tmp_path, ["new", "--respondents", "9", "--values", "0,1", "--counts", "90,10"], ["\n"] * 6)
    assert code == 0, shown
    assert "How many" not in shown and "How likely" not in shown and "Where do the reference counts" in shown


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    shown, code = typed(tmp_path, ["new"], ["12\n", CTRL_C])
    assert code == 130 and "Interrupted." in shown
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "problem.toml").write_text("mine", encoding="utf-8")
    done = shell(tmp_path, "new")
    assert done.returncode == 2 and "exists already" in done.stderr
    assert (tmp_path / "problem.toml").read_text(encoding="utf-8") == "mine"


def test_reference_counts_are_recorded_with_their_source(tmp_path: Path) -> None:
    done = shell(tmp_path, "new", "p.toml", "--counts", "890,90,20", "--source", 'the "1990" census', "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problem"] == "p.toml"
    prior = tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8"))["prior"]
    assert prior == {"kind": "reference", "counts": [890, 90, 20], "source": 'the "1990" census'}


def test_cells_that_differ_vary_as_much_as_was_said(tmp_path: Path) -> None:
    flags = ["--respondents", "40", "--values", "0,1", "--probabilities", "0.8,0.2", "--spread", "2.4"]
    done = shell(tmp_path, "new", "p.toml", *flags)
    assert done.returncode == 0, done.stderr
    prior = tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8"))["prior"]
    assert prior["kind"] == "exchangeable"
    total = sum(prior["concentration"])
    assert (total + 40) / (total + 1) == pytest.approx(2.4, rel=1e-3)
    assert prior["concentration"][1] / total == pytest.approx(0.2, rel=1e-3)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--spread", "40"], "below 40"),
        (["--spread", "0.9"], "1, or more"),
        (["--counts", "90,9,1", "--spread", "2"], "goes with probabilities"),
        (["--values", "0,x"], "Found: 'x'"),
        (["--epsilon", "-1"], "Found: ε = -1"),
        (["--statistic", "medium"], "Allowed: sum, mean, count"),
        (["--statistic", "count"], "count:1,2"),
        (["--decision", "pinball"], "pinball:0.9"),
        (["--decision", "squared_error"], "Did you mean squared-error?"),
        (["--actions", "reel"], "Did you mean real?"),
        (["--probabilities", "0.5,0.6,0.1"], "1.2"),
        (["--respondents", "0"], "0"),
        (["--respondents", "many"], "valid integer"),
    ],
)
def test_a_flag_that_cannot_be_used_is_refused(tmp_path: Path, flags: list[str], said: str) -> None:
    done = shell(tmp_path, "new", *flags)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == [], "nothing is half-written"
