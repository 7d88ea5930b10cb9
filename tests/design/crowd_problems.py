"""Problems of many types for crowds, of which nobody lists the histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import design_worlds as worlds

from discreet.files.problem import problem_from_document
from discreet.model.problem import Problem

FALLING = [0.6**t for t in range(9)]
LOSS = 29.974
"""What the best weighted sum loses with 24 of values 0..8 at ε = 1."""


def asked(respondents: int = 24, epsilon: str = "1", values: Sequence[Any] = range(9), **more: Any) -> Problem:
    chances = more.get("chances", [str(round(x / sum(FALLING), 6)) for x in FALLING[: len(values)]])
    real = {"kind": more.get("kind", "squared-error"), "actions": "real"}
    document = worlds.document(respondents, list(values), chances, real)
    return problem_from_document(document | {"privacy": {"epsilon": epsilon, "unit": "person"}})
