"""Sentences for people, generated from the numbers and from nothing else.

Percentages are whole where that is enough: the attacker's to the nearest, bounds on tests and posteriors
outward. What is nearly but not quite certain is shown as "more than 99.9 %" and never as 100 %.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor, inf

from discreet.interpret.bounds import PosteriorBounds, moved
from discreet.interpret.power import PowerBound

SLACK = 1e-9


def percent(probability: float, *, up: bool | None = None) -> str:
    """A probability in per cent: nearest, or rounded up (`up=True`) or down (`up=False`); ends are kept honest."""
    if probability > 1:
        return "100 %"
    if probability <= 0:
        return "0 %"
    if probability > 0.999:
        return "more than 99.9 %"
    if probability < 0.001:
        return "less than 0.1 %"
    scaled = probability * 100
    places = 0 if 1 <= scaled <= 99 else 1
    unit = 10**places
    if up is None:
        whole = round(scaled * unit)
    else:
        whole = ceil(scaled * unit - SLACK) if up else floor(scaled * unit + SLACK)
    return f"{whole / unit:.{places}f} %"


def attacker_sentence(prior: float, shift: float, *, together: int | None = 1) -> str:
    """What someone can become sure of about one respondent, in the worst case of log odds moving by `shift`."""
    surest = moved(prior, shift)
    if together == 1:
        premise = "if others' answers say nothing about yours"
    elif together is None:
        premise = "even if everybody's answers move with yours"
    else:
        premise = f"if {together} people including you always answer alike"
    if shift == inf:
        return f"Someone who is {percent(prior)} sure today can become certain, {premise}."
    if surest - prior < 5e-4:
        return f"Someone who is {percent(prior)} sure today stays {percent(prior)} sure, {premise}."
    shown = percent(surest)
    word = "" if shown.startswith("more") else "at most "
    return f"Someone who is {percent(prior)} sure today can become {word}{shown} sure, {premise}."


def power_sentence(bound: PowerBound) -> str:
    """What any test at this level can achieve."""
    if bound.vacuous:
        return (
            f"With false alarms at {percent(bound.alpha)}, privacy alone rules out no test: the hypotheses are "
            f"{_steps(bound.distance)} apart, too far for a bound."
        )
    shown = percent(bound.value, up=True)
    return (
        f"With false alarms at {percent(bound.alpha)}, no test can notice a difference of {_steps(bound.distance)} "
        f"more than {shown.removeprefix('more than ')} of the time."
    )


def limit_sentence(bounds: PosteriorBounds, prior: float) -> str:
    """How far any posterior probability can move, whatever the model, and whether Thm 11's own bound is vacuous."""
    low, high = bounds.probability(prior)
    if bounds.log_factor == inf:
        return "Databases behind this value are not connected by neighbours, so privacy sets no limit between them."
    text = (
        f"Whatever the model, something {percent(prior)} probable before is between {percent(low, up=False)} and "
        f"{percent(high, up=True)} probable after."
    )
    over = bounds.vacuous(prior)
    if over is not None and over > 1:
        size = f"{over:.3g}" if over < 1e6 else "more than a million"
        text += f" (The prior times the largest factor by which ε lets it grow would be {size}, above one, and says nothing.)"
    return text


def reading_sentence(
    output: str, mean: float, low: Fraction, high: Fraction, level: float, inside: float
) -> str:
    """What a published value says about the statistic."""
    span = f"is {_number(low)}" if low == high else f"lies between {_number(low)} and {_number(high)}"
    return (
        f"The published value {output} means: the true value {span} with probability {percent(inside, up=False)} "
        f"(at least {percent(level)} was asked for); on average it is {mean:.4g}."
    )


def factor_sentence(shift: float) -> str:
    """A shift of log odds as a factor of odds."""
    if shift == inf:
        return "some published value makes one answer impossible: odds can move without limit"
    return f"odds can change by a factor of at most {ceil(exp(min(shift, 700.0)) * 1000 - SLACK) / 1000:g}"


def _steps(distance: float) -> str:
    return "one respondent" if distance == 1 else f"{distance:g} respondents"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
