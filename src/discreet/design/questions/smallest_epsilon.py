"""The smallest ε that reaches a loss, between two proved sides; and the ε saved against a baseline at equal loss.

L* never rises with ε, so {ε : L*(ε) ≤ target} is a half-line [ε*, ∞). Each probe designs at one ε: a mechanism whose
proved loss is at most the target shows ε* ≤ ε, a proved bound above the target shows ε* > ε. A probe whose two sides
straddle the target says neither and is designed again to a smaller gap. Probes are placed by interpolating log-losses.
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
"""Probed ε are decimals with nine places."""


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
    """The design needs only `reach` for the loss that a baseline has at `epsilon`."""

    baseline: str
    epsilon: Fraction
    loss: float
    reach: Reach

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The smallest part of ε that is enough, from both sides: the first is not, or not known to be; the second is."""
        return (self.reach.below or Fraction(0)) / self.epsilon, self.reach.above / self.epsilon


def smallest_epsilon(
    problem: Problem,
    target: float,
    watch: Watch = SILENT,
    *,
    tolerance: float = 5e-5,
    gap: float = 1e-5,
    seconds: float = 60.0,
    known: tuple[tuple[Fraction, float, float], ...] = (),
    largest: Fraction = Fraction(64),
) -> Reach:
    """The smallest ε at which the optimum loses at most `target`, to a bracket of width `tolerance`·ε.

    `known` holds (ε, lower bound, loss) of points already designed, which begin the bracket.
    """
    if not tolerance > 0:
        raise InputError("The tolerance is a small positive number", found=tolerance, allowed="above 0", remedy="for instance 5e-5")
    search = _Search(problem, target, watch, gap, seconds)
    for epsilon, low, high in known:
        search.learn(epsilon, low, high)
    search.enclose(largest)
    search.narrow(tolerance)
    return search.reach()


def saving(
    problem: Problem,
    baseline: str,
    loss: float,
    watch: Watch = SILENT,
    *,
    tolerance: float = 5e-5,
    gap: float = 1e-5,
    seconds: float = 60.0,
    known: tuple[tuple[Fraction, float, float], ...] = (),
) -> Saving:
    """How little ε the optimum needs to be as good as a baseline is at the problem's ε."""
    found = smallest_epsilon(
        problem,
        loss,
        watch,
        tolerance=tolerance,
        gap=gap,
        seconds=seconds,
        known=known,
        largest=max(problem.epsilon, Fraction(1)) * 4,
    )
    return Saving(baseline, problem.epsilon, loss, found)


class _Search:
    """The bracket: sides (ε, loss estimate); `best` the certified design at its upper end."""

    def __init__(self, problem: Problem, target: float, watch: Watch, gap: float, seconds: float) -> None:
        self.problem, self.target, self.watch, self.gap, self.seconds = problem, target, watch, gap, seconds
        self.below: tuple[Fraction, float] | None = None
        self.above: tuple[Fraction, float] | None = None
        self.best: Design | None = None
        self.probes: list[tuple[Fraction, float, float]] = []
        self.straddled: Fraction | None = None

    def learn(self, epsilon: Fraction, low: float, high: float) -> bool:
        """Move a side of the bracket; False when the probe straddles the target."""
        if high <= self.target:
            if self.above is None or epsilon < self.above[0]:
                self.above, self.best = (epsilon, (low + high) / 2), None
        elif low > self.target:
            if self.below is None or epsilon > self.below[0]:
                self.below = (epsilon, (low + high) / 2)
        else:
            return False
        return True

    def probe(self, epsilon: Fraction) -> bool:
        """Design at one ε, finer while the sides straddle the target."""
        gap = self.gap
        while True:
            found = design(self.problem.with_epsilon(epsilon), self.watch, gap=gap, seconds=self.seconds, compare=False)
            low, high = float(found.lower_bound), float(found.loss)
            self.probes.append((epsilon, low, high))
            self.watch.report(stage=f"ε = {float(epsilon):.6g}", value=-high, bound=-low)
            if self.learn(epsilon, low, high):
                if self.above is not None and self.above[0] == epsilon:
                    self.best = found
                return True
            if gap <= SMALLEST_GAP or self.watch.cancelled():
                self.straddled = epsilon
                return False
            gap = max(gap / 10, SMALLEST_GAP)

    def enclose(self, largest: Fraction) -> None:
        """Both ends of the bracket, by doubling and halving."""
        epsilon = self.problem.epsilon or Fraction(1)
        while self.above is None:
            if self.below is not None:
                epsilon = max(epsilon, 2 * self.below[0])
            if epsilon > largest or self.watch.cancelled():
                raise self._unreachable(min(epsilon, largest))
            if not self.probe(epsilon):
                epsilon = epsilon * 5 / 4
        while self.below is None and not self.watch.cancelled():
            epsilon = self.above[0] / 2
            if epsilon < Fraction(1, 10**6):
                break
            if not self.probe(epsilon):
                break

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
            epsilon = Fraction(round(inside * DIGITS), DIGITS)
            if not low < epsilon < high or not self.probe(epsilon):
                return

    def reach(self) -> Reach:
        """What is proved; the mechanism at the upper end is designed if the bracket began there."""
        assert self.above is not None
        best = self.best
        if best is None:
            best = design(self.problem.with_epsilon(self.above[0]), self.watch, gap=self.gap, seconds=self.seconds, compare=False)
        status = "straddled" if self.straddled is not None else "cancelled" if self.watch.cancelled() else "bracketed"
        return Reach(self.target, None if self.below is None else self.below[0], self.above[0], best, tuple(self.probes), status)

    def _unreachable(self, tried: Fraction) -> InputError:
        nearest = min((high for _, _, high in self.probes), default=float("nan"))
        return InputError(
            "No privacy level tried reaches this loss",
            found=f"target {self.target:.6g}, loss {nearest:.6g} at ε = {float(tried):g}",
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
