"""Actions: the allowed one next to a number."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.model.actions import ListedActions, RealActions


@pytest.mark.parametrize("seed", range(50))
def test_the_nearest_listed_action_is_the_nearest_of_all(seed: int) -> None:
    rng = random.Random(seed)
    listed = ListedActions(tuple(sorted({Fraction(rng.randint(-20, 20), rng.randint(1, 4)) for _ in range(rng.randint(1, 9))})))
    for _ in range(20):
        number = Fraction(rng.randint(-90, 90), 4)
        found = listed.nearest(number)
        assert found == min(listed.numbers, key=lambda a, at=number: (abs(a - at), a))  # type: ignore[misc]


def test_real_actions_stop_at_their_ends() -> None:
    assert RealActions().nearest(Fraction(7)) == 7
    ranged = RealActions(Fraction(1), Fraction(3))
    assert [ranged.nearest(Fraction(x)) for x in (0, 2, 5)] == [1, 2, 3]
