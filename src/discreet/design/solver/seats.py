"""Whether a design is made in company: the seat of this thread, where it has one (`meeting`)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.design.solver.meeting import Seat

_seat: ContextVar[Seat | None] = ContextVar("seat", default=None)


def seated() -> Seat | None:
    """The seat of the design that is made here, when it is made together with others."""
    return _seat.get()


def take_seat(seat: Seat) -> None:
    """Let the designs of this thread, and of those that it starts, be made in company."""
    _seat.set(seat)
