"""Proposing a crowd: which types stay unknown, what a few respondents throw beside it, and the programs (`certify.bounds.crowd`).

Unknown are the likeliest type and the far ones, seen through how many are far and what their steps come to. Which types count as
far is found by trying each choice roughly, with one number of respondents; then dice beside those that promise most: between the
likeliest type and one or two of the near ones, or among near ones alone, which takes nobody from the crowd. The best has programs
for several numbers; more of them lose less by how many there happen to be, and leave less time for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from math import ceil, floor, inf, sqrt

import numpy as np

from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.coins import chance_of, in_tiers
from discreet.certify.bounds.crowd import turns
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.averaged_solver import taking
from discreet.design.ladder.bounds.crowd_program import Crowd, CrowdProgram, crowd_program, crowd_states, knots_of, thinned, tier_of
from discreet.design.ladder.bounds.far import BY_HOLDERS, TIERS, apart, farthest, numbers_of
from discreet.design.ladder.bounds.quotient import bound_from_multipliers, privacy_rows, solve
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.design.memory import allowed
from discreet.design.pace import pace
from discreet.design.schedule import BYTES_PER_PAIR, Until, hands, now, time_left
from discreet.frozen import dataclass
from discreet.model.certificate import CrowdTier, CrowdWitness, TypeDie
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.numerics.exact import whole_steps
from discreet.watch import SILENT, Watch

FEWEST_FAR, MOST_STEPS = 2, 40
"""Far types there are at least, and the steps between the nearest and the farthest of them at most."""
MOST_TRIED, ALL_TRIED = 9, (0.08, 0.15)
"""How many choices of far types are tried, and the shares of the time for these and for dice beside the best."""
LEAST_TRIAL = 0.15
"""Below so many seconds for one nothing is tried."""
NEAR = 0.94
"""Far types that promise so much of the best ones are tried with dice."""
HOLDERS = {1: 6, 2: 10, 3: 13}
"""Respondents who hold a die beside the crowd, by how many of them throw it, in the mean."""
SURELY = 0.98
"""Enough of them with this probability at least."""
PARTS = (Fraction(9, 20), Fraction(3, 10), Fraction(3, 20))
"""Where types between lie that are thrown, as shares of the farthest step."""
WORTH = 0.985
"""What programs prove beside what trials promise."""
Fineness = tuple[float, float]
"""The share of the states that a program leaves out, and how many roots of the loss its nodes are apart."""
ROUGH: Fineness = (1e-2, 0.3)
FINENESSES: tuple[Fineness, ...] = ((1e-2, 0.3), (3e-3, 0.2), (1e-3, 0.15), (3e-4, 0.12), (1e-4, 0.1), (3e-5, 0.08), (1e-5, 0.07))
GAP, LAST_GAP, ROUGH_GAP = 8e-3, 1.5e-3, 1e-2
"""How near a program is solved, the finest, and a trial, as a share of the loss: a tenth of it is missing in what is proved."""
STEPS = 0.72
"""The steps to the first, in parts of those to the second."""
LEFT = {1e-2: 5.2, 3e-3: 6.5, 1e-3: 8.0, 3e-4: 11.0, 1e-4: 16.0, 3e-5: 25.0, 1e-5: 40.0}
"""By the share of the states that is left out, how many times that share it takes off a bound, about."""
FEWEST_RESPONDENTS = 4
LATER, CUT_OFF = 2.0, 1.5
"""How many times its share of the time a program may take, and longer than it had one that was cut off would have taken."""
MOST_STATES, MOST_SIZE = 6_000, 2_200_000
"""States of a program, and states times nodes of all: each has some three multipliers, which are written and checked."""
BEYOND = 10
"""Nodes where no mechanism plays, about."""
Small = tuple[tuple[int, ...], int]
"""The types of a die beside the crowd, two or more, and how many throw it."""


@dataclass(frozen=True)
class CrowdChoice:
    """The likeliest type and the far ones, and what is thrown beside them."""

    faces: tuple[int, ...]
    small: tuple[Small, ...] = ()


@dataclass(frozen=True)
class TriedCrowd:
    """A choice, the number of respondents that it was tried with, and what it is worth there, about."""

    choice: CrowdChoice
    number: int
    worth: float


@dataclass(frozen=True)
class CrowdPlan:
    """A choice with numbers of respondents, how fine their programs are, and what they prove, about."""

    choice: CrowdChoice
    numbers: tuple[int, ...]
    fineness: Fineness
    promise: float
    size: int
    """States times nodes of all programs, about."""


def why_no_crowd(problem: Problem) -> str | None:
    """Why a crowd bounds nothing here, in words."""
    reason = why_not_chain(problem)
    if reason is None and not isinstance(problem.decision.loss, SquaredLoss):
        reason = "the error is not squared"
    if reason is None and not choices(problem):
        reason = "there are not two far types among many respondents"
    return reason


def choices(problem: Problem) -> list[CrowdChoice]:
    """The likeliest type and two or more of those on one side of it, all that are farther than another."""
    law, (base, beyond, far) = iid_sum(problem), farthest(problem)
    found = []
    for count in range(FEWEST_FAR, len(beyond) + 1) if far else ():
        faces = beyond[:count]
        _, steps = whole_steps([abs(law.values[t] - law.values[base]) for t in faces])
        if 0 < max(steps) - min(steps) <= MOST_STEPS:
            found.append(CrowdChoice((law.types[base], *(law.types[t] for t in faces))))
    return found


def with_dice(problem: Problem, choice: CrowdChoice) -> list[CrowdChoice]:
    """The same far types with what may be thrown beside them."""
    law, (base, beyond, _) = iid_sum(problem), farthest(problem)
    near = [t for t in beyond if law.types[t] not in choice.faces]
    if not near:
        return []

    def nearest(part: Fraction) -> int:
        return min(near, key=lambda t: (abs(apart(law, base, t) - part * apart(law, base, beyond[0])), apart(law, base, t)))

    first, *others = dict.fromkeys(map(nearest, PARTS))
    every: list[tuple[Small, ...]] = [(((base, t), thrown),) for t in (first, *others) for thrown in (1, 2)]
    every += [(((base, other, first), thrown),) for other in others for thrown in (1, 2)]
    every += [(((low, high), thrown),) for low, high in ((near[-1], near[0]),) if low != high for thrown in (1, 2)]
    for other in others:
        farther = [t for t in near if t not in (first, other)]
        every += [(((base, other, first), 1), ((base, t), 1)) for t in farther[:1]]
        every += [(((base, other, first), 1), ((base, farther[-1], farther[0]), 1))] if len(farther) > 1 else []
    small = dict.fromkeys(tuple((tuple(law.types[t] for t in types), thrown) for types, thrown in dice) for dice in every)
    found = [CrowdChoice(choice.faces, dice) for dice in small]
    return [one for one in found if crowd_of(law, one) is not None]


def crowd_of(law: IidSum, choice: CrowdChoice) -> Crowd | None:
    """Who holds what; None where too few would."""
    left = dict(zip(law.types, law.probabilities, strict=True))
    dice = []
    for types, thrown in choice.small:
        share = min(Fraction(HOLDERS[thrown], law.respondents * len(types)), *(left[t] for t in types if t != choice.faces[0]))
        for t in types:
            left[t] -= share
        dice.append(TypeDie(types, (share,) * len(types), thrown, ((0, thrown),) * (len(types) - 1)))
    shares = tuple(left[t] for t in choice.faces)
    if min(left.values()) < 0 or min(shares) <= 0 or any(chance_of(law.respondents, die) < SURELY for die in dice):
        return None
    return Crowd(law, choice.faces, shares, tuple(dice))


def best_crowds(problem: Problem, loss: float, seconds: float, watch: Watch = SILENT) -> list[TriedCrowd]:
    """Far types that were tried by themselves, and with dice beside those that promise most: rough programs for the mean number."""
    every = choices(problem)
    every = [every[k] for k in np.unique(np.linspace(0, len(every) - 1, MOST_TRIED).round().astype(int))] if every else []
    alone = _tried(problem, every, loss, ALL_TRIED[0] * seconds, watch)
    if not alone:
        return []
    best = max(one.worth for one in alone)
    near = sorted((one for one in alone if one.worth >= NEAR * best), key=lambda one: -one.worth)
    turns = zip_longest(*(with_dice(problem, one.choice) for one in near))  # each of the far types has its turn
    further = [choice for turn in turns for choice in turn if choice is not None]
    return alone + _tried(problem, further, loss, ALL_TRIED[1] * seconds, watch)


def planned(problem: Problem, tried: Sequence[TriedCrowd], loss: float, seconds: float) -> CrowdPlan | None:
    """The choice and the numbers of respondents that promise most in the time; None where nothing fits."""
    law, best, workers = iid_sum(problem), None, hands_for(seconds)
    for one in sorted(tried, key=lambda one: -one.worth):
        if best is not None and WORTH * one.worth <= best.promise:
            break
        crowd, grades = crowd_of(law, one.choice), None
        assert crowd is not None
        for numbers in _numbers(law, crowd):
            each = seconds / ceil(len(numbers) / workers)
            grades = _grades(problem, crowd, one.number, loss, seconds) if grades is None else grades
            fitting = [grade for grade in grades if grade.seconds <= each and len(numbers) * grade.size <= MOST_SIZE]
            if fitting:
                chosen = max(fitting, key=lambda grade: kept(grade.fineness))
                promise = WORTH * one.worth * kept(chosen.fineness) * _in_numbers(law, crowd, numbers, one.number)
                if best is None or promise > best.promise:
                    best = CrowdPlan(one.choice, numbers, chosen.fineness, promise, len(numbers) * chosen.size)
    return best


def crowd_bound(
    problem: Problem, plan: CrowdPlan, loss: float, seconds: float, watch: Watch = SILENT
) -> tuple[float, CrowdWitness] | None:
    """What the programs of a plan prove within the time; those that there is no time for are left out."""
    law, workers = iid_sum(problem), hands_for(seconds)
    crowd = crowd_of(law, plan.choice)
    assert crowd is not None
    most = MOST_SIZE // len(plan.numbers)
    parts = [(problem, plan.choice, number, loss, plan.fineness, most) for number in plan.numbers]
    _seen.clear()
    solved = shared_out(_solved, parts, watch, seconds, "number", hands=workers, longer=LATER)
    found = [one for one in solved if one is not None and one[0] > 0]
    if not found:
        return None
    witness = crowd.witness([tier for _, tier in found])
    chances = [float(chance_of(law.respondents, crowd.die(tier.number))) for _, tier in found]
    proved = in_tiers([(tier.number, chance, bound) for chance, (bound, tier) in zip(chances, found, strict=True)])
    return proved - _missed(law, crowd) * max(bound for bound, _ in found), witness


def by_middle_number(problem: Problem, plan: CrowdPlan, loss: float, given: float, watch: Watch) -> float:
    """What a plan proves by its program for the middle number of respondents, about; 0 where that was cut off.

    It has as much longer than its share as the first ones have: later ones are as fine as these say there is time for.
    """
    law, number = iid_sum(problem), plan.numbers[len(plan.numbers) // 2]
    crowd = crowd_of(law, plan.choice)
    assert crowd is not None
    found = _proved(problem, plan.choice, number, loss, plan.fineness, _gap(plan.fineness), Until.after(LATER * given, watch))
    return found[0] * _in_numbers(law, crowd, plan.numbers, number) if found is not None and not watch.cancelled() else 0.0


def _gap(fineness: Fineness) -> float:
    """How near a program is solved: nearer is worth less than finer, until it is as fine as it may be."""
    return LAST_GAP if fineness == FINENESSES[-1] else GAP


def kept(fineness: Fineness) -> float:
    """What share of what a crowd is worth a program of this fineness proves, about."""
    left_out, apart = fineness
    return max(1 - LEFT[left_out] * left_out - apart**2 / 8, 0.5)


def _missed(law: IidSum, crowd: Crowd) -> float:
    """How likely it is that too few hold some die, at most."""
    return sum(1 - float(chance_of(law.respondents, die)) for die in crowd.dice)


def _numbers(law: IidSum, crowd: Crowd) -> list[tuple[int, ...]]:
    """Numbers of respondents for one program, two, …."""
    found = []
    for count in TIERS:
        numbers = numbers_of(law.respondents, crowd.share, law.respondents, count)
        found.append(tuple(number for number in numbers if number >= FEWEST_RESPONDENTS))
    return [numbers for numbers in dict.fromkeys(found) if numbers]


def _in_numbers(law: IidSum, crowd: Crowd, numbers: Sequence[int], number: int) -> float:
    """What programs for these numbers prove in the mean, beside one for a number that surely is reached."""
    chances = [float(chance_of(law.respondents, crowd.die(m))) for m in numbers]
    each = [(m, chance, 1 + BY_HOLDERS * (m / number - 1)) for m, chance in zip(numbers, chances, strict=True)]
    return in_tiers(each) - _missed(law, crowd)


@dataclass(frozen=True)
class Grade:
    """How fine a program is, what it takes, about, and its states times nodes."""

    fineness: Fineness
    seconds: float
    size: int


def _grades(problem: Problem, crowd: Crowd, number: int, loss: float, seconds: float) -> list[Grade]:
    """Programs for the number of respondents that was tried, from coarse to fine, as far as the time allows."""
    found = []
    for fineness in FINENESSES:
        grade = _grade(problem, crowd, number, loss, fineness)
        if grade.seconds > seconds:
            break
        found.append(grade)
    return found


def _grade(problem: Problem, crowd: Crowd, number: int, loss: float, fineness: Fineness) -> Grade:
    states, _, _ = crowd_states(crowd, number, fineness[0])
    widest = int(np.bincount([state[0] for state in states]).max())
    nodes = _nodes(problem, crowd, number, loss, fineness[1])
    rows = 2 * len(states) * (len(crowd.rays) * len(crowd.gains) + len(turns(crowd.dice)))
    fits = len(states) <= MOST_STATES and BYTES_PER_PAIR * len(states) ** 2 <= allowed() / hands()
    seconds = taking(len(states), rows, nodes, widest) if fits else inf
    if _gap(fineness) > LAST_GAP:
        seconds *= STEPS
    return Grade(fineness, pace() * seconds, len(states) * nodes)


def _nodes(problem: Problem, crowd: Crowd, number: int, loss: float, apart: float) -> int:
    """About how many nodes there are: five spreads of the statistic, and some beyond."""
    unit, steps = crowd.steps
    chances, far = [float(share / crowd.share) for share in crowd.shares[1:]], [float(unit) * step for step in steps]
    mean = sum(p * v for p, v in zip(chances, far, strict=True))
    variance = number * (sum(p * v**2 for p, v in zip(chances, far, strict=True)) - mean**2)
    loss = loss / float(problem.decision.weight)
    return ceil(5 * sqrt(max(variance - loss, 0.05 * variance) / loss) / apart) + BEYOND


def _tried(problem: Problem, every: Sequence[CrowdChoice], loss: float, seconds: float, watch: Watch) -> list[TriedCrowd]:
    """What each is worth for the mean number of respondents, as many as there is time for, in their order."""
    law, workers = iid_sum(problem), hands_for(seconds)
    parts, guesses, left = [], [], workers * seconds
    for choice in every:
        crowd = crowd_of(law, choice)
        assert crowd is not None
        number = floor(law.respondents * float(crowd.share))
        if number < FEWEST_RESPONDENTS:
            continue
        guess = max(_grade(problem, crowd, number, loss, ROUGH).seconds, LEAST_TRIAL)
        if guess <= left:
            left -= guess
            parts.append((problem, choice, number, loss))
            guesses.append(guess)
    if not parts:
        return []
    worths = shared_out(_worth, parts, watch, seconds, "trial", hands=workers, guess=sum(guesses) / len(guesses), longer=len(parts))
    return [TriedCrowd(choice, number, worth) for (_, choice, number, _), worth in zip(parts, worths, strict=True) if worth]


def _worth(part: tuple[Problem, CrowdChoice, int, float], watch: Watch) -> float:
    """What a choice is worth where there are so many respondents, about; 0 where that was cut off."""
    problem, choice, number, loss = part
    found = _proved(problem, choice, number, loss, ROUGH, ROUGH_GAP, watch)
    return found[0] / kept(ROUGH) if found is not None and not watch.cancelled() and time_left(watch) > 0 else 0.0


_seen: dict[CrowdChoice, float] = {}
"""How many times longer than guessed the program took that was last solved by this process."""


def _solved(part: tuple[Problem, CrowdChoice, int, float, Fineness, int], watch: Watch) -> tuple[float, CrowdTier] | None:
    """What so many respondents lose at least, and the tier: as fine as its share of the time allows by what the one before took."""
    (problem, choice, number, loss, fineness, most), began, given = part, now(), time_left(watch) / LATER
    crowd, seen = crowd_of(iid_sum(problem), choice), _seen.get(choice)
    assert crowd is not None
    if seen is not None and given < inf:
        grades = _grades(problem, crowd, number, loss, given / seen)
        fitting = [grade for grade in grades if seen * grade.seconds <= given and grade.size <= most]
        fineness = max((grade.fineness for grade in fitting), key=kept, default=FINENESSES[0])
    found = _proved(problem, choice, number, loss, fineness, _gap(fineness), watch)
    guess, took = _grade(problem, crowd, number, loss, fineness).seconds, now() - began
    if took > 0 and guess > 0:
        _seen[choice] = took / guess * (CUT_OFF if time_left(watch) <= 0 else 1.0)
    return found


def _proved(
    problem: Problem, choice: CrowdChoice, number: int, loss: float, fineness: Fineness, gap: float, watch: Watch
) -> tuple[float, CrowdTier] | None:
    """What a program proves and its tier, the decision's weight included."""
    crowd, weight = crowd_of(iid_sum(problem), choice), float(problem.decision.weight)
    assert crowd is not None
    program = crowd_program(crowd, number, fineness[0])
    if not program.averages.rows:
        return None
    knots = knots_of(program, loss / weight, fineness[1])
    proved, multipliers = _multipliers(program, knots, float(problem.epsilon), gap, watch)
    return weight * proved, tier_of(program, knots, weight * multipliers)


def _multipliers(program: CrowdProgram, knots: np.ndarray, epsilon: float, gap: float, watch: Watch) -> tuple[float, np.ndarray]:
    """Those of the best bound seen: nodes are as much cheaper as an action between them may be than their chord."""
    averages, widths = program.averages, np.diff(knots)
    cone, stakes = privacy_rows(averages, epsilon), Stakes()
    reach = np.maximum(np.append(widths, 0.0), np.append(0.0, widths)) / 2
    found = solve(averages, cone, knots, reach, stakes, gap, time_left(watch), Until.after(time_left(watch), watch))
    worth = bound_from_multipliers(averages, cone, knots, found.multipliers, stakes)
    few = thinned(program, found.multipliers, epsilon, max(worth, 0.0))
    return max(bound_from_multipliers(averages, cone, knots, few, stakes), 0.0), few
