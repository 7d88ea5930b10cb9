"""The quotient lower bound: a linear program over (x, omega) that every private mechanism obeys on average.

Any epsilon-DP mechanism m, averaged over the histograms with the same state s, satisfies the inequalities of
`averaged`; its expected loss depends on the average alone, because omega is part of s.  So the least loss
over all kernels that satisfy the averaged inequalities,

    min sum_s pi(s) sum_a loss(a, omega(s)) mbar(a|s),   sum_a mbar(a|s) = 1,   G mbar(a|.) >= 0 for every a,

is a lower bound.  Its size hardly depends on T.

The bound that is returned comes from multipliers f_a >= 0, not from the solver's objective:

    bound = sum_s min_a [ pi(s) loss(a, omega(s)) - (G' f_a)(s) ].

Whatever f is, it is valid (weak duality).  States left out contribute at least their least loss, zero for
squared error with real actions; rows that need them are left out, which enlarges the program.

Real actions (squared error).  The program is solved at knots with rewards and the bracket is minimised over
all real actions between them (`knots`); outside, the end's f serves, as the knots cover all kept values of
omega.  Where the optimum plays is not known beforehand: a first program on an even grid tells, and the
posterior means of its solution become the targets of the second.  The better bound is returned.

Rounding.  Each coefficient of G and pi has relative error at most `error`; eta times the bracket with
absolute values, where eta = 4 error, is subtracted before the minimum.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.averaged import Averages, averages
from discreet.design.ladder.knots import clustered, least_between, place_knots
from discreet.design.ladder.types import Number
from discreet.errors import InputError
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float64]

EVEN = 6
"""Points per standard deviation of omega in the even grid of the first program."""


@dataclass(frozen=True)
class QuotientBound:
    """A lower bound on the expected squared error with the multipliers [action, row] that prove it."""

    lower_bound: float
    status: str
    program: Averages
    grid: Floats
    multipliers: Floats

    @property
    def states(self) -> int:
        return self.program.size

    @property
    def actions(self) -> int:
        return len(self.grid)


@dataclass(frozen=True)
class Solution:
    """Multipliers [action, row], the kernel [action, state] they belong to, and the solver's word."""

    multipliers: Floats
    kernel: Floats
    status: str


def quotient_bound(
    probabilities: Sequence[Number],
    values: Sequence[Number],
    respondents: int,
    epsilon: float,
    actions: Sequence[float] | None = None,
    targets: Sequence[float] | None = None,
    reference: int | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    most_states: int = 600,
    leave_out: float = 1e-6,
    seconds: float = 60.0,
    watch: Watch | None = None,
) -> QuotientBound:
    """The quotient bound under squared error: real actions (None) or a list of them.

    `targets` are actions that a good mechanism plays (a proxy's posterior means); evenly spaced ones by
    default.
    """
    watch = SILENT if watch is None else watch
    program = averages(probabilities, values, respondents, reference, groups, most_states, leave_out)
    cone = privacy_rows(program, epsilon)
    if actions is not None:
        grid = np.unique(np.asarray(actions, dtype=np.float64))
        if not len(grid):
            raise InputError("a decision needs at least one action", found="an empty list")
        found = solve(program, cone, grid, np.zeros(len(grid)), seconds)
        bound = bound_from_multipliers(program, cone, grid, found.multipliers, real=False)
        return QuotientBound(max(0.0, bound), found.status, program, grid, found.multipliers)

    return _real_actions(program, cone, targets, time.monotonic() + seconds, watch)


def _real_actions(
    program: Averages, cone: sparse.csr_array, targets: Sequence[float] | None, ends: float, watch: Watch
) -> QuotientBound:
    """At most two programs: an even grid (unless targets are given), then knots at what its solution
    means."""
    low, high = float(program.statistics.min()), float(program.statistics.max())
    mean = float(program.masses @ program.statistics) / float(program.masses.sum())
    spread = math.sqrt(float(program.masses @ (program.statistics - mean) ** 2))
    ends_only = np.array([low, high])
    nothing = np.zeros((2, 2 * len(program.rows)))
    best = QuotientBound(0.0, "not solved", program, ends_only, nothing)
    if high == low:
        return best

    def attempt(knots: Floats, reach: Floats) -> Solution:
        nonlocal best
        found = solve(program, cone, knots, reach, max(0.0, ends - time.monotonic()))
        bound = bound_from_multipliers(program, cone, knots, found.multipliers, real=True)
        if bound > best.lower_bound or best.status == "not solved":
            best = QuotientBound(max(0.0, bound), found.status, program, knots, found.multipliers)
        watch.report(stage="quotient bound", bound=-best.lower_bound)
        return found

    if targets is None:
        grid = np.linspace(low, high, math.ceil((high - low) * EVEN / spread) + 1)
        joint = attempt(grid, np.zeros(len(grid))).kernel * program.masses
        played = joint.sum(axis=1)
        used = played > 1e-5
        means, weights = (joint @ program.statistics)[used] / played[used], played[used]
    else:
        means = np.asarray(targets, dtype=np.float64)
        weights = np.ones(len(means))
    if len(means) and time.monotonic() < ends and not watch.cancelled():
        attempt(*place_knots(clustered(means, weights, spread / 16), low, high, spread / 12))
    return best


