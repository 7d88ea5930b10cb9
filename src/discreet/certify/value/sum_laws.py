"""The law of a weighted sum of independent respondents, from below, with what is missing known exactly.

S = Σ_i w(θ_i) with integer weights has the generating polynomial (Σ_t p_t x^{w_t})^N. It is raised by
squaring in whole numbers over 2^bits; every coefficient is rounded down after every product. Sums and
products of smaller non-negative numbers are smaller, so the result lies below the law everywhere; the law
sums to one, so what is missing is one minus its sum. Coefficients below 2^−bits vanish, which cuts the
unlikely tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.model.together import ask

if TYPE_CHECKING:
    from flint import fmpz_poly

MOST_LIKELY = 1_000_000
"""Likely totals beyond which the law of the sum is not computed."""


@dataclass(frozen=True, eq=False)
class Masses:
    """P(S = first + i) ≥ masses[i]/2^bits, together all but missing/2^bits."""

    first: int
    masses: list[int]
    missing: int


def trimmed(first: int, masses: list[int], bits: int) -> Masses:
    """Without the empty ones that come first."""
    ask(len(masses), MOST_LIKELY)
    skipped = next((i for i, mass in enumerate(masses) if mass), 0)
    return Masses(first + skipped, masses[skipped:], (1 << bits) - sum(masses))


def too_long(length: int) -> TooLarge:
    """Why a law with steps as long as this is not computed."""
    return TooLarge(
        "The law of the weighted sum has too many likely values",
        size=f"steps of about {length:,}",
        fits=f"{MOST_LIKELY:,} totals",
        remedy="use smaller weights, fewer respondents or an iid prior",
    )


def sum_masses(
    probabilities: Sequence[Fraction], weights: Sequence[int], respondents: int, bits: int
) -> tuple[int, list[int], int]:
    """(first, masses, missing): P(S = first + i) ≥ masses[i]/2^bits, together all but missing/2^bits."""
    from flint import fmpz_poly

    low = min(weights)
    if max(weights) - low > 2 * MOST_LIKELY:
        raise too_long(max(weights) - low)
    atoms = [0] * (max(weights) - low + 1)
    for p, w in zip(probabilities, weights, strict=True):
        atoms[w - low] += (p.numerator << bits) // p.denominator
    base, base_first = fmpz_poly(atoms), 0
    result, result_first = fmpz_poly([1 << bits]), 0
    exponent = respondents
    while exponent:
        if exponent & 1:
            result, skipped = rounded_product(result, base, bits)
            result_first += base_first + skipped
        exponent >>= 1
        if exponent:
            base, skipped = rounded_product(base, base, bits)
            base_first = 2 * base_first + skipped
    masses = [int(c) for c in result.coeffs()]
    return result_first + respondents * low, masses, (1 << bits) - sum(masses)


def rounded_product(left: fmpz_poly, right: fmpz_poly, bits: int) -> tuple[fmpz_poly, int]:
    """The product with coefficients rounded down, its leading zeros left out, and how many those were."""
    if left.degree() + right.degree() > 2 * MOST_LIKELY:
        raise TooLarge(
            "The law of the weighted sum has too many likely values",
            size=f"about {left.degree() + right.degree():,}",
            fits=f"{MOST_LIKELY:,}",
            remedy="use smaller weights",
        )
    ask(left.degree() + right.degree(), 2 * MOST_LIKELY)
    product = left * right // (1 << bits)
    skipped = next((i for i in range(product.degree() + 1) if product[i]), 0)
    return product.right_shift(skipped), skipped
