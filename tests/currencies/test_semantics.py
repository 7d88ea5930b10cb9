"""What guarantees mean: log odds under linked priors, information about one respondent, utilities, post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import LossChannel
from discreet.currencies.divergences import renyi
from discreet.currencies.information import mutual_information
from discreet.currencies.processing import merged, processed
from discreet.currencies.profiles import profile
from discreet.currencies.semantics import economic, largest_shift, leakage, product_prior_shift
from discreet.currencies.tradeoffs import tradeoff
from discreet.currencies.zcdp import rho
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IndependentPrior, TablePrior

F = Fraction


def responses(epsilon: float, respondents: int) -> np.ndarray:
    """Randomised response of every respondent: [output, database], both in order of their digits."""
    high = 1 / (1 + math.exp(-epsilon))
    one = np.array([[high, 1 - high], [1 - high, high]])
    table = np.ones((1, 1))
    for _ in range(respondents):
        table = np.kron(table, one)
    return table


def linked(chance: Fraction) -> TablePrior:
    """Two respondents who agree but for the given chance."""
    return TablePrior((("0,0", (1 - chance) / 2), ("1,1", (1 - chance) / 2), ("0,1", chance / 2), ("1,0", chance / 2)))


def test_the_shift_grows_with_the_link(on_databases: Callable[..., Mechanism]) -> None:
    mechanism = on_databases(responses(1.0, 2), 2)
    shifts = [largest_shift(mechanism, linked(F(c))).bracket.middle for c in ("1/2", "1/4", "1/100", "0")]
    assert shifts[0] == pytest.approx(1.0, abs=1e-12) and shifts[-1] == pytest.approx(2.0, abs=1e-12)
    assert shifts == sorted(shifts)


@pytest.mark.parametrize("seed", range(5))
def test_no_product_prior_moves_the_odds_beyond_epsilon(seed: int, on_databases: Callable[..., Mechanism]) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    mechanism = on_databases(rng.dirichlet(np.ones(5), 9).T, 2, types=3)
    tight = product_prior_shift(mechanism)
    for _ in range(3):
        rows = tuple(tuple(F(int(w), 100) for w in _hundred(rng)) for _ in range(2))
        assert largest_shift(mechanism, IndependentPrior(rows)).bracket.upper <= tight.upper


def _hundred(rng: np.random.Generator) -> list[int]:
    a, b = sorted(rng.choice(np.arange(1, 100), 2, replace=False).tolist())
    return [a, b - a, 100 - b]


def test_leakage_shows_the_complaint(on_databases: Callable[..., Mechanism]) -> None:
    mechanism = on_databases(responses(1.0, 2), 2)
    free, bound = leakage(mechanism, 0, linked(F(1, 2))), leakage(mechanism, 0, linked(F(1, 1000)))
    assert free.alone.middle == pytest.approx(free.given_others.middle, abs=1e-12)
    assert bound.alone.lower > 1.5 * free.alone.upper and bound.given_others.upper < 0.1 * free.alone.lower
    assert free.given_others.upper <= mutual_information(mechanism).bracket.upper + 1e-12


def test_utilities_move_by_at_most_the_factor(on_databases: Callable[..., Mechanism]) -> None:
    rng = np.random.default_rng(4)
    mechanism = on_databases(rng.dirichlet(np.ones(4), 4).T, 2)
    for _ in range(10):
        found = economic(mechanism, rng.random(4).round(3).tolist())
        assert found.holds and found.ratio is not None and found.factor is not None and found.ratio < found.factor
    # Utility on the one output with the largest ratio attains the factor.
    tight = profile(mechanism).epsilon  # type: ignore[arg-type]
    sharp = economic(mechanism, [int(str(y) == tight.output) for y in range(4)])
    assert sharp.ratio == tight.ratio and set(sharp.edge or ()) == set(tight.edge or ())
    with pytest.raises(InputError, match="from 0 on"):
        economic(mechanism, [1, -1, 0, 0])


@pytest.mark.parametrize("seed", range(8))
def test_post_processing_lowers_every_currency(seed: int, random_channel: Callable[..., LossChannel]) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(100 + seed)
    before = random_channel(seed, 3, 6)
    if seed % 2:
        after = processed(before, rng.dirichlet(np.full(4, 0.5), 6).tolist())
    else:
        after = merged(before, [0, *rng.integers(0, 3, 5).tolist()])
    one, other = profile(before), profile(after)
    room = 1 + 1e-9
    assert other.epsilon.upper <= one.epsilon.upper * room
    for level in (0, F(1, 2), 2):
        assert other.delta_for_epsilon(level).upper <= one.delta_for_epsilon(level).upper * room + 1e-15
    assert other.epsilon_for_delta("0.01").upper <= one.epsilon_for_delta("0.01").upper * room + 1e-12
    for order in (1, F(3, 2), 8):
        assert renyi(after, order).upper <= renyi(before, order).upper * room + 1e-15
    assert rho(after).upper <= rho(before).upper * (1 + 1e-8) + 1e-15
    assert mutual_information(after).bracket.upper <= mutual_information(before).bracket.upper * (1 + 1e-8) + 1e-15
    for alpha in ("0.05", "0.5"):
        assert tradeoff(other).beta(alpha) >= tradeoff(one).beta(alpha) - 1e-11


def test_a_map_that_splits_outputs_by_coin_changes_nothing(random_channel: Callable[..., LossChannel]) -> None:
    before = random_channel(1, 3, 3)
    after = processed(before, [["1/2", "1/2", 0, 0, 0], [0, 0, "1/3", "2/3", 0], [0, 0, 0, 0, 1]])
    assert profile(after).epsilon.ratio == profile(before).epsilon.ratio
    assert rho(after).upper == pytest.approx(rho(before).upper, rel=1e-8)
    with pytest.raises(InputError, match="every output"):
        processed(before, [[1], [1]])
