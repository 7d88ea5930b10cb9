"""How far a design may be relied on: what it loses when its prior is wrong, and when plain noise would be better.

*Plain noise* is geometric noise on ω taken at face value, whose loss is known whatever the truth (`comparison.plain_noise`).

Ways of being wrong, each with a size (truths: `comparison.truths`):
`higher`, `lower`   the mean of ω is off by so much of the prior's mean (or of its deviation, where that is larger)
`cells differ`      half of the cells lie so much above and half so much below, the mean is right: overdispersion
`type t more/less`  one type's share p is off by so much of min(p, 1−p), the others keep their proportions
For each the *break-even* is the smallest size at which plain noise loses less than the design; it is rounded towards zero, so that
below it the design is the better one at every size that was tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from discreet.design.comparison.outcome import Outcome, mixed
from discreet.design.comparison.plain_noise import plain_noise
from discreet.design.comparison.truths import ListedWorld, SummedWorld, why_not_known, world
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise
from discreet.model.universe import Universe

__all__ = ["Mistake", "Reliance", "reliance", "why_not_known"]

SIZES = (0.1, 0.25, 0.5)
"""How wrong, as shares of the mean."""
STEEPEST, HALVINGS, CLOSEST = 1e9, 50, 1e-14
"""Of the search for a tilt: the largest, how often it is drawn nearer at most, and which share of the mean it may miss."""
WIDEST = 4.0
"""The largest mistake that a break-even is sought for."""
FINE, FINEST = 2e-2, 1e-4
"""Break-evens are given to a fiftieth of themselves, and no finer than a hundredth of a per cent."""
MOST_TYPES = 6
"""Types whose shares are moved one at a time; of more types, those that carry most of the statistic."""


@dataclass(frozen=True)
class Mistake:
    """One way of being wrong with what it costs at each size, and the size from which plain noise is better (None: none tried)."""

    name: str
    words: str
    points: tuple[tuple[float, Outcome], ...]
    break_even: float | None
    widest: float

    @property
    def worst(self) -> Outcome:
        return max((o for _, o in self.points), key=lambda o: o.loss)


@dataclass(frozen=True)
class Reliance:
    """A design beside plain noise, under its prior and under mistakes about it."""

    own: Outcome
    scale: float
    """What sizes are shares of: the prior's mean of ω, or its deviation."""
    of: str
    plain: float | None
    mistakes: tuple[Mistake, ...]
    noise: str = "geometric"
    """The family of plain noise."""

    @property
    def exact(self) -> bool:
        return all(o.exact for m in self.mistakes for _, o in m.points)

    @property
    def nearest(self) -> Mistake | None:
        """The mistake after which plain noise is soonest better."""
        known = [m for m in self.mistakes if m.break_even is not None]
        return min(known, key=lambda m: m.break_even or 0.0, default=None)

    def at(self, size: float) -> Outcome:
        """The worst outcome among mistakes of one size."""
        return max((o for m in self.mistakes for s, o in m.points if s == size), key=lambda o: o.loss)


def reliance(mechanism: Mechanism, sizes: tuple[float, ...] = SIZES) -> Reliance:
    """Every way of being wrong that is tried, for a mechanism of any route."""
    seen = world(mechanism)
    own = seen.tilted(0.0)
    scale, of = scale_of(seen)
    plain = plain_noise(mechanism.problem)
    noise = "discrete Gaussian" if isinstance(mechanism.problem.promise, ConcentratedPromise) else "geometric"
    if scale == 0:
        return Reliance(own, 0.0, of, plain, (), noise)
    shift = _shifts(seen, own.mean)
    ways: list[tuple[str, str, Callable[[float], Outcome | None]]] = [
        ("higher", f"the {of} is higher", lambda x: shift(own.mean + x * scale)),
        ("lower", f"the {of} is lower", lambda x: shift(own.mean - x * scale)),
        ("cells differ", "half the cells lie above and half below", lambda x: _both(shift, own.mean, x * scale)),
        *_of_types(seen, mechanism.problem),
    ]
    mistakes = tuple(m for m in (_mistake(*way, plain, sizes) for way in ways) if m is not None)
    return Reliance(own, scale, of, plain, mistakes, noise)


def tilt_to(seen: ListedWorld | SummedWorld, mean: float, target: float) -> float | None:
    """θ of the truth whose mean of ω is `target`; None where no tilt has it."""
    if target == mean:
        return 0.0
    up = target > mean
    near, far = 0.0, (1.0 if up else -1.0) / max(1.0, abs(target))
    short, beyond = mean - target, seen.mean_at(far) - target
    while (beyond > 0) != up:
        near, far = far, 2 * far
        if abs(far) > STEEPEST:
            return None
        short, beyond = beyond, seen.mean_at(far) - target
    theta, before = far, 0
    for _ in range(HALVINGS):
        # the line through both ends; an end that stays twice counts half, so that both ends move
        theta = far - beyond * (far - near) / (beyond - short)
        miss = seen.mean_at(theta) - target
        if theta in (near, far) or abs(miss) <= CLOSEST * abs(target):
            break
        if (miss > 0) == up:
            far, beyond, short, before = theta, miss, short / (2 if before > 0 else 1), 1
        else:
            near, short, beyond, before = theta, miss, beyond / (2 if before < 0 else 1), -1
    return theta


