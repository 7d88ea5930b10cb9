"""Lazily priced actions: solve on the likely ones, prove that the others cannot help, add those that can.

After solving on a set of actions, prices λ_h = min over it of (cost_a − Gᵀz_a)_h bound the optimum of that set.
An action outside needs multipliers f ≥ 0 with cost_a − Gᵀf ≥ λ.  What is cheap comes first (`pushes`, a neighbour's
multipliers, or two neighbours' combined), then `flows.price`; an action that has none is added.  The result carries
multipliers for every action of the program, so its bound covers them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from discreet.design.solver.flows import deficits, price
from discreet.design.solver.interior import Iterate, Point
from discreet.design.solver.layers import components, distances_from, neighbour_lists
from discreet.design.solver.program import (
    Floats,
    Integers,
    Program,
    Solution,
    dual_bound,
    pulled,
    reduced_cost,
    value_of,
)
from discreet.design.solver.pushes import pushed
from discreet.design.solver.seats import seated
from discreet.design.solver.solve import solve
from discreet.design.solver.threads import one_thread
from discreet.frozen import dataclass
from discreet.model.gap import size
from discreet.watch import Watch

FEW = 8
"""Programs with no more actions than this are solved at once."""

MOST_NEW = 16
"""How many violators join the program in one round, the worst first."""

LARGE, ROUGH = 6000, 1e-3
"""From so many actions × states on actions are first gathered, to this relative gap,"""

NOT_WORTH_PUSHING = 0.1
"""The share of a tolerance that pushing leaves where it is, over all states."""

HEAVIEST = 0.999
"""beginning also with what is best for the states that make up this share of what may be lost."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """The actions to begin with, and a point (x, s, z, λ) of the path of another program with the same graph and actions."""

    actions: Integers
    point: Point

    def placed(self, program: Program) -> Iterate:
        """Where the program with these actions begins."""
        found = Iterate(program)
        x, s, z, price = self.point
        found.point = x, s, z / found.scale, price / found.scale
        return found


@one_thread()
def solve_priced(
    program: Program,
    gap: float = 1e-6,
    watch: Watch | None = None,
    start: Integers | None = None,
    rounds: int = 12,
    beginning: Beginning | None = None,
) -> Solution:
    """Solve a program of many actions through a few; `start` are the actions to begin with, `beginning` also says where."""
    begun = time.perf_counter()
    connected = program.states > 1 and int(components(program.states, program.edges).max()) == 0
    if program.actions <= FEW or program.epsilon == 0.0 or not connected:
        return solve(program, gap, watch)
    in_company = seated() is not None
    state: Iterate | None = None
    if beginning is not None and not in_company:
        active, state = beginning.actions, beginning.placed(program.restricted(beginning.actions))
    else:
        active = likely_actions(program) if start is None else np.unique(np.asarray(start, dtype=np.int64))
        active = active if in_company else widened(program, active)
    best: Solution | None = None
    iterations = 0
    level = max(gap, ROUGH) if program.states * len(active) > LARGE and not in_company else gap
    for _ in range(rounds):
        chosen = program.restricted(active)
        state = Iterate(chosen) if state is None and not in_company else state
        part = solve(chosen, 0.7 * level, watch, state)
        iterations += part.iterations
        tolerance = 0.1 * level * size(part.value, part.bound)
        multipliers, violators = _price_others(program, active, part, tolerance, watch)
        kernel = np.zeros_like(program.cost)
        kernel[active] = part.kernel
        found = Solution(
            kernel,
            multipliers,
            value_of(program, kernel),
            dual_bound(program, multipliers),
            iterations,
            time.perf_counter() - begun,
            part.status,
        )
        best = found if best is None else merge(best, found)
        if watch is not None:
            watch.report(stage="pricing", value=best.value, bound=best.bound, seconds=best.seconds)
        if best.relative_gap <= gap or part.status == "cancelled" or (not violators.size and level <= gap):
            break
        # Rough rounds find the actions that matter at a third of the iterations; only then is precision worth it.
        level = level if violators.size else gap
        if violators.size:
            active, state = np.unique(np.concatenate([active, violators])), None
    assert best is not None
    return best


def widened(program: Program, active: Integers) -> Integers:
    """Some actions, and in a large program those that are best for one state: one that joins later begins the program anew."""
    return np.union1d(active, best_alone(program)) if program.states * len(active) > LARGE else active


def best_alone(program: Program) -> Integers:
    """Actions that are best for one of the heaviest states by itself.

    At the ends of a wide prior they are played though no ray looks so far out.
    """
    span = program.cost.max(axis=0) - program.cost.min(axis=0)
    order = np.argsort(-span, kind="stable")
    heaviest = order[: int(np.searchsorted(np.cumsum(span[order]), HEAVIEST * span.sum())) + 1]
    return np.unique(program.cost[:, heaviest].argmin(axis=0))


def likely_actions(program: Program, looks: int = 160, margin: int = 1) -> Integers:
    """Actions that are best after seeing a state through e^(−ε·distance), and their neighbours in the list."""
    span = program.cost.max(axis=0) - program.cost.min(axis=0)
    offsets, targets = neighbour_lists(program.states, program.edges)
    heavy = np.argsort(-span, kind="stable")[: np.count_nonzero(span > 1e-8 * span.max()) or 1]
    seen = heavy if len(heavy) <= looks else heavy[np.linspace(0, len(heavy) - 1, looks).astype(np.int64)]
    far = distances_from(program.states, offsets, targets, seen)
    chosen = set(np.argmin(program.cost @ np.exp(-program.epsilon * far.T), axis=0).tolist())
    wide = {a + shift for a in chosen for shift in range(-margin, margin + 1)}
    return np.array(sorted(a for a in wide if 0 <= a < program.actions), dtype=np.int64)


def _price_others(
    program: Program, active: Integers, part: Solution, tolerance: float, watch: Watch | None
) -> tuple[Floats, Integers]:
    """Multipliers for every action, and the actions for which none were found (worst first, a handful)."""
    prices = reduced_cost(program.restricted(active), part.multipliers).min(axis=0)
    multipliers = np.zeros((program.actions, 2 * len(program.edges)))
    multipliers[active] = part.multipliers
    left = np.ones(program.actions, dtype=bool)
    left[active] = False
    others = np.flatnonzero(left)
    if not others.size:
        return multipliers, others
    surplus = program.cost[others] - prices
    flows, missing = guessed(program, active, part, others, surplus, tolerance)
    refuted = np.zeros(0, dtype=np.int64)
    if (hard := np.flatnonzero(missing > tolerance)).size:
        weight = program.cost[active].max(axis=0) - program.cost[active].min(axis=0)
        priced = price(surplus[hard], program.edges, program.factor, tolerance, weight, watch)
        better = priced.deficit < missing[hard]
        flows[hard[better]] = priced.flow[better]
        below = np.flatnonzero(priced.ray_value < -tolerance)
        refuted = hard[below[np.argsort(priced.ray_value[below])]][:MOST_NEW]
    multipliers[others] = flows
    return multipliers, others[refuted]


def guessed(
    program: Program, active: Integers, part: Solution, others: Integers, surplus: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """Flows for each other action as pushing and its neighbours' multipliers give them, and what they leave missing."""
    flows, missing = np.zeros((len(others), 2 * len(program.edges))), deficits(surplus)
    least = NOT_WORTH_PUSHING * tolerance / program.states
    if (hard := np.flatnonzero(missing > tolerance)).size:
        _take(flows, missing, hard, pushed(surplus[hard], program.edges, program.factor, least), program, surplus)
    if (hard := np.flatnonzero(missing > tolerance)).size:
        for guess in _guesses(active, part, others[hard]):
            left = surplus[hard] - pulled(guess, program.edges, program.factor, program.states)
            _take(flows, missing, hard, guess + pushed(left, program.edges, program.factor, least), program, surplus)
            _take(flows, missing, hard, guess, program, surplus)
    return flows, missing


