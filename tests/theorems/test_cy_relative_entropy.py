"""CY, tightest claim: ε-closeness bounds relative entropy by ε·tanh(ε/2), attained by randomised response.

Also Pinsker's step from relative entropy to total variation, and that pairwise divergences bound information.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.conversions import convert
from discreet.currencies.divergences import relative_entropy
from discreet.currencies.information import mutual_information
from discreet.currencies.profiles import profile
from discreet.currencies.statements import statement

PRINTED = {"0.1": 0.00499583749579, "0.5": 0.122459331202, "2": 1.52318831191}


@pytest.mark.parametrize(("epsilon", "printed"), PRINTED.items())
def test_the_reference_numbers(epsilon: str, printed: float) -> None:
    found = convert(statement("epsilon", epsilon=epsilon), "kl")
    assert float(found.result.numbers["kl"]) == pytest.approx(printed, rel=1e-11) and found.tight


@pytest.mark.parametrize("epsilon", PRINTED)
def test_randomised_response_attains_it_and_so_nothing_smaller_holds(epsilon: str) -> None:
    rate = float(epsilon)
    high = 1 / (1 + math.exp(-rate))
    found = relative_entropy(channel_from_rows([[high, 1 - high], [1 - high, high]]))
    bound = float(convert(statement("epsilon", epsilon=epsilon), "kl").result.numbers["kl"])
    assert found.bracket.middle == pytest.approx(bound, abs=1e-12)
    assert found.lower > bound * (1 - 1e-9)


def test_the_printed_quotient_is_the_same_formula() -> None:
    for epsilon in (0.1, 0.7, 2.0):
        up, down = math.expm1(epsilon), -math.expm1(-epsilon)
        assert epsilon * up * down / (up + down) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)
        # Away from ε = 1, where both agree, total variation must not be mistaken for relative entropy.
        assert abs(math.tanh(epsilon / 2) - epsilon * math.tanh(epsilon / 2)) > 1e-3


def test_pinsker_and_the_radius_of_the_information_ball() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        channel = channel_from_rows(rng.dirichlet(np.ones(5), 3).tolist())
        worst = relative_entropy(channel).upper
        assert profile(channel).delta_for_epsilon(0).upper <= math.sqrt(worst / 2)
        assert mutual_information(channel).bracket.upper <= worst


def test_a_third_of_the_divergence_is_no_bound_on_information() -> None:
    """Two inputs carry about a quarter of their divergence, eight equally distant ones already more than a third."""
    rows = [[Fraction(11 if x == y else 10, 81) for y in range(8)] for x in range(8)]
    channel = channel_from_rows(rows)
    worst, carried = relative_entropy(channel), mutual_information(channel).bracket
    assert worst.lower / 3 < carried.lower <= carried.upper <= worst.upper
