"""What checking a dual witness is made of: the states it speaks about, the pull of its multipliers, safe shortcuts.

The pull of multipliers f at state h is (Gᵀf)_h = q·Σ_{i→h} f − Σ_{h→k} f, over edges that really exist. Minima are
taken in exact arithmetic, but only over the entries that floats cannot rule out (`contenders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import Refuted
from discreet.frozen import dataclass
from discreet.model.certificate import Multipliers, Recommendation
from discreet.model.priors.weights import ExactWeights
from discreet.numerics.exact import ranked

MARGIN = 1e-9
TINY = 1e-280
LARGEST = Fraction(10**20)
"""Larger numbers could lift what underflow takes above `TINY`: floats then rule nothing out."""
PRIOR_BITS = 160
LONG, KEPT_BITS = 4096, 320
"""A sum whose denominator has more bits than the first grows no longer: what is added to it is rounded down to so many."""


@dataclass(frozen=True)
class PullStage:
    """Prior mass and statistic of the finest states; `inside` maps states of the box to them, `edges` joins those."""

    masses: Sequence[Fraction] | ExactWeights
    omegas: tuple[Fraction, ...]
    inside: list[int]
    edges: frozenset[tuple[int, int]]

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """What the statistic takes, ascending."""
        return ranked(self.omegas)[0]


@dataclass(frozen=True)
class Pull:
    """(Gᵀf_a)_h of one action by state of the box, in parts of `unit`; states that are not listed have none."""

    action: Recommendation
    at: Mapping[int, Fraction | int]
    unit: int = 1

    @property
    def exact(self) -> dict[int, Fraction]:
        """The pulls themselves."""
        return {h: self.exactly(h) for h in self.at}

    def exactly(self, state: int) -> Fraction:
        """The pull at one state: there are millions, and few of them are needed as fractions."""
        return Fraction(self.at.get(state, 0)) / self.unit


def pull_of(multipliers: Multipliers, edges: frozenset[tuple[int, int]], scale: int, factor: Fraction) -> Pull:
    """The pull of one action's multipliers; refutes those that stand where no edge is."""
    into: dict[int, int] = {}
    out: dict[int, int] = {}
    for start, end, flow in multipliers.flows:
        if (min(start, end), max(start, end)) not in edges or flow < 0:
            raise Refuted("the witness puts a multiplier where no edge is", f"states {start} and {end}")
        into[end] = into.get(end, 0) + flow
        out[start] = out.get(start, 0) + flow
    top, bottom = factor.numerator, factor.denominator
    pulls = {h: top * into.get(h, 0) - bottom * out.get(h, 0) for h in into.keys() | out.keys()}
    return Pull(multipliers.action, pulls, bottom * scale)


def dense(pulls: Sequence[Pull], states: int) -> np.ndarray:
    """Pulls as floats [action, state]."""
    found = np.zeros((len(pulls), states))
    for row, pull in zip(found, pulls, strict=True):
        row[list(pull.at)] = [float(part / pull.unit) for part in pull.at.values()]
    return found


def contenders(rough: np.ndarray, size: float) -> list[int]:
    """Entries that may be the least: floats leave out only what is above it by far more than they can err.

    Each entry is a sum of a few terms of at most `size` with a relative error below 10^-14. What floats cannot tell
    (NaN) is kept.
    """
    known = np.where(np.isnan(rough), -np.inf, rough)
    finite = known[np.isfinite(known)]
    if not len(finite) or not np.isfinite(size):
        return list(range(len(rough)))
    return np.flatnonzero(known <= finite.min() + MARGIN * size + TINY).tolist()


def rounded(mass: Fraction) -> Fraction:
    """The mass rounded down to 2^−B: it multiplies regrets ≥ 0, so the bound only gets lower."""
    return Fraction(rounded_parts(mass), 1 << PRIOR_BITS)


def rounded_parts(mass: Fraction) -> int:
    """The same, counted in parts of 2^−B."""
    return (mass.numerator << PRIOR_BITS) // mass.denominator


def added(total: Fraction, least: Fraction) -> Fraction:
    """What states lose at least, and one state more: exact while that is short, from below where it would grow with every state."""
    if total.denominator.bit_length() > LONG:
        least = Fraction((least.numerator << KEPT_BITS) // least.denominator, 1 << KEPT_BITS)
    return total + least
