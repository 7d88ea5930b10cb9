"""BG Thm 5: four ways to say ε-DP are equivalent when the metric is a graph's with unit edges (Assumption 4).

I Lipschitz in d_MULT; II every event at neighbours; III intervals of measures at every distance; IV densities.
Executed on random connected graphs with random mechanisms, private and not. Near misses: an ε just below the tight
one breaks all four at once; without Assumption 4, II holds while the others fail; unconnected states are not compared.
"""

from __future__ import annotations

import numpy as np
import pytest
from bg_worlds import graph

from discreet.interpret.intervals import tight_epsilon
from discreet.interpret.statements import STATEMENTS


def verdicts(law: np.ndarray, d: np.ndarray, epsilon: float) -> list[bool]:
    """Which of the four statements hold."""
    return [statement(law, d, epsilon) is None for statement in STATEMENTS]


@pytest.mark.parametrize("seed", range(12))
def test_the_four_statements_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = graph(int(rng.integers(2, 7)), rng)
    law = rng.dirichlet(np.full(4, 5.0), size=len(d)).T
    tight = tight_epsilon(law, d)
    assert verdicts(law, d, tight) == [True] * 4
    assert verdicts(law, d, 0.999 * tight) == [False] * 4
    assert verdicts(law, d, 0.5 * tight) == [False] * 4


@pytest.mark.parametrize("seed", range(4))
def test_supports_must_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = graph(4, rng)
    law = rng.dirichlet(np.ones(3), size=4).T
    law[:, 0] = [0.0, 0.5, 0.5]
    assert verdicts(law, d, 50.0) == [False] * 4


def test_a_counterexample_is_one() -> None:
    law = np.array([[0.5, 0.2, 0.1], [0.5, 0.8, 0.9]])
    d = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]], dtype=float)
    x, y, event = STATEMENTS[1](law, d, 0.5) or (0, 0, ())
    assert d[x, y] == 1
    assert law[list(event), y].sum() > np.exp(0.5) * law[list(event), x].sum()


def test_without_a_graph_metric_neighbours_say_nothing_of_groups() -> None:
    # Two states at distance two with nothing between them: II has no pair to look at, the other three do.
    law = np.array([[0.9, 0.1], [0.1, 0.9]])
    d = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert verdicts(law, d, 0.1) == [False, True, False, False]


def test_unconnected_states_are_never_compared() -> None:
    law = np.array([[1.0, 0.0], [0.0, 1.0]])
    d = np.array([[0.0, np.inf], [np.inf, 0.0]])
    assert verdicts(law, d, 0.0) == [True] * 4


def test_perfect_privacy_is_pure_noise() -> None:
    d = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert verdicts(np.full((3, 2), 1 / 3), d, 0.0) == [True] * 4
    assert verdicts(np.array([[0.5, 0.501], [0.5, 0.499]]), d, 0.0) == [False] * 4
