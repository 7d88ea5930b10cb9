"""Proposing cuts for players (`certify.bounds.players`): of which kinds, how many of them, and the programs on their histograms.

Kinds are single values of types. Two kinds leave a path; three leave a triangle, which hides more where one replacement tells
little. A quick guess ranks them: with Gaussian noise on a normal count of variance V, (v − v′)²/(1/V + 2ρ) is lost.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import lgamma, log, sqrt

import numpy as np

from discreet.certify.bounds.concentrated_chain import why_not_under_rho
from discreet.certify.bounds.players import MOST_STATES, among_players
from discreet.design.concentrated.cuts import ROOT, packed
from discreet.design.solver.renyi import RenyiProgram, RenyiSolution, solve_renyi
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
OUTSIDE = 1e-6
"""The share of each kind's count that the box may leave out at either end."""
FINENESS = 0.15
"""The distance between nodes, in units of the root of the guessed loss: what chords lose is a quarter of its square at most."""
COARSE = 0.25
"""Moves are of as many players as keep k²ρ below this: the remainders modulo k are given away, which loses little."""
CLOSE = 3e-3
"""How near programs are solved, relative to the guessed loss."""
MOST_NODES, MOST_TOGETHER = 400, 250
"""Nodes of actions, and histograms in one program, at most."""


def players_witness(problem: Problem, watch: Watch) -> PlayersWitness | None:
    """The witness for the kinds that hide most by the guess; None where the theorem does not apply or the time is over."""
    if why_not_under_rho(problem) is not None:
        return None
    law = iid_sum(problem)
    kinds = _kinds(problem, law)
    if kinds is None:
        return None
    return _witness(problem, law, kinds, watch)


def _kinds(problem: Problem, law: IidSum) -> Kinds | None:
    """The two values whose path hides most by the guess."""
    of: dict[Fraction, list[int]] = {}
    for t, value in zip(law.types, law.values, strict=True):
        of.setdefault(value, []).append(t)
    chances = dict(zip(law.types, law.probabilities, strict=True))

    def guess(pair: tuple[Fraction, Fraction]) -> float:
        x, z = (float(sum(chances[t] for t in of[value])) for value in pair)
        return float(pair[1] - pair[0]) ** 2 * _hidden(law.respondents * x * z / (x + z), float(problem.rho))

    best = max(combinations(sorted(of), 2), key=guess, default=None)
    return None if best is None else tuple(tuple(of[value]) for value in best)


def _hidden(variance: float, rho: float) -> float:
    return 1 / (1 / variance + 2 * rho)


def _witness(problem: Problem, law: IidSum, kinds: Kinds, watch: Watch) -> PlayersWitness | None:
    share = float(sum(p for t, p in zip(law.types, law.probabilities, strict=True) if any(t in kind for kind in kinds)))
    mean, spread = law.respondents * share, sqrt(law.respondents * share * max(1 - share, 0.0))
    levels = LEVELS[spread < VARIES_LITTLE * mean] if spread > 0 else (0.0,)
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
    law, rho = iid_sum(problem), float(problem.rho)
    players, chances = law.respondents, [float(p) for p in law.probabilities]
    box = _box(players, chances)
    narrow = min(sqrt(players * p * (1 - p)) for j, p in enumerate(chances) if j in box.clipped)
    step = max(1, int(min(sqrt(COARSE / rho), narrow / 2)))
    room = np.prod([box.upper[j] - box.lower[j] + 1 for j in box.clipped], dtype=float)
    if room > MOST_STATES or room > MOST_TOGETHER * step ** len(box.clipped):
        return None
    assert box.reference is not None
    states = boxed_histograms(players, box.lower, box.upper, box.reference)
    masses, omegas = np.exp(_log_masses(states, chances)), states @ np.array([float(v) for v in law.values])
    guess = float(problem.decision.weight) * _hidden(float(masses @ (omegas - masses @ omegas) ** 2), rho)
    nodes = _nodes(omegas, guess / float(problem.decision.weight))
    cost = float(problem.decision.weight) * masses * problem.decision.loss.table(nodes, omegas)
    first, second = _moves(states, step)
    order = np.full(len(first), 1 + 1 / ROOT)
    whole = RenyiProgram(cost, first, second, order, np.exp(order * (order - 1) * rho * step**2))
    found = _by_remainders(whole, states % step, CLOSE * guess, watch)
    if found.bound <= 0:
        return None
    cuts = packed(box, whole, found, [Fraction(float(a)) for a in nodes], problem.omega_range)
    return PlayersPart(players, step, cuts)


def _by_remainders(whole: RenyiProgram, remainders: np.ndarray, close: float, watch: Watch) -> RenyiSolution:
    """The program of each class of histograms that moves join, one after the other while there is time."""
    shape, weights, bound, steps = np.full(whole.cost.shape, 1 / len(whole.cost)), np.zeros(len(whole.first)), 0.0, 0
    number = np.unique(remainders, axis=0, return_inverse=True)[1].ravel()
    for k in range(number.max() + 1):
        if watch.cancelled():
            break
        inside, cuts = np.flatnonzero(number == k), np.flatnonzero(number[whole.first] == k)
        if not len(cuts):
            continue
        place = np.zeros(len(number), dtype=np.int64)
        place[inside] = np.arange(len(inside))
        part = RenyiProgram(
            whole.cost[:, inside], place[whole.first[cuts]], place[whole.second[cuts]], whole.order[cuts], whole.limit[cuts]
        )
        start = np.full(part.cost.shape, 1 / len(part.cost))
        share = part.cost.sum() / whole.cost.sum()
        found = solve_renyi(part, start, close * share / float((part.cost * start).sum()), watch)
        if found.bound > 0:
            shape[:, inside], weights[cuts] = found.shape, found.weights
            bound, steps = bound + found.bound, steps + found.steps
    return RenyiSolution(shape, shape, weights, float("nan"), bound, steps)


def _box(players: int, chances: list[float]) -> Clamp:
    """All counts but the likeliest kind's between their likely ends."""
    from scipy import stats

    reference = int(np.argmax(chances))
    ends = [(int(stats.binom.ppf(OUTSIDE, players, p)), int(stats.binom.isf(OUTSIDE, players, p))) for p in chances]
    ends[reference] = (0, players)
    lower = tuple(low for low, _ in ends)
    if sum(low for j, low in enumerate(lower) if j != reference) > players:
        lower = (0,) * len(chances)
    return Clamp(lower, tuple(high for _, high in ends), reference)


def _nodes(omegas: np.ndarray, guess: float) -> np.ndarray:
    span = float(np.ptp(omegas))
    many = min(int(span / (FINENESS * sqrt(guess))) + 2, MOST_NODES)
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
