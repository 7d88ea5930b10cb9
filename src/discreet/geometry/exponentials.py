"""Sums Σ_k c_k e^{εk} with rational c_k and integer k: their sign, decided exactly, and brackets of any width.

Extreme private posteriors are prior × e^{ε·integer}, so every question about them is the sign of such a sum. For
rational ε ≠ 0 the number e^ε is transcendental (Lindemann): the sum is zero only when every c_k is zero, and any
other sign shows itself once the bracket q⁻ < e^ε < q⁺ is narrow enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.numerics.brackets import exp_bracket

FIRST_BITS = 128


def sign_at_exp(coefficients: Mapping[int, Fraction], epsilon: Fraction) -> int:
    """The sign (−1, 0, 1) of Σ_k c_k e^{εk}."""
    if epsilon == 0:
        total = sum(coefficients.values(), Fraction(0))
        return (total > 0) - (total < 0)
    if not any(coefficients.values()):
        return 0
    bits = FIRST_BITS
    while True:
        low, high = value_at_exp(coefficients, epsilon, bits)
        if low > 0:
            return 1
        if high < 0:
            return -1
        bits *= 2


def value_at_exp(coefficients: Mapping[int, Fraction], epsilon: Fraction, bits: int = FIRST_BITS) -> tuple[Fraction, Fraction]:
    """(low, high) around Σ_k c_k e^{εk}, from a bracket of e^ε that is 2^−bits wide."""
    below, above = exp_bracket(epsilon, bits)
    low = high = Fraction(0)
    for k, c in coefficients.items():
        smaller, larger = (below**k, above**k) if k >= 0 else (above**k, below**k)
        low += c * (smaller if c > 0 else larger)
        high += c * (larger if c > 0 else smaller)
    return low, high


def add_term(coefficients: dict[int, Fraction], exponent: int, c: Fraction) -> None:
    """coefficients += c·e^{ε·exponent}, in place."""
    coefficients[exponent] = coefficients.get(exponent, Fraction(0)) + c
