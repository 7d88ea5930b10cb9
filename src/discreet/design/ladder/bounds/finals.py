"""Who has the time where crowds and dice promise nearly the same: of each the middle program is solved as it would be.

Promises come from rough trials. Those of dice were up to four per cent too large with a thousand respondents, those of crowds with
dice beside them up to two with twenty. What a middle program proves says it within a few parts in a thousand, and takes one of the
eight turns that sixteen programs have on two cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.design.crew.shared_out import hands_for, shared_out
from discreet.design.ladder.bounds.crowd import CrowdPlan, by_middle_number
from discreet.design.ladder.bounds.dice import Dice, by_middle_tier
from discreet.model.problem import Problem
from discreet.watch import Watch

CLOSE = 1.05
"""Promises that differ by less are not told apart by trials."""
FINAL = 0.25
"""The share of the time that all may take."""
DOUBTED = 0.97
"""What is believed of a promise whose program was cut off."""

Plan = CrowdPlan | Dice
_Final = tuple[Callable[..., float], tuple[Any, ...]]


def decided(problem: Problem, plans: Sequence[tuple[float, Plan]], loss: float, seconds: float, watch: Watch) -> Plan | None:
    """The plan that promises most, none where none promises anything; by what it proves where that is too close to tell."""
    best = max((promise for promise, _ in plans), default=0.0)
    close = [(promise, plan) for promise, plan in plans if promise * CLOSE > best > 0]
    if len(close) < 2:
        return close[0][1] if close else None
    parts = [_asked(problem, plan, loss, (1 - FINAL) * seconds / plan.turns(hands_for(seconds))) for _, plan in close]
    found = shared_out(_final, parts, watch, FINAL * seconds, "final", hands=hands_for(seconds), longer=2.0)
    proved = [value or DOUBTED * promise for value, (promise, _) in zip(found, close, strict=True)]
    return close[proved.index(max(proved))][1]


def _asked(problem: Problem, plan: Plan, loss: float, given: float) -> _Final:
    """The work of the middle program, in as much time as each will have."""
    asked = (problem, plan, loss) if isinstance(plan, CrowdPlan) else (problem, plan)
    return (by_middle_number if isinstance(plan, CrowdPlan) else by_middle_tier, (*asked, given))


def _final(part: _Final, watch: Watch) -> float:
    work, asked = part
    return work(*asked, watch)
