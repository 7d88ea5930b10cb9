"""Multipliers of a witness: for each action, whole numbers over a common scale on pairs of states."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import eq
from typing import Any

from discreet.frozen import dataclass
from discreet.model.actions import Action

Recommendation = Action | tuple[Action, ...]
"""What an output recommends: one action, or one for each of several decision makers."""


Flow = tuple[int, int, int]
"""(from, to, numerator over the witness's scale); of a quotient (state, row, numerator)."""


class PackedFlows(Sequence[Flow]):
    """Flows as 64-bit numbers side by side: a large design has millions, and a tuple of each would take seven times the room."""

    def __init__(self, numbers: array[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers) // 3

    def __iter__(self) -> Iterator[Flow]:
        each = iter(self.numbers)
        return zip(each, each, each, strict=True)

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Multipliers:
    """Flow on directed edges for one action."""

    action: Recommendation
    flows: Sequence[Flow]
