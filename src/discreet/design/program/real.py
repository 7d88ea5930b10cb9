"""A mechanism for real-valued actions: the continuum solver on the box of likely states, then exact rounding.

The witness's multipliers stand at action nodes that reach over the statistic's whole range; `certify` interpolates between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from discreet.design.program.thin_witness import dual_witness, for_thinning
from discreet.design.program.wide import WidePlan, at_the_pace_of_the_machine
from discreet.design.proposal import Proposal
from discreet.design.schedule import must_be_affordable
from discreet.design.solver.continuum import Continuum
from discreet.design.solver.losses import UNBOUNDED, AffineLoss, Pinball, RealLoss, Smooth, SquaredError
from discreet.design.solver.program import Program
from discreet.design.solver.real import solve_real
from discreet.design.solver.repair import repair
from discreet.design.solver.stride import Timing
from discreet.design.watchdog import Keep, forget
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


def continuous(problem: Problem, gap: float, watch: Watch = SILENT, keep: Keep[Proposal] = forget) -> Proposal:
    """The best mechanism for a single loss with real actions, to a relative gap; `keep` is handed the best so far."""
    base, decision, table = ground(problem), problem.decision, coarse(ground(problem))

    def hold(best: Callable[[], _RealSection]) -> None:
        keep(lambda: best().proposed(gap, watch))

    def plan(pace: float = 1.0) -> WidePlan | None:
        return wide_plan(base, table, None, gap, NODES, watch, pace)

    if isinstance(decision.loss, SquaredLoss) and problem.exchangeable and decision.interval.lower is None:
        wide = plan()
        if wide is not None:
            return at_the_pace_of_the_machine(wide, plan, partial(_on_windows, watch), watch, hold).proposed(gap, watch)
    tolerance = affordable_tolerance(base, table, gap, NODES, watch)
    while True:
        section = truncated(base, table, tolerance)
        must_be_affordable(MOST_AT_ONCE, len(section.space), section.dimensions, watch)
        best = _on_all_states(section, gap, watch, hold)
        hold(partial(replace, best))
        clamped = best.value - best.inside - section.lower(table)[1]
        finer = finer_tolerance(section, table, tolerance, clamped, gap * float(size(best.value)), watch)
        if finer is None or not fits(truncated(base, table, finer), NODES, watch):
            return best.proposed(gap, watch)
        tolerance = finer


def _on_all_states(section: Section, gap: float, watch: Watch, keep: Keep[_RealSection]) -> _RealSection:
    """The program on all states of a section, solved."""
    base, edges, epsilon = section.ground, section.space.edges, float(solvable(section.ground.problem.epsilon))
    loss = real_loss(base.problem.decision, base.masses[section.inside], base.omegas[section.inside])

    def read(found: Continuum) -> _RealSection:
        kernel = repair(found.kernel, Program(loss.cost(found.actions), edges, epsilon))
        return _RealSection.of(section, loss, found, kernel, gap)

    return read(solve_real(loss, edges, epsilon, 0.6 * gap, watch, lambda so_far: keep(lambda: read(so_far()))))


def _on_windows(watch: Watch, wide: WidePlan, timing: Timing, keep: Keep[_RealSection]) -> _RealSection:
    """The program of a plan, solved."""
    section, base = wide.section, wide.section.ground
    loss = real_loss(base.problem.decision, base.masses[section.inside], base.omegas[section.inside])
    assert isinstance(loss, SquaredError)

    def read(found: Continuum) -> _RealSection:
        return _RealSection.of(section, loss, found, found.kernel, wide.goal)

    return read(wide.solve_real(loss, watch, timing, lambda so_far: keep(lambda: read(so_far()))))


@dataclass(frozen=True, eq=False)
class _RealSection:
    """A section solved for real actions: a kernel with its best replies, and what that loses with every state counted."""

    section: Section
    found: Continuum
    kernel: np.ndarray
    actions: list[Fraction]
    cost: np.ndarray
    value: float
    inside: float
    """The same on the states of the section alone."""

    @classmethod
    def of(cls, section: Section, loss: RealLoss, found: Continuum, kernel: np.ndarray, gap: float) -> _RealSection:
        """What was found, with outputs joined that are nearly the same."""
        base, decision = section.ground, section.ground.problem.decision
        if isinstance(loss, SquaredError):
            kernel = joined(kernel, loss, 0.02 * gap * float(size(found.value)))
        kernel, actions = merged(kernel, best_actions(section, kernel))
        numbers = np.array([float(a) for a in actions])
        cost = float(decision.weight) * section.upper(decision.loss.table(numbers, values_of(base)))
        inside = float((loss.cost(numbers) * kernel).sum())
        return cls(section, found, kernel, actions, cost, float((cost * kernel).sum()), inside)

    @property
    def open(self) -> float:
        """How much of what is lost is not known to be necessary, states outside the section included."""
        return self.value - self.found.bound

    def proposed(self, gap: float, watch: Watch) -> Proposal:
        """The same in whole numbers."""
        section, found, problem = self.section, self.found, self.section.ground.problem
        epsilon, spare = solvable(problem.epsilon), spared(gap, self.value, found.bound)
        rounded = exact_kernel(section, self.kernel, list(self.actions), self.cost, epsilon, spare)
        nodes, flows = reaching(found, needed(problem))
        flows = standing(flows, problem.epsilon)
        witness = dual_witness(section, list(nodes), flows, float(epsilon), spare, chord=True, watch=for_thinning(watch))
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
