"""CY, tightest claim: From ε to relative entropy.

D(P‖Q) ≤ ε·tanh(ε/2) for ε-close distributions, drawn beside the simple claim D ≤ ε. Dots: randomised response, whose relative
entropy lies on the curve. (At ε = 1 the bound equals that on total variation, tanh(1/2), so it is never checked there alone.)
"""

from __future__ import annotations

from fractions import Fraction
from math import tanh

from discreet.currencies.attaining import randomised_response
from discreet.gallery.converting import along, converted, relative_entropy_of
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

EPSILONS = [k / 10 for k in range(31)]


def draw() -> Figure:
    """The bound, the simple claim and the pair."""
    return curves(
        "Relative entropy of ε-close distributions",
        "The bound rises from 0 like ε²/2 and approaches the line D = ε from below; dots of randomised response lie on it.",
        {
            "ε·tanh(ε/2)": along(EPSILONS, lambda e: converted("epsilon", e, "kl", "kl")),
            "simple claim: ε": [(0.0, 0.0), (3.0, 3.0)],
        },
        x=axis("epsilon", "ε (nats)"),
        y=axis("entropy", "relative entropy (nats)"),
        marks={"randomised response": along(EPSILONS[5::5], lambda e: relative_entropy_of(randomised_response(Fraction(str(e)))))},
    )


def numbers() -> list[Number]:
    """Conversion, formula and pair at three ε."""
    found = []
    for epsilon in (0.1, 0.5, 2.0):
        pair = relative_entropy_of(randomised_response(Fraction(str(epsilon))))
        bound = converted("epsilon", epsilon, "kl", "kl")
        found.append(Number(f"bound at ε = {epsilon:g}", bound, epsilon * tanh(epsilon / 2), "ε·tanh(ε/2)"))
        found.append(Number(f"randomised response at {epsilon:g}", pair, bound, "Σ P log(P/Q), attains it"))
    return found
