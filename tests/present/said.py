"""Which numbers became text while something was told: every text with its exact number and side, and what did not go that way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pytest

from discreet.numerics import digits
from discreet.numerics.digits import Side
from discreet.numerics.exact import exact

Said = tuple[str, Fraction | float, Side]
DECIMAL = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:e[-+]?\d+)?(?![\w.]*[A-Za-z_])|(?<![\w.])\d+e[-+]?\d+")
CURVES = {"delta", "renyi", "tradeoff", "inputs"}
"""Facts that hold points, which look like brackets and are none."""


@contextmanager
def recorded() -> Iterator[list[Said]]:
    """Everything that `numerics.digits` writes meanwhile."""
    found: list[Said] = []
    original = digits.written

    def written(x: Any, side: Side, places: int, *, percent: bool = False) -> str:
        text = original(x, side, places, percent=percent)
        finite = not isinstance(x, float) or abs(x) < float("inf")
        found.append((text, exact(x) if finite else x, side))
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digits, "written", written)
        yield found


def wrong_sides(found: Iterable[Said]) -> list[Said]:
    """Texts that do not lie on their side of the number that they stand for."""
    wrong = []
    for text, x, side in found:
        if isinstance(x, float) or not re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?(?: %)?", text):
            continue
        shown = exact(text.removesuffix(" %")) / (100 if text.endswith("%") else 1)
        right = {Side.ABOVE: shown >= x, Side.BELOW: shown <= x, Side.SAME: shown == x, Side.NEAR: True}[side]
        wrong += [] if right else [(text, x, side)]
    return wrong


def strangers(texts: Iterable[str], found: Iterable[Said], known: Iterable[str] = ()) -> list[str]:
    """Decimals in the texts that no function of `numerics.digits` wrote, and that nobody gave."""
    written = {part for text, _, _ in found for part in DECIMAL.findall(text)} | {
        part for text in known for part in DECIMAL.findall(text)
    }
    return [f"{number} in {text[:120]!r}" for text in texts for number in DECIMAL.findall(text) if number not in written]


def wrong_ends(facts: Any, found: Iterable[Said]) -> list[Said]:
    """Texts that promise the wrong end of a bracket among the facts: a lower end as an upper limit, or the other way round."""
    pairs = list(_brackets(facts))
    lows = {low for low, high in pairs if low != high} - {high for _, high in pairs}
    highs = {high for low, high in pairs if low != high} - {low for low, _ in pairs}
    return [(text, x, side) for text, x, side in found if (side is Side.ABOVE and x in lows) or (side is Side.BELOW and x in highs)]


def _brackets(facts: Any) -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs of ascending numbers in a mapping of facts: [lower, upper]."""
    if isinstance(facts, dict):
        for key, value in facts.items():
            if key not in CURVES:
                yield from _brackets(value)
    elif isinstance(facts, (list, tuple)):
        if len(facts) == 2 and all(isinstance(end, (float, Fraction)) and end == end for end in facts):
            low, high = (exact(end) if abs(end) < 1e300 else Fraction(0) for end in facts)
            if low < high and low.denominator > 1 and high.denominator > 1:
                yield low, high
        for value in facts:
            yield from _brackets(value)
