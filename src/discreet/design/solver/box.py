"""A clamp box on type counts, and the graph of histograms inside it.

A histogram n of N respondents over types 0..T is clamped by clipping n_j to [L_j, K_j] for every type j but a
reference type, which absorbs the rest.  Clamping is 1-Lipschitz for replace-one: a replacement moves at most two
coordinates by opposite unit steps and each clip keeps or removes its step.  The image stays in the simplex iff for
every subset S of the clipped types

    Σ_{i∉S} L_i + min(N, Σ_{i∈S} K_i) ≤ N        (all L = 0 suffices).

Notation: N size, L lower, K upper.
Reference: specialises SY Prop. 5's histograms; the clamp is a non-expansive retraction.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from discreet.design.solver.program import Floats, Integers
from discreet.errors import InputError, TooLarge

MOST_STATES = 2_000_000


@dataclass(frozen=True)
class Box:
    """Bounds [lower_j, upper_j] for every type; the reference type's own entries are 0 and `size`."""

    size: int
    reference: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def __post_init__(self) -> None:
        types = len(self.lower)
        if len(self.upper) != types or not 0 <= self.reference < types:
            raise InputError("the box does not fit the types", found=f"{types} lower, {len(self.upper)} upper",
                             allowed="one pair of bounds per type", remedy="give bounds for every type")
        for low, high in zip(self.lower, self.upper, strict=True):
            if not 0 <= low <= high <= self.size:
                raise InputError("a bound of the box is out of range", found=f"[{low}, {high}]",
                                 allowed=f"0 ≤ lower ≤ upper ≤ {self.size}", remedy="widen or move the box")
        if self.lower[self.reference] != 0 or self.upper[self.reference] != self.size:
            raise InputError("the reference type must be free", found="a bound on it",
                             allowed=f"[0, {self.size}]", remedy="clip the other types only")
        if not simplex_condition(self.size, self._clipped(self.lower), self._clipped(self.upper)):
            raise InputError("clamping to this box can leave the simplex", found=f"{self.lower}..{self.upper}",
                             allowed="for every set of clipped types, its upper bounds and the others' lower "
                                     "bounds fit in the population", remedy="set the lower bounds to zero")

    def _clipped(self, bounds: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(b for j, b in enumerate(bounds) if j != self.reference)

    @property
    def everything(self) -> bool:
        """Whether nothing is clamped at all."""
        return all(low == 0 for low in self.lower) and all(high == self.size for high in self.upper)

    def clamp(self, histograms: Integers) -> Integers:
        """The retraction, row by row, on histograms [state, type]."""
        clipped = np.clip(histograms, self.lower, self.upper)
        clipped[:, self.reference] = 0
        clipped[:, self.reference] = self.size - clipped.sum(axis=1)
        return np.asarray(clipped)

    def states(self) -> Integers:
        """All histograms inside the box, [state, type], in lexicographic order of the clipped types."""
        others = [j for j in range(len(self.lower)) if j != self.reference]
        room = 1
        for j in others:
            room *= self.upper[j] - self.lower[j] + 1
        if room > MOST_STATES:
            raise TooLarge("the histograms inside the box", size=room, fits=MOST_STATES,
                           remedy="raise the tail tolerance or use a coarser summary")
        rows = np.zeros((1, 0), dtype=np.int64)
        for j in others:
            counts = np.arange(self.lower[j], self.upper[j] + 1)
            rows = np.hstack([np.repeat(rows, len(counts), axis=0), np.tile(counts, len(rows))[:, None]])
            rows = rows[rows.sum(axis=1) <= self.size]
        full = np.zeros((len(rows), len(self.lower)), dtype=np.int64)
        full[:, others] = rows
        full[:, self.reference] = self.size - rows.sum(axis=1)
        return full


def simplex_condition(size: int, lower: tuple[int, ...], upper: tuple[int, ...]) -> bool:
    """Whether clipping to [lower, upper] keeps every histogram's clipped counts within `size`.

    The condition over all subsets S is equivalent to the largest Σ_{i∉S} L_i + min(N, Σ_{i∈S} K_i) being at most N;
    only subsets whose K reach N matter beyond ΣL, so the largest Σ_{i∉S} L_i with Σ_{i∈S} K_i ≥ 1 is sought
    by a table over reachable sums capped at N.
    """
    best = {0: 0}
    for low, high in zip(lower, upper, strict=True):
        following: dict[int, int] = {}
        for inside, outside in best.items():
            for key, gain in ((min(size, inside + high), outside), (inside, outside + low)):
                if following.get(key, -1) < gain:
                    following[key] = gain
        best = following
    return all(inside + outside <= size for inside, outside in best.items())


def histogram_edges(histograms: Integers) -> Integers:
    """Pairs (i, j), i < j, of histograms that differ by moving one respondent between two types."""
    types = histograms.shape[1]
    span = int(histograms.max(initial=0)) + 3
    if types * np.log2(span) < 62:
        power = span ** np.arange(types, dtype=np.int64)
        keys = (histograms + 1) @ power
        shifts = {(i, j): int(power[j] - power[i]) for i in range(types) for j in range(types) if i != j}
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        found = []
        for i, j in itertools.combinations(range(types), 2):
            moved = keys + shifts[i, j]
            place = np.minimum(np.searchsorted(ordered, moved), len(keys) - 1)
            hit = np.flatnonzero(ordered[place] == moved)
            found.append(np.stack([hit, order[place[hit]]], axis=1))
        edges = np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)
    else:
        index = {tuple(row): h for h, row in enumerate(histograms.tolist())}
        pairs = []
        for row, h in index.items():
            for i, j in itertools.combinations(range(types), 2):
                moved_row = list(row)
                moved_row[i] -= 1
                moved_row[j] += 1
                other = index.get(tuple(moved_row))
                if other is not None:
                    pairs.append((h, other))
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    edges = np.sort(edges, axis=1)
    return np.asarray(edges[np.lexsort((edges[:, 1], edges[:, 0]))])


