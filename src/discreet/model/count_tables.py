"""Which table of noise belongs to which counts: of a first class of respondents, of a second, and so on.

A tree asks for one count after the other. A number n stands where the last class is asked for, and has tables for its counts
0, 1, …, n − 1. Before that trees (s_0, …, s_J) say what is asked next after each count of a class. The last of them serves all
larger counts as well:

    n:  table min(c, n − 1) of n,        (s_0, …, s_J):  s_min(c, J) for the classes that are left.

Tables are numbered from left to right. Every branch asks for all classes; one that does not want to know has one way to go on.
So one class is a number, and two are (n_0, …, n_J).

A tree s tells a tree t where s ≥ t of numbers, or s has as many ways to go on, or more, each of which tells that of t. In a tree
whose every way to go on tells the next one, the table of one respondent more follows from the table, whoever it is: more of one
class ask for less of the classes behind it, never for more. `growing` is a small such tree that tells what this one tells. [ours]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from discreet.errors import InputError, TooLarge
from discreet.frozen import dataclass
from discreet.numerics.arrays import Integers
from discreet.numerics.exact import brief

Shape = int | tuple["Shape", ...]
MOST_CLASSES = 32
"""Files nest no deeper, with what stands around a tree."""
MOST_PLACES = 200_000
"""Of a growing tree, in making it, and its tables."""


@dataclass(frozen=True)
class CountTables:
    """A tree of tables."""

    shape: Shape

    def __post_init__(self) -> None:
        nodes: Sequence[Shape] = [self.shape]
        for _ in range(MOST_CLASSES):
            sizes = [node if isinstance(node, int) else len(node) for node in nodes]
            if min(sizes) < 1:
                raise _unlike("Every count of a counted kernel has a table or more", brief(min(sizes)), "whole numbers from 1")
            kinds = {isinstance(node, int) for node in nodes}
            if kinds == {True}:
                return
            if len(kinds) > 1:
                break
            nodes = [child for node in nodes if not isinstance(node, int) for child in node]
        words = "Every branch of the tables of a counted kernel asks for the same classes"
        raise _unlike(words, "branches that end earlier than others, or too late", f"one depth for all, at most {MOST_CLASSES}")

    def __len__(self) -> int:
        return sum(self.ways[-1][1])

    @cached_property
    def ways(self) -> list[tuple[list[int], list[int]]]:
        """Of each class, for every tree that asks for it: where its ways to go on begin among all, and how many they are."""
        nodes, found = [self.shape], []
        while True:
            sizes = [node if isinstance(node, int) else len(node) for node in nodes]
            found.append(([0, *accumulate(sizes)][:-1], sizes))
            if isinstance(nodes[0], int):
                return found
            nodes = [child for node in nodes if not isinstance(node, int) for child in node]

    @property
    def classes(self) -> int:
        """How many are asked for."""
        return len(self.ways)

    @cached_property
    def caps(self) -> tuple[int, ...]:
        """Of each class the count from which on tables are the same, whatever the others."""
        return tuple(max(sizes) - 1 for _, sizes in self.ways)

    @cached_property
    def _arrays(self) -> list[tuple[Integers, Integers]]:
        return [(np.array(starts, dtype=np.int64), np.array(sizes, dtype=np.int64)) for starts, sizes in self.ways]

    def at(self, counts: Sequence[Integers]) -> Integers:
        """The table of counts of each class; −1 where one is below 0, which nobody has."""
        place = np.zeros_like(np.asarray(counts[0], dtype=np.int64))
        for (starts, sizes), count in zip(self._arrays, counts, strict=True):
            place = starts[place] + np.clip(count, 0, sizes[place] - 1)
        return np.where(np.min(counts, axis=0) < 0, -1, place)

    def of(self, counts: Sequence[int]) -> int:
        """The table of the counts of one cell."""
        place = 0
        for (starts, sizes), count in zip(self.ways, counts, strict=True):
            place = starts[place] + min(count, sizes[place] - 1)
        return place

    @cached_property
    def growing(self) -> CountTables:
        """A tree that tells this one, and of each of its tables which comes with one respondent more; refused where it is large."""
        room = _Room()
        found = CountTables(_growing(self.shape, room))
        room.take(len(found))
        return found

    @cached_property
    def counts(self) -> list[tuple[int, ...]]:
        """The least counts of each table."""
        found: list[tuple[int, ...]] = [()]
        for _, sizes in self.ways:
            found = [(*before, count) for before, size in zip(found, sizes, strict=True) for count in range(size)]
        return found

    @cached_property
    def one_more(self) -> list[Integers]:
        """Of each class, the table that comes after every table when one more is counted; for trees that are `growing`."""
        each = np.array(self.counts, dtype=np.int64).T
        return [self.at(list(each + np.eye(self.classes, dtype=np.int64)[c][:, None])) for c in range(self.classes)]

    def held(self, most: int) -> CountTables:
        """Without tables for more respondents than there are."""
        return CountTables(_held(self.shape, most))


def _held(shape: Shape, most: int) -> Shape:
    if isinstance(shape, int):
        return min(shape, most + 1)
    return tuple(_held(child, most - j) for j, child in enumerate(shape[: most + 1]))


class _Room:
    """Counts the places of trees that are made."""

    def __init__(self) -> None:
        self.left = MOST_PLACES

    def take(self, places: int) -> None:
        self.left -= places
        if self.left < 0:
            raise TooLarge(
                "The tables of this kernel follow from counts that are told apart in too many ways",
                size=f"more than {MOST_PLACES:,} places",
                fits=f"{MOST_PLACES:,} places",
                remedy="use fewer classes, or tables that tell less the more respondents are counted before",
            )


def _growing(shape: Shape, room: _Room) -> Shape:
    if isinstance(shape, int):
        return shape
    found = [_growing(shape[-1], room)]
    for child in shape[-2::-1]:
        found.append(_telling_both(_growing(child, room), found[-1], room))
    return tuple(reversed(found))


def _telling_both(one: Shape, other: Shape, room: _Room) -> Shape:
    room.take(1)
    if isinstance(one, int) or isinstance(other, int):
        assert isinstance(one, int) and isinstance(other, int)
        return max(one, other)
    ways = range(max(len(one), len(other)))
    return tuple(_telling_both(one[min(j, len(one) - 1)], other[min(j, len(other) - 1)], room) for j in ways)


def _unlike(words: str, found: str, allowed: str) -> InputError:
    return InputError(words, found=found, allowed=allowed, remedy="complete the tables")
