"""What people do today for problems whose states are too many to list: noise on the statistic through the law of its sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from discreet.certify.bounds.full_information import is_answered
from discreet.design.comparison.gaussian import GaussianFaceValue
from discreet.design.comparison.information import FullInformation, NoInformation
from discreet.design.comparison.noise import FaceValue, GeometricNoise, StaircaseWay
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise, shows_as_it_is, shows_whole_range
from discreet.design.comparison.unbiased import unbiased_baselines
from discreet.design.comparison.way import inapplicable
from discreet.design.ladder.mechanisms.noise import geometric_noise, staircase_noise, to_outputs
from discreet.design.ladder.mechanisms.population import population_of
from discreet.design.ladder.mechanisms.proxy import read_by_bayes
from discreet.design.ladder.mechanisms.readings import MOST_READ, Reader
from discreet.design.ladder.mechanisms.sums import SumLaw
from discreet.design.ladder.mechanisms.weights import settle
from discreet.design.ladder.served import why_not_read
from discreet.design.memory import must_fit, words_of
from discreet.design.program.listed import solvable
from discreet.design.program.unbiased_noise import NOISES, staircase_seconds, unbiased_noise
from discreet.design.proposal import Proposal
from discreet.design.routes.blind import blind_proposal
from discreet.design.routes.program import too_many
from discreet.design.schedule import GRACE, SECONDS_PER_EVEN_VALUE, SECONDS_PER_SHOWN_VALUE, time_left
from discreet.errors import DiscreetError, TooLarge
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.lattice import statistic_lattice
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.record import Baseline
from discreet.watch import SILENT, Watch

BYTES_PER_PAIR = 24
MOST_STEPS = 10_000
"""Steps of the statistic for one respondent beyond which noise on it is not valued."""


def by_law(problem: Problem, inner: Problem, name: str) -> bool:
    """Whether a way is published through the law of a sum: noise at face value, and all where states are not listed."""
    if name == FaceValue.name or too_many(problem) is not None:
        return True
    pure = isinstance(problem.promise, PurePromise)  # closed forms keep every ε as it is
    return pure and solvable(problem.epsilon) < problem.epsilon and why_not_read(inner) is None


def large_baselines(problem: Problem, watch: Watch = SILENT, found: dict[str, Baseline] | None = None) -> dict[str, Baseline]:
    """The baselines that need no list of states; one that is refused, or does not fit in memory, says so and stops nothing.

    `found` is filled one by one, so that those before one that never ends are kept.
    """
    if problem.unbiased is not None:
        return unbiased_baselines(problem)
    if not isinstance(problem.promise, PurePromise):
        plain = plain_noise(problem)
        return {} if plain is None else {GaussianFaceValue.name: Baseline(GaussianFaceValue.name, -plain, GaussianFaceValue.words)}
    if why_not_read(problem) is not None:
        return {}
    seen = _Seen(Reader(problem))
    ways: list[tuple[str, str, Callable[[], float]]] = [
        (FaceValue.name, FaceValue.words, lambda: _at_face_value(problem)),
        (NoInformation.name, NoInformation.words, seen.nothing),
        (FullInformation.name, FullInformation.words, seen.everything),
        (GeometricNoise.name, GeometricNoise.words, lambda: seen.noisy(geometric_noise)),
        (StaircaseWay.name, StaircaseWay.words, lambda: seen.noisy(staircase_noise)),
    ]
    found = {} if found is None else found
    for name, words, loss in ways:
        if watch.cancelled() or seen.seconds(name) > time_left(watch):
            found[name] = Baseline(name, None, words).without_value("the time was up")
            continue
        try:
            found[name] = Baseline(name, -loss(), words)
        except (DiscreetError, MemoryError) as error:
            found[name] = Baseline(name, None, words).without_value(words_of(error))
        watch.report(stage=f"baseline {name}", value=found[name].loss)
    return found


def large_proposal(problem: Problem, name: str) -> Proposal | None:
    """One of these ways as an exact mechanism; None for the truth."""
    if problem.unbiased is not None:
        return unbiased_noise(problem, name) if name in NOISES else None
    if name == NoInformation.name:
        return blind_proposal(problem)
    if name in (FullInformation.name, GaussianFaceValue.name):
        return None  # the truth; or what the route of Gaussian sums begins with
    if name == FaceValue.name:
        plain = noise_on_the_statistic(problem) or _in_a_window(problem)
        return None if plain is None else Proposal(plain.summary, plain.kernel, None, FaceValue.words, "stalled")
    reader = Reader(problem)
    seen = _Seen(reader)
    read = reader.read(settle(reader.population, seen.steps), proved=False)
    return Proposal(read.summary, read.kernel, None, f"{read.kernel.family} noise on the statistic, then the best reply", "stalled")


def proof_seconds(problem: Problem, name: str) -> float:
    """A guess of what publishing a way takes that was valued without doing so, beyond what proofs are allowed in any case: the
    exact means of a staircase; for noise at face value its list of values, or in a window the law of a sum that squares need."""
    if problem.unbiased is not None and name == "staircase":
        return staircase_seconds(problem)
    lattice = statistic_lattice(problem)
    if name != FaceValue.name or lattice is None:
        return 0.0
    if shows_whole_range(problem, lattice):
        low, high = lattice.summary.range(problem.people)
        each = SECONDS_PER_EVEN_VALUE if shows_as_it_is(problem) else SECONDS_PER_SHOWN_VALUE
        return max(0.0, each * (high - low) - GRACE)
    if not any(isinstance(d.loss, SquaredLoss) for d in problem.decisions) or why_not_read(problem) is not None:
        return 0.0
    reader = Reader(problem)
    return reader.population.seconds(_Seen(reader).steps)


def _in_a_window(problem: Problem) -> Mechanism | None:
    """Plain noise as far as the prior reaches, where the statistic has too many values for its whole range."""
    if why_not_read(problem) is not None:
        return None
    population, kept = population_of(problem)
    mean = float(population.sums([0] * len(kept)).mean())
    return noise_on_the_statistic(problem, (mean, mean), population.spread())


def plain_baseline(problem: Problem) -> dict[str, Baseline]:
    """Noise at face value, whose loss needs neither states nor laws; nothing where no number is taken at face value."""
    if problem.unbiased is not None or not isinstance(problem.promise, PurePromise):
        return {}  # their routes begin with noise
    plain = _taken_as_it_is(problem)
    return {} if plain is None else {FaceValue.name: Baseline(FaceValue.name, -plain, FaceValue.words)}


def _at_face_value(problem: Problem) -> float:
    found = _taken_as_it_is(problem)
    if found is None:
        raise inapplicable("a number is taken at face value only for losses, where it is an action")
    return found


def _taken_as_it_is(problem: Problem) -> float | None:
    """What noise at face value loses; None where some value is no action, so that the nearest one is taken instead."""
    lattice = statistic_lattice(problem)
    if lattice is None:
        return None
    low, high = map(lattice.omega, lattice.summary.range(problem.people))
    covered = all(not isinstance(d.actions, NamedActions) and d.actions.covers(low, high, lattice.unit) for d in problem.decisions)
    return plain_noise(problem) if covered else None


class _Seen:
    """The statistic in whole steps, and what decision makers lose who see it through noise."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.population = reader, reader.population
        steps, _ = self.population.sums([0] * len(reader.kept)).lattice()
        self.steps = tuple(steps)

    def seconds(self, name: str) -> float:
        """A guess of what one of these ways takes: valued, and where it turns out to be the best, made and proved."""
        return 3 * self.population.seconds(self.steps) if name in (GeometricNoise.name, StaircaseWay.name) else 0.0

    @cached_property
    def _law(self) -> SumLaw:
        return self.population.law(self.steps)

    @property
    def allowed(self) -> list[float] | None:
        """The numbers that a single decision maker may choose; None when all may be."""
        actions = self.reader.problem.decision.actions
        return [float(a) for a in actions.numbers] if isinstance(actions, ListedActions) else None

    @property
    def _averaged(self) -> bool:
        """Whether a posterior mean says what is best: a squared error, and no range of numbers that it may lie outside of."""
        if not self.reader.squared:  # several makers have no one decision
            return False
        actions = self.reader.problem.decision.actions
        return not (isinstance(actions, RealActions) and actions.lower is not None)

    def _joint(self) -> tuple[np.ndarray, int, tuple]:  # type: ignore[type-arg]
        if self.population.length(self.steps) ** 2 > MOST_READ:
            raise TooLarge(
                "The statistic has too many values for this baseline",
                size=f"{self.population.length(self.steps):,}",
                fits=f"{int(MOST_READ**0.5):,}",
                remedy="compare with what is shown",
            )
        must_fit(BYTES_PER_PAIR * self.population.length(self.steps) ** 2, "the law of the statistic at each of its noisy values")
        joint = self.population.joint(self.steps)
        return joint.masses, joint.first, joint.omegas

    def nothing(self) -> float:
        """The best action without any publication."""
        if not self.reader.squared:
            alone = self.population.joint([0] * len(self.steps))  # of the statistic by itself
            return self.reader.replies(alone.masses.sum(axis=1)[None, :], alone.omegas)[1]
        decision = self.reader.problem.decision
        mean = float(self.population.sums(self.steps).mean())
        action = mean
        if isinstance(decision.actions, (ListedActions, RealActions)):
            action = float(self.reader.allowed(mean))
        return float(decision.weight) * (self.population.spread() ** 2 + (action - mean) ** 2)

    def everything(self) -> float:
        """The best action when the truth is known."""
        if is_answered(self.reader.problem):
            return 0.0
        masses, _, omegas = self._joint()
        return self.reader.replies(np.diag(masses.sum(axis=1)), omegas)[1]

    def noisy(self, noise_at: Callable[[float, int], IntegerNoise]) -> float:
        """Noise on the statistic, then the best reply."""
        step = self.population.step(self.steps)
        if step > MOST_STEPS:
            raise TooLarge(
                "noise on the statistic needs values on a coarser lattice",
                size=f"{step:,} steps",
                fits=f"{MOST_STEPS:,}",
                remedy="compare with what is shown",
            )
        noise = noise_at(self.population.epsilon, step)
        if self._averaged:
            found = read_by_bayes(self._law, self.steps, step, noise, self.allowed)
            return float(self.reader.problem.decision.weight) * found.loss
        masses, first, omegas = self._joint()
        seen = to_outputs(masses, first, noise, first, first + masses.shape[1] - 1)
        return self.reader.replies(seen.T, omegas)[1]
