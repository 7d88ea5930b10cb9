"""What following a design costs under another prior or payoff: one alternative, a neighbourhood of the prior, drawn priors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from discreet.design.questions.regret import Regret
from discreet.design.questions.regret_surface import Place, Surface
from discreet.numerics.digits import about, at_most, between, number_at_most
from discreet.views.plain import known
from discreet.views.view import Grid, Sentence, View, told


def alternative_view(found: Regret) -> View:
    """The design in a world that another problem file describes."""
    under = found.under
    facts: dict[str, Any] = {
        "followed": under.followed,
        "reread": under.reread,
        "bias": known(under.bias),
        "best": [found.least, found.reached],
        "regret": found.regret,
        "regret_at_most": found.regret_at_most,
    }
    if found.prior is not None:
        facts["prior"] = [float(p) for p in found.prior]
    words = (
        f"Under the alternative: loss {about(under.followed)} when followed{_bias(under.bias)}, {about(under.reread)} when "
        f"re-read; the best mechanism for it loses {between(found.least, found.reached, 4)}."
    )
    return told({"alternative": facts}, Sentence(words))


def regrets_view(found: Sequence[Regret], radius: str) -> View:
    """What following the design costs where the prior has moved towards each type, against the best mechanism for that prior."""
    worst = max(found, key=lambda one: one.regret_at_most)
    rows = [
        (
            _listed(one),
            about(one.under.followed, 5),
            about(one.under.reread, 5),
            between(one.least, one.reached, 4),
            at_most(one.regret_at_most, 3),
        )
        for one in found
    ]
    facts = {
        "radius": radius,
        "worst_regret_at_most": number_at_most(worst.regret_at_most),
        "corners": [alternative_view(one).facts["alternative"] for one in found],
    }
    words = (
        f"If the prior moves by {radius} towards any one type, following this design loses at most "
        f"{at_most(worst.regret_at_most, 3)} more than the best mechanism for that prior would: its regret."
    )
    heads = ("if the prior is", "followed", "re-read", "best there", "regret at most")
    return told({"regret": facts}, Sentence(words), Grid(heads, rows, left=1))


def _listed(found: Regret) -> str:
    return "(" + ", ".join(about(float(p), 3) for p in found.prior or ()) + ")"


def neighbourhood_view(surface: Surface, radius: str, widest: float) -> View:
    """The corners of the neighbourhood of a prior, the worst first; a surface of several radii is listed whole."""
    corners = _worst_first(p for p in surface.places if p.radius == widest) or _worst_first(surface.places)
    facts: dict[str, Any] = {"radius": radius, "corners": [_facts(p) for p in corners]}
    if len({p.radius for p in surface.places}) > 1:
        facts["surface"] = [_facts(p) for p in _worst_first(surface.places)]
    worst = corners[0]
    words = (
        f"If the prior moves by {radius}: worst at {_prior(worst)}, loss {about(worst.followed)} when followed"
        f"{_bias(worst.bias)}; the best mechanism there loses {between(worst.least, worst.reached, 4)}."
    )
    return told({"neighbourhood": facts}, Sentence(words))


def drawn_view(surface: Surface, draws: int, seed: int) -> View:
    """Priors drawn around reference counts, the worst first."""
    places = _worst_first(surface.places)
    worst, middle = places[0], places[len(places) // 2]
    words = (
        f"At {len(places)} priors drawn around the reference counts (seed {seed}): following costs "
        f"{between(_regret(middle), middle.high, 3)} beyond the best mechanism for each in the median, and "
        f"{between(_regret(worst), worst.high, 3)} at worst, at {_prior(worst)}."
    )
    return told({"drawn_priors": {"draws": draws, "seed": seed, "places": [_facts(p) for p in places]}}, Sentence(words))


def _worst_first(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: -place.low)


def _regret(place: Place) -> float:
    return place.followed - place.reached


def _facts(place: Place) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "followed": place.followed,
        "reread": place.reread,
        "bias": known(place.bias),
        "best": [place.least, place.reached],
        "regret": _regret(place),
        "regret_at_most": place.high,
        "prior": [float(p) for p in place.prior],
    }
    return facts if place.radius is None else facts | {"radius": place.radius, "towards": place.towards}


def _prior(place: Place) -> str:
    return "(" + ", ".join(about(float(p), 3) for p in place.prior) + ")"


def _bias(bias: float) -> str:
    return "" if known(bias) is None else f" (bias {about(bias, 3)})"
