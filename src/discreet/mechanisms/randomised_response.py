"""Randomised response: the truth with probability e^ε/(e^ε + k − 1), else one of the other k − 1 answers evenly.

    P(output y | state x) = e^ε/(e^ε + k − 1) if y = x, 1/(e^ε + k − 1) otherwise.

Every answer's probabilities at two states differ by a factor of at most e^ε: ε-DP with every two types
adjacent. With k = 2 it attains the largest relative entropy of any ε-DP pair, ε·tanh(ε/2). Asked of each
respondent separately it is local differential privacy.

References: BG Ex. 2, Ex. 4; CY; SY-OA Prop. S.1; Warner (1965); Kairouz, Oh & Viswanath (2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError, TooLarge
from discreet.mechanisms.parameters import Pure, integer, non_negative
from discreet.mechanisms.tables import bits_for, must_be_private, rounded_table
from discreet.model.kernel import Output, TableKernel
from discreet.model.noise_kernel import MOST_TABLE
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import compare_ratio_exp, rational_below_exp


@dataclass(frozen=True)
class RandomisedResponse(Pure):
    """Randomised response over `alternatives` answers, numbered from 0."""

    epsilon: Fraction
    alternatives: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "alternatives", integer(self.alternatives, "alternatives", least=2))

    def log_pmf(self, output: ArrayLike, state: ArrayLike) -> Floats:
        """Log probabilities of answers at true types."""
        y, x = np.broadcast_arrays(np.asarray(output), np.asarray(state))
        log_truth = -math.log1p((self.alternatives - 1) * math.exp(-float(self.epsilon)))
        return np.where(y == x, log_truth, log_truth - float(self.epsilon))

    def pmf(self, output: ArrayLike, state: ArrayLike) -> Floats:
        """Probabilities of answers at true types."""
        return np.exp(self.log_pmf(output, state))

    def matrix(self) -> Floats:
        """Probabilities [output, state]."""
        types = np.arange(self.alternatives)
        return self.pmf(types[:, None], types[None, :])

    def error(self) -> float:
        """The probability of an answer that is not the truth."""
        others = (self.alternatives - 1) * math.exp(-float(self.epsilon))
        return others / (1 + others)

    def integer_weights(self, bits: int = 64) -> tuple[int, int, int]:
        """(truth, other, denominator = 2^bits) with truth + (k − 1)·other = denominator and truth/other ≤ e^ε.

        The truth is as likely as `bits` allow: one unit less on every other answer would break the bound.
        """
        denominator = 1 << integer(bits, "bits", least=1)
        below = rational_below_exp(self.epsilon, bits + 8)
        other = math.ceil(denominator / (below + self.alternatives - 1))
        while self._private(other - 1, denominator):
            other -= 1
        if not self._private(other, denominator):
            raise InputError(
                "no randomised response of this epsilon fits in this many bits",
                found=f"{bits} bits, {self.alternatives} answers",
                allowed="more bits, or an epsilon that is not 0",
                remedy="Leave the number of bits to `table`.",
            )
        return denominator - (self.alternatives - 1) * other, other, denominator

    def table(self, labels: Sequence[str] | None = None, bits: int = 64) -> TableKernel:
        """Integer weights over a power of two; one state and one output for each type, in the order of the labels."""
        names = _named(labels, self.alternatives)
        outputs, types = tuple(Output(name) for name in names), range(self.alternatives)
        if self.epsilon == 0:
            even = [[Fraction(1, self.alternatives)] * self.alternatives] * self.alternatives
            return rounded_table(names, outputs, even, self.epsilon)
        finest = -math.floor(math.log2(min(1.0, float(self.epsilon)))) + bits_for(self.epsilon, 1)
        truth, other, denominator = self.integer_weights(max(bits, finest))
        weights = tuple(tuple(truth if y == x else other for x in types) for y in types)
        kernel = TableKernel(tuple(names), outputs, weights, denominator)
        return must_be_private(kernel, combinations(types, 2), self.epsilon)

    def of_each(self, respondents: int, bits: int = 64) -> TableKernel:
        """Every respondent answers separately: states and outputs are whole databases such as "0,1,1"."""
        count = integer(respondents, "respondents", least=1)
        if count * math.log(self.alternatives) * 2 > math.log(MOST_TABLE):
            raise TooLarge(
                "randomised response over whole databases",
                size=f"{self.alternatives}^{count} databases on either side",
                fits=f"{math.isqrt(MOST_TABLE):,} databases",
                remedy="Work with one respondent's table, or with histograms.",
            )
        single = self.table(bits=bits)
        databases = list(product(range(self.alternatives), repeat=count))
        labels = tuple(",".join(map(str, database)) for database in databases)
        weights = tuple(
            tuple(math.prod(single.weights[y][x] for y, x in zip(answers, truths, strict=True)) for truths in databases)
            for answers in databases
        )
        return TableKernel(labels, tuple(Output(label) for label in labels), weights, single.denominator**count)

    def _private(self, other: int, denominator: int) -> bool:
        """Whether truth and other are within e^ε of each other, both ways."""
        truth = denominator - (self.alternatives - 1) * other
        if other <= 0 or truth <= 0:
            return False
        return compare_ratio_exp(max(truth, other), min(truth, other), self.epsilon) <= 0


def _named(labels: Sequence[str] | None, alternatives: int) -> list[str]:
    if labels is None:
        return [str(answer) for answer in range(alternatives)]
    if len(labels) != alternatives:
        raise InputError(
            "randomised response needs one label for each answer",
            found=f"{len(labels)} labels",
            allowed=f"{alternatives} labels",
            remedy="Name every answer once.",
        )
    return list(labels)
