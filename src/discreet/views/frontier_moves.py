"""Moves along a frontier, viewed: what solved points already prove at any ε (or ρ) between them, and which a wanted loss needs.

A mechanism for a smaller ε keeps every larger promise, and a bound at a larger ε holds at every smaller one, so that points solved
anywhere answer everywhere: L(ε) lies between the bound at the next point above and the loss at the next point below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, at_least, at_most, given
from discreet.views.view import Fact, Sentence, View, told

USUAL = ("geometric", "discrete gaussian")
Solved = Mapping[str, Any]
"""A solved point: its `level` as exact text, `loss`, `lower_bound` and `baselines` as numbers."""


def move_view(points: Sequence[Solved], level: Fraction, key: str = "epsilon") -> View:
    """The least loss at this level of ε or ρ (`key`), as far as solved points tell."""
    below = [p for p in points if Fraction(p["level"]) <= level]
    above = [p for p in points if Fraction(p["level"]) >= level]
    loss = min((p["loss"] for p in below), default=None)
    lower = max((p["lower_bound"] for p in above), default=None)
    solved = any(Fraction(p["level"]) == level for p in points)
    facts = {key: level, "loss_at_most": loss, "loss_at_least": lower, "solved_here": solved, "points": len(points)}
    blocks: list[Fact | Sentence] = [
        Fact("loss at most", "not known yet" if loss is None else f"{at_most(loss)} (a certified mechanism stands there)"),
        Fact("at least", "not known yet" if lower is None else f"{at_least(lower)} (proved for every private mechanism)"),
    ]
    here = next((p for p in points if Fraction(p["level"]) == level), None)
    for name in USUAL:
        usual = None if here is None else here["baselines"].get(name)
        if usual is not None:
            facts[name.replace(" ", "_")] = usual
            blocks.append(Fact("plain noise", f"{about(usual)} ({name})"))
    return told(facts, *blocks)


def reach_view(points: Sequence[Solved], loss: float, key: str = "epsilon") -> View:
    """Accuracy first: the smallest solved level whose mechanism loses no more, and the largest that is proved too small."""
    enough = min((Fraction(p["level"]) for p in points if p["loss"] <= loss), default=None)
    short = max((Fraction(p["level"]) for p in points if p["lower_bound"] > loss), default=None)
    facts = {"target": loss, "enough": enough, "too_small": short, "points": len(points)}
    if enough is None:
        return told(facts, Sentence(f"No point solved so far loses this little; a larger {LETTERS[key]} may."))
    words = "" if short is None else f"; proved: {LETTERS[key]} = {given(short)} is not"
    return told(facts, Sentence(f"{LETTERS[key]} = {given(enough)} is enough for a loss of {about(loss)}{words}."))
