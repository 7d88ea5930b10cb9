"""The frontier, viewed: the least loss at each ε (or ρ) between proved sides, and the level that is enough for a loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.design.questions.frontier import Frontier
from discreet.design.questions.smallest_epsilon import Reach, Saving
from discreet.numerics.digits import (
    about,
    at_least,
    at_most,
    given,
    number_at_least,
    number_at_most,
    percent_at_least,
    percent_at_most,
)
from discreet.views.view import Block, Grid, Sentence, View, mind

BESIDE = ("geometric", "staircase", "best oblivious", "discrete gaussian", "discrete gaussian at face value")


def frontier_view(found: Frontier, saved: Saving | None = None, reached: Reach | None = None) -> View:
    """A row for each level of the problem's promise; then what is saved against a baseline and what a target needs."""
    key = found.problem.promise.keys[0]
    facts: dict[str, Any] = {
        "points": [
            {
                key: p.level,
                f"{key}_number": float(p.level),
                "value": number_at_least(p.value),
                "bound": number_at_most(p.bound),
                "loss": number_at_most(-p.value),
                "lower_bound": number_at_least(-p.bound),
                "relative_gap": p.relative_gap,
                "designed_at": p.designed,
                "bound_proved_at": p.proved,
                "seconds": p.seconds,
                "baselines": {name: b.loss for name, b in p.baselines.items()},
            }
            for p in found.points
        ],
        "not_convex_at": [list(bend.levels) for bend in found.bends],
        "seconds": found.seconds,
    }
    if saved is not None:
        facts["saving"] = {
            "baseline": saved.baseline,
            "loss": saved.loss,
            key: saved.level,
            "share": [number_at_least(saved.share[0]), number_at_most(saved.share[1])],
            **_reach(saved.reach),
        }
    if reached is not None:
        facts["target"] = {"loss": reached.target, **_reach(reached)}
    return View(facts, tuple(_told(found, saved, reached)))


def _reach(reach: Reach) -> dict[str, Any]:
    return {
        "enough": number_at_most(reach.above),
        "between": [reach.below, reach.above],
        "loss_reached": number_at_most(reach.design.loss),
        "probes": len(reach.probes),
        "status": reach.status,
    }


def _told(found: Frontier, saved: Saving | None, reached: Reach | None) -> Iterator[Block]:
    letter = found.problem.promise.letter
    losses = [{name: b.loss for name, b in p.baselines.items()} for p in found.points]
    shown = [name for name in BESIDE if all(at.get(name) is not None for at in losses)]
    rows = [
        (
            given(p.level),
            at_most(-p.value),
            at_least(-p.bound),
            at_most(p.relative_gap, 1),
            *(about(at[n] or 0.0, 5) for n in shown),
        )
        for p, at in zip(found.points, losses, strict=True)
    ]
    yield Grid((letter, "least loss at most", "at least", "gap", *shown), rows, left=0)
    if saved is not None:
        reach = saved.reach
        yield Sentence(
            f"Saved: the loss {about(saved.loss, 6)} of {saved.baseline} at {letter} = {given(saved.level)} is reached at "
            f"{letter} = {at_most(reach.above)} {_between(reach, letter)}; {saved_words(saved, letter)}."
        )
    if reached is not None:
        yield Sentence(
            f"Target: for a loss of {given(reached.target)} {letter} = {at_most(reached.above)} is enough "
            f"{_between(reached, letter)}."
        )
    if found.bends:
        low, _, high = found.bends[0].levels
        yield mind(
            f"the curve is proved not convex between {letter} = {given(low)} and {given(high)}, so halving {letter} does not halve "
            "the gain."
        )


def saved_words(saved: Saving, letter: str) -> str:
    """How much of the baseline's ε or ρ is enough: never more than what is proved."""
    low, high = saved.share
    if saved.reach.below is None:
        return f"{percent_at_most(high)} of that {letter} is enough"
    return f"the least that is enough is between {percent_at_least(low)} and {percent_at_most(high)} of that {letter}"


def _between(reach: Reach, letter: str) -> str:
    """What is known about the smallest level, on both sides."""
    if reach.below is None:
        return "(a certified mechanism stands there)"
    return f"(a certified mechanism stands there; proved: none at {letter} = {at_least(reach.below)})"
