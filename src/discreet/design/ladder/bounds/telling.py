"""What boxes tell, in floats: which types stay unknown, the likeliest states of so many players, and what that keeps.

Unknown are the likeliest type, two to five types farthest from it, and perhaps one respondent of a type about half way. The
counts of rare types under a Dirichlet have long tails in each direction, and are seldom large together. So multipliers stand
between the likeliest states alone, in a box that is as wide as these: the others count as no loss. There is a program for each of a
few numbers of players, the references; the law of a number between two of them is nearly a mean of theirs, so that both serve it
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, log

import numpy as np

from discreet.certify.bounds.boxes import MOST_IN_ALL, SHARES, must_be_told_soon
from discreet.certify.bounds.urn import Urn
from discreet.design.pace import pace
from discreet.design.schedule import box_seconds, states_within
from discreet.design.solver.program import Floats, Integers
from discreet.errors import TooLarge
from discreet.frozen import dataclass
from discreet.model.certificate import BoxPart
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem

FEWEST_STATES, MOST_KEPT = 60, 4_000
HALFWAY = Fraction(9, 20)
"""Where the type lies of which one respondent is unknown, as a share of the farthest step (as with dice)."""
BETWEEN = Fraction(1, 4), Fraction(3, 5)
"""Where one lies that is taken because its number is as likely to be odd."""
FEWEST_FAR, MOST_FAR = 2, 5
"""How many types are far."""
OUTSIDE, BEYOND = 2e-2, 0.08
"""The probability of fewer players than any reference, for one program and in inverse proportion to their number, and of more."""
DEARER = 2.0
"""States that are left out cost so many times what their probability says: those next to them lose, too."""
LEAST_FELT, LEAST_BORNE = 0.2, 0.8
LOOKS = 24
"""Numbers of players between two references for which their shares are looked at."""


def choices(law: Urn) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Faces and pair types that may be best."""
    types = [t for t, c in enumerate(law.contents) if c]
    base = max(types, key=lambda t: law.contents[t])
    apart = [abs(v - law.values[base]) for v in law.values]
    sides = [[t for t in types if sign * (law.values[t] - law.values[base]) > 0] for sign in (1, -1)]
    beyond = sorted(max(sides, key=lambda side: max((apart[t] for t in side), default=0)), key=lambda t: -apart[t])
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for far in range(FEWEST_FAR, MOST_FAR + 1):
        faces, inner = tuple(beyond[:far]), beyond[far:]
        if len(faces) == far:
            found.append(((base, *faces), ()))
            found += [((base, *faces), (t,)) for t in _middle(law, inner, apart)]
    return found


def _middle(law: Urn, inner: Sequence[int], apart: Sequence[Fraction]) -> list[int]:
    """Types about half way: the nearest to it, and the one of which an odd number is as likely as the even one below it."""
    most = max(apart)
    nearest = sorted(inner, key=lambda t: abs(apart[t] - HALFWAY * most))[:1]
    about = [t for t in inner if BETWEEN[0] * most <= apart[t] <= BETWEEN[1] * most]
    even = sorted(about, key=lambda t: abs(log(law.contents[t])))[:1]
    return list(dict.fromkeys(nearest + even))


@dataclass(frozen=True)
class Box:
    """Windows of a part, its reference, which of its states are kept, the sums of their counts, ascending, and their share."""

    windows: tuple[tuple[int, int], ...]
    reference: int
    kept: tuple[int, ...]
    sums: tuple[int, ...]
    share: float

    @property
    def felt(self) -> float:
        """The share of what all states would prove, about."""
        return max(1 - DEARER * (1 - self.share), LEAST_FELT)

    @property
    def borne(self) -> float:
        """The same for a promise, which grows no faster than its share where that is small."""
        return min(self.share, max(self.felt, LEAST_BORNE))

    def part(self, players: tuple[int, int]) -> BoxPart:
        """The part of a witness without its multipliers."""
        return BoxPart(self.windows, players, self.reference, 1, ())


