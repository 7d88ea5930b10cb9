"""(ε, δ) of anybody's finite table: proved down to the last digit of δ, refuted with the edge and the event."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import pytest
from mutation import survivors
from random_worlds import mechanism_on, problem_of, random_mechanism

import discreet
from discreet import certify
from discreet.certify.edges.approximate import (
    ApproximateProof,
    WeightTable,
    approximate,
    edge_leaks,
    mechanism_table,
    tight_delta,
)
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.kernel import GeometricKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp, rational_below_exp

HALF = Fraction(1, 2)
TINY = Fraction(1, 10**40)

# Zeros are kept and one becomes 0 or 2: what the cell-key tables do.
KEEPS_ZERO = WeightTable(("0", "1"), ("0", "1", "2"), ((8, 3), (0, 2), (0, 3)), 8, ((0, 1),))
# Leaky randomised response: an output of its own with chance 1/8 on each side.
LEAKY = WeightTable(("a", "b"), ("says a", "a?", "b?", "says b"), ((2, 0), (9, 5), (5, 9), (0, 2)), 16, ((0, 1),))


def exact_delta(table: WeightTable, epsilon: Fraction) -> Any:
    """δ(ε) in 120 digits, by its definition."""
    with mpmath.workdps(120):
        x = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        worst = mpmath.mpf(0)
        for a, b in table.edges:
            for h, g in ((a, b), (b, a)):
                sides = [(mpmath.mpf(row[h]), row[g]) for row in table.weights]
                worst = max(worst, sum(max(p - x * q, mpmath.mpf(0)) for p, q in sides) / table.denominator)
        return worst


def random_table(rng: random.Random) -> WeightTable:
    states, outputs = rng.randrange(2, 6), rng.randrange(2, 6)
    columns = []
    for _ in range(states):
        cuts = sorted(rng.choice((rng.randrange(0, 1001), 0, 1000)) for _ in range(outputs - 1))
        columns.append([b - a for a, b in zip([0, *cuts], [*cuts, 1000], strict=True)])
    every = [(a, b) for a in range(states) for b in range(a + 1, states)]
    edges = rng.sample(every, rng.randrange(0, len(every) + 1))
    names = tuple(f"s{i}" for i in range(states))
    weights = tuple(zip(*columns, strict=True))
    return WeightTable(names, tuple(f"o{i}" for i in range(outputs)), weights, 1000, edges)


def test_a_table_that_keeps_zeros_leaks_whatever_the_epsilon() -> None:
    for epsilon in (Fraction(0), HALF, Fraction(5), Fraction(50)):
        proof = tight_delta(KEEPS_ZERO, epsilon)
        assert proof.tight_low == proof.tight_high == Fraction(5, 8)
        assert proof.edge == (("0", "1") if epsilon == 0 else ("1", "0"))


def test_delta_is_decided_to_the_last_digit_where_no_exponential_enters() -> None:
    assert isinstance(approximate(KEEPS_ZERO, Fraction(1), Fraction(5, 8)), ApproximateProof)
    found = approximate(KEEPS_ZERO, Fraction(1), Fraction(5, 8) - TINY)
    assert isinstance(found, Counterexample)
    assert found.edge == ("1", "0") and found.output == "1"
    assert "{1, 2}" in found.words and "0.625 at state 1 and 0 at" in found.words


def test_delta_is_decided_beside_an_irrational_number() -> None:
    """9 − 5e^ε of 16, plus the leak: a near miss of 1e-40 on either side."""
    epsilon = HALF
    with mpmath.workdps(60):
        truth = (2 + 9 - 5 * mpmath.exp(mpmath.mpf(1) / 2)) / 16
        digits = Fraction(mpmath.nstr(truth, 45))
    above, below = digits + TINY, digits - TINY
    assert isinstance(approximate(LEAKY, epsilon, above), ApproximateProof)
    assert isinstance(approximate(LEAKY, epsilon, below), Counterexample)


def test_equality_is_a_proof_also_where_a_ratio_lies_next_to_the_exponential() -> None:
    """At first only the bracket's upper end separates an output from the event; the question still ends."""
    for beside, kind in ((rational_above_exp, Counterexample), (rational_below_exp, ApproximateProof)):
        ratio = beside(Fraction(1), 100)
        more, less, big = ratio.numerator, ratio.denominator, 4 * ratio.numerator
        table = WeightTable(("x", "y"), ("a", "b"), ((more, less), (big - more, big - less)), big, ((0, 1),))
        assert isinstance(approximate(table, Fraction(1), Fraction(0)), kind)


