"""The page about a mechanism, as text: complete, self-contained, and safe with any name that a person may type."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet import design
from discreet.design.program.unbiased_noise import unbiased_noise
from discreet.design.result import Design
from discreet.files.problem import problem_from_document
from discreet.model.mechanism import Mechanism
from discreet.model.record import Baseline
from discreet.present import report
from discreet.present.report import Chapter, mechanism_report, table

DOCUMENT = {
    "data": {"respondents": 5, "values": [0, 1, 2]},
    "prior": {"kind": "iid", "probabilities": ["0.8", "0.15", "0.05"]},
    "statistic": {"kind": "sum"},
    "decision": {"kind": "squared-error", "actions": "integer"},
    "privacy": {"epsilon": "1", "unit": "<b>household</b>"},
}


@pytest.fixture(scope="module")
def found() -> Design:
    return design.design(problem_from_document(DOCUMENT), gap=1e-4)


@pytest.fixture(scope="module")
def page(found: Design) -> str:
    return mechanism_report(found.mechanism, found.certificate, title='A "title" <script>alert(1)</script>')


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    assert "<script" not in page and "@import" not in page and "<link" not in page and "<img" not in page
    addresses = set(re.findall(r"(?:href|src)=[\"']([^\"']+)", page))
    assert not [address for address in addresses if not address.startswith("#")]


def test_what_people_type_is_text(page: str) -> None:
    assert "&lt;b&gt;household" in page and "<b>household" not in page
    assert "&lt;script&gt;" in page


def test_the_numbers_are_the_design_s(found: Design, page: str) -> None:
    assert f"{float(found.loss):.4g}" in page
    assert "(not private)" in page and page.index("(not private)") > page.index("geometric noise")
    part = page[page.index("<h2>The design") : page.index("<h2>The proof")]
    rows = re.findall(r"<td>([^<]*)</td><td class=\"n\">([^<]*)</td></tr>", part)
    losses = [float(loss) for _, loss in rows]
    assert rows[0][0] == "this design" and losses[1:-2] == sorted(losses[1:-2]) and losses[-1] == 0


def test_a_picture_comes_with_its_words(page: str) -> None:
    assert page.count("<figure>") == page.count("<figcaption>") >= 1
    assert "<svg" in page


def test_more_sections_stand_before_the_citation(found: Design) -> None:
    text = mechanism_report(found.mechanism, None, extra=[Chapter("Extra", "<p>more</p>")])
    assert text.index("<h2>Extra</h2>") < text.index("<h2>Citation</h2>")
    assert "There is no certificate" in text


def test_tables_say_their_columns() -> None:
    made = table(["a", "b"], [("x & y", Fraction(1, 2))], first=True)
    assert made.count("scope='col'") == 2 and "x &amp; y" in made and 'class="first"' in made


def test_what_was_known_is_not_computed_again(found: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of the design is believed, and shown as text; without one the same is computed."""
    known = found.record(looked=True)
    again = mechanism_report(found.mechanism, found.certificate)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    for name in ("baselines", "large_baselines", "behaviour"):
        monkeypatch.setattr(report, name, forbidden)
    hostile = Baseline("<script>", -1e9, "<script>alert(1)</script>")
    marked = replace(known, baselines={**known.baselines, "x": hostile}, notes=("a <b>note</b>",))
    text = mechanism_report(found.mechanism, found.certificate, record=marked)
    assert "What was considered:" in text and str(found.steps[0]).split(":")[0] in text and "What was considered:" not in again
    assert "<script>" not in text and "a &lt;b&gt;note&lt;/b&gt;" in text


@pytest.mark.parametrize(("unbiased", "leans"), [("everywhere", "how errors cancel"), ("nearby", "off in second order")])
def test_a_design_for_adding_up_says_so(unbiased: str, leans: str) -> None:
    """Nothing tells readers to act on single values, or that sums are pulled towards the prior; the price of each use is told."""
    problem = problem_from_document(
        DOCUMENT
        | {"data": {"respondents": 2, "values": [0, 1]}, "prior": {"kind": "iid", "probabilities": ["0.7", "0.3"]}}
        | {"decision": {"kind": "squared-error", "actions": "real", "unbiased": unbiased}}
    )
    made = unbiased_noise(problem, "geometric")
    text = mechanism_report(Mechanism(problem, made.summary, made.kernel, problem.guarantee), None)
    assert "do this" not in text and "leans on its prior" not in text and leans in text
    assert "Bias exactly 0" in text and "the best for acting alone" in text and "to add up (variance)" in text
    assert "Error of a total against the number of cells" in text
