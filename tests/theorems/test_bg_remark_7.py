"""BG Remark 7: when supp(x|t, θ) falls apart there is no bound; publishing the component beside t restores one.

Near miss: pretending that the components are connected gives bounds that contradict each other.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.interpret import density_bounds
from discreet.interpret.intervals import tight_epsilon

DISTANCES = np.array([[0, 1, np.inf, np.inf], [1, 0, np.inf, np.inf], [np.inf, np.inf, 0, 1], [np.inf, np.inf, 1, 0]])
LAW = np.array([[0.6, 0.5, 0.02, 0.03], [0.4, 0.5, 0.98, 0.97]])
EPSILON = tight_epsilon(LAW, DISTANCES)
COMPONENT = np.array([0, 0, 1, 1])


def test_unconnected_supports_have_no_bound_and_the_remedy_is_named() -> None:
    found = density_bounds(LAW, DISTANCES, EPSILON)
    assert not found.connected.any() and found.remedy is not None and "Remark 7" in found.remedy
    assert (found.lower == 0).all() and np.isinf(found.upper).all() and found.vacuous.all()


def test_publishing_the_component_restores_the_bounds_at_no_cost() -> None:
    augmented = np.concatenate([LAW * (c == COMPONENT) for c in (0, 1)])
    assert tight_epsilon(augmented, DISTANCES) == EPSILON
    found = density_bounds(augmented, DISTANCES, EPSILON)
    assert found.connected.all() and found.remedy is None
    rng = np.random.default_rng(0)
    for _ in range(100):
        theta = rng.dirichlet(np.ones(4))
        inside = found.interval()
        law = augmented @ theta
        for t, value in enumerate(law):
            share = theta[t // 2 == COMPONENT].sum()
            # Given the component, the bounds hold for the conditional probability of the value.
            assert found.lower[t] * share <= value * (1 + 1e-12) and value <= found.upper[t] * share * (1 + 1e-12)
        assert not inside.contains(law.tolist()) or theta.max() > 0.9


def test_pretending_that_components_are_connected_fails() -> None:
    pretended = np.where(np.isinf(DISTANCES), 2.0, DISTANCES)
    with pytest.raises(InputError, match="not private at this ε"):
        density_bounds(LAW, pretended, EPSILON)
