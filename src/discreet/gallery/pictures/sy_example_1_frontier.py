"""SY Example 1, frontier: What accuracy costs, and how much privacy a design saves.

School places again, over ε: expected loss of the best mechanism with its proved band, beside geometric, staircase and Laplace
noise. Read along the horizontal arrow: the best mechanism reaches at ε = 0.70 what geometric noise reaches at ε = 1. It is the
README's picture. Up to ε = 1 counting families is best; from ε = 2 on more can be read.
"""

from __future__ import annotations

from discreet.gallery.frontier import GAP, frontier_picture, places, places_frontier
from discreet.gallery.picture import Number
from discreet.gallery.pictures.sy_example_1_places import joint, loss_by_hand
from discreet.present.figure import Figure


def draw() -> Figure:
    """The README's picture."""
    return frontier_picture()


def numbers() -> list[Number]:
    """Where geometric noise on families, written out, is as good as geometric noise on children at ε = 1."""
    law = joint()
    found = {float(p.level): p for p in places_frontier().points}
    usual = next(p for p in found.values() if p.level == places().epsilon).baselines["geometric"].loss or 0.0
    low, high = 0.5, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if loss_by_hand(law, middle) > usual else (low, middle)
    return [
        Number("ε of equal loss", high, 0.70049, "bisection", 5e-6),
        *(
            Number(f"loss at ε = {e:g}", found[e].loss, loss_by_hand(law, e), "noise on families, written out", GAP)
            for e in (0.5, 1.0)
        ),
        Number(
            "at ε = 3 another sum is better",
            loss_by_hand(joint(2, 3), 1.0) < loss_by_hand(law, 3.0),
            True,
            "2 and 3 for 1 and 2 children",
        ),
    ]