def _take(flows: Floats, missing: Floats, rows: Integers, found: Floats, program: Program, surplus: Floats) -> None:
    """Put those flows in place that leave less missing."""
    short = deficits(surplus[rows] - pulled(found, program.edges, program.factor, program.states))
    better = short < missing[rows]
    flows[rows[better]] = found[better]
    missing[rows[better]] = short[better]


def _guesses(active: Integers, part: Solution, others: Integers) -> Iterator[Floats]:
    """For each other action a neighbour's multipliers, another's, and two neighbours' line through it."""
    right = np.clip(np.searchsorted(active, others), 1, max(1, len(active) - 1))
    left = right - 1
    right = np.minimum(right, len(active) - 1)
    spread = np.maximum(active[right] - active[left], 1)
    share = ((others - active[left]) / spread)[:, None]
    low, high = part.multipliers[left], part.multipliers[right]
    yield low
    yield high
    yield np.maximum((1 - share) * low + share * high, 0.0)


def merge(one: Solution, two: Solution) -> Solution:
    """The better kernel and the better bound of two."""
    upper = two if two.value <= one.value else one  # what is no number is no better
    lower = two if two.bound >= one.bound else one
    return Solution(upper.kernel, lower.multipliers, upper.value, lower.bound, two.iterations, two.seconds, two.status)
