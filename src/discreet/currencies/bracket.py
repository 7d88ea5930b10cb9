"""What a currency is stated with: a bracket around the true number, and the edge where it is worst.

    lower ≤ value ≤ upper.

A bracket is proved from both sides: floats rounded outward, or balls. `upper` is what may be promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.numerics.digits import float_above, float_below
from discreet.numerics.outward import enclosure

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Bracket:
    """Two floats with the true value between them."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How far apart the ends are; 0 when both are infinite."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def middle(self) -> float:
        """A number between the ends, for pictures."""
        return self.lower if self.lower == self.upper else self.lower + (self.upper - self.lower) / 2

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def clipped(self, low: float, high: float = math.inf) -> Bracket:
        """The bracket of a value that is known to lie in [low, high]."""
        return Bracket(min(max(self.lower, low), high), min(max(self.upper, low), high))


@dataclass(frozen=True)
class Worst:
    """A currency of a mechanism: its bracket and the states (from, to) whose pair is worst, if any pair counts."""

    bracket: Bracket
    edge: tuple[str, str] | None = None

    @property
    def lower(self) -> float:
        """What the worst edge proves to be exceeded or met."""
        return self.bracket.lower

    @property
    def upper(self) -> float:
        """What may be promised."""
        return self.bracket.upper


INFINITE = Bracket(math.inf, math.inf)
ZERO = Bracket(0.0, 0.0)


def enclosed(compute: Callable[[], arb], *, low: float = -math.inf, high: float = math.inf) -> Bracket:
    """The bracket of a ball computed at growing precision, cut to where the value is known to lie."""
    lower, upper = enclosure(compute, max_bits=1 << 12)
    return as_printed(lower, upper).clipped(low, high)


def as_printed(lower: float, upper: float) -> Bracket:
    """A bracket that also holds for the decimals its ends are printed with, which may differ by half a step."""
    low = float_below(Fraction(lower)) if math.isfinite(lower) else lower
    high = float_above(Fraction(upper)) if math.isfinite(upper) else upper
    return Bracket(low, high)
