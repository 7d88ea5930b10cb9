"""A picture of the gallery: a short script that draws one figure or example and checks the numbers in it by another road.

A script is a file in `pictures`. The first line of its docstring is `REFERENCE: title.`, the rest its caption; `draw()` is the
figure, `numbers()` is what it rests on: each value as the library computes it, beside what it must be (a formula written out in the
script, another route through the library, or digits as a paper prints them). What is listed here is read without running a script.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from types import ModuleType
from typing import TYPE_CHECKING

from discreet.errors import InputError, Refuted
from discreet.numerics.digits import about

if TYPE_CHECKING:
    from discreet.present.figure import Figure

PAPERS = {
    "sy": "Schmutte & Yoder, Information Design for Differential Privacy",
    "bg": "Bailie & Gong, General Inferential Limits via Intervals of Measures",
    "cy": "Cuff & Yu, Differential Privacy as a Mutual Information Constraint",
    "dr": "Notes on Dwork & Roth, The Algorithmic Foundations of Differential Privacy",
}
"""The papers by the first part of a script's name, in the order in which they are shown."""


@dataclass(frozen=True)
class Number:
    """A value of a picture beside what it must be, `within` as much as `by` says how the second was found."""

    words: str
    value: float
    expected: float
    by: str
    within: float = 1e-9

    @property
    def holds(self) -> bool:
        """Whether both agree; not-a-number never does."""
        return abs(self.value - self.expected) <= self.within

    @property
    def shown(self) -> str:
        """The value as people read it: yes or no for what is true or not, 0 for a difference within the tolerance."""
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        return about(self.value, 6) if self.expected or abs(self.value) > self.within else "0"


@dataclass(frozen=True)
class Picture:
    """One script by its name, with its words."""

    name: str
    reference: str
    title: str
    caption: str

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return self.name.partition("-")[0]

    def _script(self) -> ModuleType:
        return import_module(f"discreet.gallery.pictures.{self.name.replace('-', '_')}")

    def draw(self) -> Figure:
        """The figure."""
        drawn: Figure = self._script().draw()
        return drawn

    def numbers(self) -> Sequence[Number]:
        """What the figure rests on."""
        found: Sequence[Number] = self._script().numbers()
        return found

    def check(self) -> Sequence[Number]:
        """The numbers, all of which agree; the first that does not is a counterexample."""
        found = self.numbers()
        for number in found:
            if not number.holds:
                raise Refuted(
                    f"{self.reference}: {number.words} is {number.value!r} and should be {number.expected!r} ({number.by})",
                    counterexample=number,
                )
        return found


@cache
def pictures() -> dict[str, Picture]:
    """Every picture by its name, in the order of the papers and of their numbering."""
    scripts = [file for file in resources.files("discreet.gallery.pictures").iterdir() if re.match(r"[a-z].*\.py$", file.name)]
    found = [_described(file.name[:-3].replace("_", "-"), file.read_text(encoding="utf-8")) for file in scripts]
    order = {paper: place for place, paper in enumerate(PAPERS)}
    return {p.name: p for p in sorted(found, key=lambda p: (order[p.paper], _natural(p.name)))}


def picture(name: str) -> Picture:
    """One picture by its name."""
    known = pictures()
    if name not in known:
        raise InputError("There is no picture of this name", found=name, allowed=sorted(known), remedy="choose one of these")
    return known[name]


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """A name in pieces that sort as people number things."""
    return [(piece.isdigit(), int(piece) if piece.isdigit() else 0, piece) for piece in name.split("-")]


def _described(name: str, text: str) -> Picture:
    head, _, caption = (ast.get_docstring(ast.parse(text)) or "").partition("\n")
    reference, _, title = head.partition(": ")
    return Picture(name, reference, title.rstrip("."), re.sub(r"(?<!\n)\n(?!\n)", " ", caption.strip()))
