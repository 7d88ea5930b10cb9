"""The privacy-loss distribution: how much an attacker learns, as a random variable.

    L = log P(Y)/Q(Y) for Y ~ P.

For a finite pair it has finitely many atoms, kept exact: the ratio P/Q of each atom and its probability. It holds
the whole profile, δ(ε) = E[max(1 − e^(ε−L), 0)], and it adds up under composition. Reference: DR Def. 1.1.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.currencies.bracket import Bracket, enclosed
from discreet.currencies.pair import Pair
from discreet.currencies.tight import log_of
from discreet.numerics.outward import ball


@dataclass(frozen=True)
class LossAtom:
    """A value of the loss, log `ratio` (None: +∞), its probability under P, and floats around the loss."""

    ratio: Fraction | None
    probability: Fraction
    loss: Bracket


@dataclass(frozen=True)
class LossDistribution:
    """Atoms by rising loss; their probabilities sum to one."""

    atoms: tuple[LossAtom, ...]

    @property
    def infinite(self) -> Fraction:
        """The probability of an output that gives P away."""
        return sum((atom.probability for atom in self.atoms if atom.ratio is None), Fraction(0))

    def mean(self) -> Bracket:
        """E[L], which is relative entropy."""
        if self.infinite:
            return Bracket(math.inf, math.inf)
        finite = [(atom.ratio, atom.probability) for atom in self.atoms if atom.ratio is not None and atom.ratio != 1]
        return enclosed(lambda: sum((ball(p) * ball(r).log() for r, p in finite), start=ball(0)))

    def exceeds(self, epsilon: Fraction) -> Fraction:
        """P(L > ε), exact: the looser, pointwise reading of δ."""
        from discreet.numerics.brackets import compare_ratio_exp

        return sum(
            (
                atom.probability
                for atom in self.atoms
                if atom.ratio is None or compare_ratio_exp(atom.ratio.numerator, atom.ratio.denominator, epsilon) > 0
            ),
            Fraction(0),
        )


def loss_distribution(pair: Pair) -> LossDistribution:
    """The distribution of the privacy loss of one pair, P against Q."""
    masses: dict[Fraction | None, int] = {}
    for p, q in pair.key:
        if p:
            ratio = Fraction(p, q) if q else None
            masses[ratio] = masses.get(ratio, 0) + p
    ordered = sorted(ratio for ratio in masses if ratio is not None)
    infinite: list[Fraction | None] = [None] if None in masses else []
    return LossDistribution(
        tuple(LossAtom(ratio, Fraction(masses[ratio], pair.denominator), log_of(ratio)) for ratio in [*ordered, *infinite])
    )
