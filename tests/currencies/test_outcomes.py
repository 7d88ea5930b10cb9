"""Composition by listed outcomes: exact, one ε for every δ, and brackets of the grid hold it even where numbers are extreme."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.currencies import channel_from_rows, compose, compose_epsilon
from discreet.currencies.grid import grid_delta
from discreet.currencies.lattice import lattice_delta, lattice_of
from discreet.currencies.outcomes import listed_outcomes
from discreet.currencies.pair import Pair, exact_pair, pair_of
from discreet.currencies.profiles import pair_delta, pair_epsilon

FAR = [["0.9", "0.09", "0.01"], ["0.01", "0.3", "0.69"]]
LEAKY = [["0.9", "0.1", "0"], ["0.1", "0.8", "0.1"]]


def every_sequence(pair: Pair, times: int) -> Pair:
    """All sequences of outputs, one by one."""
    sequences = list(product(range(len(pair.first)), repeat=times))
    first, second = (tuple(math.prod(side[i] for i in ys) for ys in sequences) for side in (pair.first, pair.second))
    return Pair(first, second, pair.denominator**times)


@pytest.mark.parametrize("rows", [FAR, LEAKY, [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]]])
@pytest.mark.parametrize("times", [1, 2, 4])
def test_outcomes_tell_what_sequences_tell(rows: list[list[str]], times: int) -> None:
    pair = pair_of(*rows)
    listed, full = listed_outcomes(pair, times), every_sequence(pair, times)
    assert listed is not None and len(listed.first) <= len(full.first)
    assert listed.curve == full.curve
    for level in ("0", "1/2", "2"):
        assert pair_delta(listed, Fraction(level)) == pair_delta(full, Fraction(level))


def test_too_many_outcomes_are_left_to_others() -> None:
    pair = pair_of(*FAR)
    assert listed_outcomes(pair, 100) is None and listed_outcomes(pair, 20) is not None


def test_a_lattice_says_the_same() -> None:
    response = pair_of(["3/4", "1/4"], ["1/4", "3/4"])
    listed, lattice = listed_outcomes(response, 30), lattice_of(response)
    assert listed is not None and lattice is not None
    for level in (0, 3, 10):
        one, other = pair_delta(listed, Fraction(level)), lattice_delta(lattice, 30, Fraction(level))
        assert one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize(("rows", "times", "delta"), [(FAR, 2, "1e-12"), (FAR, 3, "1/20"), (LEAKY, 2, "1/4"), (LEAKY, 2, "0.19")])
def test_the_level_of_small_compositions_is_exact(rows: list[list[str]], times: int, delta: str) -> None:
    # The first was [0, ∞] though ε is finite; δ = 0.19 is exactly what two leaky releases give away.
    found = compose_epsilon(channel_from_rows(rows), times, delta)
    pairs = [pair_of(*rows), pair_of(*reversed(rows))]
    truth = max(pair_epsilon(every_sequence(pair, times), Fraction(delta)).upper for pair in pairs)
    assert math.isfinite(truth) and found.lower <= truth <= found.upper and found.width < 1e-14 * truth


@pytest.mark.parametrize("adaptive", [False, True])
def test_what_gives_itself_away_has_no_level(adaptive: bool) -> None:
    # Two identical columns of certainty: an IndexError before.
    certain = channel_from_rows([[1, 0], [0, 1]])
    assert compose(certain, 2, 1, adaptive=adaptive).bracket.lower == 1.0
    assert compose_epsilon(certain, 2, "1/2", adaptive=adaptive).lower == math.inf
    leak = compose_epsilon(channel_from_rows(LEAKY), 2, "0.18", adaptive=adaptive)
    assert leak.lower == leak.upper == math.inf


@pytest.mark.parametrize("adaptive", [False, True])
def test_many_releases_of_a_finite_level_have_a_finite_level(adaptive: bool) -> None:
    channel = channel_from_rows([["0.6", "0.3", "0.1"], ["0.5", "0.2", "0.3"]])
    found = compose_epsilon(channel, 150, "1e-15", adaptive=adaptive, points=1 << 10, tolerance=1e-2)
    assert 0 < found.lower < found.upper <= 150 * math.log(3) * (1 + 1e-9)


def test_extreme_ratios_on_coarse_grids_leave_a_true_bracket() -> None:
    # Ratios near 1e38 with few points became NaN, since e^(tilt · step) overflowed, or an upper end below the truth, since sums of
    # rounded indices left the window.
    rng = np.random.default_rng(4)
    for _ in range(40):
        size, scale = int(rng.integers(2, 5)), int(rng.choice([0, 20, 38]))
        weights = [[int(rng.integers(1, 100)) * 10 ** int(rng.integers(0, scale + 1)) for _ in range(size)] for _ in range(2)]
        pair = exact_pair(*[[Fraction(w, sum(row)) for w in row] for row in weights])
        times = int(rng.integers(1, 5))
        listed = listed_outcomes(pair, times)
        top = max(math.log(p) - math.log(q) for p, q in pair.key)
        assert listed is not None
        for share in (0.0, 0.5, 0.999, 1.0, 1.001):
            level = Fraction(max(share * times * top, 0.0))
            truth = pair_delta(listed, level)
            for points in (2, 16, 256):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    found = grid_delta(pair, times, level, points=points)
                assert 0 <= found.lower <= truth.upper and truth.lower <= found.upper <= 1
