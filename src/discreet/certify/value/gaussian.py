"""What a mechanism with discrete Gaussian noise is worth, from both sides, its probabilities being irrational.

Probabilities lie between whole numbers in units of 2^−bits (`numerics.discrete_gaussian`). Written with regrets
ℓ = max u − u ≥ 0, every term of the expected regret is non-negative, so its upper side uses the upper side of each probability.

`noisy_sums`   Σ_y K(y|s)·x_y at every total s, from both sides, for x ≥ 0: one product of polynomials for each side
`noisy_rows`   K(y|s) as floats [state, output], each within a few roundings
`listed_payoff`  the expected payoff over listed states, whatever prior and decisions are
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz_poly

from discreet.certify.value.expected import joint_law, weighted_payoff
from discreet.errors import InputError
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism

BITS = 160
FLOAT_BITS = 1200
"""Units in which even the faintest probability that a float can hold keeps its digits."""


def noisy_sums(kernel: GaussianKernel, numbers: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Both sides of Σ_y K(y|s)·number_y at every total from low to high, in units of 2^−bits; numbers ≥ 0."""
    found = kernel.brackets(bits)
    sides = []
    for side, sign in ((0, 1), (1, -1)):
        x = [sign * ((sign * n.numerator << bits) // n.denominator) for n in numbers]
        masses = [pair[side] for pair in found.masses]
        tails = [pair[side] for pair in found.tails]
        inner = [0, *x[1:-1], 0]
        spread = (fmpz_poly([*masses[:0:-1], *masses]) * fmpz_poly(inner)).coeffs()
        start, width = len(masses) - 1, kernel.width
        middle = [int(spread[start + s]) if start + s < len(spread) else 0 for s in range(width)]
        whole = [m + x[0] * tails[s] + x[-1] * tails[width - 1 - s] for s, m in enumerate(middle)]
        sides.append([sign * (sign * total >> bits) for total in whole])
    return sides[0], sides[1]


def noisy_rows(kernel: GaussianKernel) -> np.ndarray:
    """K(y|s) as floats [state, output], right to a few units in the last place."""
    found = kernel.brackets(FLOAT_BITS)
    one = 1 << FLOAT_BITS
    masses, tails = (np.array([low / one for low, _ in pairs]) for pairs in (found.masses, found.tails))
    distance = np.arange(kernel.width)
    rows = masses[np.abs(distance[:, None] - distance[None, :])]
    rows[:, 0], rows[:, -1] = tails, tails[::-1]
    return np.asarray(rows)


def listed_payoff(mechanism: Mechanism, kernel: GaussianKernel) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions, state by state."""
    if kernel.actions is None:
        raise InputError(
            "The mechanism recommends no actions",
            found="a kernel without actions",
            allowed="an action for each output",
            remedy="add the recommended actions",
        )
    law, decisions = joint_law(mechanism), mechanism.problem.decisions
    places = mechanism.places.tolist()
    low = high = extreme = Fraction(0)
    for omega, here in zip(law.omegas, law.mass, strict=True):
        held = [(places[state] - kernel.low, weight) for state, weight in here.items()]
        payoffs = [weighted_payoff(decisions, action, omega) for action in kernel.actions]
        top = max(payoffs)
        extreme = max(extreme, *(abs(u) for u in payoffs))
        sides = noisy_sums(kernel, [top - u for u in payoffs], BITS)
        mass = sum(weight for _, weight in held)
        least, most = (Fraction(sum(weight * side[place] for place, weight in held), 1 << BITS) for side in sides)
        low, high = low + mass * top - most, high + mass * top - least
    return low / law.unit - extreme * law.lost, high / law.unit + extreme * law.lost
