"""Formulas of the conversions between currencies, in balls: each returns a bracket of its exact value.

Notation: ε → epsilon, δ → delta, h(p) = −p log p − (1−p) log(1−p) the binary entropy, g = ε/(1 − e^−ε).

**ε-DP → MI, sharp.** In an ε-DP channel each output y has W(y|x) = w_y r_x with r_x in [1, e^ε]. For a given mean r̄
of r the convex E[r log r] is largest on the end points, where it is (r̄−1)g; so y contributes at most
w_y((r̄−1)g − r̄ log r̄), while Σ_y w_y r̄_y = 1. Hence I ≤ max over r̄ of (1 − 1/r̄)g − log r̄, attained at r̄ = g:
I ≤ g − 1 − log g. Subset selection, where an output names a set of types and the true type's sets are e^ε likelier,
has exactly two values of r and reaches it as its share of types approaches (g−1)/(e^ε−1). Wang et al. (2016), "Mutual
information optimally local private discrete distribution estimation", show that subset selection is best for a uniform
input of d types; this is the bound for any input and any d, and the limit of theirs.

**ε-DP → zCDP, sharp.** Randomised response dominates every ε-DP pair; for it K(t) = log cosh(ε(t+½)) − log cosh(ε/2).
As a function of v = (t+½)² this is concave, because tanh(x)/x falls; so it lies below its tangent at v = ¼, which is
t(1+t)·ε·tanh(ε/2). Hence D_α ≤ α·ε·tanh(ε/2), with equality in the limit α → 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from discreet.currencies.bracket import Bracket, enclosed
from discreet.numerics.concentrated import pure_rho_ball
from discreet.numerics.outward import ball, lower_float, upper_float


def total_variation(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Bracket:
    """1 − 2(1−δ)/(e^ε+1): (ε, δ)-DP at ε′ = 0. For δ = 0 it is tanh(ε/2)."""
    if delta == 0:
        return enclosed(lambda: ball(epsilon / 2).tanh(), low=0.0, high=1.0)
    return tightest_delta(epsilon, delta, Fraction(0))


def tightest_delta(epsilon: Fraction, delta: Fraction, target: Fraction) -> Bracket:
    """1 − (e^ε′+1)(1−δ)/(e^ε+1) for ε′ ≤ ε, and δ for ε′ ≥ ε (CY, tightest conversion)."""
    if target >= epsilon:
        return enclosed(lambda: ball(delta))

    def value() -> arb:
        # (e^ε − e^ε′ + δ(e^ε′ + 1))/(e^ε + 1): no cancellation at small ε.
        low, gap = ball(target).exp(), ball(epsilon - target).expm1()
        return (low * gap + ball(delta) * (low + 1)) / (ball(epsilon).exp() + 1)

    return enclosed(value, low=0.0, high=1.0)


def tightest_epsilon(epsilon: Fraction, delta: Fraction, target: Fraction) -> Bracket | None:
    """The least ε′ ≥ 0 with δ′ ≤ target; None when target < δ."""
    if target < delta:
        return None
    if target == delta:
        return enclosed(lambda: ball(epsilon))

    def value() -> arb:
        grown = ball((1 - target) / (1 - delta)) * (ball(epsilon).exp() + 1) - 1
        return grown.max(arb(1)).log()

    return enclosed(value, low=0.0)


def relative_entropy(epsilon: Fraction) -> Bracket:
    """ε·tanh(ε/2) (CY, tightest claim); also the sharp ρ of ε-DP."""
    return enclosed(lambda: pure_rho_ball(epsilon), low=0.0)


def renyi_of_pure(epsilon: Fraction, order: Fraction) -> Bracket:
    """(log cosh(ε(α−½)) − log cosh(ε/2))/(α−1); relative entropy at α = 1."""
    if order == 1:
        return relative_entropy(epsilon)

    def value() -> arb:
        grown = ball(epsilon * (order - Fraction(1, 2))).cosh() / ball(epsilon / 2).cosh()
        return grown.log() / ball(order - 1)

    return enclosed(value, low=0.0)


def sharp_information(epsilon: Fraction) -> Bracket:
    """g − 1 − log g with g = ε/(1 − e^−ε)."""
    if epsilon == 0:
        return Bracket(0.0, 0.0)

    def value() -> arb:
        g = -ball(epsilon) / ball(-epsilon).expm1()
        return g - 1 - g.log()

    return enclosed(value, low=0.0)


def two_type_information(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Bracket:
    """δ log 2 + (1−δ)(log 2 − h(1/(1+e^ε))): the capacity of the pair that dominates (ε, δ)-DP."""

    def value() -> arb:
        keep = _two_sided(ball(epsilon / 2).tanh())
        return ball(delta) * arb(2).log() + ball(1 - delta) * keep

    return enclosed(value, low=0.0)


def subset_selection_information(epsilon: Fraction, types: int, chosen: int) -> Bracket:
    """The capacity of subset selection: outputs are sets of `chosen` types, e^ε likelier when they hold the truth."""
    share = Fraction(chosen, types)

    def value() -> arb:
        mean = 1 + ball(share) * ball(epsilon).expm1()
        return ball(share * epsilon) * ball(epsilon).exp() / mean - mean.log()

    return enclosed(value, low=0.0)


def finite_alphabet_information(variation: Fraction, types: int | None, outputs: int | None) -> Bracket:
    """2h(δ) + 2δ log min{|Y|, |X|+1}, at most log min(|X|, |Y|) (CY, finite alphabet)."""
    sizes = [size for size in (outputs, None if types is None else types + 1) if size is not None]
    most = min(size for size in (types, outputs) if size is not None)
    entropy_at = min(variation, Fraction(1, 2))

    def value() -> arb:
        bound = 2 * _binary_entropy(ball(entropy_at)) + 2 * ball(variation) * arb(min(sizes)).log()
        return bound.min(arb(most).log())

    return enclosed(value, low=0.0)


def erasure_information(variation: Fraction) -> Bracket:
    """δ log 2: for two types every pair with total variation δ is a degraded erasure channel."""
    return enclosed(lambda: ball(variation) * arb(2).log(), low=0.0)


def variation_of_information(information: Fraction) -> Bracket:
    """1 − 2h⁻¹(log 2 − I), h⁻¹ into [0, ½]; 1 from I = log 2 on (CY, MI → TV).

    The inverse is found by halving: with δ the answer, I = ½((1+δ) log(1+δ) + (1−δ) log(1−δ)).
    """
    with ctx.workprec(256):
        if not ball(information) < arb(2).log():
            return Bracket(1.0, 1.0)
    return least(lambda x: _two_sided(ball(x)) - ball(information), 0.0, 1.0)


def pinsker(entropy: Fraction) -> Bracket:
    """min(√(KL/2), √(1 − e^−KL)): Pinsker's inequality, and Bretagnolle and Huber's where it is better."""

    def value() -> arb:
        return (ball(entropy) / 2).sqrt().min((-ball(-entropy).expm1()).sqrt())

    return enclosed(value, low=0.0, high=1.0) if entropy else Bracket(0.0, 0.0)


def gaussian_of_pure(epsilon: Fraction) -> Bracket:
    """μ = 2Φ⁻¹(e^ε/(1+e^ε)): G_μ passes through the corner of the trade-off of ε-DP and is convex."""
    if epsilon == 0:
        return Bracket(0.0, 0.0)
    # 2Φ(μ/2) − 1 = erf(μ/√8) = tanh(ε/2) at the answer.
    return least(lambda x: (ball(x) / arb(8).sqrt()).erf() - ball(epsilon / 2).tanh(), 0.0, 4.0 * float(epsilon) + 4)


def gaussian_variation(mu: Fraction) -> Bracket:
    """2Φ(μ/2) − 1 = erf(μ/√8)."""
    return enclosed(lambda: (ball(mu) / arb(8).sqrt()).erf(), low=0.0, high=1.0)


def moment_delta(order: Fraction, divergence: Fraction, epsilon: Fraction) -> Bracket:
    """e^((α−1)(D−ε)) (1−1/α)^α/(α−1): a Rényi bound D at order α read as δ at ε."""

    def value() -> arb:
        a = ball(order)
        return ((a - 1) * ball(divergence - epsilon) + a * (1 - 1 / a).log()).exp() / (a - 1)

    return enclosed(value, low=0.0, high=1.0)


def moment_epsilon(order: Fraction, divergence: Fraction, delta: Fraction) -> Bracket:
    """D + (log(1/δ) − log(α−1) + α log(1−1/α))/(α−1): the same solved for ε."""

    def value() -> arb:
        a = ball(order)
        return ball(divergence) + (-ball(delta).log() - (a - 1).log() + a * (1 - 1 / a).log()) / (a - 1)

    return enclosed(value, low=0.0)


def best_order(cost: Callable[[float], float]) -> Fraction:
    """An order α > 1 that makes a cost small; any order is valid, so floats may choose."""
    import numpy as np

    grid = 1 + np.geomspace(1e-4, 1e6, 400)
    with np.errstate(all="ignore"):
        at = int(np.nanargmin([cost(a) for a in grid]))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    for _ in range(80):
        one, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, other) if cost(one) < cost(other) else (one, high)
    return Fraction(float((low + high) / 2))


def least(rising: Callable[[Fraction], arb], low: float, high: float) -> Bracket:
    """Floats around the zero of a rising function: proved non-positive at the lower, non-negative at the upper."""
    with ctx.workprec(400):
        lower, upper = low, high
        while True:
            middle = math.sqrt(lower * upper) if lower > 0 else upper / 2**8
            if lower > upper / 4:
                middle = (lower + upper) / 2
            if not lower < middle < upper or (lower == 0 and upper < 1e-290):
                return Bracket(lower, upper)
            value = rising(Fraction(middle))
            if upper_float(value) <= 0:
                lower = middle
            elif lower_float(value) >= 0:
                upper = middle
            else:
                return Bracket(lower, upper)


def _two_sided(x: arb) -> arb:
    """½((1+x) log(1+x) + (1−x) log(1−x)) = log 2 − h((1−x)/2), for 0 ≤ x ≤ 1."""
    rest = 1 - x
    tail = rest * rest.log() if rest > 0 else arb(0)
    return ((1 + x) * (1 + x).log() + tail) / 2


def _binary_entropy(p: arb) -> arb:
    if not p > 0:
        return arb(0)
    return -p * p.log() - (1 - p) * (1 - p).log()
