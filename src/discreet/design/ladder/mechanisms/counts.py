"""Which respondents noise follows: those with the highest values, as many of these as pay, and those with the next highest.

Every table is private for whatever respondents who are not counted can change, so it loses at least what the best noise for that
step loses: where less is lost already, counting them cannot help, and no program is solved.

One count is tried first, from each of the highest values on. Then two around the best of these: the first class begins where that
did, or a value higher, and the second ends where that did, or a value lower. The more of the first there are, the less the second
matters, so it has fewer tables: with all of them for every first count a program takes twice the time and gains nothing (note 41).
Few tables choose the classes, and the best of these get more as long as that pays.
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
from discreet.design.schedule import COUNTED_STEPS, SECONDS_PER_COUNTED_PRODUCT, SECONDS_PER_COUNTED_ROW, now, spend
from discreet.model.actions import NamedActions
from discreet.model.count_tables import CountTables
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary

Cuts = tuple[int, ...]
"""From which value on each class begins, the highest first."""
ONE_COUNT = ((1,) * 11, (1,) * 21, (1,) * 41)
TWO_COUNTS = (
    (5, 3, 1, 1, 1),
    (10, 7, 5, 3, 2, 1, 1, 1, 1),
    (13, 10, 8, 6, 4, 3, 2, 1, 1, 1, 1),
    (16, 13, 11, 9, 7, 5, 3, 2, 1, 1, 1, 1),
    (20, 16, 13, 11, 9, 7, 5, 4, 3, 2, 1, 1, 1, 1),
)
"""How many tables there are for each first count, of one class and of two; the longer ones follow where shorter ones gained."""
PAYS = 0.002
"""Of the loss: what more tables must have gained before still more are tried."""
NEAR_TWO, NEAR_LONGER = 1.3, 1.1
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
    for cuts in _pairs(singles, tried) if near else ():
        two = _reading(problem, lattice, cuts, TWO_COUNTS[0], min([below, *(each.loss for each in found.values())]), left)
        if two is not None:
            yield two
            found[cuts] = two
    best = min(found, key=lambda cuts: found[cuts].loss, default=None)
    if best is not None and found[best].loss <= NEAR_LONGER * below:
        yield from _longer(problem, lattice, best, found, left)


def _longer(
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, found: dict[Cuts, CountedReading], left: Callable[[], float]
) -> Iterator[CountedReading]:
    """More tables for these classes, as long as that pays."""
    best = found[cuts].loss
    for sizes in (ONE_COUNT if len(cuts) == 1 else TWO_COUNTS)[1:]:
        more = _reading(problem, lattice, cuts, sizes, best, left)
        if more is None:
            return
        yield more
        if more.loss > best * (1 - PAYS):
            return
        best = more.loss


def _pairs(singles: dict[int, float], tried: list[int]) -> list[tuple[int, int]]:
    """Where two classes begin that lie around the best single one, those first of which each alone loses least."""
    if not singles:
        return []
    cut = min(singles, key=singles.__getitem__)
    at, worst = tried.index(cut), max(singles.values())
    near = tried[max(at - 1, 0) : at + 2]
    around = [(upper, lower) for lower in near for upper in near if lower <= cut <= upper != lower]
    return sorted(around, key=lambda cuts: sum(singles.get(one, worst) for one in cuts))


def _marks(lattice: StatisticLattice, cuts: Cuts) -> list[tuple[int, int]]:
    """Whether each type is of the first class, and of the second."""
    return [(int(v >= cuts[0]), int(cuts[-1] <= v < cuts[0])) for v in lattice.summary.weights]


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


def _of_people(sizes: tuple[int, ...], largest: int) -> CountTables:
    """Without tables for more respondents than there are."""
    return CountTables(tuple(min(n, largest - j + 1) for j, n in enumerate(sizes[: largest + 1])))


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
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, sizes: tuple[int, ...], below: float, left: Callable[[], float]
) -> CountedReading | None:
    """None when there is no time for as many tables, or it could not lose less than `below`."""
    if _least(problem, lattice, cuts[-1]) >= below:
        return None
    program = _program(problem, lattice, cuts, _of_people(sizes, problem.people.largest))
    step = SECONDS_PER_COUNTED_ROW * program.rows + SECONDS_PER_COUNTED_PRODUCT * program.columns * program.band**2
    if program.columns > MOST_COLUMNS or program.columns * program.band > MOST_BAND or COUNTED_STEPS * step > left():
        return None
    until = now() + LATE * left()

    def go_on() -> bool:
        spend(step)
        return now() < until

    return _solved(problem, lattice, cuts, program, go_on)


def _solved(
    problem: Problem, lattice: StatisticLattice, cuts: Cuts, program: CountedNoise, go_on: Callable[[], bool]
) -> CountedReading | None:
    low, high = lattice.summary.range(problem.people)
    stride, radix = problem.people.largest * max(lattice.summary.weights) + 1, problem.people.largest + 1 if len(cuts) > 1 else 1
    weights = tuple(v + stride * (radix * j + k) for v, (j, k) in zip(lattice.summary.weights, _marks(lattice, cuts), strict=True))
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
