"""Neighbours: which pairs of databases the promise makes hard to tell apart.

`replace-one` (bounded): one respondent's type changes, the size stays.
`add-remove-one` (unbounded): one respondent is added or left out.
`given`: a graph over listed databases.

Distances between histograms h, h′: Σ|h−h′|/2 for replace-one, Σ|h−h′| for add-remove-one; infinite between
different components. References: SY Def. of ε-DP, BG Def. 3 and Assumption 4 (components), DR Def. 1.1.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import cached_property
from math import inf

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.universe import AnyUniverse, ListedUniverse, Universe


@dataclass(frozen=True)
class ReplaceOne:
    """One respondent's type changes."""

    name = "replace-one"
    alias = "bounded"

    def distance(self, h: Sequence[int], other: Sequence[int]) -> float:
        if sum(h) != sum(other):
            return inf
        return sum(abs(a - b) for a, b in zip(h, other, strict=True)) // 2

    def diameter(self, universe: AnyUniverse) -> float:
        return _respondents(universe, self.name).respondents

    def components(self, universe: AnyUniverse) -> int:
        return 1 if _respondents(universe, self.name).respondents else 0


@dataclass(frozen=True)
class AddRemoveOne:
    """One respondent is added or left out."""

    name = "add-remove-one"
    alias = "unbounded"

    def distance(self, h: Sequence[int], other: Sequence[int]) -> float:
        return sum(abs(a - b) for a, b in zip(h, other, strict=True))

    def diameter(self, universe: AnyUniverse) -> float:
        """Two full databases with no type in common are 2·largest apart; one alone at size zero does not help."""
        u = _respondents(universe, self.name)
        if u.fixed:
            return inf
        return 2 * u.largest

    def components(self, universe: AnyUniverse) -> int:
        u = _respondents(universe, self.name)
        return u.histogram_count if u.fixed else 1


@dataclass(frozen=True)
class GivenGraph:
    """A graph over the names of a listed universe."""

    edges: tuple[tuple[str, str], ...]

    name = "given"
    alias = "given graph"

    def __post_init__(self) -> None:
        seen: set[frozenset[str]] = set()
        for a, b in self.edges:
            if a == b:
                raise InputError(
                    "An edge joins a database to itself",
                    found=f"{a!r}",
                    allowed="two different databases",
                    remedy="remove this edge",
                )
            if frozenset((a, b)) in seen:
                raise InputError(
                    "An edge is listed twice",
                    found=f"{a!r} and {b!r}",
                    allowed="each pair once",
                    remedy="remove the repetition",
                )
            seen.add(frozenset((a, b)))

    @cached_property
    def _around(self) -> dict[str, list[str]]:
        around: dict[str, list[str]] = {}
        for a, b in self.edges:
            around.setdefault(a, []).append(b)
            around.setdefault(b, []).append(a)
        return around

    def reach(self, name: str) -> dict[str, int]:
        """Steps from `name` to every database of its component (breadth first)."""
        steps, queue = {name: 0}, deque([name])
        while queue:
            here = queue.popleft()
            for there in self._around.get(here, ()):
                if there not in steps:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        return steps

    def distance(self, name: str, other: str) -> float:
        return self.reach(name).get(other, inf)

    def diameter(self, universe: AnyUniverse) -> float:
        """The longest finite distance within a component; infinite when there are several components."""
        listed = _listed(universe)
        reaches = [self.reach(name) for name in listed.names]
        if any(len(reach) < len(listed.names) for reach in reaches):
            return inf
        return max(max(reach.values()) for reach in reaches)

    def components(self, universe: AnyUniverse) -> int:
        left, count = set(_listed(universe).names), 0
        while left:
            left -= self.reach(next(iter(left))).keys()
            count += 1
        return count


Neighbours = ReplaceOne | AddRemoveOne | GivenGraph


def check_fit(universe: AnyUniverse, neighbours: Neighbours) -> None:
    """Refuse a relation that does not speak about this kind of universe."""
    if isinstance(neighbours, GivenGraph):
        names = set(_listed(universe).names)
        unknown = sorted({end for edge in neighbours.edges for end in edge} - names)
        if unknown:
            raise InputError(
                "An edge names a database that is not listed",
                found=", ".join(unknown[:5]),
                allowed="names from data.neighbours.states",
                remedy="add the name or correct the edge",
            )
        return
    u = _respondents(universe, neighbours.name)
    if isinstance(neighbours, ReplaceOne) and not u.fixed:
        raise InputError(
            "Replacing a respondent keeps the number of respondents, so it must be one number",
            found=f"{u.smallest} to {u.largest} respondents",
            allowed='respondents = N, or neighbours = "add-remove-one"',
            remedy="choose one of the two",
        )
    if isinstance(neighbours, AddRemoveOne) and u.fixed:
        raise InputError(
            "Adding or removing a respondent changes the number of respondents, so a range is needed",
            found=f"respondents = {u.largest}",
            allowed='respondents = { from = 0, to = 60 }, or neighbours = "replace-one"',
            remedy="give the range of sizes, or protect replacements instead",
        )


def given_graph(neighbours: Neighbours) -> GivenGraph:
    """The relation of databases that are listed by name."""
    if not isinstance(neighbours, GivenGraph):
        raise _about_respondents(neighbours.name)
    return neighbours


def _respondents(universe: AnyUniverse, name: str) -> Universe:
    if not isinstance(universe, Universe):
        raise _about_respondents(name)
    return universe


def _about_respondents(name: str) -> InputError:
    return InputError(
        f"{name} speaks about respondents, but the databases are only listed by name",
        found="a list of states",
        allowed="respondents and values",
        remedy="give the edges of the graph",
    )


def _listed(universe: AnyUniverse) -> ListedUniverse:
    if not isinstance(universe, ListedUniverse):
        raise InputError(
            "A given graph needs its databases listed by name",
            found="respondents and values",
            allowed="neighbours = { states = […], edges = […] }",
            remedy="list the states",
        )
    return universe
