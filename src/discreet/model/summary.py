"""Summaries: the deterministic map from a database to the state that a mechanism reads.

The vocabulary is closed, and each entry is 1-Lipschitz by a lemma whose side conditions are checked here:
neighbouring databases land on the same state or on adjacent states.

`histogram`  h = counts of types. Adjacent: one step between two types (replace-one) or one count (add-remove-one).
`linear`     S = Σ_i w(θ_i) with integer w. Adjacent: totals that one changed respondent can join.
`database`   the whole database (or the name, in a listed universe).

A histogram may be clamped: the counts of every type but a reference type are clipped to [L_j, K_j], and the reference
gets the rest. A replacement moves at most two counts by opposite unit steps, and each clip keeps or removes its step.
The rest is held in [least, most], 0..N unless said otherwise: if too few are left, the clipped types give up respondents
above L_j, the first types first; if too many, they take respondents below K_j, the first types first. Both are 1-Lipschitz:
written as the list of its respondents above the L_j with later types first, a histogram that gives up is that list cut
to a fixed length, and one entry added, removed or changed adds, removes or changes at most one of the entries kept; taking is
the same with the list of places below the K_j. The image is every histogram within all bounds; one exists iff
Σ L_j + least ≤ N ≤ Σ K_j + most.
Under add-remove-one there is no reference: every count is clipped by itself, and a clip never widens a unit step.
A linear summary may be clipped to [low, high], which never widens a step.
"""

from __future__ import annotations

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.neighbours import AddRemoveOne, GivenGraph, Neighbours
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe


