"""A private PostgreSQL cluster for tests and races: a socket in a temporary folder, user `tester`, no network, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def program(name: str) -> str:
    """Where one of PostgreSQL's programs lies."""
    found = shutil.which(name)
    return found or str(sorted(Path("/").glob(f"usr/lib/postgresql/*/bin/{name}"))[-1])


def as_server(command: list[str]) -> None:
    """Run as the user `postgres` when this is root, which PostgreSQL refuses to be."""
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        who = {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **who)


@contextmanager
def cluster(*settings: str) -> Iterator[str]:
    """The folder of the cluster's socket; `settings` such as "default_transaction_isolation=serializable" are the server's own.

    It lies in /tmp wherever temporary files lie, since a socket's path has to be short and another user must reach it.
    """
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data = str(folder / "data")
    try:
        as_server([program("initdb"), "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync"])
        chosen = ["listen_addresses=''", f"unix_socket_directories={folder}", "fsync=off", *settings]
        options = " ".join(f"-c {setting}" for setting in chosen)
        as_server([program("pg_ctl"), "-D", data, "-w", "-t", "600", "-l", str(folder / "log"), "-o", options, "start"])
        try:
            yield str(folder)
        finally:
            as_server([program("pg_ctl"), "-D", data, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
