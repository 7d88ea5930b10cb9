"""What a mechanism on a weighted sum is worth, for any number of types and respondents, from both sides.

The mechanism reads S = Σ_i w(θ_i), clips it, adds geometric, staircase or Gaussian noise (or draws from a table) and recommends
an action for each output; ω = Σ_i v(θ_i). The prior is any whose sums have a law (`laws`).

Squared error. Let α_k(s) = Σ_y K(y|s) a_y^k, and let E′_t be the law of the others when a respondent of type t is set aside. Then
    E (a−ω)² = E α_2(S) − 2 E[α_1(S) ω] + E ω²,        E[α_1(S) ω] = Σ_t v_t·E[n_t]·E′_t[α_1(S + w_t)],
and of a fixed size n also E α_k(S) = Σ_t (E[n_t]/n)·E′_t[α_k(S + w_t)]. E ω² is known exactly. Actions are shifted to be ≥ 0.

Arithmetic. Whole numbers in units of 2^−bits. Laws lie below the truth and say what is missing. α_k is computed twice, once with
every rounding down and once up: with actions continued beyond the ends (that is what gathering tails at the ends means), noise
f(j) = c·r^e(|j|) and e(j) = ⌊(j + W − m)/W⌋,
    Q(s) = Σ_{j<W} a(s−j) + r·Q(s−W),    H(s) = Σ_{j<m} a(s−j) + r·Q(s−m),
    α = c·(H from the left + H from the right − a).
Geometric noise is the case W = m = 1. A table's α_k are sums of whole numbers; totals that no database has carry no mass.

Other payoffs go through the joint law of (S, ω) (`joint_sums`). Where that is too large, payoffs f(a) + ω·g(a) are
    E f(a) + E[g(a) ω],
found as above with f(a_y) and g(a_y) in the place of a_y, shifted to be ≥ 0. Absolute and pinball errors are bracketed by
moments: with x = ω − a, ρ_q(x) = |x|/2 + (q−½)x is convex, so
    ρ_q(E x) ≤ E ρ_q(x) ≤ √(E x²)/2 + (q−½) E x.
Errors of several decision makers are found each for itself, and added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, isqrt, lcm
from operator import mul

from discreet.certify.value.gaussian import noisy_sums
from discreet.certify.value.joint_sums import joint_fits, joint_payoff, only_at_face_value, recommended
from discreet.certify.value.sum_laws import Masses
from discreet.certify.value.sums import Sums, sums_of
from discreet.errors import InputError
from discreet.model.decision import Decision
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, TableKernel
from discreet.model.losses import DistanceLoss, FormulaLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

SPARE_BITS = 128
"""Bits kept beyond the size of the largest loss."""


def why_not_weighted_sum(mechanism: Mechanism) -> str | None:
    """The first condition that fails, in words; None when `weighted_sum_payoff` applies."""
    problem = mechanism.problem
    if not isinstance(mechanism.summary, LinearSummary):
        return "the mechanism does not read a weighted sum"
    if not isinstance(problem.universe, Universe) or problem.statistic.weights(problem.universe) is None:
        return "the statistic is not a sum, a count, or the mean of a fixed number of respondents"
    return None


def weighted_sum_payoff(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """Both sides of the expected payoff of following the recommended actions."""
    reason, sums = why_not_weighted_sum(mechanism), sums_of(mechanism)
    if reason is not None or sums is None:
        raise InputError(
            "This mechanism cannot be valued as a weighted sum",
            found=reason or "databases without types",
            allowed="a linear summary and a statistic that adds up",
            remedy="use another witness",
        )
    decisions, kernel, summary = mechanism.problem.decisions, mechanism.kernel, mechanism.weighted_sum
    lines = _lines(mechanism) if len(decisions) == 1 and sums.law.sets_aside else None
    if lines is not None and not joint_fits(sums, kernel, exact=True):
        low, high = _on_lines(sums, mechanism, lines)
        return decisions[0].weight * low, decisions[0].weight * high
    by_moments = all(isinstance(d.loss, DistanceLoss) for d in decisions) and sums.law.sets_aside
    squared = len(decisions) == 1 and isinstance(decisions[0].loss, SquaredLoss)
    if not by_moments or (not squared and joint_fits(sums, kernel, exact=False)):
        return joint_payoff(mechanism, sums)
    each = [[a for a in recommended(kernel, i, len(decisions)) if isinstance(a, Fraction)] for i in range(len(decisions))]
    if any(len(numbers) != kernel.width for numbers in each):
        raise InputError(
            "An error needs a number for each output",
            found=f"{min(map(len, each))} numbers",
            allowed=f"{kernel.width}",
            remedy="recommend a number for each output",
        )
    furthest = max(max(max(numbers) - min(numbers), abs(min(numbers))) for numbers in each)
    through = _Through(sums, _by_totals(mechanism), summary, furthest)
    return _added((-d.weight, _of_error(through, d, numbers)) for d, numbers in zip(decisions, each, strict=True))


def _of_error(through: _Through, decision: Decision, numbers: Sequence[Fraction]) -> Bracket:
    """Both sides of what one decision maker loses, but for his weight."""
    moments = _moments(through, numbers)
    if isinstance(decision.loss, SquaredLoss):
        return moments[0]
    loss = decision.distance
    assert loss.quantile is not None
    return _added([(Fraction(loss.pinballs), _by_moments(through.sums, *moments, loss.quantile))])


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


def _by_moments(sums: Sums, second: Bracket, action: Bracket, q: Fraction) -> Bracket:
    """Both sides of the pinball loss at q from E (a−ω)² and E a alone."""
    mean = sums.mean()
    shorts = (mean - action[1], mean - action[0])
    least = min(max(q * short, (q - 1) * short) for short in (*shorts, *([Fraction(0)] if shorts[0] <= 0 <= shorts[1] else [])))
    tilt = max((q - Fraction(1, 2)) * short for short in shorts)
    return least, _root_above(second[1]) / 2 + tilt


def _root_above(x: Fraction) -> Fraction:
    """A rational at least √x, closer than 2^−64 relative to its size or absolutely."""
    shift = 128
    return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)


class _Through:
    """What is expected after the noise: numbers that follow from the output, alone or times ω, from below and above."""

    def __init__(
        self, sums: Sums, kernel: ClosedKernel | GaussianKernel | _Table, summary: LinearSummary, furthest: Fraction
    ) -> None:
        self.sums, self.kernel = sums, kernel
        n = sums.largest
        self.bits = SPARE_BITS + 2 * (
            ceil(max(furthest, n * max(map(abs, sums.values)), Fraction(1))).bit_length() + n.bit_length()
        )
        self.ends = tuple(summary.clip(s) - kernel.low for s in (kernel.low, kernel.high))
        self.others = sums.law.others(sums.weights, self.bits)

    def after(self, numbers: Sequence[Fraction]) -> tuple[list[int], list[int]]:
        """Both sides of α(s) = Σ_y K(y|s)·number_y at every total; numbers ≥ 0."""
        return _after(self.kernel, numbers, self.bits)

    def alone(self, after: tuple[list[int], list[int]], most: Fraction) -> Bracket:
        """Both sides of E[α(S)]; of a fixed size, from the laws that are needed anyway; `most` is the largest α."""
        if self.sums.smallest < self.sums.largest:
            return self._expected(self.sums.law.masses(self.sums.weights, self.bits), after, 0, most)
        n, weights, mean = self.sums.largest, self.sums.weights, self.sums.law.mean
        return _added((mean(t) / n, self._expected(law, after, weights[t], most)) for t, law in self.others.items())

    def with_omega(self, after: tuple[list[int], list[int]], most: Fraction) -> Bracket:
        """Both sides of E[ω·α(S)]: of each type, one respondent is set aside."""
        values, weights, mean = self.sums.values, self.sums.weights, self.sums.law.mean
        return _added(
            (values[t] * mean(t), self._expected(law, after, weights[t], most)) for t, law in self.others.items() if values[t]
        )

    def _expected(self, found: Masses, after: tuple[list[int], list[int]], moved: int, most: Fraction) -> Bracket:
        """Both sides of E[α(S + moved)] under a law of S."""
        start = found.first + moved - self.kernel.low
        low, high = (
            Fraction(sum(map(mul, found.masses, _window(side, start, len(found.masses), *self.ends))), 1 << 2 * self.bits)
            for side in after
        )
        return low, high + Fraction(found.missing, 1 << self.bits) * most


def _moments(through: _Through, actions: Sequence[Fraction]) -> tuple[Bracket, Bracket]:
    """Both sides of E (a−ω)² and of E a."""
    sums, origin, largest = through.sums, min(actions), max(actions) - min(actions)
    acts = [a - origin for a in actions]
    means = through.after(acts)
    action, product = through.alone(means, largest), through.with_omega(means, largest)
    del means  # lists of a hundred thousand long numbers: one after the other
    square = through.alone(through.after([a * a for a in acts]), largest * largest)
    spread = sums.second() - 2 * origin * sums.mean() + origin * origin
    # E a′² − 2 E[a′ω] + 2·origin·E a′ + E (ω − origin)²,  a′ = a − origin ≥ 0
    loss = _added([(Fraction(1), square), (Fraction(-2), product), (2 * origin, action)])
    return (loss[0] + spread, loss[1] + spread), (origin + action[0], origin + action[1])


def _lines(mechanism: Mechanism) -> list[tuple[Fraction, Fraction]] | None:
    """(f, g) with the payoff f + ω·g after each output; None when a payoff has not that form, or somebody else decides as well."""
    loss, actions = mechanism.problem.decisions[0].loss, mechanism.kernel.recommended or ()
    numbers = [a for a in actions if isinstance(a, Fraction)]
    if not isinstance(loss, FormulaLoss) or loss.parts is None or len(numbers) != mechanism.kernel.width:
        return None
    f, g = loss.parts
    return [(Fraction(f({"a": a})), Fraction(g({"a": a}))) for a in numbers]


def _on_lines(sums: Sums, mechanism: Mechanism, lines: list[tuple[Fraction, Fraction]]) -> Bracket:
    """Both sides of E[f(Y) + ω·g(Y)]: of ω only its mean after each total counts, so no joint law is formed."""
    (starts, slopes), total = zip(*lines, strict=True), Fraction(0)
    furthest = max(map(abs, (*starts, *slopes)))
    through = _Through(sums, _by_totals(mechanism), mechanism.weighted_sum, 2 * furthest)
    found: list[tuple[Fraction, Bracket]] = []
    for numbers, expected, whole in ((starts, through.alone, Fraction(1)), (slopes, through.with_omega, sums.mean())):
        least = min(numbers)
        total += least * whole
        found.append((Fraction(1), expected(through.after([x - least for x in numbers]), max(numbers) - least)))
    low, high = _added(found)
    return total + low, total + high


def _by_totals(mechanism: Mechanism) -> ClosedKernel | GaussianKernel | _Table:
    """The kernel as one that reads totals."""
    match mechanism.kernel:
        case TableKernel() as table:
            return _Table(table, mechanism.space.vectors[:, 0].tolist())
        case ClosedKernel() | GaussianKernel() as kernel:
            return kernel
        case CountedKernel():
            raise only_at_face_value()


def _after(kernel: ClosedKernel | GaussianKernel | _Table, numbers: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Both sides of Σ_y K(y|s)·number_y at every total, whatever the kernel."""
    match kernel:
        case _Table():
            return kernel.bracketed(numbers, bits)
        case GaussianKernel():
            return noisy_sums(kernel, numbers, bits)
        case ClosedKernel():
            return _bracketed(kernel, numbers, bits)


