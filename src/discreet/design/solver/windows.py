"""Where each action is looked at: a window of states around it, and trees that carry everything farther away.

States have a statistic ω: points of a lattice of two counts in which it is linear, or of any graph. Far from its own value of ω an
action's probability falls by e^−ε at every step, as fast as it may. So an action a has variables for the states with |ω − a| ≤ R
alone (`seen_as` says what ω counts as at the rare ends of a prior); any other state hangs on a neighbour nearer to a, down or up in
ω, and is never met with that action where there is none:

    x_a(h) = x_a(parent of h)/q.

`hang` is the linear map P from variables to states, summed over actions, and `gather` its transpose: costs and prices of what
hangs on a variable, discounted. Parents do not depend on the action, only their side does: one sweep over the levels of ω will do.

In a bound the edges parent→h carry the flow (what hangs on h, discounted)/q ≥ 0: far away an action costs more than its price.

A variable that no edge joins to another of its window (`alone`) has one to itself, x ≤ q·x: what it pulls may be left out of a
bound, which only grows. Neighbouring windows are factored as a batch (`templates`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.design.solver.program import Flags, Floats, Integers
from discreet.design.solver.templates import Chunk, joined, shifted

UNFELT = 90.0
"""Lineages end where what hangs there counts by e to the minus this."""
WEIGHINGS = 30
"""Rounds in which noise is weighed so that its probabilities sum to about one."""


@dataclass(frozen=True)
class Ranked:
    """The states of a graph sorted by ω; edges join them, the lower one first."""

    omega: Floats
    edges: Integers
    order: Integers
    """The caller's number of each state."""

    @staticmethod
    def of(omega: Floats, edges: Integers) -> Ranked:
        """Any graph of states."""
        order = np.argsort(omega, kind="stable")
        return Ranked(omega[order], _renamed(order, edges), order)

    def chunks(self, windows: Windows, edge_starts: Integers) -> list[Chunk]:
        """How windows are laid out, the edges of each action beginning at these."""
        return joined(windows, edge_starts)


def _renamed(order: Integers, edges: Integers) -> Integers:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.sort(place[edges], axis=1)


@dataclass(frozen=True)
class TwoCounts(Ranked):
    """States with two counts each, ω = offset + weights·counts."""

    counts: Integers
    weights: Floats

    @staticmethod
    def from_counts(counts: Integers, omega: Floats, edges: Integers) -> TwoCounts | None:
        """The lattice of these states; None when ω is not linear in two counts or some state is a dead end."""
        if counts.shape[1] != 2 or len(counts) < 3:
            return None
        table = np.column_stack([counts, np.ones(len(counts))])
        found = np.linalg.lstsq(table, omega, rcond=None)[0]
        if np.abs(table @ found - omega).max() > 1e-9 * max(1.0, float(np.abs(omega).max())) or not found[:2].any():
            return None
        order = np.lexsort((counts[:, 1], omega))
        level, ends = omega[order], _renamed(order, edges)
        rising = ends[level[ends[:, 1]] > level[ends[:, 0]] + 1e-12]
        lowest, highest = level > level[0] + 1e-12, level < level[-1] - 1e-12
        lowest[rising[:, 1]], highest[rising[:, 0]] = False, False
        if lowest.any() or highest.any():
            return None
        return TwoCounts(level, ends, order, counts[order], np.asarray(found[:2], dtype=np.float64))

    @property
    def along(self) -> int:
        """The count along which ω grows faster: few states of a window share the other one."""
        return int(np.argmax(np.abs(self.weights)))

    def chunks(self, windows: Windows, edge_starts: Integers) -> list[Chunk]:
        return shifted(windows, self, edge_starts)


def seen_as(lattice: Ranked, weight: Floats, epsilon: float) -> Floats:
    """What one would guess of ω after seeing each state through noise: ω itself, but for the rare ends of a prior."""
    levels, number = np.unique(lattice.omega, return_inverse=True)
    mass = np.bincount(number, weight)
    one, two = lattice.edges.T
    step = float(np.max(lattice.omega[two] - lattice.omega[one]))
    noise = np.exp(-epsilon * np.abs(levels[:, None] - levels) / step) * mass
    guess = (noise @ levels) / noise.sum(axis=1)
    return np.maximum.accumulate(guess)[number]


