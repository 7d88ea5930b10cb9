"""The shell around the commands, in real processes: words, exit codes, pipes and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import discreet

PLANTED = """
import sys, time
from discreet.cli import main
from discreet.errors import BudgetExceeded, InputError, Refuted
def command(): {body}
import types
module = types.ModuleType("planted"); module.command = command
sys.modules["discreet.cli.commands.planted"] = module
main.command_names = lambda: ["planted"]
sys.argv[0] = "discreet"
main.main()
"""


def shell(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `discreet` with these words."""
    command = [sys.executable, "-c", "from discreet.cli.main import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def planted(body: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `discreet planted` where the command's body is given."""
    command = [sys.executable, "-c", PLANTED.format(body=body), "planted", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_version() -> None:
    done = shell("--version")
    assert (done.stdout, done.stderr, done.returncode) == (f"discreet {discreet.__version__}\n", "", 0)


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_help_is_on_standard_output(words: list[str]) -> None:
    done = shell(*words)
    assert done.returncode == 0 and done.stderr == ""
    assert "--debug" in done.stdout and "--version" in done.stdout


def test_an_unknown_option_is_refused_in_plain_words() -> None:
    done = shell("--verson")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("discreet: No such option: --verson")
    assert "Traceback" not in done.stderr


def test_a_misspelt_command_gets_the_nearest_one() -> None:
    done = planted("pass")
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-c", PLANTED.format(body="pass"), "plantd"]
    wrong = subprocess.run(command, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr == ("discreet: There is no command 'plantd'. Allowed: planted. Did you mean: discreet planted?\n")


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ('raise InputError("The key is unknown", found="x")', 2, "The key is unknown. Found: x."),
        ('raise Refuted("not private", "edge 3-4")', 1, "Refuted: not private. Counterexample: edge 3-4"),
        ("raise BudgetExceeded(2, 1)", 1, "2 was requested and 1 remains"),
        ('open("no-such-file.json")', 2, "There is no file no-such-file.json"),
        ('open("/")', 2, "/ is a folder where a file is needed"),
        ("raise MemoryError", 2, "not enough memory"),
        ("raise KeyboardInterrupt", 130, "Interrupted."),
        ('raise ValueError("secret record 17")', 70, "defect of discreet itself (ValueError)"),
        ('raise OSError(28, "No space left on device")', 2, "No space left on device"),
    ],
)
def test_errors_are_words_and_exit_codes(body: str, code: int, words: str) -> None:
    done = planted(body)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("discreet: ") and words in done.stderr
    assert "Traceback" not in done.stderr and "secret" not in done.stderr


@pytest.mark.parametrize("position", ["before", "after"])
def test_debug_shows_the_traceback_wherever_it_stands(position: str) -> None:
    program = PLANTED.format(body='raise InputError("The key is unknown")')
    words = ["--debug", "planted"] if position == "before" else ["planted", "--debug"]
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" in done.stderr and "discreet: The key is unknown." in done.stderr


def test_a_broken_pipe_is_quiet() -> None:
    program = PLANTED.format(body='[print("x" * 1000) for _ in range(10000)]')
    process = subprocess.Popen([sys.executable, "-c", program, "planted"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=600), complaint) == (141, b"")


def test_ctrl_c_after_the_last_word_changes_nothing() -> None:
    """It used to kill a process whose work was done and told, as if the work were lost."""
    late = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    done = planted(late)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_again_while_the_first_one_is_told_changes_nothing() -> None:
    """A person who presses twice was shown a traceback when the second one came late."""
    again = "from discreet.cli import failures; import os, signal; say = failures._say; "
    again += "failures._say = lambda words: (os.kill(os.getpid(), signal.SIGINT), say(words)); raise KeyboardInterrupt"
    done = planted(again)
    assert (done.returncode, done.stderr) == (130, "discreet: Interrupted.\n")


def test_ctrl_c_ends_with_130_and_one_word(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    body = f"open({str(ready)!r}, 'w').close(); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", PLANTED.format(body=body), "planted"], stderr=subprocess.PIPE, text=True)
    while not ready.exists() and process.poll() is None:  # however slow the machine is
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said) == (130, "discreet: Interrupted.\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(closed: str, tmp_path: Path) -> None:
    """The adversary: whoever starts the program closes its streams, as some schedulers do; files are not opened in their place."""
    body = f"""
    from discreet.cli.progress import progress
    with progress() as watch, open({str(tmp_path / "written")!r}, "w") as file:
        file.write(str(file.fileno() > 2))
        print("a result")
        watch.report(stage="a stage")
"""
    for words, code in ((("planted",), 0), (("no-such",), 2)):
        command = [sys.executable, "-c", PLANTED.format(body=body), *words]
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *command], capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "written").read_text(encoding="utf-8") == "True"
