"""Predictive checks: laws sum to one, agree with enumeration, and notice a prior that does not fit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_worlds import counting, summing

from discreet.errors import InputError
from discreet.interpret import (
    check_table,
    posterior,
    posterior_predictive,
    prior_predictive,
    tail_probability,
)
from discreet.model.priors import IidPrior


def test_laws_agree_with_single_posteriors() -> None:
    mechanism = summing(4, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    law = prior_predictive(mechanism)
    assert law.sum() == pytest.approx(1)
    assert law == pytest.approx([posterior(mechanism, s).probability for s in range(9)])
    again = posterior_predictive(mechanism, 6)
    assert again.sum() == pytest.approx(1)
    held = posterior(mechanism, 6, about="database").probabilities
    states = mechanism.states_of(mechanism.problem.universe.histograms())  # type: ignore[union-attr]
    assert again == pytest.approx(np.asarray(mechanism.probabilities)[:, states] @ held)


def test_the_tail_counts_what_is_no_likelier() -> None:
    mechanism = counting(20, Fraction(1, 10))
    law = prior_predictive(mechanism)
    mode = int(np.argmax(law))
    assert tail_probability(mechanism, mode) == pytest.approx(1)
    assert tail_probability(mechanism, 20) < 1e-6


def test_a_table_of_cells_is_checked_against_its_prior() -> None:
    # False alarm of the first assertion: 1e-4 by construction of the p-value. The wrong prior is far off.
    mechanism = counting(10, Fraction(3, 10))
    rng = np.random.default_rng(8)
    law = prior_predictive(mechanism)
    cells = rng.choice(len(law), size=3000, p=law / law.sum())
    assert check_table(mechanism, cells).p_value > 1e-4
    assert check_table(mechanism, cells, IidPrior((Fraction(1, 2), Fraction(1, 2)))).p_value < 1e-12


def test_too_few_cells_are_refused() -> None:
    with pytest.raises(InputError, match="too few cells"):
        check_table(counting(10), [3, 4])
