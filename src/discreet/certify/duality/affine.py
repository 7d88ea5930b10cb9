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

import numpy as np

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
        """For each ω a number that −f(a) − ω·g(a) does not fall below on the whole range."""
        step = (self.high - self.low) / PIECES
        nodes = [self.low + k * step for k in range(PIECES + 1)]
        values = cache(lambda a: (value_at(self.f, a), value_at(self.g, a)))
        bend = cache(lambda a, b: self.bends((a, b))[0])

        def below(omega: Fraction, a: Fraction, b: Fraction) -> Fraction:
            return min(-f - omega * g for f, g in (values(a), values(b))) - bend(a, b).bulge(omega)

        found = {}
        for omega in omegas:
            pieces = [(below(omega, a, b), a, b) for a, b in pairwise(nodes)]
            heapify(pieces)
            for _ in range(min(HALVED, MOST_HALVED // len(omegas))):
                _, a, b = heappop(pieces)
                middle = (a + b) / 2
                heappush(pieces, (below(omega, a, middle), a, middle))
                heappush(pieces, (below(omega, middle, b), middle, b))
            found[omega] = pieces[0][0]
        return found
