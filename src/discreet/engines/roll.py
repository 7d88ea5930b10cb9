"""Rows in waiting: units and codes of all rows that were read, in memory, or beyond a limit in a file that nobody can read.

The file has no name (it is unlinked as soon as it is there, so that it is gone with the process, however that ends), and what is
written to it is encrypted with AES-256 in counter mode under a key that exists in this process's memory alone.
Rows are dealt into parts by a hash of their unit, so that all rows of a unit are in one part.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from discreet.engines.units import Codes, Order, Rows
from discreet.errors import TooLarge

PARTS = 64


class Roll:
    """Short or long rows (`discreet.engines.units`); `limit` is how many bytes of them stay in memory.

    A part that is larger still, because few units have very many rows, is thinned: of equal rows (same unit, cell and type)
    no more than `most` can stay, so the others go to `gone` at once.
    """

    def __init__(self, order: Order, most: int, limit: int, folder: Path | None = None) -> None:
        self.order, self.most, self.limit, self.folder = order, most, limit, folder
        self.held: list[Rows] = []
        self.gone: list[Codes] = []
        self.file: _Sealed | None = None
        self.extents: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]

    def add(self, rows: Rows) -> None:
        """Some more rows."""
        self.held.append(rows)
        if sum(held.nbytes for held in self.held) > self.limit:
            self._deal()

    def parts(self) -> Iterator[list[Rows]]:
        """All rows, in parts that hold a unit's rows together; what was handed over is no longer held."""
        if self.file is None:
            held, self.held = self.held, []
            yield held
            return
        self._deal()
        for extents in self.extents:
            rows: list[Rows] = []
            for place, size in extents:
                rows.append(np.frombuffer(self.file.read(place, size), dtype=self.dtype))
                if sum(some.nbytes for some in rows) > self.limit:
                    rows = [self._thinned(np.concatenate(rows))]
            yield rows
        self.file.close()

    def _thinned(self, rows: Rows) -> Rows:
        names = rows.dtype.names
        rows = np.sort(rows) if names is None else rows[np.lexsort([rows[name] for name in names])]
        surplus = np.zeros(len(rows), dtype=np.bool_)
        surplus[self.most :] = rows[self.most :] == rows[: -self.most]
        self.gone.append(rows[surplus]["code"] if names else self.order.code_of(rows[surplus]).astype(np.uint32))
        return rows[~surplus]

    def _deal(self) -> None:
        """Write what is in memory, part by part."""
        self.file = self.file or _Sealed(self.folder)
        for rows in self.held:
            self.dtype = rows.dtype
            hand, ends = self.order.dealt(rows, PARTS)
            for i, (start, end) in enumerate(pairwise(ends)):
                if end > start:
                    self.extents[i].append(self.file.write(hand[start:end].tobytes()))
        self.held = []


class _Sealed:
    """A file without a name, encrypted under a key of this object's own."""

    def __init__(self, folder: Path | None) -> None:
        self.key = os.urandom(32)
        try:
            self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder, prefix="discreet-")  # noqa: SIM115
        except OSError as error:
            raise _no_room(error) from None
        self.end = 0

    def write(self, data: bytes) -> tuple[int, int]:
        """Append, from a place that is a multiple of 16 bytes; place and size."""
        place = self.end
        try:
            self.file.seek(place)
            self.file.write(self._stream(place).update(data))
        except OSError as error:
            raise _no_room(error) from None
        self.end += -(-len(data) // 16) * 16
        return place, len(data)

    def read(self, place: int, size: int) -> bytes:
        """What was written there."""
        self.file.seek(place)
        return bytes(self._stream(place).update(self.file.read(size)))

    def close(self) -> None:
        """Forget the file and the key."""
        self.file.close()
        self.key = b""

    def _stream(self, place: int) -> Any:
        """The keystream from a place on: a counter of blocks, so that no block of it is ever used twice."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        return Cipher(algorithms.AES(self.key), modes.CTR((place // 16).to_bytes(16, "big"))).encryptor()


def _no_room(error: OSError) -> TooLarge:
    return TooLarge(
        "the rows of units for the memory that is allowed and the temporary folder",
        size=error.strerror or "more than fits",
        fits="more memory, or a temporary folder with more room",
        remedy="Raise the memory limit, or set TMPDIR.",
    )
