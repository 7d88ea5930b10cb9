"""Noise that follows counts is proved by finitely many comparisons, whatever the number of respondents.

The kernel publishes s + Z with Z from the table i of the counts of some classes, or of one (`model.counted_kernel`). A neighbour
moves s by d = v_b − v_a, counts in the class of b for one in that of a; with respondents added or removed, by v_b and one more in
the class of b. With P the set of all (i, i′, d) that some neighbours can have,

    f_i(z) ≤ e^ε·f_i′(z − d)  and  f_i′(z − d) ≤ e^ε·f_i(z)    for every z and every (i, i′, d) in P

proves ε; gathering at the ends is post-processing. Where both z and z − d lie within R + 2W they are compared as whole numbers.
Elsewhere both lie beyond R + W, on the same side as |d| ≤ W, where all tables are one staircase, and are one stair apart at
most: a factor of 1/r, which z = R + W and z − d of the next stair show among the comparisons unless d = 0, where they are equal. ∎

P is listed by the counts of all others, who are the same on both sides, one class after the other down the tree of tables
(`model.count_tables`): two places in it, one for each side, and the fewest others who lead there. Counts beyond the last branch of
both places read that branch, with one respondent more or without. P is taken a little large: any others that are fewer than all
respondents, whether or not there are types to make them. So a factor may be one that no database shows; the tight ε then has no
lower side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.certify.edges.closed_forms import Fall, log_words
from discreet.errors import TooLarge
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.count_tables import CountTables
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne
from discreet.model.promises import PurePromise
from discreet.model.together import ask
from discreet.numerics.exact import format_exact

Type = tuple[int, int]
"""The class of a type, from 1, or 0, and its value."""
NOBODY: Type = (0, 0)
MOST_COMPARED = 50_000_000
"""Pairs of probabilities."""
DEAR = 12
"""A pair of places that is listed takes as long, and as much memory, as so many comparisons take time."""
SHORT = 1024
"""Binary digits of a probability that take no longer to compare than fewer."""


@dataclass(frozen=True)
class Move:
    """A respondent of type `first` (None: nobody) becomes one of type `second`, beside others whose counts these are.

    The tables are `here` before and `there` after, and the sum rises by `moved`.
    """

    first: int | None
    second: int
    others: tuple[int, ...]
    here: int
    there: int
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
            "privacy", "The tables of noise differ by too much for this ε to be proved", found=ratio, allowed=allowed
        )
    near, far, output = map(str, found.shown)
    words = f"Output {output} is too much likelier at state {near} than at its neighbour {far}"
    return Counterexample("privacy", words, edge=(near, far), output=output, found=ratio, allowed=allowed)


def steepest(mechanism: Mechanism, kernel: CountedKernel) -> Steepest:
    """The largest factor between any two neighbours."""
    edge, weights = kernel.reach + 2 * kernel.step, mechanism.weighted_sum.weights
    types = [(mark, w % kernel.stride) for mark, w in zip(kernel.marks(weights), weights, strict=True)]
    presence = isinstance(mechanism.problem.neighbours, AddRemoveOne)
    moves: dict[tuple[int, int, int], Move] = {}
    for move in met(types, kernel.counts, mechanism.problem.people.largest, presence=presence):
        moves.setdefault((move.here, move.there, move.moved), move)
    digits = kernel.denominator.bit_length() + kernel.step.bit_length() + 2 * kernel.ratio.denominator.bit_length()
    work = len(moves) * (2 * edge + 1) * (1 + digits // SHORT)
    if work > MOST_COMPARED:
        raise TooLarge(
            "The tables of this kernel are too long to be compared for every pair of neighbours",
            size=f"{len(moves):,} pairs of {2 * edge + 1:,} probabilities of {digits:,} binary digits",
            fits=f"{MOST_COMPARED:,} comparisons of {SHORT:,} binary digits",
            remedy="use fewer tables, a smaller step or shorter numbers",
        )
    ask(work, MOST_COMPARED)
    tables, near = whole_tables(kernel), sorted(range(-edge, edge + 1), key=abs)
    top, bottom, found = 1, 1, None
    for move in moves.values():
        for z in near:
            if abs(z - move.moved) > edge:
                continue
            x, y = tables[move.here][z + edge], tables[move.there][z - move.moved + edge]
            larger, smaller = (x, y) if x >= y else (y, x)
            if larger * bottom > top * smaller:
                top, bottom, found = larger, smaller, (move, z, x >= y)
    shown = None
    if found is not None:
        move, z, falls = found
        pair = _databases(mechanism, kernel, move, z)
        shown = pair if pair is None or falls else (pair[1], pair[0], pair[2])
    return Steepest(top, bottom, shown, len(moves))


def whole_tables(kernel: CountedKernel) -> list[list[int]]:
    """f_i(z) for |z| ≤ R + 2W [table][z], as whole numbers over one denominator."""
    a, b, wide = kernel.ratio.numerator, kernel.ratio.denominator, kernel.step
    stairs = [(b - a) * kernel.tail * b] * wide + [(b - a) * kernel.tail * a] * wide
    return [[*reversed(stairs), *(w * wide * b * b for w in row), *stairs] for row in kernel.weights]


def met(types: Sequence[Type], counts: CountTables, largest: int, *, presence: bool) -> Iterator[Move]:
    """Every move with others from whom it can be made, as few as there may be, as far as tables tell counts apart.

    `types` are (class, value), up to `largest` respondents have them; with `presence` one is added or removed. A move is told the
    way round in which the class does not fall.
    """
    _must_be_few(len(types) if presence else len(types) ** 2)
    ways, places = _ways(types, presence=presence), _Places(counts, largest)
    ask(len(types) ** 2, MOST_COMPARED)
    sides = [(NOBODY if a is None else types[a], types[b]) for a, b in ways]
    moves = sum(len(places.beside(one[0], other[0])) for one, other in sides)
    _must_be_few(moves)
    ask(moves, MOST_COMPARED)
    for (a, b), ((mark, value), (beside, after)) in zip(ways, sides, strict=True):
        for (here, there), others in places.beside(mark, beside).items():
            yield Move(a, b, others, here, there, after - value)


class _Places:
    """The tables that two sides read, by the fewest others with whom they do."""

    def __init__(self, counts: CountTables, largest: int) -> None:
        self.counts, self.largest, self.looks = counts, largest, 0
        self.known: dict[tuple[int, int], dict[tuple[int, int], tuple[int, ...]]] = {}

    def beside(self, one: int, other: int) -> dict[tuple[int, int], tuple[int, ...]]:
        """With one more of a class on one side, and of another on the other; 0 is no class."""
        if (one, other) not in self.known:
            self.known[one, other] = self._found(one, other)
        return self.known[one, other]

    def _found(self, one: int, other: int) -> dict[tuple[int, int], tuple[int, ...]]:
        found: dict[tuple[int, int], tuple[int, ...]] = {(0, 0): ()}
        for asked, (starts, sizes) in enumerate(self.counts.ways, 1):
            _must_be_few(self._more(DEAR * sum(max(sizes[a], sizes[b]) for a, b in found)))
            grown: dict[tuple[int, int], tuple[int, ...]] = {}
            for (a, b), others in found.items():
                for count in range(min(max(sizes[a], sizes[b]), self.largest - sum(others))):
                    here = starts[a] + min(count + (one == asked), sizes[a] - 1)
                    there = starts[b] + min(count + (other == asked), sizes[b] - 1)
                    if (here, there) not in grown or sum(others) + count < sum(grown[here, there]):
                        grown[here, there] = (*others, count)
            found = grown
        return found

    def _more(self, looks: int) -> int:
        """What all looks so far and these take, which are asked for."""
        ask(looks, MOST_COMPARED)
        self.looks += looks
        return self.looks


def _must_be_few(moves: int) -> None:
    """Refuse more than can be listed before the first is."""
    if moves > MOST_COMPARED:
        raise TooLarge(
            "The neighbours of this kernel are too many to be listed",
            size=f"{moves:,} moves",
            fits=f"{MOST_COMPARED:,} moves",
            remedy="use fewer tables or types",
        )


def _ways(types: Sequence[Type], *, presence: bool) -> list[tuple[int | None, int]]:
    """Who becomes whom: the first of all that move the counts and the sum alike."""
    kinds = range(len(types))
    ways: Iterable[tuple[int | None, int]] = ((a, b) for a in kinds for b in kinds if a != b and types[a][0] <= types[b][0])
    if presence:
        ways = ((None, b) for b in kinds)
    found: dict[object, tuple[int | None, int]] = {}
    for a, b in ways:
        mark, value = NOBODY if a is None else types[a]
        found.setdefault((mark, types[b][0], types[b][1] - value), (a, b))
    return list(found.values())


def _databases(mechanism: Mechanism, kernel: CountedKernel, move: Move, z: int) -> tuple[int, int, int] | None:
    """Totals of two databases one move apart, and the output at noise z of the first; None when no pair tried has it inside."""
    weights, universe = mechanism.weighted_sum.weights, mechanism.problem.people
    start = 0 if move.first is None else weights[move.first]
    for others in sorted({universe.smallest, universe.largest - 1} if move.first is None else {universe.largest - 1}):
        for rest in _rests(kernel, weights, move.others, others):
            total = rest + start
            output = total % kernel.stride + z
            if kernel.low < output < kernel.high:
                return total, rest + weights[move.second], output
    return None


def _rests(kernel: CountedKernel, weights: Sequence[int], counted: tuple[int, ...], others: int) -> Iterator[int]:
    """Totals of so many other respondents of whom so many are counted: the rest light, half or all of them heavy."""
    classes: list[list[int]] = [[] for _ in range(kernel.counts.classes + 1)]
    for mark, weight in sorted(zip(kernel.marks(weights), weights, strict=True)):
        classes[mark].append(weight)
    plain, left = classes[0], others - sum(counted)
    if left < 0 or (left > 0 and not plain):
        return
    specials = [(each[:1] + each[-1:] if number else [0]) for each, number in zip(classes[1:], counted, strict=True)]
    for heavy in sorted({0, left // 2, left}):
        light = (left - heavy) * plain[0] + heavy * plain[-1] if left else 0
        for chosen in product(*specials):
            yield sum(number * weight for number, weight in zip(counted, chosen, strict=True)) + light