@dataclass(frozen=True)
class Lineages:
    """Every pair of a state and one on which it hangs, itself included: sums over these for one vector, without any sweep."""

    each: Integers
    """For which state the sum is, ascending,"""
    other: Integers
    """over which,"""
    weight: Floats
    """with which weight, q^(−steps)."""

    @staticmethod
    def along(parent: Integers, q: float) -> Lineages:
        """From each state up its tree, as far as it counts."""
        each = other = np.arange(len(parent))
        pairs, steps = [(each, other)], 0
        while len(each) and (steps + 1) * np.log(q) < UNFELT:
            up = parent[other]
            each, other, steps = each[up >= 0], up[up >= 0], steps + 1
            pairs.append((each, other))
        weight = np.repeat(q ** -np.arange(len(pairs), dtype=float), [len(each) for each, _ in pairs])
        return Lineages(np.concatenate([each for each, _ in pairs]), np.concatenate([other for _, other in pairs]), weight).sorted()

    def sorted(self) -> Lineages:
        order = np.argsort(self.each, kind="stable")
        return Lineages(self.each[order], self.other[order], self.weight[order])

    def turned(self) -> Lineages:
        """From each state to all that hangs on it."""
        return Lineages(self.other, self.each, self.weight).sorted()

    @cached_property
    def begins(self) -> Integers:
        return np.flatnonzero(np.diff(self.each, prepend=-1))

    def summed(self, values: Floats) -> Floats:
        """Σ weight·value over the others of each state."""
        return np.asarray(np.add.reduceat(self.weight * values[self.other], self.begins), dtype=np.float64)


class Sweeps:
    """Sums along the trees: every state hangs on its lowest neighbour, or on its highest one."""

    def __init__(self, lattice: Ranked, q: float) -> None:
        states = len(lattice.omega)
        self.q = q
        one, two = lattice.edges.T
        tail, head = np.concatenate([one, two]), np.concatenate([two, one])
        self.parents: list[Integers] = []
        self.levels: list[list[Integers]] = []
        numbers = np.unique(lattice.omega, return_inverse=True)[1]
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        levels = np.split(np.arange(states), cuts)
        for side in (1.0, -1.0):
            toward = side * lattice.omega
            best = np.lexsort((toward[head], tail))
            first = np.minimum(np.searchsorted(tail[best], np.arange(states)), len(best) - 1)
            parent = head[best][first]
            parent = np.where((tail[best][first] == np.arange(states)) & (toward[parent] < toward - 1e-12), parent, -1)
            self.parents.append(parent)
            here = levels if side > 0 else levels[::-1]
            self.levels.append([level[parent[level] >= 0] for level in here[1:]])
        self.upward = [Lineages.along(parent, q) for parent in self.parents]
        self.downward = [chains.turned() for chains in self.upward]

    def gathered(self, side: int, values: Floats) -> Floats:
        """Σ over all that hangs on each state, itself included, of q^(−steps)·value; the last axis are the states."""
        if values.ndim == 1:
            return self.downward[side].summed(values)
        found: Floats = np.array(values)
        parent, columns = self.parents[side], found.T
        for level in reversed(self.levels[side]):
            np.add.at(columns, parent[level], columns[level] / self.q)
        return found

    def spread(self, side: int, values: Floats) -> Floats:
        """The transpose: Σ over the states on which each one hangs, itself included, of q^(−steps)·value."""
        if values.ndim == 1:
            return self.upward[side].summed(values)
        found: Floats = np.array(values, dtype=float)
        parent = self.parents[side]
        for level in self.levels[side]:
            found[..., level] += found[..., parent[level]] / self.q
        return found


