"""Exact probabilities of a list of states, and the checks and counts that every prior shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial, lcm

import numpy as np

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.universe import AnyUniverse, Universe
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class ExactWeights:
    """Non-negative integers over one denominator: exact probabilities of a list of states."""

    numerators: tuple[int, ...]
    denominator: int

    def __len__(self) -> int:
        return len(self.numerators)

    def __getitem__(self, state: int) -> Fraction:
        return Fraction(self.numerators[state], self.denominator)

    def __iter__(self) -> Iterator[Fraction]:
        return map(self.__getitem__, range(len(self)))

    def floats(self) -> np.ndarray:
        """The nearest doubles; probabilities below 10^-308 lose digits, which only proposals may ignore."""
        return np.array([n / self.denominator for n in self.numerators])

    def logs(self) -> np.ndarray:
        """Natural logarithms, −inf for zero, without underflow."""
        return np.array([log_ratio(n, self.denominator) for n in self.numerators])


def log_ratio(numerator: int, denominator: int) -> float:
    """log(numerator/denominator) of integers of any size, to double precision."""
    if numerator == 0:
        return -np.inf
    return log_integer(numerator) - log_integer(denominator)


def log_integer(n: int) -> float:
    shift = max(n.bit_length() - 64, 0)
    return float(np.log(float(n >> shift)) + shift * np.log(2.0))


def over_one_denominator(probabilities: Sequence[Fraction]) -> ExactWeights:
    denominator = lcm(*(p.denominator for p in probabilities)) if probabilities else 1
    return ExactWeights(tuple(p.numerator * (denominator // p.denominator) for p in probabilities), denominator)


def check_distribution(probabilities: Sequence[Fraction], key: str) -> None:
    """Exactly a distribution: files normalise what is within rounding of one before it comes here."""
    if not probabilities:
        raise InputError(f"{key} is empty", found="no probabilities", allowed="at least one", remedy=f"fill in {key}")
    negative = [p for p in probabilities if p < 0]
    if negative:
        raise InputError(
            f"{key} has a negative probability",
            found=brief(negative[0]),
            allowed="numbers from 0 to 1",
            remedy="correct it",
        )
    total = sum(probabilities, Fraction(0))
    if total != 1:
        raise InputError(
            f"{key} does not sum to one",
            found=brief(total),
            allowed="a sum of 1",
            remedy="correct or rescale the probabilities",
        )


def check_count(found: int, wanted: int, what: str) -> None:
    if found != wanted:
        raise InputError(
            f"The prior needs {what}",
            found=f"{found}",
            allowed=f"{wanted}",
            remedy="add what is missing or correct [data]",
        )


def with_respondents(universe: AnyUniverse, kind: str) -> Universe:
    if not isinstance(universe, Universe):
        raise names_unknown(kind)
    return universe


def names_unknown(kind: str) -> InputError:
    return InputError(
        "Databases listed by name need a prior that lists them",
        found=f"kind = {kind!r}",
        allowed="kind = 'table'",
        remedy="give a probability for each name",
    )


def check_size(size: tuple[Fraction, ...] | None, universe: Universe) -> None:
    """A varying number of respondents needs its own distribution, a fixed one must not have any."""
    if universe.fixed and size is not None:
        raise InputError(
            "The number of respondents is fixed, so it has no prior",
            found="prior.size",
            allowed="no prior.size",
            remedy="remove it, or give a range of respondents",
        )
    if not universe.fixed:
        wanted = universe.largest - universe.smallest + 1
        if size is None or len(size) != wanted:
            raise InputError(
                "A varying number of respondents needs a probability for each size",
                found="no prior.size" if size is None else f"{len(size)} probabilities",
                allowed=f"{wanted} probabilities, for {universe.smallest} to {universe.largest} respondents, "
                'or prior.size = "uniform"',
                remedy="fill in prior.size",
            )


def size_probability(size: tuple[Fraction, ...] | None, n: int, universe: Universe) -> Fraction:
    if size is None:
        return Fraction(int(n == universe.largest))
    return size[n - universe.smallest] if universe.smallest <= n <= universe.largest else Fraction(0)


def orderings(h: Sequence[int]) -> int:
    """n! / Π h_t!: the number of databases with this histogram."""
    ways = factorial(sum(h))
    for count in h:
        ways //= factorial(count)
    return ways


def powers(base: int, most: int) -> list[int]:
    """base^0 … base^most."""
    found = [1]
    for _ in range(most):
        found.append(found[-1] * base)
    return found


@lru_cache(maxsize=512)
def two_ways(one: int, other: int, together: int) -> tuple[int, ...]:
    """C(r, c)·one^(r−c)·other^c for c = 0 … r: the same for every size of a family."""
    found, ways = [], 1
    for c, (left, right) in enumerate(zip(reversed(powers(one, together)), powers(other, together), strict=True)):
        found.append(ways * left * right)
        ways = ways * (together - c) // (c + 1)
    return tuple(found)
