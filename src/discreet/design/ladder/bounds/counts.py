"""Multipliers of the program that is left where a few counts are unknown (`certify.bounds.counts`): coins, dice and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1

import numpy as np

from discreet.certify.bounds.coins import coins_stage, unknown_to_all
from discreet.certify.bounds.counts import UnknownCounts
from discreet.certify.duality.pulls import PullStage
from discreet.design.ladder.bounds.likeliest import likely
from discreet.design.program.real import reaching, real_loss
from discreet.design.program.sections import Recommendation
from discreet.design.program.thin_witness import whole_multipliers
from discreet.design.schedule import Until
from discreet.design.solver.graph_cells import solve_graph_cells
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Integers, Program
from discreet.design.solver.real import solve_real
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import CoinsWitness, Multipliers, TypeDie
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.model.replies import loss_table
from discreet.watch import SILENT, Watch

GAP = 1e-3
"""How near the program of coins is solved."""
ROUGHLY, FEW_STATES = 2.5e-3, 200
"""From this gap on actions have windows where states are more: that proves half a per cent less than all states, much sooner."""
COARSE = 4.0
"""From this variance of geometric noise on, in squared steps of a list, its actions are real ones there: a list takes too long, and
rounding adds at most a quarter of a squared step."""
ROUNDED = 1e-5
"""The share of the bound that rounding its multipliers may take."""

Solved = tuple[float, int, tuple[Multipliers, ...]]
"""A bound, and the scale and multipliers that prove it."""


def solve_counts(
    problem: Problem,
    unknown: UnknownCounts,
    stage: PullStage,
    gap: float,
    until: Watch,
    kept: Integers | None = None,
    led: bool = False,
    numbers: Sequence[int] | None = None,
) -> Solved:
    """The best multipliers found in time between the states, or between some: a state without any counts as no loss.

    `led` says that there are hardly any dead ends (`solve_graph_cells`); a file has these `numbers` for the states of the stage.
    """
    kept = np.arange(len(stage.omegas)) if kept is None else kept
    omegas = [stage.omegas[h] for h in kept]
    masses, reads = np.array([float(stage.masses[h]) for h in kept]), np.array([float(omega) for omega in omegas])
    place = np.full(len(stage.omegas), -1)
    place[kept] = np.arange(len(kept))
    edges = place[np.array(sorted(stage.edges), dtype=np.int64).reshape(-1, 2)]
    edges = edges[(edges >= 0).all(axis=1)]
    epsilon, ends = float(problem.epsilon), unknown.omega_range
    loss = real_loss(unknown.decision(problem, RealActions()), masses, reads)
    many = gap >= ROUGHLY and len(kept) > FEW_STATES
    listed = unknown.lattice(problem, ends)
    if many and listed is not None and _is_fine(listed, epsilon):
        listed = None
    actions: list[Recommendation]
    if listed is None:
        if many and isinstance(loss, SquaredError) and epsilon > 0 and len(edges):
            found = solve_graph_cells(loss, edges, epsilon, gap, until, led)
        else:
            found = solve_real(loss, edges, epsilon, gap, until)
        nodes, flows = reaching(found, ends)
        actions, bound = list(nodes), found.bound
    else:
        decision = unknown.decision(problem, listed)
        actions = list(listed.numbers)
        column = {omega: k for k, omega in enumerate(stage.values)}
        table = float(decision.weight) * loss_table(decision, actions, stage.values)  # type: ignore[arg-type]
        program = Program(table[:, [column[omega] for omega in omegas]] * masses, edges, epsilon)
        solved = solve_priced(program, gap, until)
        flows, bound = solved.multipliers, solved.bound
    bound = max(bound, 0.0)
    spare = ROUNDED * bound
    scale, each = whole_multipliers(edges, len(kept), actions, flows, epsilon, spare, every=listed is None, watch=until)
    name = kept.tolist() if numbers is None else [numbers[h] for h in kept]
    multipliers = (Multipliers(m.action, tuple((name[i], name[k], flow) for i, k, flow in m.flows)) for m in each)
    return bound, scale, tuple(multipliers)


def _is_fine(listed: ListedActions, epsilon: float) -> bool:
    """Whether a list of actions is nearly all real ones: noise of the largest step, one, is wide beside its own."""
    step = float(listed.numbers[1] - listed.numbers[0]) if len(listed) > 1 else 0.0
    return epsilon == 0 or 2 * exp(-epsilon) / expm1(-epsilon) ** 2 >= COARSE * step**2


def coins_bound(problem: Problem, coins: tuple[TypeDie, ...], seconds: float, watch: Watch = SILENT) -> tuple[float, CoinsWitness]:
    """The bound that coins prove within the time, as if enough respondents surely held them."""
    bound, scale, multipliers = solved(problem, coins, 0.0, GAP, Until.after(seconds, watch))
    return bound, CoinsWitness(coins, scale, multipliers)


def solved(problem: Problem, coins: tuple[TypeDie, ...], left_out: float, gap: float, until: Watch) -> Solved:
    """What coins prove as if enough held them, the scale and the multipliers; the least likely states, of a share, have none."""
    law = iid_sum(problem)
    stage, unknown = coins_stage(law, coins), unknown_to_all(law, coins)
    kept = likely(np.array([float(x) for x in stage.masses]), left_out)
    return solve_counts(problem, unknown, stage, gap, until, kept, led=True)
