"""What a mechanism on a weighted sum is worth, for any number of types and respondents, from both sides.

The mechanism reads S = Σ_i w(θ_i), clips it, adds geometric or staircase noise (or draws from a table, under squared error) and
recommends an action for each output. Respondents are independent with the same law p, and ω = Σ_i v(θ_i).

Squared error. Let α_k(s) = Σ_y K(y|s) a_y^k, and let G be the law of the weighted sum of N−1 respondents.
By symmetry
    E (a−ω)² = E α_2(S) − 2 E[α_1(S) ω] + E ω²,
    E α_k(S) = Σ_t p_t Σ_s G(s) α_k(s+w_t),        E[α_1(S) ω] = N Σ_t p_t v_t Σ_s G(s) α_1(s+w_t),
and E ω² is known exactly. Actions and values are shifted so that everything is ≥ 0.

Arithmetic. Whole numbers in units of 2^−bits. G is a power of a polynomial whose coefficients are rounded
down after each product: what results lies below G everywhere, and what is missing is exactly 1 − ΣG, so
nothing about rounding or cut tails has to be estimated. α_k is computed twice, once with every rounding
down and once up: with actions continued beyond the ends (that is what gathering tails at the ends means),
noise f(j) = c·r^e(|j|) and e(j) = ⌊(j + W − m)/W⌋,
    Q(s) = Σ_{j<W} a(s−j) + r·Q(s−W),    H(s) = Σ_{j<m} a(s−j) + r·Q(s−m),
    α = c·(H from the left + H from the right − a).
Geometric noise is the case W = m = 1. A table's α_k are sums of whole numbers; totals that no database has carry no mass.

Other payoffs go through the joint law of (S, ω) (`joint_sums`). Where that is too large, absolute and pinball
errors are bracketed by moments: with x = ω − a, ρ_q(x) = |x|/2 + (q−½)x is convex, so
    ρ_q(E x) ≤ E ρ_q(x) ≤ √(E x²)/2 + (q−½) E x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import ceil, isqrt, lcm
from operator import mul

from discreet.certify.value.joint_sums import joint_fits, joint_payoff
from discreet.certify.value.sum_laws import SumLaw, law_of, noise_shape, sum_masses
from discreet.errors import InputError
from discreet.model.kernel import ClosedKernel, TableKernel
from discreet.model.losses import DistanceLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

SPARE_BITS = 128
"""Bits kept beyond the size of the largest loss."""


def why_not_weighted_sum(mechanism: Mechanism) -> str | None:
    """The first condition that fails, in words; None when `weighted_sum_payoff` applies."""
    problem = mechanism.problem
    universe = problem.universe
    if not isinstance(mechanism.summary, LinearSummary):
        return "the mechanism does not read a weighted sum"
    if isinstance(mechanism.kernel, TableKernel) and not all(isinstance(d.loss, SquaredLoss) for d in problem.decisions):
        return "only under squared error a table is valued by the law of its sum"
    if (
        not isinstance(universe, Universe)
        or not universe.fixed
        or not isinstance(problem.neighbours, ReplaceOne)
    ):
        return "the number of respondents is not fixed"
    if not isinstance(problem.prior, (IidPrior, ReferencePrior)):
        return "respondents are not independent with the same probabilities"
    if problem.statistic.weights(universe) is None:
        return "the statistic is not a sum, mean or count"
    if len(problem.decisions) != 1:
        return "there are several decision makers"
    return None


def weighted_sum_payoff(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions."""
    reason = why_not_weighted_sum(mechanism)
    if reason is not None:
        raise InputError(
            "This mechanism cannot be valued as a weighted sum",
            found=reason,
            allowed="a linear summary, a closed-form kernel (or squared error) and independent respondents",
            remedy="use another witness",
        )
    law, kernel, summary = law_of(mechanism), mechanism.kernel, mechanism.summary
    assert isinstance(summary, LinearSummary)
    recommended = [o.action for o in kernel.outputs] if isinstance(kernel, TableKernel) else kernel.actions
    if recommended is None:
        raise InputError(
            "The mechanism recommends no actions",
            found="a kernel without actions",
            allowed="an action for each output",
            remedy="add the recommended actions",
        )
    decision = mechanism.problem.decision
    numbers = [a for a in recommended if isinstance(a, Fraction)]
    if len(numbers) != len(recommended) and decision.is_loss:
        raise InputError(
            "Squared error needs a number for each output",
            found=f"{len(numbers)} numbers",
            allowed=f"{len(recommended)}",
            remedy="recommend a number for each output",
        )
    if isinstance(kernel, TableKernel):
        totals = mechanism.space.vectors[:, 0].tolist()
        low, high = _moments(law, _Table(kernel, totals), numbers, summary)[0]
        return -decision.weight * high, -decision.weight * low
    if isinstance(decision.loss, SquaredLoss):
        low, high = _moments(law, kernel, numbers, summary)[0]
        return -decision.weight * high, -decision.weight * low
    if not isinstance(decision.loss, DistanceLoss) or joint_fits(law, kernel, decision):
        return joint_payoff(law, kernel, summary, decision)
    assert decision.loss.quantile is not None
    low, high = _by_moments(law, *_moments(law, kernel, numbers, summary), decision.loss.quantile)
    scale = decision.weight * decision.loss.pinballs
    return -scale * high, -scale * low


