"""CY, claim: ε-DP is more than MI-DP, and MI-DP more than (ε, δ)-DP.

What a promise of each kind turns into: capacity from ε (the sharp bound), and δ at ε′ = 0 from that capacity. Both go to 0 with
ε, which is what the order says. Back it does not go: a channel that gives itself away with probability 10⁻⁶ carries almost
nothing and has no ε.
"""

from __future__ import annotations

from math import log

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.gallery.converting import along, converted
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

EPSILONS = [10 ** (k / 10) for k in range(-20, 5)]


def capacity(epsilon: float) -> float:
    """MI from ε."""
    return converted("epsilon", epsilon, "mi", "mi")


def leak(epsilon: float) -> float:
    """δ at ε′ = 0 from that MI."""
    return converted("mi", capacity(epsilon), "approximate", "delta", epsilon=0)


def draw() -> Figure:
    """Both on logarithmic scales."""
    ticks = {"format": "~g", "values": [0.01, 0.03, 0.1, 0.3, 1, 2]}
    return curves(
        "What ε turns into",
        "Two straight lines on logarithmic scales: capacity falls with the square of ε, δ in proportion to it.",
        {"capacity from ε (nats)": along(EPSILONS, capacity), "δ from that capacity": along(EPSILONS, leak)},
        x={**axis("epsilon", "ε (nats, log scale)", type="log"), "axis": ticks},
        y={**axis("amount", "promise (log scale)", type="log"), "axis": {"format": "~e", "tickCount": 6}},
    )


def numbers() -> list[Number]:
    """Both vanish with ε, and the way back is closed."""
    leaking = channel_from_rows([["1", "0"], ["999999/1000000", "1/1000000"]])
    return [
        Number("capacity at ε = 0.01 over ε²/8", capacity(0.01) / (0.01**2 / 8), 1.0, "its first term", 1e-3),
        Number("δ at ε = 0.01 over ε/2", leak(0.01) / 0.005, 1.0, "its first term", 1e-3),
        Number("a leak of 10⁻⁶ carries under 10⁻⁵", mutual_information(leaking).bracket.upper < 1e-5, True, "MI-private"),
        Number("and has an ε", profile(leaking).epsilon.ratio is not None, False, "one output is impossible at one input"),
        Number("beyond log 2 nothing is promised", converted("mi", log(2) + 0.01, "tv", "tv"), 1.0, "TV = 1"),
    ]
