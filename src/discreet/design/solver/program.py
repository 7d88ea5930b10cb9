"""The design problem as a plain linear program on a graph.

    minimise   Σ_a Σ_h cost[a, h] · x[a, h]
    subject to Σ_a x[a, h] = 1                       for every state h,
               x[a, i] ≤ e^ε · x[a, j]               for both directions of every edge {i, j}, every action a,
               x ≥ 0.

`cost` is the prior-weighted loss, cost[a, h] = −π0(h)·u(a, h), of any sign.  Axes are always [action, state].

Directed edges.  For `edges` of shape (E, 2) with rows (i, j), directed edge number e < E is i→j and number
E + e is j→i.  The row of G that belongs to i→j is

    (G x)_{i→j} = q·x_j − x_i ≥ 0,      q = e^ε.

Multipliers z[a, e] ≥ 0 have one entry per action and directed edge.  Weak duality, for *any* z ≥ 0:

    Σ_{a,h} cost·x  ≥  Σ_h min_a [cost_a − Gᵀ z_a]_h,      (Gᵀz)_h = Σ_{i→h} q·z_{i→h} − Σ_{h→k} z_{h→k},

because each feasible x_a has z_a·(G x_a) ≥ 0, x ≥ 0 and Σ_a x = 1.  The bound needs no solver's word.

Reference: SY eq. (2) and Prop. 5 (the program); weak duality of linear programming.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.gap import relative_gap
from discreet.numerics.arrays import Flags as Flags
from discreet.numerics.arrays import Floats as Floats
from discreet.numerics.arrays import Integers as Integers
from discreet.numerics.devices import Array, home

AT_ONCE = 1 << 17
"""Pairs of an action and an edge that are compared at once: what a processor has at hand."""


@dataclass(frozen=True)
class Program:
    """One block of variables per action, coupled only by Σ_a x_a = 1."""

    cost: Floats
    edges: Integers
    epsilon: float

    def __post_init__(self) -> None:
        cost = np.array(self.cost, dtype=np.float64)
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        if cost.ndim != 2 or 0 in cost.shape:
            raise InputError(
                "the cost must be a table of actions by states",
                found=f"shape {cost.shape}",
                allowed="at least one action and one state",
                remedy="give one row per action",
            )
        if not np.all(np.isfinite(cost)):
            raise InputError(
                "a cost is not finite",
                found="NaN or infinity",
                allowed="finite numbers",
                remedy="leave out actions whose loss is unbounded on some state",
            )
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise InputError(
                "epsilon is not a privacy budget",
                found=str(self.epsilon),
                allowed="a finite number ≥ 0",
                remedy="choose epsilon between 0 and about 20",
            )
        if edges.size and (edges.min() < 0 or edges.max() >= cost.shape[1]):
            raise InputError(
                "an edge names a state that does not exist",
                found=f"{edges.min()}..{edges.max()}",
                allowed=f"0..{cost.shape[1] - 1}",
                remedy="number states from zero",
            )
        if np.any(edges[:, 0] == edges[:, 1]):
            raise InputError(
                "an edge joins a state to itself",
                found="a loop",
                allowed="two different states",
                remedy="drop loops: they constrain nothing",
            )
        cost.setflags(write=False)
        edges.setflags(write=False)
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "epsilon", float(self.epsilon))

    @property
    def actions(self) -> int:
        return int(self.cost.shape[0])

    @property
    def states(self) -> int:
        return int(self.cost.shape[1])

    @property
    def factor(self) -> float:
        """q = e^ε in floating point."""
        return float(np.exp(self.epsilon))

    def restricted(self, actions: Integers) -> Program:
        """The same program with fewer actions: its optimum is an upper bound."""
        return Program(self.cost[actions], self.edges, self.epsilon)


@dataclass(frozen=True)
class Solution:
    """A feasible kernel with its value, and multipliers with the bound they prove (to float rounding)."""

    kernel: Floats = field(repr=False)
    multipliers: Floats = field(repr=False)
    value: float
    bound: float
    iterations: int
    seconds: float
    status: str

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.value, self.bound)


def directed(edges: Integers) -> tuple[Integers, Integers]:
    """Tails and heads of the directed edges, in the order multipliers use: every i→j, then every j→i."""
    return (np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]]))


def slack(kernel: Floats, edges: Integers, factor: float) -> Floats:
    """G x per action: q·x_head − x_tail on every directed edge, axes [action, directed edge]."""
    tail, head = directed(edges)
    found: Floats = factor * kernel.take(head, axis=1) - kernel.take(tail, axis=1)
    return found


Ends = tuple[Integers, Integers]
"""Where flows [action, directed edge] end and begin: places in [action, state], all in a row."""


def ends_of(edges: Integers, actions: int, states: int) -> Ends:
    """The ends of the flows of so many actions."""
    tail, head = directed(edges)
    offset = states * home(edges).arange(actions)[:, None]
    return (head + offset).ravel(), (tail + offset).ravel()


def pulled(multipliers: Floats, edges: Integers, factor: float | Floats, states: int, ends: Ends | None = None) -> Floats:
    """Gᵀ z per action, axes [action, state]; `factor` is that of all actions, or of each, [action, 1].

    Who asks often hands over the `ends` of the flows.
    """
    actions = len(multipliers)
    heads, tails = ends_of(home(multipliers).asarray(edges), actions, states) if ends is None else ends
    flat = multipliers.ravel()
    into = np.bincount(heads, flat, actions * states).reshape(actions, states)
    out = np.bincount(tails, flat, actions * states).reshape(actions, states)
    found: Array = factor * into - out
    pulls: Floats = found
    return pulls


def reduced_cost(program: Program, multipliers: Floats) -> Floats:
    """cost_a − Gᵀ z_a, axes [action, state]."""
    return np.asarray(program.cost - pulled(multipliers, program.edges, program.factor, program.states))


def dual_bound(program: Program, multipliers: Floats) -> float:
    """Σ_h min_a [cost_a − Gᵀ z_a]_h after clipping z at zero: at most the optimum, up to float rounding."""
    return float(reduced_cost(program, np.maximum(multipliers, 0.0)).min(axis=0).sum())


def value_of(program: Program, kernel: Floats) -> float:
    """Σ_a Σ_h cost·x, the expected loss of a kernel."""
    return float(np.sum(program.cost * kernel))


def violation(kernel: Floats, edges: Integers, factor: float) -> float:
    """Largest x_i / (q·x_j) − 1 over actions and directed edges; at most zero for a private kernel."""
    if not len(edges):
        return 0.0
    tail, head = directed(edges)
    columns, largest = kernel.T.copy(), []  # [state, action]: what belongs to a state lies side by side
    step = max(AT_ONCE // len(kernel), 1) if isinstance(kernel, np.ndarray) else len(tail)
    for first in range(0, len(tail), step):
        at_tail, at_head = (columns.take(ends[first : first + step], axis=0) for ends in (tail, head))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = at_tail / (factor * at_head)
        both_zero = (at_tail == 0) & (at_head == 0)
        largest.append(float(np.max(np.where(both_zero, 0.0, ratio))))
    return float(np.max(largest)) - 1.0
