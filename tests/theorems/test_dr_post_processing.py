"""DR Prop. 1.2.1: any map of the output, deterministic or randomised, keeps (ε, δ)-DP. Def. 1.1.5: privacy loss.

Distances: one substitution is distance 2 under add/remove adjacency, so group privacy at 2 covers it.

Executes DR Def. 1.1.5.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.groups import group
from discreet.currencies.loss import loss_distribution
from discreet.currencies.pair import pair_of
from discreet.currencies.processing import merged, processed
from discreet.currencies.profiles import pair_delta, profile

F = Fraction


@pytest.mark.parametrize("seed", range(5))
def test_maps_keep_every_epsilon_and_delta(seed: int) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    before = channel_from_rows(rng.dirichlet(np.ones(6), 4).tolist(), edges=[(0, 1), (1, 2), (2, 3)])
    deterministic = merged(before, [0, 0, 1, 2, 2, 1])
    randomised = processed(before, rng.dirichlet(np.ones(3), 6).tolist())
    for level in (0, F(1, 3), 1):
        allowed = profile(before).delta_for_epsilon(level).upper
        for after in (deterministic, randomised):
            assert profile(after).delta_for_epsilon(level).upper <= allowed + 1e-15


def test_a_map_that_looks_at_the_data_does_not_keep_it() -> None:
    """The near-miss: post-processing must not read the database again."""
    before = channel_from_rows([["1/2", "1/2"], ["2/5", "3/5"]])
    peeking = channel_from_rows([[1, 0], ["2/5", "3/5"]])
    assert profile(peeking).epsilon.upper > profile(before).epsilon.upper


def test_the_loss_is_a_random_variable_that_holds_delta() -> None:
    pair = pair_of(["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"])
    losses = loss_distribution(pair)
    assert [(atom.ratio, atom.probability) for atom in losses.atoms] == [
        (F(2, 5), F(1, 5)), (F(1), F(3, 10)), (F(5, 2), F(1, 2)),
    ]  # fmt: skip
    # P(L > ε) is enough as a δ, and more than is needed.
    assert pair_delta(pair, F(1, 2)).upper < float(losses.exceeds(F(1, 2)))


def test_a_substitution_is_two_steps_of_adding_and_removing() -> None:
    """States 0, 1, 2 on a path of single additions: a substitution joins the ends through the middle."""
    rows = [["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"], ["1/7", "2/7", "4/7"]]
    path = channel_from_rows(rows, edges=[(0, 1), (1, 2)])
    one, two = profile(path).epsilon, profile(group(path, 2)).epsilon
    assert one.ratio is not None and two.ratio is not None
    assert one.ratio < two.ratio <= one.ratio**2
