"""Random finite universes with private mechanisms, models and priors, for the theorems of BG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.interpret import density_bounds


@dataclass(frozen=True)
class World:
    """Distances [state, state], an ε-DP mechanism [output, state], a model [θ, state] and a prior of θ."""

    distances: np.ndarray
    law: np.ndarray
    epsilon: float
    model: np.ndarray
    prior: np.ndarray


def graph(states: int, rng: np.random.Generator) -> np.ndarray:
    """Distances of a random connected graph."""
    d = np.full((states, states), np.inf)
    np.fill_diagonal(d, 0)
    for i in range(1, states):
        for j in {int(rng.integers(0, i)), int(rng.integers(0, states))} - {i}:
            d[i, j] = d[j, i] = 1
    for k in range(states):
        d = np.minimum(d, d[:, [k]] + d[[k], :])
    return d


def world(seed: int, *, hold_back: bool = True) -> World:
    """A random connected graph, private probabilities, and a model whose laws leave out some states."""
    rng = np.random.default_rng(seed)
    states, outputs, thetas = int(rng.integers(3, 8)), int(rng.integers(2, 6)), 4
    epsilon = float(rng.uniform(0.05, 1.5))
    d = graph(states, rng)
    # Weights e^(εf/2) with f 1-Lipschitz; the normaliser moves by at most e^(ε/2) per step as well.
    logs = np.stack([-epsilon / 2 * (d + rng.uniform(0, 3, states)[:, None]).min(axis=0) for _ in range(outputs)])
    weights = np.exp(logs) * rng.uniform(0.1, 1, size=(outputs, 1))
    law = weights / weights.sum(axis=0)
    model = rng.dirichlet(np.ones(states), size=thetas)
    if hold_back:
        model[rng.random(model.shape) < 0.4] = 0
        model[np.arange(thetas), rng.integers(0, states, thetas)] += 0.2
        model /= model.sum(axis=1, keepdims=True)
    return World(d, law, epsilon, model, rng.dirichlet(np.ones(thetas)))


def holds(w: World, epsilon: float, support: np.ndarray, databases: np.ndarray) -> bool:
    """Whether the bounds for this ε and support exist and hold for this law of databases."""
    try:
        bounds = density_bounds(w.law, w.distances, epsilon, support)
    except InputError:
        return False
    return bounds.interval().contains((w.law @ databases).tolist())
