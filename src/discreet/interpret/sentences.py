"""Sentences for people, generated from the numbers and from nothing else.

Every number goes through `numerics.digits` with its direction: limits are rounded to the side on which they stay true, what
a person gave is written back, and only averages and estimates are rounded to the nearest. A sentence carries its premises.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from discreet.interpret.bounds import PosteriorBounds, moved_bracket
from discreet.interpret.power import PowerBound
from discreet.numerics.digits import (
    about,
    between,
    given,
    percent_at_least,
    percent_at_most,
    percent_given,
)

Number = float | Fraction
LARGEST = 700
"""Exponents beyond which a factor e^x is not written out."""


def attacker_sentence(
    prior: Number,
    shift: Number,
    *,
    together: int | None = 1,
    neighbours: str = "replace-one",
    unit: str | None = None,
    except_for: Fraction = Fraction(0),
) -> str:
    """What someone can become sure of about one respondent, in the worst case of log odds moving by `shift`.

    `except_for` is the chance with which that may not hold, where a promise does not limit every published value.

    `together` respondents, this one included, answer as one (None: everybody). Replacing a respondent protects the answer,
    adding or removing one protects whether it is there, and a given graph protects which of two neighbours is true.
    """
    who = f"Someone who is {percent_given(prior)} sure today {_fact(neighbours, unit, together)}"
    premise = _premise(neighbours, unit, together)
    if except_for:
        premise += f", except with a chance of 1 in {given(1 / except_for)}"
    if shift == inf:
        return f"{who} can become certain{premise}."
    if shift == 0:
        return f"{who} stays {percent_given(prior)} sure{premise}."
    return f"{who} can become at most {percent_at_most(moved_bracket(prior, shift).upper)} sure{premise}."


def _fact(neighbours: str, unit: str | None, together: int | None) -> str:
    if neighbours == "given":
        return f"which of two databases is true that are {_count(together or 1, 'step')} apart"
    if neighbours == "add-remove-one":
        return f"that one {unit} is in the data" if unit else "that you are in the data"
    return f"of a yes-or-no fact about one {unit}" if unit else "of a yes-or-no fact about you"


def _premise(neighbours: str, unit: str | None, together: int | None) -> str:
    if neighbours == "given":
        return ""
    whose, whom = ("this one's", "this one") if unit else ("yours", "you")
    there = neighbours == "add-remove-one"
    if together == 1:
        return f", if others say nothing about {whom}" if there else f", if others' answers say nothing about {whose}"
    if together is None:
        return f", even if everybody's answers move with {whose}"
    alike = "are in the data together or not at all" if there else "always answer alike"
    return f", if {together} people including {whom} {alike} and everybody else's answers say nothing about {whose}"


def power_sentence(bound: PowerBound) -> str:
    """What any test at this level can achieve."""
    if bound.vacuous:
        return (
            f"With false alarms at {percent_given(bound.alpha)}, privacy alone rules out no test: the hypotheses are "
            f"{_respondents(bound.distance)} apart, too far for a bound."
        )
    return (
        f"With false alarms at {percent_given(bound.alpha)}, no test can notice a difference of "
        f"{_respondents(bound.distance)} more than {percent_at_most(bound.value)} of the time."
    )


def limit_sentence(bounds: PosteriorBounds, prior: Number) -> str:
    """How far any posterior probability can move, whatever the model, and whether Thm 11's own bound is vacuous."""
    low, high = bounds.probability(float(prior))
    if bounds.log_factor == inf:
        return "Databases behind this value are not connected by neighbours, so privacy sets no limit between them."
    text = (
        f"Whatever the model, something {percent_given(prior)} probable before is between {percent_at_least(low)} and "
        f"{percent_at_most(high)} probable after."
    )
    over = bounds.vacuous(float(prior))
    if over is not None and over > 1:
        size = about(over, 3) if over < 1e6 else "more than a million"
        text += f" (The prior times the largest factor by which ε lets it grow would be {size}, above one, and says nothing.)"
    return text


def reading_sentence(
    output: str, mean: float, low: Fraction, high: Fraction, level: float, inside: float, prior: str = "the design's prior"
) -> str:
    """What a published value says about the statistic to one who believes the prior."""
    span = f"is {_value(low)}" if low == high else "lies " + between(low, high, 12)
    return (
        f"The published value {output} means, under {prior}: the true value {span} with probability {percent_at_least(inside)} "
        f"(at least {percent_given(level)} was asked for); on average it is {about(mean)}."
    )


def _respondents(distance: float) -> str:
    return "one respondent" if distance == 1 else f"{given(distance)} respondents"


def _count(count: int, what: str) -> str:
    return f"one {what}" if count == 1 else f"{count} {what}s"


def _value(value: Fraction) -> str:
    return given(value) if len(given(value)) <= 12 else about(value, 6)
