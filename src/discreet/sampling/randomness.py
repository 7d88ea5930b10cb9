"""Random bits: where they come from, and why no two draws ever share any.

A source hands out 64-bit words, each uniform and independent of all others. Two may be used to publish:
`OperatingSystem` asks the kernel for every word; `Stream` expands a 256-bit key, asked from the kernel, with
ChaCha20. What is drawn from a stream is exactly distributed if its words are uniform; that nobody can tell them from
uniform words is a computational statement about ChaCha20, as it already is about the kernel's own generator.

No stream is used twice. A stream takes a new key when it finds itself in another process (after a fork, by any
route), and after 2^30 bytes. It refuses to be pickled or copied, so a task that is sent elsewhere or retried makes
its own. Neither class takes a seed. Reference: RFC 8439 (ChaCha20).
"""

from __future__ import annotations

import os
import threading
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

RESEED_BYTES = 1 << 30
"""Bytes after which a stream takes a new key."""

_forks = 0


class Randomness(Protocol):
    """A source of uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """`count` fresh words."""
        ...


class OperatingSystem:
    """Every word asked from the operating system."""

    def words(self, count: int) -> Words:
        """`count` fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class Stream:
    """ChaCha20 under a key from the operating system; a new key in every process and after every fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._take_key()

    def words(self, count: int) -> Words:
        """`count` fresh words."""
        found = np.zeros(count, dtype=np.uint64)
        if count == 0:
            return found
        if self._where != _here():
            # The lock may have been held by a thread that did not survive the fork.
            self._lock = threading.Lock()
            self._take_key()
        with self._lock:
            view = found.view(np.uint8).data
            for start in range(0, len(view), RESEED_BYTES):
                part = view[start : start + RESEED_BYTES]
                if self._used + len(part) > RESEED_BYTES:
                    self._take_key()
                self._cipher.update_into(bytes(len(part)), part)
                self._used += len(part)
        return found

    def _take_key(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

        self._where = _here()
        self._used = 0
        # The key is used for this stream alone, so its nonce may be zero.
        self._cipher = Cipher(algorithms.ChaCha20(os.urandom(32), bytes(16)), mode=None).encryptor()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A stream of random bits is never copied or sent: whoever needs one makes a new one.")


def _here() -> tuple[int, int]:
    """What tells one process and one side of a fork from another."""
    return os.getpid(), _forks


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
