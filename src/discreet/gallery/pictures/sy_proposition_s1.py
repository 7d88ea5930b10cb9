"""SY-OA Prop. S.1: What ε promises to someone whose answer is independent of others.

Two respondents answer at random at ε = 1. An observer who takes them for independent moves the log odds of one answer by at most
ε; the more their answers are believed to go together, the further the odds move, up to 2ε when they are the same. ε is a promise
about one respondent's own answer, and not about what relatives' answers tell.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, log

from discreet.currencies.semantics import largest_shift, product_prior_shift
from discreet.gallery.drawing import axis, curves
from discreet.gallery.papers import figures_problem
from discreet.gallery.picture import Number
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IndependentPrior, TablePrior
from discreet.model.summary import DatabaseSummary
from discreet.present.figure import Figure

AGREEMENTS = tuple(Fraction(k, 20) for k in range(10, 21))


@cache
def responses() -> Mechanism:
    """Randomised response of both."""
    asked = figures_problem()
    one = RandomisedResponse(Fraction(1))
    return Mechanism(asked, DatabaseSummary(), one.of_each(2), one.guarantee("replace-one", asked.unit))


def shift(agreement: Fraction) -> float:
    """The largest move of the log odds of one answer if both agree with this probability."""
    same, other = agreement / 2, (1 - agreement) / 2
    chances = (("0,0", same), ("0,1", other), ("1,0", other), ("1,1", same))
    return largest_shift(responses(), TablePrior(tuple((d, p) for d, p in chances if p))).bracket.middle


def by_hand(agreement: float) -> float:
    """After (1, 1): the other's answer is counted with its own odds."""
    keep, lie = exp(1) / (1 + exp(1)), 1 / (1 + exp(1))
    yes = keep * (agreement * keep + (1 - agreement) * lie)
    no = lie * (agreement * lie + (1 - agreement) * keep)
    return log(yes / no)


def draw() -> Figure:
    """The shift against how often both agree."""
    shown = [(float(a), shift(a)) for a in AGREEMENTS]
    return curves(
        "How far the odds of one answer move",
        f"A curve rising from {shown[0][1]:.2f} for independent answers to {shown[-1][1]:.2f} for equal ones, beside ε = 1.",
        {"largest shift": shown, "ε": [(0.5, 1.0), (1.0, 1.0)]},
        x=axis("agreement", "probability that both answers agree"),
        y=axis("shift", "shift of the log odds (nats)", domain=[0, 2.1]),
        subtitle="two respondents, randomised response at ε = 1",
    )


def numbers() -> list[Number]:
    """Product priors, equal answers, and what lies between."""
    skew = IndependentPrior(((Fraction(1, 10), Fraction(9, 10)), (Fraction(2, 3), Fraction(1, 3))))
    return [
        Number("sup over product priors", product_prior_shift(responses()).upper, 1.0, "ε"),
        Number("a product prior", largest_shift(responses(), skew).bracket.middle, 1.0, "ε: the other's answer says nothing"),
        Number("independent answers", shift(Fraction(1, 2)), 1.0, "ε"),
        Number("answers that agree three times in four", shift(Fraction(3, 4)), by_hand(0.75), "Bayes' rule written out"),
        Number("equal answers", shift(Fraction(1)), 2.0, "2ε"),
    ]
