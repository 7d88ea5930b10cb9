"""Averaging over coupled neighbours keeps ρ (ours).

Where the conditional priors of neighbouring values of the statistic can be coupled along neighbouring databases, redrawing a
database with the same value before a ρ-zCDP mechanism reads it keeps ρ: Σ_s p^α q^(1−α) is jointly convex, so with (θ, θ′) coupled
neighbours D_α(E m(·|θ) ‖ E m(·|θ′)) ≤ max D_α(m(·|θ) ‖ m(·|θ′)). Near-miss: averages over what no neighbours couple may lie
further apart.
"""

from __future__ import annotations

import itertools

import numpy as np

import discreet
from discreet.geometry.noise import is_noise_optimal

ORDERS = (1.01, 1.5, 2.0, 7.0)


def worst(rows: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array(
        [
            max(np.log((rows[a] ** o * rows[b] ** (1 - o)).sum()) / (o - 1) / o for i, j in pairs for a, b in ((i, j), (j, i)))
            for o in ORDERS
        ]
    )


def test_averaging_over_a_coupling_along_neighbours_raises_no_divergence() -> None:
    """Three iid bits and their sum: raising one random 0 to 1 couples the values k and k + 1."""
    databases = list(itertools.product((0, 1), repeat=3))
    edges = [
        (i, j)
        for i, a in enumerate(databases)
        for j, b in enumerate(databases)
        if i < j and sum(x != y for x, y in zip(a, b, strict=True)) == 1
    ]
    random = np.random.default_rng(3)
    by_value = [[i for i, d in enumerate(databases) if sum(d) == k] for k in range(4)]
    for _ in range(20):
        rows = random.dirichlet(np.ones(5), len(databases))
        averaged = np.stack([rows[held].mean(axis=0) for held in by_value])
        assert (worst(averaged, [(0, 1), (1, 2), (2, 3)]) <= worst(rows, edges) + 1e-12).all()


def test_without_a_coupling_averages_may_lie_further_apart() -> None:
    """Near-miss: databases A0–A1 and B0–B1 are neighbours, but value 0 is mostly A and value 1 mostly B."""
    rows = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    averaged = np.stack([0.9 * rows[0] + 0.1 * rows[2], 0.1 * rows[1] + 0.9 * rows[3]])
    assert (worst(averaged, [(0, 1)]) > worst(rows, [(0, 1), (2, 3)]) + 0.1).all()


def test_the_answer_under_rho_is_yes_or_not_known() -> None:
    def asked(values: list[int]) -> tuple[bool, bool]:
        found = is_noise_optimal(
            discreet.problem(
                respondents=3, values=values, probabilities=["0.7", "0.3"] if len(values) == 2 else ["0.8", "0.1", "0.1"], rho="1/2"
            ).problem
        )
        return found.optimal, found.decided

    assert asked([0, 1]) == (True, True) and asked([0, 1, 2]) == (False, False)
