"""CY, radius of the information ball: From relative entropy to mutual information.

If every two rows of a channel have relative entropy at most D, its capacity is at most D. Drawn for randomised response over k
answers: capacity against D. Two answers carry about a quarter of D, many more of it, and none more than D.
"""

from __future__ import annotations

from math import exp, log

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.divergences import relative_entropy
from discreet.currencies.information import mutual_information
from discreet.gallery.converting import converted
from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.present.figure import Figure

ANSWERS = (2, 3, 5, 10, 30)
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0)


def rows(answers: int, epsilon: float) -> list[list[float]]:
    """Randomised response over so many answers."""
    other = 1 / (exp(epsilon) + answers - 1)
    return [[exp(epsilon) * other if x == y else other for y in range(answers)] for x in range(answers)]


def both(answers: int, epsilon: float) -> tuple[float, float]:
    """Relative entropy of two rows, and capacity."""
    made = channel_from_rows(rows(answers, epsilon))
    return relative_entropy(made).bracket.middle, mutual_information(made).bracket.middle


def draw() -> Figure:
    """One line for each number of answers, and the bound."""
    lines = {f"{k} answers": [(0.0, 0.0), *(both(k, e) for e in EPSILONS)] for k in ANSWERS}
    most = max(d for points in lines.values() for d, _ in points)
    return curves(
        "What a channel carries whose rows are near each other",
        f"Lines of capacity against the relative entropy of two rows, for 2 to {ANSWERS[-1]} answers, all below the diagonal.",
        {"bound: capacity = D": [(0.0, 0.0), (most, most)], **lines},
        x=axis("entropy", "relative entropy D of two rows (nats)"),
        y=axis("capacity", "capacity (nats)"),
        subtitle="randomised response over k answers",
    )


def numbers() -> list[Number]:
    """Closed forms for k answers, and the bound."""
    found = []
    for answers in (2, 10):
        high, other = exp(1) / (exp(1) + answers - 1), 1 / (exp(1) + answers - 1)
        entropy, capacity = both(answers, 1.0)
        uniform = log(answers) + high * log(high) + (answers - 1) * other * log(other)
        found.append(Number(f"relative entropy of {answers} answers", entropy, high - other, "(P − Q)·log(P/Q), ε = 1"))
        found.append(Number(f"capacity of {answers} answers", capacity, uniform, "log k − H of a row"))
    found.append(Number("capacities above D", sum(c > d for k in ANSWERS for d, c in [both(k, 1.0)]), 0, "none"))
    found.append(Number("what is promised for D = 0.3", converted("kl", 0.3, "mi", "mi"), 0.3, "D"))
    return found