class Windows:
    """The variables of all actions, one after the other, each action's in the order of its states."""

    def __init__(self, lattice: Ranked, seen: Floats, centres: Floats, radius: float, q: float) -> None:
        self.lattice, self.seen, self.centres, self.q = lattice, seen, centres, q
        self.states = len(lattice.omega)
        self.low = np.searchsorted(seen, centres - radius - 1e-9)
        self.high = np.searchsorted(seen, centres + radius + 1e-9)
        sizes = self.high - self.low
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.action = np.repeat(np.arange(len(centres)), sizes)
        self.state = np.arange(self.starts[-1]) - self.starts[self.action] + self.low[self.action]
        self.sweeps = Sweeps(lattice, q)
        self.above, self.below = self._children(0), self._children(1)
        self.edges, counts, self.number = self._edges()
        self.alone: Integers = np.setdiff1d(np.arange(len(self.state)), self.edges)
        self.chunks: list[Chunk] = lattice.chunks(self, np.concatenate([[0], np.cumsum(counts)]))

    def _children(self, side: int) -> tuple[Integers, Integers]:
        """Pairs of a variable and a state outside that hangs on it."""
        parent = self.sweeps.parents[side]
        beyond = np.arange(self.states)
        pairs = []
        for a, (low, high) in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True)):
            outside = beyond[high:] if side == 0 else beyond[:low]
            child = outside[(parent[outside] >= low) & (parent[outside] < high)]
            pairs.append((self.starts[a] + parent[child] - low, child))
        variables, children = (np.concatenate(each) for each in zip(*pairs, strict=True))
        return variables, children

    def _edges(self) -> tuple[Integers, Integers, Integers]:
        """The edges inside windows as pairs of variables, how many each action has, and their numbers in the lattice."""
        one, two = self.lattice.edges.T
        found, numbers = [], []
        for a, (low, high) in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True)):
            inside = np.flatnonzero((one >= low) & (two < high))
            found.append(self.lattice.edges[inside] - low + self.starts[a])
            numbers.append(inside)
        return np.concatenate(found), np.array([len(each) for each in found]), np.concatenate(numbers)

    def gather(self, prices: Floats) -> Floats:
        """Pᵀ: for each variable the prices of its state and, discounted, of all that hangs on it."""
        found = prices[self.state]
        for side, (variable, child) in enumerate((self.above, self.below)):
            hanging = self.sweeps.gathered(side, prices)[child] / self.q
            found += np.bincount(variable, hanging, len(found))
        return found

    def gather_each(self, costs: Floats) -> Floats:
        """The same for costs [action, state] of every action."""
        found = costs[self.action, self.state]
        for side, (variable, child) in enumerate((self.above, self.below)):
            hanging = self.sweeps.gathered(side, costs)[self.action[variable], child] / self.q
            found += np.bincount(variable, hanging, len(found))
        return found

    def hang(self, values: Floats) -> Floats:
        """P: for each state the sum over actions of their variable there, or of what hangs there."""
        found = np.asarray(np.bincount(self.state, values, self.states), dtype=np.float64)
        for side, (variable, child) in enumerate((self.above, self.below)):
            entering = np.asarray(np.bincount(child, values[variable] / self.q, self.states), dtype=np.float64)
            found += self.sweeps.spread(side, entering)
        return found

    def noisy(self, decay: float) -> Floats:
        """Variables that fall by `decay` with each unit of what is guessed: actions are weighed so that states sum to about one."""
        found: Floats = np.exp(-decay * np.abs(self.seen[self.state] - self.centres[self.action]))
        count = len(self.centres)
        for _ in range(WEIGHINGS):
            wanted = np.bincount(self.action, found / self.hang(found)[self.state], count)
            found *= (wanted / np.bincount(self.action, found, count))[self.action]
        return found

    def whole(self, values: Floats) -> Floats:
        """The rows [action, state] of a kernel."""
        rows = np.zeros((len(self.centres), self.states))
        for side, (variable, child) in enumerate((self.above, self.below)):
            hung = np.zeros_like(rows)
            hung[self.action[variable], child] = values[variable] / self.q
            rows += self.sweeps.spread(side, hung)
        rows[self.action, self.state] = values
        return rows

    def tree_flows(self, surplus: Floats, faint: float) -> list[tuple[Integers, Floats]]:
        """For both sides the parents, and the flows [action, state] from a state's parent to it that pay for what hangs there.

        `surplus` is [action, state]. Flows inside an action's window are zero, and those that count less than `faint` at a border.
        """
        found = []
        for side, (variable, child) in enumerate((self.above, self.below)):
            counts = np.zeros((len(self.centres), self.states))
            counts[self.action[variable], child] = 1.0
            counts = self.sweeps.spread(side, counts)
            flow = np.maximum(self.sweeps.gathered(side, np.where(counts > faint, surplus, 0.0)), 0.0) / self.q
            outside = self._beyond(side)
            found.append((self.sweeps.parents[side], np.where(outside & (counts > faint), flow, 0.0)))
        return found

    def _beyond(self, side: int) -> Flags:
        """Which states lie beyond each action's window on one side, [action, state]."""
        every = np.arange(self.states)
        return np.asarray(every >= self.high[:, None] if side == 0 else every < self.low[:, None])
