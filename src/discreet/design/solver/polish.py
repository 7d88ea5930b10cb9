"""Actions that move while their program is solved: a local optimum over kernels and finitely many real actions at once.

The program on fixed actions and the best action of each output (its posterior optimum) improve the same value, so they
are taken in turn. Solving a program anew for every turn wastes what the last one knew: here each step of the interior point is
followed by moving every action to the posterior optimum of its row, which changes costs by less and less. Actions that
meet are joined, those that nobody plays are dropped. At the end they stand still and the program on them is solved to
the gap. This proposes; `continuum.prove` bounds.
"""

from __future__ import annotations

import numpy as np

from discreet.design.schedule import time_left
from discreet.design.solver.interior import LIMIT, Iterate, interior_point
from discreet.design.solver.losses import RealLoss
from discreet.design.solver.program import Floats, Integers, Program, Solution
from discreet.design.solver.solve import solve
from discreet.design.solver.threads import one_thread
from discreet.model.gap import relative_gap
from discreet.watch import Watch

START = 3e-4
"""Relative gap from which on rows tell their actions apart; before it all would move to the prior's optimum."""

NEAR = 0.02
"""Actions nearer to each other than this share of the usual distance are joined."""

UNPLAYED = 1e-2
"""An action is dropped when its probability is below this share of the gap,"""

SELDOM = 1e-5
"""and of this much even while the gap is wide: seldom played actions serve rare states with large losses."""


@one_thread()
def polish(
    loss: RealLoss, edges: Integers, epsilon: float, actions: Floats, gap: float, watch: Watch | None
) -> tuple[Floats, Solution]:
    """Actions at the posterior optima of their own kernel, which solves the program on them to a relative gap."""
    if len(actions) > 1:
        actions, state = moved_along(loss, edges, epsilon, actions, gap, watch)
        if len(actions) > 1:
            found = interior_point(Program(loss.cost(actions), edges, epsilon), gap, watch, start=state)
            if found.relative_gap <= gap or found.status == "cancelled":
                return actions, found
    return actions, solve(Program(loss.cost(actions), edges, epsilon), gap, watch)


def moved_along(
    loss: RealLoss, edges: Integers, epsilon: float, actions: Floats, gap: float, watch: Watch | None
) -> tuple[Floats, Iterate]:
    """Follow the path while actions move, until neither the gap nor a move is worth another step."""
    state = Iterate(Program(loss.cost(actions), edges, epsilon))
    for _ in range(LIMIT):
        value = state.value()
        relative = relative_gap(value, state.bound())
        if watch is not None:
            watch.report(stage="moving actions", value=value)
            if watch.cancelled() or state.step_seconds > time_left(watch):
                break
        if relative < START:
            groups, moved = regrouped(loss, state.kernel, min(max(relative, gap), SELDOM))
            before = loss.cost(actions)
            settled = len(moved) == len(actions)
            actions = moved
            state.gather(groups, loss.cost(actions))
            if len(actions) == 1:
                break
            if settled and relative <= gap:
                gained = float(np.sum(state.kernel * (before - loss.cost(actions))))
                if gained <= 0.05 * gap * abs(value):
                    break
        with np.errstate(all="ignore"):
            if not state.advance():
                break
    return actions, state


def regrouped(loss: RealLoss, kernel: Floats, level: float) -> tuple[Integers, Floats]:
    """The group of each row (−1: dropped) and the groups' actions: posterior optima, those that meet joined."""
    mass = kernel @ loss.prior
    used = np.flatnonzero(mass > UNPLAYED * level * mass.sum())
    best = np.clip(loss.best(kernel[used]), loss.low, loss.high)
    order = np.argsort(best, kind="stable")
    near = NEAR * spacing(best)
    groups = np.full(len(kernel), -1, dtype=np.int64)
    places: list[float] = []
    weights: list[float] = []
    for k in order:
        at, weight = float(best[k]), float(mass[used[k]])
        if places and at - places[-1] < near:
            places[-1] = (places[-1] * weights[-1] + at * weight) / (weights[-1] + weight)
            weights[-1] += weight
        else:
            places.append(at)
            weights.append(weight)
        groups[used[k]] = len(places) - 1
    return groups, np.array(places)


def spacing(actions: Floats) -> float:
    """Typical distance between used actions."""
    return float(np.median(np.diff(np.sort(actions)))) if len(actions) > 1 else 1.0
