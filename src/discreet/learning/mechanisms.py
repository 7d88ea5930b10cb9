"""What the numbers of a learning release are drawn with: geometric noise in closed form, one mechanism for each largest number."""

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
from discreet.model.losses import loss_of
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import CountStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.exact import brief


def learning_family(asked: Sequence[Question], epsilon: Fraction, unit: str) -> Family:
    """The mechanisms for these questions, each proved private."""
    if epsilon <= 0:
        raise InputError(
            "Learning needs a part of the budget",
            found=f"ε = {brief(epsilon)}",
            allowed="above 0",
            remedy="give a share between 0 and 1",
        )
    return Family(tuple(_member(size, epsilon, unit) for size in sorted({q.largest for q in asked})))


def _member(size: int, epsilon: Fraction, unit: str) -> Member:
    """A count of at most `size`, believed beforehand to be anything with equal probability."""
    even = DirichletMultinomialPrior((Fraction(1), Fraction(1)))
    problem = Problem(
        Universe.of(size, (Fraction(0), Fraction(1))),
        ReplaceOne(),
        even,
        CountStatistic((1,)),
        (Decision(loss_of("squared-error"), RealActions()),),
        PurePromise(epsilon),
        unit=unit,
        name="a number to learn from",
    )
    mechanism = geometric_mechanism(problem, LinearSummary((0, 1)))
    proved = privacy(mechanism)
    if not isinstance(proved, Certificate):
        raise Refuted("the mechanism of a learning release is not private", proved)
    return Member(size, size, mechanism, proved, ())
