"""Views drawn as HTML: for notebooks, with the looks inside, and for pages that bring a style sheet and allow no other.

Words are escaped, moods are classes, nothing is fetched or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from discreet.views.view import Bars, Block, Fact, Grid, Heading, Mood, Sentence

COLOURS = {Mood.GOOD: "#00734d", Mood.BAD: "#a63d00", Mood.MIND: "#7a5900", Mood.SOFT: "#55555f"}
BAR = "#0072b2"
SCROLLS = '<div class="rows" tabindex="0" role="group" aria-label="Table, moves sideways when narrow">'
STYLE = re.compile(r' style="[^"]*"')
SIDES = re.compile(r' style="text-align:(left|right)"')


def html(told: Iterable[Block]) -> str:
    """Every block in order; facts that follow one another are one table."""
    return "".join(
        _facts([b for b in blocks if isinstance(b, Fact)]) if kind is Fact else "".join(map(_block, blocks))
        for kind, blocks in groupby(told, type)
    )


def paged(told: Iterable[Block]) -> str:
    """The same without a word of style, for a page whose policy forbids it: sides are classes, bars are drawn, tables scroll."""
    return "".join(
        "".join(_drawn_bars(b) for b in blocks if isinstance(b, Bars)) if kind is Bars else _unstyled(html(blocks))
        for kind, blocks in groupby(told, type)
    )


def _unstyled(drawn: str) -> str:
    # Text is escaped, so every quotation mark in what was drawn is ours, and so is every style.
    plain = STYLE.sub("", SIDES.sub(r' class="\1"', drawn.replace('<tr style="font-weight:bold">', '<tr class="first">')))
    boxed = plain.replace("<table>", f"{SCROLLS}<table>").replace("</table>", "</table></div>")
    return boxed.replace("<h4>", "<h3>").replace("</h4>", "</h3>")


def _drawn_bars(block: Bars) -> str:
    top = max((share for _, share in block.rows), default=0.0) or 1.0
    rows = "".join(
        f'<tr><td>{escape(label)}</td><td class="right">{share:.2%}</td>'
        f'<td><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * share / top:.1f}" height="8"/></svg></td></tr>'
        for label, share in block.rows
    )
    rest = f"<p>others: {block.rest:.2%}</p>" if block.rest else ""
    head = f'<tr><th scope="col">{escape(block.about)}</th><th scope="col" class="right">probability</th><td></td></tr>'
    return f'{SCROLLS}<table class="bars"><thead>{head}</thead><tbody>{rows}</tbody></table></div>{rest}'


def _block(block: Block) -> str:
    if isinstance(block, Sentence):
        lead = f"{_mooded(block.lead, block.mood)} " if block.lead else ""
        text = escape(block.text) if block.lead else _mooded(block.text, block.mood)
        return f"<p>{lead}{text}</p>" if lead or block.text else ""
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Bars):
        return _bars(block)
    return f"<h4>{escape(block.text)}</h4>" if isinstance(block, Heading) else _facts([block])


def _mooded(text: str, mood: Mood) -> str:
    if mood is Mood.PLAIN:
        return escape(text)
    colour = f' style="color:{COLOURS[mood]}"' if mood in COLOURS else ""
    tag = "span" if mood is Mood.SOFT else "strong"
    return f'<{tag} class="{mood}"{colour}>{escape(text)}</{tag}>'


def _facts(facts: Sequence[Fact]) -> str:
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{_mooded(f.name, f.mood) if f.name else ""}</th>'
        f'<td style="text-align:left">{escape(f.text) if f.name else _mooded(f.text, f.mood)}</td></tr>'
        for f in facts
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _grid(grid: Grid) -> str:
    sides = ["left" if place < grid.left else "right" for place in range(len(grid.heads))]
    heads = "".join(
        f'<th scope="col" style="text-align:{side}">{escape(head)}</th>' for side, head in zip(sides, grid.heads, strict=True)
    )
    strong = ' style="font-weight:bold"'
    rows = "".join(
        f"<tr{strong if grid.first and place == 0 else ''}>"
        + "".join(f'<td style="text-align:{side}">{escape(cell)}</td>' for side, cell in zip(sides, row, strict=True))
        + "</tr>"
        for place, row in enumerate(grid.rows)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _bars(bars: Bars) -> str:
    top = max((share for _, share in bars.rows), default=0.0) or 1.0
    rows = "".join(
        f'<tr><td>{escape(label)}</td><td style="text-align:right">{share:.2%}</td><td style="width:12em">'
        f'<div style="background:{BAR};height:.8em;width:{100 * share / top:.1f}%"></div></td></tr>'
        for label, share in bars.rows
    )
    rest = f"<p>others: {bars.rest:.2%}</p>" if bars.rest else ""
    head = f'<tr><th scope="col">{escape(bars.about)}</th><th scope="col">probability</th><td></td></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{rest}"
