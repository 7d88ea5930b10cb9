"""How much memory a design may take: half of what is free, unless whoever asks says otherwise.

Work that knows its size asks before it begins (`must_fit`): what would not fit is passed over, and `MemoryError` says in words
what it was, what it takes and what is allowed. Behind that stands the machine: within `allowing` this process is given no more
than is allowed beyond what it had, so that too small an estimate ends one piece of work, not the program. Libraries ask for much
that they never write to, so each piece of work begins by telling the machine anew what is left (`held`). Workers share it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache

from discreet.errors import InputError

LEAST = 64 << 20
"""Less than this is not allowed: the libraries alone take as much."""
SPARE = 256 << 20
"""What libraries and threads take while they start, beyond what is asked for."""
LOADED = 12 << 20
"""The same when libraries are loaded and have their buffers: the stack of a thread, which is asked for and hardly written to."""
UNKNOWN = 4 << 30
"""What is free where the machine does not say."""
MOST_NEIGHBOURS, BYTES_PER_NEIGHBOURS = 2_000_000, 64
"""Pairs of neighbouring histograms, about: of two hundred types listing them takes longer than all else; memory of each."""
OUT_OF_MEMORY = "it does not fit in memory"
"""What is said where the machine gave no more, and nothing else is known."""
OF_MEMORY = "of memory, more than"
"""What is said of work that would take too much."""
SHARED = "DISCREET_MEMORY"
"""The variable that tells a worker its part."""
UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}

SCIPY = "scipy.linalg.blas"
BUFFERED = frozenset({"numpy", SCIPY})
ENOUGH = 256
"""Rows of a product that is not done without a buffer."""

ARENAS = -8
"""What the C library calls the most heaps that it makes (`M_ARENA_MAX`)."""

_took: set[str] = set()
_allowed: ContextVar[int | None] = ContextVar("allowed memory", default=None)


def allowed() -> int:
    """Bytes that a piece of work may take."""
    said = _allowed.get()
    return half_of_what_is_free() if said is None else said


def must_fit(size: float, what: str) -> None:
    """Refuse, before any work, what would take more."""
    if size > allowed():
        raise MemoryError(f"{what} takes about {in_words(size)} {OF_MEMORY} the {in_words(allowed())} that are allowed")


def words_of(error: BaseException) -> str:
    """What an error says; the machine itself says nothing when it gives no more."""
    return str(error) or OUT_OF_MEMORY


def in_words(size: float) -> str:
    """Bytes for a person."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 10**3:.1f} kB"


def bytes_of(text: str | None) -> int:
    """A size as a person writes it, 500MB, 2 GB or 1.5GiB; half of what is free where nothing is written."""
    if text is None:
        return half_of_what_is_free()
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)", text.strip())
    unit = None if found is None else UNITS.get(found[2].lower())
    size = 0 if found is None or unit is None else int(Fraction(found[1]) * unit)
    if size < LEAST:
        raise InputError(
            "This is no amount of memory that a design can do with",
            found=text,
            allowed=f"{in_words(LEAST)} or more, written as a number and MB or GB",
            remedy="for instance --memory 2GB; without it half of what is free",
        )
    return size


@contextmanager
def allowing(size: int) -> Iterator[None]:
    """Within, work takes at most so many bytes."""
    _with_one_heap()
    token, before = _allowed.set(size), _bounded(_taken() + SPARE + size)
    try:
        yield
    finally:
        _allowed.reset(token)
        if before is not None:
            _bounded(before)


def held(spare: int = LOADED) -> None:
    """Let the machine give what this process has not yet written to of what is allowed, and `spare`: before a piece of work, when
    its libraries are loaded."""
    size = _allowed.get()
    if size is not None:
        _take_buffers()
        if _taken("RssAnon") > size // 2:
            gc.collect()  # work that is over leaves arrays behind in circles
        again = _given_back()
        _bounded(_taken() + spare + max(size - _taken("RssAnon") - again, 0))


def _take_buffers() -> None:
    """Let the libraries for products take their buffers, which they do once and keep: where the machine refuses these, they end
    the process with a segmentation fault instead of saying so."""
    for name in BUFFERED - _took:
        library = sys.modules.get(name)
        if library is not None:
            _took.add(name)
            some = sys.modules["numpy"].ones((ENOUGH, ENOUGH))
            _ = library.dgemm(1.0, some, some) if name == SCIPY else library.dot(some, some)


def _with_one_heap() -> None:
    """Let all threads share a heap from now on: what one of each thread's own sets aside and gives back is counted nowhere."""
    with suppress(OSError, AttributeError):  # not on every system
        ctypes.CDLL(None).mallopt(ARENAS, 1)


class _Heap(ctypes.Structure):
    """What the C library says of its heaps (`mallinfo2`), in bytes."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


def _given_back() -> int:
    """Give back what lies free in the heaps; the bytes that are still set aside there, which work may write to again unasked."""
    with suppress(OSError, AttributeError):  # not on every system
        library = ctypes.CDLL(None)
        library.malloc_trim(0)
        library.mallinfo2.restype = _Heap
        return int(library.mallinfo2().fordblks)
    return 0


def for_workers(count: int) -> dict[str, str]:
    """What the environment of each of so many workers says."""
    said = _allowed.get()
    return {} if said is None else {SHARED: str(max(said // max(count, 1), LEAST))}


def as_a_worker() -> None:
    """Take the part that was given to this process."""
    part = os.environ.get(SHARED, "")
    if part.isdigit():
        _with_one_heap()
        _allowed.set(int(part))
        _bounded(_taken() + SPARE + int(part))


def _bounded(size: int) -> int | None:
    """Let the machine give this process no more bytes than these; what it would have given before, None where it does not count."""
    try:
        import resource
    except ImportError:  # not on every system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):
        most = size if hard == resource.RLIM_INFINITY or size == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    return soft


def _taken(what: str = "VmData") -> int:
    """Bytes that this process has written to or set aside to write; RssAnon: has written to."""
    with suppress(OSError, ValueError, StopIteration):
        lines = _told("/proc/self/status").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith(what)).split()[1])
    return SPARE


@lru_cache(1)
def half_of_what_is_free() -> int:
    """Half of the memory that was free when this was first asked; of a container, what it may take."""
    free = UNKNOWN
    with suppress(OSError, ValueError, StopIteration):
        lines = _told("/proc/meminfo").splitlines()
        free = 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    with suppress(OSError, ValueError):
        most, now = (int(_told(f"/sys/fs/cgroup/memory.{name}")) for name in ("max", "current"))
        free = min(free, most - now)
    return max(free // 2, LEAST)


def _told(path: str) -> str:
    """What the machine says in a file of its own."""
    with open(path, encoding="ascii") as file:  # noqa: PTH123 (nothing else of a design needs pathlib, which loads slowly)
        return file.read()
