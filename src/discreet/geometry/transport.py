"""Transport between two fibres along edges: a coupling, or a set of states that has too few neighbours.

Given supplies on one side, demands on the other (equal totals) and the pairs along which mass may move, either all
supply can be moved, or by Hall's and Strassen's theorem some set A of suppliers has supply(A) > demand(neighbours of
A). Both answers are exact: supplies and demands are integers, and the maximum flow is found by Dinic's method.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Transport:
    """`flow` (supplier, demander, amount) that moves everything, or the set of suppliers that proves none does."""

    flow: tuple[tuple[int, int, int], ...] | None
    stuck: tuple[int, ...]


def transport(supplies: Sequence[int], demands: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Transport:
    """Move every supply to a demand along the pairs (supplier, demander), or show why that cannot be done."""
    left, right = len(supplies), len(demands)
    source, sink = left + right, left + right + 1
    network = _Network(left + right + 2)
    for i, amount in enumerate(supplies):
        network.join(source, i, amount)
    for j, amount in enumerate(demands):
        network.join(left + j, sink, amount)
    total = sum(supplies)
    arcs = [network.join(i, left + j, total) for i, j in pairs]
    if network.push(source, sink) == total:
        moved = ((i, j, network.room[arc ^ 1]) for (i, j), arc in zip(pairs, arcs, strict=True))
        return Transport(tuple(move for move in moved if move[2]), ())
    return Transport(None, tuple(i for i in range(left) if network.level[i] >= 0))


class _Network:
    """Arcs in pairs: arc and arc ^ 1 are each other's reverse; `room` is what may still flow."""

    def __init__(self, nodes: int) -> None:
        self.leaving: list[list[int]] = [[] for _ in range(nodes)]
        self.ends: list[int] = []
        self.room: list[int] = []
        self.level: list[int] = []

    def join(self, start: int, end: int, room: int) -> int:
        arc = len(self.ends)
        for node, other, amount in ((start, end, room), (end, start, 0)):
            self.leaving[node].append(len(self.ends))
            self.ends.append(other)
            self.room.append(amount)
        return arc

    def push(self, source: int, sink: int) -> int:
        """The value of a maximum flow; afterwards `level` ≥ 0 marks the source's side of a minimum cut."""
        pushed = 0
        while self._layer(source, sink):
            places = [0] * len(self.leaving)
            while amount := self._augment(source, sink, places):
                pushed += amount
        return pushed

    def _layer(self, source: int, sink: int) -> bool:
        self.level = [-1] * len(self.leaving)
        self.level[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for arc in self.leaving[node]:
                there = self.ends[arc]
                if self.room[arc] and self.level[there] < 0:
                    self.level[there] = self.level[node] + 1
                    queue.append(there)
        return self.level[sink] >= 0

    def _augment(self, source: int, sink: int, places: list[int]) -> int:
        """Flow along one shortest path that still has room, followed with an explicit stack."""
        path: list[int] = []
        node = source
        while node != sink:
            advanced = False
            while places[node] < len(self.leaving[node]):
                arc = self.leaving[node][places[node]]
                if self.room[arc] and self.level[self.ends[arc]] == self.level[node] + 1:
                    path.append(arc)
                    node, advanced = self.ends[arc], True
                    break
                places[node] += 1
            if not advanced:
                if node == source:
                    return 0
                node = self.ends[path.pop() ^ 1]
                places[node] += 1
        amount = min(self.room[arc] for arc in path)
        for arc in path:
            self.room[arc] -= amount
            self.room[arc ^ 1] += amount
        return amount
