"""What several decision makers pay for sharing a design, and how its optimum moves with ε and with the prior."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.design.questions.decision_makers import Share
from discreet.design.questions.sensitivity import Slope
from discreet.numerics.digits import about, given
from discreet.views.plain import known
from discreet.views.view import Sentence, View


def shares_view(shares: Sequence[Share]) -> View:
    """One line for each decision maker."""
    facts = [
        {
            "name": s.name,
            "weight": float(s.weight),
            "followed": s.followed,
            "reread": s.reread,
            "alone": s.alone[1],
            "price": s.price,
        }
        for s in shares
    ]
    return View({"decision_makers": facts}, tuple(Sentence(_share(s)) for s in shares))


def _share(s: Share) -> str:
    return (
        f"{s.name} (weight {given(s.weight)}) loses {about(s.followed, 6)} by following, {about(s.alone[1], 6)} with a mechanism "
        f"of its own: the common one costs it {about(s.price, 3)}."
    )


def slopes_view(slopes: Sequence[Slope]) -> View:
    """One line for each number that the optimum moves with."""
    facts = [{"of": s.of, "slope": known(s.estimate)} for s in slopes]
    return View({"slopes": facts}, tuple(Sentence(_slope(s)) for s in slopes))


def _slope(s: Slope) -> str:
    change = "–" if known(s.estimate) is None else about(s.estimate, signed=True)
    moved = "for each unit of ε" if s.of == "epsilon" else f"for each unit of prior moved to {s.of}"
    return f"The least loss changes by {change} {moved}."
