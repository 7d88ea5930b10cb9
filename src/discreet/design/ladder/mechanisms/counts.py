"""Which respondents noise follows: those with the highest values, as many of these as pay, and those with the next highest ones.

Every table is private for whatever respondents who are not counted can change, so it loses at least what the best noise for that
step loses: where less is lost already, counting them cannot help, and no program is solved.

One count is tried first, from each of the highest values on. Then two around the best of these: the first class begins where that
did, or a value higher, and the second ends where that did, or a value lower. Then three and more, of one of the highest values each
or of a few. Tables are a hyperbolic cross of counts, Π(c_k + 1) ≤ B: large counts are seldom met together, and the more there are
of one class, the less the others matter (note 50). Few tables choose the classes; the best two of these get more while that pays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np

from discreet.certify.edges.counted import met, steepest
from discreet.certify.value.capped_counts import table_chances
from discreet.certify.value.counted import counted_payoff
from discreet.certify.value.laws import law_of
from discreet.design.ladder.mechanisms.counted_noise import CountedNoise, of_pairs
from discreet.design.ladder.mechanisms.noise import staircase_noise
from discreet.design.pace import pace
from discreet.design.schedule import COUNTED_STEPS, SECONDS_PER_COUNTED_PRODUCT, SECONDS_PER_COUNTED_ROW, now, spend
from discreet.model.actions import NamedActions
from discreet.model.count_tables import CountTables, Shape
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.noise_kernel import MOST_TOTAL
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary

Cuts = tuple[int, ...]
"""From which value on each class begins, the highest first."""
ONE_COUNT = 11, 21, 41
"""How many tables one count has; more follow where fewer gained."""
FEW_COUNTS = {2: 5, 3: 5, 4: 4, 5: 4, 6: 4}
"""B of the first tables of so many classes."""
MORE_COUNTS = 5, 6, 8, 10, 12, 16, 20, 26, 32
"""B of more tables."""
GROWS = 2.2
"""Times as many tables as before, if there is time, or fewer."""
MOST_CLASSES = max(FEW_COUNTS)
IN_A_CLASS = 3
"""Of the values that one class would have: each of several has a third."""
ANOTHER = 0.02
"""Of the loss: what a fourth class or one after it must have gained before another is tried."""
PAYS = 0.002
"""Of the loss: what more tables must have gained before still more are tried."""
NEARLY, MOST_LONGER = 1.02, 2
"""Classes that lose so many times what the best ones lose, with few tables, get more as well; that many, the best first."""
NEAR_TWO, NEAR_LONGER = 1.5, 1.1
"""How many times what is lost already one count may lose for two to be tried, and few tables for more: neither gains as much."""
MOST_EPSILON = 20
FINEST = 24
"""Parts of the largest step that tables tell apart."""
MOST_COLUMNS, MOST_BAND = 30_000, 20_000_000
"""Unknowns of a program, and of these times its band: what is held at once."""
MOST_OUTPUTS = 150_000
"""Of a kernel that is written with an action for each."""
CANDIDATES = 4
"""How many of the highest values are tried as counted ones."""
LATE = 2.0
"""How many times what is left the solver may take before it is stopped, as guesses may be wrong."""


@dataclass(frozen=True, eq=False)
class CountedReading:
    """A mechanism at face value whose noise follows counts, what it loses, and from which value on each class begins."""

    summary: LinearSummary
    kernel: CountedKernel
    loss: float
    starts: tuple[float, ...]


def why_not_counted(problem: Problem) -> str | None:
    """Why no noise follows a count, in words; None when some may."""
    lattice = statistic_lattice(problem)
    if lattice is None or not isinstance(problem.promise, PurePromise):
        return "the statistic is no sum, or ε is not what is promised"
    if problem.epsilon > MOST_EPSILON:
        return "ε is so large that there is hardly any noise"
    if not all(isinstance(d.loss, DistanceLoss) for d in problem.decisions):
        return "payoffs are not errors"
    if len(set(lattice.summary.weights)) < 3:
        return "there are fewer than three values"
    low, high = lattice.summary.range(problem.people)
    if high - low >= MOST_OUTPUTS:
        return f"there are {high - low:,} values of the statistic"
    ends = lattice.omega(low), lattice.omega(high), lattice.unit
    if any(isinstance(d.actions, NamedActions) or not d.actions.covers(*ends) for d in problem.decisions):
        return "some value of the statistic is no action"
    return None


def counted_readings(problem: Problem, below: float, left: Callable[[], float]) -> Iterator[CountedReading]:
    """Noise that follows counts for each choice of counted values that may lose less than `below` and ends in the time left."""
    lattice = statistic_lattice(problem)
    assert lattice is not None
    levels = sorted(set(lattice.summary.weights))
    tried = levels[2:][-CANDIDATES:]
    found: dict[Cuts, CountedReading] = {}
    for cut in reversed(tried):
        one = _reading(problem, lattice, (cut,), ONE_COUNT[0], below, left)
        if one is not None:
            yield one
            found[cut,] = one
            if one.loss > min(each.loss for each in found.values()):  # with still more respondents counted it only rises
                break
    singles = {cuts[0]: each.loss for cuts, each in found.items()}
    near = min(singles.values(), default=inf) <= NEAR_TWO * below
    for cuts in [*_pairs(singles, tried), *_rows(singles, levels)] if near else ():
        least = min([below, *(each.loss for each in found.values())])
        several = _reading(problem, lattice, cuts, cross(len(cuts), FEW_COUNTS[len(cuts)]), least, left)
        if several is not None:
            yield several
            found[cuts] = several
        if len(cuts) > 3 and (several is None or several.loss > least * (1 - ANOTHER)):
            break
    least = min((each.loss for each in found.values()), default=inf)
    if least <= NEAR_LONGER * below:
        best = sorted((cuts for cuts in found if found[cuts].loss <= NEARLY * least), key=lambda cuts: found[cuts].loss)
        for cuts in best[:MOST_LONGER]:
            yield from _longer(problem, lattice, cuts, found, left)


def _longer(
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, found: dict[Cuts, CountedReading], left: Callable[[], float]
) -> Iterator[CountedReading]:
    """More tables for these classes, as long as that pays."""
    best, few = found[cuts].loss, len(found[cuts].kernel.weights)
    shapes = [CountTables(cross(len(cuts), most)) for most in (ONE_COUNT if len(cuts) == 1 else MORE_COUNTS)]
    while longer := [tables for tables in shapes if few < len(tables) <= GROWS * few]:
        for tables in reversed(longer):
            more = _reading(problem, lattice, cuts, tables.shape, best, left)
            if more is not None:
                break
        else:
            return
        yield more
        if more.loss > best * (1 - PAYS):
            return
        best, few = more.loss, len(tables)


def cross(classes: int, most: int) -> Shape:
    """Tables for all counts with Π(c_k + 1) ≤ most."""
    return most if classes == 1 else tuple(cross(classes - 1, most // (count + 1)) for count in range(most))


def _pairs(singles: dict[int, float], tried: list[int]) -> list[tuple[int, int]]:
    """Where two classes begin that lie around the best single one, those first of which each alone loses least."""
    if not singles:
        return []
    cut = min(singles, key=singles.__getitem__)
    at, worst = tried.index(cut), max(singles.values())
    near = tried[max(at - 1, 0) : at + 2]
    around = [(upper, lower) for lower in near for upper in near if lower <= cut <= upper != lower]
    return sorted(around, key=lambda cuts: sum(singles.get(one, worst) for one in cuts))


def _rows(singles: dict[int, float], levels: list[int]) -> Iterator[Cuts]:
    """Where three classes and more begin, of as many values each: of one where the best single class has up to three.

    Two values at least are not counted.
    """
    if not singles:
        return
    above = len(levels) - levels.index(min(singles, key=singles.__getitem__))
    wide = -(-above // IN_A_CLASS)
    for classes in range(3, min(MOST_CLASSES, (len(levels) - 2) // wide) + 1):
        yield tuple(levels[-wide * k] for k in range(1, classes + 1))


def _marks(lattice: StatisticLattice, cuts: Cuts) -> list[int]:
    """The class of each type, from 1, or 0."""
    return [next((c for c, cut in enumerate(cuts, 1) if v >= cut), 0) for v in lattice.summary.weights]


def _program(problem: Problem, lattice: StatisticLattice, cuts: Cuts, counts: CountTables) -> CountedNoise:
    values, law, marks = lattice.summary.weights, law_of(problem), _marks(lattice, cuts)
    assert law is not None
    presence = isinstance(problem.neighbours, AddRemoveOne)
    types = list(zip(marks, values, strict=True))
    pairs = [(m.here, m.there, m.moved) for m in met(types, counts, problem.people.largest, presence=presence)]
    chances = np.array([float(p) for p in table_chances(law, marks, counts)])
    step = max(1, lattice.summary.step(problem.neighbours))
    losses = partial(_losses, problem, lattice)
    return CountedNoise(problem.epsilon, step, counts, of_pairs(pairs), chances, losses, _grain(step, set(values)))


def _grain(step: int, values: set[int]) -> int:
    """How many whole numbers in a row are alike, so that a step has few of these; where it can, a divisor of many values."""
    least = -(-step // FINEST)
    return 1 if least == 1 else max(range(least | 1, 3 * least, 2), key=lambda grain: (sum(v % grain == 0 for v in values), -grain))


def _losses(problem: Problem, lattice: StatisticLattice, z: np.ndarray) -> np.ndarray:
    """What publishing z steps too much loses, all decision makers together."""
    gap = -float(lattice.unit) * z
    return np.asarray(sum(float(d.weight) * d.distance.of_gap(gap) for d in problem.decisions))


def _least(problem: Problem, lattice: StatisticLattice, cut: int) -> float:
    """About the least that noise loses which hides what respondents who are not counted can change; 0 where that is not known."""
    rest = [v for v in lattice.summary.weights if v < cut]
    step = max(rest) if isinstance(problem.neighbours, AddRemoveOne) else max(rest) - min(rest)
    if len(problem.decisions) > 1 or not isinstance(problem.decision.loss, SquaredLoss):
        return 0.0
    return float(problem.decision.weight * lattice.unit**2) * staircase_noise(float(problem.epsilon), max(step, 1)).variance()


def _reading(
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, shape: Shape, below: float, left: Callable[[], float]
) -> CountedReading | None:
    """None when there is no time for as many tables, it could not lose less than `below`, or no 64 bits tell the counts."""
    counts = CountTables(shape).held(problem.people.largest)
    if _least(problem, lattice, cuts[-1]) >= below:
        return None
    if problem.people.largest * max(_weights(problem, lattice, cuts)[0]) >= MOST_TOTAL:
        return None
    program = _program(problem, lattice, cuts, counts)
    step = SECONDS_PER_COUNTED_ROW * program.rows + SECONDS_PER_COUNTED_PRODUCT * program.columns * program.band**2
    if program.columns > MOST_COLUMNS or program.columns * program.band > MOST_BAND or pace() * COUNTED_STEPS * step > left():
        return None
    until = now() + LATE * left()

    def go_on() -> bool:
        spend(step)
        return now() < until

    return _solved(problem, lattice, cuts, program, go_on)


def _weights(problem: Problem, lattice: StatisticLattice, cuts: Cuts) -> tuple[tuple[int, ...], int, int]:
    """Of a total that tells the sum and the counts, with its stride and its radix."""
    largest, values, last = problem.people.largest, lattice.summary.weights, len(cuts)
    stride, radix = largest * max(values) + 1, largest + 1 if last > 1 else 1
    marks = zip(values, _marks(lattice, cuts), strict=True)
    return tuple(v + stride * radix ** (last - c) if c else v for v, c in marks), stride, radix


def _solved(
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, program: CountedNoise, go_on: Callable[[], bool]
) -> CountedReading | None:
    low, high = lattice.summary.range(problem.people)
    weights, stride, radix = _weights(problem, lattice, cuts)
    makers = len(problem.decisions)
    shown = [lattice.omega(k) for k in range(low, high + 1)]

    def made(kernel: CountedKernel) -> Mechanism:
        actions = tuple(shown) if makers == 1 else tuple((omega,) * makers for omega in shown)
        return Mechanism(problem, LinearSummary(weights), kernel.with_actions(actions), problem.guarantee)

    def proved(kernel: CountedKernel) -> bool:
        found = steepest(made(kernel), kernel)
        return found.bottom > 0 and not found.fall.exceeds(problem.epsilon)

    kernel = program.kernel(low, high, stride, radix, proved, go_on)
    if kernel is None:
        return None
    mechanism = made(kernel)
    payoff = counted_payoff(mechanism)
    assert payoff is not None and isinstance(mechanism.kernel, CountedKernel)
    return CountedReading(
        mechanism.weighted_sum, mechanism.kernel, -float(payoff), tuple(float(lattice.unit * cut) for cut in cuts)
    )
