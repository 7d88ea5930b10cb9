"""Who has the time where a crowd and dice promise nearly the same: of each the middle program is solved as it would be.

Promises come from rough trials, and those of dice were up to four per cent too large with a thousand respondents, those of crowds
up to two. What a middle program proves says it within a few parts in a thousand, and takes one of the eight turns that sixteen
programs have on two cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.crowd import CrowdPlan, by_middle_number
from discreet.design.ladder.bounds.dice import Dice, by_middle_tier
from discreet.model.problem import Problem
from discreet.watch import Watch

CLOSE = 1.035
"""Promises that differ by less are not told apart by trials."""
FINAL = 0.15
"""The share of the time that both may take."""

_Final = tuple[Callable[..., float], tuple[Any, ...]]


def decided(
    problem: Problem, crowd: CrowdPlan, dice: Dice, promises: tuple[float, float], loss: float, seconds: float, watch: Watch
) -> tuple[float, float]:
    """What the crowd and the dice promise, again where that is too close to tell; as before where time did not suffice."""
    if not min(promises) * CLOSE > max(promises):
        return promises
    parts: list[_Final] = [(by_middle_number, (problem, crowd, loss)), (by_middle_tier, (problem, dice))]
    found = shared_out(_final, parts, watch, FINAL * seconds, "final", hands=hands_for(seconds), longer=2.0)
    return (found[0], found[1]) if found[0] and found[1] else promises


def _final(part: _Final, watch: Watch) -> float:
    work, asked = part
    return work(*asked, watch)
