"""Real actions and squared error: one program whose optimum bounds all real actions, refined where it is not yet true.

A line of nodes a_1 < … < a_K, each with a root r_k ≥ 0, has costs lowered by r_k² per unit of prior:

    c̃_h(k) = π_h·((a_k − ω_h)² − r_k²),          r_k + r_{k+1} ≥ a_{k+1} − a_k.

Flows that price two neighbours at these costs price, interpolated, every real action between them: the chord of c̃ lies below the
parabola exactly when the roots add up to the distance. So the program's bound is one for all real actions, in a single
solve. From its rows comes a mechanism: each recommends its own posterior mean. A row with mean m is told for less than it costs by
its mass times r_k² − (a_k − m)², nothing when m lies at a_k ± r_k; the sum of that is all that separates value and bound.

*Stops* are nodes with a small root ρ, put where rows have their means; between two stops at distance g > 2ρ stands a *span* with
root g/2 − ρ, and beyond the outer ones spans three times as far each. A row that belongs to a stop loses by moving to the
span beside it, for ρ > 0. Where a span is worth playing its mean becomes a stop. The interior point goes on after every
refinement from a point of its path where the change is small; rows are shared out among their heirs and flows interpolated.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import numpy as np

from discreet.design.schedule import time_left
from discreet.design.solver.continuum import Continuum, first_actions
from discreet.design.solver.interior import Iterate, Point
from discreet.design.solver.losses import SquaredError
from discreet.design.solver.program import Flags, Floats, Integers, Program
from discreet.design.solver.repair import repair
from discreet.design.solver.threads import one_thread
from discreet.model.gap import reached
from discreet.numerics.devices import fetched
from discreet.watch import Watch

FIRST_STOPS = 32
LIMIT = 400
"""Steps in all."""
SETTLED = 0.2
"""Refine when the interior point's own gap is below this share of what spans are told too cheaply."""
BACK = 5.0
"""Go back to where its own gap was so many times what spans are told too cheaply,"""
KEPT = 14
"""so many steps at most."""
CAPTURE, LEAST_CAPTURE = 0.05, 0.2
"""ρ² is this share of what is told too cheaply, and at least this share of the gap asked for."""
WORTH = 0.1
"""A span becomes a stop when it is told too cheaply by this share of the mean over all nodes."""
UNPLAYED = 1e-9
"""A stop that is played less than this stays where it is."""
PROGRESS, PATIENCE = 0.9, 4
"""So many refinements that do not bring the gap below this share of the least end the search."""


@dataclass(frozen=True)
class Line:
    """Nodes with their roots, ascending."""

    nodes: Floats
    roots: Floats
    is_stop: Flags

    def cost(self, loss: SquaredError) -> Floats:
        """c̃, axes [node, state]."""
        return np.asarray(loss.cost(self.nodes) - self.roots[:, None] ** 2 * loss.prior)


def line(stops: Floats, low: float, high: float, near: float, root: float) -> Line:
    """Stops, and spans between and beyond them; `near` is how far the first span beyond the outer stops is."""
    gaps = np.diff(stops)
    wide = np.flatnonzero(gaps > 2 * root)
    nodes = [stops, (stops[wide] + stops[wide + 1]) / 2]
    roots = [np.full(len(stops), root), gaps[wide] / 2 - root]
    for side, outer, end in ((-1.0, stops[0], low), (1.0, stops[-1], high)):
        away = _beyond(abs(float(end - outer)), near, root)
        nodes.append(outer + side * np.array([d for d, _ in away]))
        roots.append(np.array([r for _, r in away]))
    places, lowered = np.concatenate(nodes), np.concatenate(roots)
    is_stop = np.arange(len(places)) < len(stops)
    order = np.argsort(places, kind="stable")
    return Line(places[order], lowered[order], is_stop[order])


def _beyond(room: float, near: float, root: float) -> list[tuple[float, float]]:
    """Distances and roots of the spans on one side, the last at the end of the range."""
    found: list[tuple[float, float]] = []
    distance, lowered = 0.0, root
    while distance < room:
        reach = distance + lowered
        # from the second on half the distance is the root: nobody plays them, no posterior mean lies so far out
        distance = min(2 * reach if found else near, room)
        lowered = max(distance - reach, 0.0)
        found.append((distance, lowered))
    return found


@one_thread()
def solve_cells(loss: SquaredError, edges: Integers, epsilon: float, gap: float = 1e-6, watch: Watch | None = None) -> Continuum:
    """Best kernel over real actions on a connected graph with ε > 0, and a bound over all real actions, to a relative gap."""
    return _Refining(loss, edges, epsilon, gap, watch).solved()


