"""What noise that follows counts is worth, histogram by histogram: any actions, any payoffs, what its ends gather included.

Its exact probabilities are long: that of stair k has the denominator of r to the power k, and all over one denominator a hundred
respondents take gigabytes. So they are whole numbers over 2^`BITS`, rounded down, and made for one place at a time:

    h_{k+1} = ⌊r·h_k⌋ of a number of stair k,   t_{k+1} = ⌊r·t_k⌋ of all from stair k on,   P(Z > R + n) = (W − j)·h_k + t_{k+1},

n = kW + j. What a place then misses to one is known, and is worth as much as the largest payoff or the least: a bracket far
narrower than any claim. Notation as in `model.counted_kernel`. [ours]
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from operator import mul

from discreet.certify.value.expected import joint_law, weighted_payoffs
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism

BITS = 256
AT_ONCE = 1_000_000
"""Payoffs that are held at once."""


class Columns:
    """The probabilities of all outputs at a place, in units of 2^−`BITS`, from below.

    Beyond the tables all are one staircase, which is held once: a range may be wide, and tables many.
    """

    def __init__(self, kernel: CountedKernel) -> None:
        self.kernel = kernel
        steps, r = (kernel.width - 1) // kernel.step + 1, kernel.ratio
        heights = _falling(kernel.stair, r, steps)
        rests = _falling(Fraction(kernel.tail, kernel.denominator), r, steps)
        places = [divmod(n, kernel.step) for n in range(kernel.width)]
        self.far = [heights[k] for k, _ in places]
        self.beyond = [(kernel.step - j) * heights[k] + rests[k + 1] for k, j in places]
        self.rows = [[(w << BITS) // kernel.denominator for w in row] for row in kernel.weights]
        self.near = [[self._gathered(row[::-1]) for row in kernel.weights], [self._gathered(row) for row in kernel.weights]]

    def _gathered(self, row: tuple[int, ...]) -> list[int]:
        """P(Z ≥ n) for n from 0 to R, Z by the table with these weights."""
        within = list(accumulate(reversed(row[self.kernel.reach :]), initial=self.kernel.tail))[:0:-1]
        return [(kept << BITS) // self.kernel.denominator for kept in within]

    def at(self, place: int) -> list[int]:
        """[output], the lowest first."""
        (table, value), reach = self.kernel.read(place), self.kernel.reach
        sides = value - self.kernel.low, self.kernel.high - value
        below, above = (self.far[: max(side - 1 - reach, 0)] for side in sides)
        middle = self.rows[table][max(reach + 1 - sides[0], 0) : reach + sides[1]]
        first, last = (
            near[table][side] if side <= reach else self.beyond[side - 1 - reach]
            for near, side in zip(self.near, sides, strict=True)
        )
        return [first, *below[::-1], *middle, *above, last]


def _falling(first: Fraction, ratio: Fraction, steps: int) -> list[int]:
    """first·ratio^k for k up to so many steps, rounded down at every step."""
    start = (first.numerator << BITS) // first.denominator
    return list(accumulate(range(steps), lambda x, _: x * ratio.numerator // ratio.denominator, initial=start))


def listed_counted_payoff(mechanism: Mechanism, kernel: CountedKernel) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions."""
    actions = [output.action for output in mechanism.outputs]  # refused where there are too many to list, before any work
    law, columns, places = joint_law(mechanism), Columns(kernel), mechanism.places.tolist()
    many = max(AT_ONCE // kernel.width, 1)
    total, extreme, missing = Fraction(0), Fraction(0), 0
    for start in range(0, len(law.omegas), many):
        some = slice(start, start + many)
        payoffs = weighted_payoffs(mechanism.problem.decisions, actions, law.omegas[some])
        for (scaled, scale), held in zip(payoffs, law.mass[some], strict=True):
            part, joined = 0, Counter[int]()
            for state, weight in held.items():
                joined[places[state]] += weight
            for place, weight in joined.items():
                column = columns.at(place)
                part += weight * sum(map(mul, column, scaled))
                missing = max(missing, (1 << BITS) - sum(column))
            extreme = max(extreme, Fraction(max(map(abs, scaled)), scale))
            total += Fraction(part, scale)
    value, lost = total / (law.unit << BITS), extreme * (law.lost + Fraction(missing, 1 << BITS))
    return value - lost, value + lost
