"""The smallest ε (or ρ) that reaches a loss, between two proved sides; and what is saved against a baseline at equal loss.

L* never rises with ε, so {ε : L*(ε) ≤ target} is a half-line [ε*, ∞). Each probe designs at one ε: a mechanism whose
proved loss is at most the target shows ε* ≤ ε, a proved bound above the target shows ε* > ε. A probe whose two sides
straddle the target says neither and is designed again to a smaller gap, as long as that is reached; then both sides are brought
nearer to it by halving. Probes are placed by interpolating log-losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log

from discreet.design.best_mechanism import design
from discreet.design.result import Design
from discreet.errors import InputError
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

SMALLEST_GAP = 1e-8
DIGITS = 10**9
"""Probed levels are decimals with nine places."""
USUAL = {False: (5e-5, 1e-5), True: (1e-2, 1e-3)}
"""Tolerance and gap; unbiased values take a program with means for every probe, whose bound comes near slowly."""
CLOSER, COARSE = 6, 0.01
"""Halvings on either side of a level that straddles, unless they are nearer than this share."""


@dataclass(frozen=True, eq=False)
class Reach:
    """`above` reaches the target by the certified `design`; up to `below` no private mechanism does (None: unknown)."""

    target: float
    below: Fraction | None
    above: Fraction
    design: Design
    probes: tuple[tuple[Fraction, float, float], ...]
    status: str


@dataclass(frozen=True, eq=False)
class Saving:
    """The design needs only `reach` for the loss that a baseline has at `level`."""

    baseline: str
    level: Fraction
    loss: float
    reach: Reach

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The smallest part of it that is enough, from both sides: the first is not, or not known to be; the second is."""
        return (self.reach.below or Fraction(0)) / self.level, self.reach.above / self.level


def smallest_epsilon(
    problem: Problem,
    target: float,
    watch: Watch = SILENT,
    *,
    tolerance: float | None = None,
    gap: float | None = None,
    seconds: float = 60.0,
    known: tuple[tuple[Fraction, float, float], ...] = (),
    largest: Fraction = Fraction(64),
) -> Reach:
    """The smallest level of the problem's promise at which the optimum loses at most `target`, to a share `tolerance` of it.

    `known` holds (level, lower bound, loss) of points already designed, which begin the bracket. By default probes are as fine as
    the problem allows (`USUAL`).
    """
    usual = USUAL[problem.unbiased is not None]
    tolerance, gap = usual[0] if tolerance is None else tolerance, usual[1] if gap is None else gap
    if not tolerance > 0:
        raise InputError("The tolerance is a small positive number", found=tolerance, allowed="above 0", remedy="for instance 5e-5")
    search = _Search(problem, target, watch, gap, seconds)
    for level, low, high in known:
        search.learn(level, low, high)
    search.enclose(largest)
    search.narrow(tolerance)
    search.close_in(tolerance)
    return search.reach()


def saving(
    problem: Problem,
    baseline: str,
    loss: float,
    watch: Watch = SILENT,
    *,
    tolerance: float | None = None,
    gap: float | None = None,
    seconds: float = 60.0,
    known: tuple[tuple[Fraction, float, float], ...] = (),
) -> Saving:
    """How little the optimum needs to be as good as a baseline is at the problem's own level."""
    found = smallest_epsilon(
        problem,
        loss,
        watch,
        tolerance=tolerance,
        gap=gap,
        seconds=seconds,
        known=known,
        largest=max(problem.promise.level, Fraction(1)) * 4,
    )
    return Saving(baseline, problem.promise.level, loss, found)


