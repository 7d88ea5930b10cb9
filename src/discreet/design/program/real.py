"""A mechanism for real-valued actions: the continuum solver on the box of likely states, then exact rounding.

The witness's multipliers stand at action nodes that reach over the statistic's whole range; `certify` interpolates between them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from discreet.certify.duality.affine import AffinePayoff
from discreet.design.program.listed import (
    MOST_AT_ONCE,
    affordable_tolerance,
    exact_kernel,
    finer_tolerance,
    fits,
    solvable,
    spared,
    standing,
    truncated,
    wide_plan,
)
from discreet.design.program.sections import Ground, Section, ground
from discreet.design.program.thin_witness import dual_witness
from discreet.design.proposal import Proposal
from discreet.design.schedule import must_be_affordable
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.losses import UNBOUNDED, AffineLoss, Pinball, RealLoss, Smooth, SquaredError
from discreet.design.solver.program import Program
from discreet.design.solver.real import solve_real
from discreet.design.solver.repair import repair
from discreet.model.decision import Decision
from discreet.model.expression import Node, derivative
from discreet.model.gap import size
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.problem import Problem
from discreet.model.replies import best_for_means, best_replies
from discreet.watch import SILENT, Watch

NODES = 50
"""Actions of a program for real ones, about, before it is refined: a box that is solved roughly is better than one that is not."""
COARSE = 240
"""Actions of the grid that judges how much each state matters when the box is chosen."""


def continuous(problem: Problem, gap: float, watch: Watch = SILENT) -> Proposal:
    """The best mechanism for a single loss with real actions, to a relative gap."""
    base = ground(problem)
    decision = problem.decision
    table = coarse(base)
    epsilon = solvable(problem.epsilon)
    wide = None
    if isinstance(decision.loss, SquaredLoss) and problem.exchangeable and decision.interval.lower is None:
        wide = wide_plan(base, table, None, gap, NODES, watch)
    tolerance = affordable_tolerance(base, table, gap, NODES, watch) if wide is None else 0.0
    while True:
        section = truncated(base, table, tolerance) if wide is None else wide.section
        loss = real_loss(decision, base.masses[section.inside], base.omegas[section.inside])
        if wide is not None and isinstance(loss, SquaredError):
            found = wide.solve_real(loss, watch)
            kernel = joined(found.kernel, loss, 0.02 * wide.goal * float(size(found.value)))
        else:
            must_be_affordable(MOST_AT_ONCE, len(section.space), section.dimensions, watch)
            found = solve_real(loss, section.space.edges, float(epsilon), 0.6 * gap, watch)
            kernel = repair(found.kernel, Program(loss.cost(found.actions), section.space.edges, float(epsilon)))
            if isinstance(loss, SquaredError):
                kernel = joined(kernel, loss, 0.02 * gap * float(size(found.value)))
        kernel, actions = merged(kernel, best_actions(section, kernel))
        numbers = np.array([float(a) for a in actions])
        cost = float(decision.weight) * section.upper(decision.loss.table(numbers, values_of(base)))
        value = float((cost * kernel).sum())
        if wide is not None:
            break
        clamped = value - float((loss.cost(numbers) * kernel).sum()) - section.lower(table)[1]
        finer = finer_tolerance(section, table, tolerance, clamped, gap * float(size(value)), watch)
        if finer is None or not fits(truncated(base, table, finer), NODES, watch):
            break
        tolerance = finer
    spare = spared(gap, value, found.bound)
    rounded = exact_kernel(section, kernel, list(actions), cost, epsilon, spare)
    nodes, flows = reaching(found, needed(problem))
    witness = dual_witness(section, list(nodes), standing(flows, problem.epsilon), float(epsilon), spare, chord=True)
    return Proposal(section.summary, rounded, witness, "program on all states, real actions", found.status)


def needed(problem: Problem) -> tuple[Fraction, Fraction]:
    """Between these no real action can be left out: the ends of the statistic's range, or the allowed actions next to them."""
    actions = problem.decision.interval
    if not problem.decision.is_loss and actions.lower is not None and actions.upper is not None:
        return actions.lower, actions.upper
    low, high = problem.omega_range
    return actions.nearest(low), actions.nearest(high)


def reaching(found: Continuum, ends: tuple[Fraction, Fraction]) -> tuple[list[Fraction], np.ndarray]:
    """The nodes and their multipliers, with those at either end repeated at the ends of what is needed."""
    nodes = [Fraction(float(a)) for a in found.nodes]
    flows = found.multipliers
    if nodes[0] > ends[0]:
        nodes, flows = [ends[0], *nodes], np.vstack([flows[:1], flows])
    if nodes[-1] < ends[1]:
        nodes, flows = [*nodes, ends[1]], np.vstack([flows, flows[-1:]])
    return nodes, flows


