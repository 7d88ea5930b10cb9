"""PK: the posteriors about the statistic that some private mechanism can induce, and how far they exceed K_Ω.

    PK = { Pπ : π in K } ⊇ K_Ω.

Membership is a linear program in floating point, answered with a private belief that projects to the asked one or
with a payoff c that separates it: c·μ > h(c), h(c) = max_{π in K} c·Pπ the support function. How far PK exceeds K_Ω
is a program too, sup (Pπ(ω)/Pπ(ω′))/(μ0(ω)/μ0(ω′)); its solution is an integer labelling, which is checked and
evaluated exactly. (Whether PK = K_Ω is decided exactly, without any program, in `noise`.) References: SY section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import TooLarge
from discreet.geometry.beliefs import belief
from discreet.geometry.labellings import beliefs_of_labels, extreme_labels
from discreet.geometry.of_problem import K_of, StatedProblem
from discreet.geometry.witness import statistic_log_shift

MOST_FOR_PROGRAM = 3_000
"""The most states for which a program over K is solved here."""


@dataclass(frozen=True)
class Separation:
    """A payoff on values of the statistic under which a belief does better than any in PK."""

    payoff: tuple[float, ...]
    at_belief: float
    most_private: float


@dataclass(frozen=True)
class Membership:
    """A private belief about the states that projects to the asked one, or what separates it from PK."""

    inside: bool
    lifted: tuple[float, ...] | None
    separation: Separation | None


def in_PK(listed: StatedProblem, probabilities: Sequence[object], tolerance: float = 1e-9) -> Membership:
    """Whether some private posterior about the database projects to this belief about the statistic.

    Decided in floating point by the smallest total deviation max over payoffs in [−1, 1] of c·μ − h(c), with the
    given tolerance; beliefs closer than that to the boundary count as inside.
    """
    from scipy.optimize import linprog

    wanted = belief(probabilities, len(listed.omegas), "the belief about the statistic")
    A, member = _program(listed)
    n, w = len(listed.space), len(listed.omegas)
    eye = np.eye(w)
    # Variables π, and the parts by which Pπ misses μ from below and above.
    costs = np.concatenate([np.zeros(n), np.ones(2 * w)])
    found = linprog(
        costs,
        A_ub=np.hstack([-A, np.zeros((len(A), 2 * w))]),
        b_ub=np.zeros(len(A)),
        A_eq=np.vstack([np.hstack([member.T, eye, -eye]), np.concatenate([np.ones(n), np.zeros(2 * w)])]),
        b_eq=[*map(float, wanted), 1.0],
        bounds=(0, None),
        method="highs",
    )
    if found.fun <= tolerance:
        return Membership(True, tuple(found.x[:n]), None)
    payoff = found.eqlin.marginals[:w]
    at_belief = float(payoff @ np.array([float(p) for p in wanted]))
    return Membership(False, None, Separation(tuple(payoff), at_belief, support_value(listed, payoff)))


def support_value(listed: StatedProblem, payoff: Sequence[float]) -> float:
    """h(c) = max c·Pπ over private posteriors: the support function of PK."""
    from scipy.optimize import linprog

    A, member = _program(listed)
    found = linprog(
        -(member @ np.asarray(payoff, dtype=float)),
        A_ub=-A,
        b_ub=np.zeros(len(A)),
        A_eq=np.ones((1, len(listed.space))),
        b_eq=[1.0],
        bounds=(0, None),
        method="highs-ds",
    )
    return float(-found.fun)


def widest_odds(listed: StatedProblem, omega: Fraction, other: Fraction) -> tuple[tuple[int, ...], float]:
    """The labelling that moves the odds of two values furthest, and the shift log sup (Pπ(ω)/Pπ(ω′))/(μ0(ω)/μ0(ω′)).

    max Σ_ω π0 x/μ0(ω) over x > 0 with x(i) ≤ e^ε x(j) on edges and Σ_ω′ π0 x/μ0(ω′) = 1. A vertex is e^{εk} up to
    scale, so k is read off the solution, checked, and evaluated exactly.
    """
    from scipy.optimize import linprog

    A, _ = _program(listed)
    prior = np.array([float(p) for p in listed.prior])
    top, bottom = (
        np.array([float(p) if o == w else 0.0 for p, o in zip(listed.prior, listed.omega_of, strict=True)]) for w in (omega, other)
    )
    scaled = A * prior
    scaled /= np.abs(scaled).max(axis=1, keepdims=True)
    found = linprog(
        -top / top.sum(),
        A_ub=-scaled,
        b_ub=np.zeros(len(A)),
        A_eq=bottom[None, :] / bottom.sum(),
        b_eq=[1.0],
        bounds=(0, None),
        method="highs-ds",
    )
    k = _read_labels(found.x, float(listed.problem.epsilon), listed)
    return k, statistic_log_shift(listed, k, omega, other)


def _read_labels(x: np.ndarray, epsilon: float, listed: StatedProblem) -> tuple[int, ...]:
    """Whole exponents from a vertex; those that a program left loose are pulled within one of their neighbours."""
    logs = np.log(np.maximum(x, 1e-300)) / epsilon
    k = np.rint(logs - logs.max()).astype(int).tolist()
    around = listed.space.around
    changed = True
    while changed:
        changed = False
        for i, near in enumerate(around):
            for j in near:
                if k[i] > k[j] + 1:
                    k[j] = k[i] - 1
                    changed = True
    low = min(k)
    return tuple(int(value - low) for value in k)


@dataclass(frozen=True, eq=False)
class Hull:
    """PK as drawn: vertices [vertex, ω], and half-spaces normals·μ ≤ offsets in all coordinates of ω."""

    vertices: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray


def hull_of_PK(listed: StatedProblem) -> Hull:
    """The vertices and half-spaces of PK, in floating point: the hull of all projected extreme points of K."""
    from scipy.spatial import ConvexHull

    polytope = K_of(listed)
    beliefs = beliefs_of_labels(extreme_labels(polytope), polytope.prior, float(polytope.epsilon))
    member = np.zeros((len(polytope), len(listed.omegas)))
    member[np.arange(len(polytope)), listed.fibre_of] = 1.0
    points = np.unique(np.round(beliefs @ member, 14), axis=0)
    if len(listed.omegas) == 2:
        ends = points[[points[:, 0].argmin(), points[:, 0].argmax()]]
        return Hull(ends, np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([-ends[0, 0], ends[1, 0]]))
    hull = ConvexHull(points[:, :-1])
    equations = np.unique(np.round(hull.equations, 10), axis=0)
    normals = np.hstack([equations[:, :-1], np.zeros((len(equations), 1))])
    return Hull(points[hull.vertices], normals, -equations[:, -1])


def _program(listed: StatedProblem) -> tuple[Any, Any]:
    if len(listed.space) > MOST_FOR_PROGRAM:
        raise TooLarge(
            "There are too many states for a program over private beliefs",
            size=f"{len(listed.space):,} states",
            fits=f"{MOST_FOR_PROGRAM:,} states",
            remedy="ask about fewer respondents or fewer types",
        )
    polytope = K_of(listed)
    A = polytope.bounds_matrix(float(np.exp(float(listed.problem.epsilon))))
    member = np.zeros((len(polytope), len(listed.omegas)))
    member[np.arange(len(polytope)), listed.fibre_of] = 1.0
    return A, member