class _Refining:
    """The program on a line of nodes, its interior point, and the best of what they showed."""

    def __init__(self, loss: SquaredError, edges: Integers, epsilon: float, gap: float, watch: Watch | None) -> None:
        self.loss, self.edges, self.epsilon, self.gap, self.watch = loss, edges, epsilon, gap, watch
        self.begun = time.perf_counter()
        seen = first_actions(loss, edges, epsilon, most=FIRST_STOPS)
        stops = np.unique(np.linspace(seen[0], seen[-1], FIRST_STOPS if seen[-1] > seen[0] else 1))
        self.near = float(stops[1] - stops[0]) / 2 if len(stops) > 1 else (loss.high - loss.low) / FIRST_STOPS
        self.line = line(stops, loss.low, loss.high, self.near, self.near / 10)
        self.state = Iterate(Program(self.line.cost(loss), edges, epsilon))
        self.path: deque[tuple[float, Point]] = deque(maxlen=KEPT)
        self.value, self.bound = np.inf, -np.inf
        self.kernel = np.ones((1, len(loss.prior)))
        self.actions = loss.best(self.kernel)
        self.proof = (self.line.nodes, np.zeros((len(self.line.nodes), 2 * len(edges))))
        self.least, self.idle = np.inf, 0

    def solved(self) -> Continuum:
        """Step and refine until the gap is reached, nothing helps any more, or the time is up."""
        status = "stalled"
        for _ in range(LIMIT):
            own, cheap, means = self._looked()
            if reached(self.value, self.bound, self.gap):
                status = "optimal"
                break
            if self.watch is not None:
                seconds = time.perf_counter() - self.begun
                self.watch.report(stage="real actions", value=self.value, bound=self.bound, seconds=seconds)
                if self.watch.cancelled() or self.state.step_seconds > time_left(self.watch):
                    status = "cancelled"
                    break
            told = float(cheap.sum())
            if own < SETTLED * told and not self._refined(told, cheap, means):
                break
            with np.errstate(all="ignore"):
                if not self.state.advance():
                    break
        seconds = time.perf_counter() - self.begun
        return Continuum(self.actions, self.kernel, *self.proof, self.value, self.bound, seconds, status)

    def _looked(self) -> tuple[float, Floats, Floats]:
        """The interior point's own gap, by how much each row is told too cheaply, and the rows' posterior means."""
        loss, state = self.loss, self.state
        x = state.kernel / state.kernel.sum(axis=0)
        means = loss.best(x)
        each = np.sum(x * loss.cost(means), axis=1)
        bound = state.bound()
        if bound > self.bound:
            self.bound, self.proof = bound, (self.line.nodes, fetched(state.z) * state.scale)
        if float(each.sum()) < self.value:
            # What counts is the value after repair: late iterates look better than they are.
            kernel = repair(x, Program(loss.cost(means), self.edges, self.epsilon))
            actions = loss.best(kernel)
            value = float(np.sum(kernel * loss.cost(actions)))
            if value < self.value:
                self.value, self.kernel, self.actions = value, kernel, actions
        told = np.sum(x * self.line.cost(loss), axis=1)
        own = float(told.sum()) - bound
        self.path.append((own, state.point))
        return own, each - told, means

    def _refined(self, told: float, cheap: Floats, means: Floats) -> bool:
        """New stops where spans are worth playing; whether that promises anything."""
        apart = self.value - self.bound
        self.idle = 0 if apart < PROGRESS * self.least else self.idle + 1
        self.least = min(self.least, apart)
        if self.idle >= PATIENCE:
            return False
        now, loss = self.line, self.loss
        root = np.sqrt(max(CAPTURE * told, LEAST_CAPTURE * self.gap * abs(self.value)) / float(loss.prior.sum()))
        # a stop follows its mean as far as the next node; what nobody plays stays
        room = np.minimum(np.diff(now.nodes, prepend=-np.inf), np.diff(now.nodes, append=np.inf))
        played = self.state.kernel @ loss.prior > UNPLAYED * float(loss.prior.sum())
        moved = now.nodes + np.where(played, np.clip(means - now.nodes, -0.8 * room, 0.8 * room), 0.0)
        worth = ~now.is_stop & (cheap > WORTH * told / len(cheap))
        stops = _apart(np.concatenate([moved[now.is_stop], means[worth]]), root)
        finer = line(stops, loss.low, loss.high, self.near, root)
        before = [point for own, point in self.path if own > BACK * told] or [self.path[0][1]]
        self.path.clear()
        self.state.point = before[-1]
        self.state.share_out(*_heirs(now.nodes, finer.nodes), finer.cost(loss))
        self.line = finer
        return True


def _apart(values: Floats, near: float) -> Floats:
    """Sorted values without those nearer than `near` to the one before."""
    kept: list[float] = []
    for value in np.sort(values).tolist():
        if not kept or value - kept[-1] > near:
            kept.append(value)
    return np.array(kept)


def _heirs(old: Floats, new: Floats) -> tuple[Floats, Floats]:
    """What each new node gets of the old rows (columns add up to one), and how old flows are interpolated there."""
    right = np.clip(np.searchsorted(old, new), 1, len(old) - 1)
    share = np.clip((new - old[right - 1]) / (old[right] - old[right - 1]), 0.0, 1.0)
    flows = np.zeros((len(new), len(old)))
    flows[np.arange(len(new)), right - 1] = 1 - share
    flows[np.arange(len(new)), right] += share
    total = flows.sum(axis=0)
    rows = flows / np.where(total > 0, total, 1.0)
    for lost in np.flatnonzero(total == 0):
        rows[np.argmin(np.abs(new - old[lost])), lost] = 1.0
    return rows, flows
