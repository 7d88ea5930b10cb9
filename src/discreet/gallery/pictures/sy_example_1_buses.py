"""SY Example 1, buses: When a count decides, the geometric mechanism is best.

How many buses a = 1, 2, … a block of forty households needs depends on how many have a child at all: payoff −ω/a − c·a, with c =
0.1, any a > 0. The data are categorical, respondents alike, and the payoff supermodular, so geometric noise on the count is
optimal (SY Thm 3). Dots: payoffs, higher is better. Staircase noise with the same ε is the same mechanism here.
"""

from __future__ import annotations

from functools import cache
from math import comb, sqrt

import numpy as np

from discreet.design import Design, design
from discreet.gallery.drawing import bars
from discreet.gallery.papers import problem
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

SHOWN = ("no information", "inverse sensitivity", "noisy histogram", "laplace", "geometric", "full information")


@cache
def buses(cost: str) -> Design:
    """The best mechanism for one cost of a bus."""
    decision = {"kind": "expression", "actions": {"from": "1/100", "to": "40"}, "payoff": f"-omega/a - {cost}*a"}
    return design(problem(40, (0, 1), {"kind": "iid", "probabilities": ["0.89", "0.11"]}, decision))


def by_hand(cost: float) -> float:
    """Σ_s P(s)·max_a(−E[ω|s]/a − c·a) = −2·Σ_s P(s)·√(c·E[ω|s]) under geometric noise at ε = 1."""
    counts = np.arange(41)
    prior = np.array([comb(40, k) * 0.11**k * 0.89 ** (40 - k) for k in range(41)])
    noise = np.exp(-np.abs(np.arange(-200, 241)[:, None] - counts)) * np.tanh(0.5)
    mass, first = noise @ prior, noise @ (prior * counts)
    return float(-2 * (mass * np.sqrt(cost * first / mass)).sum())


def draw() -> Figure:
    """Dots of payoffs."""
    found = buses("1/10")
    shown = {name: float(found.baselines[name].value or 0.0) for name in SHOWN}
    figure = bars(
        "Buses at ε = 1",
        "Expected payoffs: " + ", ".join(f"{name} {value:.4f}" for name, value in shown.items()) + ".",
        {"payoff": shown},
        x="mechanism",
        y="expected payoff",
        subtitle=f"{found.theorem}: geometric noise on the count is the best private mechanism",
        width=720,
    )
    axis = {
        **figure.body["encoding"]["y"],
        "axis": {"titlePadding": 16},
        "scale": {"domain": [-1.34, -1.28], "zero": False, "clamp": True},
    }
    body = {**figure.body, "mark": {"type": "point", "filled": True, "size": 130}}
    return Figure(figure.title, figure.alt, {**body, "encoding": {**figure.body["encoding"], "y": axis}}, figure.subtitle)


def numbers() -> list[Number]:
    """Two costs, and the theorem."""
    cheap, dear = buses("1/10"), buses("1")
    return [
        Number("payoff, c = 0.1", float(cheap.value), by_hand(0.1), "−2·E√(c·E[ω|s]), written out"),
        Number("payoff, c = 1", float(dear.value), by_hand(1.0), "written out"),
        Number(
            "the geometric mechanism itself",
            cheap.baselines["geometric"].value or 0.0,
            float(cheap.value),
            "the design is the baseline",
        ),
        Number("by Theorem 3", cheap.theorem == "SY Thm 3", True, "conditions checked"),
        Number("no information", cheap.baselines["no information"].value or 0.0, -2 * sqrt(0.1 * 4.4), "−2√(c·4.4)"),
    ]
