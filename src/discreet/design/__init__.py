"""Design: the best private mechanism for a decision, with reductions, solver, ladder, baselines and proofs.

Heavy imports wait until a design is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.design.front import design
    from discreet.design.result import Baseline, Design, Step

__all__ = ["Baseline", "Design", "Step", "design"]

_PLACES = {"design": "front", "Design": "result", "Baseline": "result", "Step": "result"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"discreet.design.{_PLACES[name]}"), name)
