"""A lower bound under ρ: the convex program on the likely states, solved for its multipliers, as a witness of cuts.

States are the histograms of a box that holds nearly all of the expected regret (or all databases); actions are those of the
problem, or evenly spread nodes where they are real numbers. One order close to 1 is taken, which for errors on a line binds
most: larger orders look at rarer outputs. The interior point (`design.solver.renyi`) starts at a kernel that tells nothing; its
multipliers and likelihood ratios are rounded and checked again by `certify.bounds.renyi`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from discreet.design.program.real import needed
from discreet.design.program.sections import (
    Ground,
    Recommendation,
    Section,
    boxed,
    losses,
    recommendations,
    whole,
)
from discreet.design.program.truncation import choose_clamp, clips_nothing, regret_marginals
from discreet.design.solver.renyi import RenyiProgram, RenyiSolution, solve_renyi
from discreet.errors import TooLarge
from discreet.model.certificate import ROOT_BITS, Flow, Multipliers, RenyiWitness
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.summary import Clamp
from discreet.watch import Watch

ROOT = 64
"""The order of the cuts is 1 + 1/ROOT."""
NODES = 140
"""Nodes of real actions at least: between two of them the bound loses a quarter of their distance squared at most."""
MOST_NODES, ENTRIES = 500, 8_000
"""Few states allow more nodes: so many at most, and about so many pairs of a node and a state."""
LOST = ((1e-4, 120), (1e-3, 700), (1e-2, 700))
"""Shares of the expected regret that truncation may leave out, each with the directed edges up to which it is tried."""
GAP = 1e-4
FINE, EVEN = 8_192, 0.1
"""Points at which the bend of a payoff is looked at, and the share of nodes that do not care for it."""
MOST_ACTIONS = 400
"""Listed actions beyond which the program takes too long."""
FAINT = 1e-13
"""Multipliers below this share of the largest are left out."""


def cut_witness(base: Ground, watch: Watch) -> RenyiWitness | None:
    """The witness, or None when the likely states are too many, or the time was over before there was one."""
    try:
        section = likely_states(base, on_ground(base, NODES)[1])
        if section is None:
            return None
        actions, table = on_ground(base, min(max(NODES, ENTRIES // len(section.space)), MOST_NODES))
    except TooLarge:
        return None
    if not 1 < len(actions) <= max(MOST_ACTIONS, MOST_NODES):
        return None
    edges = section.space.edges
    first, second = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.full(len(first), 1 + 1 / ROOT)
    cost = section.lower(table)[0]
    cost = cost - cost.min(axis=0)
    program = RenyiProgram(cost, first, second, order, np.exp(order * (order - 1) * float(base.problem.rho)))
    start = np.full(cost.shape, 1 / len(cost))
    found = solve_renyi(program, start, GAP, watch)
    if found.bound <= 0:
        return None
    problem = base.problem
    return packed(
        getattr(section.summary, "clamp", None), program, found, actions, needed(problem) if problem.real_actions else None
    )


def with_losses(
    problem: Problem, omegas: Sequence[Fraction], mass: np.ndarray, many: int
) -> tuple[list[Recommendation], np.ndarray]:
    """Listed actions, or so many nodes between the likely values, with their losses [action, ω]; `mass` is that of each ω."""
    if not problem.real_actions:
        listed = recommendations(problem)
        return listed, losses(problem, listed, omegas)
    decision = problem.decision
    values = np.array([float(w) for w in omegas])
    order = np.argsort(values)
    held = order[(np.cumsum(mass[order]) > 1e-7) & (np.cumsum(mass[order][::-1])[::-1] > 1e-7)]
    ends = [float(end) for end in needed(problem)]
    low, high = (min(max(float(values[k]), ends[0]), ends[1]) for k in (held[0], held[-1])) if decision.is_loss else ends
    nodes = np.linspace(low, high, many) if high > low else np.array([low])
    if high > low and not decision.is_loss:
        nodes = _where_it_bends(lambda a: decision.loss.table(a, values[held]), low, high, many)
    exact: list[Recommendation] = [Fraction(float(a)) for a in nodes]
    return exact, float(decision.weight) * decision.loss.table(nodes, values)


def _where_it_bends(loss: Callable[[np.ndarray], np.ndarray], low: float, high: float, many: int) -> np.ndarray:
    """Nodes between which chords of a loss [action, ω] bulge alike: as dense as the root of its largest bend, a few even."""
    grid = np.linspace(low, high, FINE)
    bend = np.abs(np.gradient(np.gradient(loss(grid), grid, axis=0), grid, axis=0)).max(axis=1)
    dense = np.cumsum(np.sqrt(bend))
    even = np.linspace(0, 1, FINE)
    share = even if dense[-1] <= dense[0] else (1 - EVEN) * (dense - dense[0]) / (dense[-1] - dense[0]) + EVEN * even
    nodes = np.interp(np.linspace(0, 1, many), share, grid)
    nodes[[0, -1]] = low, high
    return nodes


def on_ground(base: Ground, many: int) -> tuple[list[Recommendation], np.ndarray]:
    """The same over all states of a ground."""
    return with_losses(base.problem, base.exact_omegas, np.bincount(base.column, base.masses, len(base.exact_omegas)), many)


def likely_states(base: Ground, table: np.ndarray) -> Section | None:
    """The box of likely histograms, or everything; None when even the smallest has too many edges."""
    problem, most = base.problem, LOST[-1][1]
    everything = whole(base)
    if not problem.exchangeable or not isinstance(problem.neighbours, ReplaceOne):
        return everything if 0 < 2 * len(everything.space.edges) <= most else None
    weights = regret_marginals(base.space.vectors, base.masses, table, base.column)
    for share, edges in LOST:
        clamp = choose_clamp(weights, share * float(weights[0].sum()))
        section = everything if clips_nothing(clamp, weights.shape[1] - 1) else boxed(base, clamp)
        if 0 < 2 * len(section.space.edges) <= edges:
            return section
    return None


def packed(
    box: Clamp | None,
    program: RenyiProgram,
    found: RenyiSolution,
    actions: list[Recommendation],
    reach: tuple[Fraction, Fraction] | None,
) -> RenyiWitness:
    """Multipliers over a power of two that keeps 61 bits of the largest, and roots of the ratios of each action.

    Nodes of real actions must `reach` from one number to another: beyond the last its multipliers serve.
    """
    largest = float(found.weights.max())
    bits = max(61 - int(np.ceil(np.log2(largest))), 0)
    kept = np.flatnonzero(found.weights > FAINT * largest)
    scaled = np.floor(np.ldexp(found.weights[kept], bits)).astype(np.int64)
    ends = list(zip(program.first[kept].tolist(), program.second[kept].tolist(), strict=True))
    cuts: list[Flow] = [(p, q, weight) for (p, q), weight in zip(ends, scaled.tolist(), strict=True)]
    roots = np.exp(np.log(found.ratios(program)[:, kept]) / ROOT)
    whole_roots = np.floor(np.ldexp(roots, ROOT_BITS)).astype(np.int64)
    each = [
        Multipliers(action, tuple((p, q, t) for (p, q), t in zip(ends, row, strict=True)))
        for action, row in zip(actions, whole_roots.tolist(), strict=True)
    ]
    if reach is not None:
        low, high = reach
        if each[0].action > low:  # type: ignore[operator]
            each.insert(0, Multipliers(low, each[0].flows))
        if each[-1].action < high:  # type: ignore[operator]
            each.append(Multipliers(high, each[-1].flows))
    return RenyiWitness(box, ROOT, 1 << bits, tuple(cuts), tuple(each))
