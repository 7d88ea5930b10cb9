"""BG Ex. 5 in closed form: reference numbers, the infinite mixture summed by force, and the bounds of Thm 11."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, nbinom

from discreet.errors import InputError
from discreet.interpret import PoissonLaplace

EXAMPLE = PoissonLaplace(Fraction(3), Fraction(1), 0, 6, Fraction(1))


def test_reference_numbers() -> None:
    assert EXAMPLE.noise.variance() ** 0.5 == pytest.approx(8.48528137424, rel=1e-11)
    assert float(EXAMPLE.prior_density(2.0)) == pytest.approx(0.270670566473, rel=1e-11)
    low, high = EXAMPLE.bounds(2.0)
    assert (float(low), float(high)) == pytest.approx((0.0995741367357, 0.735758882343), rel=1e-11)
    at_zero, at_six = EXAMPLE.posterior(0.0), EXAMPLE.posterior(6.0)
    assert at_zero.probability == pytest.approx(0.055151844845, rel=1e-11)
    assert float(at_zero.density(2.0)) == pytest.approx(0.300984630483, rel=1e-11)
    assert at_zero.mean() == pytest.approx(2.65708910225, rel=1e-11)
    assert at_six.probability == pytest.approx(0.0513704947161, rel=1e-11)
    assert float(at_six.density(2.0)) == pytest.approx(0.231657328053, rel=1e-11)
    assert at_six.mean() == pytest.approx(3.39086930734, rel=1e-11)


@pytest.mark.parametrize("t", [-20.0, -0.5, 3.3, 6.0, 30.0])
@pytest.mark.parametrize("model", [EXAMPLE, PoissonLaplace(Fraction(1, 2), Fraction(2), 1, 3, Fraction(3))])
def test_the_infinite_mixture_is_folded_into_the_prior(model: PoissonLaplace, t: float) -> None:
    x = np.arange(2000)
    alpha, beta = float(model.shape), float(model.rate)
    weights = nbinom.pmf(x, alpha, beta / (1 + beta)) * model.noise.pdf(t - np.clip(x, model.low, model.high))
    found = model.posterior(t)
    assert found.probability == pytest.approx(weights.sum(), rel=1e-10)
    assert found.mean() == pytest.approx(weights @ ((alpha + x) / (beta + 1)) / weights.sum(), rel=1e-9)
    for theta in (0.1, 1.0, 5.0):
        wanted = weights @ gamma.pdf(theta, alpha + x, scale=1 / (beta + 1)) / weights.sum()
        assert float(found.density(theta)) == pytest.approx(wanted, rel=1e-9)


def test_the_density_integrates_to_one_and_quantiles_invert_the_distribution() -> None:
    found = EXAMPLE.posterior(4.0)
    assert quad(lambda x: float(found.density(x)), 0, 60)[0] == pytest.approx(1, abs=1e-8)
    assert quad(lambda x: x * float(found.density(x)), 0, 80)[0] == pytest.approx(found.mean(), abs=1e-7)
    for q in (0.05, 0.5, 0.95):
        assert float(found.cdf(found.quantile(q))) == pytest.approx(q, abs=1e-10)


def test_no_posterior_leaves_the_bounds_and_smaller_bounds_would_be_left() -> None:
    grid = np.linspace(0.01, 20, 400)
    low, high = EXAMPLE.bounds(grid)
    ratios = []
    for t in np.linspace(-30, 40, 71):
        density = EXAMPLE.posterior(float(t)).density(grid)
        assert (density >= low).all() and (density <= high).all()
        ratios.append(np.abs(np.log(density / EXAMPLE.prior_density(grid))).max())
    # Near miss: bounds with a third of ε would be left.
    assert max(ratios) > float(EXAMPLE.epsilon) / 3


def test_erratum_19_one_record_needs_the_discrete_metric() -> None:
    # Counts 0 and 100 are one record apart: their laws differ by e^ε at most, and somewhere by exactly that.
    t = np.linspace(-20, 20, 401)
    far = np.abs(EXAMPLE.noise.log_pdf(t - 6) - EXAMPLE.noise.log_pdf(t)).max()
    assert far == pytest.approx(float(EXAMPLE.epsilon))
    # By the distance |x − x′| neighbours would be one count apart and differ by a sixth of that: d** would be unbounded.
    near = np.abs(EXAMPLE.noise.log_pdf(t - 1) - EXAMPLE.noise.log_pdf(t)).max()
    assert near == pytest.approx(float(EXAMPLE.epsilon) / 6)


@pytest.mark.parametrize("wrong", [{"epsilon": Fraction(0)}, {"shape": Fraction(0)}, {"high": 0}, {"rate": Fraction(-1)}])
def test_impossible_models_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        PoissonLaplace(
            **{
                "shape": Fraction(3),
                "rate": Fraction(1),
                "low": 0,
                "high": 6,
                "epsilon": Fraction(1),
                **wrong,
            }
        )  # type: ignore[arg-type]


@pytest.mark.parametrize("t", [float("nan"), float("inf")])
def test_non_finite_observations_are_refused(t: float) -> None:
    with pytest.raises(InputError, match="finite"):
        EXAMPLE.posterior(t)
