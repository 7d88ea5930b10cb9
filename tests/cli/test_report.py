"""`discreet report` and a release's own page in a real browser without a network: no error, no request, no barrier."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import browsing
import pytest
from office import shell

from discreet.cli.main import run
from discreet.errors import MissingExtra
from discreet.present import figure

PAGES = ("mechanism", "release", "index")
SECTIONS = ["The question", "The design", "The proof", "How to read a value", "The limits", "What this is not for", "Citation"]


@pytest.fixture(scope="module")
def pages(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three pages that readers are sent."""
    folder = tmp_path_factory.mktemp("pages")
    for file, name in (("places.mechanism.json", "mechanism"), ("release-2026", "release")):
        done = shell(released, "report", file, "-o", str(folder / f"{name}.html"))
        assert done.returncode == 0, done.stderr
    shutil.copy(released / "release-2026" / "index.html", folder / "index.html")
    return folder


@pytest.mark.parametrize("file", ["places.mechanism.json", "release-2026"])
def test_without_pictures_the_page_says_how_to_get_them(
    file: str, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtra("figures", needed_for="drawing pictures")

    monkeypatch.setattr(figure, "_converter", missing)
    place = tmp_path / "page.html"
    assert run(["report", str(released / file), "--no-frontier", "-o", str(place)]) == 0
    text = place.read_text(encoding="utf-8")
    assert "discreet[figures]" in text and "<svg" not in text


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless browser that can reach nothing."""
    with browsing.started() as found:
        yield found


def blank(browser: Any, **options: Any) -> Any:
    """A page that waits however slow the machine is."""
    page = browser.new_page(**options)
    page.set_default_timeout(browsing.PATIENCE)
    return page


@pytest.mark.needs_chromium
@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_quietly_and_excludes_nobody(name: str, width: int, pages: Path, browser: Any) -> None:
    page = blank(browser, viewport={"width": width, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    address = (pages / f"{name}.html").as_uri()
    page.goto(address)
    assert said == []
    assert asked == [address], "the page fetched something"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen"
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert found["passes"], "the checker looked at nothing"
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []
    page.close()


@pytest.mark.needs_chromium
def test_the_checker_finds_a_barrier_when_there_is_one(pages: Path, browser: Any, tmp_path: Path) -> None:
    text = (pages / "mechanism.html").read_text(encoding="utf-8")
    (tmp_path / "bad.html").write_text(text.replace("--soft: #55555f", "--soft: #dddddd"), encoding="utf-8")
    page = blank(browser)
    page.goto((tmp_path / "bad.html").as_uri())
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert "color-contrast" in {v["id"] for v in page.evaluate("axe.run()")["violations"]}
    page.close()


@pytest.mark.needs_chromium
def test_a_page_prints(pages: Path, browser: Any) -> None:
    page = blank(browser)
    page.goto((pages / "release.html").as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "none"
    assert page.evaluate("getComputedStyle(document.querySelector('tr')).breakInside") == "avoid"
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


def test_sections_come_in_order(pages: Path) -> None:
    text = (pages / "mechanism.html").read_text(encoding="utf-8")
    places = [text.index(f"<h2>{title}</h2>") for title in SECTIONS]
    assert places == sorted(places)
    release = (pages / "release.html").read_text(encoding="utf-8")
    assert "<h2>What was published</h2>" in release and "<h2>Verification</h2>" in release
    assert "3 cells of 6 households" in release and "FAILS" not in release


def test_the_page_lies_beside_what_it_is_about(released: Path, tmp_path: Path) -> None:
    office = tmp_path / "office"
    shutil.copytree(released, office)
    before = sorted(path.name for path in (office / "release-2026").iterdir())
    assert json.loads(shell(office, "report", "release-2026", "--json").stdout) == {"report": "release-2026.report.html"}
    assert sorted(path.name for path in (office / "release-2026").iterdir()) == before, "a release folder is never changed"
    shown = json.loads(shell(office, "report", "places.mechanism.json", "--json").stdout)
    assert (office / shown["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_mechanism_without_a_certificate_says_so(planned: Path, tmp_path: Path) -> None:
    shutil.copy(planned / "places.mechanism.json", tmp_path)
    done = shell(tmp_path, "report", "places.mechanism.json", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    assert "There is no certificate beside this mechanism" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["nowhere.json", "places.toml", ".", "publisher.pem"])
def test_what_is_no_mechanism_and_no_release_is_refused(planned: Path, what: str, tmp_path: Path) -> None:
    done = shell(planned, "report", what, "-o", str(tmp_path / "r.html"))
    assert done.returncode == 2 and done.stderr.startswith("discreet: "), done.stderr
    assert list(tmp_path.iterdir()) == []
