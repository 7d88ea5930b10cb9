"""Splitting one budget over several statistics or tables: minimise Σ_i weight_i·L_i(ε_i) subject to Σ_i ε_i ≤ budget.

Frontiers are known at points only and need not be convex, so nothing is assumed between points. Choosing one point of each
frontier is a finite problem, solved exactly by merging undominated (ε, loss) pairs. Its other side: L_i never rises, so for ε_i
between neighbouring points the loss is at least the bound proved at the upper one; the same merge with these pairs proves what
no split at all can beat. Convexity is checked on the points and reported; where the points are convex, the marginal
losses per ε of the split lie near one common price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.design.frontier import Bend, Frontier, bends, frontier
from discreet.errors import InputError
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

STEPS = 12
"""Levels of ε of the first look at each frontier."""


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
                "A curve needs points with ascending ε", found=f"{len(self.points)} points", allowed="one or more",
                remedy="compute the frontier again",
            )
        if self.weight <= 0:
            raise InputError(
                "The weight of a statistic must be positive", found=str(self.weight), allowed="above 0",
                remedy="leave out what does not count",
            )

    @property
    def bends(self) -> list[Bend]:
        """Where the points prove the curve not convex."""
        return bends([p[0] for p in self.points], [(low, high) for _, low, high in self.points])


@dataclass(frozen=True)
class Part:
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
    parts: tuple[Part, ...]
    loss: Fraction
    lower_bound: Fraction
    convex: bool
    notes: tuple[str, ...]

    @property
    def spent(self) -> Fraction:
        return sum((part.epsilon for part in self.parts), Fraction(0))

    @property
    def relative_gap(self) -> float:
        return float((self.loss - self.lower_bound) / max(abs(self.loss), Fraction(1, 10**12)))


def curve(name: str, found: Frontier, weight: Fraction = Fraction(1)) -> Curve:
    """A frontier as a curve of exact numbers."""
    floor = Fraction(0) if all(d.is_loss for d in found.problem.decisions) else None
    return Curve(name, weight, tuple((p.epsilon, -p.bound, -p.value) for p in found.points), floor)


def split(curves: Sequence[Curve], budget: Fraction) -> Allocation:
    """The best split of the budget among the points of the curves, with a bound on every split."""
    if not curves or budget <= 0:
        raise InputError(
            "There is nothing to split", found=f"{len(curves)} statistics, budget {budget}",
            allowed="one or more statistics and a budget above 0", remedy="correct the plan",
        )
    least = sum((c.points[0][0] for c in curves), Fraction(0))
    if least > budget:
        raise InputError(
            "The budget does not cover the smallest ε of every frontier", found=f"budget {float(budget):g}",
            allowed=f"at least {float(least):g}", remedy="compute the frontiers at smaller ε",
        )
    chosen = _merged([[(e, c.weight * high) for e, _, high in c.points] for c in curves], budget)
    bound = bounding_intervals(curves, budget)
    parts = tuple(_part(c, place) for c, place in zip(curves, chosen[1], strict=True))
    bent = [c.name for c in curves if c.bends]
    notes = tuple(
        f"The frontier of {name} is not convex: a split may jump when the budget changes a little" for name in bent
    )
    return Allocation(budget, parts, chosen[0], min(bound[0], chosen[0]), not bent, notes)


def bounding_intervals(curves: Sequence[Curve], budget: Fraction) -> tuple[Fraction, list[int]]:
    """What no split can beat, and which interval of each curve (numbered by its upper end) says so."""
    return _merged([_from_below(c, budget) for c in curves], budget, strictly=True)


def allocate(
    problems: Sequence[tuple[str, Problem, Fraction]],
    budget: Fraction,
    watch: Watch = SILENT,
    *,
    gap: float = 1e-4,
    seconds: float = 60.0,
    steps: int = STEPS,
    rounds: int = 3,
    workers: int | None = None,
) -> tuple[Allocation, list[Frontier]]:
    """Frontiers of every problem up to the budget and the best split, with finer points where they matter, `rounds` times.

    `problems` are (name, problem, weight of its loss). New points halve the intervals beside the chosen ones, and those that
    hold the bound down.
    """
    found: list[Frontier] = []
    for _, problem, _ in problems:
        levels = [Fraction(0), *(budget * k / steps for k in range(1, steps + 1))]
        found.append(frontier(problem, levels, watch, gap=gap, seconds=seconds, compare=False, workers=workers))
    for number in range(rounds):
        curves = [curve(name, f, weight) for (name, _, weight), f in zip(problems, found, strict=True)]
        best = split(curves, budget)
        if number == rounds - 1 or watch.cancelled() or best.relative_gap <= gap:
            break
        _, holding = bounding_intervals(curves, budget)
        middles = [_halved(c, part.epsilon, k) for c, part, k in zip(curves, best.parts, holding, strict=True)]
        found = [_finer(f, new, watch, gap, seconds, workers) for f, new in zip(found, middles, strict=True)]
    return best, found


def _halved(c: Curve, chosen: Fraction, interval: int) -> list[Fraction]:
    """The middles of the intervals beside a chosen point, and of the one that holds the bound down."""
    rising = [p[0] for p in c.points]
    at = rising.index(chosen)
    uppers = {at, at + 1, interval} & set(range(1, len(rising)))
    return [(rising[k - 1] + rising[k]) / 2 for k in sorted(uppers)]


def _finer(
    known: Frontier, levels: list[Fraction], watch: Watch, gap: float, seconds: float, workers: int | None
) -> Frontier:
    """The same frontier with more points."""
    from dataclasses import replace

    from discreet.design.frontier import repaired

    have = {p.epsilon for p in known.points}
    wanted = [e for e in levels if e not in have]
    if not wanted:
        return known
    more = frontier(known.problem, wanted, watch, gap=gap, seconds=seconds, compare=False, workers=workers)
    return replace(known, points=tuple(repaired([*known.points, *more.points])), seconds=known.seconds + more.seconds)


def _from_below(c: Curve, budget: Fraction) -> list[tuple[Fraction, Fraction]]:
    """For ε in (previous, this]: more than the previous ε is spent and the loss is at least this point's bound."""
    if c.floor is None and c.points[-1][0] < budget:
        raise InputError(
            f"The frontier of {c.name} ends before the budget", found=f"ε = {float(c.points[-1][0]):g}",
            allowed=f"points up to {float(budget):g}", remedy="add the budget itself as a point",
        )
    steps = [(e, c.weight * low) for (e, _, _), (_, low, _) in zip(c.points, c.points[1:], strict=False)]
    first = (Fraction(0), c.weight * c.points[0][1])
    beyond = [] if c.floor is None else [(c.points[-1][0], c.weight * c.floor)]
    return [first, *steps, *beyond]


def _merged(
    choices: Sequence[Sequence[tuple[Fraction, Fraction]]], budget: Fraction, strictly: bool = False
) -> tuple[Fraction, list[int]]:
    """The least total loss with total ε within (`strictly`: below) the budget, one choice from each list, exactly."""
    front: list[tuple[Fraction, Fraction, tuple[int, ...]]] = [(Fraction(0), Fraction(0), ())]
    for options in choices:
        grown = sorted(
            (e + de, loss + dl, (*path, k))
            for e, loss, path in front for k, (de, dl) in enumerate(options)
            if e + de < budget or (e + de == budget and not strictly)
        )
        front, best = [], None
        for e, loss, path in grown:
            if best is None or loss < best:
                front.append((e, loss, path))
                best = loss
    _, loss, path = front[-1]
    return loss, list(path)


def _part(c: Curve, place: int) -> Part:
    """What a curve gets at one of its points."""
    epsilon, low, high = c.points[place]
    marginal = None
    if place + 1 < len(c.points):
        further, _, loss = c.points[place + 1]
        marginal = float(c.weight * (high - loss) / (further - epsilon))
    return Part(c.name, epsilon, high, low, marginal)
