"""Work that all parts of one file ask for together: members of a family, bounds of several decision makers, references of a file.

Every piece of work whose amount a file decides has a limit of its own, and none takes much longer than ten seconds. Many parts that
each stay just below it would take hours. So while parts of one file are looked at, pieces are counted as shares of their limits
before they begin, and all together may be so many whole ones, and an eighth for each part.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from discreet.errors import TooLarge

MOST = 8
"""Whole pieces of work that all parts of a file may ask for."""
FOR_A_WHOLE_ONE = 8
"""So many parts may ask for one more: whatever a design makes asks for less, also where its bound has sixteen programs."""


@dataclass
class _Account:
    what: str
    parts: int
    asked: float = 0.0

    @property
    def allowed(self) -> float:
        return MOST + self.parts / FOR_A_WHOLE_ONE


_open: ContextVar[_Account | None] = ContextVar("work of one file", default=None)


@contextmanager
def together(parts: int, what: str) -> Iterator[None]:
    """Count what is asked for until the end as work of one file with so many parts; inside of another it is counted there."""
    if _open.get() is not None:
        yield
        return
    before = _open.set(_Account(what, parts))
    try:
        yield
    finally:
        _open.reset(before)


def ask(work: int, most: int) -> None:
    """Count a piece of work of which a single one may be `most`; refuse it where all parts of a file ask for too much together."""
    account = _open.get()
    if account is None:
        return
    account.asked += work / most
    if account.asked > account.allowed:
        raise TooLarge(
            f"The {account.what} of this file ask for too much work together",
            size=f"{account.asked:.3g} times as much as one piece of it may be, and more",
            fits=f"{account.allowed:.3g} times, for {account.parts:,} of them",
            remedy="divide the file, and check its parts one by one",
        )
