"""BG Fig. 1, Example 3: What no model of the data can leave, for a noisy sum.

Ten respondents with a yes or a no; their sum is published with Laplace noise. Whatever model and whatever θ an analyst assumes,
the density of the published value lies in the band. Left ε = 0.1, right ε = 0.25: the stronger the privacy, the narrower the
band. (The paper's density lacks a minus sign, and its text takes ε = 0.5 where the figure shows 0.25: see the errata.)
"""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np

from discreet.gallery.picture import Number
from discreet.interpret.bounds import binary_sum_laplace, binary_sum_masses, density_bounds
from discreet.present.figure import Figure
from discreet.present.figures.density import density_band_figure
from discreet.present.panels import beside

RESPONDENTS = 10
GRID = np.linspace(-10, 20, 301)


def draw() -> Figure:
    """Two bands, with one model inside each: half of the respondents say yes, for certain."""
    panels = []
    for epsilon in (0.1, 0.25):
        lower, upper = binary_sum_laplace(GRID, RESPONDENTS, epsilon)
        inside = (epsilon / 2 * np.exp(-epsilon * np.abs(GRID - 5))).tolist()
        band = density_band_figure(GRID, lower, upper, {"if five say yes": inside})
        panels.append(replace(band, title=f"ε = {epsilon}", body={**band.body, "width": 340}))
    return beside("Limits on the density of a noisy sum, for every model", panels)


def numbers() -> list[Number]:
    """Both limits in closed form and by Theorem 6 on all sums, at t = 5 and t = 0."""
    n = RESPONDENTS
    found = []
    sums = np.arange(n + 1)
    for epsilon in (0.1, 0.25):
        # The opposite of a database differs in every record: d* = n, whatever its sum.
        law = epsilon / 2 * np.exp(-epsilon * np.abs(np.array([5.0, 0.0])[:, None] - sums))
        apart = np.where(np.eye(n + 1) > 0, 0.0, float(n))
        bounds = density_bounds(law, apart, epsilon)
        for place, t in enumerate((5, 0)):
            low, high = (float(x) for x in binary_sum_laplace(float(t), n, epsilon))
            most = epsilon / 2 * exp(epsilon * (n - max(t, n - t)))
            where = f"at t = {t}, ε = {epsilon}"
            found.append(Number(f"upper limit {where}", high, most, "ε/2·e^(εn)·e^(−ε·farthest sum)"))
            found.append(Number(f"lower limit {where}", low, epsilon / 2 * exp(-epsilon * n), "ε/2·e^(−εn)"))
            found.append(Number(f"upper limit {where} by Thm 6", float(bounds.upper[place]), most, "all sums"))
            found.append(Number(f"lower limit {where} by Thm 6", float(bounds.lower[place]), low, "all sums"))
    lower, upper = binary_sum_masses(n, 0.1)
    found.append(Number("mass of the upper limit, ε = 0.1", upper, exp(0.5), "e^(εn/2)"))
    found.append(Number("mass of the lower limit, ε = 0.1", lower, float(np.trapezoid(*_wide(0.1))), "quadrature", 1e-5))
    return found


def _wide(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    grid = np.linspace(-400, 410, 162_001)
    return binary_sum_laplace(grid, RESPONDENTS, epsilon)[0], grid