Bracket = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class _Table:
    """A table's kernel by totals: state i stands for totals[i], ascending."""

    kernel: TableKernel
    totals: list[int]

    @property
    def low(self) -> int:
        return self.totals[0]

    @property
    def high(self) -> int:
        return self.totals[-1]

    def bracketed(self, numbers: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
        """Both sides of Σ_y K(y|s)·number_y at every total from low to high, in units of 2^−bits; numbers ≥ 0."""
        bottom = lcm(*(x.denominator for x in numbers))
        whole = [x.numerator * (bottom // x.denominator) for x in numbers]
        sides: tuple[list[int], list[int]] = ([0] * (self.high - self.low + 1), [0] * (self.high - self.low + 1))
        under = self.kernel.denominator * bottom
        for total, column in zip(self.totals, zip(*self.kernel.weights, strict=True), strict=True):
            top = sum(map(mul, column, whole)) << bits
            sides[0][total - self.low], sides[1][total - self.low] = top // under, -(-top // under)
        return sides


def _by_moments(law: SumLaw, second: Bracket, action: Bracket, q: Fraction) -> Bracket:
    """Both sides of the pinball loss at q from E (a−ω)² and E a alone."""
    mean = law.respondents * law.mean()
    shorts = (mean - action[1], mean - action[0])
    least = min(
        max(q * short, (q - 1) * short)
        for short in (*shorts, *([Fraction(0)] if shorts[0] <= 0 <= shorts[1] else []))
    )
    tilt = max((q - Fraction(1, 2)) * short for short in shorts)
    return least, _root_above(second[1]) / 2 + tilt


def _root_above(x: Fraction) -> Fraction:
    """A rational at least √x, closer than 2^−64 relative to its size or absolutely."""
    shift = 128
    return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)


def _moments(
    law: SumLaw, kernel: ClosedKernel | _Table, actions: Sequence[Fraction], summary: LinearSummary
) -> tuple[Bracket, Bracket]:
    """Both sides of E (a−ω)² and of E a."""
    n, least = law.respondents, min(law.values)
    origin = min(*actions, n * least)
    acts = [a - origin for a in actions]
    shift = n * least - origin
    above = [v - least for v in law.values]
    furthest = max(*acts, shift + n * max(above), Fraction(1))
    bits = SPARE_BITS + 2 * (ceil(furthest).bit_length() + n.bit_length())
    first, masses, missing = sum_masses(law.probabilities, law.weights, n - 1, bits)
    bracketed = kernel.bracketed if isinstance(kernel, _Table) else partial(_bracketed, kernel)
    means, squares = bracketed(acts, bits), bracketed([a * a for a in acts], bits)
    start = first - kernel.low
    ends = tuple(summary.clip(s) - kernel.low for s in (kernel.low, kernel.high))

    def expected(after: list[int]) -> list[Fraction]:
        """Σ_s G(s) α(s+w_t) for each type t, G as computed."""
        found = [sum(map(mul, masses, _window(after, start + w, len(masses), *ends))) for w in law.weights]
        return [Fraction(total, 1 << 2 * bits) for total in found]

    lost, largest = Fraction(missing, 1 << bits), max(acts)
    mean = law.mean() - least
    second = n * law.variance() + (n * mean + shift) ** 2

    def total(each: list[Fraction], factors: Sequence[Fraction]) -> Fraction:
        return sum((p * f * e for p, f, e in zip(law.probabilities, factors, each, strict=True)), Fraction(0))

    ones, factors = [Fraction(1)] * len(above), [n * v + shift for v in above]
    after = [expected(side) for side in means]
    product_low = total(after[0], factors)
    product_high = total(after[1], factors) + lost * largest * (n * mean + shift)
    square_low = total(expected(squares[0]), ones)
    square_high = total(expected(squares[1]), ones) + lost * largest * largest
    loss = (square_low - 2 * product_high + second, square_high - 2 * product_low + second)
    return loss, (origin + total(after[0], ones), origin + total(after[1], ones) + lost * largest)


def _window(after: list[int], start: int, length: int, lowest: int, highest: int) -> list[int]:
    """after[clip(i)] for i = start, …, start + length − 1, clipped to lowest..highest."""
    below = min(max(lowest - start, 0), length)
    above = min(max(start + length - 1 - highest, 0), length)
    inner = after[max(start, lowest) : min(start + length - 1, highest) + 1] if below + above < length else []
    return [after[lowest]] * below + inner + [after[highest]] * above


def _bracketed(kernel: ClosedKernel, numbers: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Both sides of Σ_y K(y|s)·number_y at every state s of the kernel, in units of 2^−bits; numbers ≥ 0."""
    width, plateau = noise_shape(kernel)
    down = [(x.numerator << bits) // x.denominator for x in numbers]
    up = [-((-x.numerator << bits) // x.denominator) for x in numbers]
    ratio = kernel.ratio
    unit = 1 / ((2 * plateau - 1) + 2 * width * ratio / (1 - ratio))
    found = []
    for each, sign in ((down, 1), (up, -1)):
        left = _one_sided(each, width, plateau, ratio, bits, sign)
        right = _one_sided(each[::-1], width, plateau, ratio, bits, sign)[::-1]
        # rounding up is minus rounding minus down
        top, bottom = sign * unit.numerator, unit.denominator
        found.append(
            [sign * (top * (a + b - x) // bottom) for a, b, x in zip(left, right, each, strict=True)]
        )
    return found[0], found[1]


def _one_sided(
    values: list[int], width: int, plateau: int, ratio: Fraction, bits: int, sign: int
) -> list[int]:
    """H(s) = Σ_{j≥0} r^e(j) x(s−j), x continued to the left by its first value; rounded down (sign 1) or up (−1)."""
    factor = sign * ((sign * ratio.numerator << bits) // ratio.denominator)
    far = sign * (sign * width * values[0] * ratio.denominator // (ratio.denominator - ratio.numerator))
    running = list(accumulate([values[0]] * width + values, initial=0))
    size = len(values)
    # running[i + width + 1] − running[i + 1] = Σ of the width values up to the i-th
    whole = [b - a for a, b in zip(running[1 : size + 1], running[width + 1 :], strict=True)]
    stairs = [far]
    for i in range(1, size):
        before = stairs[i - width] if i >= width else far
        stairs.append(whole[i] + sign * (sign * factor * before >> bits))
    skip = width - plateau + 1
    centre = [b - a for a, b in zip(running[skip : skip + size], running[width + 1 :], strict=True)]
    earlier = [far] * min(plateau, size) + stairs[: max(size - plateau, 0)]
    return [c + sign * (sign * factor * q >> bits) for c, q in zip(centre, earlier, strict=True)]
