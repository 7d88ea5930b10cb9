"""A rung on both sides at once: the program on likely histograms, for a bound and for a mechanism (`design.program.likely`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import TypeVar

from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.program.likely import MORE_EDGES, box_of, fitting, left_out, likely_bound, likely_kernel, limiting, read_as
from discreet.design.program.listed import LARGEST_SOLVED, SMALLEST_SOLVED
from discreet.design.program.sections import ground
from discreet.design.schedule import Until, is_counted
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.universe import Universe

A = TypeVar("A")
B = TypeVar("B")

FEWEST, MOST = 3_000, 60_000
"""Histograms of a problem: fewer are solved as they are, more are not listed."""
LEAST_SECONDS = 10.0
"""Listing, rounding and writing take some of them whatever the number of states."""
MOST_LEFT = 0.1
"""Of the prior, that a program may leave out."""
MISSED, WASTED = 8.0, 2.5
"""Times what is left out of the prior: by about such shares of the loss the bound is too low, and the mechanism loses too much."""
WORTH = 2e-2
"""What a program must promise, as a share of the loss."""
FOR_SOLVING = 0.85
"""Of the time; the rest is for listing states, rounding and writing."""
SOLVED = 5e-3
"""The relative gap to which a program is solved: so many actions are told apart."""
GROWTH = 1.2
"""It is solved again when the time allows for so many times as many states."""


class LikelyHistograms(Rung):
    """Likely histograms one by one: as a relaxation of all, and as what the others are read as."""

    name = "likely histograms"
    theorem = "SY Prop. 5"
    least_seconds = LEAST_SECONDS

    def why_not(self, problem: Problem) -> str | None:
        if not isinstance(problem.universe, Universe) or not problem.exchangeable or not isinstance(problem.neighbours, ReplaceOne):
            return "histograms of a fixed number of alike respondents are listed"
        if len(problem.decisions) != 1 or not problem.real_actions or not isinstance(problem.decision.loss, SquaredLoss):
            return "it is solved for one squared error with real actions"
        if not SMALLEST_SOLVED <= problem.epsilon <= LARGEST_SOLVED:
            return "ε is too small or too large for floats"
        count = problem.universe.histogram_count
        return None if FEWEST <= count <= MOST else f"from {FEWEST:,} to {MOST:,} histograms are listed"

    def climb(self, height: Height, seconds: float) -> Found | None:
        base = ground(height.problem)
        given = FOR_SOLVING * seconds / (2 if is_counted() else 1)
        above, below = limiting(base, given), fitting(base, given / MORE_EDGES)
        missed, wasted = left_out(base, above), left_out(base, below)
        least = WORTH * height.loss
        bounds = missed < MOST_LEFT and (1 - MISSED * missed) * height.loss > height.lower_bound + least
        serves = wasted < MOST_LEFT and (1 + WASTED * wasted) * height.lower_bound < height.loss - least
        box = box_of(base) if serves else None
        if not (bounds or box) or len(above) < GROWTH * height.listed:
            return None
        height.listed = len(above)
        watch = Until.after(seconds, height.watch)
        limit, kernel = side_by_side(
            (lambda: likely_bound(base, above, SOLVED, watch)) if bounds else None,
            None if box is None else lambda: likely_kernel(read_as(box, below), SOLVED, watch),
        )
        found = Found()
        if limit is not None:
            found = replace(found, lower_bound=limit.lower_bound, witness=limit.witness)
        if kernel is not None and box is not None:
            words = f"program on {len(below):,} likely histograms of {len(base.space):,}"
            found = replace(found, loss=kernel[0], summary=box.summary, kernel=kernel[1], words=words)
        return found


def side_by_side(first: Callable[[], A] | None, second: Callable[[], B] | None) -> tuple[A | None, B | None]:
    """What both give, on a thread each, since both are products of matrices; one after the other where time is counted work."""
    if first is None or second is None or is_counted():
        return None if first is None else first(), None if second is None else second()
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(copy_context().run, second)
        return first(), waiting.result()
