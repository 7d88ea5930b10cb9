"""BG Thm 10: the prior predictive p(t), for any prior of θ and any model, lies between the bounds of supp(x|t).

Assumption 9: supp(x|t) is the union of supp(x|t, θ) over the prior's support. Near misses: the bounds of one θ alone
do not hold for the mixture, and a smaller ε breaks them.
"""

from __future__ import annotations

import numpy as np
import pytest
from bg_worlds import holds, world

from discreet.interpret import density_bounds


@pytest.mark.parametrize("seed", range(40))
def test_the_prior_predictive_stays_within_the_bounds(seed: int) -> None:
    w = world(seed)
    bounds = density_bounds(w.law, w.distances, w.epsilon, (w.model > 0).any(axis=0))
    assert bounds.interval().contains((w.law @ (w.prior @ w.model)).tolist())
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.full(len(w.model), 0.3), size=20):
        assert bounds.interval().contains((w.law @ (other @ w.model)).tolist())


def test_the_bounds_are_free_of_model_and_prior() -> None:
    w = world(8, hold_back=False)
    rng = np.random.default_rng(0)
    bounds = density_bounds(w.law, w.distances, w.epsilon)
    for _ in range(50):
        model = rng.dirichlet(np.ones(w.law.shape[1]), size=3)
        assert bounds.interval().contains((w.law @ (rng.dirichlet(np.ones(3)) @ model)).tolist())


def test_the_support_of_one_parameter_is_not_enough() -> None:
    left = 0
    for seed in range(40):
        w = world(seed)
        left += not holds(w, w.epsilon, w.model[0] > 0, w.prior @ w.model)
    assert left >= 3


def test_a_smaller_epsilon_would_be_left() -> None:
    left = 0
    for seed in range(40):
        w = world(seed)
        left += not holds(w, 0.03 * w.epsilon, (w.model > 0).any(axis=0), w.prior @ w.model)
    assert left > 20


def test_vacuous_bounds_say_so_and_by_how_much() -> None:
    n, epsilon = 10, 0.5
    law = epsilon / 2 * np.exp(-epsilon * np.abs(np.array([5.0])[:, None] - np.arange(n + 1)))
    distances = np.full((n + 1, n + 1), float(n))
    np.fill_diagonal(distances, 0)
    found = density_bounds(law, distances, epsilon)
    assert found.vacuous.all() and found.excess()[0] == pytest.approx(3.05, abs=0.005)
