"""Proposing coins and dice: who tosses them, how many, and the multipliers of what is left (`certify.bounds.coins`).

In very large cells one coin, between a low and a high type, is tossed by many and spreads ω; between them one or two types have a
coin that a single respondent tosses. What is left is a strip along ω: short enough for a program, wide beside the noise that a
neighbour's step needs. Where few have a far type, nearly everybody holds a die (`dice`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import exp, floor, sqrt
from typing import TypeVar

from discreet.design.schedule import SECONDS_PER_STRIP_PAIR
from discreet.model.certificate import TypeDie, coin
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem

Number = TypeVar("Number", Fraction, float)

REACH = 3.6
"""Standard deviations of a count to each side of its window: what is left out is a 3,000th, and so little of the bound."""
FEWEST_HOLDERS, MOST_HOLDERS = 100, 8_000
SURELY = 6.0
"""So many standard deviations fewer respondents are asked for than hold a coin in the mean."""
GAINED, WIDE = 1.06, 500
"""How much more than a chain of two types coins prove at most, and how many holders make a prior wide beside the noise."""


def promised(problem: Problem, coins: tuple[TypeDie, ...]) -> float:
    """About the most that coins prove: what the noise for the largest step costs beside a normal prior, and a gain on a chain."""
    law, main, ratio = iid_sum(problem), coins[0], exp(-min(float(problem.epsilon), 300.0))
    apart = float(abs(law.all_values[main.faces[1]] - law.all_values[main.faces[0]]))
    if not isinstance(problem.decision.loss, SquaredLoss):
        return float("inf") if main.number >= WIDE else 0.0
    noise = 2 * ratio / (1 - ratio) ** 2
    return GAINED * float(problem.decision.weight) * apart**2 * noise * main.number / (main.number + 4 * noise)


def best_coins(problem: Problem, seconds: float) -> tuple[TypeDie, ...]:
    """Coins whose strip is solved in about so many seconds; none where no pair of types has enough respondents."""
    law, between = iid_sum(problem), 2
    # a strip of one coin is as long as 2·REACH deviations, of which each holder adds a quarter to the square
    while True:
        states = sqrt(max(seconds, 0.0) / SECONDS_PER_STRIP_PAIR)
        most = min(MOST_HOLDERS, floor((states / (REACH * 2 ** min(between, len(set(law.values)) - 2))) ** 2))
        pair = best_pair(law, float(problem.epsilon), most)
        coins = () if pair is None else _coins(law, *pair, between)
        if coins and (between == 1 or coins[0].number >= MOST_HOLDERS // 8 or len(coins) < 1 + between):
            return coins
        if between == 1:
            return ()
        between -= 1


def best_pair(law: IidSum, epsilon: float, most: int) -> tuple[int, int, int] | None:
    """The places of the low and the high type that promise most, and how many toss their coin."""
    ratio = exp(-min(epsilon, 300.0))
    noise, best = (2 * ratio / (1 - ratio) ** 2 if ratio < 1 else 1e300), None
    ranks = {value: rank for rank, value in enumerate(sorted(set(law.values)))}
    rank, chances = [ranks[value] for value in law.values], [float(p) for p in law.probabilities]
    for i, j in combinations(sorted(range(len(rank)), key=lambda t: rank[t]), 2):
        if rank[j] < rank[i] + 2:
            continue  # no type lies between
        apart = float(law.values[j] - law.values[i])
        number = min(_surely(law.respondents, _share(chances, i, j)), most)
        if number >= FEWEST_HOLDERS:
            hidden = apart**2 * noise * number / (number + 4 * noise)
            if best is None or hidden > best[0]:
                best = hidden, i, j, number
    return None if best is None else best[1:]


def _share(chances: Sequence[Number], i: int, j: int) -> Number:
    """Of the likelier type of a pair half is kept for the coins of the types between."""
    small, large = sorted((chances[i], chances[j]))
    return 2 * min(small, large / 2)


def _surely(respondents: int, share: Fraction | float) -> int:
    """How many holders of a coin there almost surely are."""
    mean = respondents * float(share)
    return max(0, floor(mean - SURELY * sqrt(mean)))


def _coins(law: IidSum, i: int, j: int, number: int, between: int) -> tuple[TypeDie, ...]:
    low, high, value = law.types[i], law.types[j], law.values
    base = i if law.probabilities[i] >= law.probabilities[j] else j
    inner = [t for t in range(len(value)) if value[i] < value[t] < value[j] and _surely(law.respondents, law.probabilities[t])]
    wanted = [value[i] + (value[j] - value[i]) * Fraction(k, between + 1) for k in range(1, between + 1)]
    chosen = list(dict.fromkeys(min(inner, key=lambda t: abs(value[t] - at)) for at in wanted)) if inner else []
    share = _share(law.probabilities, i, j)
    kept = (law.probabilities[base] - share / 2) / max(len(chosen), 1)
    middle, reach = number / 2, REACH * sqrt(number) / 2
    main = coin(low, high, share, number, max(0, floor(middle - reach)), min(number, floor(middle + reach) + 1))
    ends = {t: (low, law.types[t]) if base == i else (law.types[t], high) for t in chosen}
    return (main, *(coin(*ends[t], 2 * min(kept, law.probabilities[t]), 1, 0, 1) for t in chosen))
