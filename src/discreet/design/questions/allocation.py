"""Splitting one budget over several statistics or tables: minimise Σ_i weight_i·L_i(ε_i) subject to Σ_i ε_i ≤ budget.

Frontiers are known at points only and need not be convex, so nothing is assumed between points. Choosing one point of each
frontier is a finite problem, solved exactly by merging undominated (ε, loss) pairs. Its other side: L_i never rises, so for ε_i
between neighbouring points the loss is at least the bound proved at the upper one; the same merge with these pairs proves what
no split at all can beat. Every interval in which a better split may still hide is halved, until none is left or the bound is
near enough. A chosen loss is never interpolated: it is that of a mechanism certified at exactly the chosen ε.

Convexity is checked on the points and reported. It must not be assumed: curves start flat (frontier), so with a small
budget the best split often gives everything to one statistic, and the bound proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.design.questions.frontier import Bend, Frontier, bends, frontier, repaired
from discreet.errors import InputError
from discreet.model.gap import relative_gap
from discreet.model.problem import Problem
from discreet.model.promises import pure_epsilon
from discreet.watch import SILENT, Watch

STEPS = 8
"""Levels of ε of the first look at each frontier."""
ROUNDS = 8
WITHIN = 1e-2
"""How near the loss of the split comes to what no split beats, as a share of it."""
MOST_NEW = 8
"""Levels that a round adds to each frontier, those with the most room for a better split first."""


@dataclass(frozen=True)
class Curve:
    """A frontier's points by ascending ε: (ε, lower bound, loss), with the weight of its loss in the sum.

    `floor` is a loss that no ε beats (0 for losses); None when unknown, and then the points must reach the budget.
    """

    name: str
    weight: Fraction
    points: tuple[tuple[Fraction, Fraction, Fraction], ...]
    floor: Fraction | None = None

    def __post_init__(self) -> None:
        rising = [p[0] for p in self.points]
        if not self.points or rising != sorted(set(rising)) or rising[0] < 0:
            raise InputError(
                "A curve needs points with ascending ε",
                found=f"{len(self.points)} points",
                allowed="one or more",
                remedy="compute the frontier again",
            )
        if self.weight <= 0:
            raise InputError(
                "The weight of a statistic must be positive",
                found=str(self.weight),
                allowed="above 0",
                remedy="leave out what does not count",
            )

    @property
    def bends(self) -> list[Bend]:
        """Where the points prove the curve not convex."""
        return bends([p[0] for p in self.points], [(low, high) for _, low, high in self.points])


@dataclass(frozen=True)
class Allotment:
    """What one statistic gets, and the gain in weighted loss for each further unit of ε (None at the last point)."""

    name: str
    epsilon: Fraction
    loss: Fraction
    lower_bound: Fraction
    marginal: float | None


@dataclass(frozen=True)
class Allocation:
    """The best split among the computed points; no split of the budget at all has a weighted loss below `lower_bound`."""

    budget: Fraction
    parts: tuple[Allotment, ...]
    loss: Fraction
    lower_bound: Fraction
    convex: bool
    notes: tuple[str, ...]

    @property
    def spent(self) -> Fraction:
        return sum((part.epsilon for part in self.parts), Fraction(0))

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.loss, self.lower_bound)


def curve(name: str, found: Frontier, weight: Fraction = Fraction(1)) -> Curve:
    """A frontier as a curve of exact numbers."""
    floor = Fraction(0) if all(d.is_loss for d in found.problem.decisions) else None
    return Curve(name, weight, tuple((p.level, -p.bound, -p.value) for p in found.points), floor)


def split(curves: Sequence[Curve], budget: Fraction) -> Allocation:
    """The best split of the budget among the points of the curves, with a bound on every split."""
    if not curves or budget <= 0:
        raise InputError(
            "There is nothing to split",
            found=f"{len(curves)} statistics, budget {budget}",
            allowed="one or more statistics and a budget above 0",
            remedy="correct the plan",
        )
    least = sum((c.points[0][0] for c in curves), Fraction(0))
    if least > budget:
        raise InputError(
            "The budget does not cover the smallest ε of every frontier",
            found=f"budget {float(budget):g}",
            allowed=f"at least {float(least):g}",
            remedy="compute the frontiers at smaller ε",
        )
    chosen = _merged([[(e, c.weight * high) for e, _, high in c.points] for c in curves], budget)
    bound = bounding_intervals(curves, budget)
    parts = tuple(_part(c, place) for c, place in zip(curves, chosen[1], strict=True))
    bent = [c.name for c in curves if c.bends]
    notes = tuple(f"The frontier of {name} is not convex: a split may jump when the budget changes a little" for name in bent)
    return Allocation(budget, parts, chosen[0], min(bound[0], chosen[0]), not bent, notes)


def bounding_intervals(curves: Sequence[Curve], budget: Fraction) -> tuple[Fraction, list[int]]:
    """What no split can beat, and which interval of each curve (numbered by its upper end) says so."""
    return _merged([_from_below(c, budget) for c in curves], budget, strictly=True)


def through(curves: Sequence[Curve], budget: Fraction) -> list[list[Fraction | None]]:
    """For each interval of each curve what no split that lies there can beat; None where the budget does not reach."""
    options = [_from_below(c, budget) for c in curves]
    found: list[list[Fraction | None]] = []
    for i, own in enumerate(options):
        front = _front([o for j, o in enumerate(options) if j != i], budget, strictly=True)
        row: list[Fraction | None] = []
        for epsilon, loss in own:
            rest = [other for spent, other, _ in front if spent + epsilon < budget]
            row.append(loss + rest[-1] if rest else None)
        found.append(row)
    return found


def allocate(
    problems: Sequence[tuple[str, Problem, Fraction]],
    budget: Fraction,
    watch: Watch = SILENT,
    *,
    gap: float = 1e-4,
    within: float = WITHIN,
    seconds: float = 60.0,
    steps: int = STEPS,
    rounds: int = ROUNDS,
    workers: int | None = None,
    levels: bool = False,
) -> tuple[Allocation, list[Frontier]]:
    """Frontiers of every problem up to the budget and the best split, with finer points where a better one may hide.

    `problems` are (name, problem, weight of its loss), `gap` is that of each design. It ends when the split is proved `within` a
    share of the best, after so many `rounds`, or when it is cancelled, with what is proved by then. `levels` says that the problems
    are levels of one table, the finest first: those above it are designed to read the statistic alone, so that readers can put them
    together (publish.levels).
    """
    for _, problem, _ in problems:
        pure_epsilon(problem.promise)
    grid = [Fraction(0), *(budget * k / steps for k in range(1, steps + 1))]
    classes = ["oblivious" if levels and i else None for i in range(len(problems))]
    found = [
        frontier(problem, grid, watch, gap=gap, seconds=seconds, compare=False, keep=True, workers=workers, within=within_class)
        for (_, problem, _), within_class in zip(problems, classes, strict=True)
    ]
    for number in range(rounds):
        curves = [curve(name, f, weight) for (name, _, weight), f in zip(problems, found, strict=True)]
        best = split(curves, budget)
        watch.report(stage=f"split, round {number + 1}", value=-float(best.loss), bound=-float(best.lower_bound))
        if number == rounds - 1 or watch.cancelled() or best.relative_gap <= within:
            break
        new = hiding(curves, best, within)
        if not any(new):
            break
        found = [
            _finer(f, more, watch, gap, seconds, workers, within_class)
            for f, more, within_class in zip(found, new, classes, strict=True)
        ]
    return best, found


def hiding(curves: Sequence[Curve], best: Allocation, within: float) -> list[list[Fraction]]:
    """The middles of the intervals in which a split that is better by more than the share `within` may hide.

    Only an interval over which the bound falls can hide one: elsewhere its lower end is as good.
    """
    target = best.loss - Fraction(within) * abs(best.loss)
    found: list[list[Fraction]] = []
    for c, row in zip(curves, through(curves, best.budget), strict=True):
        room = []
        for k in range(1, len(c.points)):
            (left, before, _), (right, after, _) = c.points[k - 1], c.points[k]
            bound = row[k]
            if bound is not None and bound < target and before > after:
                room.append((bound, (left + right) / 2))
        found.append([middle for _, middle in sorted(room)[:MOST_NEW]])
    return found


def _finer(
    known: Frontier, levels: list[Fraction], watch: Watch, gap: float, seconds: float, workers: int | None, within: str | None
) -> Frontier:
    """The same frontier with more points."""
    have = {p.level for p in known.points}
    wanted = [e for e in levels if e not in have]
    if not wanted:
        return known
    more = frontier(
        known.problem, wanted, watch, gap=gap, seconds=seconds, compare=False, keep=True, workers=workers, within=within
    )
    return replace(known, points=tuple(repaired([*known.points, *more.points])), seconds=known.seconds + more.seconds)


def _from_below(c: Curve, budget: Fraction) -> list[tuple[Fraction, Fraction]]:
    """For ε in (previous, this]: more than the previous ε is spent and the loss is at least this point's bound."""
    if c.floor is None and c.points[-1][0] < budget:
        raise InputError(
            f"The frontier of {c.name} ends before the budget",
            found=f"ε = {float(c.points[-1][0]):g}",
            allowed=f"points up to {float(budget):g}",
            remedy="add the budget itself as a point",
        )
    steps = [(e, c.weight * low) for (e, _, _), (_, low, _) in zip(c.points, c.points[1:], strict=False)]
    first = (Fraction(0), c.weight * c.points[0][1])
    beyond = [] if c.floor is None else [(c.points[-1][0], c.weight * c.floor)]
    return [first, *steps, *beyond]


