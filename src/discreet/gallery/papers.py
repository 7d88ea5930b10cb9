"""The papers' own settings, which several pictures share.

SY's figures have two respondents of two types, π0 = (1/3, 1/6, 1/6, 1/3) on (0,0), (0,1), (1,0), (1,1), and ε = 1. A rational a
hair from e stands in its place where beliefs are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp

import numpy as np

from discreet.files.problem import problem_from_document
from discreet.geometry import linear_algebra
from discreet.geometry.hyper import Hyper, hyper
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_Omega_of, StatedProblem, stated
from discreet.model.problem import Problem

NEARLY_E = Fraction(2718281828459045, 10**15)
PRIOR = {"0,0": "1/3", "0,1": "1/6", "1,0": "1/6", "1,1": "1/3"}
NAMES = ("geometric", "peak and valley")
SQUARED = {"kind": "squared-error", "actions": "real"}


def problem(
    respondents: int, values: Sequence[int], prior: dict[str, object], decision: object = SQUARED, **more: object
) -> Problem:
    """A problem about the sum of the values, as its file would state it; ε = 1 unless `epsilon` is given."""
    document = {
        "data": {"respondents": respondents, "values": list(values)},
        "prior": prior,
        "statistic": {"kind": "sum"},
        "decision": decision,
        "privacy": {"epsilon": more.pop("epsilon", 1), "unit": "household"},
    }
    return problem_from_document({**document, **more})


def figures_problem(decision: object = SQUARED) -> Problem:
    """The setting of SY's figures."""
    return problem(2, (0, 1), {"kind": "table", "probabilities": PRIOR}, decision)


@cache
def figures_setting() -> StatedProblem:
    """The same on its four databases."""
    return stated(figures_problem(), "databases")


@cache
def figures_hypers() -> tuple[Hyper, Hyper]:
    """The two hypers of SY Fig. 5 about ω: the geometric mechanism's three posteriors, and the peak with the valley."""
    beliefs = K_Omega_of(figures_setting())
    by_label = {point.exponents: point.belief(beliefs.prior, NEARLY_E) for point in extreme_points(beliefs)}

    def induced(*labels: tuple[int, ...]) -> Hyper:
        points = [by_label[label] for label in labels]
        weights = linear_algebra.nonnegative_solution(points, beliefs.prior).solution
        assert weights is not None
        return hyper(beliefs.labels, points, weights)

    return induced((2, 1, 0), (0, 1, 0), (0, 1, 2)), induced((0, 1, 0), (1, 0, 1))


def peaks(of: Hyper) -> list[Fraction]:
    """ω* of each of the geometric mechanism's posteriors: where μ/μ0 is highest (SY Lemma 2)."""
    return [Fraction(max(range(len(posterior)), key=lambda w: posterior[w])) for posterior in of.posteriors]


def truncated_geometric(values: int, epsilon: float) -> np.ndarray:
    """σ(s|ω) of the geometric mechanism on 0..values−1 as SY fn 28 writes it, [output, state]."""
    share = np.full(values, (1 - exp(-epsilon)) / (1 + exp(-epsilon)))
    share[[0, -1]] = 1 / (1 + exp(-epsilon))
    places = np.arange(values)
    return np.asarray(share[:, None] * np.exp(-epsilon * np.abs(places[:, None] - places)))


def appendix_a(delta: Fraction, decision: object = SQUARED) -> Problem:
    """SY App. A: θ1 and θ2 agree with probability 2/3, θ3 is θ2 but for a share δ."""
    chances = {}
    for a, b, c in product((0, 1), repeat=3):
        chances[f"{a},{b},{c}"] = str(Fraction(1, 3 if a == b else 6) * (1 - delta if b == c else delta))
    return problem(3, (0, 1), {"kind": "table", "probabilities": chances}, decision)
