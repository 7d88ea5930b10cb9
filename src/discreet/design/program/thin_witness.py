"""Multipliers as a small witness: few of them, with few bits, proving as much but for a loss that is chosen.

All that a bound takes from an action's multipliers f ≥ 0 is the pull Gᵀf at each state, and less of it proves no less. An interior
point puts something on every edge; f′ ≥ 0 with the least sum among all that pull no more anywhere,

    min 1·f′   subject to   Gᵀf′ ≤ most,   f′ ≥ 0,

is a vertex, with at most one multiplier for each state; what has no more is left as it is. Rounded down to 2^−b, a multiplier
lowers the pull at its head and raises it at its tail by less than 2^−b: b follows from how much of the bound may be lost. Nothing
here is believed: `certify` computes the bound again from what is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil, log2
from typing import Any

import numpy as np

from discreet.design.program.sections import Recommendation, Section
from discreet.design.schedule import GRACE, Until, time_left
from discreet.design.solver.program import Floats, directed, pulled
from discreet.model.certificate import DualWitness, Multipliers
from discreet.model.summary import HistogramSummary
from discreet.watch import SILENT, Watch

SPARED = 0.03
"""The share of the gap that rounding a kernel, thinning its multipliers and rounding these may each take."""
MOST_BITS = 61
"""Of the largest multiplier, so that each fits into 64 bits."""
MOST_STATES = 4_000
MOST_THINNED = 9_000_000
"""States, and multipliers in all, up to which they are thinned: HiGHS takes some thirty microseconds for each state and action."""
TIGHT = 1e-10
"""The least tolerance that HiGHS knows."""
FINER = (1e7, 1e6, 1e5, 1e4)
"""Units of a vertex, in times what may be lost: HiGHS errs by some 1e-9 of one at each state; finer vertices are less thin."""


Bases = dict[Recommendation, Any]
"""Where the simplex method ended for each action: near the end for the same action of a near size, on the same graph."""

_passing: ContextVar[bool] = ContextVar("passing", default=False)


@contextmanager
def in_passing() -> Iterator[None]:
    """While this lasts witnesses are proved and not kept: making them small would take longer than proving them as they are."""
    before = _passing.set(True)
    try:
        yield
    finally:
        _passing.reset(before)


def for_thinning(watch: Watch) -> Until:
    """Until when multipliers are thinned after a search: a little longer than it may take, however far over that it is already."""
    return Until.after(max(time_left(watch), 0.0) + GRACE / 2)


def dual_witness(
    section: Section,
    actions: list[Recommendation],
    multipliers: Floats,
    epsilon: float,
    spare: float,
    *,
    most: Floats | None = None,
    chord: bool = False,
    watch: Watch = SILENT,
    bases: Bases | None = None,
) -> DualWitness:
    """Multipliers [action, directed edge] as whole numbers over a power of two, at the cost of about `spare` of the bound.

    `most` [action, state] is how much may be pulled; by default what they pull. When the watch ends, what is left is not thinned.
    Thinning begins at the `bases` that are handed over, and leaves its own where these are none yet.
    """
    edges, states = section.space.edges, len(section.space)
    scale, each = whole_multipliers(
        edges, states, actions, multipliers, epsilon, spare, most=most, every=chord, watch=watch, bases=bases
    )
    clamp = section.summary.clamp if isinstance(section.summary, HistogramSummary) else None
    return DualWitness("dual-with-chord" if chord else "dual", clamp, scale, each)


def whole_multipliers(
    edges: np.ndarray,
    states: int,
    actions: list[Recommendation],
    multipliers: Floats,
    epsilon: float,
    spare: float,
    *,
    most: Floats | None = None,
    every: bool = False,
    watch: Watch = SILENT,
    bases: Bases | None = None,
) -> tuple[int, tuple[Multipliers, ...]]:
    """The same as whole numbers over the scale that comes first; without `every` an action without any is left out."""
    flows = one_way(np.maximum(multipliers, 0.0))
    pulls = pulled(flows, edges, float(np.exp(epsilon)), states)
    if not _passing.get():
        room = pulls if most is None else np.maximum(most, pulls)
        flows = thinned(flows, room, edges, epsilon, spare, watch, None if bases is None else (actions, bases))
    bits = _bits(flows, edges, states, spare)
    scaled = np.floor(np.ldexp(flows, bits))
    whole = scaled.astype(np.int64 if scaled.max(initial=0.0) < 2.0**62 else object)
    tails, heads = directed(edges)
    each = []
    for action, row in zip(actions, whole, strict=True):
        at = np.flatnonzero(row)
        at = at[np.lexsort((heads[at], tails[at]))]
        triples = zip(tails[at].tolist(), heads[at].tolist(), map(int, row[at].tolist()), strict=True)
        if every or len(at):  # a listed action without multipliers is one without any
            each.append(Multipliers(action, tuple(triples)))
    return 1 << bits, tuple(each)


def one_way(flows: Floats) -> Floats:
    """What goes along an edge both ways is taken off both, which lowers the pull at both ends by q − 1 times as much."""
    half = flows.shape[1] // 2
    back = np.minimum(flows[:, :half], flows[:, half:])
    return flows - np.concatenate([back, back], axis=1)


def _bits(flows: Floats, edges: np.ndarray, states: int, spare: float) -> int:
    """So many that rounding down takes at most `spare` of the bound, and no more than fit."""
    largest = float(flows.max(initial=0.0))
    if largest <= 0:
        return 0
    fitting = max(MOST_BITS - ceil(log2(largest)), 0)
    tails, _ = directed(edges)
    leaving = np.stack([np.bincount(tails[row > 0], minlength=states) for row in flows])
    lost = float(leaving.max(axis=0).sum())
    return min(fitting, max(ceil(log2(lost / spare)), 0)) if spare > 0 and np.isfinite(lost / spare) else fitting


def thinned(
    flows: Floats,
    most: Floats,
    edges: np.ndarray,
    epsilon: float,
    spare: float,
    watch: Watch = SILENT,
    shared: tuple[list[Recommendation], Bases] | None = None,
) -> Floats:
    """Fewer multipliers that pull no more than `most`; the given ones where that would take too long or more than `spare`."""
    count, states = flows.shape[1], most.shape[1]
    if not count or states > MOST_STATES or flows.size > MOST_THINNED or spare <= 0 or not np.isfinite(most).all():
        return flows
    import highspy

    factor = float(np.exp(epsilon))
    tails, heads = directed(edges)
    matrix = highspy.HighsLp()
    matrix.num_col_, matrix.num_row_ = count, states
    matrix.col_cost_, matrix.col_lower_ = np.ones(count), np.zeros(count)
    matrix.col_upper_, matrix.row_lower_ = np.full(count, highspy.kHighsInf), np.full(states, -highspy.kHighsInf)
    matrix.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    matrix.a_matrix_.start_ = np.arange(0, 2 * count + 1, 2)
    matrix.a_matrix_.index_ = np.stack([heads, tails], axis=1).ravel()
    matrix.a_matrix_.value_ = np.tile([factor, -1.0], count)
    matrix.row_upper_ = np.zeros(states)
    roomy = most + spare / (2 * states)
    actions, bases = shared or ([], {})
    known = dict(bases)
    for finer in FINER:
        scale = finer * spare
        found, solver = flows.copy(), _ready(matrix)
        for place in np.flatnonzero((flows > 0).sum(axis=1) > states).tolist():
            if watch.cancelled():
                break
            if known and (basis := known.get(actions[place])) is not None:
                solver.setBasis(basis)
            fewer = _vertex(solver, roomy[place] / scale)
            if fewer is not None:
                found[place] = scale * fewer
                if shared is not None and not known:
                    bases[actions[place]] = solver.getBasis()
        if np.maximum(pulled(found, edges, factor, states) - most, 0.0).max(axis=0).sum() <= spare:
            return found
    return flows


def _ready(matrix: Any) -> Any:
    """The simplex method with everything but the room at each state."""
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("solver", "simplex"), ("presolve", "off")):
        solver.setOptionValue(option, value)
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(option, TIGHT)
    solver.passModel(matrix)
    return solver


def _vertex(solver: Any, room: Floats) -> Floats | None:
    """The vertex that the simplex method ends at, if it does, from the basis of the action before: still dual feasible."""
    import highspy

    states = len(room)
    solver.changeRowsBounds(states, np.arange(states, dtype=np.int32), np.full(states, -highspy.kHighsInf), room)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        solver.clearSolver()
        return None
    return np.maximum(np.array(solver.getSolution().col_value), 0.0)
