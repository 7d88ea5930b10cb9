"""Who has the time where crowds and dice promise nearly the same: of each the middle program is solved as it would be.

Promises come from rough trials. Those of dice were up to four per cent too large with a thousand respondents, those of crowds with
dice beside them up to two with twenty. What a middle program proves says it within a few parts in a thousand, and takes one of the
eight turns that sixteen programs have on two cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.frozen import dataclass
from discreet.watch import Watch

CLOSE = 1.05
"""Promises that differ by less are not told apart by trials."""
FINAL = 0.25
"""The share of the time that all may take."""
DOUBTED = 0.985
"""What is believed of a promise whose program was cut off."""


@dataclass(frozen=True)
class Contender:
    """A plan with what it promises, how many programs it has, and what its middle one proves: `work(*asked, seconds, watch)`."""

    plan: Any
    promise: float
    programs: int
    work: Callable[..., float]
    asked: tuple[Any, ...]


def decided(contenders: Sequence[Contender], seconds: float, watch: Watch) -> Any:
    """The plan that promises most, None where none promises anything; by what it proves where that is too close to tell."""
    best, hands = max((one.promise for one in contenders), default=0.0), hands_for(seconds)
    close = [one for one in contenders if one.promise * CLOSE > best > 0]
    if len(close) < 2:
        return close[0].plan if close else None
    given = [(1 - FINAL) * seconds / -(-one.programs // hands) for one in close]  # what each program will have
    parts = [(one.work, (*one.asked, each)) for one, each in zip(close, given, strict=True)]
    found = shared_out(_final, parts, watch, FINAL * seconds, "final", hands=hands, longer=2.0)
    proved = [value or DOUBTED * one.promise for value, one in zip(found, close, strict=True)]
    return close[proved.index(max(proved))].plan


def _final(part: tuple[Callable[..., float], tuple[Any, ...]], watch: Watch) -> float:
    work, asked = part
    return work(*asked, watch)
