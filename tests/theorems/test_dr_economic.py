"""DR 1.3: for a utility u ≥ 0 of anything that follows from the output, e^−ε E_y u ≤ E_x u ≤ e^ε E_y u.

(The notes' promise that nobody "faces harm" reads "faces no harm".) It needs u ≥ 0 and δ = 0.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.processing import processed
from discreet.currencies.profiles import profile
from discreet.currencies.semantics import economic

F = Fraction


@pytest.mark.parametrize("seed", range(6))
def test_no_downstream_use_changes_prospects_by_more(seed: int) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    channel = channel_from_rows(rng.dirichlet(np.ones(5), 3).tolist())
    future = processed(channel, rng.dirichlet(np.ones(4), 5).tolist())
    tight = profile(channel).epsilon.ratio
    found = economic(future, rng.random(4).round(6).tolist())
    assert tight is not None and found.ratio is not None and found.ratio <= tight


def test_the_factor_is_attained_by_who_cares_about_one_output() -> None:
    channel = channel_from_rows([["1/2", "1/3", "1/6"], ["1/4", "1/4", "1/2"]])
    found = economic(channel, [0, 0, 1])
    assert found.ratio == 3 == profile(channel).epsilon.ratio and found.edge == ("1", "0")


def test_the_near_miss_signed_utilities_are_not_covered() -> None:
    """Expectations 1/100 and 1/4 of a signed utility: no factor e^ε relates them."""
    rows = [["1/2", "1/2"], ["2/5", "3/5"]]
    utility = [F(-1), F(1) + F(1, 50)]
    expected = [sum(F(p) * u for p, u in zip(row, utility, strict=True)) for row in rows]
    bound = profile(channel_from_rows(rows)).epsilon.ratio
    assert bound is not None and expected[1] > bound * expected[0] > 0


def test_a_leak_gives_no_factor() -> None:
    assert economic(channel_from_rows([[1, 0], ["99/100", "1/100"]]), [0, 1]).ratio is None
