"""Proposing cuts for players (`certify.bounds.players`): of which kinds, how many of them, and the programs on their histograms.

Kinds are the types of one value. Two kinds leave a path; three leave a triangle, which hides more where one replacement tells
little. What Gaussian noise would lose ranks them. Between nodes of actions the logarithms of ratios are interpolated, since for
Gaussian noise they are linear.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import lgamma, log, sqrt

import numpy as np

from discreet.certify.bounds.concentrated_chain import why_not_under_rho
from discreet.certify.bounds.players import MOST_STATES, among_players
from discreet.design.concentrated.cuts import ROOT, packed
from discreet.design.schedule import FEWEST_STEPS, renyi_seconds, time_left
from discreet.design.solver.renyi import Groups, RenyiProgram, RenyiSolution, solve_renyi
from discreet.model.certificate import PlayersPart, PlayersWitness
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.model.summary import Clamp
from discreet.model.universe import boxed_histograms
from discreet.watch import Watch

Kinds = tuple[tuple[int, ...], ...]

LEVELS = {True: (-2.6, -0.8), False: (-2.8, -1.4, -0.4, 0.5)}
"""Where parts begin, in standard deviations of the number of players; few where it varies little."""
VARIES_LITTLE = 0.05
OUTSIDE = {2: 1e-6, 3: 1e-4}
"""The share of each kind's count that the box may leave out at either end, and how unlikely a histogram is left out; by kinds."""
FINENESS = {2: 0.15, 3: 0.24}
"""The distance between nodes in units of the root of the guessed loss; chords span half of it, and lose a quarter of its square."""
COARSE, NARROWEST = 0.4, 1.5
"""Moves are of as many players as keep k²ρ below this, and no more than so many standard deviations of a count: the remainders
modulo k are given away, which loses little."""
CLOSE = 3e-3
"""How near programs are solved, relative to the guessed loss."""
MOST_NODES, MOST_TOGETHER = 400, 240
"""Nodes of actions, and histograms in one program, at most."""
MOST_VALUES = 12
"""Three kinds are chosen among the values of so many types, those farthest apart."""
WORTH_A_TRIANGLE = 1.02
"""Three kinds must hide so much more than two by the guess."""
WEIGHTS = 4
"""Weights of sums with Gaussian noise in the guess, up to this."""
REGIONS = np.array([-1.2, -0.4, 0.4, 1.2])
"""Cuts along one direction share multipliers where their counts lie between the same of these standard deviations."""


def players_witness(problem: Problem, watch: Watch) -> PlayersWitness | None:
    """The witness for the kinds that hide most by the guess; None where the theorem does not apply or the time is over."""
    if why_not_under_rho(problem) is not None:
        return None
    law = iid_sum(problem)
    for kinds in _ranked(law, float(problem.rho)):
        found = _witness(problem, law, kinds, watch)
        if found is not None or watch.cancelled():
            return found
    return None


def _ranked(law: IidSum, rho: float) -> list[Kinds]:
    """The three values that hide most by the guess where that is more than the best two hide, then the best two."""
    of: dict[Fraction, list[int]] = {}
    for t, value in zip(law.types, law.values, strict=True):
        of.setdefault(value, []).append(t)
    chances = dict(zip(law.types, law.probabilities, strict=True))
    share = {value: float(sum(chances[t] for t in types)) for value, types in of.items()}

    def guess(some: tuple[Fraction, ...]) -> float:
        return _guess(law.respondents, [share[v] for v in some], [float(v) for v in some], rho)

    values = sorted(of)
    half = MOST_VALUES // 2
    few = values if len(values) <= MOST_VALUES else [*values[:half], *values[-half:]]
    pair, triple = (max(combinations(some, k), key=guess, default=None) for some, k in ((values, 2), (few, 3)))
    if pair is None:
        return []
    better = triple is not None and guess(triple) > WORTH_A_TRIANGLE * guess(pair)
    return [tuple(tuple(of[v]) for v in some) for some in ((triple, pair) if better else (pair,)) if some is not None]


