"""A set of priors that holds every one of a continuum: shares of the types in a box, cells that differ by more or less.

A prior of the set is a Dirichlet-multinomial law with mean shares p and intra-cell correlation ρ, iid where ρ = 0. The box says
how far each share may be from a centre; one type, the most frequent, makes up for the others. `cells` cuts the set into simplices
of shares (Kuhn's triangulation, T! of them for T types besides) times an interval of ρ; `halves` cuts a cell in two.

Notation: ρ → correlation, p → shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from discreet.errors import InputError
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.numerics.exact import brief

Shares = tuple[Fraction, ...]
HALF = Fraction(1, 2)


def prior_at(shares: Shares, correlation: Fraction) -> IidPrior | DirichletMultinomialPrior:
    """The prior with these shares and this correlation."""
    if correlation == 0:
        return IidPrior(shares)
    concentration = 1 / correlation - 1
    return DirichletMultinomialPrior(tuple(concentration * p for p in shares))


@dataclass(frozen=True)
class PriorCell:
    """Shares in the simplex of `vertices`, one vertex for each type; correlations from the first to the second."""

    vertices: tuple[Shares, ...]
    correlations: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        types = len(self.vertices)
        low, high = self.correlations
        whole = all(len(v) == types and sum(v) == 1 and min(v) > 0 for v in self.vertices)
        if types < 2 or not whole or not 0 <= low <= high < 1:
            raise InputError(
                "This is no set of priors",
                found=f"{types} vertices, correlations {brief(low)} to {brief(high)}",
                allowed="as many vertices as types, each with shares above 0 that sum to 1; correlations from 0, below 1",
                remedy="state the shares and the correlations so",
            )

    @property
    def ends(self) -> tuple[Fraction, ...]:
        """The correlations at the ends, once where they are one."""
        return tuple(dict.fromkeys(self.correlations))

    @property
    def corners(self) -> tuple[tuple[Shares, Fraction], ...]:
        """Every vertex with every end, vertex by vertex."""
        return tuple(product(self.vertices, self.ends))

    @property
    def middle(self) -> tuple[Shares, Fraction]:
        """Its centre."""
        count = len(self.vertices)
        return tuple(sum(column, Fraction(0)) / count for column in zip(*self.vertices, strict=True)), sum(
            self.correlations, Fraction(0)
        ) / 2

    def halves(self, across: bool) -> tuple[PriorCell, PriorCell]:
        """Two cells that make up this one: cut at the longest edge, or `across` the correlations."""
        low, high = self.correlations
        if across:
            between = (low + high) / 2
            return PriorCell(self.vertices, (low, between)), PriorCell(self.vertices, (between, high))
        i, j = longest_edge(self.vertices)
        cut = tuple((a + b) / 2 for a, b in zip(self.vertices[i], self.vertices[j], strict=True))
        first, second = list(self.vertices), list(self.vertices)
        first[i], second[j] = cut, cut
        return PriorCell(tuple(first), self.correlations), PriorCell(tuple(second), self.correlations)


def longest_edge(vertices: Sequence[Shares]) -> tuple[int, int]:
    """The two vertices farthest apart."""
    pairs = [(i, j) for j in range(len(vertices)) for i in range(j)]
    return max(pairs, key=lambda ij: sum(abs(a - b) for a, b in zip(vertices[ij[0]], vertices[ij[1]], strict=True)))


@dataclass(frozen=True)
class PriorSet:
    """Each share but that of the centre's most frequent type from the first to the second number of its `reach`, which that type
    makes up for; correlations from low to high."""

    centre: Shares
    reach: tuple[tuple[Fraction, Fraction], ...]
    correlations: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        known = len(self.reach) == len(self.centre)
        if not known or not all(
            0 < low < high and low <= c <= high for (low, high), c in zip(self.reach, self.centre, strict=True)
        ):
            raise InputError(
                "A set of priors needs to know how far each share reaches",
                found=", ".join(f"{brief(low)} to {brief(high)}" for low, high in self.reach) or "nothing",
                allowed="for each type two numbers above 0, in order, around its share",
                remedy="give them for each",
            )
        PriorCell(tuple(self.centre for _ in self.centre), self.correlations)
        if sum(high for _, high in self._box()) >= 1:
            raise InputError(
                "The set reaches beyond what shares can be",
                found=f"shares of the types but the most frequent up to {brief(sum(high for _, high in self._box()))}",
                allowed="below 1 together",
                remedy="take a smaller set",
            )

    @property
    def modal(self) -> int:
        """The most frequent type."""
        return max(range(len(self.centre)), key=lambda t: self.centre[t])

    def _box(self) -> list[tuple[Fraction, Fraction]]:
        """The least and the largest share of each type but the modal one."""
        return [ends for t, ends in enumerate(self.reach) if t != self.modal]

    def _whole(self, others: Sequence[Fraction]) -> Shares:
        rest = list(others)
        rest.insert(self.modal, 1 - sum(others, Fraction(0)))
        return tuple(rest)

    @property
    def corners(self) -> tuple[tuple[Shares, Fraction], ...]:
        """The centre first, then every corner of the box with either correlation."""
        ends = tuple(dict.fromkeys(self.correlations))
        boxed = [self._whole(others) for others in product(*self._box())]
        return ((self.centre, sum(self.correlations, Fraction(0)) / 2), *product(boxed, ends))

    def cells(self) -> tuple[PriorCell, ...]:
        """Simplices that make up the set."""
        box = self._box()
        found = []
        for order in permutations(range(len(box))):
            at = [low for low, _ in box]
            vertices = [self._whole(at)]
            for t in order:
                at = [*at[:t], box[t][1], *at[t + 1 :]]
                vertices.append(self._whole(at))
            found.append(PriorCell(tuple(vertices), self.correlations))
        return tuple(found)


@dataclass(frozen=True)
class WholeRegret:
    """What a mechanism loses more than the best at most over the whole set, and what no mechanism stays below."""

    worst: Fraction
    least: Fraction
    unhedged: Fraction
    """The worst regret of the design for the problem's own prior, at most."""
    price: Fraction
    """What hedging costs if the problem's own prior is right, at most."""
    finished: bool
    """Whether both sides came within the gap."""
