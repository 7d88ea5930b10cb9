"""The documentation as a site: it builds without a warning, every page has its reader, and nothing wrong is let through."""

from __future__ import annotations

import re
from pathlib import Path

import browsing
import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent


tool("reference_pages")
handbook = tool("handbook")

NAVIGATION = '[[section]]\ntitle = "Start"\npages = ["index.md", "rooms/*", "reference/*"]\n'


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small documentation in which everything holds."""
    texts = {
        "docs/index.md": "# I\n## Rooms & doors\n[1](rooms/one.md#walls) [2](#rooms--doors) [3](reference/made.md) ![a](a.svg)\n",
        "docs/rooms/one.md": "# One\n## Walls\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[code](../../src/x.py) `[no](link.md)`\n",
        "docs/a.svg": "<svg/>",
        "src/x.py": "x = 1\n",
        "docs/site/navigation.toml": NAVIGATION,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("page.html", "site.css", "search.js"):
        (tmp_path / "docs" / "site" / name).write_text(
            (ROOT / "docs" / "site" / name).read_text(encoding="utf-8"), encoding="utf-8"
        )
    return tmp_path


MADE = {"docs/reference/made.md": "# Made\n[back](../index.md)\n"}


def test_pages_link_to_pages_and_what_else_they_name_lies_beside_them(house: Path) -> None:
    found = handbook.Site(house, MADE)
    assert found.wrong == []
    found.write(house / "out")
    index, one = ((house / "out" / name).read_text(encoding="utf-8") for name in ("index.html", "rooms/one.html"))
    assert 'href="rooms/one.html#walls"' in index and '<h2 id="rooms--doors">' in index and 'src="files/docs/a.svg"' in index
    assert 'href="../files/src/x.py"' in one and 'src="../search.js"' in one and '<div class="rows"><table>' in one
    assert (house / "out" / "files" / "src" / "x.py").read_text() == "x = 1\n"
    told = (house / "out" / "index.js").read_text(encoding="utf-8")
    assert '"u": "rooms/one.html#walls"' in told and "http" not in index.replace("https://", "http")


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("docs/index.md", "# I\n[gone](rooms/two.md)", "there is nothing at rooms/two.md"),
        ("docs/index.md", "# I\n[gone](rooms/one.md#roof)", "docs/rooms/one.md has no heading roof"),
        ("docs/index.md", "# I\n![gone](b.svg)", "there is nothing at b.svg"),
        ("docs/stray.md", "# Stray", "shows docs/stray.md to no reader"),
        (
            "docs/site/navigation.toml",
            NAVIGATION.replace('"index.md"', '"index.md", "cellar.md"'),
            "shows docs/cellar.md, which is not there",
        ),
        ("docs/site/navigation.toml", NAVIGATION.replace('"index.md"', '"index.md", "index.md"'), "shows docs/index.md twice"),
    ],
)
def test_what_is_wrong_is_an_error(house: Path, name: str, text: str, complaint: str) -> None:
    (house / name).write_text(text, encoding="utf-8")
    assert any(complaint in words for words in handbook.Site(house, MADE).wrong)


def test_a_page_cannot_bring_a_script() -> None:
    sheet = handbook.Sheet("docs/x.md", "# X\n<script>alert(1)</script>\n\n```python\n</pre><script>\n```\n")
    dummy = object.__new__(handbook.Site)
    dummy._render(sheet)
    assert "<script" not in sheet.body


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, without the gallery's pictures."""
    folder = tmp_path_factory.mktemp("site")
    assert handbook.build(folder, pictures=False) == []
    return Path(folder)


def test_the_site_has_every_kind_of_page(built: Path) -> None:
    for name in ("index", "theory", "errata", "gallery/sy", "reference/commands", "reference/formats", "reference/api/design"):
        assert (built / f"{name}.html").exists(), name
    commands = (built / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "<code>--epsilon" in commands and "discreet ledger init" in commands
    for page in built.rglob("*.html"):
        if "files" not in page.relative_to(built).parts:
            text = page.read_text(encoding="utf-8")
            assert 'src="http' not in text and '<link rel="stylesheet" href="http' not in text, page.name


def test_titles_are_short_and_headings_cannot_take_a_name_of_the_page(house: Path) -> None:
    titles = {
        "Tutorial: buses, or when adding noise is best": "Buses",
        "Finding: a thing": "A thing",
        "discreet.model": "discreet.model",
    }
    assert {title: handbook.short(title) for title in titles} == titles
    page = (ROOT / "docs" / "site" / "page.html").read_text(encoding="utf-8")
    names = re.findall(r'id="([^"]+)"', page)
    assert names and all(handbook.slug(name) != name for name in names), "an anchor of a heading is a slug"


def questions() -> list[tuple[str, str]]:
    """The questions of docs/start.md with the pages that answer them."""
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| \[[^\]]*\]\(([^)]+)\.md\) \|$", text, re.MULTILINE)
    assert len(rows) == 10
    return rows


@pytest.mark.needs_chromium
def test_ten_questions_are_answered_by_typing_and_one_click(built: Path) -> None:
    """From a folder, without a server: the address is that of a file."""
    with browsing.started() as browser, browsing.window(browser, built.as_uri()) as seen:
        page = seen.page
        page.goto((built / "theory.html").as_uri())
        for question, answer in questions():
            page.fill(".ask", question)
            links = page.locator(".answers a")
            found = [str(links.nth(i).get_attribute("href")).partition("#")[0] for i in range(min(2, links.count()))]
            assert f"{answer}.html" in found, (question, found)
        page.locator(".answers a").first.click()
        page.wait_for_load_state()
        assert page.locator("main h1").count() == 1 and page.locator("nav a[aria-current]").count() == 1
        page.fill(".ask", "zzzz")
        assert "Nothing was found" in page.inner_text(".answers")
        assert seen.complaints == [] and seen.strangers == []