def _added(terms: Iterable[tuple[Fraction, Bracket]]) -> Bracket:
    """Both sides of Σ factor·number."""
    low = high = Fraction(0)
    for factor, (below, above) in terms:
        low += factor * (below if factor >= 0 else above)
        high += factor * (above if factor >= 0 else below)
    return low, high


def _window(after: list[int], start: int, length: int, lowest: int, highest: int) -> list[int]:
    """after[clip(i)] for i = start, …, start + length − 1, clipped to lowest..highest."""
    below = min(max(lowest - start, 0), length)
    above = min(max(start + length - 1 - highest, 0), length)
    inner = after[max(start, lowest) : min(start + length - 1, highest) + 1] if below + above < length else []
    return [after[lowest]] * below + inner + [after[highest]] * above


def _bracketed(kernel: ClosedKernel, numbers: Sequence[Fraction], bits: int) -> tuple[list[int], list[int]]:
    """Both sides of Σ_y K(y|s)·number_y at every state s of the kernel, in units of 2^−bits; numbers ≥ 0."""
    width, plateau = kernel.stair, kernel.plateau
    ratio = kernel.ratio
    unit = 1 / ((2 * plateau - 1) + 2 * width * ratio / (1 - ratio))
    found = []
    for sign in (1, -1):
        each = [sign * ((sign * x.numerator << bits) // x.denominator) for x in numbers]
        left = _one_sided(each, width, plateau, ratio, bits, sign)
        right = _one_sided(each[::-1], width, plateau, ratio, bits, sign)[::-1]
        # rounding up is minus rounding minus down
        top, bottom = sign * unit.numerator, unit.denominator
        found.append([sign * (top * (a + b - x) // bottom) for a, b, x in zip(left, right, each, strict=True)])
    return found[0], found[1]


def _one_sided(values: list[int], width: int, plateau: int, ratio: Fraction, bits: int, sign: int) -> list[int]:
    """H(s) = Σ_{j≥0} r^e(j) x(s−j), x continued to the left by its first value; rounded down (sign 1) or up (−1)."""
    factor = sign * ((sign * ratio.numerator << bits) // ratio.denominator)
    far = sign * (sign * width * values[0] * ratio.denominator // (ratio.denominator - ratio.numerator))
    running = list(accumulate([values[0]] * width + values, initial=0))
    size = len(values)
    # running[i + width + 1] − running[i + 1] = Σ of the width values up to the i-th
    stairs = [far]
    for i in range(1, size):
        before = stairs[i - width] if i >= width else far
        stairs.append(running[i + width + 1] - running[i + 1] + sign * (sign * factor * before >> bits))
    skip = width - plateau + 1
    earlier = [far] * min(plateau, size) + stairs[: max(size - plateau, 0)]
    centres = zip(running[skip : skip + size], running[width + 1 :], earlier, strict=True)
    return [b - a + sign * (sign * factor * q >> bits) for a, b, q in centres]