def test_it_agrees_with_the_definition_on_random_tables() -> None:
    rng = random.Random(3)
    for _ in range(60):
        table = random_table(rng)
        epsilon = Fraction(rng.randrange(0, 40), 10)
        truth = exact_delta(table, epsilon)
        proof = tight_delta(table, epsilon)
        assert float(proof.tight_low) - 1e-15 <= float(truth) <= float(proof.tight_high) + 1e-15
        digits = Fraction(mpmath.nstr(truth, 60)) if truth else Fraction(0)
        assert isinstance(approximate(table, epsilon, min(digits + TINY, Fraction(1))), ApproximateProof)
        if digits > TINY:
            assert isinstance(approximate(table, epsilon, digits - TINY), Counterexample)


def test_without_delta_it_agrees_with_the_privacy_checker() -> None:
    rng = random.Random(5)
    for k in range(40):
        mechanism = random_mechanism(rng, zeros=k % 4 == 0)
        proved = isinstance(certify.privacy(mechanism), Certificate)
        found = approximate(mechanism_table(mechanism), mechanism.guarantee.epsilon, Fraction(0))
        assert isinstance(found, ApproximateProof) == proved


def test_a_closed_form_is_written_out_exactly() -> None:
    """Geometric noise of ratio 1/2 on 0..3: at e^ε = 1 the leak of one step is P(0) − P(1) summed, 1/3."""
    problem = problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    mechanism = mechanism_on(problem, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, HALF))
    table = mechanism_table(mechanism)
    assert tight_delta(table, Fraction(0)).tight_high == Fraction(1, 3)
    long = problem_of(Universe.of(3000, (Fraction(0), Fraction(1))), ReplaceOne())
    with pytest.raises(TooLarge, match="clip the summary"):
        mechanism_table(mechanism_on(long, LinearSummary((0, 1)), GeometricKernel(0, 3000, 1, Fraction(367, 1000))))


def test_every_directed_edge_has_its_own_leak() -> None:
    leaks = {(leak.first, leak.second): leak for leak in edge_leaks(KEEPS_ZERO, Fraction(1))}
    assert leaks["1", "0"].low == leaks["1", "0"].high == Fraction(5, 8)
    assert leaks["0", "1"].low <= leaks["0", "1"].high < Fraction(1, 10)


def test_without_edges_everything_is_private() -> None:
    alone = WeightTable(("0", "1"), ("0", "1"), ((8, 0), (0, 8)), 8, ())
    proof = approximate(alone, Fraction(0), Fraction(0))
    assert isinstance(proof, ApproximateProof) and proof.edge is None and proof.tight_high == 0


@pytest.mark.parametrize(
    ("weights", "edges", "words"),
    [
        (((8, 3), (0, 2), (0, 2)), ((0, 1),), "no distribution"),
        (((8, 9), (0, 2), (0, -3)), ((0, 1),), "no distribution"),
        (((8, 3), (0, 5)), ((0, 1),), "one row for each output"),
        (KEEPS_ZERO.weights, ((0, 2),), "does not have"),
        (KEEPS_ZERO.weights, ((-1, 0),), "does not have"),
        (KEEPS_ZERO.weights, ((1, 1),), "does not have"),
    ],
)
def test_what_is_no_table_is_refused(weights: Any, edges: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        WeightTable(("0", "1"), ("0", "1", "2"), weights, 8, edges)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (1, -1), (1, 2)])
def test_what_is_no_promise_is_refused(epsilon: int, delta: int) -> None:
    with pytest.raises(InputError, match="promise"):
        approximate(KEEPS_ZERO, Fraction(epsilon), Fraction(delta))


