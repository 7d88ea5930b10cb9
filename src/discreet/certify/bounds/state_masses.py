"""How likely a state (x_1, …, x_G, ω) is under independent respondents, from both sides.

x_g respondents have a type in group g, the others the reference type; ω = Σ_j n_j·u_j with whole steps u_j. Given the counts x,

    π(x, ω) = N! / ((N−x)! Π_g x_g!) · p_0^(N−x) · Π_g p_g^(x_g) · [z^ω] Π_g ( Σ_{j∈g} (p_j/p_g) z^(u_j) )^(x_g),

p_g the probability of group g and x = Σ_g x_g. The first factor is exact. The polynomials are whole numbers over 2^bits; each
product is rounded down, so a coefficient lies below the truth, and by at most what the whole polynomial lacks to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from flint import fmpz_poly

from discreet.certify.value.sum_laws import rounded_product
from discreet.errors import TooLarge
from discreet.model.together import ask

BITS = 128
MOST_RESPONDENTS = 20_000
MOST_WORK = 20_000_000
"""Coefficients of all the powers together."""
MOST_BITS, MOST_BITS_TOGETHER = 1 << 21, 1 << 27
"""Of the exact probability of counts, and of all that differ."""

State = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GroupLaw:
    """N respondents: p_0, and for each group its types as (probability, step) in whole steps above the reference."""

    respondents: int
    rest: Fraction
    groups: tuple[tuple[tuple[Fraction, int], ...], ...]

    def possible(self, state: State) -> bool:
        """Whether some histogram has this state."""
        counts = state[:-1]
        if min(counts) < 0 or sum(counts) > self.respondents:
            return False
        least = sum(x * low for x, low in zip(counts, self._lows, strict=True))
        if state[-1] < least:
            return False
        reached = self._reached.get(counts)
        if reached is None:
            reached = self._sums_of(counts)
            self._reached[counts] = reached
        return bool(reached >> (state[-1] - least) & 1)

    def masses(self, states: Iterable[State]) -> list[tuple[int, int]]:
        """Both sides of each state's probability, in parts of 2^−BITS."""
        listed = list(states)
        self.must_be_small(listed)
        powers = [self._powers(g, max((s[g] for s in listed), default=0)) for g in range(len(self.groups))]
        laws: dict[State, tuple[fmpz_poly, int, int, Fraction]] = {}
        found = []
        for state in listed:
            counts = state[:-1]
            if counts not in laws:
                laws[counts] = (*self._product(counts, powers), self._chance(counts))
            polynomial, first, missing, chance = laws[counts]
            at = state[-1] - first
            held = int(polynomial[at]) if 0 <= at <= polynomial.degree() else 0
            low, high = chance * held, chance * (held + missing)
            found.append((low.__floor__(), high.__ceil__()))
        return found

    def _sums_of(self, counts: State) -> int:
        """The sums above the least that these counts may have, as bits: from counts with one fewer, where these are known."""
        for g, x in enumerate(counts):
            fewer = (*counts[:g], x - 1, *counts[g + 1 :])
            if x and fewer in self._reached:
                return self._one_more(self._reached[fewer], g)
        reached = 1
        for g, x in enumerate(counts):
            for _ in range(x):
                reached = self._one_more(reached, g)
        return reached

    def _one_more(self, reached: int, group: int) -> int:
        found = 0
        for step in {step - self._lows[group] for _, step in self.groups[group]}:
            found |= reached << step
        return found

    @cached_property
    def _lows(self) -> tuple[int, ...]:
        return tuple(min(step for _, step in group) for group in self.groups)

    @cached_property
    def _reached(self) -> dict[State, int]:
        return {}

    def must_be_small(self, states: Sequence[State]) -> None:
        """Refuses states whose law would take too long; to be asked before `possible` and `masses`."""
        most = [max((s[g] for s in states), default=0) for g in range(len(self.groups))]
        work = 0
        for x, low, group in zip(most, self._lows, self.groups, strict=True):
            work += (x * x + 1) * (max(step for _, step in group) - low + 1)
        if self.respondents > MOST_RESPONDENTS or work > MOST_WORK:
            raise TooLarge(
                "The states of this witness are too many respondents apart to be weighed",
                size=f"{self.respondents:,} respondents, counts up to {max(most)}",
                fits=f"{MOST_RESPONDENTS:,} respondents",
                remedy="use another witness",
            )
        ask(work, MOST_WORK)
        shares = [self.rest, *(p for group in self.groups for p, _ in group)]
        bits = self.respondents * max(p.numerator.bit_length() + p.denominator.bit_length() for p in shares)
        together = bits * len({state[:-1] for state in states})
        if bits > MOST_BITS or together > MOST_BITS_TOGETHER:
            raise TooLarge(
                "The probabilities of this problem are written too finely for so many respondents and states",
                size=f"{bits:,} binary digits, for all counts {together:,}",
                fits=f"{MOST_BITS:,} binary digits, for all counts {MOST_BITS_TOGETHER:,}",
                remedy="write them with fewer digits, or use another witness",
            )
        ask(together, MOST_BITS_TOGETHER)

    def _powers(self, group: int, most: int) -> list[tuple[fmpz_poly, int]]:
        """The law of ω of 0..most respondents of one group, less its least value: (polynomial, first power)."""
        types, low = self.groups[group], self._lows[group]
        share = sum((p for p, _ in types), Fraction(0))
        atoms = [0] * (max(step for _, step in types) - low + 1)
        for p, step in types:
            atoms[step - low] += ((p / share).numerator << BITS) // (p / share).denominator
        powers = [(fmpz_poly([1 << BITS]), 0)]
        for _ in range(most):
            polynomial, skipped = rounded_product(powers[-1][0], fmpz_poly(atoms), BITS)
            powers.append((polynomial, powers[-1][1] + skipped))
        return powers

    def _product(self, counts: State, powers: list[list[tuple[fmpz_poly, int]]]) -> tuple[fmpz_poly, int, int]:
        """The law of ω given the counts from below, its first value, and what it lacks to one in units of 2^−BITS."""
        result, first = fmpz_poly([1 << BITS]), 0
        for x, of_group, low in zip(counts, powers, self._lows, strict=True):
            polynomial, start = of_group[x]
            result, skipped = rounded_product(result, polynomial, BITS)
            first += start + skipped + x * low
        return result, first, (1 << BITS) - int(sum(result.coeffs()))

    def _chance(self, counts: State) -> Fraction:
        """The probability of the counts, exactly."""
        left, ways, chance = self.respondents, 1, self.rest ** (self.respondents - sum(counts))
        for x, group in zip(counts, self.groups, strict=True):
            ways, left = ways * comb(left, x), left - x
            chance *= sum((p for p, _ in group), Fraction(0)) ** x
        return ways * chance
