"""The gallery: the pictures of the papers and of the documentation, drawn from the same code, live."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.gallery.__main__ import PICTURES
from discreet.views.view import Sentence, View
from discreet.web.questions import Reply, Setting


def picture(setting: Setting, name: str) -> Reply:
    """One picture of the gallery with its words."""
    if name not in PICTURES:
        raise InputError("There is no picture of this name", found=name, allowed=sorted(PICTURES), remedy="choose one of these")
    drawn = PICTURES[name]()
    return Reply(View({"name": name, "title": drawn.title, "words": drawn.alt}, (Sentence(drawn.alt),)), (drawn,))
