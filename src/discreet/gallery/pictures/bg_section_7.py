"""BG §7: The limits are attained, and where they are not.

Left: the power of the best test at level 5 % that all of ten respondents say yes rather than no, under Laplace noise, against ε.
Theorem 8's limit α·e^(nε) is exact up to ε = 0.23; beyond, the exact power falls behind it, and behind the sharper limit of this
library, which geometric noise attains. Right: Theorem 11's factor e^(nε) is a limit: the posterior of a state with little prior
mass comes as near to it as one likes and never reaches it. (The paper claims both without these conditions: see the errata.)
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from discreet.gallery.drawing import axis, curves
from discreet.gallery.picture import Number
from discreet.interpret.bounds import PosteriorBounds, density_bounds
from discreet.interpret.power import laplace_shift_power, power_bound
from discreet.present.figure import Figure
from discreet.present.panels import beside

ALPHA, N = 0.05, 10
EPSILONS = [k / 200 for k in range(2, 81)]
MASSES = [10 ** (-k / 10) for k in range(1, 61)]


def draw() -> Figure:
    """Power against ε, and how much of the factor a posterior reaches."""
    power = {
        "Theorem 8: α·e^(nε), at most 1": [(e, min(1.0, ALPHA * exp(N * e))) for e in EPSILONS],
        "sharp limit for n steps": [(e, power_bound(ALPHA, e, N).value) for e in EPSILONS],
        "exact, Laplace noise": [(e, laplace_shift_power(ALPHA, e, N)) for e in EPSILONS],
    }
    left = curves(
        "Power of the best test",
        "Three rising curves of power against ε; they agree up to 0.23, then the exact power of Laplace noise stays lowest.",
        power,
        x=axis("epsilon", "privacy loss ε (nats)"),
        y=axis("power", "power (probability)", domain=[0, 1]),
        subtitle="ten respondents apart, level 5 %",
        width=340,
    )
    reached = [(m, PosteriorBounds(0.1, N).probability(m)[1] / m / exp(0.1 * N)) for m in MASSES]
    right = curves(
        "How near a posterior comes to e^(nε)",
        f"A curve from {reached[0][1]:.2f} at a prior mass of {MASSES[0]:.2f} towards 1 as the mass goes to 0.",
        {"largest posterior / (prior · e^(nε))": reached},
        x={
            **axis("mass", "prior mass of the state (log scale)", type="log"),
            "axis": {"format": "~e", "values": [1e-6, 1e-4, 1e-2]},
        },
        y=axis("share", "share of the factor", zero=False),
        subtitle="ε = 0.1, ten respondents",
        width=300,
    )
    return beside("Where the limits are tight", [left, right])


def numbers() -> list[Number]:
    """Theorem 8 below and above its threshold, Theorem 11's limit, and Theorem 6 approached."""
    law = 0.1 / 2 * np.exp(-0.1 * np.abs(0.0 - np.arange(N + 1)))[None, :]
    apart = np.abs(np.subtract.outer(np.arange(N + 1.0), np.arange(N + 1.0)))
    upper = float(density_bounds(law, apart, 0.1).upper[0])
    mass = 1e-6
    ratio = exp(0.1 * N)
    return [
        Number("tight up to ε", log(0.5 / ALPHA) / N, 0.23026, "α·e^(nε) = 1/2", 5e-6),
        Number("power at ε = 0.1", laplace_shift_power(ALPHA, 0.1, N), ALPHA * exp(1), "α·e^(nε)"),
        Number("power at ε = 0.2", laplace_shift_power(ALPHA, 0.2, N), ALPHA * exp(2), "α·e^(nε)"),
        Number("power at ε = 0.25", laplace_shift_power(ALPHA, 0.25, N), 1 - exp(-2.5) / (4 * ALPHA), "1 − e^(−nε)/(4α)"),
        Number("what Theorem 8 allows at 0.25", ALPHA * exp(2.5), 0.60912, "α·e^(nε)", 5e-6),
        Number(
            "the sharp limit lies between",
            power_bound(ALPHA, 0.25, N).value < ALPHA * exp(2.5) - 0.01,
            True,
            "the cap by the complement",
        ),
        Number(
            "posterior of mass 10⁻⁶",
            PosteriorBounds(0.1, N).probability(mass)[1],
            mass * ratio / (mass * ratio + 1 - mass),
            "odds times e^(nε), below the factor itself",
        ),
        Number("upper limit at t = 0 of Theorem 6", upper, float(law[0, 0]), "the model on (0, …, 0) attains it"),
    ]