def _merged(
    choices: Sequence[Sequence[tuple[Fraction, Fraction]]], budget: Fraction, strictly: bool = False
) -> tuple[Fraction, list[int]]:
    """The least total loss with total ε within (`strictly`: below) the budget, one choice from each list, exactly."""
    _, loss, path = _front(choices, budget, strictly)[-1]
    return loss, list(path)


def _front(
    choices: Sequence[Sequence[tuple[Fraction, Fraction]]], budget: Fraction, strictly: bool
) -> list[tuple[Fraction, Fraction, tuple[int, ...]]]:
    """Every total (ε, loss, choices) that no other total beats, by ascending ε and falling loss."""
    front: list[tuple[Fraction, Fraction, tuple[int, ...]]] = [(Fraction(0), Fraction(0), ())]
    for options in choices:
        grown = sorted(
            (e + de, loss + dl, (*path, k))
            for e, loss, path in front
            for k, (de, dl) in enumerate(options)
            if e + de < budget or (e + de == budget and not strictly)
        )
        front, best = [], None
        for e, loss, path in grown:
            if best is None or loss < best:
                front.append((e, loss, path))
                best = loss
    return front


def _part(c: Curve, place: int) -> Allotment:
    """What a curve gets at one of its points."""
    epsilon, low, high = c.points[place]
    marginal = None
    if place + 1 < len(c.points):
        further, _, loss = c.points[place + 1]
        marginal = float(c.weight * (high - loss) / (further - epsilon))
    return Allotment(c.name, epsilon, high, low, marginal)
