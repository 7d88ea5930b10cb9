"""Proposing dice, in tiers: nearly everybody holds one between the likeliest type and the farthest ones (`certify.bounds.coins`).

The other types are told, but for a few respondents who throw a die of their own between the likeliest type and one or two between.
How many hold the first die is known to everybody: a number of throws that is nearly always reached is too small in the mean, so
that the far types are too rare. So there is a program for each of several numbers, the more the wider the number of holders varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from math import ceil, floor, lgamma, log, prod, sqrt

import numpy as np

from discreet.certify.bounds.chain import binomial_below
from discreet.certify.bounds.coins import MOST_BITS, bits_of, chance_of, ends_of, in_tiers
from discreet.certify.bounds.counts import MOST_COUNTS, MOST_STATES, moves_of
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.coins import MOST_HOLDERS, best_pair
from discreet.design.ladder.bounds.counts import FEW_STATES, ROUGHLY, Solved, likely, solved
from discreet.design.ladder.bounds.far import BY_HOLDERS, TIERS, apart, farthest, numbers_of
from discreet.design.pace import pace
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import EDGES_POWER, SECONDS_ON_WINDOWS, SECONDS_PER_DICE_PAIR, STATES_POWER, now, time_left
from discreet.design.solver.program import Floats
from discreet.frozen import dataclass
from discreet.model.actions import RealActions
from discreet.model.certificate import CoinsTier, CoinsWitness, TypeDie, Witness
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

FIRST_TIERS, NARROW = 3, 0.02
"""So many programs come before a larger one, or two where the number of holders varies by less than this share of it."""
TAIL = 5e-5
"""What a window of counts leaves out at each end."""
HOLDERS, FEWEST_ALONE = {1: 8, 2: 12, 3: 15}, 5
"""Respondents who hold a small die, by how many of them throw it, in the mean, and not fewer."""
SURELY = 0.97
"""Enough of them with this probability at least."""
MOST_TOSSED = 6
"""Counts, of which some are of coins: all types that can are tossed where there are no more."""
HALFWAY = Fraction(9, 20)
"""Where the types between lie that are best tossed by one alone, as a share of the farthest step."""
THIRD, FIFTH = Fraction(3, 10), Fraction(1, 5)
"""Where else they may lie."""
FEWER_FACES, MORE_FACES = 2, 3
"""So many far types less, and more, are looked at."""
FEWER = 3
"""A program with so many times fewer states comes first."""
MANY_STEPS = 1.5
"""Above this ε the steps of all types matter: as many as possible are tossed, by one respondent at least."""
SLOWER, SLOWER_ON_WINDOWS = 1.2, 0.6
"""The power of ε, above one, that the time grows with: more actions matter, each on fewer states where it has a window."""
ALL_TRIALS, FIRST_TRIALS, TRIED, LONGER = 0.15, 0.05, 0.03, 3.0
"""The share of the time for trials of dice whose actions have windows, for the first ones and for one of them; how many times its
share one may take where the others leave it."""
FACES_NEAR = 0.95
"""Far types that promise nearly as much as the best ones are tried with all that may be thrown beside them."""
MISSED = 4
"""So many dice that do not fit in the time are looked at before those with more states are not."""
FIRST_SHARE = 0.1
"""A die that takes no more of the time comes before the best one."""
LATER, CUT_OFF = 1.15, 1.5
"""How many times its share of the time a tier may take, and longer than it had it would have taken, at least, if it was cut off."""
NEARER = 1.045
"""How much more is proved than a trial promises."""


@dataclass(frozen=True)
class Fineness:
    """The share of the states that programs leave out, their gap, what is kept of what all states prove, and how much slower."""

    left_out: float
    gap: float
    kept: float = 1.0
    slower: float = 1.0


ALL_STATES = Fineness(1e-3, 2e-3)
FINENESSES = (
    Fineness(1e-2, 4e-3, 0.96),
    Fineness(3e-3, 4e-3, 0.98),
    Fineness(1e-3, 4e-3, 0.9885),
    Fineness(4e-4, 4e-3, 0.9925),
    Fineness(2e-4, 4e-3, 0.9945),
    Fineness(5e-5, 4e-3, 0.9965),
    Fineness(2e-5, ROUGHLY, 0.9985, 1.35),
    Fineness(5e-6, ROUGHLY, 0.999, 1.35),
)
ON_WINDOWS = FINENESSES[2], FINENESSES[4], FINENESSES[6]
"""Those that are planned with."""
TRIAL = Fineness(1e-2, 1e-2, 0.99, 0.4)


@dataclass(frozen=True)
class Dice:
    """The same dice in tiers, the first thrown less or more often, about how many states each has, and how near they are solved."""

    tiers: tuple[tuple[TypeDie, ...], ...]
    states: int
    fineness: Fineness = ALL_STATES
    many: bool = False
    """Whether actions have windows."""

    @property
    def counts(self) -> int:
        """How many types but the likeliest are not told."""
        return sum(len(die.counts) for die in self.tiers[0])

    @property
    def middle(self) -> tuple[TypeDie, ...]:
        """The dice as they are thrown in the middle tier."""
        return self.tiers[len(self.tiers) // 2]


Small = tuple[tuple[int, ...], int]
"""The types between of a small die, and how many throw it."""


def why_no_coins(problem: Problem) -> str | None:
    """Why neither coins nor dice bound anything here, in words; the conditions of the theorem aside."""
    law = iid_sum(problem)
    if len(set(law.values)) < 3:
        return "two values are what a chain is for"
    several = best_pair(law, float(problem.epsilon), MOST_HOLDERS) or dice_of(problem)
    return None if several else "too few respondents differ from each other"


def dice_of(problem: Problem) -> list[tuple[TypeDie, ...]]:
    """A die between the likeliest type and those farthest from it on one side, and small ones beside it; fewest states first.

    How many types are far follows from what is hidden of their number, beside noise for their step; a few more may be better.
    """
    law, (base, beyond, far) = iid_sum(problem), farthest(problem)
    if not far:
        return []
    found = []
    for faces in (beyond[: far + more] for more in range(max(-FEWER_FACES, 1 - far), MORE_FACES + 1)):
        inner = [t for t in beyond if t not in faces and law.respondents * 2 * law.probabilities[t] >= FEWEST_ALONE]
        for small in _between(law, base, beyond[0], inner, MOST_TOSSED - len(faces), in_windows(problem)):
            dice = _dice(law, base, faces, small)
            if dice is not None and 1 < states_of(dice) <= MOST_STATES and max(map(bits_of, dice)) <= MOST_BITS:
                found.append(dice)
    return sorted(dict.fromkeys(found), key=states_of)


def _between(law: IidSum, base: int, farthest: int, inner: list[int], most: int, tried: bool) -> list[tuple[Small, ...]]:
    """What may be thrown beside the die of far types: nothing, coins of one, two or as many types as can be, and where dice are
    `tried` coins that several toss and dice with two types."""

    def nearest(part: Fraction) -> list[int]:
        return sorted(inner, key=lambda t: (abs(apart(law, base, t) - part * apart(law, base, farthest)), apart(law, base, t)))

    halfway = nearest(HALFWAY)
    several = sorted({min(each, len(inner)) for each in (0, 1, 2, most) if each >= 0})
    found: list[tuple[Small, ...]] = [tuple(((t,), 1) for t in halfway[:each]) for each in several]
    if tried and inner:
        for t in dict.fromkeys(nearest(part)[0] for part in (HALFWAY, THIRD, FIFTH)):
            found += [(((t,), thrown),) for thrown in HOLDERS]
        for first in dict.fromkeys(nearest(part)[0] for part in (THIRD, FIFTH)):
            further = [t for t in halfway if apart(law, base, t) > apart(law, base, first)]
            found += [(((first, further[0]), thrown),) for thrown in HOLDERS if thrown < 3 and further]
    return list(dict.fromkeys(found))


def in_windows(problem: Problem) -> bool:
    """Whether actions have windows where states are many: then dice are tried."""
    return isinstance(problem.decision.loss, SquaredLoss) and isinstance(problem.decision.actions, RealActions)


def dice_within(problem: Problem, seconds: float, held: Witness | None = None) -> list[Dice]:
    """Dice that are solved in about so many seconds, none that are old: all that may be tried, in the tiers that prove most.

    Where none is tried, those with the most states that fit, after some with fewer; at large ε half of the time is for those that
    leave most types unknown.
    """
    law, epsilon, hands = iid_sum(problem), float(problem.epsilon), hands_for(seconds)
    known = _size([dice for dice, _, _ in held.each]) if isinstance(held, CoinsWitness) else 0
    if in_windows(problem):
        found, missed = [], 0
        for dice in dice_of(problem):
            fitting = _in_tiers(problem, dice, (1 - ALL_TRIALS) * seconds, hands)
            found += [one for one in fitting if _size(one.tiers) > known]
            missed += not fitting
            if missed > MISSED:
                break
        return found
    each = []
    for dice in dice_of(problem):
        first = FIRST_TIERS if _varying(law, dice[0]) > NARROW else 2
        each.append([in_tiers_of(law, dice, count) for count in TIERS if count >= first])

    def fitting_in(within: float) -> list[Dice]:
        new = ([one for one in tiers if taking(problem, one, hands) <= within and _size(one.tiers) > known] for tiers in each)
        return sorted((tiers[-1] for tiers in new if tiers), key=lambda one: one.states)

    chosen: list[Dice] = []
    if epsilon > MANY_STEPS:
        chosen += sorted(fitting_in(seconds / 2), key=lambda one: (one.counts, one.states))[-1:]
    chosen += fitting_in(seconds - sum(taking(problem, one, hands) for one in chosen))[-1:]
    chosen = list({one.states: one for one in chosen}.values())  # of the same dice those in more tiers
    few = [one for one in fitting_in(seconds) if FEWER * one.states <= chosen[0].states] if chosen else []
    return few[-1:] + chosen


def _in_tiers(problem: Problem, dice: tuple[TypeDie, ...], seconds: float, hands: int) -> list[Dice]:
    """The dice in the tiers, and as near, as they prove most in the time; nothing where nothing fits."""
    law, best, most = iid_sum(problem), [], 0.0
    for fineness in ON_WINDOWS:
        for count in TIERS:
            one = in_tiers_of(law, dice, count, fineness)
            if taking(problem, one, hands) > seconds:
                break
            worth = one.fineness.kept * in_numbers(problem, one, dice[0].number)
            if worth > most:
                best, most = [one], worth
    return best


def promising(problem: Problem, dice: Sequence[Dice], seconds: float, watch: Watch = SILENT) -> tuple[list[Dice], float]:
    """Of dice that are tried those alone that promise most, after one that takes little, and how much; others as they are.

    Far types are chosen by dice with one coin, then what is thrown beside them; each is tried with one number of holders, roughly.
    """
    if not in_windows(problem) or len(dice) < 2:
        return list(dice), 0.0
    trials = {one: _trial(problem, one) for one in dice}
    of_faces: dict[tuple[int, ...], list[Dice]] = {}
    for one in dice:
        if trials[one] <= TRIED * seconds:
            of_faces.setdefault(one.tiers[0][0].faces, []).append(one)
    promises: dict[Dice, float] = {}
    typical = [min(some, key=lambda one: abs(one.counts - len(faces))) for faces, some in of_faces.items()]
    _try(problem, typical, trials, FIRST_TRIALS * seconds, promises, watch)
    best = max(promises.values(), default=0.0)
    near = [one.tiers[0][0].faces for one in promises if promises[one] >= FACES_NEAR * best]
    further = [one for faces in near for one in of_faces[faces] if one not in promises]
    _try(problem, further, trials, (ALL_TRIALS - FIRST_TRIALS) * seconds, promises, watch)
    if not promises:
        return list(dice[-1:]), 0.0
    chosen = max(promises, key=lambda one: promises[one])
    hands = hands_for(seconds)
    first = [one for one in promises if one is not chosen and taking(problem, one, hands) <= FIRST_SHARE * seconds]
    return [*sorted(first, key=lambda one: promises[one])[-1:], chosen], NEARER * promises[chosen]


def _trial(problem: Problem, dice: Dice) -> float:
    """A guess of the seconds that a trial takes."""
    return taking(problem, Dice((dice.middle,), _likely_states(dice.middle, TRIAL.left_out), TRIAL, dice.many))


def _try(
    problem: Problem, dice: Sequence[Dice], trials: dict[Dice, float], seconds: float, promises: dict[Dice, float], watch: Watch
) -> None:
    """What dice promise, by the middle tier of each, as many as there is time for: those that take least."""
    hands, tried = hands_for(seconds), sorted(dice, key=lambda one: trials[one])
    left = hands * seconds
    for place, one in enumerate(tried):
        left -= trials[one]
        if left < 0:
            tried = tried[:place]
            break
    if not tried:
        return
    parts, guess = [(problem, one.middle) for one in tried], max(trials[one] for one in tried)
    losses = shared_out(_tried, parts, watch, seconds, "trial", hands=hands, guess=guess, longer=LONGER)
    for one, loss in zip(tried, losses, strict=True):
        if loss is not None:
            promises[one] = loss / TRIAL.kept * one.fineness.kept * in_numbers(problem, one, one.middle[0].number)


def in_numbers(problem: Problem, dice: Dice, number: int) -> float:
    """What tiers prove beside one with this number of throws that are surely made, about."""
    respondents, mains = iid_sum(problem).respondents, [tier[0] for tier in dice.tiers]
    each = [(die.number, float(chance_of(respondents, die)), 1 + BY_HOLDERS * (die.number / number - 1)) for die in mains]
    return in_tiers(each) - sum(1 - float(chance_of(respondents, die)) for die in dice.tiers[0][1:])


def taking(problem: Problem, dice: Dice, hands: int = 1) -> float:
    """A guess of the seconds that multipliers take, so many tiers at once."""
    slower = pace() * max(float(problem.epsilon), 1.0) ** (SLOWER_ON_WINDOWS if dice.many else SLOWER) * dice.fineness.slower
    turns = ceil(len(dice.tiers) / hands)
    if dice.many:
        states, edges = _likely_graph(dice.middle, dice.fineness.left_out)
        return SECONDS_ON_WINDOWS * slower * states**STATES_POWER * edges**EDGES_POWER * turns
    return SECONDS_PER_DICE_PAIR * slower * dice.counts * turns * dice.states**2


def _size(tiers: Sequence[tuple[TypeDie, ...]]) -> int:
    return sum(states_of(dice) ** 2 for dice in tiers)


def states_of(dice: tuple[TypeDie, ...]) -> int:
    """How many states there are in the windows."""
    return prod(last - first + 1 for die in dice for first, last in die.counts)


def in_tiers_of(law: IidSum, dice: tuple[TypeDie, ...], count: int, fineness: Fineness = ALL_STATES) -> Dice:
    """The same dice in so many tiers, with actions on windows where states are many unless all states are looked at."""
    numbers = numbers_of(law.respondents, dice[0].share, MOST_HOLDERS, count)
    room = MOST_STATES // states_of(dice[1:])
    thrown = [_thrown(dice[0], min(number, law.respondents), room) for number in numbers]
    tiers = tuple((die, *dice[1:]) for die in dict.fromkeys(thrown) if die is not None) or (dice,)
    states = _likely_states(dice, fineness.left_out)
    if fineness is ALL_STATES or states <= FEW_STATES:
        return Dice(tiers, _likely_states(dice, ALL_STATES.left_out))
    return Dice(tiers, states, fineness, True)


def _varying(law: IidSum, die: TypeDie) -> float:
    """The standard deviation of the number of holders, in parts of the mean."""
    return sqrt(float(1 - die.share) / (law.respondents * float(die.share)))


def _dice(law: IidSum, base: int, faces: list[int], small: tuple[Small, ...]) -> tuple[TypeDie, ...] | None:
    """With the mean number of throws."""
    p, types = law.probabilities, law.types
    others, beside = [], Fraction(0)
    for between, thrown in small:
        share = min(Fraction(HOLDERS[thrown], law.respondents * (len(between) + 1)), *(p[t] for t in between))
        shares, windows = (share,) * (len(between) + 1), ((0, thrown),) * len(between)
        if law.respondents * sum(shares) < thrown:
            return None
        others.append(TypeDie((types[base], *(types[t] for t in between)), shares, thrown, windows))
        beside += share
    main = (p[base] - beside, *(p[t] for t in faces))
    counts = len(faces) + sum(len(die.counts) for die in others)
    if main[0] <= 0 or not 1 <= len(faces) <= counts <= MOST_COUNTS:
        return None
    if sum(1 - float(chance_of(law.respondents, die)) for die in others) > 1 - SURELY:
        return None
    number = min(floor(law.respondents * sum(main, Fraction(0))), MOST_HOLDERS)
    blank = TypeDie((types[base], *(types[t] for t in faces)), main, 0, ((0, 0),) * len(faces))
    die = _thrown(blank, number, MOST_STATES // states_of(tuple(others)))
    return None if die is None else (die, *others)


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


@lru_cache(maxsize=2_000)
def _likely_graph(dice: tuple[TypeDie, ...], left_out: float) -> tuple[int, int]:
    """About how many states of the windows are solved for, and edges between them."""
    logs: Floats = reduce(_together, map(_logs, dice))
    kept = np.zeros(logs.size, dtype=bool)
    kept[likely(np.exp(logs - logs.max()).ravel(), left_out)] = True
    states = np.broadcast_to(kept.reshape(logs.shape), logs.shape)
    edges = 0
    for move in moves_of(ends_of(dice)):
        here = tuple(slice(max(-d, 0), size - max(d, 0)) for d, size in zip(move, states.shape, strict=True))
        there = tuple(slice(max(d, 0), size - max(-d, 0)) for d, size in zip(move, states.shape, strict=True))
        edges += int((states[here] & states[there]).sum())
    return int(states.sum()), edges // 2


def _together(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.add.outer(one, other))


def _logs(die: TypeDie) -> Floats:
    """Logarithms of the probabilities of the counts in its windows, but for one number that they have in common."""
    logs, others = np.zeros(()), np.zeros((), dtype=np.int64)
    for (first, last), share in zip(die.counts, die.shares[1:], strict=True):
        odds = log(share / die.shares[0])
        logs = np.add.outer(logs, np.array([x * odds - lgamma(x + 1) for x in range(first, last + 1)]))
        others = np.add.outer(others, np.arange(first, last + 1))
    left = np.array([lgamma(k + 1) for k in range(die.number + 1)] + [np.inf])
    return np.asarray(logs - left[np.maximum(die.number - others, -1)])  # more than all cannot be: the last one


def dice_bound(problem: Problem, dice: Dice, seconds: float, watch: Watch = SILENT) -> tuple[float, CoinsWitness]:
    """What dice prove in tiers within the time; those that there is no time for are left out, the first aside."""
    law, guess = iid_sum(problem), taking(problem, dice) / len(dice.tiers)
    parts = [(problem, replace(dice, tiers=(tier,))) for tier in dice.tiers]
    _seen.clear()
    hands = hands_for(seconds)
    each_found = shared_out(_in_time, parts, watch, seconds, "tier", hands=hands, guess=guess, longer=LATER)
    mains = [tier[0] for tier, one in zip(dice.tiers, each_found, strict=True) if one is not None]
    found = [one for one in each_found if one is not None]
    each = [(die.number, float(chance_of(law.respondents, die)), bound) for die, (bound, _, _) in zip(mains, found, strict=True)]
    missed = sum(1 - float(chance_of(law.respondents, die)) for die in dice.tiers[0][1:])
    tiers = [CoinsTier(die.number, die.counts, scale, all_) for die, (_, scale, all_) in zip(mains, found, strict=True)]
    proved = in_tiers(each) - missed * max(bound for bound, _, _ in found)
    return max(proved, 0.0), CoinsWitness(dice.tiers[0], tiers[0].scale, tiers[0].multipliers, tuple(tiers[1:]))


_seen: dict[tuple[tuple[tuple[int, ...], int], ...], float] = {}
"""How many times longer than guessed the tier took that was last solved by this process, by what is thrown in it."""


def _in_time(part: tuple[Problem, Dice], until: Watch) -> Solved:
    """What a tier proves and its multipliers, as near as the time allows by what the one before took beside its guess."""
    (problem, dice), began = part, now()
    thrown = (dice.tiers[0][0].faces, 0), *((die.faces, die.number) for die in dice.tiers[0][1:])
    seen = _seen.get(thrown)
    if dice.many and seen is not None:
        each = [replace(dice, fineness=fineness) for fineness in (*FINENESSES, dice.fineness)]
        fitting = [one for one in each if seen * taking(problem, one) <= time_left(until) / LATER]
        dice = max(fitting or each[:1], key=lambda one: (one.fineness.kept, one.fineness.slower))
    found = solved(problem, dice.tiers[0], dice.fineness.left_out, dice.fineness.gap, until)
    took = now() - began
    if took > 0:
        _seen[thrown] = took / taking(problem, dice) * (CUT_OFF if until.cancelled() else 1.0)
    return found


def _tried(part: tuple[Problem, tuple[TypeDie, ...]], watch: Watch) -> float:
    """What dice prove roughly, as if enough held them."""
    with in_passing():
        return solved(*part, TRIAL.left_out, TRIAL.gap, watch)[0]
