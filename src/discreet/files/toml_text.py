"""Documents of texts, whole numbers, booleans, lists and tables as TOML text: for plans and problems that a program writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(document: Mapping[str, Any]) -> str:
    """The document as TOML, plain keys first and then one section for each table."""
    plain = {key: value for key, value in document.items() if not _is_section(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in document.items():
        if not _is_section(value):
            continue
        several = isinstance(value, list)
        for one in value if several else [value]:
            lines += ["", f"[[{_key(key)}]]" if several else f"[{_key(key)}]"]
            lines += [f"{_key(name)} = {_value(inner)}" for name, inner in one.items()]
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value))


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items()) + " }"
    return _text(str(value))


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
