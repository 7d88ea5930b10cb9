"""Which types are far from the likeliest one, and for how many of them there are programs: what dice and far types share."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem

FEWEST_RESPONDENTS, FEWEST_AT_ONE, MANY_AT_ONE, LESS_TOLD = 10, 20, 100, 1.5
"""Respondents from which dice are thrown at all, and at ε = 1; how many are many there, and the power of 1/ε that it grows with."""
TIERS = {
    1: (-2.6,),
    2: (-2.4, -0.4),
    3: (-2.6, -1.1, 0.0),
    4: (-2.8, -1.6, -0.6, 0.3),
    6: (-2.9, -2.0, -1.3, -0.7, 0.0, 0.7),
    **{count: tuple(np.linspace(-2.7, 1.5, count).tolist()) for count in (8, 10, 12, 14, 16)},
}
"""By the number of programs: standard deviations from the mean number of respondents to those that are asked for."""
BY_HOLDERS = 0.6
"""By what share a loss grows for each share of holders more, about."""


def farthest(problem: Problem) -> tuple[int, list[int], int]:
    """The likeliest type, all on one side of it, farthest first, and how many of these are far; none where dice prove nothing."""
    law, epsilon = iid_sum(problem), min(float(problem.epsilon), 300.0)
    ratio = exp(-epsilon)
    few = law.respondents * epsilon**2 < FEWEST_AT_ONE and not many_respondents(problem)
    if few or law.respondents < FEWEST_RESPONDENTS or ratio == 1:
        return 0, [], 0
    noise = 2 * ratio / (1 - ratio) ** 2
    base = max(range(len(law.values)), key=lambda t: law.probabilities[t])
    best: tuple[float, list[int], int] = 0.0, [], 0
    for sign in (1, -1):
        beyond = [t for t in range(len(law.values)) if sign * (law.values[t] - law.values[base]) > 0]
        beyond.sort(key=lambda t: -apart(law, base, t))
        shares = np.cumsum([float(law.probabilities[t]) for t in beyond])
        steps = np.cumsum([float(law.probabilities[t]) * float(apart(law, base, t)) for t in beyond])
        for far, (share, step) in enumerate(zip(shares, steps, strict=True), 1):
            number = law.respondents * share
            hidden = float((step / share) ** 2 * noise * number / (number + noise))
            best = max(best, (hidden, beyond, far))
    return base, best[1], best[2]


def many_respondents(problem: Problem) -> bool:
    """Whether dice prove more than one respondent set aside, even where two sums over the others fit."""
    return iid_sum(problem).respondents * min(float(problem.epsilon), 300.0) ** LESS_TOLD >= MANY_AT_ONE


def apart(law: IidSum, base: int, t: int) -> Fraction:
    """How far the value of a type is from that of the likeliest."""
    return abs(law.values[t] - law.values[base])
