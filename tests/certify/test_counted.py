"""Noise that follows a count: its proof against the whole table of every small mechanism, and whoever tries to get past it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from counted_mechanisms import at_random, counted_on, kernel_of, peaked

from discreet.certify.edges.counted import steepest
from discreet.certify.edges.privacy import privacy
from discreet.certify.edges.pure import worst_ratio
from discreet.certify.optimality import proved_value
from discreet.certify.value.counted import counted_payoff, moments
from discreet.certify.value.expected import expected_payoff
from discreet.errors import InputError, TooLarge
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.kernel import CountedKernel
from discreet.model.losses import AbsoluteLoss, PinballLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior


def factor_of_table(mechanism: Mechanism) -> Fraction:
    """The largest ratio on the derived graph, from the table written out."""
    rows, _ = mechanism.integer_table()
    top, bottom, *_ = worst_ratio(tuple(map(tuple, rows)), mechanism.space.edges.tolist()) or (1, 1)
    return Fraction(top, bottom)


def test_the_factor_is_that_of_the_whole_table() -> None:
    """Never less; and equal where it is shown, that is, where an output inside the range has it."""
    shown = 0
    for mechanism in at_random(60):
        found = steepest(mechanism, kernel_in(mechanism))
        written = factor_of_table(mechanism)
        assert Fraction(found.top, found.bottom) >= written
        if found.shown is not None:
            shown += 1
            near, far, output = found.shown
            kernel = kernel_in(mechanism)
            assert kernel.mass(output, near) / kernel.mass(output, far) == Fraction(found.top, found.bottom) == written
    assert shown > 30


def kernel_in(mechanism: Mechanism) -> CountedKernel:
    assert isinstance(mechanism.kernel, CountedKernel)
    return mechanism.kernel


def test_probabilities_sum_to_one_and_logs_agree_with_them() -> None:
    for mechanism in at_random(30, seed=8):
        kernel, places = kernel_in(mechanism), mechanism.places.tolist()
        rows, whole = kernel.whole_rows(places)
        assert {sum(column) for column in zip(*rows, strict=True)} == {whole}
        assert np.allclose(kernel.floats(places), [[w / whole for w in row] for row in rows], rtol=1e-12)


EVEN = [[4, 6, 4], [4, 6, 4], [4, 6, 4]]


def proved(mechanism: Mechanism) -> bool:
    return isinstance(privacy(mechanism), Certificate)


def test_tables_that_are_private_one_by_one_may_not_be_so_together_or_in_another_order() -> None:
    """Either table alone keeps ε = 1 for every shift; a respondent who becomes counted moves from one to the other."""
    kernel = peaked(2, 0, -2)
    high, middle, low = kernel.weights
    assert all(proved(counted_on(replace(kernel, weights=(row,)))) for row in kernel.weights)
    assert proved(counted_on(kernel))
    found = privacy(counted_on(replace(kernel, weights=(high, low))))
    assert isinstance(found, Counterexample) and found.edge is not None
    for swapped in ((low, middle, high), (middle, high, low), (high, low, middle)):
        assert isinstance(privacy(counted_on(replace(kernel, weights=swapped))), Counterexample)


def test_a_shift_that_only_counted_types_make_is_compared() -> None:
    """Values 0, 1 and 6, the last counted: a step of one is enough for the others, and six is not covered by it."""
    kernel = kernel_of([[4, 6, 4]] * 3, step=1, stride=64)
    with pytest.raises(InputError, match="step"):
        counted_on(kernel, values=(0, 1, 6))
    stretched = replace(kernel, step=6)  # its first stair is now six wide, and the tables still end after one
    assert privacy(counted_on(stretched, values=(0, 1, 6))) != privacy(counted_on(stretched, values=(0, 1, 2)))


def test_a_table_that_ends_earlier_is_refused_and_an_empty_place_refuted() -> None:
    kernel = kernel_of(EVEN)
    with pytest.raises(InputError, match="as far to one side"):
        replace(kernel, weights=(kernel.weights[0], kernel.weights[1][1:-1]))
    with pytest.raises(InputError, match="no distribution"):
        replace(kernel, tail=0)
    hollow = counted_on(kernel_of([[0, 6, 4], [4, 6, 4]]))
    found = privacy(hollow)
    assert isinstance(found, Counterexample) and "infinite" in found.found


def test_counts_beyond_the_last_table_read_the_last() -> None:
    kernel = kernel_of([[4, 6, 4], [5, 6, 5]])
    mechanism = counted_on(kernel, respondents=3)
    for j in (1, 2, 3):
        assert kernel.mass(7, 16 * j + 2 * j) == kernel.noise(1, 7 - 2 * j)
    histograms = np.array([[0, 0, 3], [1, 0, 2], [2, 1, 0]])
    assert mechanism.places_of(histograms).tolist() == [16 + 6, 16 + 4, 1]
    assert mechanism.places.tolist() == [kernel.capped(np.array([t]))[0] for t in mechanism.space.vectors[:, 0].tolist()]


def test_one_table_covers_moves_among_counted_types() -> None:
    """All types counted and one table: counts begin at one and tables end at nought, and still every shift is compared."""
    steep = kernel_of([[1, 40, 1]], tail=3)
    mechanism = counted_on(steep, counted=(0, 1, 2))
    assert steepest(mechanism, steep).pairs > 0
    assert Fraction(steepest(mechanism, steep).top, steepest(mechanism, steep).bottom) == factor_of_table(mechanism)


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(9, 10))])
def test_the_value_needs_the_law_of_the_count_alone(loss: SquaredLoss | AbsoluteLoss | PinballLoss) -> None:
    """With ends that gather nothing likely the bound is the truth but for what they gather; with near ends it is below it."""
    rows = [[2, 20, 3], [5, 9, 4], [7, 3, 8]]
    for far, slack in ((120, Fraction(1, 10**9)), (0, None)):
        kernel = kernel_of(rows, low=-far, high=6 + far)
        kernel = kernel.with_actions([Fraction(k) for k in range(kernel.low, kernel.high + 1)])
        mechanism = counted_on(kernel)
        prior = DirichletMultinomialPrior((Fraction(3), Fraction(1), Fraction(1, 2)))
        decision = replace(mechanism.problem.decision, loss=loss)
        mechanism = replace(mechanism, problem=replace(mechanism.problem, prior=prior, decisions=(decision,)))
        below, exact = counted_payoff(mechanism), expected_payoff(mechanism)[0]
        assert below is not None and below <= exact
        if slack is not None:
            assert exact - below < slack
        assert proved_value(mechanism, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("none", {}))) == exact


def test_nothing_is_valued_at_another_value_than_is_shown() -> None:
    kernel = kernel_of(EVEN)
    shifted = kernel.with_actions([Fraction(k + 1) for k in range(kernel.low, kernel.high + 1)])
    assert counted_payoff(counted_on(shifted)) is None
    assert counted_payoff(counted_on(kernel)) is None
    assert moments(kernel)[0][2] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stride": 6}, "reads a sum and a count"),
        ({"ratio": Fraction(1)}, "ratio"),
        ({"stride": 0}, "stride"),
        ({"denominator": 60}, "power of two"),
        ({"tail": 5}, "no distribution"),
        ({"weights": ()}, "one table"),
        ({"low": 1}, "cover"),
    ],
)
def test_what_is_no_such_kernel_is_refused(changes: dict[str, object], words: str) -> None:
    kernel = kernel_of(EVEN)
    weights = tuple(v + 16 * (v == 2) for v in range(3))
    mechanism = counted_on(kernel)
    with pytest.raises(InputError, match=words):
        replace(mechanism, kernel=replace(kernel, **changes))  # type: ignore[arg-type]
    assert mechanism.weighted_sum.weights == weights


def test_stairs_that_memory_does_not_hold_are_refused_before_any_work() -> None:
    """A file says how wide stairs are: 2^70 numbers do not fit into a list, and 10^9 not into memory."""
    kernel = kernel_of(EVEN)
    for step in (10**8, 10**9, 2**70, 10**4000):
        with pytest.raises(TooLarge, match="held at once"):
            replace(kernel, step=step)
    assert replace(kernel, step=4_000_000).step == 4_000_000


def test_other_readings_of_large_cells_have_no_value_and_say_so() -> None:
    kernel = kernel_of(EVEN, stride=300, low=0, high=200)
    shifted = kernel.with_actions([Fraction(k + 1) for k in range(kernel.low, kernel.high + 1)])
    large = counted_on(shifted, respondents=100, values=(0, 1, 2, 2, 2), counted=(4,))
    with pytest.raises(TooLarge, match="face value"):
        proved_value(large, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("none", ())))
