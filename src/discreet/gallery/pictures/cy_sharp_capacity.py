"""CY, ε-DP to MI-DP: The most that any ε-DP channel can carry about one record.

Over channels of any size the capacity is at most g − 1 − log g with g = ε/(1 − e^−ε), sharper than any bound of the slides, and
the limit of subset selection as the number of types grows (dots: ten million types). Randomised response of two types carries
less.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, tanh

from discreet.currencies.attaining import near_sharp_selection, randomised_response
from discreet.currencies.formulas import subset_selection_information
from discreet.currencies.information import mutual_information
from discreet.gallery.converting import along, binary_entropy, channel, converted
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

EPSILONS = [k / 10 for k in range(1, 31)]


def selected(epsilon: float) -> float:
    """Capacity of subset selection over ten million types."""
    made = near_sharp_selection(Fraction(str(epsilon)))
    return subset_selection_information(made.epsilon, made.types, made.chosen).middle


def draw() -> Figure:
    """The sharp bound, what the slides give, and two channels."""
    return curves(
        "The most that an ε-DP channel can tell about one record",
        "The sharp bound rises like ε²/8; subset selection lies on it, two types below, ε·tanh(ε/2) far above.",
        {
            "sharp: g − 1 − log g": along(EPSILONS, lambda e: converted("epsilon", e, "mi", "mi")),
            "relative entropy: ε·tanh(ε/2)": along([e for e in EPSILONS if e <= 1.7], lambda e: e * tanh(e / 2)),
            "two types": along(EPSILONS, lambda e: log(2) - binary_entropy(1 / (1 + exp(e)))),
        },
        x=axis("epsilon", "ε (nats)"),
        y=axis("information", "mutual information (nats)", domain=[0, 1.2]),
        marks={"subset selection, 10⁷ types": along(EPSILONS[4::5], selected)},
    )


def numbers() -> list[Number]:
    """Formula, conversion, subset selection, randomised response."""
    found = []
    for epsilon in (0.5, 1.0, 2.0):
        g = epsilon / (1 - exp(-epsilon))
        sharp = g - 1 - log(g)
        pair = mutual_information(channel(randomised_response(Fraction(str(epsilon))))).bracket.middle
        two = log(2) - binary_entropy(1 / (1 + exp(epsilon)))
        found.append(Number(f"sharp bound at ε = {epsilon:g}", converted("epsilon", epsilon, "mi", "mi"), sharp, "g − 1 − log g"))
        found.append(Number(f"subset selection at {epsilon:g}", selected(epsilon), sharp, "approaches it", 1e-6))
        found.append(Number(f"two types at {epsilon:g}", pair, two, "log 2 − h(1/(1 + e^ε))"))
    return found
