"""One thread for the linear algebra of small blocks.

The matrices of a design are many and small. Threads of a BLAS library that wait for each other by spinning make them no
faster on an idle machine and ten times slower on a busy one. Work is spread over processes instead (`design.side_by_side`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:  # noqa: ARG001
    """Those that are loaded: SciPy brings a BLAS of its own, which is found once it is there."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread; also a decorator. What was set before is restored at the end."""
    with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield
