"""Robust against plain: the loss of both mechanisms under each prior, beside the best possible there."""

from __future__ import annotations

from discreet.design.questions.robust import Robust
from discreet.numerics.digits import about, at_most, between
from discreet.present.axes import loss_title
from discreet.present.figure import Figure
from discreet.present.theme import HEIGHT, series_scales

WAYS = ("robust", "designed for the first prior", "best for this prior")


def priors_figure(found: Robust) -> Figure:
    """Points by prior: robust, plain, best."""
    names = [prior_name(p) for p in found.priors]
    rows = []
    for name, robust, plain, best in zip(names, found.proof.losses, found.plain, found.proof.best, strict=True):
        for way, loss in zip(WAYS, (float(robust), plain, float(best[1])), strict=True):
            rows.append({"prior": name, "loss": loss, "way": way})
    scales = series_scales(list(WAYS))
    legend = {"title": "mechanism"}
    body = {
        "width": max(260, 130 * len(names)),
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 110},
        "encoding": {
            "x": {
                "field": "prior",
                "type": "nominal",
                "title": "true prior (probabilities of the types)",
                "sort": None,
                "axis": {"labelAngle": 0},
            },
            "y": {"field": "loss", "type": "quantitative", "title": loss_title(found.mechanism.problem)},
            "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
            "shape": {"field": "way", "type": "nominal", "scale": scales["shape"], "legend": legend},
        },
    }
    words = "; ".join(
        f"at {name} robust {at_most(robust, 4)}, plain {about(plain)}, best {between(*best, 4)}"
        for name, robust, plain, best in zip(names, found.proof.losses, found.plain, found.proof.best, strict=True)
    )
    alt = f"Expected losses under {len(names)} priors: {words}."
    worst = f"worst regret when followed at most {at_most(found.proof.worst, 4)}"
    return Figure("One mechanism for several priors", alt, body, worst)


def prior_name(prior: object) -> str:
    """An iid prior by its probabilities, another by its kind."""
    chances = getattr(prior, "probabilities", None)
    if isinstance(chances, tuple):
        return "(" + ", ".join(about(p, 3) for p in chances) + ")"
    return str(getattr(prior, "kind", "prior"))
