"""CY, Pinsker: From relative entropy to total variation.

TV ≤ √(D/2), and from D = 1.6 on the bound √(1 − e^−D) is smaller. Dots: pairs (½ + x, ½ − x) against (½, ½), which are near
Pinsker's curve while D is small: its constant cannot be improved, but the curve itself is not attained.
"""

from __future__ import annotations

from math import exp, log, sqrt

from discreet.currencies.attaining import FinitePair
from discreet.gallery.converting import along, converted, relative_entropy_of, total_variation_of
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

AMOUNTS = [k / 50 for k in range(1, 126)]
PAIRS = tuple(
    FinitePair((0.5 + x, 0.5 - x), (0.5, 0.5), "an unfair coin against a fair one") for x in (0.05, 0.15, 0.25, 0.35, 0.45)
)


def draw() -> Figure:
    """Both bounds, and the coins."""
    dots = [(relative_entropy_of(pair), total_variation_of(pair)) for pair in PAIRS]
    return curves(
        "Total variation of distributions with little relative entropy",
        "Pinsker's square root and Bretagnolle and Huber's curve, which is lower from D = 1.6 on; coins lie just below.",
        {
            "Pinsker: √(D/2)": [(a, sqrt(a / 2)) for a in AMOUNTS if a <= 2],
            "√(1 − e^−D)": [(a, sqrt(1 - exp(-a))) for a in AMOUNTS],
            "what is promised": along(AMOUNTS, lambda a: converted("kl", a, "tv", "tv")),
        },
        x=axis("entropy", "relative entropy D (nats)"),
        y=axis("variation", "total variation (probability)", domain=[0, 1]),
        marks={"coins": dots},
    )


def numbers() -> list[Number]:
    """The smaller of both bounds; coins below it and near it."""
    small = FinitePair((0.5 + 1e-4, 0.5 - 1e-4), (0.5, 0.5), "nearly fair")
    entropy = 0.5 * ((1 + 2e-4) * log(1 + 2e-4) + (1 - 2e-4) * log(1 - 2e-4))
    ratio = total_variation_of(small) / sqrt(entropy / 2)
    return [
        Number("promised at D = 0.5", converted("kl", 0.5, "tv", "tv"), 0.5, "√(D/2)"),
        Number("promised at D = 2", converted("kl", 2, "tv", "tv"), sqrt(1 - exp(-2)), "√(1 − e^−D)"),
        Number("coins above the bound", sum(_above(pair) for pair in PAIRS), 0, "none"),
        Number("a nearly fair coin against the bound", ratio, 1.0, "the constant is sharp", 1e-7),
    ]


def _above(pair: FinitePair) -> bool:
    return total_variation_of(pair) > converted("kl", relative_entropy_of(pair), "tv", "tv")
