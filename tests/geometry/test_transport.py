"""Transport: flows that move everything, and sets with too few neighbours, against brute force over all sets."""

from __future__ import annotations

import itertools
import random

import pytest

from discreet.geometry.transport import transport


def hall(supplies: list[int], demands: list[int], pairs: list[tuple[int, int]]) -> bool:
    """Whether every set of suppliers has enough demand around it."""
    for size in range(1, len(supplies) + 1):
        for chosen in itertools.combinations(range(len(supplies)), size):
            near = {j for i, j in pairs if i in chosen}
            if sum(supplies[i] for i in chosen) > sum(demands[j] for j in near):
                return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_against_all_sets(seed: int) -> None:
    draw = random.Random(seed)
    left, right = draw.randint(1, 5), draw.randint(1, 5)
    supplies = [draw.randint(0, 9) for _ in range(left)]
    demands = [0] * right
    for _ in range(sum(supplies)):
        demands[draw.randrange(right)] += 1
    pairs = [(i, j) for i in range(left) for j in range(right) if draw.random() < 0.6]
    found = transport(supplies, demands, pairs)
    assert (found.flow is not None) == hall(supplies, demands, pairs)
    if found.flow is None:
        near = {j for i, j in pairs if i in found.stuck}
        assert sum(supplies[i] for i in found.stuck) > sum(demands[j] for j in near)
    else:
        assert all((i, j) in pairs and amount > 0 for i, j, amount in found.flow)
        assert [sum(a for i, _, a in found.flow if i == k) for k in range(left)] == supplies
        assert [sum(a for _, j, a in found.flow if j == k) for k in range(right)] == demands


def test_long_integers() -> None:
    big = 10**60
    assert transport([big, big + 1], [big + 1, big], [(0, 1), (1, 0)]).flow is not None
    assert transport([big, big + 1], [big, big + 1], [(0, 1), (1, 0)]).stuck == (1,)
