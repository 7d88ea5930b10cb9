"""Noise that is unbiased as it stands, and its variance: what people add who want to add up.

`geometric`  f(k) ∝ r^|k| on the statistic in whole units, r just not below e^(−ε/Δ); variance 2r/(1−r)²
`staircase`  f(k) ∝ e^(−ε·⌊(|k| + Δ − m)/Δ⌋), the plateau m in 1..Δ chosen for the least variance

Outputs are finite. Beyond the range of the statistic the noise has forgotten where it started: the geometric falls by r with each
unit, the staircase by e^(−ε) with each Δ, whatever the total. So all outputs beyond an end (of the same remainder modulo Δ for the
staircase) are one, read as their common mean, and every total stays exactly unbiased. Nothing is clamped.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.design.program.listed import label_of
from discreet.design.program.means import FINE, Scale, exact_means
from discreet.design.proposal import Proposal
from discreet.design.schedule import SECONDS_PER_STAIR_ENTRY
from discreet.errors import InputError, TooLarge
from discreet.mechanisms.staircase import DiscreteStaircase, best_plateau
from discreet.model.actions import RealActions
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.states import state_space
from discreet.numerics.brackets import rational_above_exp

RATIO_BITS = 80
MOST_OUTPUTS = 200_001
"""Outputs of geometric noise, each with the number that it is read as."""
MOST_TOTALS = 400
"""Totals of a staircase that is written out as a table."""
NOISES = ("geometric", "staircase")


def why_not_noise(problem: Problem) -> str | None:
    """Why no noise on the statistic gives unbiased values here, in words; None when it does."""
    if statistic_lattice(problem) is None:
        return "the statistic is no sum, mean or count"
    decisions = problem.decisions
    free = all(isinstance(d.actions, RealActions) and d.actions.lower is None for d in decisions)
    if len(decisions) > 1 or not isinstance(decisions[0].loss, SquaredLoss) or not free:
        return "unbiased values are for one squared error on all real numbers"
    return None if problem.epsilon > 0 else "at ε = 0 nothing may be told"


def unbiased_noise(problem: Problem, name: str) -> Proposal:
    """The noise of this name as an exact mechanism for a problem."""
    if name not in NOISES:
        raise InputError("No noise has this name", found=name, allowed=NOISES, remedy="choose one of these, or name a file")
    reason = why_not_noise(problem)
    if reason is not None:
        raise InputError(
            "This noise does not fit the problem",
            found=reason,
            allowed="a sum, mean or count, squared error, real actions, ε > 0",
            remedy="compare with a mechanism file",
        )
    return geometric_noise(problem) if name == "geometric" else staircase_noise(problem)


def geometric_noise(problem: Problem) -> Proposal:
    """Geometric noise on the statistic in closed form; the ends are read as the means of the tails they hold."""
    lattice, step = _lattice(problem)
    low, high = lattice.summary.range(problem.people)
    if high - low >= MOST_OUTPUTS:
        raise TooLarge(
            "The statistic has too many values to say how each output is read",
            size=f"{high - low + 1:,} values",
            fits=f"{MOST_OUTPUTS:,}",
            remedy="use coarser values or fewer respondents",
        )
    ratio = rational_above_exp(-problem.epsilon / step, RATIO_BITS)
    beyond = ratio / (1 - ratio)
    high = max(high, low + 1)
    places = [low - beyond, *map(Fraction, range(low + 1, high)), high + beyond]
    actions = tuple(lattice.origin + lattice.unit * place for place in places)
    kernel = GeometricKernel(low, high, step, ratio, actions)
    return Proposal(lattice.summary, kernel, None, "geometric noise, its ends read as what they stand for", "optimal")


def staircase_noise(problem: Problem) -> Proposal:
    """Staircase noise on the statistic as an exact table."""
    lattice, step = _lattice(problem)
    space = state_space(problem.universe, problem.neighbours, lattice.summary)
    totals = [int(v) for v in space.vectors[:, 0]]
    if totals[-1] - totals[0] > MOST_TOTALS:
        raise TooLarge(
            "The statistic has too many values for a table of staircase noise",
            size=f"{totals[-1] - totals[0] + 1:,} values",
            fits=f"{MOST_TOTALS:,}",
            remedy="compare with geometric noise",
        )
    places = np.array(totals) - totals[0]
    width, ratio = int(places[-1]) + 1, exp(-float(problem.epsilon))
    plateau = best_plateau(problem.epsilon, step)
    outputs = np.arange(-step, width + step)
    stairs = (np.abs(outputs[:, None] - places[None, :]) + step - plateau) // step
    kernel = ratio ** stairs.astype(float)
    beyond = (outputs < 0) | (outputs >= width)
    kernel[beyond] /= 1 - ratio
    kernel /= kernel.sum(axis=0)
    read = outputs + step * ratio / (1 - ratio) * np.where(outputs < 0, -1.0, np.where(outputs >= width, 1.0, 0.0))
    fine, rows = _on_the_grid(read * (1 << FINE), kernel)
    scale = Scale(lattice.omega(totals[0]), lattice.unit, tuple(places.tolist()))
    at, weights, whole = exact_means(rows, fine, scale, space.edges, problem.epsilon)
    numbers = [scale.number(a) for a in at]
    table = TableKernel(space.labels, tuple(Output(label_of(a), a) for a in numbers), tuple(map(tuple, weights)), whole)
    return Proposal(lattice.summary, table, None, "staircase noise, its ends read as what they stand for", "optimal")


def staircase_seconds(problem: Problem) -> float:
    """A guess of what staircase noise takes as a table."""
    lattice, _ = _lattice(problem)
    low, high = lattice.summary.range(problem.people)
    return SECONDS_PER_STAIR_ENTRY * min(high - low, MOST_TOTALS) ** 2


def variance(problem: Problem, name: str) -> float:
    """The variance of noise of this name on the statistic, whatever the data."""
    lattice, step = _lattice(problem)
    unit = float(lattice.unit) ** 2 * float(problem.decision.weight)
    if name == "geometric":
        ratio = exp(-float(problem.epsilon) / step)
        return unit * 2 * ratio / (1 - ratio) ** 2
    return unit * DiscreteStaircase(problem.epsilon, step, best_plateau(problem.epsilon, step)).variance()


def _lattice(problem: Problem) -> tuple[StatisticLattice, int]:
    lattice = statistic_lattice(problem)
    assert lattice is not None, "asked before"
    return lattice, max(1, lattice.summary.step(problem.neighbours))


def _on_the_grid(read: np.ndarray, kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs between two fine units as a lottery between these, with the same mean."""
    below = np.floor(read)
    share = (read - below)[:, None]
    points = np.unique(np.concatenate([below, below + 1])).astype(np.int64)
    rows = np.zeros((len(points), kernel.shape[1]))
    np.add.at(rows, np.searchsorted(points, below.astype(np.int64)), (1 - share) * kernel)
    np.add.at(rows, np.searchsorted(points, below.astype(np.int64) + 1), share * kernel)
    kept = rows.max(axis=1) > 0
    return points[kept], rows[kept]
