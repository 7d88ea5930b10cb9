"""Adding up and acting from one draw, viewed: the price of each in one table."""

from __future__ import annotations

from dataclasses import asdict

from discreet.design.questions.both import Both
from discreet.numerics.digits import about, at_least, at_most
from discreet.views.view import BREAK, Grid, Sentence, View

CLOSE = 1e-2
"""A variance that is larger by less than this share is as good."""
HEADS = ("one draw of", "to add up (variance)", "to act on (loss)")


def both_view(found: Both) -> View:
    """The unbiased design and the best one for acting alone, side by side."""
    return View({"both": asdict(found)}, (BREAK, Grid(HEADS, both_rows(found), first=True), Sentence(both_words(found))))


def both_rows(found: Both) -> list[tuple[str, str, str]]:
    """A row for each of the two."""
    alone = "no unbiased value" if found.alone_variance is None else about(found.alone_variance, 6)
    return [
        ("this design", at_most(found.variance), about(found.action, 6)),
        ("the best for acting alone", alone, at_most(found.alone_action)),
    ]


def both_words(found: Both) -> str:
    """What the rows mean to readers of one release."""
    words = (
        "One draw carries both: add up the published values; act on their posterior means, which come from the same draw. "
        f"No mechanism with this promise acts with a loss below {at_least(found.alone_bound)}."
    )
    if found.alone_variance is None or found.alone_variance > found.variance * (1 + CLOSE):
        return words
    return f"{words} The best for acting alone has unbiased values as well: without decision.unbiased one design serves both."
