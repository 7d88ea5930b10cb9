"""Names that a package offers and imports only when somebody asks for them.

A package's `__init__` writes `__getattr__ = on_demand(__name__, {"name": "module of the package", …})` (PEP 562), so that importing
the package costs nothing and `discreet --help` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names stand in the given modules."""

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return find
