"""Pieces of work for `side_by_side` that worker processes can find by their name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from threading import Lock

from discreet.design.schedule import hands, time_left
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


def how_many(_: object, watch: Watch) -> int:
    """How many whoever does this may have at work."""
    return hands()


def at_home(home: int, watch: Watch) -> str:
    """Does not fit into a worker."""
    if os.getpid() != home:
        raise MemoryError("too small a part")
    return "at home"


def threads_at_home(home: int, watch: Watch) -> str:
    """A worker has no room for a thread's stack."""
    if os.getpid() != home:
        raise RuntimeError("can't start new thread")
    return "at home"


def library_at_home(home: int, watch: Watch) -> str:
    """A worker has no room for a library."""
    if os.getpid() != home:
        raise ImportError("failed to map segment from shared object")
    return "at home"


def lost(home: int, watch: Watch) -> str:
    """Ends a worker."""
    if os.getpid() != home:
        os._exit(1)
    return "at home"


def killed(home: int, watch: Watch) -> str:
    """Has a worker killed, as a machine out of memory does."""
    if os.getpid() != home:
        os.kill(os.getpid(), SIGKILL)
    return "at home"


def share(part: float, watch: Watch) -> float:
    """The seconds that it has."""
    return time_left(watch)


class OneWay:
    """Is sent, and read by nobody but whoever made it."""

    def __init__(self, home: int) -> None:
        self.home = home

    def __reduce__(self) -> tuple[Callable[[int], OneWay], tuple[int]]:
        return read_at_home, (self.home,)


def read_at_home(home: int) -> OneWay:
    if os.getpid() != home:
        raise LookupError("only where it was made")
    return OneWay(home)


def whose(part: OneWay, watch: Watch) -> int:
    return part.home


def one_way_back(_: object, watch: Watch) -> object:
    """What a worker finds, nobody else can read."""
    return OneWay(os.getpid())


def lent(_: object, watch: Watch) -> str:
    """Needs nothing of what it is given."""
    return "lent"


def never_sent(_: object, watch: Watch) -> object:
    """Finds what cannot be written down."""
    return Lock()


def ended_at_the_second(task: tuple[int, str, int], watch: Watch) -> int:
    """Leaves a note of where it was begun; a worker is ended by its second piece."""
    home, folder, number = task
    (Path(folder) / f"{number}-{os.getpid()}-{'here' if os.getpid() == home else 'there'}").touch()
    if os.getpid() != home and len(list(Path(folder).glob(f"*-{os.getpid()}-*"))) == 2:
        os._exit(1)
    return number
