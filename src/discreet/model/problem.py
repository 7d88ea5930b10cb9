"""A problem: data, prior, statistic, decision and privacy. What `design` solves.

maximise E[u(a, ω)] over mechanisms that keep the promise and whose outputs are recommended actions (SY eq. (2)).
"""

from __future__ import annotations

from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.losses import TableLoss
from discreet.model.neighbours import Neighbours, check_fit
from discreet.model.priors import DirichletMultinomialPrior, ExactWeights, IidPrior, Prior, on_names
from discreet.model.priors.weights import over_one_denominator
from discreet.model.promises import Promise, PurePromise, concentrated_rho, pure_epsilon
from discreet.model.states import MOST_REMEMBERED, StateSpace, state_space
from discreet.model.statistic import (
    CountStatistic,
    Statistic,
    SumStatistic,
    linear_range,
    of_database,
    of_name,
    on_histograms,
)
from discreet.model.summary import DatabaseSummary, HistogramSummary
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe
from discreet.numerics.exact import ranked


@dataclass(frozen=True)
class Problem:
    """Everything that decides which mechanism is best. Invalid problems cannot be built."""

    universe: AnyUniverse
    neighbours: Neighbours
    prior: Prior
    statistic: Statistic
    decisions: tuple[Decision, ...]
    promise: Promise
    unit: str = "respondent"
    name: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        check_fit(self.universe, self.neighbours)
        self.prior.check(self.universe)
        self.statistic.check(self.universe)
        self.promise.must_be_askable()
        if not self.unit.strip():
            raise InputError(
                "The privacy unit has no name",
                found="an empty unit",
                allowed="who is protected, in words",
                remedy='set privacy.unit, for instance "household"',
            )
        if not self.decisions:
            raise InputError(
                "There is no decision",
                found="no [decision]",
                allowed="at least one",
                remedy="say what the statistic is for",
            )
        self._check_unbiased()
        if any(isinstance(d.loss, TableLoss) for d in self.decisions):
            tied = tuple(d.tied_to(self.omegas) for d in self.decisions)
            object.__setattr__(self, "decisions", tied)

    def _check_unbiased(self) -> None:
        if all(d.unbiased is None for d in self.decisions):
            return
        if len(self.decisions) > 1:
            raise InputError(
                "Unbiased values are designed for one decision maker",
                found=f"{len(self.decisions)} decisions",
                allowed="one",
                remedy="leave one [decision]: the posterior mean of the same draw serves whoever acts on it",
            )
        if self.decision.unbiased == "nearby" and not isinstance(self.universe, Universe):
            raise InputError(
                "Priors nearby are those of types, which databases listed by name do not have",
                found='unbiased = "nearby"',
                allowed='unbiased = "everywhere"',
                remedy="ask for that, or describe respondents and their values",
            )

    @property
    def unbiased(self) -> str | None:
        """How the published value is to be unbiased: "everywhere", "nearby" or not at all."""
        return self.decisions[0].unbiased

    @property
    def biased(self) -> Problem:
        """The same problem without asking for unbiased values: what no mechanism exceeds there, none exceeds here."""
        return self if self.unbiased is None else replace(self, decisions=(replace(self.decision, unbiased=None),))

    @property
    def decision(self) -> Decision:
        """The decision, when there is just one."""
        if len(self.decisions) != 1:
            raise InputError(
                "This needs a single decision maker",
                found=f"{len(self.decisions)} decisions",
                allowed="one",
                remedy="leave one [decision]",
            )
        return self.decisions[0]

    @property
    def people(self) -> Universe:
        """The universe, for those who serve counts of respondents by type and have refused databases listed by name."""
        return self.people_for("This needs respondents with types", "describe the respondents instead of listing databases")

    def people_for(self, need: str, remedy: str) -> Universe:
        """The universe; databases listed by name are refused, with what needs respondents and what to do."""
        if not isinstance(self.universe, Universe):
            raise InputError(need, found="databases listed by name", allowed="[data] respondents and types", remedy=remedy)
        return self.universe

    @property
    def epsilon(self) -> Fraction:
        """The ε of a purely private promise, for those who serve no other."""
        return pure_epsilon(self.promise)

    @property
    def rho(self) -> Fraction:
        """The ρ of a concentrated promise, for those who serve no other."""
        return concentrated_rho(self.promise)

    @property
    def guarantee(self) -> Guarantee:
        """What a mechanism that serves this problem guarantees."""
        return Guarantee(self.promise, self.neighbours.name, self.unit)

    @property
    def real_actions(self) -> bool:
        return any(isinstance(d.actions, RealActions) for d in self.decisions)

    @cached_property
    def exchangeable(self) -> bool:
        """Whether neither the prior nor the statistic looks at the order of respondents."""
        return isinstance(self.universe, Universe) and not self.statistic.ordered and self.prior.exchangeable(self.universe)

    @cached_property
    def zeros(self) -> tuple[str, ...]:
        """What the prior gives no probability to."""
        return self.prior.zeros(self.universe)

    @cached_property
    def omega_range(self) -> tuple[Fraction, Fraction]:
        if isinstance(self.universe, ListedUniverse):
            values = [of_name(self.statistic, name) for name in self.universe.names]
            return min(values), max(values)
        return linear_range(self.statistic, self.universe)

    @cached_property
    def omegas(self) -> tuple[Fraction, ...]:
        """Every value that the statistic can take, ascending."""
        if isinstance(self.universe, ListedUniverse):
            return tuple(sorted({of_name(self.statistic, name) for name in self.universe.names}))
        ordinal = self.universe.values == tuple(map(Fraction, range(self.universe.types)))
        if isinstance(self.statistic, CountStatistic) or (isinstance(self.statistic, SumStatistic) and ordinal):
            most = int(self.omega_range[1])
            self.universe.must_list(most + 1, "values of the statistic")
            return tuple(map(Fraction, range(most + 1)))
        if self.statistic.ordered:
            return tuple(sorted({of_database(self.statistic, d, self.universe) for d in self.universe.databases()}))
        return tuple(sorted(set(on_histograms(self.statistic, self.universe.histograms(), self.universe))))

    def with_epsilon(self, epsilon: Fraction) -> Problem:
        """The same problem at another ε; a problem that asks for another kind of promise is not turned into one of ε."""
        pure_epsilon(self.promise)
        return self.with_promise(PurePromise(epsilon))

    def with_level(self, level: Fraction) -> Problem:
        """The same problem at another level of its own kind of promise."""
        return self.with_promise(self.promise.at(level))

    def with_promise(self, promise: Promise) -> Problem:
        return replace(self, promise=promise)

    def finest(self) -> StateSpace:
        """The state space without any reduction: histograms when the problem is exchangeable, else databases."""
        summary = HistogramSummary() if self.exchangeable else DatabaseSummary()
        return state_space(self.universe, self.neighbours, summary)


