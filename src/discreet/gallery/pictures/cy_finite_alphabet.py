"""CY, finite alphabet: Total variation bounds information only where letters are few.

If every two inputs are within δ in total variation, I ≤ 2h(δ) + 2δ·log min(|Y|, |X| + 1). Drawn for δ = 0.01 against the number
of inputs, beside erasure channels, which reveal their input with probability δ: they carry δ·log k, so no bound without the
logarithm can hold, and the bound is within a constant and 2h(δ) of them.
"""

from __future__ import annotations

from fractions import Fraction
from math import log

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.information import mutual_information
from discreet.gallery.converting import binary_entropy, converted
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

DELTA = Fraction(1, 100)
INPUTS = (2, 3, 5, 10, 20, 50, 100, 300, 1000)


def bound(inputs: int) -> float:
    """What is promised for so many types and one output more."""
    return converted("tv", "0.01", "mi", "mi", types=inputs, outputs=inputs + 1)


def capacity(inputs: int) -> float:
    """Capacity of the erasure channel, certified."""
    rows = [[1 - DELTA, *(DELTA if y == x else Fraction(0) for y in range(inputs))] for x in range(inputs)]
    return mutual_information(channel_from_rows(rows)).bracket.middle


def draw() -> Figure:
    """Bound and erasure against the number of inputs."""
    return curves(
        "Information at total variation 0.01",
        f"Two rising curves against the logarithm of the number of inputs: the bound from {bound(2):.3f} on, erasure far below it.",
        {
            "bound": [(float(k), bound(k)) for k in INPUTS],
            "erasure: δ·log k": [(float(k), 0.01 * log(k)) for k in INPUTS],
        },
        x={
            **axis("inputs", "number k of inputs (log scale)", type="log"),
            "axis": {"values": [2, 5, 10, 50, 100, 1000], "format": "d"},
        },
        y=axis("information", "mutual information (nats)"),
        marks={"erasure, measured": [(float(k), capacity(k)) for k in INPUTS[:5]]},
        subtitle="the bound of two inputs is capped by what two types can carry: δ·log 2",
    )


def numbers() -> list[Number]:
    """Both at ten inputs."""
    formula = 2 * binary_entropy(0.01) + 0.02 * log(11)
    return [
        Number("erasure of ten inputs", capacity(10), 0.01 * log(10), "δ·log k"),
        Number("bound for ten inputs", bound(10), formula, "2h(δ) + 2δ·log 11"),
        Number("two inputs, sharp", bound(2), 0.01 * log(2), "δ·log 2: erasure dominates"),
        Number("erasure of two", capacity(2), 0.01 * log(2), "attains it"),
    ]
