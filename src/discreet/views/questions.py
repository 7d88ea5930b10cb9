"""The questions of NIST SP 800-226 viewed: how many are answered from what, and those that are left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from discreet.exchange.questions import SOURCES, QuestionAnswer
from discreet.views.view import Fact, Mood, Sentence, View


def answers_view(place: Path, answers: Sequence[QuestionAnswer]) -> View:
    """Where the label is, and where its answers come from."""
    counted = Counter(answer.source for answer in answers)
    facts = {
        "report": place,
        "questions": [{"block": a.block, "question": a.question, "answer": a.answer, "source": a.source} for a in answers],
    }
    told = [Sentence(f"Written: {place}", whole=True)]
    facts_told = [
        Fact(source, f"{counted[source]} of {len(answers)} answers", Mood.MIND if source == "unanswered" else Mood.PLAIN)
        for source in SOURCES
    ]
    open_ones = [Fact("open", a.question, Mood.SOFT) for a in answers if a.source == "unanswered"]
    return View(facts, (*told, *facts_told, *open_ones))
