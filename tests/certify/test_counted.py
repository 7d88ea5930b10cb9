"""Noise that follows a count: its proof against the whole table of every small mechanism, and whoever tries to get past it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from types import ModuleType

import numpy as np
import pytest
from counted_mechanisms import at_random, counted_on, kernel_of, peaked

from discreet.certify.edges import counted as edges
from discreet.certify.edges.counted import steepest
from discreet.certify.edges.privacy import privacy
from discreet.certify.edges.pure import worst_ratio
from discreet.certify.optimality import proved_value
from discreet.certify.value import capped_counts
from discreet.certify.value.capped_counts import table_chances
from discreet.certify.value.counted import counted_payoff, moments
from discreet.certify.value.counted_listed import BITS, Columns, listed_counted_payoff
from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.laws import Identical, Law, Mixed, Overdispersed, Separate
from discreet.errors import InputError, TooLarge
from discreet.model import count_tables
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.count_tables import CountTables, Shape
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
            here, there = kernel.capped(np.array([near, far])).tolist()
            assert kernel.mass(output, here) / kernel.mass(output, there) == Fraction(found.top, found.bottom) == written
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
        assert kernel.mass(7, int(kernel.capped(np.array([16 * j + 2 * j]))[0])) == kernel.noise(1, 7 - 2 * j)
    histograms = np.array([[0, 0, 3], [1, 0, 2], [2, 1, 0]])
    assert mechanism.places_of(histograms).tolist() == [16 + 6, 16 + 4, 1]
    assert mechanism.places.tolist() == [kernel.capped(np.array([t]))[0] for t in mechanism.space.vectors[:, 0].tolist()]


def test_one_table_covers_moves_among_counted_types() -> None:
    """All types counted and one table: counts begin at one and tables end at nought, and still every shift is compared."""
    steep = kernel_of([[1, 40, 1]], tail=3)
    mechanism = counted_on(steep, counted=(0, 1, 2))
    assert steepest(mechanism, steep).pairs > 0
    assert Fraction(steepest(mechanism, steep).top, steepest(mechanism, steep).bottom) == factor_of_table(mechanism)


def test_a_second_count_is_hidden_too() -> None:
    """Every table of the first count may be private beside the next, and those of the second count may not."""
    near = peaked(2, 0, -2, -2, tables=(3, 1))
    assert proved(counted_on(near, second=(1,)))
    for wrong in [(2, -2, -2, -2), (2, 0, -2, 2), (-2, 2, 0, -2)]:
        assert all(proved(counted_on(replace(peaked(c), weights=(peaked(c).weights[0],)))) for c in wrong)
        found = privacy(counted_on(peaked(*wrong, tables=(3, 1)), second=(1,)))
        assert isinstance(found, Counterexample) and found.edge is not None


def test_one_respondent_may_leave_the_second_class_for_the_first() -> None:
    """0 → 1 and 0 → 2 keep ε here, and 1 → 2 with another of value 1 beside does not: tables (0, 2) and (1, 1)."""
    steep = peaked(0, 1, 2, -1, -2, tables=(3, 2))
    assert proved(counted_on(steep, respondents=1, second=(1,)))
    found = privacy(counted_on(steep, respondents=2, second=(1,)))
    assert isinstance(found, Counterexample) and set(found.edge or ()) == {str(2 + 32), str(3 + 16 + 80)}


def test_a_radix_that_counts_can_reach_is_refused() -> None:
    """With as many respondents as the radix all of the second class are told as one of the first."""
    kernel = peaked(2, 0, -2, tables=(2, 1))
    assert counted_on(kernel, respondents=4, second=(1,)).kernel == kernel
    with pytest.raises(InputError, match="radix"):
        counted_on(kernel, respondents=5, second=(1,))


def test_a_place_that_would_wrap_around_is_refused() -> None:
    """16 tables of strides of 2^60 are 2^64: who is of the first class would be drawn for as who is of none."""
    kernel = replace(peaked(*[2] * 16, -2, tables=(16, 1)), radix=2)
    near = counted_on(replace(kernel, stride=2**57), respondents=1, second=(1,))
    assert near.places_of(np.array([[0, 0, 1]])).tolist() == [2 + 16 * 2**57]
    for wide in (replace(kernel, stride=2**60), replace(kernel, stride=2**58), replace(kernel, stride=2**70, radix=2**70)):
        with pytest.raises(TooLarge, match="64 bits"):
            counted_on(wide, respondents=1, second=(1,))
    for far in (replace(kernel, stride=2**70), replace(kernel, radix=2**70)):
        with pytest.raises(TooLarge, match="64 bits"):
            counted_on(far, respondents=1, counted=())


def test_more_tables_than_can_be_counted_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="how many of its tables"):
        replace(peaked(2, 0, -2, tables=(2, 1)), tables=(2**63, 1))


def test_tables_of_two_counts_are_those_of_capped_counts() -> None:
    counts, kernel = CountTables((3, 1, 2)), kernel_of([[4, 6, 4]] * 6, tables=(3, 1, 2))
    assert [[counts.of((j, k)) for k in range(4)] for j in range(4)] == [[0, 1, 2, 2], [3, 3, 3, 3], [4, 5, 5, 5], [4, 5, 5, 5]]
    for j in range(4):
        for k in range(5):
            assert kernel.capped(np.array([9 + 16 * (k + 5 * j)]))[0] == 16 * counts.of((j, k)) + 9
            assert counts.of((min(j, counts.caps[0]), min(k, counts.caps[1]))) == counts.of((j, k))
    assert len(counts) == 6 and kernel.capped(np.array([-1]))[0] < 0
    for outside in (-1, 96 + 9):
        with pytest.raises(InputError, match="no such state"):
            kernel.mass(3, outside)
        with pytest.raises(InputError, match="no such state"):
            kernel.log_masses(np.array([3]), np.array([outside]))


def random_tree(rng: random.Random, classes: int) -> Shape:
    """Any tree of so many classes."""
    return rng.randint(1, 3) if classes == 1 else tuple(random_tree(rng, classes - 1) for _ in range(rng.randint(1, 3)))


def test_neighbours_are_those_that_all_others_can_have() -> None:
    """Against all numbers of others of each class, one by one: the same tables beside each other, and those named lead there."""
    rng = random.Random(4)
    for _ in range(120):
        classes, largest = rng.randint(1, 4), rng.randint(1, 6)
        tables = CountTables(random_tree(rng, classes))
        types = [(rng.randint(0, classes), rng.randint(0, 9)) for _ in range(rng.randint(1, 5))]
        everybody = [c for c in product(range(max(tables.caps) + 2), repeat=classes) if sum(c) < largest]
        for presence in (False, True):
            seen, ways = set(), [(a, b) for a in ([(0, 0)] if presence else types) for b in types]
            for ((mark, value), (beside, after)), others in product(ways, everybody):
                here, there = (tables.of([x + (k == one) for k, x in enumerate(others, 1)]) for one in (mark, beside))
                seen |= {(here, there, after - value)} if here != there or after != value else set()
            found = set()
            for move in edges.met(types, tables, largest, presence=presence):
                assert sum(move.others) < largest
                one = 0 if move.first is None else types[move.first][0]
                read = [tables.of([x + (k == c) for k, x in enumerate(move.others, 1)]) for c in (one, types[move.second][0])]
                assert read == [move.here, move.there]
                found |= {(move.here, move.there, move.moved)} | ({(move.there, move.here, -move.moved)} if not presence else set())
            assert {each for each in found if each[0] != each[1] or each[2]} == seen


def test_a_growing_tree_tells_what_comes_with_one_more() -> None:
    """Of random trees and counts far beyond their ends: its table leads to that of the tree, and to its own with one more."""
    rng = random.Random(5)
    for _ in range(200):
        classes = rng.randint(1, 4)
        tables = CountTables(random_tree(rng, classes))
        growing, own = tables.growing, {}
        assert len(growing) >= len(tables) and growing.growing == growing
        assert [growing.of(each) for each in growing.counts] == list(range(len(growing)))
        for _ in range(60):
            counts = [rng.randint(0, 5) for _ in range(classes)]
            place = growing.of(counts)
            assert own.setdefault(place, tables.of(counts)) == tables.of(counts) == tables.of(growing.counts[place])
            for c in range(classes):
                more = [x + (k == c) for k, x in enumerate(counts)]
                assert growing.one_more[c][place] == growing.of(more)


def test_a_tree_that_does_not_tell_what_comes_next_is_not_called_growing() -> None:
    """With one of the first class three of the second are told apart, with none only one: so all three must be, before."""
    assert CountTables((1, 3, 1)).growing.shape == (3, 3, 1)
    assert CountTables((3, 1, 1)).growing.shape == (3, 1, 1)


def test_trees_that_grow_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_tables, "MOST_PLACES", 1000)
    wide = CountTables(tuple((1,) * (k + 1) for k in range(60)))
    with pytest.raises(TooLarge, match="too many ways"):
        _ = wide.growing
    assert CountTables((3, 2, 1)).growing.shape == (3, 2, 1)
    long = CountTables((1,) * 30 + (40,))  # forty tables at the end follow each of the thirty before
    with pytest.raises(TooLarge, match="too many ways"):
        _ = long.growing
    monkeypatch.setattr(count_tables, "MOST_PLACES", 1300)
    assert len(long.growing) == 31 * 40


@pytest.mark.parametrize("shape", [((1, 2), 3), (1, (2,)), ((),), (), 0, (2, 0), ((1,), ((1,),))])
def test_trees_whose_branches_ask_for_other_classes_are_refused(shape: Shape) -> None:
    with pytest.raises(InputError, match=r"same classes|table or more"):
        CountTables(shape)


def test_a_tree_deeper_than_any_total_tells_is_refused() -> None:
    shape: Shape = 1
    for _ in range(count_tables.MOST_CLASSES - 1):
        shape = (shape,)
    assert CountTables(shape).classes == count_tables.MOST_CLASSES
    with pytest.raises(InputError, match="same classes"):
        CountTables((shape,))


def test_a_third_count_is_hidden_too() -> None:
    """Centres may move by two with one respondent more and his value; three are too many, wherever the tables change."""
    asked = partial(counted_on, values=(0, 1, 2, 2), counted=(3,), second=(2,), third=(1,))
    near = peaked(2, 0, -1, -1, tables=((2, 1), (1,)))
    assert proved(asked(near))
    assert near.marks([16, 16 * 5, 16 * 25, 0]) == [3, 2, 1, 0]
    for wrong in [(2, -2, -1, -1), (-2, 0, -1, -1), (2, 0, 1, -1), (2, 0, -1, 1)]:
        found = privacy(asked(peaked(*wrong, tables=((2, 1), (1,)))))
        assert isinstance(found, Counterexample) and found.edge is not None


def test_three_counts_are_read_from_one_total() -> None:
    tables = ((2, 1), (3,), (1, 1))
    kernel = kernel_of([[4, 6, 4]] * 8, tables=tables)
    for counts in product(range(4), repeat=3):
        total = 7 + 16 * (counts[2] + 5 * counts[1] + 25 * counts[0])
        assert kernel.capped(np.array([total]))[0] == 16 * CountTables(tables).of(counts) + 7


def test_the_law_of_three_counts_is_that_of_all_databases() -> None:
    p = tuple(Fraction(x, 20) for x in (9, 6, 3, 2))
    marks, tables = [0, 2, 1, 3], CountTables(((1, 2), (3, 1)))
    true = [Fraction(0)] * len(tables)
    for database in product(range(4), repeat=4):
        held = [sum(marks[t] == c for t in database) for c in (1, 2, 3)]
        true[tables.of(held)] += prod(p[t] for t in database)
    found = table_chances(Identical(p, ((4, Fraction(1)),)), marks, tables)
    assert all(0 <= b - a < Fraction(1, 10**14) for a, b in zip(found, true, strict=True)) and sum(true) == 1


@pytest.mark.parametrize(
    "law",
    [
        Identical((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), ((5, Fraction(1, 4)), (6, Fraction(3, 4)))),
        Overdispersed((Fraction(3), Fraction(1), Fraction(1, 2)), ((0, Fraction(1, 4)), (6, Fraction(3, 4)))),
        Separate(((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(0), Fraction(1, 2), Fraction(1, 2)))),
    ],
)
def test_the_law_of_two_counts_is_that_of_one_sum_that_tells_both(law: Law) -> None:
    """Never above it, and below it by less than 10^-14."""
    marks, counts = [0, 2, 1], CountTables((3, 2, 1))
    found, true = table_chances(law, marks, counts), [Fraction(0)] * len(counts)
    sums = law.masses([(0, 10, 1)[mark] for mark in marks], 100)
    for code, mass in enumerate(sums.masses, sums.first):
        true[counts.of(divmod(code, 10))] += Fraction(mass, 2**100)
    assert all(p <= q + Fraction(1, 2**90) and q - p < Fraction(1, 10**14) for p, q in zip(found, true, strict=True))


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(9, 10))])
@pytest.mark.parametrize("tables", [(), (2, 1), (1, 2)])
def test_the_value_needs_the_law_of_the_counts_alone(
    loss: SquaredLoss | AbsoluteLoss | PinballLoss, tables: tuple[int, ...]
) -> None:
    """With ends that gather nothing likely the bound is the truth but for what they gather; with near ends it is below it."""
    rows = [[2, 20, 3], [5, 9, 4], [7, 3, 8]]
    for far, slack in ((120, Fraction(1, 10**9)), (0, None)):
        kernel = kernel_of(rows, low=-far, high=6 + far, tables=tables)
        kernel = kernel.with_actions([Fraction(k) for k in range(kernel.low, kernel.high + 1)])
        mechanism = counted_on(kernel, second=(1,) if tables else ())
        prior = DirichletMultinomialPrior((Fraction(3), Fraction(1), Fraction(1, 2)))
        decision = replace(mechanism.problem.decision, loss=loss)
        mechanism = replace(mechanism, problem=replace(mechanism.problem, prior=prior, decisions=(decision,)))
        below, exact = counted_payoff(mechanism), expected_payoff(mechanism)[0]
        assert below is not None and below <= exact
        if slack is not None:
            assert exact - below < slack
        found = proved_value(mechanism, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("none", {})))
        assert exact - Fraction(1, 2**200) < found <= exact


def test_every_output_at_every_place_is_rounded_down_by_next_to_nothing() -> None:
    """Near ends and far ones, tables shorter and longer than the range; the longest of exact numbers are never made."""
    for mechanism in at_random(40, seed=12):
        kernel = kernel_in(mechanism)
        columns = Columns(kernel)
        for place in set(mechanism.places.tolist()):
            exact = [kernel.mass(k, place) for k in range(kernel.low, kernel.high + 1)]
            told = [Fraction(x, 1 << BITS) for x in columns.at(place)]
            assert all(x - Fraction(1, 1 << (BITS - 10)) < y <= x for x, y in zip(exact, told, strict=True))


def test_any_actions_are_valued_histogram_by_histogram_and_a_hundred_respondents_at_once() -> None:
    """Both sides around the exact value; with a hundred respondents that took gigabytes, and the same in whole numbers does not."""
    for mechanism in at_random(12, seed=3):
        kernel = kernel_in(mechanism)
        kernel = kernel.with_actions([Fraction(k * k % 7, 3) for k in range(kernel.low, kernel.high + 1)])
        moved = replace(mechanism, kernel=kernel)
        low, high = listed_counted_payoff(moved, kernel)
        assert low <= expected_payoff(moved)[0] <= high < low + Fraction(1, 2**200)
    ratio = Fraction(2**62 + 1, 2**64)
    kernel = kernel_of([[4, 6, 4]] * 3, low=0, high=200, stride=201, ratio=ratio)
    many = counted_on(kernel.with_actions([Fraction(k) for k in range(201)]), respondents=100)
    exact = proved_value(many, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("none", {})))
    below = counted_payoff(many)
    assert below is not None and below < exact < below * Fraction(9, 10)


def test_a_range_that_a_few_characters_widen_is_refused_before_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without actions a kernel of millions of outputs is a short file; and no table holds the range for itself."""
    kernel = kernel_of([[4, 6, 4]] * 9, low=0, high=1000)
    columns = Columns(kernel)
    assert [len(row) for row in columns.rows] == [3] * 9 and {len(row) for side in columns.near for row in side} == {2}
    monkeypatch.setattr("discreet.certify.value.counted_listed.Columns", None)
    wide = replace(kernel, high=20_000_000)
    with pytest.raises(TooLarge, match="too many outputs"):
        listed_counted_payoff(counted_on(wide, respondents=1), wide)


