"""Is this finite mechanism (ε, δ)-private? Decided in integers, for both directions of every edge.

    δ_e(x) = Σ_a max(m(a|h) − x·m(a|h′), 0)   on the directed edge e = (h, h′),

and (ε, δ)-DP means δ_e(e^ε) ≤ δ on all of them (DR Def. 1.1.4). δ_e falls in x, so with rationals q⁻ < e^ε < q⁺

    δ_e(q⁻) ≤ δ everywhere proves it,        δ_e(q⁺) > δ somewhere refutes it, by the event {a : m(a|h) > q⁺·m(a|h′)},

and in between more bits are taken. That ends: near e^ε, which is irrational, δ_e is A − x·B with fixed rational A and B, so it
equals a rational δ there only when B = 0, and then q⁻ gives A = δ as well. ε = 0 is its own case, q = 1.

The table is anybody's: non-negative whole weights [output][state] over one denominator, of any kind. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.certify.edges.gaussian import only_concentrated
from discreet.certify.edges.pure import must_be_compared_soon
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import ClosedKernel, CountedKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ApproximatePromise
from discreet.model.together import ask
from discreet.numerics.brackets import exp_bracket
from discreet.numerics.digits import at_least, given
from discreet.numerics.exact import brief

BITS = 64
"""Relative width of the first bracket of e^ε; it doubles until the question is decided."""
MOST_LISTED = 6
"""Outputs of a refuting event that are named."""
MOST_BITS = 4_000_000_000
"""Entries times their length in bits beyond which a closed form is not written out."""


@dataclass(frozen=True)
class WeightTable:
    """Whole weights [output][state]; every state's weights sum to `denominator`. `edges` joins states by position."""

    states: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: Sequence[Sequence[int]]
    denominator: int
    edges: Sequence[tuple[int, int]]

    def __post_init__(self) -> None:
        shaped = len(self.weights) == len(self.outputs) and all(len(row) == len(self.states) for row in self.weights)
        if not shaped or not self.outputs:
            raise InputError(
                "The weights are not one row for each output with one entry for each state",
                found=f"{len(self.weights)} rows",
                allowed=f"{len(self.outputs)} rows of {len(self.states)} weights",
                remedy="complete the weights",
            )
        for state, label in enumerate(self.states):
            column = [row[state] for row in self.weights]
            if min(column) < 0 or sum(column) != self.denominator or self.denominator < 1:
                raise InputError(
                    f"The weights at state {label!r} are no distribution",
                    found=f"a sum of {brief(sum(column))}",
                    allowed=f"whole numbers from 0 that sum to {brief(self.denominator)}",
                    remedy="correct the weights",
                )
        if any(not (0 <= a < len(self.states) and 0 <= b < len(self.states)) or a == b for a, b in self.edges):
            raise InputError(
                "An edge joins states that the table does not have",
                found="a position out of range, or one state twice",
                allowed=f"two different positions from 0 to {len(self.states) - 1}",
                remedy="correct the edges",
            )


@dataclass(frozen=True)
class EdgeLeak:
    """δ of one directed edge at one ε: the truth lies in [low, high]."""

    first: str
    second: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class ApproximateProof:
    """(ε, δ) holds. `ratio` is the rational q ≤ e^ε at which every edge was summed; the tight δ lies in [tight_low, tight_high]."""

    epsilon: Fraction
    delta: Fraction
    ratio: Fraction
    tight_low: Fraction
    tight_high: Fraction
    edge: tuple[str, str] | None
    edges: int
    outputs: int


def approximate_privacy(mechanism: Mechanism, promise: ApproximatePromise) -> PrivacyProof | Counterexample:
    """Is the sum of what e^ε does not cover at most δ on every directed edge of a mechanism?"""
    if not mechanism.kernel.rational:
        return only_concentrated(promise)
    found = approximate(mechanism_table(mechanism), promise.epsilon, promise.delta)
    if isinstance(found, Counterexample):
        return found
    return PrivacyProof(promise, found.tight_low, found.tight_high, found.edge, None, found.edges, found.outputs)


def approximate(table: WeightTable, epsilon: Fraction, delta: Fraction) -> ApproximateProof | Counterexample:
    """A proof that the table is (ε, δ)-private, or the directed edge and the event that break it."""
    _check(epsilon, delta)
    bits = BITS
    while True:
        below, above = exp_bracket(epsilon, bits)
        most, there = _worst(table, below)
        if most <= delta:
            low = _leak(table, there, above) if there is not None else most
            named = None if there is None else (table.states[there[0]], table.states[there[1]])
            return ApproximateProof(epsilon, delta, below, low, most, named, len(table.edges), len(table.outputs))
        least, there = _worst(table, above)
        if least > delta and there is not None:
            return _refuted(table, there, above, least, epsilon, delta)
        bits *= 2


