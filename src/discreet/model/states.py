"""State spaces: the graph that a summary makes of the universe. Solvers and checkers see only this.

States are the values that the summary can take; an edge joins two states when some pair of neighbouring databases
lands on them. The graph is always derived from universe, neighbours and summary, never read from a file.

A block is the set of states reached by varying one respondent while the others stay: for replace-one the states
r + e_0 … r + e_T over each database r of the others; for add-remove-one also r itself (the respondent is absent);
for a given graph each edge. Mutual-information privacy (CY) is a capacity over blocks. Only maximal blocks are kept.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property, lru_cache
from itertools import combinations
from math import gcd

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.model.neighbours import AddRemoveOne, GivenGraph, Neighbours, check_fit, given_graph
from discreet.model.summary import (
    Clamp,
    DatabaseSummary,
    HistogramSummary,
    LinearSummary,
    Summary,
    check_summary,
)
from discreet.model.together import ask
from discreet.model.universe import MOST_STATES, AnyUniverse, ListedUniverse, Universe, boxed_histograms
from discreet.numerics.exact import brief, counted

MOST_DATABASES = 100_000
"""The most whole databases that a state space lists."""
_BEYOND = 2**62
"""Larger than any count, and safe in 64 bits."""
MOST_TOTAL_BITS = 100_000_000_000
"""Bound on respondents × weights × range of a weighted sum when its totals are listed: bits that are shifted."""
MOST_RANGE = 400_000_000
"""Bound on the range itself: bits that are held."""
MOST_EDGES = 20_000_000
MOST_REMEMBERED = 30_000
"""Histograms of a space that is kept for whoever asks again."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """States in order, their graph and blocks.

    `vectors` [state, coordinate] holds counts of types, or one total, or the types of each respondent.
    `edges` is an array of pairs (i, j) with i < j, each once, sorted. `blocks` [block, member] is padded with −1.
    """

    labels: tuple[str, ...]
    vectors: np.ndarray
    edges: np.ndarray
    blocks: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def index(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def around(self) -> list[list[int]]:
        """The adjacent states of each state."""
        around: list[list[int]] = [[] for _ in self.labels]
        for a, b in self.edges.tolist():
            around[a].append(b)
            around[b].append(a)
        return around

    def distances(self, start: int) -> np.ndarray:
        """Steps from one state to every state; −1 where there is no path."""
        steps = [-1] * len(self)
        steps[start] = 0
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for there in self.around[here]:
                if steps[there] < 0:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        return np.array(steps)

    @cached_property
    def component(self) -> np.ndarray:
        """The number of the connected component of each state, in order of first appearance."""
        number = np.full(len(self), -1)
        for state in range(len(self)):
            if number[state] < 0:
                number[self.distances(state) >= 0] = number.max() + 1
        return number

    @cached_property
    def diameter(self) -> int:
        """The longest finite distance between two states."""
        return max(int(self.distances(i).max()) for i in range(len(self)))


def state_space(universe: AnyUniverse, neighbours: Neighbours, summary: Summary) -> StateSpace:
    """The graph of a summary over a universe."""
    check_fit(universe, neighbours)
    check_summary(summary, universe, neighbours)
    if isinstance(universe, ListedUniverse):
        return _listed_space(universe, given_graph(neighbours))
    presence = isinstance(neighbours, AddRemoveOne)
    if isinstance(summary, DatabaseSummary):
        return _database_space(universe, presence)
    if isinstance(summary, LinearSummary):
        return _linear_space(universe, summary, presence)
    if presence:
        return _histogram_space_of_any_size(universe, summary.clamp)
    few = universe.histogram_count <= MOST_REMEMBERED
    return (_histogram_space_again if few else _histogram_space)(universe, summary.clamp)


def locate(space: StateSpace, summary: Summary, vectors: np.ndarray) -> np.ndarray:
    """The state of each row: a histogram of types, or for the summary `database` the types of each respondent."""
    if isinstance(summary, LinearSummary):
        totals = vectors @ np.array(summary.weights)
        low, high = int(space.vectors[0, 0]), int(space.vectors[-1, 0])
        return _found(space.vectors[:, 0], np.clip(totals, low, high))
    if isinstance(summary, HistogramSummary) and summary.clamp is not None:
        vectors = _clamped(summary.clamp, vectors)
    return _Lookup(space.vectors)(vectors)


def _clamped(clamp: Clamp, vectors: np.ndarray) -> np.ndarray:
    """`HistogramSummary.of_histogram` for every row."""
    lower, upper = (
        np.array([0 if j == clamp.reference else min(end, _BEYOND) for j, end in enumerate(ends)], dtype=np.int64)
        for ends in (clamp.lower, clamp.upper)  # those of the reference say nothing
    )
    counts = np.minimum(np.maximum(vectors, lower), upper)
    if clamp.reference is None:
        return counts
    sizes = vectors.sum(axis=1)
    counts[:, clamp.reference] = 0
    held = counts.sum(axis=1)
    least, most = (0, _BEYOND) if clamp.rest is None else clamp.rest
    low, high = np.maximum(sizes - min(most, _BEYOND), 0), sizes - min(least, _BEYOND)
    for j in clamp.clipped:
        others = held - counts[:, j]
        moved = np.maximum(np.minimum(counts[:, j], high - others), lower[j])
        counts[:, j] = np.minimum(np.maximum(moved, low - others), upper[j])
        held = others + counts[:, j]
    counts[:, clamp.reference] = sizes - held
    return counts


def _listed_space(universe: ListedUniverse, graph: GivenGraph) -> StateSpace:
    index = {name: i for i, name in enumerate(universe.names)}
    blocks = np.array([[index[a], index[b]] for a, b in graph.edges], dtype=np.int64).reshape(-1, 2)
    vectors = np.zeros((len(universe.names), 0), dtype=np.int64)
    return StateSpace(universe.names, vectors, _pairs(blocks, star=False), blocks)


def _database_space(universe: Universe, presence: bool) -> StateSpace:
    """Databases in order, the first respondent slowest: the types are the digits of the index."""
    if presence:
        raise InputError(
            "Databases of different sizes are not listed one by one",
            found="summary 'database', add-remove-one",
            allowed="the summaries 'histogram' and 'linear'",
            remedy="use the histogram of types",
        )
    universe.must_list(universe.database_count, "databases", MOST_DATABASES)
    n, k = universe.respondents, universe.types
    index = np.arange(k**n)
    strides = k ** np.arange(n)[::-1]
    vectors = index[:, None] // strides % k
    blocks = np.concatenate([index[vectors[:, i] == 0][:, None] + np.arange(k) * strides[i] for i in range(n)])
    return StateSpace(_labels(vectors), vectors, _pairs(blocks, star=False), blocks)


def _histogram_space(universe: Universe, clamp: Clamp | None) -> StateSpace:
    """Replace-one. Every histogram within the bounds is its own image, so the image is box ∩ simplex and edges are induced.

    The block over r has as its base r + e_reference, a state unless the rest is at its most; type j joins it unless its
    count is at its cap or the rest at its least.
    """
    n = universe.respondents
    if clamp is None:
        universe.must_list(universe.histogram_count, "histograms")
        clamp = Clamp((0,) * universe.types, (n,) * universe.types, reference=0)
    reference = clamp.reference
    assert reference is not None
    _must_list_box(universe, clamp)
    least, most = (n - end for end in reversed(clamp.room(n)))
    lower, upper = list(clamp.lower), [min(cap, n) for cap in clamp.upper]
    lower[reference], upper[reference] = least, most
    vectors = boxed_histograms(n, tuple(lower), tuple(upper), reference)
    lookup = _Lookup(vectors)
    upper[reference] = most + 1
    bases = boxed_histograms(n, tuple(lower), tuple(upper), reference)
    blocks = np.full(bases.shape, -1)
    for j in range(universe.types):
        moved = bases.copy()
        moved[:, reference] -= 1
        moved[:, j] += 1
        possible = (moved[:, reference] >= least) & (moved[:, reference] <= most) & (moved[:, j] <= upper[j])
        blocks[possible, j] = lookup(moved[possible])
    return StateSpace(_labels(vectors), vectors, _pairs(blocks, star=False), _worthwhile(blocks))


@lru_cache(maxsize=4)
def _histogram_space_again(universe: Universe, clamp: Clamp | None) -> StateSpace:
    """The same, remembered: design and proof ask for one space several times. Nobody may write into it."""
    found = _histogram_space(universe, clamp)
    for array in (found.vectors, found.edges, found.blocks):
        array.setflags(write=False)
    return found


def _histogram_space_of_any_size(universe: Universe, clamp: Clamp | None) -> StateSpace:
    """Add-remove-one. Counts are clipped from above one by one; a state too small is an image if a count is capped."""
    a, b, k = universe.smallest, universe.largest, universe.types
    universe.must_list(universe.histogram_count, "histograms")
    if clamp is None:
        vectors, upper = universe.histograms(), (b,) * k
    else:
        upper = tuple(min(cap, b + 1) for cap in clamp.upper)  # a cap beyond b is never reached
        vectors = boxed_histograms(b, (0, *clamp.lower), (b, *upper), 0)[:, 1:]  # the first column: room below b
        capped = (vectors == np.array(upper)).any(axis=1)
        vectors = vectors[capped | (vectors.sum(axis=1) >= a)]
        vectors = vectors[np.lexsort((*vectors.T, vectors.sum(axis=1)))]
    lookup = _Lookup(vectors)
    blocks = np.full((len(vectors), k + 1), -1)
    blocks[:, 0] = np.arange(len(vectors))
    for j in range(k):
        moved = vectors.copy()
        moved[:, j] += 1
        possible = (moved.sum(axis=1) <= b) & (moved[:, j] <= upper[j])
        blocks[possible, j + 1] = lookup(moved[possible])
    return StateSpace(_labels(vectors), vectors, _pairs(blocks, star=True), _worthwhile(blocks))


def _linear_space(universe: Universe, summary: LinearSummary, presence: bool) -> StateSpace:
    """Totals that some database reaches, and the pairs of totals that one respondent joins."""
    weights = sorted(set(summary.weights))
    first = universe.smallest if presence else universe.respondents
    others = _reached(weights, max(first - (0 if presence else 1), 0), universe.largest - 1)
    totals = _reached(weights, first, universe.largest)
    low, high = summary.range(universe)
    if max(abs(low), abs(high)) >= 2**62:
        raise TooLarge(
            "The bounds of the weighted sum are too large to list its totals",
            size=brief(max(abs(low), abs(high))),
            fits="totals below 2^62",
            remedy="use a closed-form kernel, which needs no list, or smaller bounds",
        )
    vectors = np.unique(np.clip(totals, low, high))[:, None]
    ends = [others + w for w in weights]
    members = np.column_stack([others, *ends] if presence else ends)
    blocks = np.searchsorted(vectors[:, 0], np.clip(members, low, high))
    return StateSpace(_labels(vectors), vectors, _pairs(blocks, star=presence), _distinct(blocks))


def _reached(weights: list[int], smallest: int, largest: int) -> np.ndarray:
    """The totals of `smallest`..`largest` respondents, by shifting a set of bits once for each respondent."""
    unit = gcd(*weights) or 1
    shifts = [w // unit for w in weights]
    low = min(0, shifts[0])
    width = largest * (max(shifts[-1], 0) - low) + 1
    if width * unit >= 2**62 or width > MOST_RANGE or width * max(largest, 1) * len(shifts) > MOST_TOTAL_BITS:
        raise _too_many_totals(width, largest)
    ask(width * max(largest, 1) * len(shifts), MOST_TOTAL_BITS)
    if len(shifts) == 1:  # everybody adds the same: nothing is to be shifted a hundred million times
        if largest - smallest >= MOST_STATES and shifts[0]:
            raise _too_many_totals(largest - smallest + 1, largest)
        sizes = np.arange(smallest, largest + 1) if shifts[0] else np.zeros(1, dtype=np.int64)
        return np.sort(sizes * shifts[0] * unit)
    origin = -largest * low
    reached, kept = 1 << origin, 1 << origin if smallest == 0 else 0
    for n in range(1, largest + 1):
        following = 0
        for w in shifts:
            following |= reached << w if w >= 0 else reached >> -w
        reached = following
        if n >= smallest:
            kept |= reached
    if kept.bit_count() > MOST_STATES:
        raise _too_many_totals(kept.bit_count(), largest)
    digits = np.frombuffer(kept.to_bytes((width + origin) // 8 + 1, "little"), dtype=np.uint8)
    held = np.flatnonzero(digits)
    bits = np.unpackbits(digits[held][:, None], axis=1, bitorder="little").astype(bool)
    return ((8 * held[:, None] + np.arange(8))[bits] - origin) * unit


def _too_many_totals(totals: int, respondents: int) -> TooLarge:
    return TooLarge(
        "There are too many totals to list",
        size=f"{counted(totals)} totals of {counted(respondents)} respondents",
        fits=f"{MOST_STATES:,} totals within a range of {MOST_RANGE:,} steps",
        remedy="use a closed-form kernel, which needs no list, or smaller weights",
    )


def _found(ascending: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted number stands; one that is missing is no state, and no state is taken in its place."""
    at = np.searchsorted(ascending, wanted)
    if len(at) and (int(at.max()) >= len(ascending) or not np.array_equal(ascending[at], wanted)):
        raise _no_state()
    return at