def test_nothing_is_valued_at_another_value_than_is_shown() -> None:
    kernel = kernel_of(EVEN)
    shifted = kernel.with_actions([Fraction(k + 1) for k in range(kernel.low, kernel.high + 1)])
    assert counted_payoff(counted_on(shifted)) is None
    assert counted_payoff(counted_on(kernel)) is None
    assert moments(kernel)[0][2] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stride": 6}, "reads a sum and counts"),
        ({"ratio": Fraction(1)}, "ratio"),
        ({"stride": 0}, "stride"),
        ({"denominator": 60}, "power of two"),
        ({"tail": 5}, "no distribution"),
        ({"weights": ()}, "one table"),
        ({"low": 1}, "cover"),
        ({"radix": 5}, "radix"),
        ({"tables": (2, 1)}, "radix"),
        ({"radix": 0}, "radix"),
        ({"radix": 5, "tables": (2, 2)}, "radix"),
        ({"radix": 5, "tables": (3, 0)}, "a table or more"),
        ({"radix": 3, "tables": (2, 1)}, "reads a sum and counts"),
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


def test_stairs_that_take_too_long_to_compare_are_refused_before_any_work() -> None:
    """Nine pairs of three tables fit into memory, and are more than forty million comparisons."""
    wide = counted_on(replace(kernel_of(EVEN), step=4_000_000))
    with pytest.raises(TooLarge, match="too long to be compared"):
        privacy(wide)


