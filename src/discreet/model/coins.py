"""The witness of the bound by coins: who tosses coins and dice, and multipliers between their counts (`certify.bounds.coins`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.multipliers import Multipliers
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class TypeDie:
    """Of the respondents who hold it, `number` are unknown to everybody but for that their type is a face.

    `shares` are those of all respondents who have the type and hold the die. States of a witness count those of each face but the
    first, from the first to the last of its `counts`.
    """

    faces: tuple[int, ...]
    shares: tuple[Fraction, ...]
    number: int
    counts: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        faces, windows = len(self.faces), all(0 <= first <= last <= self.number for first, last in self.counts)
        shares = all(share > 0 for share in self.shares) and self.share <= 1
        alike = 2 <= faces == len(set(self.faces)) == len(self.shares) == len(self.counts) + 1
        if not (alike and shares and windows):
            raise InputError(
                "A coin or die has faces, shares of the respondents, and windows of counts up to a number of them",
                found=f"types {_listed(self.faces)}; shares {_listed(self.shares)}; counts up to "
                f"{_listed(last for _, last in self.counts)} of {brief(self.number)}",
                allowed="two or more different types, shares above 0 that come to at most 1, and counts from 0 that fit the number",
                remedy="correct the file",
            )

    @property
    def share(self) -> Fraction:
        """How many of all respondents hold it, in the mean."""
        return sum(self.shares, Fraction(0))

    @property
    def even(self) -> bool:
        """Whether it is a coin with even chances."""
        return len(self.faces) == 2 and self.shares[0] == self.shares[1]


def _listed(numbers: Iterable[Fraction | int]) -> str:
    return ", ".join(map(brief, numbers)) or "none"


def coin(low: int, high: int, share: Fraction, number: int, first: int, last: int) -> TypeDie:
    """A die of two faces, either of which is as likely."""
    return TypeDie((low, high), (share / 2, share / 2), number, ((first, last),))


@dataclass(frozen=True)
class CoinsTier:
    """Another number of holders of the first die whose types are unknown, with its windows and multipliers."""

    number: int
    counts: tuple[tuple[int, int], ...]
    scale: int
    multipliers: tuple[Multipliers, ...]

    def die(self, first: TypeDie) -> TypeDie:
        """The first die with this number of throws."""
        return replace(first, number=self.number, counts=self.counts)


@dataclass(frozen=True)
class CoinsWitness:
    """Multipliers between the counts of several coins or dice (`certify.bounds.coins`); the last count runs fastest.

    Actions are measured from "every one shows its first face", in units of the largest step of a face. `tiers` are for when more
    hold the first die.
    """

    coins: tuple[TypeDie, ...]
    scale: int
    multipliers: tuple[Multipliers, ...]
    tiers: tuple[CoinsTier, ...] = ()
    kind = "coins"

    def __post_init__(self) -> None:
        scales = (self.scale, *(tier.scale for tier in self.tiers))
        actions = (*self.multipliers, *(each for tier in self.tiers for each in tier.multipliers))
        if not self.coins or min(scales) < 1 or any(flow < 0 for action in actions for _, _, flow in action.flows):
            raise InputError(
                "A witness of coins has at least one, a positive scale and no negative multiplier",
                found=f"{len(self.coins)} coins, scale {brief(min(scales))}",
                allowed="numbers from 0",
                remedy="only non-negative multipliers prove a bound",
            )
        for tier in self.tiers:
            tier.die(self.coins[0])  # refuses what is no die

    @property
    def each(self) -> list[tuple[tuple[TypeDie, ...], int, tuple[Multipliers, ...]]]:
        """Dice, scale and multipliers of every tier, those of the witness itself first."""
        first, *others = self.coins
        tiers = [((tier.die(first), *others), tier.scale, tier.multipliers) for tier in self.tiers]
        return [(self.coins, self.scale, self.multipliers), *tiers]
