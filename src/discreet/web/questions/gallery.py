"""The gallery: the pictures of the papers and of the documentation, drawn from the same code, live."""

from __future__ import annotations

from discreet.gallery.picture import picture as by_name
from discreet.views.view import Sentence, View
from discreet.web.questions import Reply, Setting


def picture(setting: Setting, name: str) -> Reply:
    """One picture of the gallery with its words and its numbers, each beside what it must be."""
    found = by_name(name)
    drawn = found.draw()
    numbers = [{"words": n.words, "value": n.value, "shown": n.shown, "by": n.by} for n in found.check()]
    facts = {
        "name": name,
        "title": found.title,
        "reference": found.reference,
        "caption": found.caption,
        "words": drawn.alt,
        "numbers": numbers,
    }
    return Reply(View(facts, (Sentence(drawn.alt),)), (drawn,))
