"""Designed tables: exact in whole keys, strictly better where that is possible, and bounds that no table passes."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.exchange.cell_keys import (
    PerturbationTable,
    design_table,
    entropy_table,
    improve,
    least_epsilon,
    wanted_table,
)
from discreet.exchange.cell_keys.designing import demands_of, leaks
from discreet.exchange.cell_keys.entropy import allowed_noise, entropy_rows
from discreet.exchange.cell_keys.program import Wanted, bound_at, constraints, lagrangian, table_program
from discreet.numerics.brackets import exp_bracket

ONE = Fraction(1)


def test_the_least_delta_of_five_and_three_is_a_quarter_and_proved() -> None:
    """By hand: at count 1 unbiased noise of variance 3 goes to −1 with chance at most 3/4 (3 with chance 1/4)."""
    found = design_table(wanted_table(5, 3), 1)
    assert found.delta.tight_low == found.delta.tight_high == found.bound == Fraction(1, 4)
    assert found.gap == 0 and found.table.law(1) == {-1: Fraction(3, 4), 3: Fraction(1, 4)}


@pytest.mark.parametrize("keys", [10**8, 256])
@pytest.mark.parametrize(
    ("noise", "variance", "epsilon"), [(2, "1", "1"), (3, "2", "0.5"), (5, "3", "2"), (4, "1.5", "0"), (1, "0.5", "1")]
)
def test_designs_are_exact_in_whole_keys(noise: int, variance: str, epsilon: str, keys: int) -> None:
    found = design_table(wanted_table(noise, variance), epsilon, keys)
    table = found.table
    assert table.never_negative and table.keeps_zeros and table.largest_noise <= noise
    for count in range(1, noise + 1):
        assert table.mean(count) == 0 and table.variance(count) == min(Fraction(variance), count * noise)
        assert all((p * keys).denominator == 1 for _, p in table.rows[count])
    assert found.bound <= found.delta.tight_high <= found.bound + (Fraction(1, 10**6) if keys == 10**8 else Fraction(3, 100))


@pytest.mark.parametrize(("noise", "variance"), [(5, "3"), (2, "1"), (3, "2"), (4, "1")])
def test_the_usual_tables_are_strictly_improved_at_equal_noise(noise: int, variance: str) -> None:
    for at_most in (False, True):
        usual = entropy_table(noise, variance, at_most=at_most)
        found = improve(usual, 1)
        assert found.better_by > Fraction(1, 20) and found.better_by <= found.at_most_by
        better = found.found.table
        for count in range(noise + 1):
            assert better.mean(count) == 0 and better.variance(count) <= usual.variance(count)
        assert better.largest_noise <= usual.largest_noise and better.never_negative


def test_where_no_table_is_better_that_is_proved() -> None:
    best = design_table(wanted_table(5, 3), 1).table
    again = improve(best, 1)
    assert again.none_better and again.better_by == 0 == again.at_most_by
    nearly = improve(design_table(wanted_table(3, 2), 1).table, 1)
    assert not nearly.none_better and nearly.at_most_by < Fraction(1, 10**6)


def test_no_random_table_goes_below_the_bound() -> None:
    """The adversary: random vertices of everything that the demands allow, and their mixtures."""
    from scipy.optimize import linprog

    wanted = wanted_table(3, 2)
    bound = bound_at(wanted, exp_bracket(ONE, 48)[1])
    program = constraints(wanted)
    rng = np.random.default_rng(5)
    width = len(program.columns)
    equal = np.zeros((len(program.equal), width))
    for i, (row, _) in enumerate(program.equal):
        for k, a in row.items():
            equal[i, k] = float(a)
    right = [float(b) for _, b in program.equal]
    least = 1.0
    for _ in range(60):
        points = [linprog(rng.normal(size=width), A_eq=equal, b_eq=right, bounds=(0, 1), method="highs").x for _ in range(2)]
        mixed = (points[0] + points[1]) / 2
        laws = [{v: mixed[program.columns["p", count, v]] for v in wanted.values(count)} for count in range(4)]
        laws.append(dict(laws[3]))
        worst = 0.0
        for i in range(4):
            for a, b in ((i, i + 1), (i + 1, i)):
                here = {a + v: p for v, p in laws[a].items()}
                there = {b + v: p for v, p in laws[b].items()}
                worst = max(worst, sum(max(p - np.e * there.get(j, 0.0), 0.0) for j, p in here.items()))
        least = min(least, worst)
    assert float(bound) <= least + 1e-9
    assert least < 1


def test_any_multipliers_give_a_bound_and_wrong_ones_only_a_worse_one() -> None:
    wanted = wanted_table(3, 2)
    below, above = exp_bracket(ONE, 48)
    program = table_program(wanted, above)
    best = bound_at(wanted, above)
    found = design_table(wanted, 1)
    rng = random.Random(9)
    for _ in range(20):
        y = [rng.uniform(-2, 2) for _ in program.equal], [rng.uniform(-2, 2) for _ in program.below]
        assert lagrangian(program, *y) <= found.delta.tight_high
    assert best <= found.delta.tight_high and best <= bound_at(wanted, below)


def test_the_least_epsilon_lies_between_a_table_and_a_proof() -> None:
    found = least_epsilon(wanted_table(6, 3), "0.27")
    assert found.found.delta.tight_high <= Fraction(27, 100)
    assert found.lower < found.found.epsilon <= found.lower + Fraction(1, 100)
    assert bound_at(wanted_table(6, 3), exp_bracket(found.lower, 48)[1]) > Fraction(27, 100)
    with pytest.raises(InputError, match="No ε is enough"):
        least_epsilon(wanted_table(5, 3), "0.24")


def test_bias_at_zero_is_what_a_small_delta_costs() -> None:
    kept, free = (design_table(wanted_table(5, 3, unbiased_zero=zero), 1) for zero in (True, False))
    assert free.delta.tight_high < Fraction(1, 50) < kept.bound
    assert free.table.mean(0) > 0 and free.table.variance(0) <= 3 and not free.table.keeps_zeros
    assert all(free.table.mean(count) == 0 for count in range(1, 6))


def test_other_demands_are_linear_rows_too() -> None:
    monotone = design_table(wanted_table(5, 3, monotone=True), 1)
    for count in range(1, 6):
        law = monotone.table.law(count)
        for v in range(min(law), max(law)):
            first, second = law.get(v, 0), law.get(v + 1, 0)
            assert first <= second if v < 0 else first >= second
    blocked = design_table(wanted_table(4, 2, blocked=(1,)), 1)
    assert blocked.table.blocked() == (1,) and all(count + v != 1 for count in range(7) for v in blocked.table.law(count))
    assert monotone.bound > Fraction(1, 4)


def test_demands_of_a_table_are_its_own_noise() -> None:
    wanted = demands_of(entropy_table(3, 1))
    assert wanted.noise == 3 and wanted.variances[3] == (0, 1) and wanted.variances[0] == (0, 0)
    repeated = entropy_table(3, 1)
    longer = PerturbationTable((*repeated.rows, repeated.rows[-1], repeated.rows[-1]), 2)
    assert demands_of(longer) == wanted
    drifting = PerturbationTable((((0, ONE),), ((-1, ONE),), ((-2, ONE),), ((0, ONE),)), 2)
    with pytest.raises(InputError, match="all the way"):
        demands_of(drifting)


def test_maximum_entropy_is_attained() -> None:
    """No small move that keeps sum, mean and variance has more entropy (third differences span such moves)."""
    for noise, variance in ((5, Fraction(3)), (2, Fraction(1))):
        for count, row in enumerate(entropy_rows(noise, variance)):
            if count == 0:
                continue
            values = allowed_noise(count, noise)
            p = np.array([row[v] for v in values])
            assert abs(p @ values) < 1e-9 and abs(p @ np.square(values) - float(min(variance, Fraction(count * noise)))) < 1e-9
            for start in range(len(values) - 3):
                move = np.zeros(len(values))
                move[start : start + 4] = (1, -3, 3, -1)
                assert abs(move @ np.log(p)) < 1e-6


@pytest.mark.parametrize(
    ("noise", "variance", "options", "words"),
    [
        (0, 1, {}, "D and V"), (5, 0, {}, "D and V"), (5, 26, {}, "D and V"), (99, 1, {}, "D and V"), (5, "x", {}, "not a finite"),
    ],
)  # fmt: skip
def test_tables_that_do_not_exist_are_refused(noise: int, variance: object, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        wanted_table(noise, variance, **options)  # type: ignore[arg-type]


def test_demands_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="No table satisfies"):
        design_table(Wanted(2, ((Fraction(0), Fraction(0)), (Fraction(3), Fraction(3)), (Fraction(3), Fraction(3)))), 1)
    with pytest.raises(InputError, match="so few keys"):
        design_table(wanted_table(5, 3), 1, keys=3)
    with pytest.raises(InputError, match="out of range"):
        design_table(wanted_table(5, 3), 40)
    assert leaks(entropy_table(2, 1), ONE)[0].edge == ("1", "0")
