"""Continuous families: currencies of Laplace and Gaussian noise in closed form, or by integrals with a proven error.

Laplace, ε per neighbour:  δ(ε′) = 1 − e^((ε′−ε)/2) for ε′ ≤ ε;   KL = ρ = ε − 1 + e^−ε;
    D_α = log( (α e^((α−1)ε) + (α−1) e^−αε)/(2α−1) )/(α−1);   f(α) = 1 − e^ε α, e^−ε/(4α), e^−ε(1−α) in turn.
Gaussian, μ = Δ/σ:  δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ);   D_α = αμ²/2;   f(α) = Φ(Φ⁻¹(1−α) − μ).

Mutual information of two types is one integral, E log(2/(1+e^−L)) over the privacy loss L; by symmetry the even input
is optimal. It is taken in balls, so that its error is part of the bracket.
References: Mironov (2017) Table II; Balle & Wang (2018); Dong, Roth & Su (2022); Harrison & Manurangsi (2025) for ρ of
Laplace.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from discreet.currencies.bracket import INFINITE, Bracket, enclosed
from discreet.currencies.formulas import least
from discreet.mechanisms.gaussian import Gaussian
from discreet.numerics.outward import ball, lower_float, upper_float

REACH = 40
"""Standard deviations after which a normal tail is bounded instead of integrated."""


def laplace_delta(epsilon: Fraction, target: Fraction) -> Bracket:
    """δ at ε′ = target of noise that is ε-DP."""
    if target >= epsilon:
        return Bracket(0.0, 0.0)
    return enclosed(lambda: -ball((target - epsilon) / 2).expm1(), low=0.0, high=1.0)


def laplace_renyi(epsilon: Fraction, order: Fraction) -> Bracket:
    """D_α of Laplace noise; relative entropy at α = 1."""
    if order == 1:
        return laplace_entropy(epsilon)

    def value() -> arb:
        a = ball(order)
        inside = a * ball((order - 1) * epsilon).exp() + (a - 1) * ball(-order * epsilon).exp()
        return (inside / (2 * a - 1)).log() / (a - 1)

    return enclosed(value, low=0.0)


def laplace_entropy(epsilon: Fraction) -> Bracket:
    """ε − 1 + e^−ε: relative entropy, and ρ."""
    return enclosed(lambda: ball(epsilon) + ball(-epsilon).expm1(), low=0.0)


def laplace_tradeoff(epsilon: Fraction, alpha: Fraction) -> Bracket:
    """The least FNR at FPR alpha."""

    def value() -> arb:
        level, growth = ball(alpha), ball(epsilon).exp()
        if 2 * level * growth <= 1:
            return 1 - growth * level
        return 1 / (4 * growth * level) if alpha <= Fraction(1, 2) else (1 - level) / growth

    return enclosed(value, low=0.0, high=1.0)


def laplace_information(epsilon: Fraction) -> Bracket:
    """The capacity for two types, one sensitivity apart, under noise that is ε-DP.

    The loss is ε and −ε on the two outer rays (masses ½ and ½e^−ε) and runs linearly in between.
    """

    def value() -> arb:
        rate = ball(epsilon)
        growth = rate.exp()
        outer = _gain(rate) / 2 + _gain(-rate) / (2 * growth)
        # Between: z from 0 to ε (in units of the scale) with density e^−z/2 and loss ε − 2z.
        inner = acb.integral(lambda z, _: _complex_gain(acb(rate) - 2 * z) * (-z).exp() / 2, acb(0), acb(rate))
        return outer + inner.real

    return _integrated(value)


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Bracket:
    """δ(ε) of the Gaussian mechanism with μ = Δ/σ."""
    if mu == 0:
        return Bracket(0.0, 0.0)
    return Bracket(*Gaussian(1 / mu).delta_bracket(epsilon))


def gaussian_epsilon(mu: Fraction, delta: Fraction) -> Bracket:
    """The least ε ≥ 0 with δ(ε) ≤ delta; infinite at delta = 0."""
    if mu == 0 or (delta > 0 and Fraction(gaussian_delta(mu, Fraction(0)).upper) <= delta):
        return Bracket(0.0, 0.0)
    if delta == 0:
        return INFINITE
    half = ball(mu / 2)

    def shortfall(at: Fraction) -> arb:
        root, drift = arb(2).sqrt(), ball(at / mu)
        upper, lower = ((drift - half) / root).erfc() / 2, ((drift + half) / root).erfc() / 2
        return ball(delta) - (upper - ball(at).exp() * lower)

    top = 1.0
    with ctx.workprec(400):
        while not shortfall(Fraction(top)) > 0:
            top *= 2
    return least(shortfall, 0.0, top)


def gaussian_tradeoff(mu: Fraction, alpha: float) -> float:
    """Φ(Φ⁻¹(1−α) − μ), to double precision."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(-ndtri(alpha) - float(mu)))


def gaussian_information(mu: Fraction) -> Bracket:
    """The capacity for two types, μ standard deviations apart: the binary-input Gaussian channel."""

    def value() -> arb:
        shift = ball(mu)

        def density(z: Any, _: Any) -> Any:
            return _complex_gain(acb(shift * shift / 2) + acb(shift) * z) * (-z * z / 2).exp()

        span = acb.integral(density, acb(-REACH), acb(REACH)).real / (2 * arb.pi()).sqrt()
        # |log(2/(1+e^−L))| ≤ log 2 + |L| beyond: both tails are below 2φ(R)(log 2 + μ²/2 + μ(R + 1)).
        tail = 2 * (-(arb(REACH) ** 2) / 2).exp() * (1 + shift * shift / 2 + shift * (REACH + 1))
        return span + arb(0, 1) * tail

    return _integrated(value)


def _integrated(value: Any) -> Bracket:
    with ctx.workprec(128):
        found = value()
        return Bracket(lower_float(found), upper_float(found)).clipped(0.0, upper_float(arb(2).log()))


def _gain(loss: arb) -> arb:
    """log(2/(1+e^−L)): what one output with loss L tells about an even choice."""
    return arb(2).log() - (-loss).exp().log1p()


def _complex_gain(loss: Any) -> Any:
    return acb(2).log() - (1 + (-loss).exp()).log()
