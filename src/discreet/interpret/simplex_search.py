"""The maximum of a likelihood over type probabilities: many starts, no place to get stuck, and conditions checked.

With E_t = E[H_t | s, θ] the expected counts of types given all published values, n respondents in all and M the factorial
moments E[H_t H_u − δ_tu H_t | s],

    g_t = ∂ℓ/∂θ_t = E_t/θ_t,        J_tu = −∂²ℓ/∂θ_t∂θ_u = Σ_cells (g_t g_u − M_tu/(θ_t θ_u)).

The search goes over the sphere θ = z², |z| = 1, by Newton's steps: along it ℓ has the gradient 2z(g − n) and the curvature
2·diag(g − n) − 4·diag(z) J diag(z). Nothing is flat there (in logits the gradient dies out along with the probabilities, and a
long first step never comes back): the gradient vanishes only where the conditions for a maximum hold, or where some z_t = 0 or
the curvature points up, and then a step is taken along it. At a maximum g_t = n for every type in use and g_t ≤ n for the
others, so `gap` = max g_t − n is 0; where ℓ is concave no θ has more than `gap` beyond.

References: BG eq. (3); Louis (1982) for derivatives of incomplete data; Frank & Wolfe (1956) for the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import comb

import numpy as np

from discreet.interpret.models import MultinomialModel
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.logspace import log_sum_exp

MOST_POINTS = 150
"""Points of the lattice on which starts are looked for."""
INSIDE = 0.2
"""How far, in steps of the lattice, its edge stays away from the edge of the simplex."""
LEAN, MOST_PAIRED = 0.9, 6
DEEP = 10.0
LEAST = 1e-12
"""Probabilities below this count as zero."""
CLOSE = 1e-6
"""The gap, for each cell, at which a search counts as successful; searches go on to a thousandth of it."""
UPWARD = 1e-6
"""Curvature that points up, relative to the largest, by more than rounding."""
LONGEST, SHORTEST = 0.5, 1e-9
"""The longest and the shortest step, in radians."""
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Standing:
    """ℓ at one θ, with what follows from one pass of Bayes' rule."""

    theta: Floats
    value: float
    expected: Floats
    by_output: tuple[tuple[Floats, Floats, Floats], ...]

    @property
    def scores(self) -> Floats:
        """∂ℓ/∂θ_t."""
        return np.asarray(self.expected / self.theta)

    @property
    def gap(self) -> float:
        """max_t g_t − n: how much a straight step towards one type could still gain to first order."""
        return float(max(self.scores.max() - self.expected.sum(), 0.0))

    @cached_property
    def information(self) -> Floats:
        """−∂²ℓ/∂θ_t∂θ_u."""
        found = np.zeros((len(self.theta), len(self.theta)))
        for counts, weights, vectors in self.by_output:
            scores = (weights @ vectors) / self.theta
            found += (scores.T * counts) @ scores
            mass = counts @ weights
            moments = (vectors.T * mass) @ vectors - np.diag(mass @ vectors)
            found -= moments / np.outer(self.theta, self.theta)
        return found


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Models with how often each output was published."""

    groups: tuple[tuple[MultinomialModel, Floats], ...]

    @property
    def types(self) -> int:
        """How many type probabilities there are."""
        return int(self.groups[0][0].universe.types)

    @property
    def cells(self) -> int:
        """How many values were published."""
        return int(sum(counts.sum() for _, counts in self.groups))

    def at(self, theta: Floats) -> Standing:
        """ℓ(θ) and expected counts of types given all published values; −∞ where they are impossible."""
        clean = np.maximum(theta, LEAST)
        clean = clean / clean.sum()
        total, expected, kept = 0.0, np.zeros(len(clean)), []
        for model, counts in self.groups:
            seen = counts > 0
            logs = model.log_kernel[seen] + model.log_atoms(clean)
            peaks = log_sum_exp(logs, axis=1)
            total += float(counts[seen] @ peaks)
            if not np.isfinite(peaks).all():
                return Standing(clean, -np.inf, expected, ())
            weights, vectors = np.exp(logs - peaks[:, None]), model.vectors.astype(np.float64)
            expected += counts[seen] @ weights @ vectors
            kept.append((counts[seen], weights, vectors))
        return Standing(clean, total, expected, tuple(kept))


@dataclass(frozen=True)
class Held:
    """One type whose probability is held fixed while the others are searched."""

    kind: int
    probability: float


def search(data: Likelihood, starts: list[Floats], held: Held | None = None) -> Standing:
    """The best place reached from the given starts."""
    return max((_climb(data, start, held) for start in starts), key=lambda place: place.value)


def modes(data: Likelihood) -> list[Standing]:
    """The different maxima reached from the starts, best first.

    Those whose likelihood is less than e^−`DEEP` of the best are left out.
    """
    climbed = sorted((_climb(data, start, None) for start in _starts(data)), key=lambda place: -place.value)
    found: list[Standing] = []
    for place in climbed:
        apart = all(np.abs(place.theta - other.theta).max() > 1e-4 for other in found)
        if apart and place.value > climbed[0].value - DEEP:
            found.append(place)
    return found or climbed[:1]


def _starts(data: Likelihood) -> list[Floats]:
    """Points of a lattice inside the simplex that no neighbouring point beats, and points that lean to one type or to two."""
    types = data.types
    steps = max(k for k in range(1, 41) if k == 1 or comb(k + types - 1, types - 1) <= MOST_POINTS)
    points = [np.diff([-1, *cuts, steps + types - 1]) - 1 for cuts in combinations(range(steps + types - 1), types - 1)]
    heights = {tuple(h.tolist()): data.at((h + INSIDE) / (steps + types * INSIDE)).value for h in points}
    tops = [h for h, height in heights.items() if height >= max(heights[n] for n in _neighbours(h)) and height > -np.inf]
    even, units = np.full(types, 1 / types), list(np.eye(types))
    pairs = [(a + b) / 2 for a, b in combinations(units, 2)] if types <= MOST_PAIRED else []
    leaning = [LEAN * way + (1 - LEAN) * even for way in (*units, *pairs)]
    return [*((np.array(h) + INSIDE) / (steps + types * INSIDE) for h in tops), *leaning]


def _neighbours(point: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The points one unit away, and the point itself."""
    found = [point]
    for a, b in permutations(range(len(point)), 2):
        if point[a]:
            found.append(tuple(x - (t == a) + (t == b) for t, x in enumerate(point)))
    return found


