"""Which respondents noise follows: those with the highest values, as many of these as pay.

Every table is private for whatever respondents who are not counted can change, so it loses at least what the best noise for that
step loses: where less is lost already, counting them cannot help, and no program is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet.certify.edges.counted import met, steepest
from discreet.certify.value.counted import counted_payoff
from discreet.certify.value.laws import law_of
from discreet.design.ladder.mechanisms.counted_noise import CountedNoise, of_pairs
from discreet.design.ladder.mechanisms.noise import staircase_noise
from discreet.design.schedule import SECONDS_PER_COUNTED_ROW, spend
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import StatisticLattice, statistic_lattice
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import LinearSummary

MOST_COUNT = 10
"""From so many on, noise is the same."""
MOST_EPSILON = 20
FINEST = 24
"""Parts of the largest step that tables tell apart."""
MOST_COLUMNS = 30_000
MOST_OUTPUTS = 150_000
"""Of a kernel that is written with an action for each."""
CANDIDATES = 4
"""How many of the highest values are tried as counted ones."""
BITS, LATE = 64, 2.0
"""Of the law of the count; how many times what is left the solver may take before it is stopped, as guesses may be wrong."""


@dataclass(frozen=True, eq=False)
class CountedReading:
    """A mechanism at face value whose noise follows a count, what it loses, and from which value on respondents are counted."""

    summary: LinearSummary
    kernel: CountedKernel
    loss: float
    start: float


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
    if not all(lattice.omega(k) in d.actions for d in problem.decisions for k in range(low, high + 1)):
        return "some value of the statistic is no action"
    return None


def counted_readings(problem: Problem, below: float, left: Callable[[], float]) -> Iterator[CountedReading]:
    """Noise that follows a count for each choice of counted values that may lose less than `below` and ends in the time left."""
    lattice = statistic_lattice(problem)
    assert lattice is not None
    levels = sorted(set(lattice.summary.weights))
    for cut in reversed(levels[-CANDIDATES:]):
        if cut in levels[:2]:
            return
        if _least(problem, lattice, cut) >= below:
            continue
        program = _program(problem, lattice, cut)
        guess = SECONDS_PER_COUNTED_ROW * program.rows
        if program.columns > MOST_COLUMNS or guess > left():
            continue
        spend(guess)
        found = _reading(problem, lattice, cut, program, LATE * left())
        if found is not None:
            yield found


def _marks(lattice: StatisticLattice, cut: int) -> list[int]:
    return [int(v >= cut) for v in lattice.summary.weights]


def _program(problem: Problem, lattice: StatisticLattice, cut: int) -> CountedNoise:
    values, people, law = lattice.summary.weights, problem.people, law_of(problem)
    assert law is not None
    marks, most = _marks(lattice, cut), min(MOST_COUNT, people.largest)
    presence = isinstance(problem.neighbours, AddRemoveOne)
    types = list(zip(marks, values, strict=True))
    pairs = [(min(j, most), min(j + m.marked, most), m.moved) for m, j in met(types, most, people.largest, presence=presence)]
    found, chances = law.masses(marks, BITS), np.zeros(most + 1)
    for j, mass in enumerate(found.masses, found.first):
        chances[min(j, most)] += mass / 2.0**BITS
    step = max(1, lattice.summary.step(problem.neighbours))
    grain = _grain(step, set(values))
    return CountedNoise(problem.epsilon, step, most, of_pairs(pairs), chances, lambda z: _losses(problem, lattice, z), grain)


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


def _reading(problem: Problem, lattice: StatisticLattice, cut: int, program: CountedNoise, seconds: float) -> CountedReading | None:
    low, high = lattice.summary.range(problem.people)
    stride = problem.people.largest * max(lattice.summary.weights) + 1
    weights = tuple(v + stride * mark for v, mark in zip(lattice.summary.weights, _marks(lattice, cut), strict=True))
    makers = len(problem.decisions)
    shown = [lattice.omega(k) for k in range(low, high + 1)]

    def made(kernel: CountedKernel) -> Mechanism:
        actions = tuple(shown) if makers == 1 else tuple((omega,) * makers for omega in shown)
        return Mechanism(problem, LinearSummary(weights), kernel.with_actions(actions), problem.guarantee)

    def proved(kernel: CountedKernel) -> bool:
        found = steepest(made(kernel), kernel)
        return found.bottom > 0 and not found.fall.exceeds(problem.epsilon)

    kernel = program.kernel(low, high, stride, proved, seconds)
    if kernel is None:
        return None
    mechanism = made(kernel)
    payoff = counted_payoff(mechanism)
    assert payoff is not None and isinstance(mechanism.kernel, CountedKernel)
    return CountedReading(mechanism.weighted_sum, mechanism.kernel, -float(payoff), float(lattice.unit * cut))
