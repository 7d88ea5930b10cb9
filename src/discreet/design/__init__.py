"""Design: the best private mechanism for a decision, with reductions, solver, ladder, baselines and proofs.

Heavy imports wait until a design is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.design.allocation import allocate
    from discreet.design.decision_makers import shared_design
    from discreet.design.family import design_family
    from discreet.design.front import design
    from discreet.design.reach import saving, smallest_epsilon
    from discreet.design.result import Baseline, Design, Step
    from discreet.design.robust import robust_design

__all__ = [
    "Baseline",
    "Design",
    "Step",
    "allocate",
    "design",
    "design_family",
    "robust_design",
    "saving",
    "shared_design",
    "smallest_epsilon",
]

_PLACES = {
    "Baseline": "result",
    "Design": "result",
    "Step": "result",
    "allocate": "allocation",
    "design": "front",
    "design_family": "family",
    "robust_design": "robust",
    "saving": "reach",
    "shared_design": "decision_makers",
    "smallest_epsilon": "reach",
}

__getattr__ = on_demand(__name__, _PLACES)