def coarse(base: Ground) -> np.ndarray:
    """The loss [action, ω] on a grid of actions, the best for each ω among them where these are few."""
    decision, values = base.problem.decision, values_of(base)
    low, high = map(float, needed(base.problem))
    if decision.is_loss:
        grid = np.interp(np.linspace(0, 1, COARSE), np.linspace(0, 1, len(values)), values)
        grid = np.unique(np.clip(np.concatenate([grid, values[: COARSE * (len(values) <= COARSE)]]), low, high))
    else:
        grid = np.linspace(low, high, COARSE)
    return np.asarray(float(decision.weight) * decision.loss.table(grid, values))


def values_of(base: Ground) -> np.ndarray:
    return np.array([float(w) for w in base.exact_omegas])


def real_loss(decision: Decision, masses: np.ndarray, omegas: np.ndarray) -> RealLoss:
    """The decision's loss as the continuum solver wants it, states weighted by their mass."""
    loss, actions = decision.loss, decision.interval
    if not isinstance(loss, DistanceLoss):
        return _affine_loss(decision, float(decision.weight) * masses, omegas)
    ends = UNBOUNDED
    if actions.lower is not None and actions.upper is not None:
        ends = (float(actions.lower), float(actions.upper))
    weight = float(decision.weight)
    if loss.quantile is None:
        return SquaredError(weight * masses, omegas, ends)
    return Pinball(masses, omegas, float(loss.quantile), loss.pinballs * weight, ends)


def _affine_loss(decision: Decision, masses: np.ndarray, omegas: np.ndarray) -> AffineLoss:
    AffinePayoff.of(decision)  # what no bound could be proved for is not designed either
    f, g = map(_smooth, decision.formula.parts or ())
    low, high = map(float, decision.interval.ends)
    return AffineLoss(masses, omegas, f, g, low, high, partial(best_for_means, decision))


def _smooth(part: Node) -> Smooth:
    """A part of a payoff with its first two derivatives."""
    first = derivative(part, "a")
    second = None if first is None else derivative(first, "a")
    assert first is not None and second is not None, "a part without kinks has derivatives"
    nodes = (part, first, second)
    value, slope, bend = (lambda a, node=node: np.asarray(node({"a": a}), dtype=np.float64) for node in nodes)
    return value, slope, bend


def best_actions(section: Section, kernel: np.ndarray) -> list[Fraction]:
    """Each output's best reply on the whole universe, clamped states included."""
    base = section.ground
    joint = np.zeros((len(section.space), len(base.exact_omegas)))
    np.add.at(joint, (section.image, base.column), base.masses)
    replies = best_replies(base.problem.decision, kernel @ joint, base.exact_omegas)
    return [a for a in replies.actions if isinstance(a, Fraction)]


def merged(kernel: np.ndarray, actions: list[Fraction]) -> tuple[np.ndarray, list[Fraction]]:
    """Outputs with the same reply become one."""
    distinct = sorted(set(actions))
    place = {a: i for i, a in enumerate(distinct)}
    table = np.zeros((len(distinct), kernel.shape[1]))
    np.add.at(table, [place[a] for a in actions], kernel)
    return table, distinct


def joined(kernel: np.ndarray, loss: SquaredError, spare: float) -> np.ndarray:
    """Fewer outputs: those with nearly the same posterior mean become one, the cheapest neighbours first, for `spare` in all.

    Joining masses p and q with means at distance d costs p·q/(p + q)·d²; sums of private rows are private.
    """
    weight = kernel * loss.prior
    mass = weight.sum(axis=1)
    order = np.argsort(weight @ loss.omega / np.maximum(mass, np.finfo(float).tiny), kind="stable")
    rows = [(kernel[k], float(mass[k]), float(weight[k] @ loss.omega)) for k in order.tolist()]

    def price(k: int) -> float:
        (_, p, first), (_, q, second) = rows[k], rows[k + 1]
        return p * q / (p + q) * (first / p - second / q) ** 2 if p > 0 and q > 0 else 0.0

    prices = [price(k) for k in range(len(rows) - 1)]
    while prices and min(prices) <= spare:
        k = int(np.argmin(prices))
        spare -= prices[k]
        rows[k : k + 2] = [(rows[k][0] + rows[k + 1][0], rows[k][1] + rows[k + 1][1], rows[k][2] + rows[k + 1][2])]
        del prices[k]
        for other in (k - 1, k):
            if 0 <= other < len(prices):
                prices[other] = price(other)
    return np.stack([row for row, _, _ in rows])