def shifted_tilts(seen: ListedWorld | SummedWorld, shares: list[float]) -> list[float]:
    """θ for means that are off by the given shares of the prior's scale; those that no tilt has are left out."""
    mean, (scale, _) = seen.mean_at(0.0), scale_of(seen)
    found = [tilt_to(seen, mean, mean + x * scale) for x in shares]
    return [theta for theta in found if theta is not None]


def scale_of(seen: ListedWorld | SummedWorld) -> tuple[float, str]:
    """What sizes of mistakes are shares of: the mean of ω, or its deviation where the mean is smaller."""
    mean, variance = seen.mean_at(0.0), seen.variance
    return (abs(mean), "mean") if mean**2 > variance else (sqrt(variance), "deviation")


def _shifts(seen: ListedWorld | SummedWorld, mean: float) -> Callable[[float], Outcome | None]:
    """The outcome of the truth with a given mean of ω; None where no truth of this kind has it."""

    @cache  # cells that differ are asked for at the same means as higher and lower ones
    def at(target: float) -> Outcome | None:
        theta = tilt_to(seen, mean, target)
        return None if theta is None else seen.tilted(theta)

    return at


def _both(shift: Callable[[float], Outcome | None], mean: float, by: float) -> Outcome | None:
    up, down = shift(mean + by), shift(mean - by)
    return None if up is None or down is None else mixed([up, down])


def _of_types(seen: ListedWorld | SummedWorld, problem: Problem) -> list[tuple[str, str, Callable[[float], Outcome | None]]]:
    """One type's share more or less than the prior says, for three types and more (with two, this is the mean)."""

    def at(t: int, sign: int) -> Callable[[float], Outcome | None]:
        def outcome(x: float) -> Outcome | None:
            factors = share_moved(problem, t, sign * x)
            return None if factors is None else seen.by_type(factors)

        return outcome

    return [
        (f"type {t} {word}", f"the share of type {t} is {words}", at(t, sign))
        for t in telling_types(problem)
        for sign, word, words in ((1, "more", "larger"), (-1, "less", "smaller"))
    ]


def telling_types(problem: Problem) -> list[int]:
    """The types whose shares are moved one at a time: those that carry most of the statistic, of three types and more."""
    universe = problem.universe
    probabilities = getattr(problem.prior, "probabilities", None)
    if not isinstance(universe, Universe) or probabilities is None or universe.types < 3:
        return []
    weights = problem.statistic.weights(universe) or (1,) * universe.types
    centre = sum(p * w for p, w in zip(probabilities, weights, strict=True))
    order = sorted(range(universe.types), key=lambda t: -probabilities[t] * abs(weights[t] - centre))
    return [t for t in sorted(order[:MOST_TYPES]) if 0 < probabilities[t] < 1]


def share_moved(problem: Problem, t: int, by: float) -> np.ndarray | None:
    """Factors that move type t's share p by `by` times min(p, 1−p), the others in proportion; None beyond 0 and 1."""
    probabilities = getattr(problem.prior, "probabilities", ())
    p = float(probabilities[t])
    share = p + by * min(p, 1 - p)
    if not 0 <= share < 1:
        return None
    factors = np.full(len(probabilities), (1 - share) / (1 - p))
    factors[t] = share / p
    return factors


def _mistake(
    name: str, words: str, at: Callable[[float], Outcome | None], plain: float | None, sizes: tuple[float, ...]
) -> Mistake | None:
    points = [(x, outcome) for x in sizes if (outcome := at(x)) is not None]
    if not points:
        return None
    even, widest = (None, points[-1][0]) if plain is None else _break_even(at, plain, points)
    return Mistake(name, words, tuple(points), even, widest)


def _break_even(
    at: Callable[[float], Outcome | None], plain: float, points: list[tuple[float, Outcome]]
) -> tuple[float | None, float]:
    """The size at which plain noise becomes better, rounded down; and the largest size that was tried."""
    near = 0.0
    tried = [*points]
    x = tried[-1][0]
    while x < WIDEST and tried[-1][1].loss <= plain:
        x = min(2 * x, WIDEST)
        outcome = at(x)
        if outcome is None:
            break
        tried.append((x, outcome))
    for x, outcome in tried:
        if outcome.loss > plain:
            far = x
            break
        near = x
    else:
        return None, near
    while far - near > FINE * far and far > FINEST:
        middle = (near + far) / 2
        outcome = at(middle)
        if outcome is None or outcome.loss > plain:
            far = middle
        else:
            near = middle
    return near, tried[-1][0]
