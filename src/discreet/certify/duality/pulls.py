"""What checking a dual witness is made of: the states it speaks about, the pull of its multipliers, safe shortcuts.

The pull of multipliers f at state h is (Gᵀf)_h = q·Σ_{i→h} f − Σ_{h→k} f, over edges that really exist. Minima are
taken in exact arithmetic, but only over the entries that floats cannot rule out (`contenders`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.errors import Refuted, TooLarge
from discreet.frozen import dataclass
from discreet.model.certificate import Multipliers, Recommendation
from discreet.model.priors.weights import ExactWeights
from discreet.model.together import ask
from discreet.numerics.exact import ranked

MARGIN = 1e-9
TINY = 1e-280
LARGEST = Fraction(10**20)
"""Larger numbers could lift what underflow takes above `TINY`: floats then rule nothing out."""
PRIOR_BITS = 160
LONG, KEPT_BITS = 4096, 320
"""A sum whose denominator has more bits than the first grows no longer: what is added to it is rounded down to so many."""
MOST_DIGITS = 4096
"""Binary digits of the scale of multipliers, and of an action: every exact look computes with them."""
MOST_ROUGH = 1 << 30
"""Actions times states of a witness."""
DEAR = 16
"""A piece between two actions takes as long as so many listed actions."""
MOST_EXACT = DEAR << 21
"""Listed actions at states that are looked at exactly."""


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
    numbers = (x for x in (multipliers.action, Fraction(1, scale)) if isinstance(x, Fraction))
    digits = max(x.numerator.bit_length() + x.denominator.bit_length() for x in numbers)
    if digits > MOST_DIGITS:
        raise TooLarge(
            "A witness writes an action or its scale too finely",
            size=f"{digits:,} binary digits",
            fits=f"{MOST_DIGITS:,} binary digits",
            remedy="write it with fewer digits",
        )
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


def columns(pulls: Sequence[Pull], states: int) -> Iterator[np.ndarray]:
    """Pulls of all actions as floats, state by state: most are none, and all at once would take gigabytes."""
    numbers = [np.full(len(pull.at), k) for k, pull in enumerate(pulls)]
    actions = np.concatenate([np.zeros(0, dtype=np.int64), *numbers])
    places = np.array([h for pull in pulls for h in pull.at], dtype=np.int64)
    amounts = np.array([float(part / pull.unit) for pull in pulls for part in pull.at.values()])
    order = np.argsort(places, kind="stable")
    cuts = np.searchsorted(places[order], np.arange(states + 1))
    for here in map(slice, cuts[:-1], cuts[1:]):
        found = np.zeros(len(pulls))
        found[actions[order[here]]] = amounts[order[here]]
        yield found


class Looks:
    """How often actions of one witness may be looked at, in all of its parts together: in floats, and exactly."""

    def __init__(self) -> None:
        self.rough, self.exact = MOST_ROUGH, MOST_EXACT

    def begin(self, actions: int, states: int) -> None:
        """Refuse so many actions at so many states before the first."""
        self.rough -= actions * states
        if self.rough < 0:
            raise TooLarge(
                "A witness has too many actions at too many states",
                size=f"{MOST_ROUGH - self.rough:,}",
                fits=f"{MOST_ROUGH:,} of both together",
                remedy="use fewer actions or states",
            )
        ask(actions * states, MOST_ROUGH)

    def closely(self, actions: int, cost: int = DEAR) -> None:
        """Refuse to look exactly at so many more actions of a state where these were too many."""
        self.exact -= actions * cost
        if self.exact < 0:
            raise TooLarge(
                "Floats cannot tell which actions of a witness are best, and exactly it would take too long",
                size=f"more than {MOST_EXACT // cost:,} actions at states",
                fits=f"{MOST_EXACT // cost:,}",
                remedy="use fewer actions, farther apart",
            )
        ask(actions * cost, MOST_EXACT)


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
