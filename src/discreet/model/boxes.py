"""The witness of the bound by boxes: multipliers between the counts of a few types, in boxes of them (`certify.bounds.boxes`)."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.multipliers import Multipliers
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class BoxPart:
    """One box: a window of counts of every face but the first, for a range of numbers of `players`.

    Players have a face, or are the odd one of a pair type. The law of their counts is that of `reference` players. Multipliers
    stand between the states: counts of faces from first to last, then 0 or 1 for every pair type; the last runs fastest. Actions
    are measured from "every player has the first face", in units of the largest step from it to another face or pair type.
    """

    windows: tuple[tuple[int, int], ...]
    players: tuple[int, int]
    reference: int
    scale: int
    multipliers: tuple[Multipliers, ...]

    def __post_init__(self) -> None:
        ranges = all(0 <= first <= last for first, last in (*self.windows, self.players))
        whole = self.reference >= 0 and self.scale >= 1
        if not (ranges and whole) or any(flow < 0 for action in self.multipliers for _, _, flow in action.flows):
            raise InputError(
                "A box has windows of counts, a range of players, a positive scale and no negative multiplier",
                found=f"players up to {brief(self.players[1])}, reference {brief(self.reference)}, scale {brief(self.scale)}",
                allowed="ranges of numbers from 0 that are not empty, numbers from 0",
                remedy="correct the file; only non-negative multipliers prove a bound",
            )

    @property
    def fewest(self) -> int:
        """The least sum of its counts."""
        return sum(first for first, _ in self.windows)

    @property
    def most(self) -> int:
        """The largest sum of its counts, pairs aside."""
        return sum(last for _, last in self.windows)

    def meets(self, other: BoxPart) -> bool:
        """Whether some counts of some number of players are in both."""
        mine, theirs = (*self.windows, self.players), (*other.windows, other.players)
        return all(a <= d and c <= b for (a, b), (c, d) in zip(mine, theirs, strict=True))


@dataclass(frozen=True)
class BoxesWitness:
    """Boxes of the counts of types: `faces`, of which the first is not counted, and of `pairs` whether an odd number has them."""

    faces: tuple[int, ...]
    pairs: tuple[int, ...]
    parts: tuple[BoxPart, ...]
    kind = "boxes"

    def __post_init__(self) -> None:
        types, counts = (*self.faces, *self.pairs), {len(part.windows) + 1 for part in self.parts}
        if not self.faces or len(types) < 2 or len(set(types)) != len(types) or counts != {len(self.faces)}:
            raise InputError(
                "A witness of boxes names faces and pairs once, and has parts with a window for each face but the first",
                found=f"{len(self.faces)} faces, {len(self.pairs)} pairs, {len(self.parts)} parts",
                allowed="a face and another face or pair, all different, and at least one part",
                remedy="correct the file",
            )
