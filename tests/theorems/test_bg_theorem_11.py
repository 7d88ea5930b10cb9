"""BG Thm 11: π(θ|t) lies in π(θ)·exp(±ε d**), d** the diameter of supp(x|t), for every model and every proper prior.

Executed on random finite universes. Tightness (section 7, erratum 18): the factor e^(εn) is approached as the prior
mass of θ = 1 goes to zero, and not attained with positive mass, where the odds bound is the sharp one. Near misses: a
smaller ε is left, and so is the bound for one respondent when two answer alike.
"""

from __future__ import annotations

import numpy as np
import pytest
from bg_worlds import World, world

from discreet.errors import InputError
from discreet.interpret import PosteriorBounds, d_star_star


def posterior(w: World, t: int) -> np.ndarray:
    """π(θ|t)."""
    joint = w.prior * (w.model @ w.law[t])
    return joint / joint.sum()


def reach(w: World) -> float:
    """d** of the whole support (every output is possible everywhere)."""
    support = (w.model > 0).any(axis=0)
    return d_star_star(w.distances, support, support)


@pytest.mark.parametrize("seed", range(40))
def test_no_posterior_leaves_the_bounds(seed: int) -> None:
    w = world(seed)
    bounds = PosteriorBounds(w.epsilon, reach(w))
    low, high = bounds.density(w.prior)
    for t in range(len(w.law)):
        found = posterior(w, t)
        assert (found >= low * (1 - 1e-12)).all() and (found <= high * (1 + 1e-12)).all()
        for before, after in zip(w.prior, found, strict=True):
            narrow = bounds.probability(float(before))
            assert narrow[0] * (1 - 1e-12) <= after <= narrow[1] * (1 + 1e-12)
        # Posteriors of events obey the odds bound as well.
        event = [0, 2]
        narrow = bounds.probability(float(w.prior[event].sum()))
        assert narrow[0] * (1 - 1e-12) <= found[event].sum() <= narrow[1] * (1 + 1e-12)


def test_a_smaller_epsilon_would_be_left() -> None:
    left = 0
    for seed in range(40):
        w = world(seed)
        low, high = PosteriorBounds(0.03 * w.epsilon, reach(w)).density(w.prior)
        left += any(((posterior(w, t) < low) | (posterior(w, t) > high)).any() for t in range(len(w.law)))
    assert left > 20


def test_the_factor_is_a_limit_and_not_attained() -> None:
    # θ = 1 puts everybody at one, other θ everybody at zero; t > n under Laplace noise.
    n, epsilon = 5, 0.4
    ratio = np.exp(epsilon * n)
    factors = []
    for mass in (0.5, 0.1, 0.01, 1e-6):
        after = mass * ratio / (mass * ratio + 1 - mass)
        assert after / mass < ratio
        assert after == pytest.approx(PosteriorBounds(epsilon, n).probability(mass)[1], rel=1e-12)
        factors.append(after / mass / ratio)
    assert factors == sorted(factors) and factors[-1] == pytest.approx(1, abs=1e-4)


def test_vacuous_bounds_say_so_and_by_how_much() -> None:
    assert PosteriorBounds(1.0, 3.0).vacuous(0.5) == pytest.approx(0.5 * np.exp(3))
    assert PosteriorBounds(0.1, 1.0).vacuous(0.5) is None
    assert PosteriorBounds(0.1, np.inf).vacuous(0.5) == np.inf
    assert PosteriorBounds(0.0, 5.0).probability(0.3) == pytest.approx((0.3, 0.3))


def test_two_who_answer_alike_leave_the_bound_of_one() -> None:
    epsilon = 1.0
    keep = np.exp(epsilon) / (1 + np.exp(epsilon))
    after = keep**2 / (keep**2 + (1 - keep) ** 2)
    assert after > PosteriorBounds(epsilon, 1).probability(0.5)[1] + 0.1
    assert after == pytest.approx(PosteriorBounds(epsilon, 2).probability(0.5)[1])


@pytest.mark.parametrize(("epsilon", "distance"), [(-1.0, 1.0), (float("nan"), 1.0), (1.0, -1.0), (float("inf"), 1.0)])
def test_misuse_is_refused(epsilon: float, distance: float) -> None:
    with pytest.raises(InputError):
        PosteriorBounds(epsilon, distance)
    with pytest.raises(InputError, match="no probability"):
        PosteriorBounds(1.0, 1.0).probability(1.5)
