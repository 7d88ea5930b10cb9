"""Witnesses of bounds under a promise of ρ: linear cuts of Rényi divergences."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.multipliers import Flow, Multipliers
from discreet.model.summary import Clamp
from discreet.numerics.exact import brief

ROOT_BITS = 48
"""Of the roots of likelihood ratios in a witness of cuts."""


@dataclass(frozen=True)
class RenyiWitness:
    """Cuts of Rényi divergences of order 1 + 1/root along edges between states of a box (`certify.bounds.renyi`).

    A cut (from, to, λ) has its multiplier λ over `scale`; an action's flow (from, to, t) over 2^ROOT_BITS is the root t of the
    likelihood ratio r = t^root at which the divergence is cut. Actions are those of the problem, or nodes of real actions.
    With a `reduction` (model.reductions) the states are those of the reduced problem.
    """

    box: Clamp | None
    root: int
    scale: int
    cuts: Sequence[Flow]
    multipliers: tuple[Multipliers, ...]
    reduction: str | None = None
    kind = "renyi-cuts"

    def __post_init__(self) -> None:
        entries = (self.cuts, *(m.flows for m in self.multipliers))
        if self.root < 1 or self.scale < 1 or any(number < 0 for flows in entries for _, _, number in flows):
            raise InputError(
                "A witness of cuts has a root and a scale from 1, and no negative number",
                found=f"root {brief(self.root)}, scale {brief(self.scale)}",
                allowed="numbers from 0",
                remedy="only non-negative multipliers prove a bound",
            )


@dataclass(frozen=True)
class PlayersPart:
    """Cuts for so many players, along moves of `step` of them at once (`certify.bounds.players`)."""

    players: int
    step: int
    cuts: RenyiWitness

    def __post_init__(self) -> None:
        if self.players < 1 or self.step < 1 or self.cuts.box is None:
            raise InputError(
                "Cuts for players need a number of players and a step from 1, and a box of histograms",
                found=f"{brief(self.players)} players, step {brief(self.step)}, {'no box' if self.cuts.box is None else 'a box'}",
                allowed="numbers from 1 and a box",
                remedy="correct the file",
            )


@dataclass(frozen=True)
class PlayersWitness:
    """Respondents of the types in `kinds`, types of one value each, play; everybody learns the others (`certify.bounds.players`).

    A part holds where at least so many play and fewer than in the next. Values are counted from the least kind's in units of the
    span of all kinds.
    """

    kinds: tuple[tuple[int, ...], ...]
    parts: tuple[PlayersPart, ...]
    kind = "players"
