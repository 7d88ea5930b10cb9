"""The ground a program stands on: states, prior mass, statistic and payoffs as arrays, and the box that truncates them.

Floats propose here; `certify` starts again from the problem. Truncation: a clamp to a box (model.summary) is a retraction,
so a kernel on the box is private everywhere; its value counts every clamped state's payoff (`upper`), while the bound counts
only states inside the box and adds the least loss of the others (`lower`), valid for payoffs of any sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.model.actions import Action, ListedActions, NamedActions
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem, believed
from discreet.model.replies import loss_table
from discreet.model.states import StateSpace, locate, state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, Summary

MOST_COMPOUND = 20_000
"""Combined actions of several decision makers beyond which the program is not formed."""

KEPT_BOXES = 2

Recommendation = Action | tuple[Action, ...]


@dataclass(frozen=True, eq=False)
class Ground:
    """The finest states of a problem with their prior mass, values of the statistic and graph."""

    problem: Problem
    space: StateSpace
    masses: np.ndarray
    omegas: np.ndarray
    exact_omegas: tuple[Fraction, ...]
    column: np.ndarray

    @property
    def summary(self) -> Summary:
        return HistogramSummary() if self.problem.exchangeable else DatabaseSummary()


_last: list[Ground] = []


def ground(problem: Problem) -> Ground:
    """States as histograms when order does not matter, else as databases; the last one is kept, since every route asks for it.

    It serves every level of a promise: what is listed does not depend on that.
    """
    for held in list(_last):
        if held.problem is problem:
            return held
        if replace(held.problem, promise=problem.promise) == problem:
            return replace(held, problem=problem)
    found = _listed(problem)
    _last[:] = [found]
    return found


def _listed(problem: Problem) -> Ground:
    space = problem.finest()
    belief = believed(problem, space)
    column, values = np.array(belief.column), np.array([float(omega) for omega in belief.values])
    return Ground(problem, space, belief.weights.floats(), values[column], belief.values, column)


@dataclass(frozen=True, eq=False)
class Section:
    """A ground seen through a summary: the states that a kernel reads, with the mass and costs that fall on them.

    `inside` holds, for each state, the ground state that it stands for in the lower bound (−1: none, several are merged).
    """

    ground: Ground
    summary: Summary
    space: StateSpace
    image: np.ndarray
    inside: np.ndarray

    @property
    def dimensions(self) -> int:
        """How many counts a state has that the others do not determine: graphs of histograms are as wide as that makes them."""
        problem, coordinates = self.ground.problem, self.space.vectors.shape[1]
        return max(coordinates - isinstance(problem.neighbours, ReplaceOne), 1) if problem.exchangeable else max(coordinates, 1)

    def upper(self, losses: np.ndarray) -> np.ndarray:
        """Expected loss [action, state] of everything that lands on a state; `losses` is [action, ω]."""
        states, values, masses = self._landing
        begins = np.flatnonzero(np.diff(states, prepend=-1))
        found = np.zeros((len(losses), len(self.space)))
        found[:, states[begins]] = np.add.reduceat(losses.take(values, axis=1) * masses, begins, axis=1)
        return found

    @cached_property
    def _landing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of a state and a value of the statistic in order, and the mass that falls on each."""
        width = len(self.ground.exact_omegas)
        code = self.image * width + self.ground.column
        order = np.argsort(code, kind="stable")
        begins = np.flatnonzero(np.diff(code[order], prepend=-1))
        return *np.divmod(code[order][begins], width), np.add.reduceat(self.ground.masses[order], begins)

    def lower(self, losses: np.ndarray) -> tuple[np.ndarray, float]:
        """Loss [action, state] of the states inside the box alone, and the least loss of all the others together."""
        column, masses = self.ground.column, self.ground.masses
        left = np.ones(len(masses), dtype=bool)
        left[self.inside] = False
        dropped = float(losses.min(axis=0)[column[left]] @ masses[left])
        return losses.take(column[self.inside], axis=1) * masses[self.inside], dropped


def whole(base: Ground) -> Section:
    """Every state for itself."""
    everything = np.arange(len(base.space))
    return Section(base, base.summary, base.space, everything, everything)


_boxes: list[Section] = []


def boxed(base: Ground, clamp: Clamp) -> Section:
    """The states of a box; histograms outside land on its border. The last ones are kept: whether it fits is asked before."""
    problem = base.problem
    summary = HistogramSummary(clamp)
    for held in list(_boxes):
        if held.ground is base and held.summary == summary:
            return held
    space = state_space(problem.universe, problem.neighbours, summary)
    image = locate(space, summary, base.space.vectors)
    at = base.space.index
    found = Section(base, summary, space, image, np.array([at[label] for label in space.labels]))
    _boxes[:] = [*_boxes[1 - KEPT_BOXES :], found]
    return found


def summed(base: Ground, summary: LinearSummary) -> Section:
    """The states of a weighted sum: an upper bound only, since several ground states are merged into one."""
    problem = base.problem
    space = state_space(problem.universe, problem.neighbours, summary)
    vectors = np.asarray(base.space.vectors)
    if not problem.exchangeable:
        vectors = problem.people.histograms_of(vectors)
    return Section(base, summary, space, locate(space, summary, vectors), np.full(len(space), -1))


def recommendations(problem: Problem) -> list[Recommendation]:
    """Every listed action, or every combination of the decision makers' actions."""
    lists = [list(d.actions) for d in problem.decisions if isinstance(d.actions, (ListedActions, NamedActions))]
    count = prod(len(actions) for actions in lists)
    if count > MOST_COMPOUND:
        raise TooLarge(
            "The decision makers' actions have too many combinations",
            size=f"{count:,}",
            fits=f"{MOST_COMPOUND:,}",
            remedy="give each decision fewer actions",
        )
    if len(lists) == 1:
        return list(lists[0])
    return list(product(*lists))


def losses(problem: Problem, actions: Sequence[Recommendation], omegas: Sequence[Fraction]) -> np.ndarray:
    """−u [action, ω] in floats, summed over the decision makers with their weights."""
    if len(problem.decisions) == 1:
        return float(problem.decision.weight) * loss_table(problem.decision, list(actions), omegas)  # type: ignore[arg-type]
    total = np.zeros((len(actions), len(omegas)))
    for i, decision in enumerate(problem.decisions):
        own = list(dict.fromkeys(action[i] for action in actions if isinstance(action, tuple)))
        table = dict(zip(own, loss_table(decision, own, omegas), strict=True))
        total += float(decision.weight) * np.stack([table[a[i]] for a in actions if isinstance(a, tuple)])
    return total