def _guess(respondents: int, chances: list[float], values: list[float], rho: float) -> float:
    """What Gaussian noise on the best of a few weighted sums of the players loses, as if their counts were normal."""
    p, v = np.array(chances), np.array(values)
    players = respondents * p.sum()
    p = p / p.sum()
    spread = players * (np.diag(p) - np.outer(p, p))
    best = variance = float(v @ spread @ v)
    for weights in product(range(WEIGHTS + 1), repeat=len(p)):
        w, step = np.array(weights), max(weights) - min(weights)
        if step and not min(weights):
            best = min(best, variance - float(w @ spread @ v) ** 2 / (float(w @ spread @ w) + step**2 / (2 * rho)))
    return best


def _witness(problem: Problem, law: IidSum, kinds: Kinds, watch: Watch) -> PlayersWitness | None:
    share = float(sum(p for t, p in zip(law.types, law.probabilities, strict=True) if any(t in kind for kind in kinds)))
    mean, spread = law.respondents * share, sqrt(law.respondents * share * max(1 - share, 0.0))
    levels = LEVELS[spread < VARIES_LITTLE * mean or len(kinds) > 2] if spread > 0 else (0.0,)
    counts = sorted({min(int(mean + level * spread), law.respondents) for level in levels})
    parts: list[PlayersPart] = []
    for players in counts:
        if players < 1 or watch.cancelled():
            continue
        found = _part(among_players(problem, kinds, players), watch)
        if found is not None:
            parts.append(found)
    return PlayersWitness(kinds, tuple(parts)) if parts else None


def _part(problem: Problem, watch: Watch) -> PlayersPart | None:
    """Cuts between likely histograms of the players; None where these are too many, or the time was over before there were any."""
    law, rho, weight = iid_sum(problem), float(problem.rho), float(problem.decision.weight)
    players, chances, values = law.respondents, [float(p) for p in law.probabilities], [float(v) for v in law.values]
    box = _box(players, chances)
    assert box.reference is not None
    narrow = min(sqrt(players * chances[j] * (1 - chances[j])) for j in box.clipped)
    step = max(1, int(min(sqrt(COARSE / rho), NARROWEST * narrow)))
    room = np.prod([box.upper[j] - box.lower[j] + 1 for j in box.clipped], dtype=float)
    if room > MOST_STATES:
        return None
    states = boxed_histograms(players, box.lower, box.upper, box.reference)
    logs = _log_masses(states, chances)
    likely = np.flatnonzero(logs > logs.max() + log(OUTSIDE[len(chances)]))
    if len(likely) > MOST_TOGETHER * step ** len(box.clipped):
        return None
    masses, omegas = np.exp(logs[likely]), states[likely] @ np.array(values)
    guess = _guess(players, chances, values, rho)
    nodes = _nodes(omegas, FINENESS[len(chances)] * sqrt(guess))
    cost = weight * masses * problem.decision.loss.table(nodes, omegas)
    first, second = _moves(states[likely], step)
    order = np.full(len(first), 1 + 1 / ROOT)
    groups = _shared(states[likely], masses, first, second) if len(chances) > 2 else None
    whole = RenyiProgram(cost, first, second, order, np.exp(order * (order - 1) * rho * step**2), groups)
    each = len(likely) // step ** len(box.clipped)
    step_seconds = renyi_seconds(len(nodes), each, len(first), each if groups is None else groups.number.max() + 1)
    if FEWEST_STEPS * step_seconds > time_left(watch):
        return None
    found = _by_remainders(whole, states[likely] % step, CLOSE * weight * guess, watch)
    if found.bound <= 0:
        return None
    named, shape = replace(whole, first=likely[first], second=likely[second]), np.ones((len(found.shape), len(states)))
    shape[:, likely] = found.shape
    between = np.insert(nodes, np.arange(1, len(nodes)), (nodes[1:] + nodes[:-1]) / 2)
    cuts = packed(box, named, replace(found, shape=shape), [Fraction(float(a)) for a in between], problem.omega_range)
    return PlayersPart(players, step, cuts)


