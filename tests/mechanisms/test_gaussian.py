"""The Gaussian mechanisms: δ against an oracle by integration, calibration from both sides, published values."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.errors import InputError, TooLarge
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.gaussian import Gaussian

ONE = Fraction(1)


@pytest.mark.parametrize("sigma", ["0.5", "1", "4"])
@pytest.mark.parametrize("epsilon", ["0", "0.5", "2", "8"])
def test_delta_is_the_integral_of_the_excess(sigma: str, epsilon: str) -> None:
    """δ(ε) = ∫ max(f(x) − e^ε f(x − Δ), 0) dx, computed by quadrature with Δ = 1."""
    with mpmath.workdps(40):
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        threshold = mpmath.mpf(1) / 2 - e * s * s

        peak, fall = mpmath.npdf(threshold, 0, s), s * s / (abs(threshold) + s)

        def excess(x: mpmath.mpf) -> mpmath.mpf:
            return (mpmath.npdf(x, 0, s) - mpmath.exp(e) * mpmath.npdf(x, 1, s)) / peak

        reaches = (600, 200, 80, 40, 20, 10, 5, 2, 1, 0)
        oracle = peak * mpmath.quad(excess, [threshold - fall * reach for reach in reaches])
        low, high = Gaussian(Fraction(sigma)).delta_bracket(epsilon)
        assert mpmath.mpf(low) <= oracle * (1 + mpmath.mpf("1e-20"))
        assert oracle * (1 - mpmath.mpf("1e-20")) <= mpmath.mpf(high)
    assert high - low <= 1e-14 * high


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "1e-3"), ("0.5", "1e-5"), ("1", "1e-9"), ("20", "1e-30")])
def test_calibration_suffices_and_a_little_less_does_not(epsilon: str, delta: str) -> None:
    gaussian = Gaussian.calibrated(epsilon, delta, 3)
    assert Fraction(gaussian.delta(epsilon)) <= Fraction(delta) * (1 + Fraction(1, 10**15))
    less = Gaussian(gaussian.sigma * (1 - Fraction(1, 10**9)), gaussian.sensitivity)
    assert less.delta_bracket(epsilon)[0] > float(Fraction(delta))
    # Near-miss of another size: 30 % less noise is far from enough.
    far = Gaussian(gaussian.sigma * Fraction(7, 10), gaussian.sensitivity)
    assert far.delta(epsilon) > 1.3 * float(Fraction(delta))


def test_analytic_calibration_beats_the_textbook() -> None:
    for epsilon in ("0.1", "0.5", "0.9"):
        textbook = math.sqrt(2 * math.log(1.25e6)) / float(epsilon)
        assert float(Gaussian.calibrated(epsilon, "1e-6").sigma) < textbook


def test_scale_free_parameters() -> None:
    gaussian = Gaussian(Fraction(4), Fraction(2))
    assert gaussian.mu == Fraction(1, 2)
    assert gaussian.rho == Fraction(1, 8)
    assert gaussian.delta("0.7") == Gaussian(Fraction(2), ONE).delta("0.7")
    guarantee = gaussian.guarantee(1, "replace-one", "person")
    assert guarantee.promise.numbers["delta"] == Fraction(gaussian.delta(1))


@pytest.mark.parametrize("sigma", ["0.3", "1", "7"])
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("epsilon", ["0", "0.4", "3"])
def test_discrete_delta_is_the_sum_of_the_excess(sigma: str, sensitivity: int, epsilon: str) -> None:
    with mpmath.workdps(60):
        s, growth = mpmath.mpf(sigma), mpmath.exp(mpmath.mpf(epsilon))
        weights = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * s * s)) for k in range(-400, 401)}
        excess = [max(weights[k] - growth * weights[k + sensitivity], 0) for k in range(-390, 390)]
        oracle = mpmath.fsum(excess) / mpmath.fsum(weights.values())
        low, high = DiscreteGaussian(Fraction(sigma), sensitivity).delta_bracket(epsilon)
        assert mpmath.mpf(low) <= oracle * (1 + mpmath.mpf("1e-30"))
        assert oracle * (1 - mpmath.mpf("1e-30")) <= mpmath.mpf(high)
    assert high - low <= 1e-13 * high


def test_discrete_gaussian_against_zcdp() -> None:
    """Rényi divergence of order α between noise and shifted noise is at most αρ, and 2 % less is not a bound."""
    noise = DiscreteGaussian(Fraction(3), 2)
    k = np.arange(-200, 201)
    assert noise.rho == Fraction(2, 9)
    for order in (1.5, 2.0, 8.0):
        logs = order * noise.log_pmf(k) + (1 - order) * noise.log_pmf(k - 2)
        divergence = math.log(math.fsum(np.exp(logs))) / (order - 1)
        assert divergence <= order * float(noise.rho) * (1 + 1e-12)
        assert divergence > 0.98 * order * float(noise.rho)


def test_discrete_variance_is_below_the_continuous() -> None:
    for sigma in (Fraction(1, 3), Fraction(1, 2), ONE, Fraction(10)):
        assert DiscreteGaussian(sigma).variance() <= float(sigma) ** 2 * (1 + 1e-13)
    assert DiscreteGaussian(Fraction(1, 3)).variance() < 0.5 / 9


def test_discrete_gaussian_agrees_with_an_accounting_library() -> None:
    accounting = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")
    theirs = accounting.DiscreteGaussianPrivacyLoss(4.0, sensitivity=1)
    for epsilon in (0.1, 0.5, 1.0):
        assert DiscreteGaussian(Fraction(4)).delta(str(epsilon)) == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=1e-9)


def test_refusals() -> None:
    for build in (
        lambda: Gaussian(Fraction(0)),
        lambda: Gaussian(ONE, Fraction(-1)),
        lambda: Gaussian.calibrated(1, 0),
        lambda: Gaussian.calibrated(1, 1),
        lambda: Gaussian.calibrated(-1, "0.1"),
        lambda: DiscreteGaussian(Fraction(0)),
        lambda: DiscreteGaussian(ONE, 0),
    ):
        with pytest.raises(InputError):
            build()
    with pytest.raises(TooLarge):
        DiscreteGaussian(Fraction(10**9))
