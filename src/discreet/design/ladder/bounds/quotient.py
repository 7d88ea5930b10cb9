"""The quotient lower bound: a linear program over (x, omega) that every private mechanism obeys on average.

Any epsilon-DP mechanism m, averaged over the histograms with the same state s, satisfies the inequalities of
`averaged`; its expected loss depends on the average alone, because omega is part of s.  So the least loss
over all kernels that satisfy the averaged inequalities,

    min sum_s pi(s) sum_a loss(a, omega(s)) mbar(a|s),   sum_a mbar(a|s) = 1,   G mbar(a|.) >= 0 for every a,

is a lower bound.  Its size hardly depends on T.

The bound that is returned comes from multipliers f_a >= 0, not from the solver's objective:

    bound = sum_s min_a [ pi(s) loss(a, omega(s)) - (G' f_a)(s) ].

Whatever f is, it is valid (weak duality).  States left out contribute at least zero; rows that need them are
left out, which enlarges the program.

Listed actions, and values of omega under absolute and pinball errors, are the knots of one program (`stakes`).

Real actions (squared error).  The program is solved at knots with rewards and the bracket is minimised over
all real actions between them (`knots`); outside, the end's f serves, as the knots cover all kept values of
omega.  Where the optimum plays is not known beforehand: a first program on an even grid tells, and the
posterior means of its solution become the targets of the second.  The better bound is returned.  With thousands of states
the knots are dense instead, and the program is solved by first-order steps (`averaged_steps`).

Rounding.  Each coefficient of G and pi has relative error at most `error`; eta times the bracket with
absolute values, where eta = 4 error, is subtracted before the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.ladder.bounds.averaged import Averages
from discreet.design.ladder.bounds.averaged_solver import Averaged, solve_averaged
from discreet.design.ladder.bounds.averaged_steps import SQUARED, step_down
from discreet.design.ladder.bounds.knots import WITHIN, clustered, dense_knots, place_knots
from discreet.design.ladder.bounds.stakes import Stakes, deviation
from discreet.design.schedule import SECONDS_PER_STEP, now
from discreet.errors import InputError
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from scipy import sparse


STEPS = 3_000
"""Knots are as dense as so many steps allow."""
FEWEST_KNOTS, MOST_KNOTS, OUTER = 28, 80, 8
EVEN = 6
"""Points per standard deviation of omega in the even grid of the first program."""


@dataclass(frozen=True)
class QuotientBound:
    """A lower bound on the expected error with the multipliers [action, row] that prove it."""

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


def quotient_bound_of(
    program: Averages,
    epsilon: float,
    targets: Sequence[float] | None = None,
    gap: float = 1e-6,
    seconds: float = 60.0,
    watch: Watch = SILENT,
    stakes: Stakes = SQUARED,
) -> QuotientBound:
    """The bound by interior point: hundreds of states, five digits."""
    cone = privacy_rows(program, epsilon)
    if stakes.nodes is None:
        return _real_actions(program, cone, targets, gap, now() + seconds, watch, stakes)
    found = solve(program, cone, stakes.nodes, np.zeros(len(stakes.nodes)), stakes, gap, seconds, watch)
    bound = bound_from_multipliers(program, cone, stakes.nodes, found.multipliers, stakes)
    return QuotientBound(max(0.0, bound), found.status, program, stakes.nodes, found.multipliers)


def large_quotient_bound(
    program: Averages, epsilon: float, loss: float, gap: float, seconds: float, watch: Watch = SILENT, stakes: Stakes = SQUARED
) -> QuotientBound:
    """The bound by first-order steps: thousands of states, three digits.

    `loss` is that of a good mechanism; knots are dense where it plays.
    """
    cone, knots = privacy_rows(program, epsilon), stakes.nodes
    if knots is None:
        centre, spread = deviation(program.masses, program.statistics, stakes, loss)
        low, high = float(program.statistics.min()), float(program.statistics.max())
        affordable = seconds / (STEPS * SECONDS_PER_STEP * program.size)
        inner = min(max(affordable - OUTER, FEWEST_KNOTS), MOST_KNOTS)
        knots = dense_knots(centre, spread, low, high, 2 * WITHIN * spread / inner)

    def bound_of(multipliers: Floats) -> float:
        return bound_from_multipliers(program, cone, knots, multipliers, stakes)

    found = step_down(program, cone, knots, bound_of, seconds, gap, watch, stakes)
    return QuotientBound(found.bound, f"{found.steps} steps", program, knots, found.multipliers)


def _real_actions(
    program: Averages,
    cone: sparse.csr_array,
    targets: Sequence[float] | None,
    gap: float,
    ends: float,
    watch: Watch,
    stakes: Stakes,
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

    def attempt(knots: Floats, reach: Floats, gap: float) -> Averaged:
        nonlocal best
        found = solve(program, cone, knots, reach, stakes, gap, max(0.0, ends - now()), watch)
        bound = bound_from_multipliers(program, cone, knots, found.multipliers, stakes)
        if bound > best.lower_bound or best.status == "not solved":
            best = QuotientBound(max(0.0, bound), found.status, program, knots, found.multipliers)
        watch.report(stage="quotient bound", bound=-best.lower_bound)
        return found

    if targets is None:
        grid = np.linspace(low, high, math.ceil((high - low) * EVEN / spread) + 1)
        joint = attempt(grid, np.zeros(len(grid)), 1e-3).kernel * program.masses
        played = joint.sum(axis=1)
        used = played > 1e-5
        means, weights = (joint @ program.statistics)[used] / played[used], played[used]
    else:
        means = np.asarray(targets, dtype=np.float64)
        weights = np.ones(len(means))
    if len(means) and now() < ends and not watch.cancelled():
        attempt(*place_knots(clustered(means, weights, spread / 16), low, high, spread / 12), gap)
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


def bound_from_multipliers(program: Averages, cone: sparse.csr_array, grid: Floats, multipliers: Floats, stakes: Stakes) -> float:
    """The lower bound that these multipliers [action, row] prove, rounding subtracted; negative ones count as
    zero."""
    f = np.maximum(np.nan_to_num(multipliers, nan=0.0, posinf=0.0), 0.0)
    pi, omega = program.masses, program.statistics
    losses = pi[None, :] * stakes.costs(grid, omega)
    priced = np.asarray((cone.T @ f.T).T)
    magnitude = np.asarray((abs(cone).T @ f.T).T) + losses
    bracket = losses - priced - 4.0 * program.error * magnitude
    if not stakes.listed and (grid[0] > omega.min() or grid[-1] < omega.max()):
        raise InputError("the knots must cover the statistic", found=f"{grid[0]}..{grid[-1]}")
    least = stakes.least(bracket, grid, pi, omega)
    slack = 64.0 * 2.0**-53 * float(np.abs(least).sum())
    return math.fsum(least) - slack


def solve(
    program: Averages,
    cone: sparse.csr_array,
    grid: Floats,
    reach: Floats,
    stakes: Stakes,
    gap: float,
    seconds: float,
    watch: Watch,
) -> Averaged:
    """The interior point; playing grid[k] is rewarded by reach[k]^2."""
    losses = stakes.costs(grid, program.statistics) - reach[:, None] ** 2

    def bound_of(multipliers: Floats) -> float:
        return bound_from_multipliers(program, cone, grid, multipliers, stakes)

    return solve_averaged(cone, program.masses[None, :] * losses, bound_of, gap, seconds, watch)
