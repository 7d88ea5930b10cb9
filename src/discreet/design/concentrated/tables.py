"""The best table under ρ on few states: the convex program with several orders, rounded to whole numbers.

States are the likely histograms, or the likely totals of a weighted sum (`of_histograms`, `of_totals`, `by_law`). The program
(`design.solver.renyi`) has a cut for every directed edge and every order of a short list, to which those are added at which its
kernel exceeds ρ; in the end it is solved for a ρ that is smaller by what is left. Rounding is mended by a constant kernel, which
only lowers every divergence, until the checker's own search over all orders proves ρ of the whole-number weights. Real actions
start from nodes and end as the best replies to their outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2, sqrt

import numpy as np

from discreet.certify.edges.concentrated import concentrated_privacy
from discreet.design.concentrated.cuts import likely_states, on_ground, with_losses
from discreet.design.concentrated.gaussian_sums import ListedScorer, Scorer, spread_weights
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.sums import sum_law
from discreet.design.program.listed import label_of
from discreet.design.program.sections import Ground, Recommendation, Section, losses, summed
from discreet.design.solver.renyi import RenyiProgram, solve_renyi
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import PrivacyProof
from discreet.model.iid_sum import iid_sum
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise
from discreet.model.replies import best_replies
from discreet.model.states import StateSpace, state_space
from discreet.model.summary import LinearSummary, Summary
from discreet.watch import Watch

ORDERS, FEWER_ORDERS = (1.002, 1.15, 2.0), (1 + 1 / 64, 2.0)
"""To begin with, the fewer where all are too many; an order at which the kernel exceeds ρ by more than SLIGHTLY is added."""
MOST_PASSES, SLIGHTLY, STEEPEST = 4, 1.002, 8.0
"""Programs solved one after the other at most; orders with α(α−1)ρ beyond the last are left out: their moments are too large."""
LOOKED_AT = (1.001, 1.01, 1.05, 1.1, 1.2, 1.3, 1.45, 1.6, 1.8, 2.0, 2.3, 2.7, 3.2, 4.0, 5.0, 6.5, 9.0, 14.0, 25.0)
"""Orders at which the kernel that is found is measured."""
SPARED = 1e-4
"""The share of ρ that is left to the rounding and to orders between."""
NODES, MOST_NODES, FINENESS = 48, 160, 0.35
"""Nodes of real actions, and how far they may lie apart in units of the root of what Gaussian noise would lose."""
MOST_ROWS, MOST_PRODUCTS = 1_000, 120_000_000
"""Cuts and states of the program at most, and their number times that of pairs of an action and a state."""
LEAST_MIXED, HALVINGS = 1e-9, 8
"""The smallest share of the constant kernel, and how often the share is halved between what fails and what is proved."""
FAINT = 1e-9
"""An output whose probability is below this at every state is left out."""
LARGE = 1
"""From this ρ on two orders are enough for tables on sums; below, where larger ones bind, with fewer than four noise is better."""
UNLIKELY = 1e-6
"""The chance of totals beyond the window, on either side."""


@dataclass(frozen=True, eq=False)
class Scene:
    """States that a kernel may read, with the joint law [state, ω] of them and the statistic."""

    problem: Problem
    summary: Summary
    space: StateSpace
    joint: np.ndarray
    omegas: Sequence[Fraction]


def of_histograms(base: Ground) -> Scene | None:
    """The likely histograms (or all databases); None when these are too many."""
    try:
        section = likely_states(base, on_ground(base, NODES)[1])
    except TooLarge:
        return None
    return None if section is None else _scene(section)


def of_totals(base: Ground, summary: LinearSummary) -> Scene:
    """The likely totals of a weighted sum of listed states."""
    totals = np.asarray(base.space.vectors)
    if not base.problem.exchangeable:
        totals = base.problem.people.histograms_of(totals)
    totals = totals @ np.array(summary.weights)
    order = np.argsort(totals)
    up = np.cumsum(base.masses[order])
    low, high = (int(totals[order][np.searchsorted(up, share * up[-1])]) for share in (UNLIKELY, 1 - UNLIKELY))
    return _scene(summed(base, LinearSummary(summary.weights, low, max(high, low + 1))))


def by_law(problem: Problem, weights: Weights) -> Scene:
    """The likely totals of a weighted sum over independent respondents, for a squared error: E[ω|S] says all that matters."""
    law = iid_sum(problem)
    found = sum_law(*law.floats, weights, law.respondents)
    up, down = np.cumsum(found.masses), np.cumsum(found.masses[::-1])
    low = found.first + int(np.searchsorted(up, UNLIKELY))
    high = max(found.last - int(np.searchsorted(down, UNLIKELY)), low + 1)
    summary = LinearSummary(spread_weights(law, weights), low, high)
    space = state_space(problem.universe, problem.neighbours, summary)
    place = {int(total): i for i, total in enumerate(space.vectors[:, 0].tolist())}
    totals = np.clip(np.arange(found.first, found.last + 1), low, high).tolist()
    image = np.array([place.get(total, -1) for total in totals])
    masses, weighed = (
        np.bincount(image[image >= 0], x[image >= 0], len(space)) for x in (found.masses, found.masses * found.means)
    )
    means = np.where(masses > 0, weighed / np.where(masses > 0, masses, 1.0), 0.0)
    return Scene(problem, summary, space, np.diag(masses), [Fraction(mean) for mean in means.tolist()])


def _scene(section: Section) -> Scene:
    base = section.ground
    joint = np.zeros((len(section.space), len(base.exact_omegas)))
    np.add.at(joint, (section.image, base.column), base.masses)
    return Scene(base.problem, section.summary, section.space, joint, base.exact_omegas)


def best_table(scene: Scene, gap: float, watch: Watch, fewest: int = len(FEWER_ORDERS)) -> TableKernel | None:
    """The exact kernel, or None when the program is too large for the `fewest` orders or nothing it found could be proved."""
    rho, edges = float(scene.problem.rho), scene.space.edges
    try:
        actions, table = with_losses(scene.problem, scene.omegas, scene.joint.sum(axis=0), _nodes(scene))
    except TooLarge:
        return None
    cost = table @ scene.joint.T
    cost = cost - cost.min(axis=0)
    if len(actions) < 2 or not len(edges) or not _fits(scene, fewest, len(cost)):
        return None
    begun = ORDERS if _fits(scene, len(ORDERS), len(cost)) else FEWER_ORDERS
    orders, level, kernel = [a for a in begun if a * (a - 1) * rho <= STEEPEST], 1 - SPARED, np.full(cost.shape, 1 / len(cost))
    for last in (False,) * (MOST_PASSES - 1) + (True,):
        first, second = (np.repeat(np.concatenate([edges[:, i], edges[:, 1 - i]]), len(orders)) for i in (0, 1))
        order = np.tile(orders, 2 * len(edges))
        program = RenyiProgram(cost, first, second, order, np.exp(order * (order - 1) * rho * level))
        kernel = solve_renyi(program, np.full(cost.shape, 1 / len(cost)), max(gap, 1e-5), watch).kernel
        over, worst = _excess(kernel, edges, rho)
        if over <= 1 or last or watch.cancelled():
            break
        new = over > SLIGHTLY and worst not in orders and worst * (worst - 1) * rho <= STEEPEST
        if new and _fits(scene, len(orders) + 1, len(cost)):
            orders.append(worst)
        else:
            level *= (1 - SPARED) / over
    return _proved(scene, kernel, actions)


def loss_of(scene: Scene, kernel: TableKernel) -> float:
    """What a table on these states loses, in floats."""
    shown = [output.action for output in kernel.outputs if output.action is not None]
    table = losses(scene.problem, shown, list(scene.omegas))
    rows = np.array([[float(Fraction(w, kernel.denominator)) for w in row] for row in kernel.weights])
    return float((table * (rows @ scene.joint)).sum())


def best_sum_table(scorer: Scorer, gap: float, watch: Watch) -> tuple[Scene, TableKernel] | None:
    """The best table on the totals of a weighted sum, of those that are best with Gaussian noise and few enough; or None."""
    ranked: list[tuple[float, Weights]] = []
    for weights in scorer.candidates():
        try:
            ranked.append((scorer.read(weights).loss, weights))
        except (InputError, TooLarge):
            continue
        if watch.cancelled():
            break
    fewest = len(FEWER_ORDERS if scorer.problem.rho >= LARGE else ORDERS) + (scorer.problem.rho < LARGE)
    for _, weights in sorted(ranked):
        if watch.cancelled():
            break
        scene = of_weights(scorer, weights)
        kernel = best_table(scene, gap, watch, fewest)
        if kernel is not None:
            return scene, kernel
    return None


def of_weights(scorer: Scorer, weights: Weights) -> Scene:
    """The totals of a weighted sum."""
    if isinstance(scorer, ListedScorer):
        return of_totals(scorer.base, LinearSummary(weights))
    return by_law(scorer.problem, weights)


def _fits(scene: Scene, orders: int, actions: int) -> bool:
    rows = 2 * len(scene.space.edges) * orders + len(scene.space)
    return rows <= MOST_ROWS and rows * actions * len(scene.space) <= MOST_PRODUCTS


def _nodes(scene: Scene) -> int:
    """How many nodes of real actions are fine enough."""
    mass, omegas = scene.joint.sum(axis=0), np.array([float(w) for w in scene.omegas])
    centre = mass @ omegas
    means = np.divide(
        scene.joint @ omegas, scene.joint.sum(axis=1), out=np.zeros(len(scene.joint)), where=scene.joint.sum(axis=1) > 0
    )
    edges, spread = scene.space.edges, float(mass @ (omegas - centre) ** 2)
    move = float(np.abs(means[edges[:, 0]] - means[edges[:, 1]]).max()) if len(edges) else 0.0
    if spread <= 0 or move <= 0:
        return NODES
    lost = 1 / (1 / spread + 2 * float(scene.problem.rho) / move**2)
    return int(min(max(10 * sqrt(spread) / (FINENESS * sqrt(lost)), NODES), MOST_NODES))


def _excess(kernel: np.ndarray, edges: np.ndarray, rho: float) -> tuple[float, float]:
    """The largest D_α/(αρ) at the orders that are looked at, and where."""
    first, second = (np.concatenate([edges[:, i], edges[:, 1 - i]]) for i in (0, 1))
    p, logs = kernel[:, first], np.log(kernel[:, first] / kernel[:, second])
    return max((float((np.log((p * np.exp((a - 1) * logs)).sum(axis=0)) / (a * (a - 1) * rho)).max()), a) for a in LOOKED_AT)


def _proved(scene: Scene, kernel: np.ndarray, actions: list[Recommendation]) -> TableKernel | None:
    used = np.flatnonzero(kernel.max(axis=1) > FAINT)
    kept = kernel[used] / kernel[used].sum(axis=0)
    problem, joint = scene.problem, scene.joint
    constant = kept @ joint.sum(axis=1)
    constant = np.maximum(constant, FAINT) / np.maximum(constant, FAINT).sum()
    shown = [actions[i] for i in used.tolist()]

    def proved(share: float) -> TableKernel | None:
        mixed = (1 - share) * kept + share * constant[:, None]
        replies = shown
        if problem.real_actions:
            replies = list(best_replies(problem.decision, mixed @ joint, tuple(scene.omegas)).actions)
        exact = _rounded(scene.space, mixed, replies)
        bare = Mechanism(problem, scene.summary, exact, problem.guarantee)
        return exact if isinstance(concentrated_privacy(bare, ConcentratedPromise(problem.rho)), PrivacyProof) else None

    share, best, fails = LEAST_MIXED, proved(LEAST_MIXED), 0.0
    while best is None and share < 1 / 2:
        fails, share = share, min(8 * share, 0.5)
        best = proved(share)
    for _ in range(HALVINGS if fails and best is not None else 0):
        middle = (fails + share) / 2
        found = proved(middle)
        if found is None:
            fails = middle
        else:
            share, best = middle, found
    return best


def _rounded(space: StateSpace, kernel: np.ndarray, actions: list[Recommendation]) -> TableKernel:
    """Weights rounded down, what is left given to the likeliest output; outputs with the same reply are one."""
    place: dict[Recommendation, int] = {}
    for action in actions:
        place.setdefault(action, len(place))
    rows = np.zeros((len(place), kernel.shape[1]))
    np.add.at(rows, [place[a] for a in actions], kernel)
    bits = 80 + max(0, ceil(-log2(float(rows.min()))))
    whole = 1 << bits
    weights = [[int(Fraction(float(p)) * whole) for p in row] for row in rows / (rows.sum(axis=0) * (1 + 1e-12))]
    likeliest = int(rows.sum(axis=1).argmax())
    left = [whole - sum(column) for column in zip(*weights, strict=True)]
    weights[likeliest] = [w + extra for w, extra in zip(weights[likeliest], left, strict=True)]
    outputs = tuple(Output(label_of(action), action) for action in place)
    return TableKernel(space.labels, outputs, tuple(map(tuple, weights)), whole)