def tight_delta(table: WeightTable, epsilon: Fraction, bits: int = BITS) -> ApproximateProof:
    """The smallest δ at this ε from both sides, with the edge that attains it; exact where no e^ε enters."""
    _check(epsilon, Fraction(0))
    below, above = exp_bracket(epsilon, bits)
    most, there = _worst(table, below)
    low = most if there is None else _leak(table, there, above)
    named = None if there is None else (table.states[there[0]], table.states[there[1]])
    return ApproximateProof(epsilon, most, below, low, most, named, len(table.edges), len(table.outputs))


def edge_leaks(table: WeightTable, epsilon: Fraction, bits: int = BITS) -> list[EdgeLeak]:
    """δ at this ε of every directed edge, in the order of the edges, each one way and then the other."""
    _check(epsilon, Fraction(0))
    below, above = exp_bracket(epsilon, bits)
    return [
        EdgeLeak(table.states[h], table.states[g], _leak(table, (h, g), above), _leak(table, (h, g), below))
        for h, g in _both_ways(table.edges)
    ]


def mechanism_table(mechanism: Mechanism) -> WeightTable:
    """The weights of a mechanism on the states of its summary, with the graph derived from its problem."""
    space, kernel = mechanism.space, mechanism.kernel
    outputs = tuple(output.label for output in mechanism.outputs)
    edges = [(a, b) for a, b in space.edges.tolist()]
    if isinstance(kernel, (ClosedKernel, CountedKernel)):
        _must_be_short(len(outputs), len(space), (len(outputs) + 2) * kernel.ratio.denominator.bit_length())
    elif isinstance(kernel, TableKernel):
        must_be_compared_soon(kernel, len(edges))
    return WeightTable(space.labels, outputs, *mechanism.integer_table(), edges)


def _must_be_short(outputs: int, states: int, bits: int) -> None:
    """Refuse a closed form whose table of rationals with so many bits each is too long."""
    size = outputs * states * bits
    if size > MOST_BITS:
        raise TooLarge(
            "This closed form is too large to be written out exactly",
            size=f"{outputs:,} outputs × {states:,} states",
            fits="about 300 of each",
            remedy="certify its ε, which needs no table, or clip the summary",
        )
    ask(size, MOST_BITS)


def _check(epsilon: Fraction, delta: Fraction) -> None:
    if epsilon < 0 or not 0 <= delta <= 1:
        raise InputError(
            "A promise needs ε from 0 on and δ from 0 to 1",
            found=f"ε = {brief(epsilon)}, δ = {brief(delta)}",
            allowed="ε >= 0, 0 <= δ <= 1",
            remedy="correct them",
        )


def _both_ways(edges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for a, b in edges:
        yield a, b
        yield b, a


def _worst(table: WeightTable, ratio: Fraction) -> tuple[Fraction, tuple[int, int] | None]:
    """The largest leak over directed edges at this ratio; no edge when there is none."""
    best, there = -1, None
    for directed in _both_ways(table.edges):
        found = _excess(table, directed, ratio)
        if found > best:
            best, there = found, directed
    return Fraction(max(best, 0), table.denominator * ratio.denominator), there


def _leak(table: WeightTable, directed: tuple[int, int], ratio: Fraction) -> Fraction:
    return Fraction(_excess(table, directed, ratio), table.denominator * ratio.denominator)


def _excess(table: WeightTable, directed: tuple[int, int], ratio: Fraction) -> int:
    """Σ_a max(d·w(a|h) − n·w(a|h′), 0) for the ratio n/d, in integers."""
    h, g = directed
    up, down = ratio.numerator, ratio.denominator
    total = 0
    for row in table.weights:
        more = row[h] * down - up * row[g]
        if more > 0:
            total += more
    return total


def _refuted(
    table: WeightTable, directed: tuple[int, int], ratio: Fraction, leak: Fraction, epsilon: Fraction, delta: Fraction
) -> Counterexample:
    h, g = directed
    first, second = table.states[h], table.states[g]
    held = [a for a, row in enumerate(table.weights) if row[h] * ratio.denominator > ratio.numerator * row[g]]
    likely = Fraction(sum(table.weights[a][h] for a in held), table.denominator)
    other = Fraction(sum(table.weights[a][g] for a in held), table.denominator)
    event = ", ".join(table.outputs[a] for a in held[:MOST_LISTED])
    more = f" and {len(held) - MOST_LISTED} more" if len(held) > MOST_LISTED else ""
    return Counterexample(
        "privacy",
        f"The outputs {{{event}{more}}} have probability {brief(likely)} at state {first} "
        f"and {brief(other)} at its neighbour {second}",
        edge=(first, second),
        output=table.outputs[held[0]],
        found=f"a δ of at least {at_least(leak, 12)} at ε = {given(epsilon)}",
        allowed=f"a δ of at most {given(delta)} at ε = {given(epsilon)}",
    )