def _climb(data: Likelihood, start: Floats, held: Held | None) -> Standing:
    """Newton's steps on the sphere, upward along every direction, until the gap is closed or nothing gains."""
    free = np.array([t for t in range(data.types) if held is None or t != held.kind])
    room = 1.0 if held is None else 1.0 - held.probability

    def at(z: Floats) -> Standing:
        theta = np.zeros(data.types)
        theta[free] = room * z**2
        if held is not None:
            theta[held.kind] = held.probability
        return data.at(theta)

    z = np.sqrt(np.maximum(start[free], 1e-6))
    z /= np.linalg.norm(z)
    place = at(z)
    if len(free) == 1 or not np.isfinite(place.value):
        return place
    for _ in range(MOST_STEPS):
        newton, upward = _steps(place, z, free, room)
        if upward is None and _gap(place, free) <= 1e-3 * CLOSE * data.cells:
            return place
        moved = _moved(at, place, z, newton, (1.0,))
        if moved is None and upward is not None:
            moved = _moved(at, place, z, upward, (1.0, -1.0))
        if moved is None:
            return place
        z, place = moved
    return place


def _steps(place: Standing, z: Floats, free: Integers, room: float) -> tuple[Floats, Floats | None]:
    """Newton's step with every curvature taken as downward, and the direction of the largest upward one, if any."""
    scores = place.scores[free]
    total = float(place.expected[free].sum())
    basis = np.linalg.qr(np.column_stack([z, np.eye(len(z))]))[0][:, 1:]
    gradient = basis.T @ (2 * z * (room * scores - total))
    curved = 2 * np.diag(room * scores - total) - 4 * room**2 * np.outer(z, z) * place.information[np.ix_(free, free)]
    values, vectors = np.linalg.eigh(basis.T @ curved @ basis)
    largest = float(np.abs(values).max())
    newton = basis @ (vectors @ (vectors.T @ gradient / np.maximum(np.abs(values), 1e-12 * largest + 1e-300)))
    length = float(np.linalg.norm(newton))
    if length > LONGEST:
        newton = newton * (LONGEST / length)
    return np.asarray(newton), np.asarray(LONGEST * basis @ vectors[:, -1]) if values[-1] > UPWARD * largest else None


def _moved(
    at: Callable[[Floats], Standing], place: Standing, z: Floats, step: Floats, signs: tuple[float, ...]
) -> tuple[Floats, Standing] | None:
    """The first place along the great circle, halfway back each time, that gains; None when none does."""
    length = float(np.linalg.norm(step))
    while length > SHORTEST:
        for sign in signs:
            way = np.cos(length) * z + sign * np.sin(length) * step / np.linalg.norm(step)
            found = at(way / np.linalg.norm(way))
            if found.value > place.value:
                return way / np.linalg.norm(way), found
        length /= 2
    return None


def _gap(place: Standing, free: Integers) -> float:
    """The gap among the free types, whose scores at a maximum equal their mean weighted by θ."""
    share = float(place.theta[free].sum())
    return float(place.scores[free].max() * share - place.expected[free].sum())
