"""The verification of a release, viewed: every check under the class that says what it is worth."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.publish.verdict import ReleaseVerdict
from discreet.views.view import Block, Fact, Heading, Mood, Sentence, View

MARKS = {True: ("holds", Mood.GOOD), False: ("FAILS", Mood.BAD), None: ("not shown here", Mood.MIND)}


def verification_view(verdict: ReleaseVerdict) -> View:
    """The checks by class, and whether anything that can be checked is wrong."""
    return View({"holds": verdict.holds, "checks": verdict.checks}, tuple(_told(verdict)), verdict.holds)


def _told(verdict: ReleaseVerdict) -> Iterator[Block]:
    for kind in dict.fromkeys(check.kind for check in verdict.checks):
        yield Heading(kind.capitalize())
        for check in verdict.checks:
            if check.kind == kind:
                mark, mood = MARKS[check.holds]
                yield Fact(mark, check.words, mood)
                if check.found and check.holds is not True:
                    yield Fact("found", check.found, whole=True)
    if verdict.holds:
        yield Sentence("Nothing that can be checked is wrong.", mood=Mood.GOOD)
    else:
        yield Sentence("This release fails.", mood=Mood.BAD)
