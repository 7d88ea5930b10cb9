"""Publish, or spend, in a process that the kernel refuses to let write more.

    python filling.py publish TOWN STEP LIMIT     from the step on, no file may grow beyond LIMIT bytes
    python filling.py spend TOWN LIMIT            reserve until the ledger refuses; says how many were acknowledged

A limit on file sizes, with its signal ignored, makes write(2) itself fail (EFBIG), half-way through a block if need be: in
Python's files, in SQLite's log and in DuckDB alike. Nothing is simulated.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

from towns import Town

from discreet.errors import DiscreetError
from discreet.publish.release import STEPS


def limit_files(limit: int) -> None:
    """No file may grow beyond `limit` bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def publishing(town: Town, since: str, limit: int) -> int:
    """0 when the release was made in spite of the limit, 3 when it was refused in plain words."""

    def step(name: str) -> None:
        if name == since:
            limit_files(limit)

    assert since in STEPS
    try:
        town.publish(step=step)
    except DiscreetError as refused:
        sys.stderr.write(str(refused))
        return 3
    return 0


def spending(town: Town, limit: int) -> int:
    """How many reservations were acknowledged."""
    granted = 0
    with town.ledger() as book:
        [name] = book.state.commitments
        limit_files(limit)
        try:
            for _ in range(200):
                book.reserve(name, signer=town.signer)
                granted += 1
        except DiscreetError as refused:
            sys.stderr.write(str(refused))
    return granted


if __name__ == "__main__":
    place = Town(Path(sys.argv[2]))
    if sys.argv[1] == "publish":
        sys.exit(publishing(place, sys.argv[3], int(sys.argv[4])))
    sys.stdout.write(f"{spending(place, int(sys.argv[3]))}\n")
