"""Pure ε and ρ (zCDP) beside each other: the best under either promise where both say the same in ρ, or in ε at δ = 10⁻⁶.

What is compared are the promises, not what single mechanisms happen to keep beyond them (`discreet profile` says that). The other
promise is designed for at both equals of every level (`design.concentrated.equal_promises`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.design.concentrated.equal_promises import DELTA, PLACES, Equal, equal_levels
from discreet.design.questions.frontier import Frontier, Point, frontier
from discreet.design.routes.order import considered
from discreet.errors import InputError
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, Promise, PurePromise
from discreet.watch import SILENT, Watch


@dataclass(frozen=True, eq=False)
class TwoPromises:
    """The frontier under the problem's promise and the one under the other, with the levels at which they are equal."""

    own: Frontier
    other: Frontier
    equals: tuple[Equal, ...]
    delta: Fraction = DELTA

    @property
    def rows(self) -> list[tuple[Equal, Point, Point, Point]]:
        """Own point, the other promise's at the same ρ and at the same ε; levels that cancelling left out are missing."""
        own, other = ({p.level: p for p in found.points} for found in (self.own, self.other))
        return [
            (e, own[e.level], other[e.same_rho], other[e.same_epsilon])
            for e in self.equals
            if e.level in own and e.same_rho in other and e.same_epsilon in other
        ]


def two_promises(
    problem: Problem,
    levels: Sequence[Fraction],
    watch: Watch = SILENT,
    *,
    own: Frontier | None = None,
    gap: float | None = None,
    seconds: float = 60.0,
    workers: int | None = None,
) -> TwoPromises:
    """Both frontiers, the other promise at both equals of each level; `own` is the problem's where it is known already."""
    other, equals = beside(problem, levels)
    if own is None:
        own = frontier(problem, [e.level for e in equals], watch, gap=gap, seconds=seconds, workers=workers)
    wanted = {level for e in equals for level in (e.same_rho, e.same_epsilon)}
    found = frontier(other, sorted(wanted), watch, gap=gap, seconds=seconds, workers=workers, compare=False)
    return TwoPromises(own, found, equals)


def levels_for(problem: Problem, promises: Sequence[Promise]) -> list[Fraction]:
    """Levels of the problem's promise at which these promises are met: those of its own kind, and both equals of others."""
    found: set[Fraction] = set()
    for promise in promises:
        if promise.kind == problem.promise.kind:
            found.add(promise.level)
        else:
            equal = equal_levels(promise)
            found |= {equal.same_rho, equal.same_epsilon}
    return sorted(found)


def beside(problem: Problem, levels: Sequence[Fraction]) -> tuple[Problem, tuple[Equal, ...]]:
    """The problem under the other promise and the equals of each level; refuses where nothing can be designed for it."""
    if not levels or min(levels) <= 0:
        raise InputError(
            "Promises are compared at levels above 0",
            found=", ".join(map(str, levels)) or "none",
            allowed=f"one or more levels of {problem.promise.letter}",
            remedy="for instance 1/2 and 1",
        )
    equals = tuple(equal_levels(problem.promise.at(level)) for level in sorted(set(levels)))
    least = Fraction(1, PLACES)
    if min(min(e.same_rho, e.same_epsilon) for e in equals) < least:
        raise InputError(
            "This level is too small to be said in the other promise",
            found=problem.promise.at(equals[0].level).brief(),
            allowed="levels whose equals are above 10^-12",
            remedy="leave the smallest level out",
        )
    promise = ConcentratedPromise if isinstance(problem.promise, PurePromise) else PurePromise
    other = problem.with_promise(promise(equals[-1].same_rho))
    considered(other)
    return other, equals
