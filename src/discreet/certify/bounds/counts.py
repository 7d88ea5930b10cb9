"""A few counts of types are unknown, everything else is known: states, neighbours and the least loss, by multipliers.

Each count takes its respondents from another type: one more of `high` is one fewer of `low`. So ω is known but for
ω(x) = Σ x·(v_high − v_low), by which an action may be moved, and states x and y are neighbours where Σ (x − y)·(e_high − e_low) is
e_i − e_j for types i ≠ j.

The least loss is bounded by multipliers (`dual`) between the x of a window. ω is counted in units of the largest |v_high − v_low|.
Nodes stand for real actions, unless the problem's actions lie on the lattice of its values and so do the nodes: moving an action
by what is known stays on the lattice, and beyond the window's ω its ends are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod

from discreet.certify.bounds.dual import FACTOR_BITS, over_actions, regrets_of
from discreet.certify.duality.chords import over_pieces
from discreet.certify.duality.pulls import Looks, Pull, PullStage, pull_of
from discreet.errors import Refuted, TooLarge
from discreet.frozen import dataclass
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Multipliers
from discreet.model.decision import Decision
from discreet.model.problem import Problem
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import counted, whole_steps

MOST_STATES = 10_000
MOST_COUNTS = 8
"""3^counts moves are looked at."""


@dataclass(frozen=True)
class UnknownCounts:
    """Of each count the two types it moves between, (low, high), and its window; the last count runs fastest.

    Of all N respondents: what every type adds to ω (`values`), and what those add that may occur.
    """

    respondents: int
    values: tuple[Fraction, ...]
    occurring: tuple[Fraction, ...]
    ends: tuple[tuple[int, int], ...]
    windows: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """How many states there are."""
        return prod(last - first + 1 for first, last in self.windows)

    def must_be_few(self, most: int | None = None) -> None:
        """Refuse what is too large before anything is listed: more states than these, `MOST_STATES` by default."""
        most = MOST_STATES if most is None else most
        if len(self.windows) > MOST_COUNTS or self.size > most:
            raise TooLarge(
                "The states of this witness are too many",
                size=f"{counted(self.size)} states of {len(self.windows):,} counts",
                fits=f"{most:,} states of {MOST_COUNTS} counts",
                remedy="use another witness",
            )

    @cached_property
    def unit(self) -> Fraction:
        """The largest step of a count."""
        unit = max(abs(self.values[high] - self.values[low]) for low, high in self.ends)
        if not unit:
            raise Refuted("no count moves the statistic", "types of the same value")
        return unit

    @property
    def states(self) -> list[tuple[int, ...]]:
        """All x of the windows."""
        return list(product(*(range(first, last + 1) for first, last in self.windows)))

    def state(self, number: int) -> tuple[int, ...]:
        """The x of a number, from 0 to `size`."""
        found = []
        for first, last in reversed(self.windows):
            number, more = divmod(number, last - first + 1)
            found.append(first + more)
        return tuple(reversed(found))

    @cached_property
    def steps(self) -> tuple[Fraction, ...]:
        """What one more of each count adds to ω, in its unit."""
        return tuple((self.values[high] - self.values[low]) / self.unit for low, high in self.ends)

    @property
    def omega_range(self) -> tuple[Fraction, Fraction]:
        """The least and the largest ω of the windows."""
        each = [sorted(step * x for x in window) for step, window in zip(self.steps, self.windows, strict=True)]
        return sum((low for low, _ in each), Fraction(0)), sum((high for _, high in each), Fraction(0))

    def stage(self, masses: Sequence[Fraction], numbers: Sequence[int] | None = None) -> PullStage:
        """The states, or those of these numbers, with their probabilities, ω and neighbours.

        None has a neighbour that cannot be, of probability 0.
        """
        states = self.states if numbers is None else [self.state(number) for number in numbers]
        omegas = tuple(sum((step * x for step, x in zip(self.steps, state, strict=True)), Fraction(0)) for state in states)
        at = {state: h for h, state in enumerate(states) if masses[h]}
        edges = set()
        for move in moves_of(self.ends):
            for state, h in at.items():
                other = at.get(tuple(x + d for x, d in zip(state, move, strict=True)))
                if other is not None:
                    edges.add((min(h, other), max(h, other)))
        return PullStage(masses, omegas, list(range(len(states))), frozenset(edges))

    def decision(self, problem: Problem, actions: RealActions | ListedActions) -> Decision:
        """The decision about ω(x) in its unit."""
        asked = problem.decision
        return Decision(asked.loss, actions, weight=asked.weight * self.unit**asked.distance.degree)

    def lattice(self, problem: Problem, ends: tuple[Fraction, Fraction]) -> ListedActions | None:
        """The points between the ends of the lattice of values, where all listed actions lie on it too; None elsewhere."""
        actions, least = problem.decision.actions, min(self.occurring)
        if not isinstance(actions, ListedActions):
            return None
        (grain, _), origin = whole_steps([v - least for v in self.occurring]), self.respondents * least
        whole = grain.denominator == grain.numerator and origin.denominator == 1
        if not all(a.denominator == 1 if whole else ((a - origin) / grain).denominator == 1 for a in actions.numbers):
            return None
        step = grain / self.unit
        low, high = (int(end / step) for end in ends)
        return ListedActions(tuple(k * step for k in range(low, high + 1))) if high - low < MOST_STATES else None

    def least_loss(
        self,
        problem: Problem,
        stage: PullStage,
        scale: int,
        multipliers: Sequence[Multipliers],
        looks: Looks | None = None,
        numbers: Sequence[int] | None = None,
    ) -> Fraction:
        """What kernels on the states lose at least, by the multipliers; refuted where these do not fit.

        Multipliers speak of the states by these ascending numbers, or by their places.
        """
        numbers = range(len(stage.omegas)) if numbers is None else numbers
        edges = frozenset((numbers[i], numbers[k]) for i, k in stage.edges)
        factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
        ends = self.omega_range
        stage, pulls = _where_pulled(stage, [pull_of(m, edges, scale, factor) for m in multipliers], numbers)
        listed = self.lattice(problem, ends)
        if listed is not None and all(m.action in listed for m in multipliers):
            decision, looks = self.decision(problem, listed), looks or Looks()
            looks.closely(len(listed) * len(stage.values), cost=1)
            regrets, least = regrets_of((decision,), stage.values)
            assert not any(least.values()), "every ω of a lattice is an action"
            loss = over_actions((decision,), stage, regrets, pulls, looks)
        else:
            decision = self.decision(problem, RealActions())
            loss = over_pieces(decision, ends, stage, dict.fromkeys(stage.omegas, Fraction(0)), pulls, looks)
        return max(loss, Fraction(0))


def _where_pulled(stage: PullStage, pulls: Sequence[Pull], numbers: Sequence[int]) -> tuple[PullStage, list[Pull]]:
    """The states at which there are multipliers: any other one's ω is an action between the ends, so it counts as no loss."""
    at = set().union(*(pull.at for pull in pulls))
    named = [h for h, number in enumerate(numbers) if number in at]
    place = {numbers[h]: k for k, h in enumerate(named)}
    masses, omegas = [stage.masses[h] for h in named], tuple(stage.omegas[h] for h in named)
    moved = [replace(pull, at={place[number]: amount for number, amount in pull.at.items()}) for pull in pulls]
    return PullStage(masses, omegas, list(range(len(named))), frozenset()), moved


@lru_cache(maxsize=64)
def moves_of(ends: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """The changes of x that replace one respondent by one of another type."""
    found = []
    for move in product((-1, 0, 1), repeat=len(ends)):
        changed: dict[int, int] = {}
        for (low, high), d in zip(ends, move, strict=True):
            changed[high] = changed.get(high, 0) + d
            changed[low] = changed.get(low, 0) - d
        if sum(map(abs, changed.values())) == 2:
            found.append(move)
    return tuple(found)
