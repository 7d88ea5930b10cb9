"""Small mechanisms whose noise follows a count, honest and forged, for checkers that must tell them apart."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import random_worlds as worlds

from discreet.files.mechanism import mechanism_document
from discreet.model.count_tables import Shape
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

HALF, RADIX = Fraction(1, 2), 5
TWO: list[tuple[Shape, ...]] = [(2, 1), (1, 2), (3,), (2, 2, 1), (1, 3, 1)]
THREE: list[tuple[Shape, ...]] = [((2, 1), (1,)), ((1, 2), (3,), (1, 1)), ((2,),), ((1,), (1,)), ((1, 1, 2), (2, 1))]


def number_of(shape: Shape) -> int:
    """How many tables there are."""
    return shape if isinstance(shape, int) else sum(map(number_of, shape))


def kernel_of(
    rows: list[list[int]],
    *,
    tail: int = 4,
    step: int = 2,
    stride: int = 16,
    low: int = -40,
    high: int = 50,
    ratio: Fraction = HALF,
    tables: tuple[Shape, ...] = (),
) -> CountedKernel:
    """Tables with what is missing to a power of two in the middle of each; of several counts where `tables` says which."""
    total = 1 << max(sum(row) + 2 * tail - 1 for row in rows).bit_length()
    filled = [tuple(w + (total - 2 * tail - sum(row)) * (z == len(row) // 2) for z, w in enumerate(row)) for row in rows]
    radix = RADIX if tables else 1
    return CountedKernel(low, high, step, stride, ratio, tail, tuple(filled), total, radix=radix, tables=tables)


def peaked(*centres: int, tables: tuple[Shape, ...] = ()) -> CountedKernel:
    """Tables that fall by 2/5 with every two numbers from their centre: private for shifts of two, or of centres."""
    shapes = [[Fraction(2, 5) ** -(-abs(z - c) // 2) for z in range(-8, 9)] for c in centres]
    scale = 2**20 / max(sum(shape) + Fraction(1, 5) for shape in shapes)
    rows = [[int(scale * x) for x in shape] for shape in shapes]
    total, tail = 2**20, int(scale / 10)
    for row, centre in zip(rows, centres, strict=True):
        row[centre + 8] += total - 2 * tail - sum(row)
    radix = RADIX if tables else 1
    return CountedKernel(-40, 50, 2, 16, HALF, tail, tuple(map(tuple, rows)), total, radix=radix, tables=tables)


def counted_on(
    kernel: CountedKernel,
    respondents: int = 3,
    values: tuple[int, ...] = (0, 1, 2),
    counted: tuple[int, ...] = (2,),
    epsilon: Fraction = Fraction(1),
    *,
    presence: bool = False,
    second: tuple[int, ...] = (),
    third: tuple[int, ...] = (),
) -> Mechanism:
    """A mechanism that counts the types at these places, and where it has more counts those of the second and third class."""
    types = tuple(map(Fraction, values))
    universe = Universe(types, respondents // 3, respondents) if presence else Universe.of(respondents, types)
    problem = worlds.problem_of(universe, AddRemoveOne() if presence else ReplaceOne(), epsilon)
    powers = [kernel.radix**c for c in range(kernel.counts.classes - 1, -1, -1)]
    classes = list(zip((counted, second, third), powers, strict=False))
    marks = [next((power for types, power in classes if t in types), 0) for t in range(len(values))]
    weights = tuple(v + kernel.stride * mark for v, mark in zip(values, marks, strict=True))
    return worlds.mechanism_on(problem, LinearSummary(weights), kernel, epsilon)


def at_random(count: int, seed: int = 5) -> list[Mechanism]:
    """Tables of any shape, few of them alike; ends of the range near and far, some counts that nobody can have."""
    rng = random.Random(seed)
    found = []
    for number in range(count):
        reach, step = rng.randint(0, 3), rng.choice([2, 2, 3])
        tables = rng.choice([TWO, TWO, THREE][number % 3]) if number % 2 else ()
        rows = [[rng.randint(3, 9) for _ in range(2 * reach + 1)] for _ in range(number_of(tables) or rng.randint(1, 4))]
        far = rng.choice([0, 1, 40])
        respondents = rng.randint(1, 3)
        kernel = kernel_of(
            rows, tail=rng.randint(3, 9), step=step, low=-far, high=2 * respondents + far,
            ratio=Fraction(rng.randint(3, 12), 16), stride=rng.randint(7, 20), tables=tables,
        )  # fmt: skip
        counted = rng.choice([(2,), (1, 2), (0,), (), (0, 1, 2)])
        second, third = (rng.choice([(1,), (0, 1, 2), (0,)]) for _ in range(2))
        mechanism = counted_on(kernel, respondents, counted=counted, presence=rng.random() < 0.4, second=second, third=third)
        found.append(mechanism)
    return found


def forged_counted() -> list[dict[str, Any]]:
    """Documents of which only who checks everything refuses the false ones, and true ones at the edge of what is allowed."""
    kernel = replace(peaked(2, 0, -2), low=-1, high=7)
    base = mechanism_document(counted_on(kernel))
    ranged = mechanism_document(counted_on(kernel, presence=True))
    few = mechanism_document(counted_on(kernel, respondents=1))
    rough = mechanism_document(counted_on(kernel_of([[30, 40, 30]], tail=30, step=3), epsilon=Fraction(5)))
    changes: list[tuple[dict[str, Any], dict[tuple[Any, ...], Any]]] = [
        (base, {("kernel", "stride"): n, ("summary", "weights"): [0, 1, 2 + int(n)]}) for n in (5, 6, 7, 0, -1, True, "16")
    ]
    changes += [
        (base, {("summary", "weights"): w}) for w in ([0, 1, 34], [0, 1, 2], [16, 17, 18], [-16, 1, 18], [0, 1], [0, 1, True])
    ]
    changes += [(base, {("kernel", "from"): n}) for n in (0, 1, 7, False)] + [
        (base, {("kernel", "to"): n}) for n in (6, 5, -1, True)
    ]
    changes += [(base, {("kernel", "step"): n}) for n in (1, 3, 0, -2, True)]
    changes += [(base, {("kernel", "ratio"): r}) for r in ("0", "1", "3/2", "-1/2", "367/1000", "368/1000")]
    changes += [(base, {("kernel", "tail"): t}) for t in ("0", "-1", str(kernel.tail + 1), str(kernel.tail - 1))]
    changes += [(base, {("kernel", "denominator"): d}) for d in ("0", "-1048576", "1048575", "2097152")]
    changes += [(base, {("kernel", "weights", i, k): w}) for i in range(3) for k in (0, 8, 16) for w in ("0", "-1")]
    changes += [(base, {("kernel", "weights", 1): row}) for row in (["1"] * 16, ["1"] * 18, ["1"] * 15, [])]
    flat = {("kernel", "weights"): [["8"] * 17] * 3, ("kernel", "tail"): "60", ("kernel", "denominator"): "256"}
    changes += [(base, flat)]
    even = {("kernel", "weights"): [["8"] * 16] * 3, ("kernel", "tail"): "64", ("kernel", "denominator"): "256"}
    level = {("kernel", "weights"): [["100"], ["100"]], ("kernel", "tail"): "14", ("kernel", "denominator"): "128"}
    hollow = [["0", "100", "0"], ["-1", "101", "0"], ["50", "100", "-50"]]
    changes += [(base, level | {("kernel", "weights"): [row, row]}) for row in hollow]
    slight = {("kernel", "weights"): [["2"]], ("kernel", "tail"): "1", ("kernel", "denominator"): "4"}
    nowhere = {("summary", "weights"): [0, 0, 16], ("kernel", "from"): 0, ("kernel", "to"): 0}
    changes += [(base, slight), (base, nowhere), (base, nowhere | {("kernel", "to"): 1})]
    off = {("kernel", "weights"): [["8"] * 15] * 3, ("kernel", "tail"): "60", ("kernel", "denominator"): "240"}
    nought = {("kernel", "weights"): [["0"]], ("kernel", "tail"): "0", ("kernel", "denominator"): "0"}
    swaps = [{("kernel", "weights"): [base["kernel"]["weights"][i] for i in order]} for order in permutations(range(3))]
    changes += [(document, swap) for document in (base, ranged, few) for swap in swaps]
    changes += [(base, even), (base, off), (base, nought), (base, {("kernel", "weights"): []})]
    changes += [(base, {("summary", "low"): 0}), (base, {("summary", "high"): 60}), (base, {("summary", "kind"): "histogram"})]
    changes += [(base, {("problem", "data", "neighbours"): {"states": [], "edges": []}})]
    changes += [(base, {("problem", "decision", 0, "unbiased"): "everywhere"}), (few, {("kernel", "from"): 7})]
    far = {("summary", "weights"): [0, 1, 18 + 10**7], ("kernel", "stride"): 10**7 + 16, ("kernel", "step"): 10**7}
    thin = mechanism_document(counted_on(kernel_of([[5, 6, 5]], tail=8, step=1), values=(0, 1), counted=()))
    changes += [(thin, {("kernel", "ratio"): r}) for r in ("367/1000", "368/1000")] + [
        (base, far),
        (rough, {}),
        (rough, {("kernel", "step"): 2}),
        (ranged, {("kernel", "step"): 1}),
    ]
    for rho in ("1/4", "2"):
        said = {("guarantee",): base["guarantee"], ("problem", "privacy"): base["problem"]["privacy"]}
        changes += [(base, {way: without_epsilon(promise, rho) for way, promise in said.items()})]
    two = mechanism_document(counted_on(replace(peaked(2, 0, -2, -2, tables=(2, 2)), low=-1, high=7), second=(1,)))
    both = {("kernel", "radix"): 5, ("kernel", "tables"): [2, 1]}
    changes += [(two, {}), (two, {("kernel", "radix"): 4, ("summary", "weights"): [0, 17, 66]}), (base, both)]
    radices = 1, 2, 3, 0, -1, True, "5", 2**56, 2**57, 2**58, 10**4000  # and totals beyond 64 bits
    changes += [(two, {("kernel", "radix"): n, ("summary", "weights"): [0, 17, 2 + 16 * int(n)]}) for n in radices]
    changes += [(two, {("kernel", "tables"): n}) for n in ([2, 1], [3, 1], [1, 3], [4], [4, 0], [5, -1], [1, 1, 1, 1], [], "22", 4)]
    changes += [(two, {("kernel", key): None}) for key in ("radix", "tables")]
    changes += [(two, {("kernel", "radix"): None, ("kernel", "tables"): None})]
    changes += [(two, {("summary", "weights"): w}) for w in ([0, 33, 82], [0, 1, 18], [80, 17, 2], [0, 17, 98], [0, 81, 18])]
    told = replace(peaked(2, 0, -2, -2, tables=((2, 1), (1,))), low=-1, high=7)
    three = mechanism_document(counted_on(told, second=(1,), third=(0,)))
    trees: list[object] = [[[2, 1], [1, 1]], [[2, 1], [2]], [[2], [1], [1]], [[2, 1], 1], [[[2], [1]], [[1]]], [[2, 2]], [[4]]]
    trees += [[[], [4]], [[2, 1], [True]], [2, 2], [[2, 1], [1], []], [["2", 1], [1]], {}, [[[[[[2]]]]]], [[2, 1], [0, 1]]]
    ways = [16, 81, 402], [16, 81, 2], [0, 1, 402], [16, 81, 2002], [16, 33, 402]
    changes += [(three, {})] + [(three, {("kernel", "tables"): n}) for n in trees]
    changes += [(three, {("summary", "weights"): w}) for w in ways]
    changes += [(three, {("kernel", "radix"): n}) for n in (4, 3, 1, None)]
    changes += [(three, {("kernel", "tables"): deep(n), ("kernel", "radix"): radix}) for n in (31, 32) for radix in (5, 10**4000)]
    found = [base, ranged, few]
    for document, written in changes:
        forged = copy.deepcopy(document)
        for way, value in written.items():
            here: Any = forged
            for key in way[:-1]:
                here = here[key]
            here[way[-1]] = value
        found.append(forged)
    return found


def deep(classes: int) -> Any:
    """A tree that asks for so many classes, and tells four of the last."""
    return 4 if classes == 1 else [deep(classes - 1)]


def without_epsilon(said: dict[str, Any], rho: str) -> dict[str, Any]:
    """The same promise in ρ."""
    return {key: value for key, value in said.items() if key != "epsilon"} | {"rho": rho}
