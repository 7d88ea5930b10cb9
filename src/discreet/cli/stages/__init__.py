"""The stages of the demo, one file each, in the order of the way through the house.

A stage has a `TITLE`, a `run(folder)` that does the work, writes its files into the folder and returns a
mapping, and a `tell(result, console)` that says it to a person. Each finished part of the house adds one.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from rich.console import Console

STAGES = ("households", "design", "certify", "publish", "read", "report")


class Stage(Protocol):
    """What a file of this folder provides."""

    TITLE: str

    def run(self, folder: Path) -> Mapping[str, Any]:
        """Do the work in a folder; running it twice is safe."""
        ...

    def tell(self, result: Mapping[str, Any], console: Console) -> None:
        """Say the result to a person."""
        ...


def load(name: str) -> Stage:
    """The stage of that name."""
    return cast(Stage, importlib.import_module(f"{__name__}.{name}"))
