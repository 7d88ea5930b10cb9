"""Names that a package offers and imports only when somebody asks for them.

A package's `__init__` writes `__getattr__ = on_demand(__name__, {"name": "module of the package", …})` (PEP 562), so that importing
the package costs nothing and `discreet --help` answers at once. `dir()` of the package lists what it offers; for type checkers
the same names are imported under TYPE_CHECKING. An offered name is never that of a module of the package, which the import
system would put in its place. `when_called` is the same for one function in a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names stand in the given modules; gives it a `__dir__` as well."""

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    if package in sys.modules:
        vars(sys.modules[package])["__dir__"] = lambda: sorted(places)
    return find


def when_called(module: str, name: str) -> Callable[..., Any]:
    """The function of this name, whose module is imported when it is first called: for tables of which one entry is used."""

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **named)

    return call
