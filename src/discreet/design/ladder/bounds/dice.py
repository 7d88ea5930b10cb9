"""Proposing dice, in tiers: nearly everybody holds one between the likeliest type and the farthest ones (`certify.bounds.coins`).

The other types are told, but for one respondent who tosses a fair coin between the likeliest type and one between. How many hold
the die is known to everybody: a number of throws that is nearly always reached is too small in the mean, so that the far types are
too rare. So there is a program for each of several numbers, the more the wider the number of holders varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lgamma, log, prod, sqrt

import numpy as np

from discreet.certify.bounds.chain import binomial_below
from discreet.certify.bounds.coins import MOST_BITS, bits_of, chance_of, ends_of, in_tiers
from discreet.certify.bounds.counts import MOST_COUNTS, MOST_STATES, moves_of
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.coins import MOST_HOLDERS, best_pair
from discreet.design.ladder.bounds.counts import FEW_STATES, Solved, likely, solved
from discreet.design.ladder.bounds.far import BY_HOLDERS, TIERS, apart, farthest
from discreet.design.pace import pace
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import DICE_EDGE_POWER, SECONDS_PER_DICE_EDGE, SECONDS_PER_DICE_PAIR
from discreet.design.solver.program import Floats
from discreet.frozen import dataclass
from discreet.model.actions import RealActions
from discreet.model.certificate import CoinsTier, CoinsWitness, TypeDie, Witness, coin
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

FIRST_TIERS, NARROW = 3, 0.02
"""So many programs come before a larger one, or two where the number of holders varies by less than this share of it."""
TAIL = 2e-4
"""What a window of counts leaves out at each end."""
LEFT_OUT, LEFT_OUT_OF_MANY = 1e-3, 2e-4
"""The share of the least likely states that are left out of a program, and where there are so many that actions have windows."""
ALONE, FEWEST_ALONE = 8, 5
"""Respondents who hold a coin that one of them tosses, in the mean: as many, and not fewer."""
MOST_TOSSED = 6
"""Counts, of which some are of coins: all types that can are tossed where there are no more."""
HALFWAY = Fraction(9, 20)
"""Where the types between lie that are best tossed alone, as a share of the farthest step."""
FEWER_FACES, MORE_FACES = 2, 3
"""So many far types less, and more, are looked at."""
FEWER = 3
"""A program with so many times fewer states comes first."""
MANY_STEPS = 1.5
"""Above this ε the steps of all types matter: as many as possible are tossed, by one respondent at least."""
SLOWER, SLOWER_ON_WINDOWS = 1.2, 0.6
"""The power of ε, above one, that the time grows with: more actions matter, each on fewer states where it has a window."""
GAP, GAP_OF_MANY = 2e-3, 4e-3
TRIALS, TRIED, TRIAL_GAP, LEFT_OUT_OF_TRIALS = 8, 0.03, 8e-3, 3e-3
"""Dice with many states that are tried, the share of the time for each, and how roughly."""
NEARER = 1.015
"""How much more is proved than a trial promises."""
COMPARABLE = 8
"""Dice with so many times fewer states than the largest are not tried beside these."""


@dataclass(frozen=True)
class Dice:
    """The same dice in tiers, the first thrown less or more often, and about how many states of each count."""

    tiers: tuple[tuple[TypeDie, ...], ...]
    states: int
    many: bool = False
    """Whether actions have windows."""

    @property
    def counts(self) -> int:
        """How many types but the likeliest are not told."""
        return sum(len(die.counts) for die in self.tiers[0])

    @property
    def nearness(self) -> tuple[float, float]:
        """The share of the states that is left out, and the gap."""
        return (LEFT_OUT_OF_MANY, GAP_OF_MANY) if self.many else (LEFT_OUT, GAP)


def why_no_coins(problem: Problem) -> str | None:
    """Why neither coins nor dice bound anything here, in words; the conditions of the theorem aside."""
    law = iid_sum(problem)
    if len(set(law.values)) < 3:
        return "two values are what a chain is for"
    several = best_pair(law, float(problem.epsilon), MOST_HOLDERS) or dice_of(problem)
    return None if several else "too few respondents differ from each other"


def dice_of(problem: Problem) -> list[tuple[TypeDie, ...]]:
    """A die between the likeliest type and those farthest from it on one side, and coins for types between; fewest states first.

    How many types are far follows from what is hidden of their number, beside noise for their step; a few more may be better.
    Of the types between, those about half way are the ones that chains miss most.
    """
    law, (base, beyond, far) = iid_sum(problem), farthest(problem)
    if not far:
        return []
    found = []
    for faces in (beyond[: far + more] for more in range(max(-FEWER_FACES, 1 - far), MORE_FACES + 1)):
        inner = [t for t in beyond if t not in faces and law.respondents * 2 * law.probabilities[t] >= FEWEST_ALONE]
        inner.sort(key=lambda t: (abs(apart(law, base, t) - HALFWAY * apart(law, base, beyond[0])), apart(law, base, t)))
        for alone in sorted({min(each, len(inner)) for each in (0, 1, 2, MOST_TOSSED - len(faces)) if each >= 0}):
            dice = _dice(law, base, faces, inner[:alone])
            if dice is not None and 1 < states_of(dice) <= MOST_STATES and max(map(bits_of, dice)) <= MOST_BITS:
                found.append(dice)
    return sorted(dict.fromkeys(found), key=states_of)


def dice_within(problem: Problem, seconds: float, held: Witness | None = None) -> list[Dice]:
    """The dice with the most states that are solved in tiers in about so many seconds, after some with fewer; none that are old.

    At large ε half of the time is for those that leave most types unknown; of those with many states there are several.
    """
    law, epsilon, hands = iid_sum(problem), float(problem.epsilon), hands_for(seconds)
    known = _size([dice for dice, _, _ in held.each]) if isinstance(held, CoinsWitness) else 0
    windows = isinstance(problem.decision.loss, SquaredLoss) and isinstance(problem.decision.actions, RealActions)
    each = []
    for dice in dice_of(problem):
        first = FIRST_TIERS if _varying(law, dice[0]) > NARROW else 2
        each.append([in_tiers_of(law, dice, count, windows) for count in TIERS if count >= first])

    def fitting(within: float) -> list[Dice]:
        new = ([one for one in tiers if taking(problem, one, hands) <= within and _size(one.tiers) > known] for tiers in each)
        return sorted((tiers[-1] for tiers in new if tiers), key=lambda one: one.states)

    most = fitting((1 - ceil(TRIALS / hands) * TRIED) * seconds)
    chosen = [one for one in most if one.many and COMPARABLE * one.states >= most[-1].states][-TRIALS:]
    if not chosen:
        if epsilon > MANY_STEPS:
            chosen += sorted(fitting(seconds / 2), key=lambda one: (one.counts, one.states))[-1:]
        chosen += fitting(seconds - sum(taking(problem, one, hands) for one in chosen))[-1:]
        chosen = list({one.states: one for one in chosen}.values())  # of the same dice those in more tiers
    few = [one for one in fitting(seconds) if FEWER * one.states <= chosen[0].states] if chosen else []
    return few[-1:] + chosen


def promising(problem: Problem, dice: Sequence[Dice], seconds: float, watch: Watch = SILENT) -> tuple[list[Dice], float]:
    """Of dice with many states those alone that promise most, and how much: each is tried with one number of holders, roughly."""
    many = [one for one in dice if one.many]
    if not many:
        return list(dice), 0.0
    middles, each = [one.tiers[len(one.tiers) // 2] for one in many], TRIED * seconds
    hands = hands_for(len(many) * each)
    given, parts = ceil(len(many) / hands) * each, [(problem, middle) for middle in middles]
    tried = shared_out(_tried, parts, watch, given, "trial", hands=hands, guess=each)
    promises = [
        loss * _in_tiers(problem, one, middle[0].number)
        for one, middle, loss in zip(many, middles, tried, strict=True)
        if loss is not None
    ]
    best = many[int(np.argmax(promises))] if promises else many[0]
    return [one for one in dice if not one.many or one is best], NEARER * max(promises, default=0.0)


def _in_tiers(problem: Problem, dice: Dice, number: int) -> float:
    """What tiers prove beside one with this number of throws that are surely made, about."""
    respondents, mains = iid_sum(problem).respondents, [tier[0] for tier in dice.tiers]
    each = [(die.number, float(chance_of(respondents, die)), 1 + BY_HOLDERS * (die.number / number - 1)) for die in mains]
    return in_tiers(each) - sum(1 - float(chance_of(respondents, die)) for die in dice.tiers[0][1:])


def taking(problem: Problem, dice: Dice, hands: int = 1) -> float:
    """A guess of the seconds that multipliers take, so many tiers at once."""
    slower = pace() * max(float(problem.epsilon), 1.0) ** (SLOWER_ON_WINDOWS if dice.many else SLOWER)
    turns = ceil(len(dice.tiers) / hands)
    if dice.many:
        each = float((_edges(dice.tiers) ** DICE_EDGE_POWER).mean())
        return SECONDS_PER_DICE_EDGE * slower * each * turns
    return SECONDS_PER_DICE_PAIR * slower * dice.counts * turns * dice.states**2


def _edges(tiers: Sequence[tuple[TypeDie, ...]]) -> Floats:
    """About how many edges the likely states of each tier have: those of three are counted."""
    numbers = [tier[0].number for tier in tiers]
    some = sorted({0, len(tiers) // 2, len(tiers) - 1})
    counted = [_likely_graph(tiers[k], LEFT_OUT_OF_MANY)[1] for k in some]
    return np.asarray(np.interp(numbers, [numbers[k] for k in some], counted))


def _size(tiers: Sequence[tuple[TypeDie, ...]]) -> int:
    return sum(states_of(dice) ** 2 for dice in tiers)


def states_of(dice: tuple[TypeDie, ...]) -> int:
    """How many states there are in the windows."""
    return prod(last - first + 1 for die in dice for first, last in die.counts)


def in_tiers_of(law: IidSum, dice: tuple[TypeDie, ...], count: int, windows: bool = False) -> Dice:
    """The same dice in so many tiers; actions may have windows."""
    main, mean = dice[0], law.respondents * float(dice[0].share)
    numbers = {floor(mean * (1 + each * _varying(law, main))) for each in TIERS[count]}
    room = MOST_STATES // states_of(dice[1:])
    thrown = [_thrown(main, min(number, law.respondents, MOST_HOLDERS), room) for number in sorted(numbers)]
    tiers = tuple((die, *dice[1:]) for die in dict.fromkeys(thrown) if die is not None)
    states = _likely_states(dice, LEFT_OUT)
    many = windows and states > FEW_STATES
    return Dice(tiers or (dice,), _likely_states(dice, LEFT_OUT_OF_MANY) if many else states, many)


def _varying(law: IidSum, die: TypeDie) -> float:
    """The standard deviation of the number of holders, in parts of the mean."""
    return sqrt(float(1 - die.share) / (law.respondents * float(die.share)))


def _dice(law: IidSum, base: int, faces: list[int], alone: list[int]) -> tuple[TypeDie, ...] | None:
    """With the mean number of throws."""
    p, types = law.probabilities, law.types
    shares = [min(p[t], Fraction(ALONE, 2 * law.respondents)) for t in alone]
    main = (p[base] - sum(shares, Fraction(0)), *(p[t] for t in faces))
    if main[0] <= 0 or not 1 <= len(faces) <= MOST_COUNTS - len(alone):
        return None
    number = min(floor(law.respondents * sum(main, Fraction(0))), MOST_HOLDERS)
    blank = TypeDie((types[base], *(types[t] for t in faces)), main, 0, ((0, 0),) * len(faces))
    die = _thrown(blank, number, MOST_STATES >> len(alone))
    singles = (coin(types[base], types[t], 2 * part, 1, 0, 1) for t, part in zip(alone, shares, strict=True))
    return None if die is None else (die, *singles)


def _thrown(die: TypeDie, number: int, most: int = MOST_STATES) -> TypeDie | None:
    """The die thrown so often, with windows of likely counts that come to so many states; None where nothing is left."""
    if number < 1:
        return None
    laws = [binomial_below(number, share / die.share) for share in die.shares[1:]]
    windows = [_window(first, masses) for first, masses in laws]
    while prod(last - first + 1 for first, last in windows) > most:
        open_ = [k for k, (first, last) in enumerate(windows) if last > first]
        if not open_:
            return None
        k = min(open_, key=lambda k: float(laws[k][1][windows[k][1] - laws[k][0]]))  # the top count that is least likely
        windows[k] = windows[k][0], windows[k][1] - 1
    return replace(die, number=number, counts=tuple(windows))


def _window(first: int, masses: Floats) -> tuple[int, int]:
    """The likely counts of a law that begins at the first."""
    below = np.cumsum(masses)
    low = int(np.searchsorted(below, TAIL))
    return first + low, first + min(max(low, int(np.searchsorted(below, 1 - TAIL))), len(masses) - 1)


def _likely_states(dice: tuple[TypeDie, ...], left_out: float) -> int:
    """About how many states of the windows are solved for."""
    return _likely_graph(dice, left_out)[0]


@lru_cache(maxsize=1_000)
def _likely_graph(dice: tuple[TypeDie, ...], left_out: float) -> tuple[int, int]:
    """About how many states of the windows are solved for, and edges between them."""
    logs, others = np.zeros(()), np.zeros((), dtype=np.int64)
    for (first, last), share in zip(dice[0].counts, dice[0].shares[1:], strict=True):
        odds = log(share / dice[0].shares[0])
        logs = np.add.outer(logs, np.array([x * odds - lgamma(x + 1) for x in range(first, last + 1)]))
        others = np.add.outer(others, np.arange(first, last + 1))
    left = np.array([lgamma(k + 1) for k in range(dice[0].number + 1)] + [np.inf])
    logs = logs - left[np.maximum(dice[0].number - others, -1)]  # more than all cannot be: the last one
    inside = np.zeros(logs.size, dtype=bool)
    inside[likely(np.exp(logs - logs.max()).ravel(), left_out)] = True
    alone = tuple(last - first + 1 for die in dice[1:] for first, last in die.counts)
    states = np.broadcast_to(inside.reshape(logs.shape + (1,) * len(alone)), logs.shape + alone)
    edges = 0
    for move in moves_of(ends_of(dice)):
        here = tuple(slice(max(-d, 0), size - max(d, 0)) for d, size in zip(move, states.shape, strict=True))
        there = tuple(slice(max(d, 0), size - max(-d, 0)) for d, size in zip(move, states.shape, strict=True))
        edges += int((states[here] & states[there]).sum())
    return int(states.sum()), edges // 2


def dice_bound(problem: Problem, dice: Dice, seconds: float, watch: Watch = SILENT) -> tuple[float, CoinsWitness]:
    """What dice prove in tiers within the time; those that there is no time for are left out, the first aside."""
    law, parts, guess = iid_sum(problem), [(problem, tier, *dice.nearness) for tier in dice.tiers], taking(problem, dice)
    each_found = shared_out(_solved, parts, watch, seconds, "tier", hands=hands_for(seconds), guess=guess / len(parts))
    mains = [tier[0] for tier, one in zip(dice.tiers, each_found, strict=True) if one is not None]
    found = [one for one in each_found if one is not None]
    each = [(die.number, float(chance_of(law.respondents, die)), bound) for die, (bound, _, _) in zip(mains, found, strict=True)]
    missed = sum(1 - float(chance_of(law.respondents, die)) for die in dice.tiers[0][1:])
    tiers = [CoinsTier(die.number, die.counts, scale, all_) for die, (_, scale, all_) in zip(mains, found, strict=True)]
    proved = in_tiers(each) - missed * max(bound for bound, _, _ in found)
    return max(proved, 0.0), CoinsWitness(dice.tiers[0], tiers[0].scale, tiers[0].multipliers, tuple(tiers[1:]))


def _solved(part: tuple[Problem, tuple[TypeDie, ...], float, float], watch: Watch) -> Solved:
    return solved(*part, watch)


def _tried(part: tuple[Problem, tuple[TypeDie, ...]], watch: Watch) -> float:
    """What dice prove roughly, as if enough held them."""
    with in_passing():
        return solved(*part, LEFT_OUT_OF_TRIALS, TRIAL_GAP, watch)[0]
