"""Publish statistics that are useful to the people who act on them and discreet about the people in them.

    import discreet

    places = discreet.problem(respondents=40, values=[0, 1, 2], probabilities=[0.89, 0.09, 0.02], epsilon=1, unit="household")
    best = places.design()               # the best private mechanism, proved
    best.read(5)                         # what a published 5 means
    best.report("places.html")           # one page for your director

`problem`, `budget` and `release` begin; the objects that they return know what can be done with them. The packages
(`discreet.design`, `discreet.files`, …) are loaded when first used, so `import discreet` is quick. The way through the house is:
problem → design → certify → commit → publish → interpret.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.face import budget, problem, release

__version__ = "0.1.0"

PACKAGES = (
    "numerics",
    "model",
    "files",
    "geometry",
    "mechanisms",
    "certify",
    "learning",
    "currencies",
    "design",
    "interpret",
    "sampling",
    "ledger",
    "engines",
    "publish",
    "exchange",
    "views",
    "present",
    "gallery",
    "face",
)
"""The packages of the house, in the order in which they may import one another."""

ROOMS = (*PACKAGES, "errors", "watch")

BEGINNINGS = ("budget", "problem", "release")
"""What a person begins with; the names stand in the package `face`."""

__all__ = ["PACKAGES", "__version__", "budget", "problem", "release"]


def __getattr__(name: str) -> Any:
    if name in BEGINNINGS:
        return getattr(importlib.import_module(f"{__name__}.face"), name)
    if name not in ROOMS:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    qualified = f"{__name__}.{name}"
    try:
        return importlib.import_module(qualified)
    except ModuleNotFoundError as missing:
        if missing.name != qualified:
            raise
        raise AttributeError(f"module 'discreet' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted([*globals(), *ROOMS, *BEGINNINGS])
