"""How far floats may drift from the truth: one unit, and roundings that are counted.

IEEE 754 rounds every sum, product, quotient and square root of floats to within one part in 2^53 of the truth. Numbers
that are never subtracted from one another and pass through k such operations are then off by at most k·u/(1 − k·u) of
themselves, u = 2^−53, whatever the order of the operations (Higham, Accuracy and Stability, Lemma 3.1). Proofs that use
floats count their operations, a power or a transform as many, and take the drift from here; nothing else in them is rounded.
"""

from __future__ import annotations

from math import inf, nextafter

UNIT = 2.0**-53


def drift(roundings: int) -> float:
    """The largest relative error after so many roundings, itself rounded up; infinite where nothing is left to rely on."""
    if roundings < 0:
        raise ValueError(f"{roundings} roundings")
    if roundings * 2 * UNIT >= 1:
        return inf
    return nextafter(nextafter(roundings * UNIT, inf) / nextafter(1 - roundings * UNIT, 0.0), inf) if roundings else 0.0
