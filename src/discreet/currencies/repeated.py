"""k releases of one known mechanism about the same database: its exact δ(ε), or a bracket of stated width.

For one edge the k-fold pair is composed exactly when its losses lie on a lattice (`lattice`) or its outcomes are few
(`outcomes`), and bracketed on a grid otherwise (`grid`). Over all edges

    δ(ε) = the largest over edges,

since the same mechanism reads the same database each time; edges whose moments cannot reach the best found are not
opened. With `adaptive=True` the upper end comes from one pair that dominates every edge at once: its curve is the
attack curve of the mechanism. It then also holds when later releases are chosen in view of earlier outputs, among
mechanisms that this pair dominates. When that pair is one of the edges, as for the geometric mechanism, both agree and
the result is exact. Randomness is fresh in every release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.currencies.bracket import INFINITE, ZERO, Bracket, Worst, as_printed
from discreet.currencies.channel import LossChannel, channel_of
from discreet.currencies.domination import excess
from discreet.currencies.grid import POINTS, grid_delta, grid_delta_of
from discreet.currencies.lattice import MOST_DEGREE, lattice_delta, lattice_of
from discreet.currencies.outcomes import listed_outcomes
from discreet.currencies.pair import Pair, exact_pair
from discreet.currencies.profiles import Profile, pair_delta, pair_epsilon
from discreet.currencies.tight import log_of
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact

LEADING = 4
MOST_OPENED = 64
MOST_CHECKED = 400_000


def compose_pair(pair: Pair, times: int, epsilon: object, *, points: int = POINTS) -> Bracket:
    """δ(ε) of k releases of one pair, in one direction."""
    level = _level(times, epsilon)
    lattice = lattice_of(pair)
    if lattice is not None and lattice.degree(times) <= MOST_DEGREE:
        return lattice_delta(lattice, times, level)
    listed = listed_outcomes(pair, times)
    if listed is not None:
        return pair_delta(listed, level)
    return grid_delta(pair, times, level, points=points)


def compose(source: Mechanism | LossChannel, times: int, epsilon: object, *, adaptive: bool = False, points: int = POINTS) -> Worst:
    """δ(ε) of k releases of a mechanism about the same database, worst over edges."""
    level = _level(times, epsilon)
    channel = channel_of(source)
    profile = _profile(channel)
    if profile.epsilon.ratio == 1:
        return Worst(ZERO)
    dominating, single = dominating_pair(profile)
    upper = compose_pair(dominating, times, level, points=points)
    if single is not None:
        return Worst(upper, channel.edge_labels(single))
    ceilings = np.full(channel.directed, math.inf) if adaptive else _ceilings(channel, times, float(level))
    leading = leading_edges(profile)
    order = leading if adaptive else [*leading, *(d for d in np.argsort(-ceilings).tolist() if d not in leading)]
    best, opened, covered = Worst(Bracket(-math.inf, math.inf)), -math.inf, False
    for rank, direction in enumerate(order):
        if rank >= len(leading) and ceilings[direction] <= max(best.lower, 0.0):
            covered = True
            break
        if rank >= MOST_OPENED:
            break
        found = compose_pair(channel.pair(*channel.states_of(direction)), times, level, points=points)
        opened = max(opened, found.upper)
        if found.lower > best.lower:
            best = Worst(found, channel.edge_labels(direction))
        covered = not adaptive and rank == len(order) - 1
    top = min(upper.upper, opened) if covered else upper.upper
    return Worst(Bracket(best.lower, max(top, best.lower)), best.edge)


def compose_many(releases: Sequence[tuple[Mechanism | LossChannel, int]], epsilon: object, *, points: int = POINTS) -> float:
    """An upper bound of δ(ε) for releases of several mechanisms, each as often as said; adaptive.

    Each mechanism enters as its dominating pair, so nothing is assumed about which of their edges go together.
    """
    level = _level(min((times for _, times in releases), default=1), epsilon)
    pairs = []
    for source, times in releases:
        seen = Profile(channel_of(source))
        if seen.epsilon.ratio != 1:
            pairs.append((dominating_pair(seen)[0], times))
    if not pairs:
        return 0.0
    if len(pairs) == 1:
        return compose_pair(*pairs[0], level, points=points).upper
    return grid_delta_of(pairs, level, points=points).upper


def compose_epsilon(
    source: Mechanism | LossChannel,
    times: int,
    delta: object,
    *,
    adaptive: bool = False,
    points: int = POINTS,
    tolerance: float = 1e-6,
) -> Bracket:
    """The ε of k releases at this δ: no smaller than `lower`, and `upper` is enough.

    k times the tight ε is always enough; where that is infinite, ε is finite only if δ covers what gives itself away.
    """
    chance = exact(delta, "delta")
    channel = channel_of(source)
    if not 0 < chance < 1:
        raise InputError("delta is out of range", found=str(chance), allowed="0 < delta < 1", remedy="correct delta")

    def at(level: float) -> Worst:
        return compose(channel, times, level, adaptive=adaptive, points=points)

    listed = _listed_epsilon(channel, times, chance, adaptive)
    if listed is not None:
        return listed
    if at(0.0).upper <= chance:
        return ZERO
    ceiling, enough = _enough(_profile(channel), times)
    if not enough:
        last = at(ceiling)
        if last.lower > chance:
            return INFINITE
        enough = last.upper <= chance
    lower = _first(lambda level: at(level).lower <= chance, ceiling, tolerance)[0]
    upper = _first(lambda level: at(level).upper <= chance, ceiling, tolerance)[1] if enough else math.inf
    return as_printed(lower, max(upper, lower))


def _listed_epsilon(channel: LossChannel, times: int, chance: Fraction, adaptive: bool) -> Bracket | None:
    """The same exactly, from the corners of every edge's outcomes, or None where they are too many."""
    if channel.directed > MOST_OPENED:
        return None
    found = []
    for direction in range(channel.directed):
        listed = listed_outcomes(channel.pair(*channel.states_of(direction)), times)
        if listed is None:
            return None
        found.append(pair_epsilon(listed, chance))
    lower, upper = max((b.lower for b in found), default=0.0), max((b.upper for b in found), default=0.0)
    profile = _profile(channel)
    if adaptive and profile.epsilon.ratio != 1:
        listed = listed_outcomes(dominating_pair(profile)[0], times)
        if listed is None:
            return None
        upper = max(upper, pair_epsilon(listed, chance).upper)
    return Bracket(lower, upper)


