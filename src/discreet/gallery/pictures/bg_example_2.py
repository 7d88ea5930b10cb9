"""BG Example 2: Randomised response, where every respondent is protected alone.

Each of two respondents tells the truth with probability e^ε/(1 + e^ε), here ε = 1. Bars: what is published for each of the four
databases. Databases with one difference are a factor e apart at most, those with two e²; nobody needs to be trusted with the
records.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np

from discreet.gallery.drawing import bars
from discreet.gallery.picture import Number
from discreet.interpret.intervals import tight_epsilon
from discreet.mechanisms.randomised_response import RandomisedResponse
from discreet.present.figure import Figure

ONE = RandomisedResponse(Fraction(1))
DATABASES = tuple(product((0, 1), repeat=2))


def law() -> np.ndarray:
    """P(published | database) of both respondents, [output, database]."""
    return np.kron(ONE.matrix(), ONE.matrix())


def draw() -> Figure:
    """Four groups of bars."""
    names = [f"({a},{b})" for a, b in DATABASES]
    groups = {f"{name} in truth": dict(zip(names, law()[:, i].tolist(), strict=True)) for i, name in enumerate(names)}
    alt = (
        "Bars of the probability of publishing (0,0), (0,1), (1,0) and (1,1) for each true database: the truth is published with "
        f"probability {law()[0, 0]:.3f}, the opposite of both answers with {law()[3, 0]:.3f}."
    )
    return bars(
        "Two respondents who answer at random", alt, groups, x="published answers", y="probability", subtitle="ε = 1 for each"
    )


def numbers() -> list[Number]:
    """Flips, the tight ε along differences, and the product form."""
    distances = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in DATABASES] for x in DATABASES], dtype=float)
    flip = 1 / (exp(1) + 1)
    return [
        Number("probability of a lie", ONE.error(), flip, "1/(e^ε + 1)"),
        Number("tight ε for the Hamming distance", tight_epsilon(law(), distances), 1.0, "ε"),
        Number("largest ratio over both differences", float(law()[0, 0] / law()[0, 3]), exp(2), "e^2ε: group privacy"),
        Number("both tell the truth", float(law()[0, 0]), (1 - flip) ** 2, "a product of both"),
    ]
