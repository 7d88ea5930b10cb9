"""Folders for what does not fit in memory: readable by their owner only, gone afterwards, and cleared when that failed.

A folder is held by a lock on a file in it for as long as its process lives. A process that was killed leaves its folder without a
holder; whoever counts next removes such folders (`clear_leftovers`). Folders of earlier versions have no lock and are removed
when they are a day old.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.errors import InputError

PREFIX = "discreet-"
LOCK = ".held"
DAY = 86_400


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new folder with mode 0700; removed with everything in it when the block ends."""
    folder, holder = _made(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(holder)


def folder_of_this_process() -> Path:
    """A new private folder for as long as the process lives; removed at its end, on SIGTERM too.

    Python runs nothing at the end of a process that SIGTERM ends, unless somebody listens: so we do, if nobody else does.
    """
    folder, _ = _made(None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return folder


def clear_leftovers(parent: Path | None = None) -> None:
    """Remove private folders whose process is gone; nothing is said about it, and what cannot be removed stays."""
    try:
        found = [Path(entry.path) for entry in os.scandir(parent or tempfile.gettempdir()) if _is_ours(entry)]
    except OSError:
        return
    for folder in found:
        try:
            holder = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            with suppress(OSError):  # its process may have removed it since
                if time.time() - folder.stat().st_mtime > DAY:
                    shutil.rmtree(folder, ignore_errors=True)
            continue
        except OSError:
            continue
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(holder)


def _made(parent: Path | None) -> tuple[Path, int]:
    """A new folder, and the descriptor whose lock holds it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        holder = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(holder, fcntl.LOCK_EX)
    except OSError as error:
        raise InputError(
            "There is no room for temporary files",
            found=error.strerror or type(error).__name__,
            allowed="a temporary folder that can be written to",
            remedy="free some room, or set TMPDIR",
        ) from None
    return folder, holder


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """A folder that this user made under our prefix; nobody can make us remove another's."""
    if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
        return False
    made = entry.stat(follow_symlinks=False)
    return made.st_uid == os.getuid() and made.st_mode & 0o777 == 0o700
