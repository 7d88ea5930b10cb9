"""Quantiles and credible sets of discrete distributions: definitions, minimality, ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.interpret.regions import (
    equal_tailed,
    exact_quantile,
    highest_density,
    highest_density_mask,
    quantile_positions,
    upper_quantile_positions,
)

RNG = np.random.default_rng(11)
LAWS = [RNG.dirichlet(np.full(k, 0.7)) for k in (1, 2, 5, 8, 8, 8)]


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_equal_tails_leave_out_no_more_than_they_may(law: np.ndarray, level: float) -> None:
    found = equal_tailed(law, level)
    tail = (1 - level) / 2
    assert law[: found.first].sum() < tail and law[found.last + 1 :].sum() < tail
    assert law[: found.first + 1].sum() >= tail - 1e-12 and law[found.last :].sum() >= tail - 1e-12
    assert found.probability >= level - 1e-12


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_no_smaller_set_reaches_the_level(law: np.ndarray, level: float) -> None:
    found = highest_density(law, level)
    assert law[list(found.positions)].sum() == pytest.approx(float(found.probability))
    assert found.probability >= level - 1e-12
    smaller = combinations(range(len(law)), len(found.positions) - 1)
    assert all(law[list(chosen)].sum() < level for chosen in smaller)
    assert np.flatnonzero(highest_density_mask(law[None, :], level)[0]).tolist() == list(found.positions)


def test_a_set_may_have_a_gap() -> None:
    found = highest_density(np.array([0.45, 0.1, 0.45]), 0.9)
    assert found.positions == (0, 2) and not found.contiguous
    assert equal_tailed(np.array([0.45, 0.1, 0.45]), 0.9).positions == (0, 1, 2)


def test_a_level_reached_exactly_is_reached() -> None:
    law = np.array([0.05, 0.9, 0.05])
    assert quantile_positions(law, 0.05) == 0 and quantile_positions(law, 0.0500001) == 1
    assert upper_quantile_positions(law, 0.05) == 2
    assert highest_density(law, 0.9).positions == (1,)


def test_exact_quantiles_do_not_round() -> None:
    law = (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    assert exact_quantile(law, Fraction(1, 3)) == 0
    assert exact_quantile(law, Fraction(1, 3) + Fraction(1, 10**30)) == 1


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        equal_tailed(np.array([0.5, 0.5]), level)
