"""Real actions on any graph: components apart, isolated states and ε = 0 in closed form, the continuum solver otherwise.

Components share no constraint. Each is solved on its own; a node of one is a node of all, the others' multipliers being
interpolated there, and beyond a component's own range of ω its multipliers stay constant, because every loss only grows.

ε = 0, squared error, connected: everyone plays the mean a* = Σπω/Σπ. With q = 1, Gᵀf is any vector of sum zero, so
Gᵀf(a)_h = 2(a − a*)π_h(a* − ω_h), linear in a, leaves c_h(a) − Gᵀf(a)_h = c_h(a*) + π_h(a − a*)²: nodes at the two ends of
the range prove that a* is best. Affine payoffs have many nodes instead of two (`_still`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from discreet.design.solver.cells import solve_cells
from discreet.design.solver.continuum import Continuum, better, solve_continuum
from discreet.design.solver.layers import components
from discreet.design.solver.losses import AffineLoss, RealLoss, SquaredError
from discreet.design.solver.program import Floats, Integers, pulled
from discreet.design.solver.solve import tree_flow
from discreet.design.solver.threads import one_thread
from discreet.design.watchdog import Keep, forget
from discreet.watch import Watch

STILL_NODES = 1_000
"""Nodes that prove an action best where nothing is told: they cost nothing to solve."""


@one_thread()
def solve_real(
    loss: RealLoss,
    edges: Integers,
    epsilon: float,
    gap: float = 1e-6,
    watch: Watch | None = None,
    keep: Keep[Continuum] = forget,
) -> Continuum:
    """The best kernel over real actions on any graph and for any ε ≥ 0, and a bound over all real actions.

    On a connected graph `keep` is handed the best so far.
    """
    if not isinstance(loss, SquaredError | AffineLoss):
        return solve_continuum(loss, edges, epsilon, gap, watch)
    begun = time.perf_counter()
    label = components(len(loss.prior), edges)
    parts = []
    for component in range(int(label.max()) + 1):
        members = np.flatnonzero(label == component)
        chosen = np.flatnonzero(np.isin(edges[:, 0], members)) if len(edges) else np.zeros(0, dtype=np.int64)
        position = np.zeros(len(label), dtype=np.int64)
        position[members] = np.arange(len(members))
        part = replace(loss, prior=loss.prior[members], omega=loss.omega[members])
        hold = keep if len(members) == len(label) else forget
        parts.append((members, chosen, _connected(part, position[edges[chosen]], epsilon, gap, watch, hold)))
    if len(parts) == 1:
        return parts[0][2]
    return _together(parts, len(label), len(edges), time.perf_counter() - begun)


def _connected(
    loss: SquaredError | AffineLoss,
    edges: Integers,
    epsilon: float,
    gap: float,
    watch: Watch | None,
    keep: Keep[Continuum],
) -> Continuum:
    if isinstance(loss, AffineLoss):
        alone = epsilon == 0.0 or len(loss.prior) == 1 or not np.any(loss.prior > 0)
        return _still(loss, edges) if alone else solve_continuum(loss, edges, epsilon, gap, watch)
    if loss.high == loss.low or len(loss.prior) == 1 or not np.any(loss.prior > 0):
        return _one_action(loss, edges, loss.low)
    if epsilon == 0.0:
        return _constant(loss, edges)
    found = solve_cells(loss, edges, epsilon, gap, watch, keep=keep)
    if found.status in ("optimal", "cancelled"):
        return found
    return better(found, solve_continuum(loss, edges, epsilon, gap, watch))


def _one_action(loss: SquaredError, edges: Integers, action: float) -> Continuum:
    """Nothing to learn: ω never changes, or nothing has any weight."""
    value = float(loss.cost(np.array([action])).sum())
    nodes = np.unique([loss.low, action, loss.high])
    flows = np.zeros((len(nodes), 2 * len(edges)))
    return Continuum(np.array([action]), np.ones((1, len(loss.prior))), nodes, flows, value, value, 0.0, "optimal")


def _constant(loss: SquaredError, edges: Integers) -> Continuum:
    mean = float(loss.prior @ loss.omega / loss.prior.sum())
    nodes = np.array([loss.low, loss.high])
    pull = 2 * (nodes[:, None] - mean) * loss.prior * (mean - loss.omega)
    pull -= pull.sum(axis=1, keepdims=True) / pull.shape[1]
    found = _one_action(loss, edges, float(np.clip(mean, *loss.ends)))
    return replace(found, nodes=nodes, multipliers=tree_flow(pull, edges))


def _still(loss: AffineLoss, edges: Integers) -> Continuum:
    """One action for everyone, a* = best for the prior.

    At each node flows with Gᵀf(a)_h = c_h(a) − c_h(a*) − (C(a) − C(a*))/n, C the sum of the n costs, leave every state at least
    c_h(a*): C(a) ≥ C(a*). Between nodes the loss bends below its chord by little, because there are many.
    """
    action = float(loss.best(np.ones((1, len(loss.prior))))[0]) if np.any(loss.prior > 0) else loss.low
    nodes = np.unique(np.append(np.linspace(loss.low, loss.high, STILL_NODES), action))
    surplus = loss.cost(nodes) - loss.cost(np.array([action]))
    flows = tree_flow(surplus - surplus.mean(axis=1, keepdims=True), edges)
    pull = pulled(flows, edges, 1.0, len(loss.prior))
    value = float(loss.cost(np.array([action])).sum())
    bound = float(loss.piece_minimum(nodes[:-1], nodes[1:], pull[:-1], pull[1:]).min(axis=0).sum())
    return Continuum(np.array([action]), np.ones((1, len(loss.prior))), nodes, flows, value, bound, 0.0, "optimal")


def _together(parts: list[tuple[Integers, Integers, Continuum]], states: int, edges: int, seconds: float) -> Continuum:
    """Kernels side by side, multipliers interpolated to the nodes of all."""
    nodes: Floats = np.unique(np.concatenate([found.nodes for _, _, found in parts]))
    actions = np.concatenate([found.actions for _, _, found in parts])
    kernel = np.zeros((len(actions), states))
    flows = np.zeros((len(nodes), 2 * edges))
    row = 0
    for members, chosen, found in parts:
        kernel[row : row + len(found.actions), members] = found.kernel
        row += len(found.actions)
        both = np.concatenate([chosen, chosen + edges])
        for column, flow in zip(both.tolist(), found.multipliers.T, strict=True):
            flows[:, column] = np.interp(nodes, found.nodes, flow)
    worst = next((p[2].status for p in parts if p[2].status != "optimal"), "optimal")
    return Continuum(actions, kernel, nodes, flows, sum(p[2].value for p in parts), sum(p[2].bound for p in parts), seconds, worst)