def privacy_rows(program: Averages, epsilon: float) -> sparse.csr_array:
    """G: for each averaged inequality the rows e^eps avg - mbar(s) (zero when incomplete) and e^eps mbar(s) - avg."""
    from scipy import sparse

    q = math.exp(epsilon)
    at, to, weight = [], [], []
    for k, each in enumerate(program.rows):
        for row, own, other in ((2 * k, -1.0, q), (2 * k + 1, q, -1.0)):
            if row % 2 or each.complete:
                at += [row] * (1 + len(each.before))
                to += [each.state, *each.before]
                weight += [own, *(other * w for w in each.weights)]
    shape = (2 * len(program.rows), program.size)
    return sparse.csr_array(sparse.coo_array((weight, (at, to)), shape=shape))


def bound_from_multipliers(
    program: Averages, cone: sparse.csr_array, grid: Floats, multipliers: Floats, real: bool
) -> float:
    """The lower bound that these multipliers [action, row] prove, rounding subtracted; negative ones count as
    zero."""
    f = np.maximum(np.nan_to_num(multipliers, nan=0.0, posinf=0.0), 0.0)
    pi, omega = program.masses, program.statistics
    losses = pi[None, :] * (grid[:, None] - omega[None, :]) ** 2
    priced = np.asarray((cone.T @ f.T).T)
    magnitude = np.asarray((abs(cone).T @ f.T).T) + losses
    bracket = losses - priced - 4.0 * program.error * magnitude
    least = bracket.min(axis=0)
    if real:
        if grid[0] > omega.min() or grid[-1] < omega.max():
            raise InputError("the knots must cover the statistic", found=f"{grid[0]}..{grid[-1]}")
        least = least_between(bracket, grid, pi)
    slack = 64.0 * 2.0**-53 * float(np.abs(least).sum())
    return math.fsum(least) - slack


def solve(program: Averages, cone: sparse.csr_array, grid: Floats, reach: Floats, seconds: float) -> Solution:
    """Solve by HiGHS's interior point without crossover; playing grid[k] is rewarded by reach[k]^2."""
    import highspy
    from scipy import sparse

    n, k, m = program.size, len(grid), cone.shape[0]
    mean = float(program.masses @ program.statistics)
    scale = 1.0 / max(1e-300, float(program.masses @ (program.statistics - mean) ** 2))
    losses = (grid[:, None] - program.statistics[None, :]) ** 2 - reach[:, None] ** 2
    cost = (program.masses[None, :] * losses).ravel() * scale
    matrix = sparse.csc_array(
        sparse.vstack(
            [sparse.kron(sparse.eye_array(k), cone), sparse.kron(np.ones((1, k)), sparse.eye_array(n))]
        )
    )
    lp: Any = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = k * n, k * m + n
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = np.zeros(k * n), np.full(k * n, highspy.kHighsInf)
    lp.row_lower_ = np.concatenate([np.zeros(k * m), np.ones(n)])
    lp.row_upper_ = np.concatenate([np.full(k * m, highspy.kHighsInf), np.ones(n)])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("threads", 1),
        ("time_limit", float(seconds)),
        ("ipm_optimality_tolerance", 1e-9),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    solver.run()
    answer = solver.getSolution()
    dual, primal = (np.asarray(x, dtype=np.float64) for x in (answer.row_dual, answer.col_value))
    status = str(solver.modelStatusToString(solver.getModelStatus()))
    if len(dual) != k * m + n or len(primal) != k * n:
        return Solution(np.zeros((k, m)), np.zeros((k, n)), status)
    kernel = np.maximum(np.nan_to_num(primal.reshape(k, n)), 0.0)
    return Solution(dual[: k * m].reshape(k, m) / scale, kernel, status)
