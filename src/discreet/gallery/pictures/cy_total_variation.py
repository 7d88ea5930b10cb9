"""CY, mutual information to total variation: What a small capacity promises.

Capacity at most ε forces TV ≤ 1 − 2h⁻¹(log 2 − ε) for every two inputs (h⁻¹ into 0 to ½), and 1 from log 2 on; √(2ε) is simpler
and larger. Dots: binary symmetric channels, whose capacity and total variation lie on the curve.
"""

from __future__ import annotations

from math import log, sqrt

from discreet.currencies.attaining import symmetric_channel
from discreet.currencies.information import mutual_information
from discreet.gallery.converting import along, binary_entropy, channel, converted, total_variation_of
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

AMOUNTS = [k / 100 for k in range(81)]
VARIATIONS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def draw() -> Figure:
    """The tight curve, the simple one, and symmetric channels."""
    dots = [(log(2) - binary_entropy((1 - v) / 2), v) for v in VARIATIONS]
    return curves(
        "Total variation that a capacity allows",
        "A curve that rises steeply from 0 and reaches 1 at log 2 = 0.693, below √(2ε); symmetric channels lie on it.",
        {
            "tight": along(AMOUNTS, lambda a: converted("mi", a, "tv", "tv")),
            "√(2ε)": [(a, sqrt(2 * a)) for a in AMOUNTS if a <= 0.5],
        },
        x=axis("capacity", "capacity ε (nats)"),
        y=axis("variation", "total variation (probability)", domain=[0, 1.05]),
        marks={"binary symmetric channel": dots},
    )


def numbers() -> list[Number]:
    """The curve inverted, and a channel that attains it."""
    found = []
    for amount in (0.01, 0.1, 0.5):
        variation = converted("mi", amount, "tv", "tv")
        pair = symmetric_channel(variation)
        found.append(
            Number(f"h((1 − TV)/2) at {amount:g}", binary_entropy((1 - variation) / 2), log(2) - amount, "log 2 − ε", 1e-8)
        )
        found.append(
            Number(f"capacity of its channel at {amount:g}", mutual_information(channel(pair)).bracket.middle, amount, "ε", 1e-8)
        )
        found.append(Number(f"its total variation at {amount:g}", total_variation_of(pair), variation, "attained"))
    found.append(Number("from log 2 on", converted("mi", 0.7, "tv", "tv"), 1.0, "everything may be told apart"))
    return found