def counting(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> Counter[str]:
    """How often a function of a module is called."""
    called, own = Counter[str](), getattr(module, name)
    monkeypatch.setattr(module, name, lambda *each, **more: called.update([name]) or own(*each, **more))
    return called


def test_moves_and_long_numbers_are_refused_before_any_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two classes of a thousand counts each are thousands of places in the tables; numbers of many digits take gigabytes."""
    tables = (1000,) + (1,) * 1000
    kernel = kernel_of([[1, 2, 1]] * sum(tables), tables=tables)
    wide = counted_on(replace(kernel, radix=5000, stride=2**14, high=9000), respondents=4000, values=tuple(range(3)), second=(1,))
    held, moved = counting(monkeypatch, edges, "whole_tables"), counting(monkeypatch, edges, "Move")
    for most in (3_000, 12_000):  # fewer moves, each of them a place in memory, than could be compared
        monkeypatch.setattr(edges, "MOST_COMPARED", most)
        with pytest.raises(TooLarge, match="too many to be listed"):
            privacy(wide)
    assert not moved
    long = counted_on(replace(kernel_of([[4, 6, 4]]), ratio=Fraction(1, 2**20_000 + 1)))
    monkeypatch.setattr(edges, "MOST_COMPARED", 1000)
    with pytest.raises(TooLarge, match="shorter numbers"):
        privacy(long)
    assert moved and not held
    assert isinstance(privacy(counted_on(kernel_of([[4, 6, 4]]))), Certificate | Counterexample) and held


def test_types_that_move_alike_are_listed_once() -> None:
    """A hundred values of one class have two hundred differences, not ten thousand pairs."""
    types = [(0, v) for v in range(100)]
    moves = list(edges.met(types, CountTables(1), 5, presence=False))
    assert len(moves) == 2 * 99 and {move.moved for move in moves} == {*range(-99, 100)} - {0}


def test_neighbours_that_would_break_the_promise_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases are named for the largest factor alone, however many larger ones come one after the other."""
    steeper = [2 ** (40 - abs(z) * (abs(z) + 1) // 2) for z in range(-8, 9)]
    looked = counting(monkeypatch, edges, "_databases")
    assert isinstance(privacy(counted_on(kernel_of([steeper], tail=1))), Counterexample)
    assert looked.total() == 1


def test_a_law_of_counts_that_takes_too_long_is_refused_before_its_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million respondents and one table were a hundred million steps; sizes and mixtures count together."""
    p, stepped = (Fraction(1, 2), Fraction(1, 2)), counting(monkeypatch, capped_counts, "_next")
    marks, counts = [0, 1], CountTables(2)
    with pytest.raises(TooLarge, match="too many steps"):
        table_chances(Identical(p, ((10**8, Fraction(1)),)), marks, counts)
    monkeypatch.setattr(capped_counts, "MOST_STEPS", 10**6)
    half = Overdispersed(p, ((300, Fraction(1)),))
    sizes = Identical(p, tuple((n, Fraction(1, 490)) for n in range(490)))
    for law in (Identical(p, ((600, Fraction(1)),)), sizes, Mixed(((Fraction(1, 2), half), (Fraction(1, 2), half)))):
        with pytest.raises(TooLarge, match="too many steps"):
            table_chances(law, marks, counts)
    assert not stepped
    table_chances(Identical(p, ((3, Fraction(1)),)), marks, counts)
    assert stepped.total() == 3


def test_other_readings_of_large_cells_have_no_value_and_say_so() -> None:
    kernel = kernel_of(EVEN, stride=300, low=0, high=200)
    shifted = kernel.with_actions([Fraction(k + 1) for k in range(kernel.low, kernel.high + 1)])
    large = counted_on(shifted, respondents=100, values=(0, 1, 2, 2, 2), counted=(4,))
    with pytest.raises(TooLarge, match="face value"):
        proved_value(large, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("none", ())))
