"""What the pictures of CY share: a conversion as a curve, and the pair of distributions that attains it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import Any

from discreet.currencies.attaining import FinitePair
from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.currencies.conversions import convert
from discreet.currencies.statements import statement
from discreet.gallery.drawing import Points


def converted(source: str, amount: object, target: str, number: str, **asked: Any) -> float:
    """One number of the statement that follows: `converted("epsilon", 1, "kl", "kl")`."""
    named = "epsilon" if source == "epsilon" else source
    return float(convert(statement(source, **{named: str(amount)}), target, **asked).result.numbers[number])


def channel(pair: FinitePair) -> LossChannel:
    """Two inputs, each with its distribution."""
    return channel_from_rows([pair.first, pair.second])


def relative_entropy_of(pair: FinitePair) -> float:
    """D(P‖Q), summed as it is defined."""
    return sum(p * log(p / q) for p, q in zip(pair.first, pair.second, strict=True) if p > 0)


def total_variation_of(pair: FinitePair) -> float:
    """Half of the absolute difference."""
    return sum(abs(p - q) for p, q in zip(pair.first, pair.second, strict=True)) / 2


def along(amounts: Sequence[float], rule: Callable[[float], float]) -> Points:
    """A rule at each amount."""
    return [(amount, rule(amount)) for amount in amounts]


def binary_entropy(p: float) -> float:
    """h(p) in nats."""
    return 0.0 if p in (0.0, 1.0) else -p * log(p) - (1 - p) * log(1 - p)
