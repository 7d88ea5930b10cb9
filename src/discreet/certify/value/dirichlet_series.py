"""The polynomials behind a Dirichlet (`laws.Overdispersed`): Π_t Σ_k (c_t)_k/k!·(ρ x z^{w_t})^k, every coefficient from below.

Numbers are whole, in units of 2^−bits, and rounded down; x stands for z^stride, so that one polynomial holds both.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import fmpz


def series_of(c: Fraction, factor: Fraction, most: int, bits: int) -> tuple[list[int], int]:
    """(c)_k/k!·ρ^k from below for k = 0..most, in units of 2^−bits after a shift by a power of two that keeps them near one."""
    top, bottom = factor.numerator, factor.denominator
    running, values = 1 << 2 * bits, []
    for k in range(most + 1):
        values.append(running)
        rise = c + k
        running = running * rise.numerator * top // (rise.denominator * (k + 1) * bottom)
    total = sum(values)
    excess = total.bit_length() - 1 - 2 * bits
    down = bits + excess
    return [v >> down for v in values], -excess


def blocks_of(factors: Sequence[tuple[int, list[int]]], sizes: Sequence[int], stride: int, bits: int) -> dict[int, Sequence[fmpz]]:
    """For each size n the coefficients in z of x^n in Π_t Σ_k series_t[k]·(x z^{w_t})^k, from (w_t, series_t).

    The first two factors have few terms, and for a single size the last needs no product either.
    """
    from flint import fmpz_poly

    most, rest = max(sizes), list(factors)
    last = rest.pop() if len(sizes) == 1 and len(rest) > 1 else None
    dense = [0] * ((most + 1) * stride)
    weight, series = rest[0]
    if len(rest) == 1:
        dense[: most * (stride + weight) + 1 : stride + weight] = series
    else:
        other_weight, other = rest[1]
        for k, one in enumerate(series):
            for j in range(most + 1 - k):
                dense[(k + j) * stride + k * weight + j * other_weight] += one * other[j] >> bits
    product = fmpz_poly(dense)
    for weight, series in rest[2:]:
        spread = [0] * (most * (stride + weight) + 1)
        spread[:: stride + weight] = series
        product = product.mul_low(fmpz_poly(spread), (most + 1) * stride) // (1 << bits)
    held = product.coeffs()
    if last is None:
        return {n: held[n * stride : (n + 1) * stride] for n in sizes}
    total, (weight, series) = fmpz_poly([0]), last
    for k, share in enumerate(series):
        part = held[(most - k) * stride : (most - k + 1) * stride]
        if share and part:
            total += fmpz_poly([*[0] * (k * weight), *part]) * share
    return {most: (total // (1 << bits)).coeffs()}
