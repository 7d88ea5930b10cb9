"""Several releases that were all fixed before the first draw: the least ε that is proved at a given δ, in balls.

Each part of the batch is a pair (P, Q) that dominates what one release shows, or only its ε; then randomised response,
which dominates every ε-DP release, stands for it (KOV Thm 2; for parts of different ε, Murtagh & Vadhan 2016). Let S be
the sum of all losses, H(t) = P(S ≥ t) and A(t) = Q(S ≥ t). Then

    δ(ε) = max over t of H(t) − e^ε A(t),      so      ε(δ) = max over t of log((H(t) − δ)/A(t)).

Losses stand on a lattice of step g: exactly where only ε's are known and they have a common measure, and otherwise each atom
is split between its two neighbours on the lattice so that P and Q keep their masses, which undoes a post-processing and
so can only raise δ. The law of S is a product of polynomials whose coefficients are balls: nothing is assumed
about floats. The answer is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, ctx

from discreet.currencies.domination import coarsened, envelope
from discreet.currencies.pair import Pair
from discreet.currencies.profiles import profile
from discreet.currencies.repeated import dominating_pair
from discreet.errors import InputError
from discreet.model.mechanism import Mechanism
from discreet.numerics.brackets import compare_ratio_exp
from discreet.numerics.exact import brief, whole_steps
from discreet.numerics.outward import ball, upper_fraction

POINTS = 1 << 13
"""Steps of the lattice from 0 to the sum of all ε, where there is a choice."""
MOST_POINTS = 1 << 16
MOST_DEGREE = 1 << 18
MOST_TIMES = 1_000
MOST_TOTAL = 2_000
"""Beyond so many releases, so many points of the lattice or so large a sum of all ε, ε is only added up."""
BITS = 192
LARGEST = 1_000
GRID = 10**12
"""Answers are multiples of one over this."""


@dataclass(frozen=True)
class Part:
    """A release that is ε-DP, the pair that dominates it where one is known, and how many such there are."""

    epsilon: Fraction
    pair: Pair | None = None
    times: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= LARGEST or not 1 <= self.times <= MOST_TIMES:
            raise InputError(
                "A part of a batch is out of range",
                found=f"ε = {brief(self.epsilon)}, {self.times} times",
                allowed=f"ε from 0 to {LARGEST}, 1 to {MOST_TIMES:,} times",
                remedy="correct it",
            )


def joint_epsilon(parts: Sequence[Part], delta: Fraction) -> Fraction:
    """An ε at which all parts together are (ε, δ)-DP: never above the sum of all ε, which is returned at δ = 0."""
    total = sum((part.times * part.epsilon for part in parts), Fraction(0))
    if not 0 <= delta < 1:
        raise InputError("delta is out of range", found=str(delta), allowed="0 <= delta < 1", remedy="correct delta")
    if not (delta and 0 < total <= MOST_TOTAL) or sum(part.times for part in parts) > MOST_TIMES:
        return total
    with ctx.workprec(BITS + 3 * math.ceil(total)):  # the least masses are about e^(−2 total)
        found = _least(_gathered(parts), delta)
    return total if found is None else min(total, found)


def known_pair(mechanisms: Iterable[Mechanism], epsilon: Fraction) -> Pair:
    """A short pair that dominates every edge of every one of these mechanisms, each ε-DP."""
    return coarsened(envelope_of(mechanisms), epsilon)


def envelope_of(mechanisms: Iterable[Mechanism]) -> Pair:
    """A pair that dominates every edge of every one of these mechanisms."""
    return envelope([dominating_pair(profile(mechanism))[0] for mechanism in mechanisms])


def _gathered(parts: Sequence[Part]) -> list[Part]:
    """Equal parts as one."""
    counted: dict[tuple[Fraction, Pair | None], int] = {}
    for part in parts:
        counted[part.epsilon, part.pair] = counted.get((part.epsilon, part.pair), 0) + part.times
    return [Part(epsilon, pair, times) for (epsilon, pair), times in counted.items()]


def _step(parts: Sequence[Part]) -> Fraction:
    """The common measure of all ε where only they are known and that is not too fine; else a power of two."""
    total = sum((part.times * part.epsilon for part in parts), Fraction(0))
    if all(part.pair is None for part in parts):
        measure, _ = whole_steps([part.epsilon for part in parts])
        if total <= MOST_POINTS * measure:
            return measure
    step = Fraction(1)
    while step * POINTS < total:
        step *= 2
    while step * POINTS >= 2 * total:
        step /= 2
    return step


def _least(parts: Sequence[Part], delta: Fraction) -> Fraction | None:
    """max over thresholds of log((H − δ)/A), rounded up.

    None when outputs that give P away are likelier than δ, or the losses are too many to be followed.
    """
    step = _step(parts)
    laws = [(*_law(part, step), part.times) for part in parts]
    finite = math.prod(((1 - infinite) ** times for _, infinite, times in laws), start=Fraction(1))
    if 1 - finite >= delta or sum(times * (max(masses) - min(masses)) for masses, _, times in laws) > MOST_DEGREE:
        return None
    lowest = sum(times * min(masses) for masses, _, times in laws)
    law = _product([_polynomial(masses) ** times for masses, _, times in laws])
    hits, alarms, best = ball(1 - finite), arb(0), Fraction(0)
    chances = law.coeffs()
    grown, shrink = ball(step).exp(), ball(-step * (lowest + len(chances) - 1)).exp()
    for at in range(len(chances) - 1, -1, -1):
        if (lowest + at) * step < best:  # what is added from here on has a smaller ratio than the best quotient
            break
        hits, alarms = hits + chances[at], alarms + chances[at] * shrink
        shrink *= grown
        surplus = hits - ball(delta)
        if surplus.upper() <= 0:
            continue
        reached = (surplus / alarms).upper()
        if not reached.is_finite():
            return None
        if reached > 1:
            best = max(best, upper_fraction(reached.log()))
    return Fraction(math.ceil(best * GRID), GRID)


def _polynomial(masses: dict[int, arb]) -> arb_poly:
    """Masses as coefficients, the least multiple of the step first."""
    return arb_poly([masses.get(n, arb(0)) for n in range(min(masses), max(masses) + 1)])


def _product(factors: Sequence[arb_poly]) -> arb_poly:
    """The product, by halves: factors of like length multiply fastest."""
    if len(factors) == 1:
        return factors[0]
    middle = len(factors) // 2
    return _product(factors[:middle]) * _product(factors[middle:])


def _law(part: Part, step: Fraction) -> tuple[dict[int, arb], Fraction]:
    """Masses under P at multiples of the step, and the mass of an infinite loss."""
    masses: dict[int, arb] = {}
    if part.pair is None:
        likely = 1 / (1 + ball(-part.epsilon).exp())
        _put(masses, part.epsilon, likely, 1 - likely, step)
        _put(masses, -part.epsilon, 1 - likely, likely, step)
        return masses, Fraction(0)
    infinite = Fraction(0)
    for p, q in part.pair.key:
        if p and q:
            likely, other = (ball(Fraction(mass, part.pair.denominator)) for mass in (p, q))
            _split(masses, _floor(p, q, step), likely, other, step)
        elif p:
            infinite += Fraction(p, part.pair.denominator)
    return masses, infinite


def _put(masses: dict[int, arb], loss: Fraction, p: arb, q: arb, step: Fraction) -> None:
    """An atom whose loss is known exactly."""
    if (loss / step).denominator == 1:
        masses[int(loss / step)] = masses.get(int(loss / step), arb(0)) + p
    else:
        _split(masses, math.floor(loss / step), p, q, step)


def _split(masses: dict[int, arb], n: int, p: arb, q: arb, step: Fraction) -> None:
    """An atom with n·g ≤ log p/q ≤ (n+1)·g as two atoms at these ends, with the same masses of P and Q in all."""
    below, above = ball(-n * step).exp(), ball(-(n + 1) * step).exp()
    low = (q - p * above) / (below - above)
    masses[n] = masses.get(n, arb(0)) + low
    masses[n + 1] = masses.get(n + 1, arb(0)) + p - low


def _floor(p: int, q: int, step: Fraction) -> int:
    """The n with e^(n·g) ≤ p/q < e^((n+1)·g), decided exactly."""
    n = math.floor((math.log(p) - math.log(q)) / float(step))
    while compare_ratio_exp(p, q, n * step) < 0:
        n -= 1
    while compare_ratio_exp(p, q, (n + 1) * step) >= 0:
        n += 1
    return n
