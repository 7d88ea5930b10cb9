"""Proposing coins and dice: who tosses them, how many, and the multipliers of what is left (`certify.bounds.coins`).

In very large cells one coin, between a low and a high type, is tossed by many and spreads ω; between them one or two types have a
coin that a single respondent tosses. What is left is a strip along ω: short enough for a program, wide beside the noise that a
neighbour's step needs. Where few have a far type (`dice_of`), nearly everybody holds a die between the likeliest type and the
farthest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import exp, floor, prod, sqrt
from typing import TypeVar

import numpy as np

from discreet.certify.bounds.chain import binomial_below
from discreet.certify.bounds.coins import (
    MOST_BITS,
    MOST_COINS,
    MOST_STATES,
    bits_of,
    coins_stage,
    free_decision,
    lattice_actions,
)
from discreet.design.program.real import reaching, real_loss
from discreet.design.program.sections import Recommendation
from discreet.design.program.thin_witness import whole_multipliers
from discreet.design.schedule import SECONDS_PER_DICE_PAIR, SECONDS_PER_STRIP_PAIR, Until
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program
from discreet.design.solver.real import solve_real
from discreet.model.actions import RealActions
from discreet.model.certificate import CoinsWitness, TypeDie, Witness, coin
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.replies import loss_table
from discreet.watch import SILENT, Watch

Number = TypeVar("Number", Fraction, float)

REACH = 3.6
"""Standard deviations of a count to each side of its window: what is left out is a 3,000th, and so little of the bound."""
FEWEST_HOLDERS, MOST_HOLDERS = 100, 8_000
SURELY = 6.0
"""So many standard deviations fewer respondents are asked for than hold a coin in the mean."""
GAINED, WIDE = 1.06, 500
"""How much more than a chain of two types coins prove at most, and how many holders make a prior wide beside the noise."""
FEWEST_RESPONDENTS = 100
"""For dice; where they are fewer, bounds that tell less away are solved."""
ENOUGH = 3.0
"""Standard deviations below the mean that the holders of a die are asked for; they are fewer in one of 700 cells."""
TAIL = 4e-4
"""What a window of counts leaves out at each end."""
ALONE, FEWEST_ALONE = 12, 7
"""Respondents who hold a coin that one of them tosses, in the mean: as many, and not fewer."""
HALFWAY = Fraction(9, 20)
"""Where the types between lie that are best tossed alone, as a share of the farthest step."""
GAP = 1e-3
ROUNDED = 1e-5
"""The share of the bound that rounding its multipliers may take."""


def why_no_coins(problem: Problem) -> str | None:
    """Why coins bound nothing here, in words; the conditions of the theorem aside."""
    law = iid_sum(problem)
    if len(set(law.values)) < 3:
        return "two values are what a chain is for"
    several = _pair(law, float(problem.epsilon), MOST_HOLDERS) or dice_of(problem)
    return None if several else "too few respondents differ from each other"


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
        pair = _pair(law, float(problem.epsilon), most)
        coins = () if pair is None else _coins(law, *pair, between)
        if coins and (between == 1 or coins[0].number >= MOST_HOLDERS // 8 or len(coins) < 1 + between):
            return coins
        if between == 1:
            return ()
        between -= 1


def _pair(law: IidSum, epsilon: float, most: int) -> tuple[int, int, int] | None:
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


def dice_of(problem: Problem) -> list[tuple[TypeDie, ...]]:
    """A die between the likeliest type and those farthest from it on one side, and coins for types between; fewest states first.

    How many types are far follows from what is hidden of their number, beside noise for their step; one or two more may be better.
    Of the types between, those about half way are the ones that chains miss most.
    """
    law, ratio = iid_sum(problem), exp(-min(float(problem.epsilon), 300.0))
    if law.respondents < FEWEST_RESPONDENTS or ratio == 1:
        return []
    noise = 2 * ratio / (1 - ratio) ** 2
    base = max(range(len(law.values)), key=lambda t: law.probabilities[t])
    best: tuple[float, list[int], int] = 0.0, [], 0
    for sign in (1, -1):
        beyond = [t for t in range(len(law.values)) if sign * (law.values[t] - law.values[base]) > 0]
        beyond.sort(key=lambda t: -_apart(law, base, t))
        shares = np.cumsum([float(law.probabilities[t]) for t in beyond])
        steps = np.cumsum([float(law.probabilities[t]) * float(_apart(law, base, t)) for t in beyond])
        for far, (share, step) in enumerate(zip(shares, steps, strict=True), 1):
            number = law.respondents * share
            hidden = float((step / share) ** 2 * noise * number / (number + noise))
            best = max(best, (hidden, beyond, far))
    _, beyond, far = best
    found = []
    for faces in (beyond[:far], beyond[: far + 1], beyond[: far + 2]):
        inner = [t for t in beyond if t not in faces and law.respondents * 2 * law.probabilities[t] >= FEWEST_ALONE]
        inner.sort(key=lambda t: (abs(_apart(law, base, t) - HALFWAY * _apart(law, base, beyond[0])), _apart(law, base, t)))
        for alone in sorted({min(1, len(inner)), min(2, len(inner)), min(len(inner), MOST_COINS - len(faces))}):
            dice = _dice(law, base, faces, inner[:alone])
            if dice is not None and 1 < states_of(dice) <= MOST_STATES and max(map(bits_of, dice)) <= MOST_BITS:
                found.append(dice)
    return sorted(dict.fromkeys(found), key=states_of)


def _apart(law: IidSum, base: int, t: int) -> Fraction:
    return abs(law.values[t] - law.values[base])


def dice_within(problem: Problem, seconds: float, held: Witness | None = None) -> list[tuple[TypeDie, ...]]:
    """The dice with the most states that are solved in about so many seconds, after some with fewer; none that are not new."""
    known = states_of(held.coins) if isinstance(held, CoinsWitness) else 0
    fitting = [dice for dice in dice_of(problem) if states_of(dice) > known and taking(dice) <= seconds]
    few = [dice for dice in fitting if 4 * states_of(dice) <= states_of(fitting[-1])]
    return few[-1:] + fitting[-1:]


def taking(dice: tuple[TypeDie, ...]) -> float:
    """A guess of the seconds that multipliers take."""
    return SECONDS_PER_DICE_PAIR * sum(len(die.counts) for die in dice) * states_of(dice) ** 2


def states_of(dice: tuple[TypeDie, ...]) -> int:
    """How many states are left."""
    return prod(last - first + 1 for die in dice for first, last in die.counts)


def _dice(law: IidSum, base: int, faces: list[int], alone: list[int]) -> tuple[TypeDie, ...] | None:
    p, types = law.probabilities, law.types
    shares = [min(p[t], Fraction(ALONE, 2 * law.respondents)) for t in alone]
    main = (p[base] - sum(shares, Fraction(0)), *(p[t] for t in faces))
    if main[0] <= 0 or len(faces) + len(alone) > MOST_COINS:
        return None
    share = sum(main, Fraction(0))
    holders = law.respondents * float(share)
    number = min(floor(holders - ENOUGH * sqrt(holders * float(1 - share))), MOST_HOLDERS)
    counts = tuple(_window(number, p[t] / share) for t in faces) if number > 0 else ()
    if not counts or sum(last for _, last in counts) > number:
        return None
    singles = (coin(types[base], types[t], 2 * part, 1, 0, 1) for t, part in zip(alone, shares, strict=True))
    return TypeDie((types[base], *(types[t] for t in faces)), main, number, counts), *singles


def _window(trials: int, chance: Fraction) -> tuple[int, int]:
    """The likely counts."""
    first, masses = binomial_below(trials, chance)
    below = np.cumsum(masses)
    low = int(np.searchsorted(below, TAIL))
    return first + low, first + min(max(low, int(np.searchsorted(below, 1 - TAIL))), len(masses) - 1)


def coins_bound(problem: Problem, coins: tuple[TypeDie, ...], seconds: float, watch: Watch = SILENT) -> tuple[float, CoinsWitness]:
    """The bound that coins prove within the time, as if enough respondents surely held them."""
    stage = coins_stage(iid_sum(problem), coins)
    masses, omegas = (np.array([float(x) for x in numbers]) for numbers in (stage.masses, stage.omegas))
    edges = np.array(sorted(stage.edges), dtype=np.int64).reshape(-1, 2)
    epsilon, until = float(problem.epsilon), Until.after(seconds, watch)
    ends = min(stage.omegas), max(stage.omegas)
    listed = lattice_actions(problem, coins, ends)
    actions: list[Recommendation]
    if listed is None:
        loss = real_loss(free_decision(problem, coins, RealActions()), masses, omegas)
        found = solve_real(loss, edges, epsilon, GAP, until)
        nodes, flows = reaching(found, ends)
        actions, bound = list(nodes), found.bound
    else:
        decision = free_decision(problem, coins, listed)
        actions = list(listed.numbers)
        distinct = stage.values
        column = {omega: k for k, omega in enumerate(distinct)}
        table = float(decision.weight) * loss_table(decision, actions, distinct)  # type: ignore[arg-type]
        program = Program(table[:, [column[omega] for omega in stage.omegas]] * masses, edges, epsilon)
        solved = solve_priced(program, GAP, until)
        flows, bound = solved.multipliers, solved.bound
    spare = ROUNDED * max(bound, 0.0)
    scale, multipliers = whole_multipliers(edges, len(masses), actions, flows, epsilon, spare, every=listed is None)
    return max(bound, 0.0), CoinsWitness(coins, scale, multipliers)
