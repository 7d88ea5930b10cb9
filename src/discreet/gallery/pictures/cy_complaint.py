"""CY, common complaint: Correlated answers tell more about one than its own privacy allows.

Two respondents answer at random at ε = 1. Information about the first alone, I(X1; Y), against how often both agree, beside what
is told to someone who knows the other, I(X1; Y | X2), which MI-privacy bounds. With independent answers they agree, and with
correlation the first exceeds the second. Nothing is wrong with the mechanism: the other's answer speaks too.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

from discreet.currencies.semantics import leakage
from discreet.gallery.converting import binary_entropy
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.gallery.pictures.cy_subadditivity import carried
from discreet.gallery.pictures.sy_proposition_s1 import AGREEMENTS, responses
from discreet.model.priors import TablePrior
from discreet.present.figure import Figure


def told(agreement: Fraction) -> tuple[float, float]:
    """I(X1; Y) and I(X1; Y | X2) if both agree with this probability."""
    same, other = agreement / 2, (1 - agreement) / 2
    chances = (("0,0", same), ("0,1", other), ("1,0", other), ("1,1", same))
    found = leakage(responses(), 0, TablePrior(tuple((d, p) for d, p in chances if p)))
    return found.alone.middle, found.given_others.middle


def draw() -> Figure:
    """Both amounts against agreement."""
    both = [(float(a), *told(a)) for a in AGREEMENTS]
    return curves(
        "What is told about one respondent",
        f"I(X1; Y) rises from {both[0][1]:.3f} to {both[-1][1]:.3f} as answers agree; I(X1; Y | X2) falls to 0.",
        {"to one who knows nobody": [(a, x) for a, x, _ in both], "to one who knows the other": [(a, y) for a, _, y in both]},
        x=axis("agreement", "probability that both answers agree"),
        y=axis("information", "mutual information (nats)"),
        subtitle="two respondents, randomised response at ε = 1",
    )


def numbers() -> list[Number]:
    """Independent answers, equal answers, and what MI-privacy allows."""
    allowed = log(2) - binary_entropy(1 / (1 + exp(1)))
    alone, given = told(Fraction(1, 2))
    equal, nothing = told(Fraction(1))
    return [
        Number("independent, alone", alone, allowed, "capacity of one answer"),
        Number("independent, given the other", given, allowed, "the same"),
        Number("equal answers, alone", equal, carried(2), "capacity of two answers about one bit"),
        Number("equal answers, given the other", nothing, 0.0, "the other tells all"),
        Number("more than allowed", equal > 1.7 * allowed, True, "0.199 against 0.111"),
    ]