@dataclass(frozen=True)
class Telling:
    """What is told where these types are not, in floats."""

    law: Urn
    faces: tuple[int, ...]
    pairs: tuple[int, ...]

    @property
    def far(self) -> int:
        """How many types are far."""
        return len(self.faces) - 1

    def _h(self, *types: int) -> Floats:
        """Logarithms of h of 0, 1, …, N for these types together (`certify.bounds.boxes`)."""
        content = float(sum((self.law.contents[t] for t in types), Fraction(0)))
        k = np.arange(self.law.respondents)
        return np.concatenate([[0.0], np.cumsum(np.log((content + k) / (k + 1)) if content else np.full(len(k), -np.inf))])

    @cached_property
    def _known(self) -> Floats:
        return self._h(*(t for t in range(len(self.law.contents)) if t not in self.faces and t not in self.pairs))

    @cached_property
    def _whole(self) -> float:
        return float(self._h(*range(len(self.law.contents)))[-1])

    def _told(self, odd: Sequence[int] | None) -> Floats:
        """By players, the logarithm of what may be told, pair types being odd or not as given, or as is less likely."""
        total, most = np.exp(self._known - (top := float(self._known.max()))), top
        for place, g in enumerate(self.pairs):
            own = self._h(g)
            even = np.minimum(own[:-1:2], own[1::2]) if odd is None else own[odd[place] :: 2]
            spread = np.zeros(len(total))
            spread[: 2 * len(even) : 2] = np.exp(even - (top := float(even.max())))
            total, most = np.convolve(total, spread)[: len(total)], most + top
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(total)[::-1] + most - self._whole)

    @cached_property
    def chances(self) -> Floats:
        """The probability of each number of players."""
        together, found = self._h(*self.faces), np.zeros(self.law.respondents + 1)
        for odd in product((0, 1), repeat=len(self.pairs)):
            shift = sum(odd)
            found[shift:] += np.exp(self._told(odd)[shift:] + together[: len(together) - shift])
        return found

    @cached_property
    def least(self) -> Floats:
        """What is told by players, pairs as the less likely of two."""
        return self._told(None)

    def references(self, number: int) -> list[int]:
        """About so many numbers of players that may be (not all may, where only pairs are told), evenly between few and many."""
        below, possible = np.cumsum(self.chances) / self.chances.sum(), np.flatnonzero(self.chances)
        first, last = np.searchsorted(below, (OUTSIDE / number, 1 - BEYOND))
        nearest = np.searchsorted(possible, np.linspace(first, max(first, last), number).round())
        return sorted(set(possible[np.minimum(nearest, len(possible) - 1)].tolist()))

    def box(self, players: int, states: int) -> Box:
        """The likeliest states of so many players."""
        own, found, chance = self._h(self.faces[0])[: players + 1], np.zeros((1, 0), dtype=np.int64), np.zeros(1)
        for t in (*self.faces[1:], *self.pairs):
            table = np.zeros(2) if t in self.pairs else self._h(t)[: players + 1]
            before, more = _likeliest(chance, players - found.sum(axis=1), table, own, states)
            found, chance = np.column_stack([found[before], more]), chance[before] + table[more]
        chance = chance + own[players - found.sum(axis=1)]
        first, last, sums = found.min(axis=0), found.max(axis=0), np.unique(found.sum(axis=1))
        wide = len(self.faces) - 1
        first[wide:], last[wide:] = 0, 1
        kept = np.ravel_multi_index(tuple((found - first).T), tuple(last - first + 1))
        windows = tuple(zip(first[:wide].tolist(), last[:wide].tolist(), strict=True))
        share = float(np.exp(chance - self.whole[players]).sum())
        return Box(windows, players, tuple(sorted(kept.tolist())), tuple(sums.tolist()), share)

    @cached_property
    def whole(self) -> Floats:
        """By players, the logarithm of the sum of the law of their counts over all of these."""
        together, found = self._h(*self.faces), np.full(self.law.respondents + 1, -np.inf)
        for odd in product((0, 1), repeat=len(self.pairs)):
            shift = sum(odd)
            found[shift:] = np.logaddexp(found[shift:], together[: len(together) - shift])
        return found

    def worth(self, boxes: Sequence[Box]) -> float:
        """The probability that boxes keep together, each next one for more players, less what is felt of what they leave out."""
        own, total = self._h(self.faces[0]), 0.0
        ends = [*(box.reference for box in boxes[1:]), self.law.respondents + 1]
        for k, (box, end) in enumerate(zip(boxes, ends, strict=True)):
            both = boxes[k : k + 2]
            every = np.arange(box.reference, end)
            players = np.unique(np.linspace(box.reference, end - 1, LOOKS).round().astype(int))
            u = np.array(sorted(set().union(*(each.sums for each in both))))
            laws = []
            for each in both:
                law = np.exp(own[np.maximum(each.reference - u, 0)] - self.whole[each.reference]) / each.felt
                laws.append(np.where(np.isin(u, each.sums), law, 0.0))
            parts = np.linspace(0, 1, SHARES + 1)[:, None]
            needed = (1 - parts) * laws[0] + parts * laws[-1]
            left = players[:, None] - u
            law = np.where(left >= 0, np.exp(own[np.maximum(left, 0)]), 0.0)[:, None, :]
            with np.errstate(divide="ignore"):
                ratio = np.log(np.divide(law, needed, out=np.full((len(players), *needed.shape), np.inf), where=needed > 0))
            least = np.interp(every, players, np.exp(ratio.min(axis=2).max(axis=1) + self.least[players]))
            total += float(least.sum())
        return total

    def states_within(self, seconds: float, problem: Problem) -> int:
        """The states of a box that is solved in so many seconds."""
        squared = isinstance(problem.decision.loss, SquaredLoss)
        return states_within(seconds / pace(), self.far, float(problem.epsilon), squared)

    def seconds(self, states: int, problem: Problem) -> float:
        """What so many states take, about."""
        squared = isinstance(problem.decision.loss, SquaredLoss)
        return pace() * box_seconds(states, self.far, float(problem.epsilon), squared)

    def parts(self, boxes: Sequence[Box]) -> list[BoxPart]:
        """Parts without multipliers for boxes, each next one for more players: two serve the players between their references."""
        cuts = [boxes[0].reference - 1, *(box.reference for box in boxes), self.law.respondents + 1]
        return [box.part((cuts[k] + 1, cuts[k + 2] - 1)) for k, box in enumerate(boxes)]

    def is_told_soon(self, boxes: Sequence[Box]) -> bool:
        """Whether the checker takes them."""
        states, sums = sum(len(box.kept) for box in boxes), [len(box.sums) for box in boxes]
        try:
            must_be_told_soon(self.law, self.faces, self.pairs, self.parts(boxes), states, sums)
        except TooLarge:
            return False
        return True

    def boxes(self, seconds: float, problem: Problem, hands: int, numbers: Sequence[int]) -> tuple[float, list[Box]]:
        """What so many boxes keep, as many as leave out least, solved in about so many seconds, so many at once; and these."""
        best: tuple[float, list[Box]] = 0.0, []
        for number in numbers:
            most = min(self.states_within(seconds / ceil(number / hands), problem), MOST_KEPT, MOST_IN_ALL // number)
            if most < FEWEST_STATES:
                break
            found = [self.box(players, most) for players in self.references(number)]
            if not self.is_told_soon(found):
                continue
            best = max(best, (self.worth(found), found), key=lambda each: each[0])
        return best


def _likeliest(chance: Floats, left: Integers, table: Floats, own: Floats, states: int) -> tuple[Integers, Integers]:
    """Rows i and counts x, so many with the largest chance_i + table_x + own_{left_i − x}; of equal ones the first.

    Rows of which as many are left differ by their chance alone: so the best of each tell which rows and counts are needed.
    """
    room, alike = np.unique(left, return_inverse=True)
    rest = room[:, None] - np.arange(len(table))
    gain, best = np.where(rest >= 0, table + own[np.maximum(rest, 0)], -np.inf), np.full(len(room), -np.inf)
    np.maximum.at(best, alike, chance)
    least = _nth_largest((best[:, None] + gain).ravel(), states)
    rows = np.flatnonzero(chance + gain.max(axis=1)[alike] >= least)
    counts = np.flatnonzero((best[:, None] + gain).max(axis=0) >= least)
    seen = (chance[rows][:, None] + gain[alike[rows]][:, counts]).ravel()
    least = _nth_largest(seen, states)
    above, equal = np.flatnonzero(seen > least), np.flatnonzero((seen == least) & (seen > -np.inf))
    row, count = np.divmod(np.sort(np.concatenate([above, equal[: states - len(above)]])), len(counts))
    return rows[row], counts[count]


def _nth_largest(numbers: Floats, place: int) -> float:
    """The number that is so many-th from above; less than all where there are fewer."""
    return float(np.partition(numbers, len(numbers) - place)[len(numbers) - place]) if place <= len(numbers) else -np.inf
