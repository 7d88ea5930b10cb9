"""A program on a sum and a count: what most respondents add up to, and how many are far from them.

Far types are few and worth much. A weighted sum either clips them or lets its noise grow with them, whether there are any or not;
a kernel that reads

    s = Σ_i w(θ_i) over the near types,     j = how many respondents have a far type

adds little noise to s where j is small, and more where it is not: neighbours differ by one in j. The pair is one weighted sum,
S = s + B·j with B above every s, whose table the checker knows. A program on a box of few j and likely s serves all totals: more
far respondents are added to s for what they are worth, larger s land on the edge, and the edges of the program are the images of
all edges. Where near types have one weight this is a program on two counts.

Conditions: a fixed number of respondents, who replace one another, alike or drawn from a Dirichlet; any decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, sqrt

import numpy as np

from discreet.design.ladder.mechanisms.noise import unit_variance
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.programs import Read, SummaryScene, read, scene_of
from discreet.design.ladder.mechanisms.proxy import lattice_weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.weights import CLIPPED
from discreet.design.schedule import SECONDS_PER_PAIR, spend
from discreet.errors import TooLarge
from discreet.model.states import state_space
from discreet.model.summary import LinearSummary
from discreet.watch import SILENT, Watch

MOST_COLUMNS = 8_000
"""Totals that the table of a pair may have."""
UNLIKELY = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Probabilities that s may have beyond the box; the least that the time allows is taken."""
TOLD = 6.0
"""Over ε, how many far respondents are told apart: many more of them have the noise of a plain sum anyway."""
FINEST = 12
"""The largest weight of a near type."""
GRAIN, USUAL = 0.5, 8
"""Actions lie so much of the noise on a near respondent apart, and so many to a deviation of ω where that is not closer."""

Pair = tuple[Weights, tuple[int, ...]]
"""Weights of the near types, and which types are far."""


def pairs_of(reader: Reader, weights: Weights) -> Iterator[Pair]:
    """Pairs worth trying, in order: far is what a weighted sum clips, or a type fewer or more; near by value or as one."""
    values = np.asarray(reader.values)
    ends = [int(np.argmin(values)), int(np.argmax(values))]
    origin = max(ends, key=lambda t: reader.probabilities[t])
    away = np.abs(values - values[origin])
    order = [int(t) for t in np.argsort(away, kind="stable") if away[t] > 0]
    reads = np.abs(np.asarray(weights) - weights[origin])
    clipped = sum(int(reads[t]) < CLIPPED * int(reads.max()) for t in order)
    seen: set[Pair] = set()
    for first in (clipped, clipped + 1, clipped - 1, clipped + 2):
        near, far = order[:first], tuple(order[first:])
        if near and far:
            steps = _steps(away, near)
            for each in (steps, np.minimum(steps, 1)):
                pair = tuple(int(each[t]) if t in near else 0 for t in range(len(values))), far
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def _steps(away: np.ndarray, near: Sequence[int]) -> np.ndarray:
    """Distances of the near types as whole numbers, from 0 up to `FINEST`."""
    exact, _ = lattice_weights([0.0, *(float(away[t]) for t in near)])
    coarse = np.asarray(exact[1:]) / max(1.0, max(exact) / FINEST)
    steps = np.zeros(len(away), dtype=np.int64)
    steps[list(near)] = np.maximum(np.round(coarse), 1)
    return steps


def read_pair(reader: Reader, pair: Pair, seconds: float, watch: Watch = SILENT) -> Read | None:
    """The best kernel on a sum of near types and a count of far ones; None when it is too large, or takes longer than `seconds`."""
    box = box_of(reader, pair, seconds)
    return None if box is None else read(reader, box, watch)


def box_of(reader: Reader, pair: Pair, seconds: float) -> SummaryScene | None:
    """The likely sums and counts, as many as a program of so many seconds holds; None when those are too few."""
    near, far = pair
    n, base = reader.respondents, reader.respondents * max(near) + 1
    if n * base // 2 > MOST_COLUMNS:
        return None
    weights = tuple(base if t in far else w for t, w in enumerate(near))
    try:
        if not reader.squared and reader.population.joint_seconds(weights) > seconds:
            return None
        law = reader.population.law(weights)
    except TooLarge:
        return None
    summary = LinearSummary(reader.for_every_type(weights))
    space = state_space(reader.problem.universe, reader.problem.neighbours, summary)
    totals = space.vectors[:, 0]
    at = totals - law.first
    held = (at >= 0) & (at < len(law.masses))
    masses = np.where(held, law.masses[np.where(held, at, 0)], 0.0)
    counts, sums = np.divmod(totals, base)
    told = min(_cap(counts, masses, UNLIKELY[0]), ceil(TOLD / reader.epsilon) + 2)
    sums, counts = sums + _worth(reader, pair) * np.maximum(counts - told, 0), np.minimum(counts, told)
    values = np.asarray(reader.values)
    finest = GRAIN * sqrt(unit_variance(reader.epsilon)) * float(np.ptp(values[[t for t in range(len(near)) if t not in far]]))
    for share in UNLIKELY:
        clamped = base * counts + np.minimum(sums, _cap(sums, masses, share))
        inner, image = np.unique(clamped, return_inverse=True)
        guess = len(inner) ** 2 * SECONDS_PER_PAIR * max(1.0, reader.population.spread() / (USUAL * finest))
        if guess <= seconds:
            spend(guess)
            return replace(scene_of(weights, summary, space, image), finest=finest)
    return None


def _worth(reader: Reader, pair: Pair) -> int:
    """A far respondent in steps of the near sum, on average."""
    (near, far), values = pair, np.asarray(reader.values)
    last = int(np.argmax(near))
    origin = next(t for t, w in enumerate(near) if w == 0 and t not in far)
    mean = float(np.average(values[list(far)], weights=reader.probabilities[list(far)]))
    return round(near[last] * abs((mean - values[origin]) / (values[last] - values[origin])))


def _cap(numbers: np.ndarray, masses: np.ndarray, share: float) -> int:
    """The number that is exceeded with no more than this probability."""
    beyond = np.cumsum(np.bincount(numbers, masses)[::-1])[::-1]
    return int(np.count_nonzero(beyond > share)) - 1
