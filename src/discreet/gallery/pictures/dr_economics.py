"""DR 1.3: Taking part changes nobody's prospects by more than e^ε.

For any utility u ≥ 0 of whatever follows from the output, the expectation with a respondent's record is within a factor e^ε of
that without. Drawn: fifty arbitrary utilities after a count with geometric noise at ε = 1, expectations under two neighbours; all
lie between the lines, and one who cares about a single output lies on a line. Utilities that may be negative are not covered.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.profiles import profile
from discreet.currencies.semantics import economic
from discreet.gallery.drawing import axis, curves
from discreet.gallery.papers import truncated_geometric
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

SEED, MANY = 7, 50


def prospects() -> np.ndarray:
    """Expected utilities under counts 2 and 3 of 0..5, [utility, which]."""
    law = truncated_geometric(6, 1.0)
    rng = np.random.default_rng(SEED)
    utilities = rng.random((MANY, 6)) ** 6
    return np.asarray(utilities @ law[:, [2, 3]])


def draw() -> Figure:
    """Expectations with and without, between the lines of slope e and 1/e."""
    found = prospects()
    top = float(found.max()) * 1.05
    return curves(
        "Prospects with and without one record",
        "A cloud of fifty points between two lines through the origin, of slope e and 1/e; none lies outside.",
        {"e^ε": [(0.0, 0.0), (top / exp(1), top)], "e^−ε": [(0.0, 0.0), (top, top / exp(1))]},
        x=axis("without", "expected utility if the count is 2", domain=[0, top]),
        y=axis("with", "expected utility if the count is 3", domain=[0, top]),
        marks={"an arbitrary utility": [(float(a), float(b)) for a, b in found]},
        subtitle="geometric noise, ε = 1",
        width=360,
        height=360,
    )


def numbers() -> list[Number]:
    """The largest ratio seen, the one who attains it, and the near miss."""
    found = prospects()
    ratios = np.maximum(found[:, 0] / found[:, 1], found[:, 1] / found[:, 0])
    law = truncated_geometric(6, 1.0)
    made = channel_from_rows([row.tolist() for row in law.T], edges=[(i, i + 1) for i in range(5)])
    single = economic(made, [0, 0, 0, 0, 0, 1])
    signed = [
        sum(Fraction(p) * u for p, u in zip(row, (Fraction(-1), Fraction(51, 50)), strict=True))
        for row in (("1/2", "1/2"), ("2/5", "3/5"))
    ]
    limit = profile(channel_from_rows([["1/2", "1/2"], ["2/5", "3/5"]])).epsilon.ratio
    return [
        Number("utilities outside", int((ratios > exp(1) * (1 + 1e-12)).sum()), 0, "none of fifty"),
        Number("one who cares about a single output", float(single.ratio or 0), exp(1), "e^ε, attained"),
        Number("a signed utility leaves the bound", limit is not None and signed[1] > limit * signed[0] > 0, True, "the near miss"),
    ]
