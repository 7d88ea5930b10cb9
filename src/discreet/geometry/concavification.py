"""Concavification: the designer's value as the smallest concave function above v on the private posteriors.

    V_K(π0) = max Σ_j ν_j v(π_j)  over ν ≥ 0 with Σ_j ν_j π_j = π0,  π_j the extreme points of K        (SY Prop. 2)
            = min λ·π0            over λ with λ·π_j ≥ v(π_j) for every extreme point                      (its dual)

The optimal ν sits on linearly independent extreme points; λ is the supporting hyperplane. Floating point proposes
both. What is returned is exact: with rationals q⁻ < e^ε < q⁺ the posteriors are vertices of K(log q⁻) ⊆ K(ε), so that
`value` is reached by a private mechanism, and λ is checked at every vertex of K(log q⁺) ⊇ K(ε), so that no private
mechanism exceeds `bound`. SY Cor. 1 and Cor. 2 are the same statements for K_Ω, SY Cor. 5 its independent supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import TooLarge
from discreet.geometry.beliefs import project
from discreet.geometry.hyper import Hyper, hyper
from discreet.geometry.interim import Interim
from discreet.geometry.labellings import ExtremePoint, extreme_labels, likelihoods_of_labels
from discreet.geometry.linear_algebra import nonnegative_solution, unique_solution
from discreet.geometry.of_problem import K_of, K_Omega_of, stated
from discreet.geometry.private_beliefs import PrivateBeliefs
from discreet.model.actions import Action
from discreet.model.problem import Problem

MOST_POINTS = 25_000
"""The most extreme points over which a value is concavified exactly."""


@dataclass(frozen=True)
class Concavification:
    """An optimal hyper on extreme points, the supporting hyperplane, and exact numbers around V_K(π0)."""

    value: Fraction
    bound: Fraction
    hyper: Hyper
    points: tuple[ExtremePoint, ...]
    actions: tuple[tuple[Action, ...], ...]
    hyperplane: tuple[Fraction, ...]
    extreme_points: int

    @property
    def gap(self) -> Fraction:
        """bound − value; what rounding e^ε and the solver's multipliers leave open."""
        return self.bound - self.value


def concavify(problem: Problem, on: str = "finest") -> Concavification:
    """V_K(π0) of a problem: the best that any private mechanism can do (SY Prop. 2)."""
    listed = stated(problem, on)
    interim = Interim(problem.decisions, listed.omegas)
    return concavify_over(K_of(listed), interim, listed.fibre_of.tolist())


def concavify_oblivious(problem: Problem) -> Concavification:
    """V_{K_Ω}(μ0): the best that a private mechanism reading only ω can do (SY Corollary 2)."""
    listed = stated(problem)
    interim = Interim(problem.decisions, listed.omegas)
    return concavify_over(K_Omega_of(listed), interim, range(len(listed.omegas)))


def concavify_over(polytope: PrivateBeliefs, interim: Interim, fibre_of: Sequence[int]) -> Concavification:
    """The concavification over any polytope of private beliefs; state i has the statistic omegas[fibre_of[i]]."""
    labels = extreme_labels(polytope)
    if len(labels) > MOST_POINTS:
        raise TooLarge(
            "There are too many extreme points to concavify over",
            size=f"{len(labels):,} extreme points",
            fits=f"{MOST_POINTS:,}: for instance 4 respondents of 2 types, or 2 of 3 types",
            remedy="solve the design program instead",
        )
    weights, multipliers, reduced = _propose(polytope, interim, fibre_of, labels)
    below, above = polytope.ratio_bracket()
    chosen, chances = _exact_hyper(polytope, labels, weights, reduced, below)
    points = tuple(_point(labels[j]) for j in chosen)
    beliefs = [point.belief(polytope.prior, below) for point in points]
    order = range(len(interim.omegas))
    best = [interim.best(project(b, fibre_of, order)) for b in beliefs]
    value = sum((w * v for w, (v, _) in zip(chances, best, strict=True)), Fraction(0))
    plane = _exact_plane(polytope, interim, fibre_of, points, multipliers, above)
    bound = _bound(polytope, interim, fibre_of, labels, plane, above)
    return Concavification(
        value,
        bound,
        hyper(polytope.labels, beliefs, chances),
        points,
        tuple(actions for _, actions in best),
        plane,
        len(labels),
    )


