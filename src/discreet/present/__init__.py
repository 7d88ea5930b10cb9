"""Present: pictures as Vega-Lite specifications with alt text, drawn to SVG or PNG without a browser.

Heavy imports wait until something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.present.figure import Figure
    from discreet.present.figures.allocation import allocation_figure
    from discreet.present.figures.comparison import comparison_figure
    from discreet.present.figures.family import family_figure
    from discreet.present.figures.frontier import frontier_figure
    from discreet.present.figures.mechanism import mechanism_figure
    from discreet.present.figures.posterior import posterior_figure
    from discreet.present.figures.priors import priors_figure
    from discreet.present.figures.regret import regret_figure

__all__ = [
    "Figure",
    "allocation_figure",
    "comparison_figure",
    "family_figure",
    "frontier_figure",
    "mechanism_figure",
    "posterior_figure",
    "priors_figure",
    "regret_figure",
]

_PLACES = {
    "Figure": "figure",
    "allocation_figure": "figures.allocation",
    "comparison_figure": "figures.comparison",
    "family_figure": "figures.family",
    "frontier_figure": "figures.frontier",
    "mechanism_figure": "figures.mechanism",
    "posterior_figure": "figures.posterior",
    "priors_figure": "figures.priors",
    "regret_figure": "figures.regret",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"discreet.present.{_PLACES[name]}"), name)
