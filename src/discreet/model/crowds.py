"""The witness of the bound by a crowd: far types seen through their count and sum, dice beside them (`certify.bounds.crowd`)."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.coins import TypeDie
from discreet.model.multipliers import Multipliers
from discreet.numerics.exact import brief

State = tuple[int, ...]
"""How many of the crowd do not show the first face, what their steps come to, and the counts of all dice, the first faces aside."""


@dataclass(frozen=True)
class CrowdTier:
    """A number of holders whose types are unknown, the states that are listed, and multipliers on inequalities between these."""

    number: int
    states: tuple[State, ...]
    scale: int
    multipliers: tuple[Multipliers, ...]

    def __post_init__(self) -> None:
        flows = [flow for node in self.multipliers for flow in node.flows]
        fits = all(0 <= state < len(self.states) and row >= 0 and x >= 0 for state, row, x in flows)
        if self.number < 1 or self.scale < 1 or not self.states or not fits:
            raise InputError(
                "A tier of a crowd has a number of respondents, states, a positive scale and no negative multiplier",
                found=f"{brief(self.number)} respondents, {len(self.states)} states, scale {brief(self.scale)}",
                allowed="numbers from 1, states that are listed, multipliers from 0",
                remedy="only non-negative multipliers prove a bound",
            )


@dataclass(frozen=True)
class CrowdWitness:
    """The crowd holds a die with these faces, of the shares of all respondents, the first of whom the others differ from by steps.

    A ray (k, l) weighs face j by k + l·u_j, u_j its steps. `dice` are thrown beside it, each by the number that it says.
    """

    faces: tuple[int, ...]
    shares: tuple[Fraction, ...]
    rays: tuple[tuple[int, int], ...]
    dice: tuple[TypeDie, ...]
    tiers: tuple[CrowdTier, ...]
    kind = "crowd"

    def __post_init__(self) -> None:
        faces = 2 <= len(self.faces) == len(set(self.faces)) == len(self.shares) and min(self.shares) > 0
        width = 2 + sum(len(die.counts) for die in self.dice)
        states = all(len(state) == width for tier in self.tiers for state in tier.states)
        if not (faces and sum(self.shares) <= 1 and self.rays and self.tiers and states):
            raise InputError(
                "A crowd has different types with a share for each, rays, and tiers with states of whole width",
                found=f"{len(self.faces)} types, {len(self.shares)} shares, {len(self.rays)} rays, {len(self.tiers)} tiers",
                allowed=f"two types or more, shares that come to at most 1, states of {width} numbers",
                remedy="correct the file",
            )

    def crowd(self, tier: CrowdTier) -> TypeDie:
        """The die that the crowd holds, as often thrown as in a tier."""
        return TypeDie(self.faces, self.shares, tier.number, ((0, tier.number),) * (len(self.faces) - 1))
