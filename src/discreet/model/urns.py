"""The witness of the bound of an urn: multipliers on mean counts of types."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.multipliers import Multipliers
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class UrnWitness:
    """Multipliers on mean counts (`certify.bounds.urn`) at states: the count of the `reference` type, then sums of the `weights`.

    A flow (state, k, x) multiplies the equation of the k-th of a state's F numbers, (state, F + 2·type, x) the inequality with the
    state on the smaller side, (state, F + 2·type + 1, x) the other one."""

    reference: int
    weights: tuple[tuple[int, ...], ...]
    states: tuple[tuple[int, ...], ...]
    scale: int
    multipliers: tuple[Multipliers, ...]
    kind = "urn"

    def __post_init__(self) -> None:
        widths = {len(row) + 1 for row in self.weights} | {len(row) for row in self.states}
        shaped = len(widths) == 1 and self.states and self.scale >= 1 and 0 <= self.reference < len(self.weights)
        if not shaped or not all(self._fits(*flow, max(widths)) for node in self.multipliers for flow in node.flows):
            raise InputError(
                "An urn witness has a reference, rows of fitting length, a positive scale, and multipliers from 0 of what it lists",
                found=f"reference {brief(self.reference)}, {len(self.states)} states, scale {brief(self.scale)}",
                allowed="states of one number more than weights, inequalities of types other than the reference",
                remedy="correct the file; only non-negative multipliers prove a bound",
            )

    def _fits(self, state: int, place: int, flow: int, width: int) -> bool:
        row = 0 <= (place - width) // 2 < len(self.weights) and (place - width) // 2 != self.reference and flow >= 0
        return (row or 0 <= place < width) and 0 <= state < len(self.states)