def _propose(
    polytope: PrivateBeliefs, interim: Interim, fibre_of: Sequence[int], labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the extreme points, the hyperplane and each point's slack under it, all floating point.

    Where the program fails, a level hyperplane is proposed: the value and bound stay true, only further apart.
    """
    from scipy.optimize import linprog

    likelihoods = likelihoods_of_labels(labels, float(polytope.epsilon))
    member = np.zeros((len(polytope), len(interim.omegas)))
    member[np.arange(len(polytope)), list(fibre_of)] = 1.0
    prior = np.array([float(p) for p in polytope.prior])
    masses = likelihoods @ prior
    beliefs = likelihoods * prior / masses[:, None]
    values = interim.values(beliefs @ member)
    # In likelihoods Σ_j y_j e^{εk_j} = 1 every number is of order one, however small a probability may be.
    found = linprog(-values * masses, A_eq=likelihoods.T, b_eq=np.ones(len(prior)), bounds=(0, None), method="highs-ds")
    if found.status != 0:
        return np.zeros(len(labels)), np.full(len(prior), values.max()), values.max() - values
    multipliers = -found.eqlin.marginals / prior
    return found.x * masses, multipliers, beliefs @ multipliers - values


def _exact_hyper(
    polytope: PrivateBeliefs, labels: np.ndarray, weights: np.ndarray, slack: np.ndarray, ratio: Fraction
) -> tuple[list[int], list[Fraction]]:
    """Indices and exact probabilities of a linearly independent, Bayes-plausible choice of extreme points.

    First the proposed support alone; should rounding have lost a point, all points that touch the hyperplane.
    """
    scale = 1.0 + np.abs(slack).max(initial=0.0)
    for chosen in (
        np.flatnonzero(weights > 1e-11),
        np.flatnonzero((weights > 0) | (slack < 1e-9 * scale)),
        np.argsort(slack)[: 20 * len(polytope)],
    ):
        columns = [_point(labels[j]).belief(polytope.prior, ratio) for j in chosen]
        found = nonnegative_solution(columns, polytope.prior)
        if found.solution is not None:
            kept = [i for i, w in enumerate(found.solution) if w]
            return [int(chosen[i]) for i in kept], [found.solution[i] for i in kept]
    columns = [_point(row).belief(polytope.prior, ratio) for row in labels]
    found = nonnegative_solution(columns, polytope.prior)
    assert found.solution is not None  # the prior lies in the hull of all extreme points (SY Lemma 5 ii)
    kept = [i for i, w in enumerate(found.solution) if w]
    return kept, [found.solution[i] for i in kept]


def _exact_plane(
    polytope: PrivateBeliefs,
    interim: Interim,
    fibre_of: Sequence[int],
    points: Sequence[ExtremePoint],
    proposed: np.ndarray,
    ratio: Fraction,
) -> tuple[Fraction, ...]:
    """The hyperplane through the chosen points exactly when they determine it, else the proposed one."""
    if len(points) == len(polytope):
        rows = [point.belief(polytope.prior, ratio) for point in points]
        order = range(len(interim.omegas))
        heights = [interim.value(project(row, fibre_of, order)) for row in rows]
        columns = [[row[i] for row in rows] for i in range(len(polytope))]
        solved = unique_solution(columns, heights)
        if solved is not None:
            return solved
    return tuple(Fraction(float(x)).limit_denominator(10**15) for x in proposed)


def _bound(
    polytope: PrivateBeliefs,
    interim: Interim,
    fibre_of: Sequence[int],
    labels: np.ndarray,
    plane: tuple[Fraction, ...],
    ratio: Fraction,
) -> Fraction:
    """λ·π0 plus the largest amount by which any vertex of K(log ratio) rises above the hyperplane."""
    order = range(len(interim.omegas))
    excess = Fraction(0)
    for row in labels:
        found = _point(row).belief(polytope.prior, ratio)
        above = interim.value(project(found, fibre_of, order))
        above -= sum((x * p for x, p in zip(plane, found, strict=True)), Fraction(0))
        excess = max(excess, above)
    return sum((x * p for x, p in zip(plane, polytope.prior, strict=True)), Fraction(0)) + excess


def _point(row: np.ndarray) -> ExtremePoint:
    return ExtremePoint(tuple(None if k < 0 else int(k) for k in row))
