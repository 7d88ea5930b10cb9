"""Fréchet representations: a hyper as the joint law of the state and the rank of an index of the posterior.

With an index t(μ), let r be the law of t under τ, and Q its quantile function. The representation (W, X) has
X uniform on [0, 1] and, given X = x, W distributed as the τ-average of the posteriors with t(μ) = Q(x). Its mixed
density f(w, x) is a step function of x; its marginals are μ0 and the uniform law. Posteriors that share an index are
pooled. Reference: SY Appendix B, Lemma 3, Figures 7 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from discreet.errors import InputError
from discreet.geometry.beliefs import Belief, mixture
from discreet.geometry.hyper import Hyper


@dataclass(frozen=True)
class FrechetRepresentation:
    """Steps of x in ascending order of the index: its value, the width r, and the law of W on the step."""

    indices: tuple[Fraction, ...]
    widths: tuple[Fraction, ...]
    laws: tuple[Belief, ...]

    @property
    def knots(self) -> tuple[Fraction, ...]:
        """0 = x_0 < x_1 < … = 1, where the density changes."""
        found = [Fraction(0)]
        for width in self.widths:
            found.append(found[-1] + width)
        return tuple(found)

    def density(self, w: int, x: Fraction) -> Fraction:
        """f(w, x)."""
        return self.laws[self._step(x)][w]

    def quantile(self, x: Fraction) -> Fraction:
        """Q(x): the smallest index whose cumulative probability reaches x."""
        return self.indices[self._step(x)]

    def cdf(self, w: int, x: Fraction) -> Fraction:
        """F(w, x) = P(W ≤ w, X ≤ x)."""
        total, start = Fraction(0), Fraction(0)
        for width, law in zip(self.widths, self.laws, strict=True):
            covered = min(max(x - start, Fraction(0)), width)
            total += covered * sum(law[: w + 1], Fraction(0))
            start += width
        return total

    def cdf_along(self, points: Sequence[Fraction]) -> Iterator[tuple[Fraction, ...]]:
        """F(·, x) at ascending points x, carried along from one to the next."""
        joint, reached, step = [Fraction(0)] * len(self.laws[0]), Fraction(0), 0
        knots = self.knots
        for x in points:
            while step < len(self.widths) and reached < x:
                covered = min(x, knots[step + 1]) - reached
                joint = [f + covered * p for f, p in zip(joint, self.laws[step], strict=True)]
                reached += covered
                step += reached == knots[step + 1]
            yield tuple(accumulate(joint))

    def state_marginal(self) -> Belief:
        """The law of W, which is the prior of a Bayes-plausible hyper."""
        return mixture(self.widths, self.laws)

    def expectation(self, h: Callable[[int, Fraction], Fraction]) -> Fraction:
        """E h(W, Q(X))."""
        return sum(
            (
                width * p * h(w, index)
                for index, width, law in zip(self.indices, self.widths, self.laws, strict=True)
                for w, p in enumerate(law)
            ),
            Fraction(0),
        )

    def _step(self, x: Fraction) -> int:
        if not 0 <= x <= 1:
            raise InputError("A rank lies between 0 and 1", found=str(x), allowed="0 to 1", remedy="correct it")
        for step, knot in enumerate(self.knots[1:]):
            if x <= knot:
                return step
        return len(self.widths) - 1


def frechet(hyper: Hyper, index: Sequence[Fraction | int]) -> FrechetRepresentation:
    """The representation of a hyper with respect to an index, one number for each of its posteriors."""
    if len(index) != len(hyper):
        raise InputError(
            "An index gives one number for each posterior",
            found=f"{len(index)} numbers",
            allowed=f"{len(hyper)}",
            remedy="index every posterior",
        )
    values = sorted({Fraction(i) for i in index})
    widths, laws = [], []
    for value in values:
        members = [j for j, i in enumerate(index) if i == value]
        width = sum((hyper.weights[j] for j in members), Fraction(0))
        widths.append(width)
        laws.append(mixture([hyper.weights[j] / width for j in members], [hyper.posteriors[j] for j in members]))
    return FrechetRepresentation(tuple(values), tuple(widths), tuple(laws))
