"""The same program handed to HiGHS: interior point without crossover.

A fallback where the structured method does not apply, and an independent opinion everywhere else.  HiGHS works
with absolute tolerances, so its kernel is repaired and its bound recomputed from its multipliers; neither
is believed.  In HiGHS's sign convention the multiplier of a row q·x_j − x_i ≥ 0 of a minimisation is ≥ 0.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.design.solver.program import Floats, Program, Solution, directed, dual_bound, value_of
from discreet.design.solver.repair import repair


def solve_with_highs(program: Program, method: str = "ipm", seconds: float = 600.0) -> Solution:
    """Solve by HiGHS; `status` is HiGHS's own word for how it ended."""
    import highspy

    begun = time.perf_counter()
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", method)
    solver.setOptionValue("run_crossover", "off")
    solver.setOptionValue("time_limit", float(seconds))
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "ipm_optimality_tolerance"):
        solver.setOptionValue(option, 1e-9)
    scale = float(np.abs(program.cost).max()) or 1.0
    solver.passModel(_model(program, scale))
    solver.run()
    status = solver.modelStatusToString(solver.getModelStatus()).lower()
    found = solver.getSolution()
    size = program.actions * program.states
    kernel = _usable(np.array(found.col_value), size).reshape(program.actions, program.states)
    if not np.all(kernel.sum(axis=0) > 0):
        kernel = np.ones_like(kernel)
    kernel = repair(kernel, program)
    arcs = 2 * len(program.edges)
    duals = _usable(np.array(found.row_dual), program.states + program.actions * arcs)
    multipliers = np.maximum(duals[program.states :], 0.0).reshape(program.actions, arcs) * scale
    bound = dual_bound(program, multipliers)
    idle = dual_bound(program, np.zeros_like(multipliers))
    if idle > bound:
        bound, multipliers = idle, np.zeros_like(multipliers)
    return Solution(
        kernel=kernel,
        multipliers=multipliers,
        value=value_of(program, kernel),
        bound=bound,
        iterations=int(solver.getInfo().ipm_iteration_count),
        seconds=time.perf_counter() - begun,
        status=status,
    )


def _usable(found: Floats, size: int) -> Floats:
    """HiGHS returns nothing when it stops early; zeros then stand for no information."""
    return found if found.size == size and bool(np.all(np.isfinite(found))) else np.zeros(size)


def _model(program: Program, scale: float) -> Any:
    """Rows: Σ_a x[a, h] = 1 for each h, then for each action one row per directed edge."""
    import highspy

    actions, states = program.cost.shape
    tail, head = directed(program.edges)
    arcs = len(tail)
    every = np.arange(actions)[:, None]
    row = states + every * arcs + np.arange(arcs)
    rows = np.concatenate([np.tile(np.arange(states), actions), row.ravel(), row.ravel()])
    columns = np.concatenate([np.arange(actions * states), (every * states + head).ravel(), (every * states + tail).ravel()])
    entries = np.concatenate([np.ones(actions * states), np.full(actions * arcs, program.factor), np.full(actions * arcs, -1.0)])
    order = np.argsort(rows, kind="stable")
    count = states + actions * arcs
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = actions * states, count
    model.col_cost_ = (program.cost / scale).ravel()
    model.col_lower_ = np.zeros(actions * states)
    model.col_upper_ = np.full(actions * states, highspy.kHighsInf)
    model.row_lower_ = np.concatenate([np.ones(states), np.zeros(actions * arcs)])
    model.row_upper_ = np.concatenate([np.ones(states), np.full(actions * arcs, highspy.kHighsInf)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    model.a_matrix_.index_ = columns[order]
    model.a_matrix_.value_ = entries[order]
    return model
