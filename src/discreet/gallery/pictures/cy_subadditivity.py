"""CY, subadditivity: Publishing k times tells at most k times as much.

Capacity of k independent randomised responses about the same bit (ε = 1), beside k times that of one, and log 2, all there is to
know. It needs fresh randomness: with one coin Z, X + Z and Z tell nothing alone and everything together.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log, prod

from discreet.currencies.attaining import randomised_response
from discreet.currencies.channel import channel_from_rows
from discreet.currencies.composition import information, pure
from discreet.currencies.information import mutual_information
from discreet.gallery.converting import binary_entropy
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

COPIES = (1, 2, 3, 4, 5, 6)


def carried(copies: int) -> float:
    """Capacity of so many answers."""
    pair = randomised_response(Fraction(1))
    rows = [[prod(each) for each in product(row, repeat=copies)] for row in (pair.first, pair.second)]
    return mutual_information(channel_from_rows(rows)).bracket.middle


def draw() -> Figure:
    """What is carried, what adding up allows, and the whole bit."""
    shown = {"measured": [(float(k), carried(k)) for k in COPIES], "k times one": [(float(k), k * carried(1)) for k in COPIES]}
    return curves(
        "What k answers tell about one bit",
        f"Measured capacity bends from {carried(1):.3f} for one answer towards log 2, below the straight line of k times one.",
        {**shown, "all: log 2": [(1.0, log(2)), (6.0, log(2))]},
        x={**axis("copies", "number k of answers"), "axis": {"values": list(COPIES), "format": "d"}},
        y=axis("information", "mutual information (nats)"),
        subtitle="randomised response, ε = 1 for each",
    )


def numbers() -> list[Number]:
    """One and two copies, what composition promises, and the coin that must not be used twice."""
    one, two = carried(1), carried(2)
    lie = 1 / (1 + exp(1))
    both, neither = (1 - lie) ** 2, lie**2
    agree = both + neither
    together = mutual_information(channel_from_rows([["1/2", 0, 0, "1/2"], [0, "1/2", "1/2", 0]])).bracket.middle
    return [
        Number("one answer", one, log(2) - binary_entropy(lie), "log 2 − h(1/(1 + e))"),
        Number("two answers", two, agree * (log(2) - binary_entropy(both / agree)), "told only when both agree"),
        Number("two are less than twice one", two < 2 * one, True, "subadditivity"),
        Number("promised for two, information", float(information([str(one), str(one)]).result.numbers["mi"]), 2 * one, "a sum"),
        Number("promised for two, ε", float(pure([1, 1]).result.numbers["epsilon"]), 2.0, "a sum"),
        Number("one coin used twice", together, log(2), "X + Z and Z: everything"),
    ]
