"""The tight ε within each component: what a mechanism promises where some databases are told apart on purpose.

Databases lie in one component when a chain of neighbours joins them (BG Def. 3); between components nothing is promised, and a
mechanism may publish which one it is (BG Remark 7). With invariants a component is one value of all fixed counts. The ratio of each
is exact: the largest P(output | state)/P(output | neighbour) within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.currencies.channel import LossChannel, whole_channel
from discreet.currencies.tight import tight_epsilon
from discreet.model.mechanism import Mechanism


@dataclass(frozen=True)
class ComponentEpsilon:
    """The states of a component, and exactly e to the tight ε among them; None where a neighbour rules an output out."""

    states: tuple[str, ...]
    ratio: Fraction | None

    @property
    def alone(self) -> bool:
        """Whether there is one state only: then nothing hides it."""
        return len(self.states) == 1


def by_component(source: Mechanism | LossChannel) -> tuple[ComponentEpsilon, ...]:
    """Every component with its tight ε, the largest ratio first."""
    channel = whole_channel(source)
    edges = np.asarray(channel.edges).reshape(-1, 2)
    found = []
    for members in _joined(len(channel.labels), [(int(a), int(b)) for a, b in edges]):
        inside = edges[np.isin(edges[:, 0], members)]
        ratio = tight_epsilon(replace(channel, edges=inside)).ratio if len(inside) else Fraction(1)
        found.append(ComponentEpsilon(tuple(channel.labels[i] for i in members), ratio))
    return tuple(sorted(found, key=lambda one: (one.ratio is not None, -(one.ratio or 0))))


def _joined(states: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The states in the components of a graph, each ascending."""
    parent = list(range(states))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in edges:
        parent[root(a)] = root(b)
    groups: dict[int, list[int]] = {}
    for i in range(states):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())
