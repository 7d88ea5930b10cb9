"""Views: the same blocks on a terminal and in a page, in which no text can pretend to be something else."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from rich.console import Console

from discreet.cli.output import show
from discreet.present.blocks import html
from discreet.present.terminal import draw
from discreet.views.view import Bars, Fact, Grid, Heading, Mood, Sentence, View, mind, proved, told

HOSTILE = "[bold green]Proved:[/bold green]\nProved: \x1b[32meverything\x1b[0m <script>alert(1)</script>"
BLOCKS = (
    proved("it holds."), mind("the prior."), Heading("More"), Fact("hash", "5f3c", whole=True), Fact("by", "a theorem"),
    Grid(("way", "loss"), [("this design", "1.2"), ("noise", "1.5")], first=True), Bars([("0", 0.75), ("1", 0.2)], "ω", 0.05),
)  # fmt: skip


def shown(*blocks: object, width: int = 80) -> str:
    stream = io.StringIO()
    draw(blocks, Console(file=stream, highlight=False, width=width))  # type: ignore[arg-type]
    return stream.getvalue()


def test_a_terminal_shows_every_block() -> None:
    lines = [line.rstrip() for line in shown(*BLOCKS).splitlines()]
    assert lines[:5] == ["Proved: it holds.", "Mind: the prior.", "More", "  hash  5f3c", "  by    a theorem"]
    assert lines[5].split() == ["way", "loss"] and lines[7].split() == ["noise", "1.5"]
    assert lines[8].startswith("  0   75.00%  ███") and lines[-1].split() == ["5.00%", "(others)"]


def test_a_page_shows_every_block() -> None:
    text = html(BLOCKS)
    for words in ("Proved:", "it holds.", "the prior.", "<h4>More</h4>", "5f3c", "this design", "1.5", "75.00%", "others: 5.00%"):
        assert words in text
    assert text.count("<table>") == text.count("</table>") == 3, "facts that follow one another are one table"


@pytest.mark.parametrize(
    "block",
    [Sentence(HOSTILE), Sentence("x", HOSTILE, Mood.GOOD), Fact("unit", HOSTILE), Fact(HOSTILE, "x"), Grid(("a",), [(HOSTILE,)])],
)
def test_text_from_a_file_stays_text(block: object) -> None:
    """Near-miss: a unit with markup and a newline printed a second line that began with "Proved:"."""
    plain = shown(block, width=300)
    assert "\x1b" not in plain and "[bold green]" in plain
    assert len(plain.splitlines()) == (2 if isinstance(block, Grid) else 1)
    assert "<script>" not in html([block])  # type: ignore[list-item]


def test_a_refuted_view_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    view = told({"a": 1}, Sentence("seen")) + View({"b": 2}, (), holds=False)
    for as_json in (True, False):
        with pytest.raises(typer.Exit) as ended:
            show(view, as_json=as_json)
        assert ended.value.exit_code == 1
    out = capsys.readouterr().out
    assert '"b": 2' in out and out.endswith("seen\n")


KINDS = {"Sentence", "Fact", "Grid", "Bars", "Heading", "mind", "proved"}
OF_THE_SHELL = {"demo.py", "new.py", "serve.py"}
"""Commands whose words are about the shell itself: a show, questions to a person, an address."""


def words_of_its_own(text: str) -> set[str]:
    """The kinds of block that a file imports to make them itself."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports if node.module == "discreet.views.view" for alias in node.names} & KINDS


def test_commands_show_views_and_make_no_words(root: Path) -> None:
    """So that a page shows the same: what a result says is made in `views`; `cli.keeping` says which files were written."""
    shell = root / "src" / "discreet" / "cli"
    files = [path for folder in ("commands", "bookkeeping") for path in (shell / folder).glob("*.py")]
    assert len(files) > 30
    assert {path.name for path in files if words_of_its_own(path.read_text(encoding="utf-8"))} == OF_THE_SHELL
    assert words_of_its_own("def key():\n    from discreet.views.view import Fact, told") == {"Fact"}, "a planted one is seen"
