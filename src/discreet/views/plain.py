"""A value as JSON can hold it without losing a digit.

Exact rationals are the strings "p/q", and integers beyond 2^53, which other languages would round, are strings of digits.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

EXACT_IN_DOUBLES = 2**53


def json_text(facts: Mapping[str, Any]) -> str:
    """A mapping as JSON text, indented, in the order given."""
    text = json.dumps(plain(facts), ensure_ascii=False, indent=2, allow_nan=False)
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    """What would not show is written as JSON escapes it, which reads back the same."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """The value in terms of JSON."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, int):
        return value if abs(value) <= EXACT_IN_DOUBLES else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _unbounded(value)
    if isinstance(value, (Fraction, Path)):
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


def known(number: float) -> float | None:
    """A number, or None where there is none (NaN)."""
    return None if number != number else float(number)


def _unbounded(value: float) -> str:
    if math.isnan(value):
        raise TypeError("NaN has no form in JSON")
    return "infinity" if value > 0 else "-infinity"
