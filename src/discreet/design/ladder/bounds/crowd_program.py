"""The program behind the bound by a crowd: likely states of a count, a sum and the counts of dice, and their inequalities.

Kernels are averaged over the histograms of a state, as in `averaged`; a row says that the average over a respondent of the crowd
becoming one of its first face, weighed by a ray, lies within e^ε of the state's own, whatever the dice gain by it, or that a
thrower shows another face (`certify.bounds.crowd`). States are sorted by how many of the crowd do not show its first face: a row
joins a state with such of one fewer, so that what is solved is banded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import exp, lcm, sqrt

import numpy as np

from discreet.certify.bounds.crowd import chance_of_counts, gains, turns
from discreet.design.ladder.binomial import binomial_window
from discreet.design.ladder.bounds.averaged import Averages, Row
from discreet.design.ladder.bounds.knots import dense_knots
from discreet.design.ladder.bounds.likeliest import likely
from discreet.design.ladder.bounds.whole_flows import BITS, whole_flows
from discreet.model.certificate import CrowdTier, CrowdWitness, TypeDie
from discreet.model.iid_sum import IidSum
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import whole_steps

FAINT = 1e-4
"""Multipliers below this share of what their state loses are left out."""
ERROR = 1e-11
"""Of any mass or weight, in parts of it."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who is unknown: the crowd's faces with their shares, the first of whom steps are counted from, and dice beside it."""

    law: IidSum
    faces: tuple[int, ...]
    shares: tuple[Fraction, ...]
    dice: tuple[TypeDie, ...]

    @property
    def steps(self) -> tuple[Fraction, tuple[int, ...]]:
        """The unit, and how many of it each face but the first differs by from the first."""
        value = dict(zip(self.law.types, self.law.values, strict=True))
        unit, whole = whole_steps([value[t] - value[self.faces[0]] for t in self.faces[1:]])
        return unit, tuple(whole)

    @property
    def rays(self) -> tuple[tuple[int, int], ...]:
        """Those that generate all: by how far a face is from the least, and from the largest."""
        least, most = min(self.steps[1]), max(self.steps[1])
        return ((-least, 1), (most, -1)) if most > least else ((1, 0),)

    @property
    def share(self) -> Fraction:
        """How many of all respondents are of the crowd, in the mean."""
        return sum(self.shares, Fraction(0))

    @property
    def gains(self) -> list[tuple[int, ...]]:
        """What dice may gain (`certify.bounds.crowd.gains`)."""
        return gains(self.faces[0], self.dice)

    def omegas(self, states: Sequence[tuple[int, ...]]) -> list[Fraction]:
        """ω of states, beside what it is when all show their first faces."""
        value = dict(zip(self.law.types, self.law.values, strict=True))
        unit, apart = self.steps[0], [value[f] - value[die.faces[0]] for die in self.dice for f in die.faces[1:]]
        return [unit * e + sum((x * d for x, d in zip(own, apart, strict=True)), Fraction(0)) for _, e, *own in states]

    def die(self, number: int) -> TypeDie:
        """What the crowd holds, thrown so often."""
        return TypeDie(self.faces, self.shares, number, ((0, number),) * (len(self.faces) - 1))

    def witness(self, tiers: Sequence[CrowdTier]) -> CrowdWitness:
        """These tiers as a witness."""
        return CrowdWitness(self.faces, self.shares, self.rays, self.dice, tuple(tiers))


@dataclass(frozen=True, eq=False)
class CrowdProgram:
    """`averages` as any averaged program; the probability of the crowd's part of each state, and what W(s) is in every row."""

    crowd: Crowd
    number: int
    averages: Averages
    alone: Floats
    totals: Floats


