"""SY Example 1: How many school places does a block need.

Forty households with 0, 1 or 2 children (0.89, 0.09, 0.02), ε = 1, squared error, any real number of places. Bars: the expected
loss of what people do today, each read in the best way, and of the best mechanism, which counts the households that have any
child and adds geometric noise to that count; the dashed line is a proved lower bound for every private mechanism. (The paper
prints 3.22 for the geometric mechanism and 2.48 for an improvement: with its prior they are 3.232 and, at best, 2.326.)
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from discreet.design import Design, design
from discreet.design.comparison.baselines import baselines
from discreet.design.program.sections import ground
from discreet.gallery.drawing import bars
from discreet.gallery.frontier import HOUSEHOLDS, places
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

CHANCES = (0.89, 0.09, 0.02)
SHOWN = ("no information", "noisy histogram", "laplace", "geometric", "staircase")


@cache
def best() -> Design:
    """The best mechanism, proved within a thousandth."""
    return design(places(), gap=1e-3, compare=False)


@cache
def today() -> dict[str, float]:
    """Losses of what people do."""
    found = baselines(ground(places()), oblivious=False)
    return {name: found[name].loss or 0.0 for name in SHOWN}


def joint(one: int = 1, two: int = 1) -> np.ndarray:
    """P(children, what is read), household by household; one child counts `one`, two count `two` (families: 1 and 1)."""
    law = np.zeros((2 * HOUSEHOLDS + 1, max(one, two) * HOUSEHOLDS + 1))
    law[0, 0] = 1
    for _ in range(HOUSEHOLDS):
        grown = CHANCES[0] * law
        grown[1:, one:] += CHANCES[1] * law[:-1, :-one]
        grown[2:, two:] += CHANCES[2] * law[:-2, :-two]
        law = grown
    return law


def loss_by_hand(read: np.ndarray, rate: float) -> float:
    """Variance left about the children after noise with ratio e^−rate on what is read; `read` is P(children, read)."""
    reads, children = read.shape[1], np.arange(read.shape[0])
    spread = np.exp(-rate * np.abs(np.arange(-300, reads + 300)[:, None] - np.arange(reads)))
    told = spread * np.tanh(rate / 2) @ read.T
    mass, first, second = told.sum(axis=1), told @ children, told @ children**2
    return float((second - first**2 / np.where(mass > 0, mass, 1)).sum())


def draw() -> Figure:
    """Bars, and the bound."""
    losses = {**today(), "best: families": float(best().loss)}
    bound = float(best().lower_bound)
    alt = (
        "Bars of expected squared error: "
        + ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        + f". A dashed line at {bound:.3f} that no private mechanism passes."
    )
    figure = bars(
        "What school planning loses at ε = 1",
        alt,
        {"loss": losses},
        x="mechanism",
        y="expected squared error (children²)",
        subtitle="dashed: proved lower bound for every private mechanism",
        width=600,
    )
    line = {
        "data": {"values": [{"bound": bound}]},
        "mark": {"type": "rule", "strokeDash": [6, 4], "color": "#d55e00", "strokeWidth": 2},
    }
    encoding = {"y": {"field": "bound", "type": "quantitative"}}
    body = {key: value for key, value in figure.body.items() if key not in ("data", "mark", "encoding")}
    layer = {key: figure.body[key] for key in ("data", "mark", "encoding")}
    return Figure(figure.title, figure.alt, {**body, "layer": [layer, {**line, "encoding": encoding}]}, figure.subtitle)


def numbers() -> list[Number]:
    """The library's losses against sums over children and households written out here."""
    law = joint()
    children = np.diag(law.sum(axis=1))
    prior = law.sum(axis=1)
    mean = float(prior @ np.arange(len(prior)))
    some = sum(comb(HOUSEHOLDS, k) * 0.11**k * 0.89 ** (HOUSEHOLDS - k) * k for k in range(HOUSEHOLDS + 1))
    found = best()
    return [
        Number("prior mean", mean, 40 * 0.13, "40·(0.09 + 2·0.02)"),
        Number("no information", today()["no information"], 40 * (0.17 - 0.13**2), "the prior's variance"),
        Number("geometric noise on children", today()["geometric"], loss_by_hand(children, 0.5), "written out", 1e-7),
        Number("the best mechanism", float(found.loss), loss_by_hand(law, 1.0), "geometric noise on families, written out", 1e-7),
        Number("it reads families", list(found.mechanism.summary.weights) == [0, 1, 1], True, "weights of 0, 1 and 2 children"),  # type: ignore[union-attr]
        Number("families in a block", some, 4.4, "40·0.11"),
        Number("proved within", float(found.loss - found.lower_bound) / float(found.loss) < 1e-3, True, "a thousandth"),
    ]