@dataclass(frozen=True)
class Clamp:
    """Bounds [lower_j, upper_j] on the count of each type; those of the reference type (if any) are `rest`, or none."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    reference: int | None
    rest: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper):
            raise InputError(
                "A clamp needs one lower and one upper bound for each type",
                found=f"{len(self.lower)} lower and {len(self.upper)} upper bounds",
                allowed="the same number of each",
                remedy="write both lists in the order of the types",
            )
        if self.reference is not None and not 0 <= self.reference < len(self.lower):
            raise InputError(
                "The clamp's reference is not a type",
                found=f"{self.reference}",
                allowed=f"0 to {len(self.lower) - 1}",
                remedy="name the type that absorbs the rest",
            )
        for j in self.clipped:
            if not 0 <= self.lower[j] <= self.upper[j]:
                raise InputError(
                    f"The clamp of type {j} is empty or negative",
                    found=f"[{self.lower[j]}, {self.upper[j]}]",
                    allowed="0 <= lower <= upper",
                    remedy="correct the bounds",
                )
        if self.rest is not None and (self.reference is None or not 0 <= self.rest[0] <= self.rest[1]):
            raise InputError(
                "The bounds of a clamp's rest are empty or negative, or there is no type that takes the rest",
                found=f"rest {list(self.rest)}, reference {self.reference}",
                allowed="0 <= least <= most, with a reference",
                remedy="correct the bounds or leave them out",
            )

    @property
    def clipped(self) -> tuple[int, ...]:
        return tuple(j for j in range(len(self.lower)) if j != self.reference)

    def room(self, respondents: int) -> tuple[int, int]:
        """The least and the most respondents of the clipped types together."""
        least, most = (0, respondents) if self.rest is None else self.rest
        return max(respondents - most, 0), respondents - least

    def fits(self, respondents: int) -> bool:
        """The condition of the lemma: some histogram of so many respondents is within all bounds."""
        low, high = self.room(respondents)
        return sum(self.lower[j] for j in self.clipped) <= high and low <= sum(self.upper[j] for j in self.clipped)


@dataclass(frozen=True)
class HistogramSummary:
    """The counts of types, clamped or not."""

    clamp: Clamp | None = None
    kind = "histogram"
    ordered = False

    def of_histogram(self, h: tuple[int, ...]) -> tuple[int, ...]:
        if self.clamp is None:
            return tuple(h)
        clamp, size = self.clamp, sum(h)
        counts = [min(max(c, lo), hi) for c, lo, hi in zip(h, clamp.lower, clamp.upper, strict=True)]
        if clamp.reference is None:
            return tuple(counts)
        held = sum(counts[j] for j in clamp.clipped)
        low, high = clamp.room(size)
        for j in clamp.clipped:
            moved = max(min(counts[j], high - held + counts[j]), clamp.lower[j])
            moved = min(max(moved, low - held + counts[j]), clamp.upper[j])
            held += moved - counts[j]
            counts[j] = moved
        counts[clamp.reference] = size - held
        return tuple(counts)


@dataclass(frozen=True)
class LinearSummary:
    """S = Σ_i w(θ_i), clipped to [low, high] or not."""

    weights: tuple[int, ...]
    low: int | None = None
    high: int | None = None
    kind = "linear"
    ordered = False

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError(
                "The clip of the weighted sum is empty",
                found=f"[{self.low}, {self.high}]",
                allowed="low <= high",
                remedy="correct the bounds",
            )

    def of_histogram(self, h: tuple[int, ...]) -> int:
        return self.clip(sum(w * c for w, c in zip(self.weights, h, strict=True)))

    def clip(self, total: int) -> int:
        if self.low is not None:
            total = max(total, self.low)
        return total if self.high is None else min(total, self.high)

    def step(self, neighbours: Neighbours) -> int:
        """The most that S moves between neighbours: the largest difference of weights, or the largest weight."""
        if isinstance(neighbours, AddRemoveOne):
            return max(abs(w) for w in self.weights)
        return max(self.weights) - min(self.weights)

    def range(self, universe: Universe) -> tuple[int, int]:
        """The smallest and largest total, after clipping."""
        sizes = (universe.smallest, universe.largest)
        low = min(n * min(self.weights) for n in sizes)
        high = max(n * max(self.weights) for n in sizes)
        return self.clip(low), self.clip(high)


@dataclass(frozen=True)
class DatabaseSummary:
    """The database itself, whose respondents stand in an order."""

    kind = "database"
    ordered = True


Summary = HistogramSummary | LinearSummary | DatabaseSummary


def check_summary(summary: Summary, universe: AnyUniverse, neighbours: Neighbours) -> None:
    """The side conditions of the summary's Lipschitz lemma; refuses a summary for which it does not hold."""
    if isinstance(summary, DatabaseSummary):
        return
    if isinstance(universe, ListedUniverse) or isinstance(neighbours, GivenGraph):
        raise InputError(
            "Databases that are only listed by name have no types to summarise",
            found=f"summary {summary.kind!r}",
            allowed="'database'",
            remedy="use the summary 'database'",
        )
    if isinstance(summary, LinearSummary):
        if len(summary.weights) != universe.types:
            raise InputError(
                "A linear summary needs one integer for each type",
                found=f"{len(summary.weights)} weights",
                allowed=f"{universe.types}",
                remedy="list the weights in the order of the types",
            )
        return
    clamp = summary.clamp
    if clamp is None:
        return
    if len(clamp.lower) != universe.types:
        raise InputError(
            "A clamp needs bounds for each type",
            found=f"{len(clamp.lower)} bounds",
            allowed=f"{universe.types}",
            remedy="list the bounds in the order of the types",
        )
    if isinstance(neighbours, AddRemoveOne):
        if clamp.reference is not None:
            raise InputError(
                "When respondents are added or removed, no type can absorb the clamped counts",
                found=f"reference type {clamp.reference}",
                allowed="a clamp without a reference",
                remedy="clip every type by itself",
            )
        if any(clamp.lower):
            raise InputError(
                "When respondents are added or removed, counts are only clipped from above",
                found=f"lower bounds {list(clamp.lower)}",
                allowed="lower bounds of 0",
                remedy="set every lower bound to 0",
            )
        return
    if clamp.reference is None or not clamp.fits(universe.respondents):
        raise InputError(
            "This clamp asks for more respondents than there are, or leaves some without a type",
            found=f"lower {list(clamp.lower)}, upper {list(clamp.upper)}, reference {clamp.reference}, rest {clamp.rest}",
            allowed=f"a reference, and bounds that some histogram of N = {universe.respondents} respondents keeps",
            remedy="lower the lower bounds, or set every lower bound to 0",
        )
