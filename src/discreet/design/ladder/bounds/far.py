"""Which types are far from the likeliest one, and for how many of them there are programs: what dice and far types share."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, sqrt

import numpy as np

from discreet.certify.bounds.chain import binomial_below
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem

FEWEST_RESPONDENTS, FEWEST_AT_ONE, MANY_AT_ONE, LESS_TOLD = 10, 20, 100, 1.5
"""Respondents from which dice are thrown at all, and at ε = 1; how many are many there, and the power of 1/ε that it grows with."""
TIERS = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16)
"""How many programs there may be."""
LEAST, MOST, PLACES = -4.5, 2.5, 64
"""Standard deviations from the mean number of respondents to those that are asked for, and how many numbers are looked at."""
BY_HOLDERS = 0.6
"""By what share a loss grows for each share of holders more, about."""


@lru_cache(maxsize=1_000)
def numbers_of(respondents: int, share: Fraction, most: int, count: int) -> tuple[int, ...]:
    """So many numbers, up to the most, of those who have some types: programs for these prove most in the mean, about.

    Who have these types are told how many they are, and the largest number that is there counts (`certify.bounds.coins.in_tiers`).
    """
    mean = respondents * float(share)
    deviation = sqrt(mean * float(1 - share))
    places = np.unique(np.round(np.linspace(mean + LEAST * deviation, mean + MOST * deviation, PLACES)).astype(np.int64))
    places = np.unique(np.clip(places, min(1, most), most))
    first, masses = binomial_below(respondents, share)
    above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    chances = above[np.clip(places - first, 0, len(masses))]
    worths = np.maximum(1 + BY_HOLDERS * (places / mean - 1), 0.0)
    gained = chances * (worths - worths[:, None])  # [from, to]
    gained[np.tril_indices(len(places))] = -np.inf
    best, before = chances * worths, []
    for _ in range(min(count, len(places)) - 1):
        further = best[:, None] + gained
        before.append(further.argmax(axis=0))
        best = further.max(axis=0)
    at = int(best.argmax())
    found = [at]
    for back in reversed(before):
        found.append(int(back[found[-1]]))
    return tuple(places[found[::-1]].tolist())


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
