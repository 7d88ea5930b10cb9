"""A view: what one result says, once for a program and once for a person.

`facts` is a mapping that becomes one JSON object; `told` is the same as blocks of words, which a terminal, a page and a notebook
draw each in its own way. Words are plain text: whoever draws them escapes what would be markup there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mood(StrEnum):
    """How a word is meant; a terminal shows it as a colour, a page as a class."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    MIND = "mind"
    SOFT = "soft"


@dataclass(frozen=True)
class Sentence:
    """A sentence, perhaps with a word before it that says how it is meant; `whole` ones hold something to be copied."""

    text: str
    lead: str = ""
    mood: Mood = Mood.PLAIN
    whole: bool = False


@dataclass(frozen=True)
class Fact:
    """A name and what stands beside it; facts that follow one another share their columns. The mood is that of the name, if any."""

    name: str
    text: str
    mood: Mood = Mood.PLAIN
    whole: bool = False


@dataclass(frozen=True)
class Grid:
    """Columns with heads; the first `left` of them hold words, the others numbers. `first` sets the first row apart."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    left: int = 1
    first: bool = False


@dataclass(frozen=True)
class Bars:
    """Labels with their shares, drawn as bars; `rest` is the share of what is not listed."""

    rows: Sequence[tuple[str, float]]
    about: str = ""
    rest: float = 0.0


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    text: str


Block = Sentence | Fact | Grid | Bars | Heading

BREAK = Sentence("")
"""An empty line."""


@dataclass(frozen=True)
class View:
    """Facts for a program, blocks for a person; `holds` is False when a claim was refuted."""

    facts: Mapping[str, Any]
    told: tuple[Block, ...]
    holds: bool = True

    def __add__(self, other: View) -> View:
        """Both, one after the other."""
        return View({**self.facts, **other.facts}, (*self.told, *other.told), self.holds and other.holds)


def told(facts: Mapping[str, Any], *blocks: Block) -> View:
    """A view of a few blocks."""
    return View(facts, blocks)


def proved(text: str) -> Sentence:
    """What was proved."""
    return Sentence(text, "Proved:", Mood.GOOD)


def mind(text: str) -> Sentence:
    """What a reader must mind."""
    return Sentence(text, "Mind:", Mood.MIND)
