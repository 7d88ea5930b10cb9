"""CY, tightest conversion: From (ε, δ) to another (ε′, δ′).

What (1, 0.01)-closeness promises at every smaller ε′, and what 1-closeness does. Dots: the δ of the pair P = (δ,
(1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), 0) and its reverse, measured; they lie on the curve, so no smaller δ′ would be true.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import exp, tanh

from discreet.currencies.attaining import leaky_response
from discreet.currencies.conversions import convert
from discreet.currencies.profiles import profile
from discreet.currencies.statements import statement
from discreet.gallery.converting import along, channel
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

LEAKS = (Fraction(0), Fraction(1, 100))
SMALLER = [k / 20 for k in range(21)]


def promised(leak: Fraction, smaller: float) -> float:
    """δ′ at ε′ of what is (1, δ)-close."""
    source = statement("approximate", epsilon=1, delta=str(leak))
    return float(convert(source, "approximate", epsilon=str(smaller)).result.numbers["delta"])


def measured(leak: Fraction, smaller: float) -> float:
    """δ at ε′ of the pair."""
    return profile(channel(leaky_response(Fraction(1), leak))).delta_for_epsilon(str(smaller)).bracket.middle


def draw() -> Figure:
    """Two curves with dots on them."""
    lines, dots = {}, {}
    for leak in LEAKS:
        lines[f"promised, δ = {float(leak):g}"] = along(SMALLER, partial(promised, leak))
        dots[f"the pair, δ = {float(leak):g}"] = along(SMALLER[::4], partial(measured, leak))
    return curves(
        "What (1, δ)-closeness says at smaller ε",
        f"Two falling curves of δ′, from {lines['promised, δ = 0'][0][1]:.3f} at ε′ = 0 to δ at ε′ = 1, with dots on them.",
        lines,
        x=axis("smaller", "ε′ (nats)"),
        y=axis("delta", "δ′ (probability)"),
        marks=dots,
    )


def numbers() -> list[Number]:
    """Formula, conversion and pair."""
    formula = 1 - (exp(0.5) + 1) * 0.99 / (exp(1) + 1)
    return [
        Number("(1, 0) at ε′ = 0", promised(LEAKS[0], 0), tanh(0.5), "tanh(ε/2): total variation"),
        Number("(1, 0.01) at ε′ = 0.5", promised(LEAKS[1], 0.5), formula, "1 − (e^ε′+1)(1−δ)/(e^ε+1)"),
        Number("the pair at ε′ = 0.5", measured(LEAKS[1], 0.5), formula, "measured, attains it"),
        Number("the pair at ε′ = 1", measured(LEAKS[1], 1.0), 0.01, "δ itself"),
    ]
