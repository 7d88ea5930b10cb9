"""Publish statistics that are useful to the people who act on them and discreet about the people in them.

The way through the house is: problem → design → certify → commit → publish → interpret. Packages are loaded
when first used, so `import discreet` is quick:

    import discreet
    mechanism = discreet.files.read_mechanism("X.mechanism.json")
    discreet.certify.privacy(mechanism)
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

PACKAGES = (
    "numerics",
    "model",
    "files",
    "geometry",
    "mechanisms",
    "certify",
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
)
"""The packages of the house, in the order in which they may import one another."""

ROOMS = (*PACKAGES, "errors", "watch")

__all__ = ["PACKAGES", "__version__"]


def __getattr__(name: str) -> Any:
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
    return sorted([*globals(), *ROOMS])
