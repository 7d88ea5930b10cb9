"""R-hat and effective size: on independent draws, on autoregressions whose answer is known, on chains that disagree."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.interpret import diagnose
from discreet.interpret.diagnostics import effective_size, split_rhat


def autoregression(rho: float, chains: int, draws: int, seed: int) -> np.ndarray:
    """Stationary chains x_k = ρ x_{k−1} + noise."""
    rng = np.random.default_rng(seed)
    x = np.empty((chains, draws))
    x[:, 0] = rng.normal(size=chains) / (1 - rho**2) ** 0.5
    for k in range(1, draws):
        x[:, k] = rho * x[:, k - 1] + rng.normal(size=chains)
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression(rho: float) -> None:
    found = effective_size(autoregression(rho, 4, 20_000, seed=1))
    assert found == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.15)


def test_independent_draws_are_good() -> None:
    found = diagnose(np.random.default_rng(2).normal(size=(4, 1000)))
    assert found.good and found.rhat == pytest.approx(1, abs=0.01) and found.draws == 4000


def test_chains_that_disagree_are_told() -> None:
    chains = np.random.default_rng(3).normal(size=(4, 500)) + np.array([[0], [0], [0], [2]])
    found = diagnose(chains)
    assert found.rhat > 1.2 and "disagree" in found.warnings[0] and not found.good


def test_a_drifting_chain_is_told() -> None:
    found = diagnose(np.linspace(0, 5, 400)[None, :] + np.random.default_rng(4).normal(size=(1, 400)))
    assert found.rhat > 1.1 and not found.good


def test_constant_chains() -> None:
    assert split_rhat(np.ones((2, 10))) == 1.0
    assert split_rhat(np.array([[0.0] * 10, [1.0] * 10])) == np.inf


@pytest.mark.parametrize("chains", [np.ones(5), np.ones((2, 3)), np.full((2, 20), np.nan)])
def test_what_cannot_be_diagnosed_is_refused(chains: np.ndarray) -> None:
    with pytest.raises(InputError):
        diagnose(chains)
