"""Pieces of work for `side_by_side` that worker processes can find by their name."""

from __future__ import annotations

import time

from discreet.errors import InputError
from discreet.watch import Watch


def doubled(number: int, watch: Watch) -> int:
    watch.report(stage=f"doubling {number}")
    return 2 * number


def refused(number: int, watch: Watch) -> int:
    raise InputError("this piece is refused", found=number, allowed="none", remedy="ask for another")


def patient(number: int, watch: Watch) -> str:
    """Says that it has begun, and works until it is told to stop."""
    watch.report(stage="begun")
    while not watch.cancelled():
        time.sleep(0.02)
    return "stopped"