class _Search:
    """The bracket: sides (level, loss estimate); `best` the certified design at its upper end."""

    def __init__(self, problem: Problem, target: float, watch: Watch, gap: float, seconds: float) -> None:
        self.problem, self.target, self.watch, self.gap, self.seconds = problem, target, watch, gap, seconds
        self.letter = problem.promise.letter
        self.below: tuple[Fraction, float] | None = None
        self.above: tuple[Fraction, float] | None = None
        self.best: Design | None = None
        self.probes: list[tuple[Fraction, float, float]] = []
        self.straddled: Fraction | None = None

    def learn(self, level: Fraction, low: float, high: float) -> bool:
        """Move a side of the bracket; False when the probe straddles the target."""
        if high <= self.target:
            if self.above is None or level < self.above[0]:
                self.above, self.best = (level, (low + high) / 2), None
        elif low > self.target:
            if self.below is None or level > self.below[0]:
                self.below = (level, (low + high) / 2)
        else:
            return False
        return True

    def probe(self, level: Fraction) -> bool:
        """Design at one level, finer while the sides straddle the target and a finer design is to be had."""
        gap = self.gap
        while True:
            found = design(self.problem.with_level(level), self.watch, gap=gap, seconds=self.seconds, compare=False)
            low, high = float(found.lower_bound), float(found.loss)
            self.probes.append((level, low, high))
            self.watch.report(stage=f"{self.letter} = {float(level):.6g}", value=-high, bound=-low)
            if self.learn(level, low, high):
                if self.above is not None and self.above[0] == level:
                    self.best = found
                return True
            if gap <= SMALLEST_GAP or found.relative_gap > gap or self.watch.cancelled():
                self.straddled = level
                return False
            gap = max(gap / 10, SMALLEST_GAP)

    def enclose(self, largest: Fraction) -> None:
        """Both ends of the bracket, by doubling and halving."""
        level = self.problem.promise.level or Fraction(1)
        while self.above is None:
            if self.below is not None:
                level = max(level, 2 * self.below[0])
            if level > largest or self.watch.cancelled():
                raise self._unreachable(min(level, largest))
            if not self.probe(level):
                level = level * 5 / 4
        while self.below is None and not self.watch.cancelled():
            level = min(self.straddled or self.above[0], self.above[0]) / 2
            if level < Fraction(1, 10**6):
                break
            self.probe(level)

    def narrow(self, tolerance: float) -> None:
        """Interpolate, then place the probe a little beyond the estimate, on the side where the bracket is wider."""
        while self.below is not None and self.above is not None and not self.watch.cancelled():
            (low, at_low), (high, at_high) = self.below, self.above
            width = tolerance * float(high)
            if float(high - low) <= width:
                return
            guess = _between(float(low), at_low, float(high), at_high, self.target)
            nudge = max(0.4 * width, 0.02 * min(guess - float(low), float(high) - guess))
            wider = float(high) - guess > guess - float(low)
            step = guess + nudge if wider else guess - nudge
            inside = min(max(step, float(low) + 0.3 * width), float(high) - 0.3 * width)
            level = Fraction(round(inside * DIGITS), DIGITS)
            if not low < level < high or not self.probe(level):
                return

    def close_in(self, tolerance: float) -> None:
        """Where a level straddles, halve towards it from above and from below: each side is proved for itself."""
        straddled = self.straddled
        for side in ("above", "below"):
            between = straddled
            for _ in range(CLOSER):
                found = getattr(self, side)
                if between is None or found is None or self.watch.cancelled():
                    break
                if abs(float(found[0] - between)) <= max(tolerance, COARSE) * float(between):
                    break
                level = (found[0] + between) / 2
                if not self.probe(level):
                    between = level

    def reach(self) -> Reach:
        """What is proved; the mechanism at the upper end is designed if the bracket began there."""
        assert self.above is not None
        best = self.best
        if best is None:
            best = design(self.problem.with_level(self.above[0]), self.watch, gap=self.gap, seconds=self.seconds, compare=False)
        status = "straddled" if self.straddled is not None else "cancelled" if self.watch.cancelled() else "bracketed"
        return Reach(self.target, None if self.below is None else self.below[0], self.above[0], best, tuple(self.probes), status)

    def _unreachable(self, tried: Fraction) -> InputError:
        nearest = min((high for _, _, high in self.probes), default=float("nan"))
        return InputError(
            "No privacy level tried reaches this loss",
            found=f"target {self.target:.6g}, loss {nearest:.6g} at {self.letter} = {float(tried):g}",
            allowed="a target above the loss under full information",
            remedy="ask for a larger loss",
        )


def _between(low: float, at_low: float, high: float, at_high: float, target: float) -> float:
    """Where the log-loss through two points meets the target, kept inside."""
    if min(at_low, at_high, target) <= 0:
        share = (at_low - target) / (at_low - at_high) if at_low > at_high else 0.5
    else:
        share = (log(at_low) - log(target)) / (log(at_low) - log(at_high)) if at_low > at_high else 0.5
    return low + min(max(share, 0.02), 0.98) * (high - low)
