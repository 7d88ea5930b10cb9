"""Numbers that users type: exact, within bounds, or refused in words before anything is computed."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.numerics.exact import exact


def amount(text: str, what: str, low: float, high: float) -> Fraction:
    """A number above `low` and up to `high`."""
    found = exact(text, what)
    if not low < found <= high:
        allowed = f"above {low:g}, up to {high:g}"
        raise InputError(f"This is no {what} that can be used here", found=text, allowed=allowed, remedy="change it")
    return found


def chance(text: str, what: str) -> float:
    """A probability strictly between zero and one."""
    found = float(amount(text, what, 0, 1))
    if not 0 < found < 1:
        raise InputError(f"A {what} is a probability", found=text, allowed="above 0 and below 1", remedy="for instance 0.9")
    return found


def share_of(text: str, what: str) -> Fraction:
    """A share from nothing up to ten times."""
    found = exact(text or "0", what)
    if not 0 <= found <= 10:
        raise InputError(f"A {what} is a share", found=text, allowed="0 to 10", remedy="for instance 0.1")
    return found


def whole(text: str) -> int:
    """A place in a list."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError("A place is a whole number", found=text, allowed="0, 1, 2, …", remedy="follow a link of the page")
    return int(text)
