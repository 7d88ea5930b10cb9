"""A pair of distributions over the same outputs, exact: what one edge of a neighbour graph looks like.

P and Q are integer weights over one denominator. The privacy loss of output y is L(y) = log P(y)/Q(y): +∞ where
only P can produce it, −∞ where only Q can. Everything an attacker can learn from one release is in this pair.

The Neyman-Pearson events {L ≥ t} give its curve of (Q(A), P(A)), a concave polygon from (0, 0) to (1, 1).
References: CY (closeness), DR Def. 1.1.5 (privacy loss).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key
from math import lcm

from discreet.errors import InputError
from discreet.numerics.exact import exact

NEAR_ONE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Pair:
    """Weights of P (`first`) and of Q (`second`), each summing to `denominator`."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    denominator: int

    def __post_init__(self) -> None:
        if len(self.first) != len(self.second) or not self.first:
            raise InputError(
                "Two distributions must list the same outputs",
                found=f"{len(self.first)} and {len(self.second)}",
                allowed="equally many probabilities, at least one",
                remedy="write 0 where an output is impossible",
            )
        if min(self.first) < 0 or min(self.second) < 0:
            raise InputError(
                "A probability is negative",
                found="a negative weight",
                allowed="numbers from 0 on",
                remedy="correct it",
            )
        if not 0 < self.denominator == sum(self.first) == sum(self.second):
            raise InputError(
                "The weights of a pair do not sum to its denominator",
                found=f"{sum(self.first)}, {sum(self.second)}",
                allowed=f"{self.denominator} twice",
                remedy="each distribution must sum to one",
            )

    def reversed(self) -> Pair:
        """Q and P."""
        return Pair(self.second, self.first, self.denominator)

    @cached_property
    def key(self) -> tuple[tuple[int, int], ...]:
        """What currencies see: the pairs of weights without their order and without impossible outputs."""
        return tuple(sorted(pair for pair in zip(self.first, self.second, strict=True) if any(pair)))

    @cached_property
    def curve(self) -> tuple[tuple[int, int], ...]:
        """Corners (Q(A), P(A)) times the denominator, from (0, 0) on, A growing by falling exact loss."""
        order = sorted(self.key, key=cmp_to_key(_by_falling_loss))
        corners, q_sum, p_sum, last = [(0, 0)], 0, 0, None
        for p, q in order:
            p_sum, q_sum = p_sum + p, q_sum + q
            same = last is not None and p * last[1] == last[0] * q
            if same:
                corners[-1] = (q_sum, p_sum)
            else:
                corners.append((q_sum, p_sum))
            last = (p, q)
        return tuple(corners)

    @cached_property
    def largest_ratio(self) -> Fraction | None:
        """max P/Q, exact; None when some output has Q = 0 < P."""
        best_p, best_q = 0, 1
        for p, q in self.key:
            if q == 0:
                return None
            if p * best_q > best_p * q:
                best_p, best_q = p, q
        return Fraction(best_p, best_q)

    @property
    def total_variation(self) -> Fraction:
        """sup over events of P(A) − Q(A), exact."""
        return Fraction(sum(max(p - q, 0) for p, q in self.key), self.denominator)


def pair_of(first: Sequence[object], second: Sequence[object]) -> Pair:
    """A pair from two lists of probabilities, read exactly; sums within 1e-9 of one are normalised."""
    return _over_one_denominator(distribution(first), distribution(second))


def distribution(numbers: Sequence[object], what: str = "probability") -> tuple[Fraction, ...]:
    """Exact probabilities that sum to one; a sum within 1e-9 of one is divided out."""
    values = [exact(number, what) for number in numbers]
    total = sum(values, Fraction(0))
    if not values or min(values) < 0 or abs(total - 1) > NEAR_ONE:
        raise InputError(
            "This is not a distribution",
            found=f"a sum of {float(total):.12g}" if values else "no probabilities",
            allowed="numbers from 0 on that sum to one",
            remedy="correct the probabilities",
        )
    return tuple(value / total for value in values)


def exact_pair(first: Sequence[Fraction], second: Sequence[Fraction]) -> Pair:
    """A pair from exact distributions."""
    return _over_one_denominator(first, second)


def _over_one_denominator(first: Sequence[Fraction], second: Sequence[Fraction]) -> Pair:
    denominator = lcm(*(p.denominator for p in first), *(q.denominator for q in second))
    return Pair(
        tuple(p.numerator * (denominator // p.denominator) for p in first),
        tuple(q.numerator * (denominator // q.denominator) for q in second),
        denominator,
    )


def _by_falling_loss(one: tuple[int, int], other: tuple[int, int]) -> int:
    left, right = one[0] * other[1], other[0] * one[1]
    return (left < right) - (left > right)