def choose_box(marginals: Floats, tolerance: float, reference: int | None = None) -> Box:
    """The box that loses at most `tolerance` of weight, by taking the least weighty count off any end in turn.

    `marginals[j, n]` is the weight of type j's count being n (a prior, or a prior times a loss); the union bound
    over clipped ends is what is spent.  The reference is the type with the largest mean count unless given.
    """
    types, size = marginals.shape[0], marginals.shape[1] - 1
    if reference is None:
        reference = int(np.argmax(marginals @ np.arange(size + 1)))
    lower, upper = [0] * types, [size] * types
    allowance = tolerance
    crumb = tolerance / (200.0 * types)
    for j in range(types):
        if j != reference:
            # Ends so light that no choice between them matters go at once; the loop then has little to do.
            lower[j] = min(int(np.searchsorted(np.cumsum(marginals[j]), crumb)), size)
            cut = int(np.searchsorted(np.cumsum(marginals[j, ::-1]), crumb))
            upper[j] = max(size - cut, lower[j])
            allowance -= 2 * crumb
    while True:
        loose = [j for j in range(types) if j != reference and lower[j] < upper[j]]
        ends = [(float(marginals[j, lower[j]]), j, 1) for j in loose]
        ends += [(float(marginals[j, upper[j]]), j, -1) for j in loose]
        ends = [end for end in ends if end[0] <= allowance]
        if not ends:
            break
        weight, j, side = min(ends)
        allowance -= weight
        if side > 0:
            lower[j] += 1
        else:
            upper[j] -= 1
    others = [j for j in range(types) if j != reference]
    if not simplex_condition(size, tuple(lower[j] for j in others), tuple(upper[j] for j in others)):
        lower = [0] * types
    return Box(size, reference, tuple(lower), tuple(upper))
