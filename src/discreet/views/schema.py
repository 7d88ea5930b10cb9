"""The JSON Schema of every view's facts: what `--json` prints and what a page's JSON twin holds."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from discreet.errors import InputError


def schema_names() -> list[str]:
    """The commands whose facts are described, such as `design` or `ledger.show`."""
    return sorted(file.name.removesuffix(".json") for file in resources.files("discreet.views").joinpath("schemas").iterdir())


def schema(name: str) -> dict[str, Any]:
    """The schema of one command's facts: every key, its type, and which keys are always there."""
    if name not in schema_names():
        raise InputError("No facts of that name are described", found=name, allowed=schema_names(), remedy="choose one of these")
    found: dict[str, Any] = json.loads(
        resources.files("discreet.views").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    )
    return found
