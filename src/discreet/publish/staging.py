"""Staging: drawn outputs on disk before anything is derived from them, so that a crash can neither redraw nor lose a draw.

A stage is a folder beside the release, named after it. Whoever makes a release first takes a lock on its stage, before anything
is reserved, and holds it to the end; it ends with the process, however that ends. So one release folder costs one draw,
whatever number of processes are asked to make it. Then it holds

    attempt.json     which ledger, and a random name that the reservation carries: after a crash the reservation is found by it
    draws.bin        the positions of the drawn outputs, one for each cell of the key set
    seal.json        their hash, written last: without it the draw counts as never finished
    written          the hash of the manifest of the folder that was written from them

What is staged is already private: it may lie on disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.errors import InputError
from discreet.files.atomic import sync_folder, write_atomically
from discreet.numerics.arrays import Integers

ATTEMPT = "attempt.json"
DRAWS = "draws.bin"
SEAL = "seal.json"
WRITTEN = "written"


@dataclass(frozen=True)
class Stage:
    """The staging folder of one release folder; a context that holds its lock."""

    folder: Path
    held: list[int] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, release: Path) -> Stage:
        """Where the draws for a release folder are kept."""
        return cls(release.parent / f".{release.name}.staging")

    def __enter__(self) -> Stage:
        """Make the folder, which only its owner may look into, and lock it."""
        try:
            while not self._locked():
                self.close()
        except BlockingIOError:
            self.close()
            raise InputError(
                "Another process is making this release",
                found="a stage that is being worked on",
                allowed="one process for each release folder",
                remedy="wait for it to end; nothing was spent",
            ) from None
        except OSError as error:
            self.close()
            raise InputError(
                "The release cannot be staged",
                found=f"{self.folder.parent}: {error.strerror}",
                allowed="a folder that can be written to",
                remedy="choose another place; nothing was drawn",
            ) from None
        return self

    def _locked(self) -> bool:
        """Lock the folder; False when whoever had it removed it in between, so that the lock is on nothing."""
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
            sync_folder(self.folder.parent)
        try:
            self.held.append(os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
            fcntl.flock(self.held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine, named = os.fstat(self.held[-1]), self.folder.lstat()
        except FileNotFoundError:
            return False
        return (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino)

    def __exit__(self, *unused: object) -> None:
        self.close()

    def attempt(self) -> tuple[str, str] | None:
        """The ledger and the name of the attempt that this stage was made for, if there was one."""
        found = self._read(ATTEMPT)
        try:
            document = None if found is None else json.loads(found)
            return None if document is None else (str(document["ledger"]), str(document["attempt"]))
        except (ValueError, KeyError, TypeError):
            return None

    def begin(self, ledger: str) -> str:
        """A new name for an attempt, on disk before anything is reserved under it; what an ended attempt left is removed."""
        name = self.name_attempt()
        for left in (SEAL, DRAWS, WRITTEN):
            (self.folder / left).unlink(missing_ok=True)
        self._write(ATTEMPT, json.dumps({"ledger": ledger, "attempt": name}).encode())
        return name

    @staticmethod
    def name_attempt() -> str:
        """A name that nobody else has."""
        return secrets.token_hex(16)

    def note_written(self, digest: str) -> None:
        """Remember the manifest of the folder that was written, before it is put in its place."""
        self._write(WRITTEN, digest.encode())

    @property
    def written(self) -> str | None:
        """The hash of the manifest of the folder that was written."""
        found = self._read(WRITTEN)
        return None if found is None else found.decode(errors="replace")

    @property
    def holds_draws(self) -> bool:
        """Whether anything was drawn into it."""
        return (self.folder / DRAWS).exists() or (self.folder / SEAL).exists()

    def _write(self, name: str, data: bytes) -> None:
        try:
            write_atomically(self.folder / name, data)
        except InputError as error:
            raise InputError(
                "The release cannot be staged",
                found=f"{self.folder.parent}: {error.found}",
                allowed="a folder that can be written to and has room",
                remedy="make room, then run the same command again: what was drawn is kept",
            ) from None

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def keep(self, positions: Integers) -> None:
        """Write the drawn positions, then the seal; both are on disk when this returns."""
        data = np.ascontiguousarray(positions, dtype="<i8").tobytes()
        seal = {"cells": len(positions), "sha256": hashlib.sha256(data).hexdigest()}
        try:
            write_atomically(self.folder / DRAWS, data)
            write_atomically(self.folder / SEAL, json.dumps(seal).encode())
        except InputError as error:
            raise InputError(
                "The drawn values could not be kept, so their budget is spent and nothing can be published from them",
                found=f"{self.folder.parent}: {error.found}",
                allowed="a folder that can be written to and has room",
                remedy="make room first; then run the same command again, which says what it costs",
            ) from None

    def kept(self) -> Integers | None:
        """The drawn positions if they were sealed, else None."""
        sealed, data = self._read(SEAL), self._read(DRAWS)
        try:
            seal = json.loads(sealed or b"{}")
            whole = data is not None and (seal["sha256"], 8 * seal["cells"]) == (hashlib.sha256(data).hexdigest(), len(data))
        except (ValueError, KeyError, TypeError):
            return None
        return np.frombuffer(data or b"", dtype="<i8").astype(np.int64) if whole else None

    def close(self) -> None:
        """Let go of the lock."""
        while self.held:
            os.close(self.held.pop())

    def remove(self) -> None:
        """Tidy up after the release was recorded; the attempt's name goes last, so that a half-removed stage is known as one.

        Killed after that, an empty folder is left: the release is whole, and the next command into it removes the folder.
        """
        for name in (SEAL, DRAWS, WRITTEN, ATTEMPT):
            with suppress(OSError):
                (self.folder / name).unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.close()
        with suppress(OSError):
            sync_folder(self.folder.parent)
