"""A way to publish that people use today: what it is worth for the same decision and ε, and, where it can be published, how.

A way gives a channel: probabilities [output, state] in floats on the states of a section, to which every decision maker replies
best (Bayes). Outputs with the same reply are one, so the channel becomes a finite mechanism that can be rounded and proved: a
design is never worse than a way that it is compared with (`best_mechanism`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import prod

import numpy as np

from discreet.design.program.listed import exact_kernel, solvable
from discreet.design.program.sections import Ground, Recommendation, Section, losses
from discreet.design.proposal import Proposal
from discreet.errors import DiscreetError, InputError
from discreet.model.problem import Problem
from discreet.model.promises import Promise, PurePromise
from discreet.model.replies import best_replies
from discreet.watch import Watch

MOST_REPLIES = 400
"""Different replies that a published way may have; beyond it neighbouring numbers are joined."""


class Way(ABC):
    """One way that people use today."""

    name: str
    words: str
    serves: tuple[type[Promise], ...] = (PurePromise,)
    """The kinds of promise that it is used under."""
    reads_more = False
    """Whether it reads more of the data than the statistic."""

    @abstractmethod
    def loss(self, base: Ground, watch: Watch) -> float:
        """The expected loss, all decision makers replying best; refuses in words where the way does not fit."""

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        """The way as an exact mechanism; None when it cannot be published, or another way is surely as good."""
        return None

    def entries(self, base: Ground) -> int:
        """About how many pairs of a state and an output the table has that publishing it rounds and proves."""
        return 0


def rows_of(problem: Problem, outputs: int) -> int:
    """How many outputs are published of so many, at most: those with the same reply are one."""
    if problem.real_actions:
        return min(outputs, MOST_REPLIES) if len(problem.decisions) == 1 else outputs
    return min(outputs, prod(len(d.choices) for d in problem.decisions))


def answered(problem: Problem, joint: np.ndarray, omegas: tuple[Fraction, ...]) -> float:
    """Expected loss when every decision maker replies best; `joint` is [output, ω]."""
    return sum(float(d.weight) * best_replies(d, joint, omegas).loss for d in problem.decisions)


def published(section: Section, channel: np.ndarray, words: str) -> Proposal:
    """A channel [output, state of the section] with the best replies to it, as an exact kernel."""
    base = section.ground
    problem = base.problem
    joint = np.zeros((len(section.space), len(base.exact_omegas)))
    np.add.at(joint, (section.image, base.column), base.masses)
    seen = channel @ joint
    each = [best_replies(d, seen, base.exact_omegas).actions for d in problem.decisions]
    replies: list[Recommendation] = list(each[0]) if len(each) == 1 else list(zip(*each, strict=True))
    distinct = sorted(set(replies), key=_order)
    numbers: np.ndarray | None = None
    if len(distinct) > MOST_REPLIES and problem.real_actions and len(each) == 1:
        mass = seen.sum(axis=1)
        distinct = _spread_out(distinct, [float(mass[[r == a for r in replies]].sum()) for a in distinct])
        numbers = np.array([float(a) for a in distinct])  # type: ignore[arg-type]
    place = {a: i for i, a in enumerate(distinct)}
    rows = np.zeros((len(distinct), channel.shape[1]))
    for row, reply in zip(channel, replies, strict=True):
        at = place.get(reply)
        if at is None:
            assert numbers is not None and isinstance(reply, Fraction)
            at = int(np.abs(numbers - float(reply)).argmin())
        rows[at] += row
    kept = np.flatnonzero(rows.max(axis=1) > 0)
    actions = [distinct[i] for i in kept.tolist()]
    cost = section.upper(losses(problem, actions, base.exact_omegas))
    kernel = exact_kernel(section, rows[kept] / rows[kept].sum(axis=0), actions, cost, solvable(problem.epsilon))
    return Proposal(section.summary, kernel, None, words, "optimal")


def _order(reply: Recommendation) -> tuple[bool, Recommendation]:
    return isinstance(reply, str), reply


def _spread_out(numbers: list[Recommendation], masses: list[float]) -> list[Recommendation]:
    """So many of the numbers that about the same mass lies between neighbours."""
    reached = np.cumsum(masses) / max(sum(masses), np.finfo(float).tiny)
    at = np.unique(np.searchsorted(reached, np.linspace(0, 1, MOST_REPLIES)).clip(0, len(numbers) - 1))
    return [numbers[i] for i in at.tolist()]


def inapplicable(allowed: str) -> DiscreetError:
    """The refusal of a way that does not fit a problem."""
    return InputError("This baseline does not fit the problem", allowed=allowed)
