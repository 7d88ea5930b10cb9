"""What a release costs one unit, from its certified mechanisms.

A unit is in one cell (two if it may move) with at most k rows, so the worst mechanism counts, k times along its edges:

    ε   k·cells times the tight ε of the worst mechanism, rounded up to a millionth and never above its promise
    ρ   k²·cells times the least ρ with D_α ≤ ρα, an upper float: at most ε·tanh(ε/2), below ε²/2

Mechanisms under ρ, or under (ε, δ), cost what they promise, k rows along as many edges (`Promise.over`).

`least_cost` is what is proved here and now; `rounded_up` leaves room for the last digits of another machine's floats, so
that a commitment's cost covers what any verifier computes. References: Bun & Steinke (2016), Props 1.4 and 1.9.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import ceil

from discreet.currencies.domination import dominates
from discreet.currencies.formulas import relative_entropy
from discreet.currencies.joint import Part, envelope_of, known_pair
from discreet.currencies.tight import LOG_BITS, tight_epsilon
from discreet.currencies.zcdp import rho
from discreet.errors import InputError, TooLarge
from discreet.ledger.budget import Cost
from discreet.model.mechanism import Mechanism
from discreet.model.plan import Exposure
from discreet.model.promises import ConcentratedPromise, Promise, PurePromise
from discreet.numerics.brackets import log_bracket

MOST_COMPARED = 20_000_000
"""Outputs times edges up to which a mechanism is looked at edge by edge; beyond that its ε speaks for it."""
MOST_SEARCHED = 1_000_000
"""Outputs times edges, of all mechanisms together, up to which their ρ is searched for."""
NEARLY = Fraction(999_999, 1_000_000)
ROOM = Fraction(1, 10**8)
DIGITS = 10**9
MILLIONTH = 10**6


def least_cost(exposure: Exposure, mechanisms: Collection[Mechanism]) -> Cost:
    """The least cost that is proved here and now."""
    kind = one_kind(mechanisms)
    if kind is not PurePromise:
        each = [mechanism.guarantee.promise for mechanism in mechanisms]
        return Cost.of(exposure.of(kind(**{key: max(promise.numbers[key] for promise in each) for key in kind.keys})))
    epsilon = max(_epsilon(mechanism) for mechanism in mechanisms)
    promises = PurePromise(epsilon), ConcentratedPromise(_rho(mechanisms, epsilon))
    return Cost.of(*(exposure.of(promise) for promise in promises))


def most_cost(exposure: Exposure, promise: Promise) -> Cost:
    """What mechanisms that keep a promise cost at most, before any of them is made."""
    both = (promise, ConcentratedPromise(_of_epsilon(promise.epsilon))) if isinstance(promise, PurePromise) else (promise,)
    return rounded_up(Cost.of(*(exposure.of(each) for each in both)))


def one_kind(mechanisms: Collection[Mechanism]) -> type[Promise]:
    """The kind of promise that all mechanisms make; a release of several kinds has no cost in any one of them."""
    kinds = {type(mechanism.guarantee.promise) for mechanism in mechanisms}
    if len(kinds) != 1:
        raise InputError(
            "The mechanisms of one release make promises of several kinds",
            found=", ".join(sorted(kind.adjective for kind in kinds)) or "no mechanism",
            allowed="one kind",
            remedy="design every cell size under the same kind of promise",
        )
    return kinds.pop()


def rounded_up(cost: Cost) -> Cost:
    """A cost that is no less, and that another machine's floats do not exceed."""
    if not cost.rho or cost.epsilon is None:
        return cost
    roomy, unit = cost.rho * (1 + ROOM), Fraction(1, DIGITS)
    while roomy < unit * DIGITS / 10:
        unit /= 10
    return Cost(cost.epsilon, cost.delta, min(ceil(roomy / unit) * unit, cost.pure**2 / 2))


def part_of(exposure: Exposure, mechanisms: Collection[Mechanism], *, with_pair: bool = False) -> Part:
    """What composition may use of a release: ε of a unit's rows in one cell, in how many cells, and a pair that dominates it.

    Several rows of a unit in one cell are several edges apart, for which no pair is known: only their ε counts.
    """
    if one_kind(mechanisms) is not PurePromise:
        raise InputError(
            "A batch takes only releases that are purely ε-private",
            found=next(iter(mechanisms)).guarantee.promise.brief(),
            allowed="a promise of ε alone",
            remedy="commit each plan alone: the ledger adds up ρ, and a batch would save nothing of it",
        )
    epsilon = exposure.rows * max(_epsilon(mechanism) for mechanism in mechanisms)
    wanted = with_pair and exposure.rows == 1 and all(_comparable(mechanism) for mechanism in mechanisms)
    return Part(epsilon, known_pair(mechanisms, epsilon) if wanted and epsilon else None, exposure.cells)


def part_holds(part: Part, exposure: Exposure, mechanisms: Collection[Mechanism]) -> bool:
    """Whether what was written of a release for composition is true of these mechanisms."""
    mine = part_of(exposure, mechanisms)
    if part.epsilon < mine.epsilon or part.times < mine.times:
        return False
    if part.pair is None:
        return True
    known = exposure.rows == 1 and all(_comparable(mechanism) for mechanism in mechanisms)
    return known and dominates(part.pair, envelope_of(mechanisms))


def _epsilon(mechanism: Mechanism) -> Fraction:
    """The tight ε rounded up to a millionth, or the promised one where that is smaller or nothing tighter is proved."""
    promised = mechanism.guarantee.epsilon
    if not _comparable(mechanism):
        return promised
    ratio = tight_epsilon(mechanism).ratio
    if ratio is None:
        return promised
    return min(promised, Fraction(ceil(log_bracket(ratio, LOG_BITS)[1] * MILLIONTH), MILLIONTH))


def _rho(mechanisms: Collection[Mechanism], epsilon: Fraction) -> Fraction:
    """The least proved ρ of purely private mechanisms: their own, or ε·tanh(ε/2) if they are large or one comes near it."""
    of_epsilon = _of_epsilon(epsilon)
    if not all(_comparable(mechanism) for mechanism in mechanisms) or sum(map(_entries, mechanisms)) > MOST_SEARCHED:
        return of_epsilon
    largest = Fraction(0)
    for mechanism in sorted(mechanisms, key=_entries):
        found = rho(mechanism).upper
        if not found < of_epsilon * NEARLY:
            return of_epsilon
        largest = max(largest, Fraction(found))
    return largest


def _of_epsilon(epsilon: Fraction) -> Fraction:
    """ε·tanh(ε/2), rounded up."""
    return Fraction(relative_entropy(epsilon).upper)


def _comparable(mechanism: Mechanism) -> bool:
    """Whether the mechanism is a table that is small enough to be looked at edge by edge; closed forms are at their ε."""
    if not mechanism.kernel.by_state:
        return False
    try:
        return _entries(mechanism) <= MOST_COMPARED
    except TooLarge:
        return False


def _entries(mechanism: Mechanism) -> int:
    return len(mechanism.outputs) * len(mechanism.space.edges)
