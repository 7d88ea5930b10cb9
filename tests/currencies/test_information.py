"""Mutual-information privacy: certified gaps, closed forms, awkward channels, and blocks that one respondent spans."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.currencies.information import RELATIVE_GAP, mutual_information
from discreet.model.mechanism import Mechanism


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 5.0, 20.0])
def test_randomised_response_to_the_last_digits(epsilon: float, response: Callable[[float], LossChannel]) -> None:
    found = mutual_information(response(epsilon))
    half = math.tanh(epsilon / 2)
    closed = ((1 + half) * math.log1p(half) + (1 - half) * math.log1p(-half)) / 2
    assert found.gap <= RELATIVE_GAP
    assert found.bracket.middle == pytest.approx(closed, rel=1e-6 if epsilon < 1e-3 else 1e-9)
    assert [float(p) for p in found.inputs] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_an_asymmetric_channel_in_closed_form() -> None:
    """The Z channel: capacity log(1 + (1−p) p^(p/(1−p))), at an uneven input."""
    p = 0.3
    found = mutual_information(channel_from_rows([[1, 0], [p, 1 - p]]))
    assert found.bracket.middle == pytest.approx(math.log1p((1 - p) * p ** (p / (1 - p))), rel=1e-12)
    assert float(found.inputs[1]) < 0.45


@pytest.mark.parametrize("concentration", [0.02, 0.1, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_random_channels_are_certified_to_the_gap(seed: int, concentration: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(9, concentration), 5) + 1e-30
    found = mutual_information(channel_from_rows((rows / rows.sum(axis=1, keepdims=True)).tolist()))
    assert 0 < found.bracket.lower <= found.bracket.upper and found.gap <= RELATIVE_GAP
    assert found.bracket.upper <= math.log(5) * (1 + 1e-12)


def test_many_steps_of_blahut_and_arimoto_agree() -> None:
    """Plain alternating maximisation ends at the same number, only later."""
    rng = np.random.default_rng(8)
    rows = rng.dirichlet(np.ones(6), 4)
    p = np.full(4, 0.25)
    for _ in range(20_000):
        q = p @ rows
        d = (rows * np.log(rows / q)).sum(axis=1)
        p = p * np.exp(d - d.max())
        p /= p.sum()
    q = p @ rows
    d = (rows * np.log(rows / q)).sum(axis=1)
    found = mutual_information(channel_from_rows(rows.tolist()))
    assert p @ d <= found.bracket.upper + 1e-12 and found.bracket.lower <= d.max() + 1e-12
    assert found.bracket.middle == pytest.approx(float(p @ d), rel=1e-6)


def test_awkward_channels() -> None:
    assert mutual_information(channel_from_rows([["1/7", "6/7"]] * 3)).bracket.upper == 0.0
    assert mutual_information(channel_from_rows([[1, 0], [0, 1]], edges=[])).bracket.upper == 0.0
    telling = mutual_information(channel_from_rows([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert telling.bracket.middle == pytest.approx(math.log(3), rel=1e-12)
    repeated = mutual_information(channel_from_rows([[0.5, 0.5], [0.5, 0.5], [0.4, 0.6]]))
    once = mutual_information(channel_from_rows([[0.5, 0.5], [0.4, 0.6]]))
    assert repeated.bracket.middle == pytest.approx(once.bracket.middle, rel=1e-9)
    tiny = Fraction(1, 10**300)
    found = mutual_information(channel_from_rows([[tiny, 1 - tiny], [2 * tiny, 1 - 2 * tiny]]))
    assert 0 <= found.bracket.lower <= found.bracket.upper < 1e-290


def test_the_worst_block_is_found_among_many() -> None:
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.full(12, 40.0), 60)
    rows[31] = rng.dirichlet(np.full(12, 2.0))
    blocks = [(i, i + 1, i + 2) for i in range(58)]
    channel = channel_from_rows(rows.tolist(), edges=[(i, i + 1) for i in range(59)], blocks=blocks)
    found = mutual_information(channel)
    each = [mutual_information(channel_from_rows([rows[i].tolist() for i in block])) for block in blocks]
    assert found.bracket.middle == pytest.approx(max(one.bracket.middle for one in each), rel=1e-9)
    assert "31" in found.states


def test_a_mechanism_has_the_blocks_of_its_respondents(geometric: Callable[..., Mechanism]) -> None:
    ratio = Fraction(1, 2)
    found = mutual_information(geometric(6, ratio))
    # Every edge is randomised response with error r/(1+r).
    closed = math.log(2) - entropy(float(ratio / (1 + ratio)))
    assert found.bracket.middle == pytest.approx(closed, rel=1e-12) and found.gap <= RELATIVE_GAP


def test_the_witness_attains_the_lower_end() -> None:
    rng = np.random.default_rng(5)
    rows = rng.dirichlet(np.ones(5), 3)
    found = mutual_information(channel_from_rows(rows.tolist()))
    p = np.array([float(x) for x in found.inputs])
    q = p @ rows
    assert float(p @ (rows * np.log(rows / q)).sum(axis=1)) == pytest.approx(found.bracket.lower, abs=1e-12)