def _enough(profile: Profile, times: int) -> tuple[float, bool]:
    """An ε beyond which δ(ε) of all releases falls no further, and whether it is 0 there."""
    tight = profile.epsilon
    if tight.ratio is not None:
        return math.nextafter(times * tight.upper, math.inf), True
    ratios = [Fraction(p, q) for p, q in dominating_pair(profile)[0].key if p and q]
    return math.nextafter(times * log_of(max(ratios, default=Fraction(1))).upper, math.inf), False


def _first(enough: Callable[[float], bool], ceiling: float, tolerance: float) -> tuple[float, float]:
    """(low, high) around the first ε that is enough, if the ceiling is."""
    low, high = 0.0, ceiling
    while high - low > tolerance * (1 + high):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high


@lru_cache(maxsize=4)
def _profile(channel: LossChannel) -> Profile:
    """The profile of a channel, kept while the same one is asked about at several levels."""
    return Profile(channel)


@lru_cache(maxsize=4)
def dominating_pair(profile: Profile) -> tuple[Pair, int | None]:
    """A pair that dominates every edge, and the directed edge that it is, if it is one.

    Where the mechanism is small enough the corner edge is compared with all others exactly; otherwise corners are
    moved outward by the error of the attack curve, to the upper left.
    """
    curve, channel = profile.curve, profile.channel
    owners = {int(d) for d in curve.directions if d >= 0}
    if len(owners) >= 1 and channel.directed * len(channel.outputs) <= MOST_CHECKED:
        for direction in sorted(owners)[:LEADING]:
            pair = channel.pair(*channel.states_of(direction))
            if _dominates_all(pair, channel):
                return pair, direction
    hits = np.minimum(curve.hits * (1 + 2 * curve.relative_error) + curve.absolute_error, 1.0)
    hits = np.where(curve.hits == 0, 0.0, hits)
    alarms = np.maximum(curve.false_alarms * (1 - 2 * curve.relative_error) - curve.absolute_error, 0.0)
    corners = [(Fraction(a), Fraction(b)) for a, b in zip(alarms.tolist(), hits.tolist(), strict=True)]
    corners = [(Fraction(0), Fraction(0)), *corners, (Fraction(1), Fraction(1))]
    pieces = _differences(corners)
    return exact_pair([p for _, p in pieces], [q for q, _ in pieces]), None


def _differences(corners: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    pieces = []
    a_last, b_last = corners[0]
    for a, b in corners[1:]:
        a, b = max(a, a_last), max(b, b_last)
        if (a, b) != (a_last, b_last):
            pieces.append((a - a_last, b - b_last))
        a_last, b_last = a, b
    return pieces


def _dominates_all(pair: Pair, channel: LossChannel) -> bool:
    """Whether no edge has a larger δ anywhere: compared exactly at the kinks of the pair's own profile.

    Both profiles are convex in e^ε and the pair's is linear between its kinks, so comparing there is enough; beyond
    the last kink the pair's δ is its infinite mass, and before the first 1 − e^ε.
    """
    ratios = sorted({Fraction(p, q) for p, q in pair.key if q and p})
    own = [(x, excess(pair, x)) for x in ratios]
    leak = excess(pair, None)
    for direction in range(channel.directed):
        other = channel.pair(*channel.states_of(direction))
        if other.key == pair.key:
            continue
        if excess(other, None) > leak:
            return False
        if any(excess(other, x) > bound for x, bound in own):
            return False
    return True


def _ceilings(channel: LossChannel, times: int, level: float) -> Floats:
    """Upper bounds of every directed edge's δ: M(θ)^k e^(−θε) θ^θ/(1+θ)^(1+θ), the least over several θ."""
    every = np.arange(channel.directed)
    best = np.zeros(channel.directed)
    for theta in np.geomspace(1e-2, 1e3, 26).tolist():
        upper = channel.rows.moment_ends(every, np.full(channel.directed, theta))[1]
        peak = theta * math.log(theta) - (1 + theta) * math.log1p(theta)
        best = np.minimum(best, (times * upper - theta * level + peak) * (1 - 2.0**-48) + 1e-9)
    return np.asarray(np.exp(np.minimum(best, 0.0)) * (1 + 1e-9))


def leading_edges(profile: Profile) -> list[int]:
    """The directed edges that own most of the attack curve."""
    gaps = (profile.curve.hits - profile.curve.false_alarms).tolist()
    widest: dict[int, float] = {}
    for direction, gap in zip(profile.curve.directions.tolist(), gaps, strict=True):
        if direction >= 0:
            widest[direction] = max(gap, widest.get(direction, 0.0))
    return sorted(widest, key=lambda direction: -widest[direction])[:LEADING] or [0]


def _level(times: int, epsilon: object) -> Fraction:
    level = exact(epsilon, "epsilon")
    if level < 0 or times < 1:
        raise InputError(
            "Composition needs ε from 0 on and at least one release",
            found=f"ε = {level}, {times} releases",
            allowed="ε >= 0, 1 or more releases",
            remedy="correct them",
        )
    return level
