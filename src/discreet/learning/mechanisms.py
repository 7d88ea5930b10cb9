"""What the numbers of a learning release are drawn with, in closed form, one mechanism for each largest number: geometric noise
under ε, discrete Gaussian noise under ρ."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.certify.edges.privacy import privacy
from discreet.errors import InputError, Refuted
from discreet.learning.questions import Question
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate
from discreet.model.decision import Decision
from discreet.model.family import Family, Member
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GaussianKernel
from discreet.model.losses import loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, Promise
from discreet.model.statistic import CountStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

COUNT = LinearSummary((0, 1))


def learning_family(asked: Sequence[Question], promise: Promise, unit: str) -> Family:
    """The mechanisms for these questions, each proved private."""
    if promise.level <= 0:
        raise InputError(
            "Learning needs a part of the budget",
            found=promise.brief(),
            allowed="above 0",
            remedy="give a share between 0 and 1",
        )
    return Family(tuple(_member(size, promise, unit) for size in sorted({q.largest for q in asked})))


def _member(size: int, promise: Promise, unit: str) -> Member:
    """A count of at most `size`, believed beforehand to be anything with equal probability."""
    even = DirichletMultinomialPrior((Fraction(1), Fraction(1)))
    problem = Problem(
        Universe.of(size, (Fraction(0), Fraction(1))),
        ReplaceOne(),
        even,
        CountStatistic((1,)),
        (Decision(loss_of("squared-error"), RealActions()),),
        promise,
        unit=unit,
        name="a number to learn from",
    )
    mechanism = _gaussian(problem, promise) if isinstance(promise, ConcentratedPromise) else geometric_mechanism(problem, COUNT)
    proved = privacy(mechanism)
    if not isinstance(proved, Certificate):
        raise Refuted("the mechanism of a learning release is not private", proved)
    return Member(size, size, mechanism, proved, ())


def _gaussian(problem: Problem, promise: ConcentratedPromise) -> Mechanism:
    """Discrete Gaussian noise with σ² = 1/2ρ on the count, clipped to its range: one respondent moves it by one."""
    assert isinstance(problem.universe, Universe)
    kernel = GaussianKernel(*COUNT.range(problem.universe), 1, 1 / (2 * promise.rho))
    guarantee = Guarantee(promise, problem.neighbours.name, problem.unit)
    return Mechanism(problem, COUNT, kernel, guarantee, provenance={"family": "discrete-gaussian"})
