"""Which problem a design begins near: the size between those of a block of a family, said by who asks for the family.

Nothing else decides it, least of all what was designed before: a member comes out the same in any order and on any worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.model.problem import Problem

_near: ContextVar[Problem | None] = ContextVar("near", default=None)


def neighbour() -> Problem | None:
    """The problem that what is designed here begins near."""
    return _near.get()


@contextmanager
def beginning_near(problem: Problem | None) -> Iterator[None]:
    """While this lasts designs begin halfway to that of this problem, where both have the same likely states (`halfway`)."""
    before = _near.set(problem)
    try:
        yield
    finally:
        _near.reset(before)
