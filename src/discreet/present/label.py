"""A label: one printable page that says what is promised to whom, and answers the questions of NIST SP 800-226 with their sources.

On top what a reader looks for first, as on food: whose data, how much can be learnt at most, what is not protected, who checked.
Below every question with its answer and where the answer comes from; what is only attested or unanswered is shown as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from discreet.exchange.questions import QUESTIONS, SOURCES, QuestionAnswer, mechanism_answers, release_answers
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.present.report import Chapter, html_page, table

FIRST = {
    "How much can be learnt": "loss",
    "Whose data": "unit",
    "Protected": "neighbours",
    "Not protected": "unprotected",
    "Check it yourself": "verifiable",
}
"""What a reader looks for first, and the question that answers it."""
SOURCE_WORDS = {
    "certificate": "proved again from the mechanism",
    "ledger": "replayed from the ledger's entries",
    "release": "checked from the release folder",
    "attested": "somebody's word",
    "unanswered": "not answered",
}


def mechanism_label(mechanism: Mechanism, certificate: Certificate | None = None) -> tuple[str, tuple[QuestionAnswer, ...]]:
    """The label of a mechanism file, and its answers."""
    answers = mechanism_answers(mechanism, certificate)
    title = mechanism.problem.name or "A private statistic"
    return _page(title, "What this mechanism promises, and what is known about it.", answers), answers


def release_label(folder: Path, key: str | None = None) -> tuple[str, tuple[QuestionAnswer, ...]]:
    """The label of a release folder, and its answers."""
    answers, verdict = release_answers(folder, key)
    lead = (
        "What this release promises, and what is known about it. Everything that can be checked from its folder holds."
        if verdict.holds
        else "THIS RELEASE FAILS VERIFICATION. What it says counts for nothing until that is cleared up."
    )
    return _page(Path(folder).resolve().name, lead, answers), answers


def _page(title: str, lead: str, answers: Sequence[QuestionAnswer]) -> str:
    counts = [(source, SOURCE_WORDS[source], str(sum(a.source == source for a in answers))) for source in SOURCES]
    sections = [Chapter("At a glance", _glance(answers))]
    for block, group in groupby(answers, key=lambda a: a.block):
        sections.append(Chapter(block, _questions(list(group))))
    sections.append(Chapter("Where the answers come from", table(["source", "means", "answers"], counts, numeric=False)))
    sections.append(Chapter("Questions", f"<p>{escape(AFTER)}</p>"))
    return html_page(f"Privacy label: {title}", lead, sections)


AFTER = (
    "After the blocks of the pyramid in NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees (March 2025), "
    "in our own words."
)


def _glance(answers: Sequence[QuestionAnswer]) -> str:
    """The rows that a reader looks for first."""
    place = {name: number for number, (name, _, _) in enumerate(QUESTIONS)}
    rows = [(words, answers[place[name]].answer, answers[place[name]].source) for words, name in FIRST.items()]
    return table(["what", "answer", "source"], rows, numeric=False)


def _questions(answers: Sequence[QuestionAnswer]) -> str:
    rows = "".join(
        f"<dt>{escape(a.question)}</dt><dd>{escape(a.answer)} <em class='{a.source}'>[{a.source}]</em></dd>" for a in answers
    )
    return f"<dl>{rows}</dl>"