def crowd_states(crowd: Crowd, number: int, leave_out: float) -> tuple[list[tuple[int, ...]], Floats, Floats]:
    """The likely states, sorted, the probability of each and of its part of the crowd."""
    law, dice = _crowd_law(crowd.shares, crowd.steps[1], number), dice_law(crowd.dice)
    keys, chances = list(law), np.array(list(law.values()))
    others = np.array(list(dice.values()))
    every = np.multiply.outer(chances, others).ravel()
    kept = likely(every, leave_out)
    counts = list(dice)
    found = [(*keys[i], *counts[j]) for i, j in zip(*divmod(kept, len(others)), strict=True)]
    order = sorted(range(len(found)), key=found.__getitem__)
    return [found[i] for i in order], every[kept][order], chances[kept // len(others)][order]


@lru_cache(maxsize=64)
def _crowd_law(shares: tuple[Fraction, ...], steps: tuple[int, ...], number: int) -> dict[tuple[int, int], float]:
    """The probability of each count and sum of steps."""
    far = float(sum(shares[1:]) / sum(shares))
    first, masses = binomial_window(number, min(1.0, far))
    low, width = min(steps), max(steps) - min(steps)
    one = np.zeros(width + 1)
    for share, step in zip(shares[1:], steps, strict=True):
        one[step - low] += float(share / sum(shares[1:]))
    found, power = {}, np.ones(1)
    for k in range(first + len(masses)):
        if k >= first:
            for e in np.flatnonzero(power > 1e-14).tolist():
                found[k, e + k * low] = float(masses[k - first] * power[e])
        power = np.convolve(power, one)
    return found


@lru_cache(maxsize=64)
def dice_law(dice: tuple[TypeDie, ...]) -> dict[tuple[int, ...], float]:
    """The probability of all counts of the dice, their first faces aside."""
    ranges = [range(die.number + 1) for die in dice for _ in die.counts]
    return {counts: float(p) for counts in product(*ranges) if (p := chance_of_counts(dice, counts))}


def crowd_program(crowd: Crowd, number: int, leave_out: float) -> CrowdProgram:
    """The likely states with their inequalities."""
    states, masses, alone = crowd_states(crowd, number, leave_out)
    statistics = np.array([float(omega) for omega in crowd.omegas(states)])
    rows, totals = [], []
    for row, total in _rows(crowd, number, states):
        rows.append(row)
        totals.append(total)
    dropped = max(0.0, 1.0 - float(masses.sum()))
    groups = (tuple(range(1, len(crowd.faces))),)
    averages = Averages(0, groups, crowd.rays, tuple(states), masses, statistics, tuple(rows), dropped, ERROR)
    return CrowdProgram(crowd, number, averages, alone, np.array(totals, dtype=float))


def _rows(crowd: Crowd, number: int, states: Sequence[tuple[int, ...]]) -> Iterator[tuple[Row, float]]:
    """Every inequality between listed states with W(s), or 1 for a turn; numbered as the checker does it."""
    at, dice = {state: h for h, state in enumerate(states)}, dice_law(crowd.dice)
    law, steps, rays = _crowd_law(crowd.shares, crowd.steps[1], number), crowd.steps[1], crowd.rays
    witness_gains, every_turn = crowd.gains, turns(crowd.dice)
    odds = [float(share / crowd.shares[0]) for share in crowd.shares[1:]]
    for h, (k, e, *own) in enumerate(states):
        room = number - k + 1
        pulls = [
            (u, room * odd * law[k - 1, e - u] / law[k, e]) for u, odd in zip(steps, odds, strict=True) if (k - 1, e - u) in law
        ]
        for r, (each, per_step) in enumerate(rays):
            total = each * k + per_step * e
            weights = [(u, (each + per_step * u) * x / total) for u, x in pulls if each + per_step * u] if total > 0 and k else []
            for g, gain in enumerate(witness_gains):
                counts = tuple(x + d for x, d in zip(own, gain, strict=True))
                if not weights or counts not in dice:
                    continue
                places = [(at.get((k - 1, e - u, *counts)), w) for u, w in weights]
                known = [(place, w) for place, w in places if place is not None]
                if known:
                    earlier, parts = zip(*known, strict=True)
                    yield Row(h, r * len(witness_gains) + g, earlier, parts, total, len(known) == len(places)), float(total)
        for t, turn in enumerate(every_turn):
            place = at.get((k, e, *(x + d for x, d in zip(own, turn, strict=True))))
            if place is not None:
                yield Row(h, len(rays) * len(witness_gains) + t, (place,), (1.0,), 1, True), 1.0


def knots_of(program: CrowdProgram, loss: float, apart: float) -> Floats:
    """Nodes so many roots of the loss apart where a mechanism of this loss plays, reaching over all values."""
    masses, omegas = program.averages.masses, program.averages.statistics
    mean = float(masses @ omegas) / float(masses.sum())
    variance = float(masses @ (omegas - mean) ** 2) / float(masses.sum())
    spread = sqrt(max(variance - loss, 0.05 * variance))
    return dense_knots(mean, spread, float(omegas.min()), float(omegas.max()), apart * sqrt(loss))


def thinned(program: CrowdProgram, multipliers: Floats, epsilon: float, worth: float) -> Floats:
    """The same without what goes both ways and what is faint, `worth` being what they prove: half as many that prove as much.

    With f on q·A − C and g on q·C − A, f ≥ g: f − g/q on the first alone pulls A as much, and C less.
    """
    states = np.array([row.state for row in program.averages.rows])
    forth, back = multipliers[:, 0::2], multipliers[:, 1::2]
    larger, factor = forth >= back, exp(-epsilon)
    found = np.zeros_like(multipliers)
    found[:, 0::2] = np.where(larger, forth - factor * back, 0.0)
    found[:, 1::2] = np.where(larger, 0.0, back - factor * forth)
    return np.where(found > FAINT * worth * np.repeat(program.averages.masses[states], 2), found, 0.0)


def tier_of(program: CrowdProgram, knots: Floats, multipliers: Floats) -> CrowdTier:
    """Multipliers [node, row of `privacy_rows`] as whole numbers on the inequalities of the checker.

    A row speaks of averages, the lemma of masses π·average times W and the lowest odds: so it is divided by these.
    """
    averages, crowd = program.averages, program.crowd
    states = np.array([row.state for row in averages.rows])
    turned = len(crowd.rays) * len(crowd.gains)
    numbers = np.array([row.ray for row in averages.rows])
    bottom = np.where(numbers < turned, float(_bottom(crowd)), 1.0)
    factors = np.repeat(1.0 / (program.alone[states] * program.totals * bottom), 2)
    complete = np.repeat([row.complete for row in averages.rows], 2)
    complete[1::2] = True
    f = np.maximum(np.nan_to_num(multipliers, nan=0.0, posinf=0.0), 0.0)
    flows = np.where(complete, f, 0.0) * factors
    flows = np.minimum(flows, 2.0**BITS)  # any multipliers prove something
    which = np.repeat(2 * numbers, 2) + np.tile([0, 1], len(numbers))
    omegas = crowd.omegas(averages.states)
    nodes = [Fraction(float(action)) for action in knots]
    nodes[0], nodes[-1] = min(nodes[0], *omegas), max(nodes[-1], *omegas)
    scale, each = whole_flows(nodes, flows, np.repeat(states, 2), which)
    return CrowdTier(program.number, averages.states, scale, each)


def _bottom(crowd: Crowd) -> int:
    """The odds of the first face as the checker counts them."""
    return int(crowd.shares[0] * lcm(*(share.denominator for share in crowd.shares)))
