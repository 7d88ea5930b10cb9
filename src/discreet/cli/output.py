"""What a command prints: one JSON object for a program, or something a person wants to look at.

A command computes a mapping and calls `show(mapping, as_json=…, person=…)`. In JSON exact rationals are the
strings "p/q", and integers beyond 2^53, which other languages would round, are strings of digits. Colours
and widths follow the terminal; without one the text is plain.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

EXACT_IN_DOUBLES = 2**53

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
"""The option every command takes: `as_json: Json = False`."""


def show(result: Mapping[str, Any], *, as_json: bool, person: Callable[[Console], None]) -> None:
    """Print `result` as one JSON object, or let `person` draw it on a console."""
    if as_json:
        sys.stdout.write(json_text(result) + "\n")
        return
    person(console())


def console() -> Console:
    """A console on standard output: colours only on a terminal, paths and numbers never repainted."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def beside(console: Console, lead: str, words: str) -> None:
    """A short lead and the words beside it, which wrap under themselves."""
    from rich.table import Table

    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(lead, words)
    console.print(grid)


def json_text(result: Mapping[str, Any]) -> str:
    """`result` as JSON text, indented, in the order given."""
    return json.dumps(plain(result), ensure_ascii=False, indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """A value as JSON can hold it without losing a digit."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, int):
        return value if abs(value) <= EXACT_IN_DOUBLES else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _unbounded(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _unbounded(value: float) -> str:
    if math.isnan(value):
        raise TypeError("NaN has no form in JSON")
    return "infinity" if value > 0 else "-infinity"
