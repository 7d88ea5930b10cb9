"""`discreet design --radius` and `--draws`: what following a design costs when the prior is wrong, as a surface of regrets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.design.questions.regret_surface import Place, Surface
    from discreet.model.mechanism import Mechanism
    from discreet.watch import Watch

STEPS = 4
"""Radii of a picture, evenly up to the one that is asked for."""
SEED = 1


def run(
    mechanism: Mechanism, watch: Watch, *, radius: str | None, draws: int | None, counts: str | None, figure: Path | None,
    workers: int | None,
) -> dict[str, Any]:
    """The facts about one neighbourhood of the prior, with its picture when one is asked for."""
    from discreet.design.questions.regret_surface import around_counts, contamination
    from discreet.numerics.exact import exact

    if draws is not None:
        surface = around_counts(mechanism, draws, SEED, watch, counts=_counts(mechanism, counts), workers=workers)
        result: dict[str, Any] = {"drawn_priors": {"draws": draws, "seed": SEED, "places": _places(surface.places)}}
    else:
        assert radius is not None
        widest = exact(radius, "radius")
        radii = [widest] if figure is None else [widest * k / STEPS for k in range(1, STEPS + 1)]
        surface = contamination(mechanism, radii, watch, workers=workers)
        corners = [p for p in surface.places if p.radius == float(widest)]
        result = {"neighbourhood": {"radius": radius, "corners": _places(corners or surface.places)}}
        if figure is not None:
            result["neighbourhood"]["surface"] = _places(surface.places)
    return result | (_drawn(surface, figure) if figure is not None else {})


def _counts(mechanism: Mechanism, text: str | None) -> list[int] | None:
    """Counts of each type such as "890,90,20"."""
    from discreet.errors import InputError

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    types = len(getattr(mechanism.problem.universe, "values", ()))
    if len(parts) != types or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(
            "Reference counts are whole numbers, one for each type", found=text, allowed=f"{types} numbers with commas",
            remedy="for instance --counts 890,90,20 for three types",
        )
    return [int(part) for part in parts]


def _drawn(surface: Surface, figure: Path) -> dict[str, Any]:
    from discreet.present import regret_figure

    drawn = regret_figure(surface)
    return {"figure": drawn.write(figure), "alt": drawn.alt}


def _places(places: Any) -> list[dict[str, Any]]:
    """Each prior with its losses, worst regret first."""
    return [_facts(p) for p in sorted(places, key=lambda p: -p.low)]


def _facts(place: Place) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "followed": place.followed, "reread": place.reread, "bias": None if place.bias != place.bias else place.bias,
        "best": place.reached, "regret": place.followed - place.reached, "regret_at_most": place.high,
        "prior": [float(p) for p in place.prior],
    }
    if place.radius is not None:
        facts |= {"radius": place.radius, "towards": place.towards}
    return facts


def tell(result: dict[str, Any], console: Console) -> None:
    """The worst prior of the neighbourhood, in words."""
    if "neighbourhood" in result:
        worst = result["neighbourhood"]["corners"][0]
        console.print(
            f"If the prior moves by {result['neighbourhood']['radius']}: worst at {_prior(worst)}, loss {worst['followed']:.4g} "
            f"when followed{_bias(worst)} against {worst['best']:.4g} at best."
        )
    if "drawn_priors" in result:
        places = result["drawn_priors"]["places"]
        worst, middle = places[0], places[len(places) // 2]
        console.print(
            f"At {len(places)} priors drawn around the reference counts (seed {result['drawn_priors']['seed']}): following costs "
            f"{middle['regret']:.3g} beyond the best in the median, and {worst['regret']:.3g} at worst, at {_prior(worst)}."
        )


def _prior(facts: dict[str, Any]) -> str:
    return "(" + ", ".join(f"{p:.3g}" for p in facts["prior"]) + ")"


def _bias(facts: dict[str, Any]) -> str:
    return "" if facts["bias"] is None else f" (bias {facts['bias']:.3g})"
