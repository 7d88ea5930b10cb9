"""CY, (ε, δ)-closeness: the tightest conversion, its pair, and the error region of a test.

ε′ ≤ ε: δ′ = 1 − (e^ε′+1)(1−δ)/(e^ε+1). Detection: α + e^ε β ≥ 1 − δ and e^ε α + β ≥ 1 − δ.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.currencies.attaining import leaky_response
from discreet.currencies.channel import channel_from_rows
from discreet.currencies.conversions import convert
from discreet.currencies.profiles import profile
from discreet.currencies.statements import statement

F = Fraction


def test_the_reference_numbers() -> None:
    pure = convert(statement("epsilon", epsilon=1), "approximate", epsilon=0)
    assert float(pure.result.numbers["delta"]) == pytest.approx(0.462117157260, rel=1e-11)
    leaky = convert(statement("approximate", epsilon=1, delta="0.01"), "approximate", epsilon="0.5")
    assert float(leaky.result.numbers["delta"]) == pytest.approx(0.294772645279, rel=1e-11) and leaky.tight


@pytest.mark.parametrize(("epsilon", "delta", "target"), [("1", "0.01", "0.5"), ("2", "0.1", "0"), ("0.3", "0", "0.1")])
def test_the_pair_attains_it(epsilon: str, delta: str, target: str) -> None:
    pair = leaky_response(F(epsilon), F(delta))
    seen = profile(channel_from_rows([pair.first, pair.second]))
    assert seen.delta_for_epsilon(epsilon).upper == pytest.approx(float(delta), abs=1e-12)
    stated = convert(statement("approximate", epsilon=epsilon, delta=delta), "approximate", epsilon=target)
    found = seen.delta_for_epsilon(target)
    assert found.bracket.middle == pytest.approx(float(stated.result.numbers["delta"]), abs=1e-12)
    assert found.lower > float(stated.result.numbers["delta"]) * 0.999999


def test_the_error_region_holds_and_is_touched() -> None:
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(6), 2)
    seen = profile(channel_from_rows(rows.tolist()))
    for epsilon in (0.0, 0.4, 1.1):
        delta = seen.delta_for_epsilon(epsilon).upper
        slack = []
        for chosen in product((False, True), repeat=6):
            flagged = np.array(chosen)
            alpha, beta = rows[0][flagged].sum(), 1 - rows[1][flagged].sum()
            slack += [alpha * math.exp(epsilon) + beta - (1 - delta), alpha + math.exp(epsilon) * beta - (1 - delta)]
        assert min(slack) >= -1e-12
        # With δ smaller by a thousandth the region would exclude a real test.
        assert min(slack) < 1e-3 * delta


def test_closeness_at_zero_is_total_variation_and_at_delta_zero_the_largest_loss() -> None:
    rows = [["1/2", "1/3", "1/6"], ["1/4", "1/4", "1/2"]]
    seen = profile(channel_from_rows(rows))
    assert seen.delta_for_epsilon(0).bracket.middle == pytest.approx(1 / 3, abs=1e-15)
    assert seen.epsilon_for_delta(0).upper == seen.epsilon.upper and seen.epsilon.ratio == 3
