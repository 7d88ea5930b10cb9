"""Bounds for several decision makers: each is bounded as if he were alone, by whatever proves most for him, and the bounds add up.

All of them see the same output, and nobody does better with it than with the best mechanism for him alone. What is lost is what
they disagree about: errors of one statistic are nearly served by one mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.design.ladder.bounds.rungs import ChainBound, CoinsBound, CrowdBound, GroupedQuotient, Quotient, SetAside, UrnBound
from discreet.design.ladder.mechanisms.rungs import ClippedSum, LineReading
from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.schedule import SHORTEST_RUNG, LadderTime, now
from discreet.model.certificate import SeveralWitness
from discreet.model.problem import Problem

FIRST: tuple[Rung, ...] = (ChainBound(), LineReading(), ClippedSum())
"""These are climbed whatever the time: without them there is nothing to prove."""
LEAST = 1.5 * SHORTEST_RUNG
"""Seconds below which the time is not divided: those with the widest gaps have it."""
BOUNDS: tuple[Rung, ...] = (CoinsBound(), CrowdBound(), SetAside(), UrnBound(), Quotient(), GroupedQuotient())


class EachMaker(Rung):
    """The bounds of the ladder for every decision maker alone, added up (`certify.optimality`)."""

    name = "bounds of each maker"
    theorem = "bounds of each maker"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        if len(problem.decisions) < 2:
            return "there is one decision maker"
        alone = [replace(problem, decisions=(decision,)) for decision in problem.decisions]
        served = any(rung.why_not(one) is None for one in alone for rung in BOUNDS)
        return None if served else "nobody of them alone has another bound than a chain"

    def climb(self, height: Height, seconds: float) -> Found | None:
        ends = now() + seconds
        if not height.makers and 2 * len(height.problem.decisions) * height.begun_in > seconds:
            return None  # the first rungs of every maker would take the time
        if not height.makers:
            height.makers = [self._begun(height, maker) for maker in range(len(height.problem.decisions))]
        widest = sorted(height.makers, key=lambda maker: maker.lower_bound - maker.loss)
        for left, maker in zip(range(len(widest), 0, -1), widest, strict=True):
            _raise(maker, BOUNDS, min(max((ends - now()) / left, LEAST), ends - now()))
        witnesses = [maker.bound.witness for maker in height.makers]
        parts = tuple(w for w in witnesses if w is not None and not isinstance(w, SeveralWitness))
        return Found(lower_bound=sum(maker.lower_bound for maker in height.makers), witness=SeveralWitness(parts))

    def _begun(self, height: Height, maker: int) -> Height:
        alone = Height(replace(height.problem, decisions=(height.problem.decisions[maker],)), height.gap, height.watch)
        for rung in FIRST:
            found = rung.climb(alone, SHORTEST_RUNG)
            if found is not None:
                alone.take(found)
        return alone


def _raise(height: Height, rungs: Sequence[Rung], seconds: float) -> None:
    """Climb as many of these rungs as the time allows."""
    allowance = LadderTime(seconds)
    further = [rung for rung in rungs if height.weights and rung.why_not(height.problem) is None]
    for rung in further:
        if height.enough or height.watch.cancelled() or allowance.left <= rung.least_seconds:
            break
        found = rung.climb(height, allowance.share(rung.name, last=rung is further[-1]))
        if found is not None:
            height.take(found)
