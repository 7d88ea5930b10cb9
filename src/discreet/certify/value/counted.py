"""Noise that follows counts, at face value: what it loses needs the law of the counts alone.

The mechanism publishes S + Z, with S the statistic in steps (ω = origin + unit·S) and Z from the table i of its counts
(`model.counted_kernel`), gathered at the ends of its range, and recommends origin + unit·y after y. Gathering moves no output away
from S, so each loss is at most that of the noise itself, E_i its mean over table i:

    E loss ≤ Σ_i P(i)·E_i ρ(−unit·Z),        ρ(x) = x², or pinballs·max(q·x, (q − 1)·x).

P(i) is the law of a sum with weights 0 and 1 where one class is counted, and of two capped counts otherwise (`capped_counts`), from
below; what is missing of it loses as much as under the worst table.
Tails: |Z| = A + kW + t, A = R + 1, 0 ≤ t < W, has probability h·r^k with h that of the first stair; so per side
    E[|Z|; tail] = h·Σ_t [(A + t)·m₀ + W·m₁],    E[Z²; tail] = h·Σ_t [(A + t)²·m₀ + 2(A + t)·W·m₁ + W²·m₂],
    m₀ = 1/(1−r), m₁ = r/(1−r)², m₂ = r(1+r)/(1−r)³.
Exact rationals. [ours]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.certify.value.capped_counts import table_chances
from discreet.certify.value.face_value import at_face_value
from discreet.certify.value.laws import Law, law_of
from discreet.model.kernel import CountedKernel
from discreet.model.lattice import statistic_lattice
from discreet.model.losses import DistanceLoss
from discreet.model.mechanism import Mechanism

BITS = 128


def counted_payoff(mechanism: Mechanism) -> Fraction | None:
    """A lower side of the expected payoff; None when it is not such noise on the statistic at face value."""
    kernel, lattice, law = mechanism.kernel, statistic_lattice(mechanism.problem), law_of(mechanism.problem)
    decisions = mechanism.problem.decisions
    if not isinstance(kernel, CountedKernel) or lattice is None or law is None:
        return None
    if not all(isinstance(d.loss, DistanceLoss) for d in decisions) or not at_face_value(kernel, lattice, len(decisions)):
        return None
    summary = mechanism.weighted_sum
    if kernel.plain(summary, mechanism.problem.people).weights != lattice.summary.weights:
        return None
    losses = [Fraction(0)] * (kernel.most + 1)
    for decision in decisions:
        q = decision.distance.quantile
        for count, (below, above, second) in enumerate(moments(kernel)):
            one = lattice.unit**2 * second
            if q is not None:
                one = lattice.unit * decision.distance.pinballs * (q * below + (1 - q) * above)
            losses[count] += decision.weight * one
    chances = _chances(law, kernel, summary.weights)
    total = sum((p * loss for p, loss in zip(chances, losses, strict=True)), Fraction(0))
    return -total - (1 - sum(chances)) * max(losses)


def _chances(law: Law, kernel: CountedKernel, weights: Sequence[int]) -> list[Fraction]:
    """The probability of each table, from below."""
    marks = [w // kernel.stride for w in weights]
    if kernel.tables or not law.fits(marks):
        return table_chances(law, kernel.marks(weights), kernel.counts)
    found, chances = law.masses(marks, BITS), [Fraction(0)] * (kernel.most + 1)
    for j, mass in enumerate(found.masses, found.first):
        chances[min(j, kernel.most)] += Fraction(mass, 1 << BITS)
    return chances


def moments(kernel: CountedKernel) -> list[tuple[Fraction, Fraction, Fraction]]:
    """E[−Z; Z < 0], E[Z; Z > 0] and E Z² of each table's noise, when no end gathers it."""
    r, wide, start = kernel.ratio, kernel.step, kernel.reach + 1
    none, one, two = 1 / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3
    ends = range(start, start + wide)
    far = kernel.stair * (sum(ends) * none + wide * wide * one)
    wider = kernel.stair * (sum(x * x for x in ends) * none + 2 * sum(ends) * wide * one + wide**3 * two)
    found = []
    for row in kernel.weights:
        placed = list(zip(range(-kernel.reach, start), row, strict=True))
        below = Fraction(sum(max(-z, 0) * w for z, w in placed), kernel.denominator)
        above = Fraction(sum(max(z, 0) * w for z, w in placed), kernel.denominator)
        second = Fraction(sum(z * z * w for z, w in placed), kernel.denominator)
        found.append((below + far, above + far, second + 2 * wider))
    return found
