"""Proposing dice, in tiers: nearly everybody holds one between the likeliest type and the farthest ones (`certify.bounds.coins`).

The other types are told, but for a few respondents who throw a die of their own between the likeliest type and one or two between.
How many hold the first die is known to everybody: a number of throws that is nearly always reached is too small in the mean, so
that the far types are too rare. So there is a program for each of several numbers, the more the wider the number of holders varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt

from discreet.certify.bounds.coins import chance_of, in_tiers
from discreet.certify.bounds.counts import MOST_STATES
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.coins import MOST_HOLDERS, best_pair
from discreet.design.ladder.bounds.counts import FEW_STATES, ROUGHLY, Solved, solved
from discreet.design.ladder.bounds.far import BY_HOLDERS, TIERS, numbers_of
from discreet.design.ladder.bounds.throws import (
    dice_of,
    in_windows,
    likely_graph,
    likely_states,
    states_of,
    thrown_so_often,
    varying,
)
from discreet.design.pace import pace
from discreet.design.program.thin_witness import in_passing
from discreet.design.schedule import EDGES_POWER, SECONDS_ON_WINDOWS, SECONDS_PER_DICE_PAIR, STATES_POWER, Until, now, time_left
from discreet.frozen import dataclass
from discreet.model.certificate import CoinsTier, CoinsWitness, TypeDie, Witness
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

FIRST_TIERS, NARROW = 3, 0.02
"""So many programs come before a larger one, or two where the number of holders varies by less than this share of it."""
FEWER = 3
"""A program with so many times fewer states comes first."""
MANY_STEPS = 1.5
"""Above this ε the steps of all types matter: as many as possible are tossed, by one respondent at least."""
SLOWER, SLOWER_ON_WINDOWS = 1.2, 0.6
"""The power of ε, above one, that the time grows with: more actions matter, each on fewer states where it has a window."""
ALL_TRIALS, FIRST_TRIALS, TRIED, SURE, AROUND = 0.15, 0.07, 0.04, 1.5, 0.1
"""The share of the time for trials of dice whose actions have windows, for the first ones and for one; how many times its guess,
and seconds more, one of the first must have."""
CUT = 0.15
"""A trial that has no more time left than this share of what it took was cut off: no step fitted any more."""
FACES_NEAR = 0.95
"""Far types that promise nearly as much as the best ones are tried with all that may be thrown beside them."""
MISSED = 4
"""So many dice that do not fit in the time are looked at before those with more states are not."""
LATER, CUT_OFF, SELDOM = 3.0, 1.5, 0.01
"""How many times its share of the time a tier may take, and longer than it had it would have taken, at least, if it was cut off;
how often a tier counts, at least, when shares are made."""
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
    def faces(self) -> tuple[int, ...]:
        """The likeliest type and the far ones."""
        return self.tiers[0][0].faces

    @property
    def middle(self) -> tuple[TypeDie, ...]:
        """The dice as they are thrown in the middle tier."""
        return self.tiers[len(self.tiers) // 2]


def why_no_coins(problem: Problem) -> str | None:
    """Why neither coins nor dice bound anything here, in words; the conditions of the theorem aside."""
    law = iid_sum(problem)
    if len(set(law.values)) < 3:
        return "two values are what a chain is for"
    several = best_pair(law, float(problem.epsilon), MOST_HOLDERS) or dice_of(problem)
    return None if several else "too few respondents differ from each other"


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
        first = FIRST_TIERS if varying(law, dice[0]) > NARROW else 2
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
    for count in TIERS:
        coarse = in_tiers_of(law, dice, count, ON_WINDOWS[0])
        finer = [Dice(coarse.tiers, *_solved_as(dice, fineness)) for fineness in ON_WINDOWS[1:]]
        fitting = [one for one in (coarse, *finer) if taking(problem, one, hands) <= seconds]
        if not fitting:
            break
        share = in_numbers(problem, coarse, dice[0].number)
        for one in fitting:
            if one.fineness.kept * share > most:
                best, most = [one], one.fineness.kept * share
    return best


def promising(problem: Problem, dice: Sequence[Dice], seconds: float, watch: Watch = SILENT) -> tuple[list[Dice], float]:
    """Of dice that are tried those alone that promise most, and how much; others as they are.

    Far types are chosen by dice with one coin, then what is thrown beside them; each is tried with one number of holders, roughly.
    Where there is no time for the first trials dice are taken untried, and promise nothing.
    """
    if not in_windows(problem) or len(dice) < 2:
        return list(dice), 0.0
    trials = {one: _trial(problem, one) for one in dice}
    affordable = [one for one in dice if trials[one] <= TRIED * seconds]
    typical = sorted(_by_faces(affordable).values(), key=lambda one: trials[one])
    while typical and sum(SURE * trials[one] + AROUND for one in typical) > hands_for(seconds) * FIRST_TRIALS * seconds:
        typical.pop()
    if len(typical) < 2:
        return _untried(list(_by_faces(dice).values())), 0.0
    promises: dict[Dice, float] = {}
    _try(problem, typical, trials, FIRST_TRIALS * seconds, promises, watch)
    if len(promises) < 2:
        return _untried(typical), 0.0
    best = max(promises.values())
    near = [one.faces for one in promises if promises[one] >= FACES_NEAR * best]
    further = [one for one in affordable if one.faces in near and one not in promises]
    _try(problem, further, trials, (ALL_TRIALS - FIRST_TRIALS) * seconds, promises, watch)
    chosen = max(promises, key=lambda one: promises[one])
    return [chosen], NEARER * promises[chosen]


def _by_faces(dice: Sequence[Dice]) -> dict[tuple[int, ...], Dice]:
    """Of each choice of far types the dice with one coin, or those nearest to that."""
    found: dict[tuple[int, ...], Dice] = {}
    for one in dice:
        found[one.faces] = min((found.get(one.faces, one), one), key=lambda each: abs(each.counts - len(each.faces)))
    return found


def _untried(dice: Sequence[Dice]) -> list[Dice]:
    """Those with the most states in a few tiers, after some with far fewer."""
    tiered = [one for one in dice if len(one.tiers) >= FIRST_TIERS] or dice
    chosen = max(tiered, key=lambda one: one.states)
    few = [one for one in tiered if FEWER * one.states <= chosen.states]
    return [*sorted(few, key=lambda one: one.states)[-1:], chosen]


def _trial(problem: Problem, dice: Dice) -> float:
    """A guess of the seconds that a trial takes."""
    return taking(problem, Dice((dice.middle,), likely_states(dice.middle, TRIAL.left_out), TRIAL, dice.many))


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
    parts, guess = [(problem, one.middle) for one in tried], sum(trials[one] for one in tried) / len(tried)
    losses = shared_out(_tried, parts, watch, seconds, "trial", hands=hands, guess=guess, longer=len(parts))
    for one, loss in zip(tried, losses, strict=True):
        if loss:
            promises[one] = loss / TRIAL.kept * one.fineness.kept * in_numbers(problem, one, one.middle[0].number)


def by_middle_tier(problem: Problem, dice: Dice, given: float, watch: Watch) -> float:
    """What dice prove by the program of their middle tier in so much time, about; 0 where that was cut off."""
    with in_passing():
        found = solved(problem, dice.middle, dice.fineness.left_out, dice.fineness.gap, Until.after(given, watch))[0]
    return 0.0 if watch.cancelled() else found * in_numbers(problem, dice, dice.middle[0].number)


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
        states, edges = likely_graph(dice.middle, dice.fineness.left_out)
        return SECONDS_ON_WINDOWS * slower * states**STATES_POWER * edges**EDGES_POWER * turns
    return SECONDS_PER_DICE_PAIR * slower * dice.counts * turns * dice.states**2


def _size(tiers: Sequence[tuple[TypeDie, ...]]) -> int:
    return sum(states_of(dice) ** 2 for dice in tiers)


def in_tiers_of(law: IidSum, dice: tuple[TypeDie, ...], count: int, fineness: Fineness = ALL_STATES) -> Dice:
    """The same dice in so many tiers, with actions on windows where states are many unless all states are looked at."""
    numbers = numbers_of(law.respondents, dice[0].share, MOST_HOLDERS, count)
    room = MOST_STATES // states_of(dice[1:])
    thrown = [thrown_so_often(dice[0], min(number, law.respondents), room) for number in numbers]
    tiers = tuple((die, *dice[1:]) for die in dict.fromkeys(thrown) if die is not None) or (dice,)
    return Dice(tiers, *_solved_as(dice, fineness))


def _solved_as(dice: tuple[TypeDie, ...], fineness: Fineness) -> tuple[int, Fineness, bool]:
    """How many states there are, how near they are solved, and whether actions have windows: where states are many."""
    states = likely_states(dice, fineness.left_out)
    if fineness is ALL_STATES or states <= FEW_STATES:
        return likely_states(dice, ALL_STATES.left_out), ALL_STATES, False
    return states, fineness, True


def dice_bound(problem: Problem, dice: Dice, seconds: float, watch: Watch = SILENT) -> tuple[float, CoinsWitness]:
    """What dice prove in tiers within the time; those that there is no time for are left out, the first aside."""
    law, hands, ones = iid_sum(problem), hands_for(seconds), [replace(dice, tiers=(tier,)) for tier in dice.tiers]
    parts = [(problem, one, share) for one, share in zip(ones, _shares(problem, ones, hands), strict=True)]
    guess = taking(problem, dice) / len(dice.tiers)
    _seen.clear()
    each_found = shared_out(_in_time, parts, watch, seconds, "tier", hands=hands, guess=guess, longer=len(parts))
    mains = [tier[0] for tier, one in zip(dice.tiers, each_found, strict=True) if one is not None]
    found = [one for one in each_found if one is not None]
    each = [(die.number, float(chance_of(law.respondents, die)), bound) for die, (bound, _, _) in zip(mains, found, strict=True)]
    missed = sum(1 - float(chance_of(law.respondents, die)) for die in dice.tiers[0][1:])
    tiers = [CoinsTier(die.number, die.counts, scale, all_) for die, (_, scale, all_) in zip(mains, found, strict=True)]
    proved = in_tiers(each) - missed * max(bound for bound, _, _ in found)
    return max(proved, 0.0), CoinsWitness(dice.tiers[0], tiers[0].scale, tiers[0].multipliers, tuple(tiers[1:]))


def _shares(problem: Problem, ones: Sequence[Dice], hands: int) -> list[float]:
    """Of the time that is left when it begins, what a tier may take: the more, the slower it is and the oftener it counts.

    What is missing falls about as the time that a tier has beside its guess, to the power 5/4: so the roots of both decide.
    """
    chances = [float(chance_of(iid_sum(problem).respondents, one.tiers[0][0])) for one in ones]
    counts = [max(chance - above, SELDOM) for chance, above in zip(chances, [*chances[1:], 0.0], strict=True)]
    needs = [sqrt(taking(problem, one) * often) for one, often in zip(ones, counts, strict=True)]
    return [need / sum(needs[k::hands]) for k, need in enumerate(needs)]


_seen: dict[tuple[tuple[tuple[int, ...], int], ...], float] = {}
"""How many times longer than guessed the tier took that was last solved by this process, by what is thrown in it."""


def _in_time(part: tuple[Problem, Dice, float], until: Watch) -> Solved:
    """What a tier proves and its multipliers, as near as its share of the time allows by what the one before took."""
    (problem, dice, share), began = part, now()
    given = share * time_left(until)
    thrown = (dice.tiers[0][0].faces, 0), *((die.faces, die.number) for die in dice.tiers[0][1:])
    seen = _seen.get(thrown)
    if dice.many and seen is not None:
        each = [replace(dice, fineness=fineness) for fineness in (*FINENESSES, dice.fineness)]
        fitting = [one for one in each if seen * taking(problem, one) <= given]
        dice = max(fitting or each[:1], key=lambda one: (one.fineness.kept, one.fineness.slower))
    late = Until.after(min(LATER * given, time_left(until)), until)
    found = solved(problem, dice.tiers[0], dice.fineness.left_out, dice.fineness.gap, late)
    took = now() - began
    if took > 0:
        _seen[thrown] = took / taking(problem, dice) * (CUT_OFF if late.cancelled() else 1.0)
    return found


def _tried(part: tuple[Problem, tuple[TypeDie, ...]], watch: Watch) -> float:
    """What dice prove roughly, as if enough held them; 0 where that was cut off."""
    began = now()
    with in_passing():
        found = solved(*part, TRIAL.left_out, TRIAL.gap, watch)[0]
    return 0.0 if watch.cancelled() or time_left(watch) < CUT * (now() - began) else found
