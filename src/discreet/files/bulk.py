"""Making millions of small objects at once: meanwhile Python's collector of cycles is paused.

The collector looks at every new container again and again in case it is part of a cycle. Rows of a table never are, and with a
million of them the looking takes longer than the reading. What is counted by reference is freed as ever.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_bulk() -> Iterator[None]:
    """Pause the collector while the block runs; it goes on afterwards if it was on before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
