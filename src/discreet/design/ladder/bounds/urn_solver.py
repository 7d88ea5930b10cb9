"""The program behind the urn bound, by HiGHS: min Σ_a c_a·x_a, G·x_a ≥ 0, E·x_a = 0 for every node a, Σ_a x_a = 1, x ≥ 0.

Its rows join three cells each, so that a sparse interior point, without crossover, is quicker than what dense factors take.
Whatever multipliers come back, `proved` says what they prove; where the time was too short there are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.design.schedule import is_counted, spend
from discreet.numerics.arrays import Flags, Floats

SECONDS_PER_ENTRY, GROWTH = 3.5e-7, 1.77
"""What a program takes is about its columns to this power: 0.8 s for four thousand of them, 24 s for twenty-seven thousand."""
TOLERANCE = 1e-5


def solve_seconds(cells: int, nodes: int) -> float:
    """A guess of what a program of this size takes."""
    return SECONDS_PER_ENTRY * float(cells * nodes) ** GROWTH + 0.1


def multipliers_of(cone: Any, free: Flags, cost: Floats, masses: Floats, seconds: float) -> Floats | None:
    """Multipliers [node, row] of the rows of every node; None when HiGHS has none within the time."""
    import highspy
    from scipy import sparse

    nodes, cells = cost.shape
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, chosen in (("output_flag", False), ("threads", 1), ("solver", "ipm"), ("run_crossover", "off")):
        solver.setOptionValue(option, chosen)
    solver.setOptionValue("ipm_optimality_tolerance", TOLERANCE)
    if not is_counted():
        solver.setOptionValue("time_limit", float(seconds))
    # unknowns are masses, M and not M/E[n]: what multipliers of rare cells miss then counts as little as these do
    rows = sparse.csr_array(cone @ sparse.diags_array(1.0 / masses))
    largest = np.maximum(abs(rows).max(axis=1).toarray().ravel(), 1e-300)
    each = sparse.block_diag([sparse.diags_array(1.0 / largest) @ rows] * nodes)
    lowered = cost / masses
    scale = float(np.median(np.abs(lowered))) or 1.0
    matrix = sparse.csc_array(sparse.vstack([sparse.hstack([sparse.eye_array(cells)] * nodes), each]))
    ends = np.tile(np.where(free, 0.0, highspy.kHighsInf), nodes)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = nodes * cells, matrix.shape[0]
    model.col_cost_ = lowered.ravel() / scale
    model.col_lower_, model.col_upper_ = np.zeros(nodes * cells), np.full(nodes * cells, highspy.kHighsInf)
    model.row_lower_ = np.concatenate([masses, np.zeros(nodes * cone.shape[0])])
    model.row_upper_ = np.concatenate([masses, ends])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver.passModel(model)
    solver.run()
    spend(solve_seconds(cells, nodes))
    duals = np.array(solver.getSolution().row_dual, dtype=np.float64)
    if duals.size != matrix.shape[0] or not np.isfinite(duals).all():
        return None
    return np.asarray(duals[cells:].reshape(nodes, cone.shape[0]) * (scale / largest))
