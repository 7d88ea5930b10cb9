"""`discreet serve` as people run it: a process that says where it listens, answers, and ends with Ctrl-C in peace."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit


def test_it_says_where_it_listens_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "discreet", "serve", str(tmp_path), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        facts = json.loads(told)
        place = urlsplit(facts["address"])
        assert place.hostname == "127.0.0.1" and facts["token"] is False
        connection = http.client.HTTPConnection("127.0.0.1", place.port or 0)
        connection.request("GET", "/index.json")
        answer = connection.getresponse()
        assert answer.status == 200 and b"school-places" in answer.read()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()
    assert (tmp_path / "workbench" / "problems").is_dir()


def test_a_port_that_is_taken_is_told_in_words(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "discreet", "serve", str(tmp_path), "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "could not listen" in done.stderr and "Traceback" not in done.stderr


def test_without_the_extra_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    program = "import sys; sys.modules['uvicorn'] = None; from discreet.cli.main import run; sys.exit(run(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", program, "serve", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and 'pip install "discreet[web]"' in done.stderr
