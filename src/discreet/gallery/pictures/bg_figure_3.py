"""BG Fig. 3, Example 5: Exact posteriors lie well inside what holds for every model.

One count, Poisson with mean θ, clamped to 0..6 and published with Laplace noise of scale 6 (ε = 1); the prior of θ is Gamma(3,
1). Thick: the limits of Theorem 11, the prior times e and divided by e. Grey lines: the exact posterior density after ten
published values drawn from the prior. Values below 0 all say the same, and so do values above 6. Noise of that size says little
about one count, and the posteriors say so.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np

from discreet.gallery.picture import Number
from discreet.interpret.poisson_laplace import PoissonLaplace
from discreet.present.figure import Figure
from discreet.present.figures.density import density_band_figure

MODEL = PoissonLaplace(Fraction(3), Fraction(1), 0, 6, Fraction(1))
GRID = np.linspace(0.01, 12, 200)
DRAWS, SEED = 10, 2


def draw() -> Figure:
    """The band, the prior and ten posteriors."""
    lower, upper = MODEL.bounds(GRID)
    _, published = MODEL.draw_prior_predictive(DRAWS, np.random.default_rng(SEED))
    band = density_band_figure(
        GRID,
        lower,
        upper,
        {"prior": MODEL.prior_density(GRID).tolist()},
        place_title="mean θ of the count (events)",
        density_title="density (per event)",
    )
    rows = [
        {"theta": float(a), "posterior": float(d), "after": f"t = {t:.1f}"}
        for t in published.tolist()
        for a, d in zip(GRID, MODEL.posterior(t).density(GRID), strict=True)
    ]
    encoding = {
        "x": {"field": "theta", "type": "quantitative"},
        "y": {"field": "posterior", "type": "quantitative"},
        "detail": {"field": "after", "type": "nominal"},
    }
    grey = {"data": {"values": rows}, "mark": {"type": "line", "color": "#777777", "strokeWidth": 1}, "encoding": encoding}
    means = [MODEL.posterior(t).mean() for t in published.tolist()]
    alt = f"{band.alt} Ten grey posteriors inside it, with means from {min(means):.2f} to {max(means):.2f} beside the prior's 3."
    body = {**band.body, "layer": [band.body["layer"][0], grey, *band.body["layer"][1:]]}
    return Figure(
        "What ten published values would say about θ", alt, body, "grey: exact posteriors; no model of the data leaves the band"
    )


def numbers() -> list[Number]:
    """Mixture against quadrature over θ, and the limits."""
    theta = np.linspace(1e-9, 60, 240_001)
    low, high = (float(x) for x in MODEL.bounds(2.0))
    found = [
        Number("standard deviation of the noise", MODEL.noise.variance() ** 0.5, 6 * 2**0.5, "√2·6"),
        Number("prior density at 2", float(MODEL.prior_density(2.0)), 2 * exp(-2), "2²e^−2/2"),
        Number("lower limit at 2", low, 2 * exp(-3), "prior/e"),
        Number("upper limit at 2", high, 2 * exp(-1), "prior·e"),
    ]
    for t in (0.0, 6.0):
        weights = _likelihood(t, theta) * MODEL.prior_density(theta)
        mass = float(np.trapezoid(weights, theta))
        at = float(_likelihood(t, np.array([2.0]))[0] * 2 * exp(-2)) / mass
        exact = MODEL.posterior(t)
        found += [
            Number(f"density of t = {t:g}", exact.probability, mass, "quadrature over θ", 1e-8),
            Number(f"posterior density at 2 after {t:g}", float(exact.density(2.0)), at, "quadrature over θ", 1e-7),
            Number(
                f"posterior mean after {t:g}", exact.mean(), float(np.trapezoid(theta * weights, theta)) / mass, "quadrature", 1e-6
            ),
        ]
    return found


def _likelihood(t: float, theta: np.ndarray) -> np.ndarray:
    """p(t|θ) = Σ_x Poisson(x; θ)·Laplace(t − min(x, 6); 6), with the tail beyond 6 in one piece."""
    term, total, law = np.exp(-theta), np.zeros_like(theta), np.zeros_like(theta)
    for x in range(6):
        law += term * exp(-abs(t - x) / 6) / 12
        total += term
        term = term * theta / (x + 1)
    return law + (1 - total) * exp(-abs(t - 6) / 6) / 12
