"""Payoffs f(a) + ω·g(a) of real actions: how low the loss can be between two actions, in exact numbers.

Where the second derivative of a function is at most M, the function lies above its chord less M·width²/8. For ℓ = −f − ω·g the
second derivatives of f and g, both rational functions, are enclosed on each piece (`numerics.rational_functions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np

from discreet.certify.duality.pulls import LARGEST, contenders
from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.expression import as_fraction
from discreet.model.losses import FormulaLoss
from discreet.numerics.rational_functions import RationalFunction, range_on, second_derivative, value_at

PIECES = 64
"""Pieces of the whole range over which the least loss of each ω is bounded, to begin with."""
HALVED, MOST_HALVED = 12, 12_000
"""How often the piece with the least bound is halved for each ω, and for all: near a pole one piece bends more than the rest."""

HIGHEST_DEGREE = 8
"""Degrees of numerators and denominators beyond which enclosing second derivatives takes too long."""

HUGE = Fraction(10**100)

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Kink:
    """Ranges of f″ and g″ on a piece, and its width."""

    f: Ends
    g: Ends
    width: Fraction

    def bulge(self, omega: Fraction) -> Fraction:
        """How far −f − ω·g may lie below its chord: (width²/8)·max(0, −f″ − ω·g″)."""
        steepest = -self.f[0] - min(omega * end for end in self.g)
        return max(steepest, Fraction(0)) * self.width**2 / 8


@dataclass(frozen=True)
class AffinePayoff:
    """f and g with their second derivatives, on a range of actions."""

    f: RationalFunction
    g: RationalFunction
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, decision: Decision) -> AffinePayoff:
        """The parts of a decision's payoff; refuses those that no bound is proved for."""
        parts = decision.loss.parts if isinstance(decision.loss, FormulaLoss) else None
        found = [as_fraction(part) for part in parts or ()]
        if not isinstance(decision.actions, RealActions) or len(found) != 2 or None in found:
            raise InputError(
                "A bound for real actions is proved for losses and for payoffs f(a) + omega*g(a) without kinks",
                found=str(decision.loss.document().get("payoff", decision.loss.kind)),
                allowed="squared-error, absolute-error, pinball, or an expression of + - * / and powers on a range",
                remedy="list the actions",
            )
        f, g = (part for part in found if part is not None)
        degree = max(len(p) - 1 for p in (*f, *g))
        if degree > HIGHEST_DEGREE:
            raise InputError(
                "A bound for real actions takes too long to prove for a payoff of such a degree",
                found=f"degree {degree}",
                allowed=f"up to {HIGHEST_DEGREE}",
                remedy="list the actions",
            )
        return cls(f, g, *decision.interval.ends)

    def bends(self, nodes: Sequence[Fraction]) -> list[Kink]:
        """The bend of every piece between neighbouring nodes."""
        f2, g2 = self.second_derivatives
        return [Kink(range_on(f2, a, b), range_on(g2, a, b), b - a) for a, b in pairwise(nodes)]

    @cached_property
    def second_derivatives(self) -> tuple[RationalFunction, RationalFunction]:
        """f″ and g″."""
        return second_derivative(self.f), second_derivative(self.g)

    def parts(self, nodes: Sequence[Fraction]) -> np.ndarray:
        """f and g [part, node] in floats, each rounded once from its exact value."""
        return np.array([[float(value_at(part, a)) for a in nodes] for part in (self.f, self.g)])

    def least_losses(self, omegas: Sequence[Fraction]) -> dict[Fraction, Fraction]:
        """For each ω a number that −f(a) − ω·g(a) does not fall below on the whole range.

        That is the least of pieces, whichever they are: floats choose which piece is halved and which can be the least.
        """
        step = (self.high - self.low) / PIECES
        whole = [self._piece(self.low + k * step, self.low + (k + 1) * step) for k in range(PIECES)]
        halves = cache(self._halves)
        found = {}
        for omega in omegas:
            near = _near(omega)
            pieces = [(*piece.rough(near), number, piece) for number, piece in enumerate(whole)]
            heapify(pieces)
            for number in range(PIECES, PIECES + 2 * min(HALVED, MOST_HALVED // len(omegas)), 2):
                for place, half in enumerate(halves(heappop(pieces)[-1])):
                    heappush(pieces, (*half.rough(near), number + place, half))
            size = max(piece[1] for piece in pieces)
            least = contenders(np.array([piece[0] for piece in pieces]), size)
            found[omega] = min(pieces[k][-1].below(omega) for k in least)
        return found

    def _piece(self, low: Fraction, high: Fraction) -> Piece:
        ends = tuple((value_at(self.f, a), value_at(self.g, a)) for a in (low, high))
        return Piece(low, high, ends, self.bends((low, high))[0])

    def _halves(self, piece: Piece) -> tuple[Piece, Piece]:
        middle = (piece.low + piece.high) / 2
        return self._piece(piece.low, middle), self._piece(middle, piece.high)


@dataclass(frozen=True, eq=False)
class Piece:
    """f and g at both ends of a piece, and how they bend between."""

    low: Fraction
    high: Fraction
    ends: tuple[Ends, ...]
    bend: Kink

    def below(self, omega: Fraction) -> Fraction:
        """The lower end of −f − ω·g less the bulge between the ends."""
        return min(-f - omega * g for f, g in self.ends) - self.bend.bulge(omega)

    def rough(self, omega: float) -> tuple[float, float]:
        """The same in floats, and the size of its terms: infinite where floats rule nothing out."""
        f, g, f_end, g_end, bent, low, high, scale, size, slope, largest = self._floats
        bulge = scale * max(-bent - min(omega * low, omega * high), 0.0)
        least = min(-f - omega * g, -f_end - omega * g_end) - bulge
        return least, inf if max(largest, abs(omega)) > LARGEST else size + abs(omega) * slope

    @cached_property
    def _floats(self) -> tuple[float, ...]:
        """f, g and bends with their factor; what they add up to without ω and for each ω; the largest of them."""
        exact = (*self.ends[0], *self.ends[1], self.bend.f[0], *self.bend.g, self.bend.width**2 / 8)
        parts = tuple(map(_near, exact))
        f, g, f_end, g_end, bent, low, high, scale = sizes = tuple(map(abs, parts))
        return *parts, f + f_end + scale * bent, g + g_end + scale * max(low, high), max(sizes)


def _near(number: Fraction) -> float:
    """The nearest float; products of three stay finite, and beyond `LARGEST` floats choose at most what is halved."""
    return float(max(-HUGE, min(number, HUGE)))
