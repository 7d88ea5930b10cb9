"""Multipliers of averaged inequalities as whole numbers over a power of two, each of few digits.

Any numbers prove something, and what they prove hardly hangs on their last digits: with 24 binary digits of each it is the same to
one part in 10⁸, and a file, whose bytes lie in planes, is half as long as with 61 digits of the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.model.certificate import Multipliers
from discreet.numerics.arrays import Floats, Integers

BITS = 61
"""Binary digits of the largest multiplier above the unit."""
DIGITS = 24
"""Binary digits of each that are not 0."""


def whole_flows(
    actions: Sequence[Fraction], flows: Floats, states: Integers, numbers: Integers
) -> tuple[int, tuple[Multipliers, ...]]:
    """The unit as 1 / a power of two, which comes first, and flows [action, row] in it, by the state and number of each row."""
    largest = float(flows.max(initial=0.0))
    bits = BITS - int(np.ceil(np.log2(largest))) if largest > 0 else 0
    if bits < 0:
        raise InputError("The payoffs are too large for the multipliers of a certificate", found=f"{largest:.3g}")
    mantissas, exponents = np.frexp(np.ldexp(flows, bits))
    few = np.ldexp(np.rint(np.ldexp(mantissas, DIGITS)), exponents - DIGITS).astype(np.int64)
    each = []
    for action, row in zip(actions, few, strict=True):
        at = np.flatnonzero(row)
        triples = zip(states[at].tolist(), numbers[at].tolist(), row[at].tolist(), strict=True)
        each.append(Multipliers(action, tuple(triples)))
    return 1 << bits, tuple(each)
