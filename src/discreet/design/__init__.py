"""Design: the best private mechanism for a decision, with reductions, solver, ladder, baselines and proofs.

Heavy imports wait until a design is asked for.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.design.best_mechanism import design
    from discreet.design.questions.allocation import allocate
    from discreet.design.questions.decision_makers import shared_design
    from discreet.design.questions.family import design_family
    from discreet.design.questions.robust import robust_design
    from discreet.design.questions.smallest_epsilon import saving, smallest_epsilon
    from discreet.design.result import Design

__all__ = [
    "Design",
    "allocate",
    "design",
    "design_family",
    "robust_design",
    "saving",
    "shared_design",
    "smallest_epsilon",
]

_PLACES = {
    "Design": "result",
    "allocate": "questions.allocation",
    "design": "best_mechanism",
    "design_family": "questions.family",
    "robust_design": "questions.robust",
    "saving": "questions.smallest_epsilon",
    "shared_design": "questions.decision_makers",
    "smallest_epsilon": "questions.smallest_epsilon",
}

__getattr__ = on_demand(__name__, _PLACES)


class _Package(ModuleType):
    """A package that says what to write when it is called like the function in it."""

    def __call__(self, *_: object, **__: object) -> None:
        raise InputError(
            "The package discreet.design is not a function",
            found="discreet.design(…)",
            allowed="a problem's own design()",
            remedy="write discreet.problem(…).design(), or import the function: from discreet.design import design",
        )


sys.modules[__name__].__class__ = _Package