def _no_state() -> InputError:
    return InputError(
        "A histogram is not one of this universe",
        found="another number of respondents or a negative count",
        allowed="histograms of the declared size",
        remedy="count respondents by type, all of them",
    )


class _Lookup:
    """The index of a row of counts among all rows."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.base = int(rows.max(initial=0)) + 2
        self.wide = self.base ** rows.shape[1] >= 2**62
        if self.wide:
            self.at = {row.tobytes(): i for i, row in enumerate(self.rows)}
        else:
            keys = self._keys(rows)
            self.order = np.argsort(keys)
            self.keys = keys[self.order]

    def _keys(self, rows: np.ndarray) -> np.ndarray:
        return rows @ (self.base ** np.arange(rows.shape[1]))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, dtype=self.rows.dtype)
        if self.wide:
            found = np.array([self.at.get(row.tobytes(), -1) for row in rows], dtype=np.int64)
        else:
            found = self.order[_found(self.keys, self._keys(rows))]
        # rows that are no states may have a state's key
        if (found < 0).any() or not np.array_equal(self.rows[found], rows):
            raise _no_state()
        return found


def _pairs(blocks: np.ndarray, *, star: bool) -> np.ndarray:
    """Edges of blocks: every pair of members, or for a star the first member with each other one."""
    columns = range(blocks.shape[1])
    members = (blocks >= 0).sum(axis=1)
    most = int((members - 1 if star else members * (members - 1) // 2).sum())
    if most > MOST_EDGES:
        raise TooLarge(
            "There are too many edges to list",
            size=f"about {most:,}",
            fits=f"{MOST_EDGES:,}",
            remedy="use a summary with fewer states, or a closed-form kernel",
        )
    ask(most, MOST_EDGES)
    chosen = [(0, j) for j in columns if j] if star else combinations(columns, 2)
    found = [pairs[(pairs >= 0).all(axis=1)] for pairs in (blocks[:, pair] for pair in chosen)]
    edges = np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)
    edges = np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1)
    if len(edges) == 0:
        return edges
    codes = np.sort(edges[:, 0] * (int(edges.max()) + 1) + edges[:, 1])
    codes = codes[np.diff(codes, prepend=-1) > 0]  # np.unique would load masked arrays
    return np.column_stack(np.divmod(codes, int(edges.max()) + 1))


def _worthwhile(blocks: np.ndarray) -> np.ndarray:
    return blocks[(blocks >= 0).sum(axis=1) > 1]


def _distinct(blocks: np.ndarray) -> np.ndarray:
    """Repeated members of a block become −1, and repeated blocks go."""
    ordered = np.sort(blocks, axis=1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
    return _worthwhile(np.unique(np.sort(ordered, axis=1)[:, ::-1], axis=0))


def _must_list_box(universe: Universe, clamp: Clamp) -> None:
    count = 1
    for j in clamp.clipped:
        count *= clamp.upper[j] - clamp.lower[j] + 1
    universe.must_list(min(count, universe.histogram_count), "histograms", MOST_STATES)


def _labels(vectors: np.ndarray) -> tuple[str, ...]:
    return tuple(",".join(map(str, row)) for row in vectors.tolist())
