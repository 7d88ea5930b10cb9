"""Staging: drawn outputs on disk before anything is derived from them, so that a crash can neither redraw nor lose a draw.

A stage is a folder beside the release, named after its reservation. It holds the positions of the drawn outputs, one for each
cell of the key set, and a seal with their hash that is written last. Without the seal the draw counts as never finished.
What is staged is already private: it may lie on disk. Whoever works on a stage holds a lock on its folder, which ends with
the process however that ends: nobody else can take the stage for an abandoned one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.files.atomic import sync_folder, write_atomically

DRAWS = "draws.bin"
SEAL = "seal.json"


@dataclass(frozen=True)
class Stage:
    """The staging folder of one reservation for one release folder."""

    folder: Path
    held: list[int] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, release: Path, reservation: str) -> Stage:
        """Where the draws for a release folder and a reservation are kept."""
        return cls(release.parent / f".{release.name}.{reservation[:16]}.staging")

    def open(self) -> None:
        """Make the folder, which only its owner may look into, and lock it."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            sync_folder(self.folder.parent)
            handle = os.open(self.folder, os.O_RDONLY)
            self.held.append(handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InputError(
                "Another process is making this release",
                found="a stage that is being worked on",
                allowed="one process for each release folder",
                remedy="wait for it to end",
            ) from None
        except OSError as error:
            self.close()
            raise InputError(
                "The release cannot be staged",
                found=f"{self.folder.parent}: {error.strerror}",
                allowed="a folder that can be written to",
                remedy="choose another place; nothing was drawn",
            ) from None

    def keep(self, positions: NDArray[np.int64]) -> None:
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

    def kept(self) -> NDArray[np.int64] | None:
        """The drawn positions if they were sealed, else None."""
        try:
            seal = json.loads((self.folder / SEAL).read_bytes())
            data = (self.folder / DRAWS).read_bytes()
        except (OSError, ValueError):
            return None
        if seal.get("sha256") != hashlib.sha256(data).hexdigest() or 8 * seal.get("cells", -1) != len(data):
            return None
        return np.frombuffer(data, dtype="<i8").astype(np.int64)

    def close(self) -> None:
        """Let go of the lock."""
        while self.held:
            os.close(self.held.pop())

    def __del__(self) -> None:
        self.close()

    def remove(self) -> None:
        """Tidy up after the release was recorded."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.close()
        with suppress(OSError):
            sync_folder(self.folder.parent)
