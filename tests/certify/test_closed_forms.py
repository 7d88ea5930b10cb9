"""Closed forms: proved from the formula what the table of the same kernel shows entry by entry, at any size."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from random_worlds import brute_graph, mechanism_on, problem_of

from discreet import certify
from discreet.certify.edges.closed_forms import Fall, largest, real_pairs, steepest
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.kernel import (
    ClosedKernel,
    GeometricKernel,
    StaircaseKernel,
)
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import log_bracket, rational_above_exp

TWO = (Fraction(0), Fraction(1))


def table_ratio(mechanism: Mechanism) -> Fraction:
    """The largest ratio over every output and every edge that neighbouring databases reach."""
    kernel, universe = mechanism.kernel, mechanism.problem.universe
    assert isinstance(kernel, (GeometricKernel, StaircaseKernel)) and isinstance(universe, Universe)
    _, edges = brute_graph(universe, mechanism.problem.neighbours, mechanism.summary)
    worst = Fraction(1)
    for a, b in (sorted(map(int, edge)) for edge in edges):
        for output in range(kernel.low, kernel.high + 1):
            ratio = kernel.mass(output, a) / kernel.mass(output, b)
            worst = max(worst, ratio, 1 / ratio)
    return worst


def random_closed(rng: random.Random) -> tuple[Mechanism, bool]:
    """A closed form on a random weighted sum, and whether the sum is clipped."""
    types = rng.choice([2, 3])
    values = tuple(map(Fraction, range(types)))
    if rng.random() < 0.5:
        universe, neighbours = Universe.of(rng.randint(1, 5), values), ReplaceOne()
    else:
        smallest = rng.randint(0, 2)
        universe, neighbours = Universe(values, smallest, smallest + rng.randint(1, 3)), AddRemoveOne()
    weights = tuple(rng.randint(-2, 4) for _ in range(types))
    clipped = rng.random() < 0.4
    ends = sorted((rng.randint(-4, 6), rng.randint(-4, 8)))
    summary = LinearSummary(weights, *(ends if clipped else (None, None)))
    low, high = summary.range(universe)
    low, high = low - rng.choice([0, 0, 1, 3]), high + rng.choice([0, 0, 1, 3])
    high = max(high, low + 1)
    step = max(1, summary.step(neighbours)) + rng.choice([0, 0, 1])
    ratio = Fraction(rng.randint(1, 19), 20)
    kernel: ClosedKernel = GeometricKernel(low, high, step, ratio)
    if rng.random() < 0.5:
        kernel = StaircaseKernel(low, high, step, rng.randint(1, step), ratio)
    return mechanism_on(problem_of(universe, neighbours, Fraction(1000)), summary, kernel), clipped


@pytest.mark.parametrize("seed", range(120))
def test_the_formula_brackets_the_table(seed: int) -> None:
    mechanism, clipped = random_closed(random.Random(seed))
    worst = table_ratio(mechanism)
    proof = certify.privacy(mechanism)
    assert isinstance(proof, Certificate)
    low, high = (Fraction(0), Fraction(0)) if worst == 1 else log_bracket(worst, 100)
    assert proof.privacy.tight_low <= high, "the lower side comes from neighbours that exist"
    assert low <= proof.privacy.tight_high, "the upper side holds for all of them"
    if not clipped and isinstance(mechanism.kernel, GeometricKernel):
        assert proof.privacy.tight_high - proof.privacy.tight_low < Fraction(1, 2**60)
    a, b = proof.privacy.edge or ("", "")
    _, edges = brute_graph(mechanism.problem.universe, mechanism.problem.neighbours, mechanism.summary)
    assert a == b or frozenset((a, b)) in edges


@pytest.mark.parametrize("seed", range(120))
def test_epsilon_is_decided_on_the_right_side_of_the_table(seed: int) -> None:
    """Below the table's own log-ratio every promise is refuted; at the formula's it is proved."""
    mechanism, clipped = random_closed(random.Random(seed))
    worst = table_ratio(mechanism)
    kernel = mechanism.kernel
    assert isinstance(kernel, (GeometricKernel, StaircaseKernel))
    if worst == 1:
        return
    below = log_bracket(worst, 100)[0]
    refuted = certify.privacy(mechanism_on(mechanism.problem, mechanism.summary, kernel, below))
    assert isinstance(refuted, Counterexample)
    universe, neighbours = mechanism.problem.universe, mechanism.problem.neighbours
    assert isinstance(universe, Universe) and isinstance(mechanism.summary, LinearSummary)
    if refuted.edge is not None:
        a, b, k = int(refuted.edge[0]), int(refuted.edge[1]), int(refuted.output or 0)
        shown = kernel.mass(k, a) / kernel.mass(k, b)
        assert log_bracket(shown, 100)[1] > below
        _, edges = brute_graph(universe, neighbours, mechanism.summary)
        assert frozenset(refuted.edge) in edges
    elif not clipped:
        assert isinstance(kernel, StaircaseKernel)
    low, high = mechanism.summary.range(universe)
    factor = steepest(kernel, min(mechanism.summary.step(neighbours), high - low)).log()[1]
    assert isinstance(certify.privacy(mechanism_on(mechanism.problem, mechanism.summary, kernel, factor)), Certificate)


def test_a_million_respondents_need_no_table() -> None:
    problem = problem_of(Universe.of(10**6, TWO), ReplaceOne())
    ratio = rational_above_exp(Fraction(-1), 64)
    kernel = GeometricKernel(0, 10**6, 1, ratio)
    proof = certify.privacy(mechanism_on(problem, LinearSummary((0, 1)), kernel))
    assert isinstance(proof, Certificate) and proof.privacy.outputs == 10**6 + 1
    sharper = GeometricKernel(0, 10**6, 1, ratio - Fraction(2, 2**64))
    found = certify.privacy(mechanism_on(problem, LinearSummary((0, 1)), sharper))
    assert isinstance(found, Counterexample) and found.edge == ("0", "1") and found.output == "0"


def test_a_step_of_a_billion_forms_no_power() -> None:
    problem = problem_of(Universe.of(10**9, TWO), ReplaceOne())
    step = 10**9
    ratio = rational_above_exp(Fraction(-1, step), 64)
    summary = LinearSummary((0, step))
    proof = certify.privacy(mechanism_on(problem, summary, GeometricKernel(0, 10**18, step, ratio)))
    assert isinstance(proof, Certificate) and proof.privacy.tight_low > 1 - Fraction(1, 10**9)
    sharper = GeometricKernel(0, 10**18, step, ratio - Fraction(2, 2**64))
    assert isinstance(certify.privacy(mechanism_on(problem, summary, sharper)), Counterexample)


def test_a_sum_that_never_moves_needs_no_noise() -> None:
    problem = problem_of(Universe.of(3, TWO), ReplaceOne(), Fraction(0))
    kernel = GeometricKernel(0, 9, 1, Fraction(1, 10**6))
    proof = certify.privacy(mechanism_on(problem, LinearSummary((2, 2)), kernel))
    assert isinstance(proof, Certificate) and proof.privacy.tight_low == proof.privacy.tight_high == 0
    moving = certify.privacy(mechanism_on(problem, LinearSummary((2, 3)), kernel))
    assert isinstance(moving, Counterexample)


def test_the_staircase_is_proved_by_one_stair() -> None:
    problem = problem_of(Universe.of(30, TWO), ReplaceOne())
    ratio = rational_above_exp(Fraction(-1), 64)
    for plateau in (1, 2, 3):
        kernel = StaircaseKernel(0, 90, 3, plateau, ratio)
        proof = certify.privacy(mechanism_on(problem, LinearSummary((0, 3)), kernel))
        assert isinstance(proof, Certificate)
        assert 1 - Fraction(1, 10**12) < proof.privacy.tight_low <= proof.privacy.tight_high <= 1
        sharper = StaircaseKernel(0, 90, 3, plateau, ratio - Fraction(2, 2**64))
        assert isinstance(certify.privacy(mechanism_on(problem, LinearSummary((0, 3)), sharper)), Counterexample)


def test_a_plateau_wider_than_the_move_is_left_at_its_end() -> None:
    """A move of one within a plateau of three is seen three units away."""
    kernel = StaircaseKernel(-100, 100, 4, 3, Fraction(1, 2))
    fall = largest(kernel, [(0, 1)])
    assert (fall.near, fall.far, fall.output, fall.base, fall.times) == (0, 1, -2, Fraction(2), 1)
    back = largest(kernel, [(1, 0)])
    assert (back.near, back.far, back.output, back.base) == (1, 0, 3, Fraction(2))


def test_real_pairs_are_as_far_apart_as_can_be() -> None:
    universe = Universe(TWO, 1, 4)
    for weights in ((-1, 3), (-3, 1), (2, 5), (0, 1)):
        summary = LinearSummary(weights)
        pairs = list(real_pairs(summary, universe, AddRemoveOne()))
        _, edges = brute_graph(universe, AddRemoveOne(), summary)
        assert all(a == b or frozenset((str(a), str(b))) in edges for a, b in pairs)
        assert max(abs(a - b) for a, b in pairs) == max(map(abs, weights))


def test_a_fall_compares_without_rounding() -> None:
    fall = Fall(0, 1, 0, Fraction(2), 3)
    low, high = fall.log()
    assert fall.exceeds(low) and not fall.exceeds(high) and high - low <= Fraction(1, 2**62)
    assert not Fall(0, 0, 0, Fraction(2), 0).exceeds(Fraction(0))
    assert Fall(0, 0, 0, Fraction(2), 1).exceeds(Fraction(0))


@pytest.mark.parametrize(
    "kernel",
    [
        GeometricKernel(-2, 5, 2, Fraction(1, 3)),
        StaircaseKernel(-2, 5, 3, 2, Fraction(1, 3)),
        StaircaseKernel(0, 3, 5, 5, Fraction(9, 10)),
        StaircaseKernel(0, 9, 1, 1, Fraction(1, 7)),
    ],
)
def test_rows_sum_to_one_and_tails_are_sums_of_noise(kernel: ClosedKernel) -> None:
    states = range(kernel.low, kernel.high + 1)
    rows = kernel.rows(states)
    assert all(sum(column) == 1 for column in zip(*rows, strict=True))
    assert all(rows[k][s] == kernel.mass(kernel.low + k, kernel.low + s) for k in range(len(rows)) for s in range(len(rows)))
    for j in range(-12, 13):
        assert kernel.tail(j) - kernel.tail(j + 1) == kernel.noise(j) == kernel.noise(-j)
    assert abs(1 - kernel.tail(1) * 2 - kernel.noise(0)) == 0
