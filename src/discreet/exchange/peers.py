"""Peers' libraries: imported where they are used, refused in words where they are missing or too old."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module, metadata
from math import isfinite
from types import ModuleType

from discreet.errors import InputError, MissingExtra
from discreet.numerics.exact import exact


@dataclass(frozen=True)
class Peer:
    """A library by its import name, its distribution, our extra that installs it, and the oldest version that has what we use."""

    module: str
    distribution: str
    extra: str
    oldest: str


OPENDP = Peer("opendp", "opendp", "opendp", "0.14")
ACCOUNTING = Peer("dp_accounting", "dp-accounting", "accounting", "0.5.0")


def peer(library: Peer, needed_for: str, rooms: Sequence[str] = ("",), has: Sequence[str] = ()) -> list[ModuleType]:
    """The modules asked for (by their names below the library's), each with all of `has` found in one of them."""
    try:
        import_module(library.module)
    except ImportError:
        raise MissingExtra(library.extra, needed_for=needed_for) from None
    try:
        found = [import_module(f"{library.module}.{room}" if room else library.module) for room in rooms]
    except ImportError as missing:
        raise _too_old(library, missing.name or "a part of itself", needed_for) from None
    for name in has:
        if not any(hasattr(module, name) for module in found):
            raise _too_old(library, name, needed_for)
    return found


def binary(value: object, what: str) -> Fraction:
    """A peer's number as the peer computes with it: the binary float itself, not the decimal that it is printed as.

    For chance 0.7 of the truth among four answers the two differ in the last digit of ε, and the promise lies between.
    """
    if isinstance(value, float) and isfinite(value):
        return Fraction(value)
    return exact(value, what)


def version_of(library: Peer) -> str:
    """The installed version, or words where it cannot be told."""
    try:
        return metadata.version(library.distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def _too_old(library: Peer, lacking: str, needed_for: str) -> InputError:
    return InputError(
        f"The installed {library.distribution} lacks {lacking}, which is needed for {needed_for}",
        found=f"{library.distribution} {version_of(library)}",
        allowed=f"{library.distribution} {library.oldest} or newer",
        remedy=f'install it with: pip install "{library.distribution}>={library.oldest}"',
    )
