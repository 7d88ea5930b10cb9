"""The frontier: the least expected loss against ε (or ρ), between proved sides, beside what people do today.

L*(ε) = least loss of any ε-private mechanism; the level is ρ where the problem asks for ρ. A mechanism private at ε is private at
every larger ε, so L* never rises, and each side may borrow: loss(ε) = min over ε′ ≤ ε of the losses reached, lower_bound(ε) = max
over ε′ ≥ ε of the bounds proved. Points are designed side by side. Theory gives monotonicity, not convexity: under squared error
with real actions the first bit of ε gains only about ε², so the curve starts flat and turns. `bends` tells where the computed
points prove the curve not convex.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from discreet.design.best_mechanism import design
from discreet.design.crew.side_by_side import side_by_side
from discreet.design.processes.together import together
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import cores
from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.certificate import Certificate
from discreet.model.gap import relative_gap
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.record import Baseline
from discreet.model.universe import Universe
from discreet.watch import SILENT, Watch

MANY = 5
"""From so many points on, the default gap is the coarse one."""
FINE_GAP, COARSE_GAP, UNBIASED_GAP = 1e-6, 1e-4, 1e-2
"""Unbiased values take a program with means for every point, whose bound halves its error slowly."""
AT_ONCE, MOST_TOGETHER = 6, 3_000
"""Points that are designed together, and histograms up to which they are: larger programs gain nothing from company."""


@dataclass(frozen=True, eq=False)
class Point:
    """One level of the promise: the loss reached by a certified mechanism, the loss that none beats, the baselines' losses.

    `designed` is the level that the mechanism was designed for (smaller when it was borrowed), `proved` that of the bound.
    """

    level: Fraction
    value: Fraction
    bound: Fraction
    baselines: dict[str, Baseline]
    seconds: float
    designed: Fraction
    proved: Fraction
    mechanism: Mechanism | None = None
    certificate: Certificate | None = None

    @property
    def loss(self) -> float:
        return -float(self.value)

    @property
    def lower_bound(self) -> float:
        return -float(self.bound)

    @property
    def relative_gap(self) -> float:
        return relative_gap(-self.value, -self.bound)


@dataclass(frozen=True)
class Bend:
    """Three neighbouring levels at which the curve is proved not convex: `height` is how far it lies above the chord."""

    levels: tuple[Fraction, Fraction, Fraction]
    height: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """Points by ascending level of the problem's promise."""

    problem: Problem
    points: tuple[Point, ...]
    seconds: float

    @property
    def bends(self) -> tuple[Bend, ...]:
        """Where the points prove the loss curve not convex; empty: they are consistent with a convex curve."""
        return tuple(bends([p.level for p in self.points], [(-p.bound, -p.value) for p in self.points]))

    def baseline(self, name: str) -> list[tuple[Fraction, float]]:
        """The levels and losses of one baseline, where it could be computed."""
        found = [(p.level, p.baselines[name].loss) for p in self.points if name in p.baselines]
        return [(level, loss) for level, loss in found if loss is not None]

    @property
    def baseline_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for p in self.points for name, b in p.baselines.items() if b.value is not None))


def frontier(
    problem: Problem,
    levels: Sequence[Fraction],
    watch: Watch = SILENT,
    *,
    gap: float | None = None,
    seconds: float = 60.0,
    compare: bool = True,
    keep: bool = False,
    workers: int | None = None,
    within: str | None = None,
) -> Frontier:
    """The frontier at the given levels of the problem's promise, each point designed to a relative `gap` within so many `seconds`.

    `compare` adds the baselines, `keep` the mechanisms with their certificates, `within` restricts designs to a class of
    mechanisms. Cancelling returns what is done.
    """
    wanted = sorted(set(levels))
    if not wanted:
        raise InputError(
            f"A frontier needs levels of {problem.promise.letter}",
            found="none",
            allowed="one or more",
            remedy="for instance 0.5, 1 and 2",
        )
    begun = time.perf_counter()
    usual = UNBIASED_GAP if problem.unbiased is not None else COARSE_GAP if len(wanted) >= MANY else FINE_GAP
    fine = gap if gap is not None else usual
    tasks = [_Task(problem.with_level(level), fine, seconds, compare, keep, within) for level in reversed(wanted)]
    if pays_together(problem):
        groups = in_groups(tasks, min(workers or cores(), len(tasks)))
        found = [p for group in side_by_side(design_points, groups, watch, workers, "part of a frontier") for p in group or ()]
    else:
        found = [p for p in side_by_side(design_point, tasks, watch, workers, "frontier point") if p is not None]
    return Frontier(problem, tuple(repaired(found)), time.perf_counter() - begun)


def pays_together(problem: Problem) -> bool:
    """Whether designs of this problem at several levels share enough: small programs for listed actions on the same states."""
    universe = problem.universe
    small = isinstance(universe, Universe) and problem.exchangeable and universe.histogram_count <= MOST_TOGETHER
    return small and not problem.real_actions and problem.unbiased is None and isinstance(problem.promise, PurePromise)


def in_groups(tasks: Sequence[_Task], workers: int) -> list[tuple[_Task, ...]]:
    """Neighbours in groups of about the same size, as many for each worker."""
    count = -(-len(tasks) // (AT_ONCE * workers)) * workers
    cuts = [round(k * len(tasks) / count) for k in range(count + 1)]
    return [tuple(tasks[a:b]) for a, b in pairwise(cuts) if a < b]


@dataclass(frozen=True)
class _Task:
    problem: Problem
    gap: float
    seconds: float
    compare: bool
    keep: bool
    within: str | None = None


def design_points(tasks: Sequence[_Task], watch: Watch) -> tuple[Point, ...]:
    """Several points, whose programs are solved together; the time of all is there for each."""
    shared = [replace(task, seconds=task.seconds * len(tasks)) for task in tasks]
    return tuple(together(design_point, shared, watch))


def design_point(task: _Task, watch: Watch) -> Point:
    """One point, before anything is borrowed."""
    begun = time.perf_counter()
    with nullcontext() if task.keep else in_passing():
        found = design(task.problem, watch, gap=task.gap, seconds=task.seconds, compare=task.compare, within=task.within)
    level = task.problem.promise.level
    return Point(
        level,
        found.value,
        found.bound,
        dict(found.baselines),
        time.perf_counter() - begun,
        level,
        level,
        found.mechanism if task.keep else None,
        found.certificate if task.keep else None,
    )


def repaired(points: Sequence[Point]) -> list[Point]:
    """Ascending; each point with the best mechanism of any smaller level and the best bound of any larger one."""
    rising = sorted(points, key=lambda p: p.level)
    up: list[Point] = []
    for point in rising:
        best = up[-1] if up and up[-1].value > point.value else point
        up.append(replace(point, value=best.value, designed=best.designed, mechanism=best.mechanism, certificate=best.certificate))
    down: list[Point] = []
    for point in reversed(up):
        best = down[-1] if down and down[-1].bound < point.bound else point
        down.append(replace(point, bound=best.bound, proved=best.proved))
    return down[::-1]


def bends(levels: Sequence[Fraction], sides: Sequence[tuple[Fraction, Fraction]]) -> list[Bend]:
    """Neighbouring triples whose middle is proved to lie above the chord; `sides` are (lower, upper) of the loss."""
    found = []
    for k in range(1, len(levels) - 1):
        left, middle, right = levels[k - 1 : k + 2]
        share = (middle - left) / (right - left)
        chord = (1 - share) * sides[k - 1][1] + share * sides[k + 1][1]
        if sides[k][0] > chord:
            found.append(Bend((left, middle, right), float(sides[k][0] - chord)))
    return found
