"""Where each action is looked at: a window of states around it, and trees that carry everything farther away.

States are points of a lattice of two counts with a statistic ω that is linear in them. Far from its own value of ω an action's
probability falls by e^−ε at every step, as fast as it may. So an action a has variables for the states with |ω − a| ≤ R alone
(`seen_as` says what ω counts as at the rare ends of a prior); any other state hangs on a neighbour nearer to a, down or up in ω:

    x_a(h) = x_a(parent of h)/q.

`hang` is the linear map P from variables to states, summed over actions, and `gather` its transpose: costs and prices of what
hangs on a variable, discounted. Parents do not depend on the action, only their side does: one sweep over the levels of ω will do.

In a bound the edges parent→h carry the flow (what hangs on h, discounted)/q ≥ 0: far away an action costs more than its price.

Neighbouring actions have windows of one shape, shifted. They are laid out on one template, block by block along one count,
so that `elimination` factors them as a batch; places of a template that an action does not have stay empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.design.solver.elimination import Pattern
from discreet.design.solver.layers import Layers
from discreet.design.solver.program import Flags, Floats, Integers

WEIGHINGS = 30
"""Rounds in which noise is weighed so that its probabilities sum to about one."""
TOGETHER = 32
"""Neighbouring actions on one template."""


@dataclass(frozen=True)
class TwoCounts:
    """States with two counts each, sorted by ω = offset + weights·counts; edges join them, the lower one first."""

    counts: Integers
    omega: Floats
    weights: Floats
    edges: Integers
    order: Integers
    """The caller's number of each state."""

    @staticmethod
    def of(counts: Integers, omega: Floats, edges: Integers) -> TwoCounts | None:
        """The lattice of these states; None when ω is not linear in two counts or some state is a dead end."""
        if counts.shape[1] != 2 or len(counts) < 3:
            return None
        table = np.column_stack([counts, np.ones(len(counts))])
        found = np.linalg.lstsq(table, omega, rcond=None)[0]
        if np.abs(table @ found - omega).max() > 1e-9 * max(1.0, float(np.abs(omega).max())) or not found[:2].any():
            return None
        order = np.lexsort((counts[:, 1], omega))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        joined = np.sort(place[edges], axis=1)
        level = omega[order]
        rising = joined[level[joined[:, 1]] > level[joined[:, 0]] + 1e-12]
        lowest, highest = level > level[0] + 1e-12, level < level[-1] - 1e-12
        lowest[rising[:, 1]], highest[rising[:, 0]] = False, False
        if lowest.any() or highest.any():
            return None
        return TwoCounts(counts[order], level, np.asarray(found[:2], dtype=np.float64), joined, order)

    @property
    def along(self) -> int:
        """The count along which ω grows faster: few states of a window share the other one."""
        return int(np.argmax(np.abs(self.weights)))


def seen_as(lattice: TwoCounts, weight: Floats, epsilon: float) -> Floats:
    """What one would guess of ω after seeing each state through noise: ω itself, but for the rare ends of a prior."""
    levels, number = np.unique(lattice.omega, return_inverse=True)
    mass = np.bincount(number, weight)
    one, two = lattice.edges.T
    step = float(np.max(lattice.omega[two] - lattice.omega[one]))
    noise = np.exp(-epsilon * np.abs(levels[:, None] - levels) / step) * mass
    guess = (noise @ levels) / noise.sum(axis=1)
    return np.maximum.accumulate(guess)[number]


