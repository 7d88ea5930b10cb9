"""Small mechanisms whose noise follows a count, honest and forged, for checkers that must tell them apart."""

from __future__ import annotations

import random
from fractions import Fraction

import random_worlds as worlds

from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

HALF = Fraction(1, 2)


def kernel_of(
    rows: list[list[int]], *, tail: int = 4, step: int = 2, stride: int = 16, low: int = -40, high: int = 50, ratio: Fraction = HALF
) -> CountedKernel:
    """Tables with what is missing to a power of two in the middle of each."""
    total = 1 << max(sum(row) + 2 * tail for row in rows).bit_length()
    filled = [tuple(w + (total - 2 * tail - sum(row)) * (z == len(row) // 2) for z, w in enumerate(row)) for row in rows]
    return CountedKernel(low, high, step, stride, ratio, tail, tuple(filled), total)


def peaked(*centres: int) -> CountedKernel:
    """Tables that fall by 2/5 with every two numbers from their centre: private for shifts of two, and for their difference less d."""
    shapes = [[Fraction(2, 5) ** -(-abs(z - c) // 2) for z in range(-8, 9)] for c in centres]
    scale = 2**20 / max(sum(shape) + Fraction(1, 5) for shape in shapes)
    rows = [[int(scale * x) for x in shape] for shape in shapes]
    total, tail = 2**20, int(scale / 10)
    for row, centre in zip(rows, centres, strict=True):
        row[centre + 8] += total - 2 * tail - sum(row)
    return CountedKernel(-40, 50, 2, 16, HALF, tail, tuple(map(tuple, rows)), total)


def counted_on(
    kernel: CountedKernel,
    respondents: int = 3,
    values: tuple[int, ...] = (0, 1, 2),
    counted: tuple[int, ...] = (2,),
    epsilon: Fraction = Fraction(1),
    *,
    presence: bool = False,
) -> Mechanism:
    """A mechanism that counts the types at these places."""
    types = tuple(map(Fraction, values))
    universe = Universe(types, respondents // 3, respondents) if presence else Universe.of(respondents, types)
    problem = worlds.problem_of(universe, AddRemoveOne() if presence else ReplaceOne(), epsilon)
    weights = tuple(v + kernel.stride * (t in counted) for t, v in enumerate(values))
    return worlds.mechanism_on(problem, LinearSummary(weights), kernel, epsilon)


def at_random(count: int, seed: int = 5) -> list[Mechanism]:
    """Tables of any shape, few of them alike; ends of the range near and far, some counts that nobody can have."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        reach, step = rng.randint(0, 3), rng.choice([2, 2, 3])
        rows = [[rng.randint(3, 9) for _ in range(2 * reach + 1)] for _ in range(rng.randint(1, 4))]
        far = rng.choice([0, 1, 40])
        respondents = rng.randint(1, 3)
        kernel = kernel_of(
            rows, tail=rng.randint(3, 9), step=step, low=-far, high=2 * respondents + far,
            ratio=Fraction(rng.randint(3, 12), 16), stride=rng.randint(7, 20),
        )  # fmt: skip
        counted = rng.choice([(2,), (1, 2), (0,), (), (0, 1, 2)])
        found.append(counted_on(kernel, respondents, counted=counted, presence=rng.random() < 0.4))
    return found
