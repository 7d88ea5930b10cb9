"""Present: pictures as Vega-Lite specifications with alt text, drawn to SVG or PNG without a browser.

Heavy imports wait until something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.present.figure import Figure
    from discreet.present.figures.adding import adding_figure
    from discreet.present.figures.allocation import allocation_figure
    from discreet.present.figures.choice import choice_figure
    from discreet.present.figures.comparison import comparison_figure
    from discreet.present.figures.delta import delta_figure
    from discreet.present.figures.density import density_band_figure, density_figure
    from discreet.present.figures.family import family_figure
    from discreet.present.figures.frechet import frechet_figure
    from discreet.present.figures.frontier import frontier_figure
    from discreet.present.figures.levels import levels_figure
    from discreet.present.figures.mechanism import mechanism_figure
    from discreet.present.figures.posterior import posterior_figure
    from discreet.present.figures.priors import priors_figure
    from discreet.present.figures.regret import regret_figure
    from discreet.present.figures.relative_risk import compared_risks_figure, relative_risk_figure
    from discreet.present.figures.release import release_figure
    from discreet.present.figures.simplex import simplex_figure
    from discreet.present.figures.total import regions_figure, total_figure
    from discreet.present.figures.tradeoff import tradeoff_figure
    from discreet.present.figures.two_promises import two_promises_figure
    from discreet.present.panels import beside

__all__ = [
    "Figure",
    "adding_figure",
    "allocation_figure",
    "beside",
    "choice_figure",
    "compared_risks_figure",
    "comparison_figure",
    "delta_figure",
    "density_band_figure",
    "density_figure",
    "family_figure",
    "frechet_figure",
    "frontier_figure",
    "levels_figure",
    "mechanism_figure",
    "posterior_figure",
    "priors_figure",
    "regions_figure",
    "regret_figure",
    "relative_risk_figure",
    "release_figure",
    "simplex_figure",
    "total_figure",
    "tradeoff_figure",
    "two_promises_figure",
]

_PLACES = {
    "Figure": "figure",
    "adding_figure": "figures.adding",
    "allocation_figure": "figures.allocation",
    "beside": "panels",
    "choice_figure": "figures.choice",
    "compared_risks_figure": "figures.relative_risk",
    "comparison_figure": "figures.comparison",
    "delta_figure": "figures.delta",
    "density_band_figure": "figures.density",
    "density_figure": "figures.density",
    "family_figure": "figures.family",
    "frechet_figure": "figures.frechet",
    "frontier_figure": "figures.frontier",
    "levels_figure": "figures.levels",
    "mechanism_figure": "figures.mechanism",
    "posterior_figure": "figures.posterior",
    "priors_figure": "figures.priors",
    "regions_figure": "figures.total",
    "regret_figure": "figures.regret",
    "relative_risk_figure": "figures.relative_risk",
    "release_figure": "figures.release",
    "simplex_figure": "figures.simplex",
    "total_figure": "figures.total",
    "tradeoff_figure": "figures.tradeoff",
    "two_promises_figure": "figures.two_promises",
}

__getattr__ = on_demand(__name__, _PLACES)
