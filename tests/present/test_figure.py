"""The picture as a file: endings, words inside, and a page that needs nothing from anywhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import browsing
import pytest
from album import picture
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, MissingExtra
from discreet.present import Figure
from discreet.present.figure import must_be_drawable
from discreet.present.ticks import label_expression, log_ticks, power_words

HOSTILE = "</script><script>alert(1)</script><!-- <b>"


def plain(label: str = "a") -> Figure:
    body = {
        "data": {"values": [{"x": 1, "y": label}, {"x": 2, "y": "b"}]},
        "mark": {"type": "bar"},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}},
    }
    return Figure(f"Title {label}", f"Words about {label}.", body)


FORMS = {".svg": b"<svg", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>", ".json": b"{"}


@pytest.mark.parametrize(("ending", "start"), FORMS.items())
def test_the_ending_chooses_the_form(tmp_path: Path, ending: str, start: bytes) -> None:
    place = plain().write(tmp_path / f"picture{ending}")
    assert place.read_bytes().startswith(start)


def test_the_specification_is_written_whole(tmp_path: Path) -> None:
    written = json.loads(plain().write(tmp_path / "a.json").read_text(encoding="utf-8"))
    assert written["$schema"].endswith("vega-lite/v5.json") and written["description"] == "Words about a."


def test_other_endings_are_refused_before_any_work() -> None:
    with pytest.raises(InputError, match="Pictures are written as") as caught:
        must_be_drawable("picture.pdf")
    assert ".html" in str(caught.value)


def test_without_the_extra_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra):
        plain().svg()
    assert plain().json().startswith("{") and must_be_drawable("a.json")


def test_svg_carries_title_and_words_escaped() -> None:
    svg = plain(HOSTILE).svg()
    assert 'role="img"' in svg and "<script" not in svg and "&lt;/script&gt;" in svg
    assert plain()._repr_html_() == plain().svg()


def test_a_page_holds_its_scripts_and_no_label_breaks_out_of_them() -> None:
    page = plain(HOSTILE).html()
    assert page.startswith("<!DOCTYPE html>") and '<html lang="en">' in page
    assert "<script>alert(1)" not in page and "<!-- <b>" not in page and "\\u003c/script>" in page
    assert "<title>Title &lt;/script&gt;" in page and "<title>Chart</title>" not in page
    assert not re.search(r"<(?:script|link)[^>]+(?:src|href)=", page)
    assert "Words about &lt;/script&gt;" in page


@pytest.mark.needs_chromium
@pytest.mark.parametrize("name", ["choice", "simplex", "mechanism"])
def test_a_page_draws_itself_in_a_browser_without_a_network(tmp_path: Path, name: str) -> None:
    page = picture(name).write(tmp_path / "page.html")
    command = [
        browsing.program(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}",
        "--proxy-server=127.0.0.1:9", "--virtual-time-budget=8000", "--enable-logging=stderr", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert re.search(r"<svg[^>]+marks", done.stdout), done.stderr[-500:]
    assert picture(name).title in done.stdout
    assert "CONSOLE" not in done.stderr


@given(st.floats(1e-12, 1e6), st.floats(1.0, 1e12))
def test_ticks_reach_around_what_they_measure(low: float, factor: float) -> None:
    high = low * factor
    ticks = log_ticks(low, high)
    assert ticks == sorted(set(ticks)) and 2 <= len(ticks) <= 10
    assert ticks[0] <= low * (1 + 1e-9) and ticks[-1] >= high * (1 - 1e-9)
    assert len({power_words(t) for t in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("tick", "words"),
    [(1.0, "1"), (0.05, "0.05"), (0.25, "0.25"), (1e-6, "1e-6"), (3e-7, "3e-7"), (20000.0, "20000"), (1e5, "1e5")],
)
def test_ticks_are_written_as_people_do(tick: float, words: str) -> None:
    assert power_words(tick) == words and f"'{words}'" in label_expression([tick])
