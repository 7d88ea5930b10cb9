"""Noise that follows a count is proved by finitely many comparisons, whatever the number of respondents.

The kernel publishes s + Z with Z from table i = min(j, J), j the count of counted types (`model.counted_kernel`). A neighbour moves
s by d = v_b − v_a and j by the difference of both types' marks; with respondents added or removed, by v_b and the mark of b.
With P the set of all (i, i′, d) that some neighbours can have,

    f_i(z) ≤ e^ε·f_i′(z − d)  and  f_i′(z − d) ≤ e^ε·f_i(z)    for every z and every (i, i′, d) in P

proves ε; gathering at the ends is post-processing. Where both z and z − d lie within R + 2W they are compared as whole numbers.
Elsewhere both lie beyond R + W, on the same side as |d| ≤ W, where all tables are one staircase, and are one stair apart at
most: a factor of 1/r, which z = R + W and z − d of the next stair show among the comparisons unless d = 0, where they are equal. ∎

P is taken a little large: counts j from 0 (from 1 where both types are counted) to the number of respondents, whether or not other
types are there to make them. So a factor may be one that no database shows; the tight ε then has no lower side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.certify.edges.closed_forms import Fall, log_words
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.promises import PurePromise
from discreet.numerics.exact import format_exact


@dataclass(frozen=True)
class Move:
    """A respondent of type `first` (None: nobody) becomes one of type `second`; the count rises by `marked`, the sum by `moved`."""

    first: int | None
    second: int
    marked: int
    moved: int


@dataclass(frozen=True)
class Steepest:
    """The largest factor top/bottom between neighbours, where it is shown (both totals and the output), and the pairs compared."""

    top: int
    bottom: int
    shown: tuple[int, int, int] | None
    pairs: int

    @property
    def fall(self) -> Fall:
        """The factor, which is finite."""
        near, far, output = self.shown or (0, 0, 0)
        return Fall(near, far, output, Fraction(self.top, self.bottom), 1)


def counted_privacy(mechanism: Mechanism, kernel: CountedKernel, promise: PurePromise) -> PrivacyProof | Counterexample:
    """A proof of ε, or the neighbours and the output that break it."""
    found, epsilon = steepest(mechanism, kernel), promise.epsilon
    edge = None if found.shown is None else (str(found.shown[0]), str(found.shown[1]))
    output = None if found.shown is None else str(found.shown[2])
    if found.bottom == 0 or found.fall.exceeds(epsilon):
        return refuted(found, f"a log-ratio of at most {format_exact(epsilon)}")
    low, high = found.fall.log()
    least = Fraction(0) if edge is None else low
    return PrivacyProof(promise, least, min(high, epsilon), edge, output, found.pairs, kernel.width, "closed-form")


def refuted(found: Steepest, allowed: str) -> Counterexample:
    """With the edge and output that break the promise, or without when no database is known that shows the factor."""
    ratio = "an infinite ratio" if found.bottom == 0 else log_words(found.fall)
    if found.shown is None:
        return Counterexample(
            "privacy", "The tables of noise differ by too much for this to be proved", found=ratio, allowed=allowed
        )
    near, far, output = map(str, found.shown)
    words = f"Output {output} is too much likelier at state {near} than at its neighbour {far}"
    return Counterexample("privacy", words, edge=(near, far), output=output, found=ratio, allowed=allowed)


def steepest(mechanism: Mechanism, kernel: CountedKernel) -> Steepest:
    """The largest factor between any two neighbours."""
    tables, edge = whole_tables(kernel), kernel.reach + 2 * kernel.step
    top, bottom, shown = 1, 1, None
    seen: set[tuple[int, int, int]] = set()
    types = [divmod(w, kernel.stride) for w in mechanism.weighted_sum.weights]
    presence = isinstance(mechanism.problem.neighbours, AddRemoveOne)
    for move, count in met(types, kernel.most, mechanism.problem.people.largest, presence=presence):
        here, there = min(count, kernel.most), min(count + move.marked, kernel.most)
        if (here, there, move.moved) in seen:
            continue
        seen.add((here, there, move.moved))
        for z in sorted(range(-edge, edge + 1), key=abs):
            if abs(z - move.moved) > edge:
                continue
            x, y = tables[here][z + edge], tables[there][z - move.moved + edge]
            larger, smaller = (x, y) if x >= y else (y, x)
            if larger * bottom > top * smaller:
                top, bottom = larger, smaller
                pair = _databases(mechanism, kernel, move, count, z)
                shown = pair if pair is None or x >= y else (pair[1], pair[0], pair[2])
    return Steepest(top, bottom, shown, len(seen))


def whole_tables(kernel: CountedKernel) -> list[list[int]]:
    """f_i(z) for |z| ≤ R + 2W [count][z], as whole numbers over one denominator."""
    a, b, wide = kernel.ratio.numerator, kernel.ratio.denominator, kernel.step
    stairs = [(b - a) * kernel.tail * b] * wide + [(b - a) * kernel.tail * a] * wide
    return [[*reversed(stairs), *(w * wide * b * b for w in row), *stairs] for row in kernel.weights]


def met(types: Sequence[tuple[int, int]], most: int, largest: int, *, presence: bool) -> Iterator[tuple[Move, int]]:
    """Every move with every count from which it can be made, as far as tables 0..most tell counts apart.

    `types` are (counted or not, value), up to `largest` respondents have them; with `presence` one is added or removed. A move
    is told the way round in which the count does not fall.
    """
    kinds = range(len(types))
    found = [Move(None, b, *types[b]) for b in kinds] if presence else []
    for a, b in [] if presence else [(a, b) for a in kinds for b in kinds if a != b and types[a][0] <= types[b][0]]:
        found.append(Move(a, b, types[b][0] - types[a][0], types[b][1] - types[a][1]))
    for move in found:
        marked = 0 if move.first is None else types[move.first][0]
        for count in range(marked, min(max(most, marked), largest - 1 + marked) + 1):
            yield move, count


def _databases(mechanism: Mechanism, kernel: CountedKernel, move: Move, count: int, z: int) -> tuple[int, int, int] | None:
    """Totals of two databases one move apart, and the output at noise z of the first; None when no pair tried has it inside."""
    weights, universe = mechanism.weighted_sum.weights, mechanism.problem.people
    marked = 0 if move.first is None else weights[move.first] // kernel.stride
    start = 0 if move.first is None else weights[move.first]
    for others in sorted({universe.smallest, universe.largest - 1} if move.first is None else {universe.largest - 1}):
        for rest in _rests(weights, kernel.stride, count - marked, others):
            total = rest + start
            output = total % kernel.stride + z
            if kernel.low < output < kernel.high:
                return total, rest + weights[move.second], output
    return None


def _rests(weights: Sequence[int], stride: int, counted: int, others: int) -> Iterator[int]:
    """Totals of so many other respondents of whom so many are counted: the rest light, half or all of them heavy."""
    plain = sorted(w for w in weights if w < stride)
    special = sorted(w for w in weights if w >= stride)
    left = others - counted
    if left < 0 or (left > 0 and not plain) or (counted and not special):
        return
    for heavy in sorted({0, left // 2, left}):
        for first in special[:1] + special[-1:] if counted else [0]:
            yield counted * first + ((left - heavy) * plain[0] + heavy * plain[-1] if left else 0)
