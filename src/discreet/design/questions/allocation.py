"""Splitting one budget over several statistics or tables: minimise Σ_i weight_i·L_i(ε_i) subject to Σ_i ε_i ≤ budget.

ε stands for the level of whatever all of the problems promise: a budget of ρ (zCDP) is split in the same way, since ρ adds up too.
Nothing is split between promises of two kinds: ε and ρ do not add up. Where a budget is ρ, ask for ρ everywhere: the best purely
ε-private mechanism with ε·tanh(ε/2) = ρ is one of those that keep ρ. Who gets ρ = 0 publishes nothing, which is ε = 0.

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

from discreet.design.askable import must_be_askable
from discreet.design.certified import certified
from discreet.design.questions.frontier import Bend, Frontier, Point, bends, frontier, repaired
from discreet.design.routes.blind import Blind, blind_proposal
from discreet.design.routes.order import considered
from discreet.errors import InputError, TooLarge
from discreet.model.gap import relative_gap
from discreet.model.problem import Problem
from discreet.model.promises import Promise, PurePromise
from discreet.watch import SILENT, Watch

STEPS = 8
"""Levels of ε or ρ of the first look at each frontier."""
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
                "A curve needs points at ascending levels",
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
    """What one statistic gets of ε or ρ, and the gain in weighted loss for each further unit of it (None at the last point)."""

    name: str
    level: Fraction
    loss: Fraction
    lower_bound: Fraction
    marginal: float | None


@dataclass(frozen=True)
class Allocation:
    """The best split among the computed points; no split of the budget at all has a weighted loss below `lower_bound`.

    `promise` is what all parts together promise: the budget as a promise of ε or of ρ.
    """

    budget: Fraction
    parts: tuple[Allotment, ...]
    loss: Fraction
    lower_bound: Fraction
    convex: bool
    notes: tuple[str, ...]
    promise: Promise

    @property
    def spent(self) -> Fraction:
        return sum((part.level for part in self.parts), Fraction(0))

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.loss, self.lower_bound)


def curve(name: str, found: Frontier, weight: Fraction = Fraction(1)) -> Curve:
    """A frontier as a curve of exact numbers."""
    floor = Fraction(0) if all(d.is_loss for d in found.problem.decisions) else None
    return Curve(name, weight, tuple((p.level, -p.bound, -p.value) for p in found.points), floor)


def split(curves: Sequence[Curve], budget: Fraction, promise: type[Promise] = PurePromise) -> Allocation:
    """The best split of the budget among the points of the curves, with a bound on every split; `promise` is what is split."""
    if not curves or budget <= 0:
        raise _nothing_to_split(len(curves), budget)
    least = sum((c.points[0][0] for c in curves), Fraction(0))
    if least > budget:
        raise InputError(
            "The budget does not cover the first point of every frontier",
            found=f"budget {float(budget):g}",
            allowed=f"at least {float(least):g}",
            remedy="compute the frontiers at smaller levels",
        )
    chosen = _merged([[(e, c.weight * high) for e, _, high in c.points] for c in curves], budget)
    bound = bounding_intervals(curves, budget)
    parts = tuple(_part(c, place) for c, place in zip(curves, chosen[1], strict=True))
    bent = [c.name for c in curves if c.bends]
    notes = tuple(f"The frontier of {name} is not convex: a split may jump when the budget changes a little" for name in bent)
    promised = promise(**{promise.keys[0]: budget})
    return Allocation(budget, parts, chosen[0], min(bound[0], chosen[0]), not bent, notes, promised)


def _nothing_to_split(statistics: int, budget: Fraction) -> InputError:
    return InputError(
        "There is nothing to split",
        found=f"{statistics} statistics, budget {budget}",
        allowed="one or more statistics and a budget above 0",
        remedy="correct the plan",
    )


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
    promise = one_promise([(name, problem) for name, problem, _ in problems], budget)
    grid = [budget * k / steps for k in range(1, steps + 1)]
    classes = ["oblivious" if levels and i else None for i in range(len(problems))]
    for (_, problem, _), within_class in zip(problems, classes, strict=True):
        must_be_askable(problem.with_level(budget), gap, within_class)
    found = [
        _finer(_telling_nothing(problem, watch), grid, watch, gap, seconds, workers, within_class)
        for (_, problem, _), within_class in zip(problems, classes, strict=True)
    ]
    for number in range(rounds):
        curves = [curve(name, f, weight) for (name, _, weight), f in zip(problems, found, strict=True)]
        best = split(curves, budget, promise)
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
    return _units_told(best, problems), found


def one_promise(problems: Sequence[tuple[str, Problem]], budget: Fraction) -> type[Promise]:
    """The kind of promise, ε or ρ, that all of the problems ask for; refuses what does not add up to one budget."""
    kinds = {problem.promise.kind: type(problem.promise) for _, problem in problems}
    if len(kinds) > 1:
        raise InputError(
            "Promises of different kinds do not add up to one budget",
            found="; ".join(f"{name} asks for {problem.promise.letter}" for name, problem in problems),
            allowed="ε in every problem, or ρ in every problem",
            remedy="ask for privacy.rho everywhere and split a budget of ρ (whatever is ε-private keeps ρ = ε·tanh(ε/2) too)",
        )
    if budget <= 0:
        raise _nothing_to_split(len(problems), budget)
    for _, problem in problems:
        considered(problem.with_level(budget))
    return next(iter(kinds.values()), PurePromise)


def _units_told(best: Allocation, problems: Sequence[tuple[str, Problem, Fraction]]) -> Allocation:
    """A split over problems that name different privacy units, with a note: what one unit is charged is not what another is."""
    if len({problem.unit for _, problem, _ in problems}) < 2:
        return best
    who = ", ".join(f"{name} protects a {problem.unit}" for name, problem, _ in problems)
    return replace(best, notes=(*best.notes, f"The parts add up to one budget only for one privacy unit, but {who}"))


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


def _telling_nothing(problem: Problem, watch: Watch) -> Frontier:
    """The first point of a frontier: who gets nothing of the budget publishes nothing, which is ε = 0 under any promise."""
    level, silent = Fraction(0), problem.with_promise(PurePromise(Fraction(0)))
    try:
        return replace(frontier(silent, [level], watch, compare=False, keep=True, workers=1), problem=problem)
    except TooLarge:  # no program proves that nothing better tells nothing; a bound at a larger level will do
        proposal = blind_proposal(silent)
        made, proof = certified(silent, proposal, Blind().taken(silent, proposal))
        assert proof.optimality is not None
        value, bound = proof.optimality.value, proof.optimality.bound
        return Frontier(problem, (Point(level, value, bound, {}, 0.0, level, level, made, proof),), 0.0)


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
            found=f"its last point is at {float(c.points[-1][0]):g}",
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
    level, low, high = c.points[place]
    marginal = None
    if place + 1 < len(c.points):
        further, _, loss = c.points[place + 1]
        marginal = float(c.weight * (high - loss) / (further - level))
    return Allotment(c.name, level, high, low, marginal)