class Sweeps:
    """Sums along the trees: every state hangs on its lowest neighbour, or on its highest one."""

    def __init__(self, lattice: TwoCounts, q: float) -> None:
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
            first = np.searchsorted(tail[best], np.arange(states))
            parent = head[best][np.minimum(first, len(best) - 1)]
            parent = np.where(toward[parent] < toward - 1e-12, parent, -1)
            self.parents.append(parent)
            here = levels if side > 0 else levels[::-1]
            self.levels.append([level[parent[level] >= 0] for level in here[1:]])

    def gathered(self, side: int, values: Floats) -> Floats:
        """Σ over all that hangs on each state, itself included, of q^(−steps)·value; the last axis are the states."""
        found: Floats = np.array(values)
        parent, columns = self.parents[side], found.T
        for level in reversed(self.levels[side]):
            np.add.at(columns, parent[level], columns[level] / self.q)
        return found

    def spread(self, side: int, values: Floats) -> Floats:
        """The transpose: Σ over the states on which each one hangs, itself included, of q^(−steps)·value."""
        found: Floats = np.array(values, dtype=float)
        parent = self.parents[side]
        for level in self.levels[side]:
            found[..., level] += found[..., parent[level]] / self.q
        return found


@dataclass(frozen=True)
class Chunk:
    """Variables `begin:end` of neighbouring actions on one template: where they and their edges stand in its batch."""

    pattern: Pattern
    actions: int
    begin: int
    end: int
    slots: Integers
    edge_begin: int
    edge_end: int
    edge_slots: Integers
    template_edges: Integers
    spans: Integers
    """Where in each block of the template an action has variables, [action, block, (first, last)];"""
    ranks: Integers
    """which of all places in these spans each variable has."""


def _spans(action: Integers, block: Integers, row: Integers, actions: int, blocks: int) -> tuple[Integers, Integers]:
    """The rows of each block that each action has, and the place of each of its rows among all of them."""
    spans = np.zeros((actions, blocks, 2), dtype=np.int64)
    spans[:, :, 0] = np.iinfo(np.int64).max
    np.minimum.at(spans[:, :, 0], (action, block), row)
    np.maximum.at(spans[:, :, 1], (action, block), row + 1)
    spans[:, :, 0] = np.minimum(spans[:, :, 0], spans[:, :, 1])
    before = np.cumsum(spans[:, :, 1] - spans[:, :, 0], axis=1) - (spans[:, :, 1] - spans[:, :, 0])
    return spans, before[action, block] + row - spans[action, block, 0]


class Windows:
    """The variables of all actions, one after the other, each action's in the order of its states."""

    def __init__(self, lattice: TwoCounts, seen: Floats, centres: Floats, radius: float, q: float) -> None:
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
        self.chunks = self._chunks(counts)

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

    def _chunks(self, edge_counts: Integers) -> list[Chunk]:
        lattice, along = self.lattice, self.lattice.along
        across = 1 - along
        slope = lattice.weights[across] / lattice.weights[along]
        bottom = np.floor(-slope * lattice.counts[:, across] + 1e-9).astype(np.int64)
        height = lattice.counts[:, along] - bottom
        edge_starts = np.concatenate([[0], np.cumsum(edge_counts)])
        chunks = []
        for first in range(0, len(self.centres), TOGETHER):
            last = min(first + TOGETHER, len(self.centres))
            a, b = int(self.starts[first]), int(self.starts[last])
            states, local = self.state[a:b], self.action[a:b] - first
            least = np.full(last - first, np.iinfo(np.int64).max)
            np.minimum.at(least, local, height[states])
            row = height[states] - least[local]
            block = lattice.counts[states, across]
            block = block - block.min()
            rows, blocks = int(row.max()) + 1, int(block.max()) + 1
            place = block * rows + row
            size = rows * blocks
            c, d = int(edge_starts[first]), int(edge_starts[last])
            ends = np.sort(place[self.edges[c:d] - a], axis=1)
            codes, edge = np.unique(ends[:, 0] * size + ends[:, 1], return_inverse=True)
            template = np.stack(np.divmod(codes, size), axis=1)
            layers = Layers(np.arange(size), rows * np.arange(blocks + 1))
            slots = local * size + place
            edge_slots = local[self.edges[c:d, 0] - a] * len(codes) + edge
            spans, ranks = _spans(local, block, row, last - first, blocks)
            pattern = Pattern(layers, template)
            chunks.append(Chunk(pattern, last - first, a, b, slots, c, d, edge_slots, template, spans, ranks))
        return chunks

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
