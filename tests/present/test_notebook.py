"""Notebooks: every thing is registered by the name it really has, and its HTML is escaped and says its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from album import found, mechanism, problem, write_release

from discreet.certify.verdict import of_mechanism
from discreet.errors import InputError
from discreet.exchange import Claimed, finite, judge
from discreet.exchange.cell_keys import entropy_table, improve
from discreet.interpret.posteriors import posterior
from discreet.present import notebook
from discreet.publish import ReleaseVerdict

VOID = {"br", "img", "hr", "path", "rect", "line"}


class Balanced(HTMLParser):
    """Follows tags to see that each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(text: str) -> str:
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return text


class FakeFormatter:
    """Remembers what was registered, as IPython's formatter does."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Callable[[Any], str]] = {}

    def for_type_by_name(self, module: str, name: str, function: Callable[[Any], str]) -> None:
        self.known[module, name] = function


class FakeShell:
    def __init__(self) -> None:
        self.formatter = FakeFormatter()
        self.display_formatter = self

    @property
    def formatters(self) -> dict[str, FakeFormatter]:
        return {"text/html": self.formatter}


def test_enabling_registers_every_class_under_its_real_name() -> None:
    shell = FakeShell()
    names = notebook.enable(shell)
    assert {"Problem", "Design", "Certificate", "Posterior", "Release"} <= set(names)
    for (module, name), render in shell.formatter.known.items():
        kind = getattr(import_module(module), name)
        assert kind.__module__ == module and kind.__name__ == name and callable(render)
    again = FakeShell()
    notebook.load_ipython_extension(again)
    assert again.formatter.known == shell.formatter.known


def test_outside_a_notebook_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "IPython", None)
    with pytest.raises(InputError, match="No notebook is running"):
        notebook.enable()


def test_a_problem_in_words() -> None:
    text = checked(notebook.html(problem()))
    assert "ε = 1" in text and "sum of these values" in text and "household" in text


def test_a_name_cannot_bring_its_own_tags() -> None:
    text = checked(notebook.html(replace(problem(), name="<script>alert(1)</script>")))
    assert "<script" not in text and "&lt;script&gt;" in text


def test_a_design_stands_beside_its_baselines() -> None:
    made = found()
    text = checked(notebook.html(made))
    assert f"{float(made.loss):.6g}" in text and all(name in text for name in made.baselines) and "expected loss" in text


def test_a_certificate_names_its_witness() -> None:
    text = checked(notebook.html(found().certificate))
    assert "closed-form" in text and found().certificate.mechanism in text and "SY Thm 3" in text
    assert "edge-check" in checked(notebook.html(found(6, 3).certificate))


def test_results_with_a_view_show_it() -> None:
    judged = judge(finite([["3/4", "1/4"], ["1/4", "3/4"]], states=["<b>no", "yes"]), epsilon=1)
    text = checked(notebook.html(judged))
    assert "<b>" not in text and "efuted" in text and "1.0986" in text
    assert "Proved" in checked(notebook.html(of_mechanism(found().mechanism, found().certificate)))
    assert "δ" in checked(notebook.html(improve(entropy_table(2, 1), epsilon=1)))
    response = finite([["3/4", "1/4"], ["1/4", "3/4"]])
    assert "Proved" in checked(notebook.html(Claimed(response, "a peer", epsilon=Fraction(11, 10))))


def test_a_mechanism_says_its_promise() -> None:
    assert "at most e^ε" in checked(notebook.html(mechanism()))


def test_a_posterior_has_mean_interval_and_bars() -> None:
    read = posterior(mechanism(), mechanism().outputs[0].label)
    text = checked(notebook.html(read))
    low, high = read.interval()
    assert f"{read.mean():.6g}" in text and f"{low} and {high}" in text and "background:#0072b2" in text
    about = posterior(mechanism(), mechanism().outputs[0].label, about="respondent")
    assert "mean" not in checked(notebook.html(about))


def test_a_verdict_marks_what_fails() -> None:
    verdict = ReleaseVerdict()
    verdict.say("enforced", "Every file is as the manifest says", True)
    verdict.say("enforced", "The plan is the committed one", False)
    text = checked(notebook.html(verdict))
    assert "FAILS" in text and "<h4>Fails</h4>" in text


def test_a_release_shows_its_picture(tmp_path: Path) -> None:
    release = notebook.Release(write_release(tmp_path / "r", ["a,4,1,1,1.5,0,2", "b,4,2,2,2.5,1,3"]))
    text = notebook.html(release)
    assert "<svg" in text and "discreet verify" in text and text == release._repr_html_()
    with pytest.raises(InputError, match="no release"):
        notebook.Release(tmp_path / "elsewhere")


def test_other_things_are_refused() -> None:
    with pytest.raises(InputError, match="no HTML"):
        notebook.html(3)