BELOW_ZERO = (((8, 9), (0, 2), (0, -3)), ((8, 9), (0, 0), (0, -1)))
EQUIVALENT = {
    "found > best [Gt→GtE at 0]": "of equal leaks either edge may be named",
    "row[h] * ratio.denominator > ratio.numerator * row[g] [Gt→GtE at 0]": "equality adds nothing to the event's excess",
    "more > 0 [Gt→GtE at 0]": "adding nothing",
    "more > 0 [0→-1 at 1]": "adding nothing",
    "least > delta [Gt→GtE at 0]": "a leak that q⁻ puts above δ and q⁺ at δ falls in between, so it is above δ at e^ε",
    "size > MOST_BITS [Gt→GtE at 0]": "a limit of size",
}


def questions() -> list[Callable[[ModuleType], Any]]:
    """Tables with proofs and refutations just beside each other, and everything that is refused."""
    rng = random.Random(11)
    asked: list[Callable[[ModuleType], Any]] = []
    for table in (LEAKY, *(random_table(rng) for _ in range(15))):
        epsilon = Fraction(rng.randrange(0, 30), 10) if table is not LEAKY else HALF
        truth = exact_delta(table, epsilon)
        digits = Fraction(mpmath.nstr(truth, 60)) if truth else Fraction(0)
        for delta in (digits, digits + TINY, digits - TINY, Fraction(0)):
            if 0 <= delta <= 1:
                asked.append(lambda m, t=table, e=epsilon, d=delta: repr(m.approximate(t, e, d)))
        asked.append(lambda m, t=table, e=epsilon: repr(m.edge_leaks(t, e)))
        asked.append(lambda m, t=table, e=epsilon: repr(m.tight_delta(t, e)))
    for delta in (Fraction(5, 8), Fraction(5, 8) - TINY):
        asked.append(lambda m, d=delta: repr(m.approximate(KEEPS_ZERO, Fraction(1), d)))
    many = WeightTable(
        ("x", "y"), tuple(f"o{i}" for i in range(15)), (*((i % 2, (i + 1) % 2) for i in range(14)), (1, 1)), 8, ((0, 1),)
    )
    seven = WeightTable(("x", "y"), tuple("abcdefg"), ((1, 0),) * 6 + ((0, 6),), 6, ((0, 1),))
    nearly = WeightTable(("x", "y"), ("a", "b"), ((4, 3), (3, 4)), 7, ((0, 1),))
    asked += [lambda m, d=d: repr(m.approximate(nearly, Fraction(0), d)) for d in (Fraction(0), Fraction(1, 8), Fraction(1, 7))]
    small = WeightTable(("x", "y"), ("a", "b"), ((1, 0), (10**20 - 1, 10**20)), 10**20, ((0, 1),))
    asked += [lambda m, t=t: repr(m.approximate(t, Fraction(1), Fraction(0))) for t in (many, seven, small)]
    shapes = [
        (("0", "1"), ("0", "1", "2"), weights, total, edges)
        for weights in (KEEPS_ZERO.weights, ((8, 3), (0, 5)), ((8,), (0,), (0,)), *BELOW_ZERO)
        for total in (8, 7, 0, -8)
        for edges in (((0, 1),), ((0, 2),), ((2, 0),), ((-1, 0),), ((0, -1),), ((1, 1),), ((0, 0),), ((1, 0),))
    ]
    shapes.append((("0",), (), (), 1, ()))
    shapes.append((("0", "1"), ("a",), ((0, 0),), 0, ()))
    shapes.append((("0", "1"), ("a",), ((1, 1),), 1, ((0, 1),)))
    asked += [lambda m, s=shape: repr(m.WeightTable(*s)) for shape in shapes]
    for epsilon, delta in ((-1, 0), (0, 0), (0, 1), (1, 2), (1, -1)):
        asked.append(lambda m, e=epsilon, d=delta: repr(m.approximate(KEEPS_ZERO, Fraction(e), Fraction(d))))
    problem = problem_of(Universe.of(3, (Fraction(0), Fraction(1))), ReplaceOne())
    geometric = mechanism_on(problem, LinearSummary((0, 1)), GeometricKernel(0, 3, 1, HALF))
    asked.append(lambda m: repr(m.mechanism_table(geometric)))
    return asked


def test_no_comparison_can_change_unnoticed() -> None:
    path = Path(discreet.__file__).parent / "certify" / "edges" / "approximate.py"
    alive = [name for name in survivors(path, questions()) if name not in EQUIVALENT]
    assert alive == []
