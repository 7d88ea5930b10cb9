"""The quotient bound from plain numbers, for listed actions too, which only tests ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.design.ladder.bounds.averaged import averages
from discreet.design.ladder.bounds.quotient import (
    QuotientBound,
    bound_from_multipliers,
    privacy_rows,
    quotient_bound_of,
    solve,
)
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.model.iid_sum import IidSum
from discreet.watch import SILENT


def quotient_bound(
    probabilities: Sequence[Any],
    values: Sequence[Any],
    respondents: int,
    epsilon: float,
    actions: Sequence[float] | None = None,
    targets: Sequence[float] | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    leave_out: float = 1e-6,
) -> QuotientBound:
    """The quotient bound under squared error: real actions (None) or a list of them."""
    program = averages(IidSum.of(probabilities, values, respondents), groups=groups, leave_out=leave_out)
    if actions is None:
        return quotient_bound_of(program, epsilon, targets, seconds=float("inf"))
    cone, grid = privacy_rows(program, epsilon), np.unique(np.asarray(actions, dtype=np.float64))
    stakes = Stakes(nodes=grid, listed=True)
    found = solve(program, cone, grid, np.zeros(len(grid)), stakes, 1e-6, float("inf"), SILENT)
    bound = bound_from_multipliers(program, cone, grid, found.multipliers, stakes)
    return QuotientBound(max(0.0, bound), found.status, program, grid, found.multipliers)
