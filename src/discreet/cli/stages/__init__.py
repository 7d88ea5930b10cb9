"""The stages of the demo, one file each, in the order of the way through the house.

A stage has a `TITLE` and a `run(folder)` that does the work, writes its files into the folder and returns a view of it. Running it
twice is safe. Each finished part of the house adds one.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol, cast

from discreet.views.view import View

STAGES = ("households", "design", "certify", "publish", "read", "report")


class DemoStage(Protocol):
    """What a file of this folder provides."""

    TITLE: str

    def run(self, folder: Path) -> View:
        """Do the work in a folder, and show it."""
        ...


def load(name: str) -> DemoStage:
    """The stage of that name."""
    return cast(DemoStage, importlib.import_module(f"{__name__}.{name}"))