def _shared(states: np.ndarray, masses: np.ndarray, first: np.ndarray, second: np.ndarray) -> Groups:
    """Cuts of one direction in one region share a multiplier, in proportion to the masses at their ends."""
    middle = (states[first] + states[second]) / 2
    centre = masses @ states / masses.sum()
    spread = np.sqrt(masses @ (states - centre) ** 2 / masses.sum())
    regions = np.stack([np.digitize((middle[:, j] - centre[j]) / spread[j], REGIONS) for j in range(states.shape[1])], axis=1)
    keys = np.concatenate([np.sign(states[second] - states[first]), regions], axis=1)
    number = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    share = np.sqrt(masses[first] * masses[second])
    largest = np.zeros(number.max() + 1)
    np.maximum.at(largest, number, share)
    return Groups(number, share / largest[number])


def _by_remainders(whole: RenyiProgram, remainders: np.ndarray, close: float, watch: Watch) -> RenyiSolution:
    """The program of each class of histograms that moves join, one after the other while there is time; ratios between nodes."""
    shape, weights, bound, steps = np.full(whole.cost.shape, 1 / len(whole.cost)), np.zeros(len(whole.first)), 0.0, 0
    number = np.unique(remainders, axis=0, return_inverse=True)[1].ravel()
    for k in range(number.max() + 1):
        if watch.cancelled():
            break
        inside, cuts = np.flatnonzero(number == k), np.flatnonzero(number[whole.first] == k)
        if not len(cuts):
            continue
        part = _within(whole, inside, cuts)
        start = np.full(part.cost.shape, 1 / len(part.cost))
        share = part.cost.sum() / whole.cost.sum()
        found = solve_renyi(part, start, close * share / float((part.cost * start).sum()), watch)
        if found.bound > 0:
            shape[:, inside], weights[cuts] = found.shape, found.weights
            bound, steps = bound + found.bound, steps + found.steps
    finer = np.insert(shape, np.arange(1, len(shape)), np.sqrt(shape[1:] * shape[:-1]), axis=0)
    return RenyiSolution(shape, finer, weights, float("nan"), bound, steps)


def _within(whole: RenyiProgram, inside: np.ndarray, cuts: np.ndarray) -> RenyiProgram:
    """The program on some of the states."""
    place = np.zeros(whole.cost.shape[1], dtype=np.int64)
    place[inside] = np.arange(len(inside))
    groups = whole.groups
    if groups is not None:
        groups = Groups(np.unique(groups.number[cuts], return_inverse=True)[1].ravel(), groups.share[cuts])
    first, second = place[whole.first[cuts]], place[whole.second[cuts]]
    return RenyiProgram(whole.cost[:, inside], first, second, whole.order[cuts], whole.limit[cuts], groups)


def _box(players: int, chances: list[float]) -> Clamp:
    """All counts but the likeliest kind's between their likely ends."""
    from scipy import stats

    reference, outside = int(np.argmax(chances)), OUTSIDE[len(chances)]
    ends = [(int(stats.binom.ppf(outside, players, p)), int(stats.binom.isf(outside, players, p))) for p in chances]
    ends[reference] = (0, players)
    lower = tuple(low for low, _ in ends)
    if sum(low for j, low in enumerate(lower) if j != reference) > players:
        lower = (0,) * len(chances)
    return Clamp(lower, tuple(high for _, high in ends), reference)


def _nodes(omegas: np.ndarray, apart: float) -> np.ndarray:
    many = min(int(np.ptp(omegas) / apart) + 2, MOST_NODES)
    return np.linspace(float(omegas.min()), float(omegas.max()), many)


def _log_masses(states: np.ndarray, chances: list[float]) -> np.ndarray:
    terms = np.array([[n * log(p) - lgamma(n + 1) for n, p in zip(row, chances, strict=True)] for row in states.tolist()])
    return np.asarray(terms.sum(axis=1) + lgamma(states[0].sum() + 1))


def _moves(states: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Both directions of every move of `step` players from one kind to another, as numbers of states."""
    at = {tuple(row): h for h, row in enumerate(states.tolist())}
    first, second = [], []
    for row, h in at.items():
        for i in range(len(row)):
            for j in range(len(row)):
                moved = list(row)
                moved[i] -= step
                moved[j] += step
                other = at.get(tuple(moved))
                if i != j and other is not None:
                    first.append(h)
                    second.append(other)
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