@dataclass(frozen=True)
class Believed:
    """Exact prior weights and values of the statistic, state by state."""

    weights: ExactWeights
    omegas: tuple[Fraction, ...]

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The values that the statistic takes here, ascending."""
        return self._placed[0]

    @property
    def column(self) -> list[int]:
        """Which of these values each state has."""
        return self._placed[1]

    @cached_property
    def _placed(self) -> tuple[tuple[Fraction, ...], list[int]]:
        return ranked(self.omegas)


def believed(problem: Problem, space: StateSpace) -> Believed:
    """Prior and statistic on the states of an unclamped `histogram` or `database` space of this problem."""
    universe = problem.universe
    if isinstance(universe, ListedUniverse):
        return Believed(on_names(problem.prior, universe), tuple(of_name(problem.statistic, name) for name in universe.names))
    vectors = np.asarray(space.vectors)
    if problem.exchangeable and vectors.shape[1] == universe.types and _are_histograms(vectors, universe):
        if len(vectors) <= MOST_REMEMBERED and isinstance(problem.prior, (IidPrior, DirichletMultinomialPrior)):
            return _believed_again(problem.prior, problem.statistic, universe, vectors.astype(np.int64).tobytes())
        return _on_all_histograms(problem.prior, problem.statistic, universe, vectors)
    rows = [tuple(row) for row in vectors.tolist()]
    chances = [problem.prior.of_database(row, universe) for row in rows]
    return Believed(over_one_denominator(chances), tuple(of_database(problem.statistic, row, universe) for row in rows))


def believed_of_histograms(problem: Problem) -> Believed:
    """The same for every histogram of an exchangeable problem, without the graph that joins them."""
    return _on_all_histograms(problem.prior, problem.statistic, problem.people, problem.people.histograms())


def _on_all_histograms(prior: Prior, statistic: Statistic, universe: Universe, vectors: np.ndarray) -> Believed:
    return Believed(prior.on_histograms(vectors, universe), on_histograms(statistic, vectors, universe))


@lru_cache(maxsize=4)
def _believed_again(prior: Prior, statistic: Statistic, universe: Universe, histograms: bytes) -> Believed:
    """The same, remembered: design, value and bound ask for one prior on the same states."""
    vectors = np.frombuffer(histograms, dtype=np.int64).reshape(-1, universe.types)
    return _on_all_histograms(prior, statistic, universe, vectors)


def _are_histograms(vectors: np.ndarray, universe: Universe) -> bool:
    sums = vectors.sum(axis=1)
    return bool(((sums >= universe.smallest) & (sums <= universe.largest)).all()) and len(vectors) == (universe.histogram_count)
