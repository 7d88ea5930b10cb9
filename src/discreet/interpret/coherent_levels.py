"""One coherent answer from several levels: the posterior of every total of a tree, by messages up and down.

Leaves are cells with their posteriors after what was published of them; an inner node is the sum of its children, and where
something was published about it, L_v(k) is the likelihood that its total is k. With U the message up and O the message down,

    U_v = L_v · (U_c1 ∗ … ∗ U_cd),     O_c(k) = Σ_j (O_v L_v)(k + j) · (∗ of the siblings' U)(j),     P_c ∝ U_c · O_c

exactly, because a tree has one path between any two nodes. Children are merged in pairs, so that siblings cost no more than a
logarithm. Posterior means add up at every node; `whole` numbers are each mean rounded up or down such that they add up too: the
total of a node is the floor or the ceiling of its mean, so what is left after the floors of its children is between 0 and their
number.

These are floats with tails below `FAINT` cut: convolutions of non-negative numbers, which keep their relative precision up to
`LONGEST_DIRECT` masses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from discreet.errors import InputError
from discreet.interpret.lattice_laws import LatticeLaw
from discreet.interpret.regions import check_level
from discreet.numerics.arrays import Floats, Integers

Likelihood = Callable[[Integers], Floats]
"""Log likelihoods of totals (in steps of the lattice) of an inner node."""
FAINT = 1e-18
LONGEST_DIRECT = 2048


@dataclass(frozen=True, eq=False)
class TotalsTree:
    """Leaves 0, 1, … with their laws, then inner nodes, each after its children; `told` are likelihoods of inner nodes."""

    leaves: Sequence[LatticeLaw]
    children: Sequence[Sequence[int]]
    told: dict[int, Likelihood]

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for place, mine in enumerate(self.children, len(self.leaves)):
            if not mine or any(not 0 <= child < place for child in mine) or len(set(mine)) != len(mine) or seen & set(mine):
                raise InputError(
                    "The levels do not nest",
                    found=f"node {place} shares a part with another, or has none",
                    allowed="every node inside one other",
                    remedy="let every cell lie in one cell of the level above",
                )
            seen.update(mine)

    def __len__(self) -> int:
        return len(self.leaves) + len(self.children)


@dataclass(frozen=True, eq=False)
class CoherentTotals:
    """Mean, standard deviation, interval and whole number of every node, in steps of the lattice."""

    mean: Floats
    standard_deviation: Floats
    lower: Integers
    upper: Integers
    whole: Integers


@dataclass(slots=True)
class _Slot:
    """A leaf, a merge of two slots, or a node: the message up on its support, and the likelihood that was applied to it."""

    start: int
    masses: Floats
    left: int = -1
    right: int = -1
    skipped: int = 0
    likelihood: Floats | None = None


def coherent_totals(tree: TotalsTree, level: float = 0.9) -> CoherentTotals:
    """The posterior of every node given everything that was published at every level."""
    tail = (1 - check_level(level)) / 2
    slots, node_of = _up(tree)
    count = len(tree)
    mean, deviation = np.zeros(count), np.zeros(count)
    lower, upper = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    outside: list[Floats | None] = [None] * len(slots)
    for place in range(len(slots) - 1, -1, -1):
        slot, out = slots[place], outside[place]
        outside[place] = None
        node = node_of[place]
        if node >= 0:
            chances = slot.masses if out is None else slot.masses * out
            whole = float(chances.sum())
            if not whole > 0:
                raise _contradiction()
            chances = chances / whole
            steps = np.arange(len(chances))
            middle = float(chances @ steps)
            mean[node] = slot.start + middle
            deviation[node] = float(chances @ (steps - middle) ** 2) ** 0.5
            lower[node], upper[node] = _ends(slot.start, chances, tail)
        if slot.left >= 0 and (out is not None or slot.likelihood is not None):
            _down(slots, outside, place, out)
    return CoherentTotals(mean, deviation, lower, upper, _whole(tree, mean))


def _up(tree: TotalsTree) -> tuple[list[_Slot], list[int]]:
    slots = [_Slot(law.start, law.masses) for law in tree.leaves]
    node_of = list(range(len(slots)))
    at = list(range(len(slots)))
    for node, mine in enumerate(tree.children, len(tree.leaves)):
        row = [at[child] for child in mine]
        if len(row) == 1:
            only = slots[row[0]]
            slots.append(_Slot(only.start, only.masses, row[0], row[0]))
            node_of.append(-1)
            row = [len(slots) - 1]
        while len(row) > 1:
            merged = []
            for a, b in zip(row[0::2], row[1::2], strict=False):
                slots.append(_merged(slots, a, b))
                node_of.append(-1)
                merged.append(len(slots) - 1)
            row = merged + (row[-1:] if len(row) % 2 else [])
        top = row[0]
        node_of[top] = node
        at.append(top)
        if node in tree.told:
            _apply(slots[top], tree.told[node])
    return slots, node_of


def _merged(slots: list[_Slot], a: int, b: int) -> _Slot:
    first, second = slots[a], slots[b]
    masses = _convolved(first.masses, second.masses)
    masses /= masses.max()
    likely = np.flatnonzero(masses > FAINT)
    begin, end = int(likely[0]), int(likely[-1]) + 1
    return _Slot(first.start + second.start + begin, masses[begin:end], a, b, begin)


def _apply(slot: _Slot, likelihood: Likelihood) -> None:
    logs = likelihood(np.arange(slot.start, slot.start + len(slot.masses)))
    best = float(logs.max())
    if best == -np.inf:
        raise _contradiction()
    slot.likelihood = np.exp(logs - best)
    slot.masses = slot.masses * slot.likelihood
    peak = float(slot.masses.max())
    if not peak > 0:
        raise _contradiction()
    slot.masses = slot.masses / peak


def _down(slots: list[_Slot], outside: list[Floats | None], place: int, out: Floats | None) -> None:
    """What the rest of the tree says about each of the two that were merged."""
    slot = slots[place]
    weight = np.ones(len(slot.masses)) if out is None else out
    if slot.likelihood is not None:
        weight = weight * slot.likelihood
    a, b = slot.left, slot.right
    if a == b:
        outside[a] = weight
        return
    first, second = slots[a].masses, slots[b].masses
    full = np.zeros(len(first) + len(second) - 1)
    full[slot.skipped : slot.skipped + len(weight)] = weight
    outside[a] = _scaled(_correlated(full, second))
    outside[b] = _scaled(_correlated(full, first))


def _scaled(message: Floats) -> Floats:
    peak = float(message.max())
    if not peak > 0:
        raise _contradiction()
    return message / peak


def _convolved(a: Floats, b: Floats) -> Floats:
    if min(len(a), len(b)) <= LONGEST_DIRECT:
        return np.convolve(a, b)
    length = len(a) + len(b) - 1
    size = 1 << (length - 1).bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[:length], 0.0)


def _correlated(whole: Floats, part: Floats) -> Floats:
    """Σ_j whole(k + j)·part(j) for every k at which all of part fits."""
    if min(len(part), len(whole) - len(part) + 1) <= LONGEST_DIRECT:
        return np.correlate(whole, part, "valid")
    return _convolved(whole, part[::-1])[len(part) - 1 : len(whole)]


def _ends(start: int, chances: Floats, tail: float) -> tuple[int, int]:
    spare = tail - 1e-12
    low = int(np.searchsorted(np.cumsum(chances), spare, side="right"))
    high = len(chances) - 1 - int(np.searchsorted(np.cumsum(chances[::-1]), spare, side="right"))
    return start + min(low, high), start + max(low, high)


def _whole(tree: TotalsTree, means: Floats) -> Integers:
    """Floors and ceilings of the means that add up, from the top down; the largest remainders are rounded up."""
    found = np.rint(means).astype(np.int64)
    for node in range(len(tree) - 1, len(tree.leaves) - 1, -1):
        mine = list(tree.children[node - len(tree.leaves)])
        floors = np.array([floor(means[child] + 1e-9) for child in mine])
        left = int(found[node]) - int(floors.sum())
        remainders = means[mine] - floors
        order = np.argsort(-remainders, kind="stable")
        raised = floors.copy()
        raised[order[: max(0, min(left, len(mine)))]] += 1
        found[mine] = raised
    return found


def _contradiction() -> InputError:
    return InputError(
        "Under this prior what was published at different levels could not have come about together",
        found="probability 0",
        allowed="levels of one population, and a prior without zeros",
        remedy="check that the releases nest, or give another prior",
    )
