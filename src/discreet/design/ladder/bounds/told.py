"""Proposing which types stay unknown, of how many respondents, and the programs for these (`certify.bounds.told`).

Unknown are the likeliest type and the far ones, seen through how many are far and what their steps come to beyond the nearest one:
two sums over the others, for a program as `set_aside` solves it. Which types count as far is found by trying each choice roughly,
with one number of respondents. The best has programs for several numbers; more of them lose less by how many there happen to be,
and leave less time for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np

from discreet.certify.bounds.coins import chance_at_least, in_tiers
from discreet.certify.bounds.set_aside import why_not_set_aside
from discreet.certify.bounds.told import among, share_of
from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.far import BY_HOLDERS, TIERS, farthest, numbers_of
from discreet.design.ladder.bounds.set_aside import FINENESSES, STEPS, Bounded, Form, fitting_program, set_aside_bound
from discreet.design.ladder.bounds.set_aside_solver import taking
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.schedule import now, time_left
from discreet.frozen import dataclass
from discreet.model.certificate import ToldWitness
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.numerics.exact import whole_steps
from discreet.watch import SILENT, Watch

FEWEST_FAR, MOST_STEPS = 2, 40
"""Far types there are at least, and the steps between the nearest and the farthest of them at most."""
TRIED, ALL_TRIED, MOST_TRIED = 0.06, 0.5, 9
"""Shares of the time for one trial at most and for all (those of few types take much less), and how many choices are tried."""
LEAST_TRIAL, SECONDS_PER_CELL = 0.3, 1e-6
"""Below so many seconds nothing is tried; what the law of both sums takes for each of their values."""
SOONER = 1.4
"""Programs take so many times less than is guessed, about."""
WORTH = 0.965
"""What programs prove beside what trials promise."""
ROUGH = ((1e-2, 0.4), (3e-3, 0.3))
GAP, ROUGH_GAP = 2e-3, 1e-2
"""How near a program is solved, and a trial, as a share of the loss."""
LEFT = {1e-2: 5.0, 3e-3: 7.0, 1e-3: 11.0, 3e-4: 17.0, 1e-4: 24.0, 3e-5: 36.0, 1e-5: 50.0}
"""By the share of the states that is left out, how many times that share it takes off a bound, about."""
FEWEST_RESPONDENTS = 4
LONGER = 1.5
"""A program may take so many times its share of the time, where the others leave it."""


@dataclass(frozen=True)
class FarTypes:
    """Types that stay unknown, the likeliest first, and what the two sums over the others weigh each by (ascending types)."""

    types: tuple[int, ...]
    forms: tuple[Form, ...]


@dataclass(frozen=True)
class TriedTypes:
    """A choice, the number of respondents that it was tried with, and what sums over the others are worth there, about."""

    choice: FarTypes
    number: int
    worth: float


@dataclass(frozen=True)
class ToldPlan:
    """A choice with numbers of respondents, how fine their programs are, and what they prove, about."""

    choice: FarTypes
    numbers: tuple[int, ...]
    fineness: tuple[float, float]
    promise: float
    size: int
    """States times nodes of all programs, about."""


def why_not_told(problem: Problem) -> str | None:
    """Why respondents of some types bound nothing here, in words."""
    reason = why_not_set_aside(problem)
    if reason is None and not choices(problem):
        return "there are not two far types among many respondents"
    return reason


def choices(problem: Problem) -> list[FarTypes]:
    """The likeliest type and two or more of those on one side of it, all that are farther than another."""
    law, (base, beyond, far) = iid_sum(problem), farthest(problem)
    found = []
    for count in range(FEWEST_FAR, len(beyond) + 1) if far else ():
        faces = beyond[:count]
        _, steps = whole_steps([abs(law.values[t] - law.values[base]) for t in faces])
        of = dict(zip(faces, steps, strict=True))
        if 0 < max(steps) - min(steps) <= MOST_STEPS:
            order = sorted((base, *faces))
            forms = tuple((0, 0) if t == base else (1, of[t] - min(steps)) for t in order)
            found.append(FarTypes((law.types[base], *(law.types[t] for t in faces)), forms))
    return found


def best_choice(problem: Problem, loss: float, seconds: float, watch: Watch = SILENT) -> list[TriedTypes]:
    """Every choice that was tried, by a rough program for the mean number of respondents: each has a small share of the time."""
    law, every = iid_sum(problem), choices(problem)
    every = [every[k] for k in np.unique(np.linspace(0, len(every) - 1, MOST_TRIED).round().astype(int))] if every else []
    each = min(TRIED, ALL_TRIED / max(len(every), 1)) * seconds
    if each < LEAST_TRIAL:
        return []
    hands = hands_for(each * len(every))
    parts = [(problem, choice, floor(law.respondents * float(share_of(law, choice.types))), loss) for choice in every]
    parts = [part for part in parts if part[2] >= FEWEST_RESPONDENTS]
    given = ceil(len(parts) / hands) * each
    worths = shared_out(_tried, parts, watch, given, "trial", hands=hands, guess=each) if parts else []
    return [TriedTypes(choice, number, worth) for (_, choice, number, _), worth in zip(parts, worths, strict=True) if worth]


def planned(problem: Problem, tried: Sequence[TriedTypes], loss: float, seconds: float) -> ToldPlan | None:
    """The choice and the numbers of respondents that promise most in the time; None where nothing fits."""
    law, best, hands = iid_sum(problem), None, hands_for(seconds)
    for one in tried:
        grades = _grades(problem, one, loss, SOONER * seconds)
        for numbers in _numbers(law, one.choice):
            each = SOONER * seconds / ceil(len(numbers) / hands)
            fitting = [grade for grade in grades if grade.seconds <= each]
            if fitting:
                chosen = max(fitting, key=lambda grade: kept(grade.fineness))
                promise = WORTH * one.worth * kept(chosen.fineness) * _in_numbers(law, one.choice, numbers, one.number)
                if best is None or promise > best.promise:
                    best = ToldPlan(one.choice, numbers, chosen.fineness, promise, len(numbers) * chosen.size)
    return best


def told_bound(
    problem: Problem, plan: ToldPlan, loss: float, seconds: float, watch: Watch = SILENT
) -> tuple[float, ToldWitness] | None:
    """What the programs of a plan prove within the time; those that there is no time for are left out, the first aside."""
    law, types = iid_sum(problem), plan.choice.types
    parts = [(problem, plan.choice, number, loss, plan.fineness) for number in plan.numbers]
    solved = shared_out(_solved, parts, watch, seconds, "number", hands=hands_for(seconds), longer=LONGER)
    found = [(number, one) for number, one in zip(plan.numbers, solved, strict=True) if one is not None and one.lower_bound > 0]
    if not found:
        return None
    share = share_of(law, types)
    proved = in_tiers([(m, float(chance_at_least(law.respondents, share, m)), one.lower_bound) for m, one in found])
    return proved, ToldWitness(types, tuple(m for m, _ in found), tuple(one.witness for _, one in found))


def kept(fineness: tuple[float, float]) -> float:
    """What share of what sums are worth a program of this fineness proves, about."""
    left_out, apart = fineness
    return max(1 - LEFT[left_out] * left_out - apart**2 / 4, 0.5)


def size_of(witness: ToldWitness) -> int:
    """States times nodes of all programs."""
    return sum(len(one.states) * len(one.multipliers) for one in witness.each)


def _numbers(law: IidSum, choice: FarTypes) -> list[tuple[int, ...]]:
    """Numbers of respondents for one program, two, …."""
    share, found = share_of(law, choice.types), []
    for count in TIERS:
        numbers = numbers_of(law.respondents, share, law.respondents, count)
        found.append(tuple(number for number in numbers if number >= FEWEST_RESPONDENTS))
    return [numbers for numbers in dict.fromkeys(found) if numbers]


def _in_numbers(law: IidSum, choice: FarTypes, numbers: Sequence[int], number: int) -> float:
    """What programs for these numbers prove in the mean, beside one for a number that surely is reached."""
    share = share_of(law, choice.types)
    each = [(m, float(chance_at_least(law.respondents, share, m)), 1 + BY_HOLDERS * (m / number - 1)) for m in numbers]
    return in_tiers(each)


def _smaller(problem: Problem, choice: FarTypes, number: int) -> Reader:
    return Reader(among(problem, choice.types, number))


@dataclass(frozen=True)
class Grade:
    """How fine a program is, what it takes, about, and its states times nodes."""

    fineness: tuple[float, float]
    seconds: float
    size: int


def _grades(problem: Problem, one: TriedTypes, loss: float, seconds: float) -> list[Grade]:
    """Programs for the number of respondents that was tried, from coarse to fine, as far as the time and memory allow."""
    reader, found = _smaller(problem, one.choice, one.number), []
    for fineness in FINENESSES:
        fitted = fitting_program(reader, list(one.choice.forms), loss, seconds, [fineness])
        if fitted is None:
            break
        step, _ = taking(fitted.program, fitted.knots, loss / float(problem.decision.weight))
        found.append(Grade(fineness, STEPS * step, len(fitted.program.states) * len(fitted.knots)))
    return found


def _tried(part: tuple[Problem, FarTypes, int, float], watch: Watch) -> float:
    """What sums over the others are worth where there are so many respondents, about."""
    problem, choice, number, loss = part
    reader, began = _smaller(problem, choice, number), now()
    steps = max(form[1] for form in choice.forms)
    if SECONDS_PER_CELL * number**2 * steps > time_left(watch):
        return 0.0
    for fineness in reversed(ROUGH):
        fitted = fitting_program(reader, list(choice.forms), loss, time_left(watch), [fineness])
        if fitted is not None:
            seconds = time_left(watch) - (now() - began)
            return set_aside_bound(reader, fitted, loss, ROUGH_GAP, seconds, watch).lower_bound / kept(fineness)
    return 0.0


def _solved(part: tuple[Problem, FarTypes, int, float, tuple[float, float]], watch: Watch) -> Bounded | None:
    """What so many respondents lose at least, and its witness."""
    problem, choice, number, loss, fineness = part
    reader, began = _smaller(problem, choice, number), now()
    fitted = fitting_program(reader, list(choice.forms), loss, float("inf"), [fineness])
    if fitted is None:
        return None
    return set_aside_bound(reader, fitted, loss, GAP, time_left(watch) - (now() - began), watch)
