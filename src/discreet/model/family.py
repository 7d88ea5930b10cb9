"""A family: mechanisms for cells of many sizes, each with its certificate.

A member serves the sizes low..high. When they differ it is padded: its mechanism is for `high` places, and a cell of n
respondents counts as n real ones and high − n of the type `absent` (model.sizes): one more type, or the type that adds
nothing to the statistic. `absent_probability` is that of an absent place under the padded problem's prior: without it nobody could
tell what is believed about a cell of a given size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from discreet.errors import InputError
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.sizes import filled_up
from discreet.model.universe import Universe
from discreet.numerics.exact import brief


@dataclass(frozen=True, eq=False)
class Member:
    """One mechanism with its proof, the sizes that it serves and the expected payoff at each of them."""

    low: int
    high: int
    mechanism: Mechanism
    certificate: Certificate
    values: tuple[tuple[int, Fraction], ...]
    absent: int | None = None
    absent_probability: Fraction | None = None

    def __post_init__(self) -> None:
        universe = self.mechanism.problem.universe
        fits = isinstance(universe, Universe) and universe.fixed and universe.respondents == self.high
        if not fits or not 1 <= self.low <= self.high:
            raise InputError(
                "A member of a family serves other sizes than its mechanism",
                found=f"sizes {self.low} to {self.high}",
                allowed="a mechanism for as many respondents as the largest size",
                remedy="make the family again",
            )
        types = universe.types if isinstance(universe, Universe) else 0
        if self.padded != (self.absent is not None) or not 0 <= (self.absent or 0) < types:
            raise InputError(
                "A member of several sizes needs the type of absent places, and only such a member",
                found=f"absent: {self.absent}",
                allowed=f"one of the types 0 to {types - 1}",
                remedy="make the family again",
            )
        if self.absent_probability is not None and (self.absent is None or not 0 < self.absent_probability < 1):
            raise InputError(
                "The probability of an absent place lies between 0 and 1, and only a member of several sizes has one",
                found=brief(self.absent_probability),
                allowed="above 0, below 1",
                remedy="make the family again",
            )
        if any(not self.low <= size <= self.high for size, _ in self.values):
            raise InputError(
                "A member states the payoff at a size that it does not serve",
                found="another size",
                allowed=f"{self.low} to {self.high}",
                remedy="make the family again",
            )

    @property
    def padded(self) -> bool:
        return self.low < self.high

    def histogram(self, counts: Sequence[int]) -> tuple[int, ...]:
        """The histogram that the mechanism reads for a cell with these counts of types."""
        size = sum(counts)
        if not self.low <= size <= self.high:
            raise InputError(
                "This member does not serve a cell of this size",
                found="another size",
                allowed=f"{self.low} to {self.high} respondents",
                remedy="ask the family for the member of the size",
            )
        return tuple(counts) if self.absent is None else filled_up(counts, self.high, self.absent)

    def value_at(self, size: int) -> Fraction | None:
        """The proved expected payoff at one size, where it was computed."""
        return dict(self.values).get(size)

    @property
    def relative_gap(self) -> float | None:
        claim = self.certificate.optimality
        return None if claim is None else claim.relative_gap


@dataclass(frozen=True, eq=False)
class Family:
    """Members by ascending sizes, all with the same guarantee."""

    members: tuple[Member, ...]

    def __post_init__(self) -> None:
        if not self.members:
            raise InputError("A family without members", found="no sizes", allowed="at least one", remedy="add a size")
        if any(a.high >= b.low for a, b in pairwise(self.members)):
            raise InputError(
                "The members of a family overlap or are out of order",
                found="a size served twice",
                allowed="each size once, ascending",
                remedy="make the family again",
            )
        guarantees = {(m.mechanism.guarantee.promise, m.mechanism.guarantee.unit) for m in self.members}
        if len(guarantees) > 1:
            raise InputError(
                "The members of a family promise different things",
                found=f"{len(guarantees)} different guarantees",
                allowed="one promise and one unit",
                remedy="make one family for each guarantee",
            )

    def member(self, size: int) -> Member:
        """The member that serves a size."""
        for member in self.members:
            if member.low <= size <= member.high:
                return member
        raise InputError(
            "The family serves no cell of this size",
            found=f"{size} respondents",
            allowed=self.words,
            remedy="add the size to the family",
        )

    def serves(self, size: int) -> bool:
        return any(member.low <= size <= member.high for member in self.members)

    @property
    def words(self) -> str:
        """The sizes in words: 1..20, 21-30."""
        return sizes_in_words([(member.low, member.high) for member in self.members])


def sizes_in_words(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges of sizes as people ask for them: 1..20 for each of these sizes, 21-30 for a bucket."""
    runs: list[list[int]] = []
    parts = []
    for low, high in sorted(ranges):
        if low != high:
            parts.append((low, f"{low}-{high}"))
        elif runs and runs[-1][1] == low - 1:
            runs[-1][1] = low
        else:
            runs.append([low, low])
    parts += [(a, str(a) if a == b else f"{a}..{b}") for a, b in runs]
    return ", ".join(text for _, text in sorted(parts))
