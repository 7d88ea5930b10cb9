"""Views drawn on a terminal. Words are shown as they are: neither markup nor control characters in them mean anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.errors import legible
from discreet.views.view import Bars, Block, Fact, Grid, Heading, Mood, Sentence

STYLES = {
    Mood.PLAIN: "", Mood.STRONG: "bold", Mood.GOOD: "bold green", Mood.BAD: "bold red", Mood.MIND: "yellow", Mood.SOFT: "dim",
}  # fmt: skip
INDENT = "  "
BAR = 30


def draw(told: Iterable[Block], console: Console) -> None:
    """Every block in order; facts that follow one another share their columns."""
    for kind, blocks in groupby(told, type):
        if issubclass(kind, Fact):
            _facts([block for block in blocks if isinstance(block, Fact)], console)
            continue
        for block in blocks:
            if isinstance(block, Sentence):
                _sentence(block, console)
            elif isinstance(block, Grid):
                _grid(block, console)
            elif isinstance(block, Bars):
                _bars(block, console)
            elif isinstance(block, Heading):
                console.print(_words(block.text, "bold"))


def text(told: Iterable[Block], width: int = 100) -> str:
    """The same as plain text, for whoever prints a thing."""
    stream = StringIO()
    draw(told, Console(file=stream, highlight=False, width=width, color_system=None))
    return stream.getvalue().rstrip("\n")


def _words(text: str, style: str = "") -> Text:
    return Text(legible(text), style)


def _sentence(block: Sentence, console: Console) -> None:
    style = STYLES[block.mood]
    lead = Text.assemble(_words(block.lead, style), " ") if block.lead else Text()
    console.print(Text.assemble(lead, _words(block.text, "" if block.lead else style)), soft_wrap=block.whole)


def _facts(facts: Sequence[Fact], console: Console) -> None:
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        named, style = bool(fact.name.strip()), STYLES[fact.mood]
        lead = _words(f"{INDENT}{fact.name:<{width}}  ", style if named else "")
        words = _words(fact.text, "" if named else style)
        if fact.whole:
            console.print(Text.assemble(lead, words), soft_wrap=True)
            continue
        beside = Table.grid()
        beside.add_column(no_wrap=True)
        beside.add_column(overflow="fold")
        beside.add_row(lead, words)
        console.print(beside)


def _grid(grid: Grid, console: Console) -> None:
    drawn = Table(box=None, pad_edge=False)
    for place, head in enumerate(grid.heads):
        drawn.add_column(Text(head), justify="left" if place < grid.left else "right", overflow="fold")
    for place, row in enumerate(grid.rows):
        drawn.add_row(*(_words(cell) for cell in row), style="bold" if grid.first and place == 0 else "")
    console.print(drawn)


def _bars(bars: Bars, console: Console) -> None:
    top = max((share for _, share in bars.rows), default=0.0) or 1.0
    width = max((len(label) for label, _ in bars.rows), default=0)
    for label, share in bars.rows:
        console.print(Text.assemble(INDENT, _words(label.rjust(width)), f"  {share:7.2%}  {'█' * round(BAR * share / top)}"))
    if bars.rest:
        console.print(Text(f"{INDENT}{'':>{width}}  {bars.rest:7.2%}  (others)"))
