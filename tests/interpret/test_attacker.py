"""The attacker's view: exact shifts, worst cases over product priors and under correlation, sentences."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
from small_worlds import (
    HISTOGRAM,
    counting,
    listed,
    problem_of,
    random_table,
    randomised_response,
    summing,
)

from discreet.currencies import largest_shift
from discreet.errors import InputError
from discreet.interpret import (
    attacker_sentence,
    odds_shift,
    power_bound,
    power_sentence,
    worst_correlated,
    worst_product,
)
from discreet.interpret.attacker import prior_types
from discreet.interpret.bounds import PosteriorBounds, moved_bracket
from discreet.interpret.sentences import limit_sentence, reading_sentence
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    TablePrior,
)

ALIKE = TablePrior((("0,0", Fraction(1, 2)), ("1,1", Fraction(1, 2))))


def test_sy_oa_two_who_answer_alike_move_twice_as_far() -> None:
    mechanism = randomised_response(2, Fraction(1), ALIKE)
    found = odds_shift(mechanism, "s3", ALIKE)
    assert found.log_shift(1, 0) == pytest.approx(2, abs=1e-9)
    assert worst_product(mechanism).shift == pytest.approx(1, abs=1e-9)
    assert worst_correlated(mechanism).shift == pytest.approx(2, abs=1e-9)
    independent = IidPrior((Fraction(1, 2), Fraction(1, 2)))
    assert odds_shift(mechanism, "s3", independent).log_shift(1, 0) == pytest.approx(1, abs=1e-9)


def test_product_priors_never_move_odds_by_more_and_come_arbitrarily_close() -> None:
    rng = np.random.default_rng(0)
    problem = problem_of(3, (0, 1, 2), IidPrior((Fraction(1, 3),) * 3))
    mechanism = random_table(problem, HISTOGRAM, 4, rng)
    worst = worst_product(mechanism).shift
    best = 0.0
    for _ in range(60):
        rows = tuple(tuple(Fraction(int(w), int(r.sum())) for w in r) for r in rng.integers(1, 40, size=(3, 3)))
        for s in range(4):
            found = odds_shift(mechanism, f"s{s}", IndependentPrior(rows))
            best = max(best, *(abs(found.log_shift(a, b)) for a, b in product(range(3), repeat=2)))
    assert best <= worst + 1e-9
    sharp = 0.0
    for others in product(range(3), repeat=2):
        sure = tuple(tuple(Fraction(int(t == o)) for t in range(3)) for o in others)
        rows = ((Fraction(1, 3),) * 3, *sure)
        for s in range(4):
            found = odds_shift(mechanism, f"s{s}", IndependentPrior(rows))
            sharp = max(sharp, *(abs(found.log_shift(a, b)) for a, b in product(range(3), repeat=2)))
    assert sharp == pytest.approx(worst, abs=1e-9)


def test_correlated_priors_can_leave_the_product_bound_but_not_their_own() -> None:
    mechanism = summing(4, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), Fraction(1))
    everybody = worst_correlated(mechanism).shift
    extremes = TablePrior((("0,0,0,0", Fraction(1, 2)), ("2,2,2,2", Fraction(1, 2))))
    shifts = [abs(odds_shift(mechanism, s, extremes).log_shift(2, 0)) for s in range(9)]
    assert max(shifts) == pytest.approx(everybody, abs=1e-9) and everybody > worst_product(mechanism).shift + 1
    assert everybody == pytest.approx(4, abs=1e-6)


@pytest.mark.parametrize("together", [1, 2, 3])
def test_a_group_moves_odds_by_at_most_its_size_times_epsilon(together: int) -> None:
    mechanism = counting(6, epsilon=Fraction(1, 2))
    found = worst_correlated(mechanism, together=together)
    assert found.shift == pytest.approx(together / 2, abs=1e-9)
    assert worst_correlated(mechanism, "3", together).shift <= found.shift + 1e-12


def test_shifts_of_one_output() -> None:
    mechanism = counting(3)
    assert worst_product(mechanism, "1").output == 1
    assert worst_product(mechanism, "1").surest(0.5) == pytest.approx(np.e / (1 + np.e), abs=1e-9)


def test_prior_types_of_every_kind_of_prior() -> None:
    mechanism = counting(2)
    for prior, wanted in (
        (IidPrior((Fraction(1, 4), Fraction(3, 4))), [0.25, 0.75]),
        (IndependentPrior(((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))), [1, 0]),
        (DirichletMultinomialPrior((Fraction(1), Fraction(3))), [0.25, 0.75]),
        (ALIKE, [0.5, 0.5]),
        (ExchangeablePrior((((2, 0), Fraction(1, 2)), ((1, 1), Fraction(1, 2)))), [0.75, 0.25]),
    ):
        assert prior_types(mechanism, prior, 0).tolist() == pytest.approx(wanted)


def test_an_output_that_rules_a_type_out_moves_odds_without_limit() -> None:
    from small_worlds import table_mechanism

    problem = problem_of(1, (0, 1), IidPrior((Fraction(1, 2), Fraction(1, 2))))
    mechanism = table_mechanism(problem, HISTOGRAM, np.array([[1.0, 0.5], [0.0, 0.5]]))
    assert worst_product(mechanism).shift == inf
    assert "certain" in attacker_sentence(0.5, worst_product(mechanism).shift)


def test_misuse_is_refused() -> None:
    with pytest.raises(InputError, match="move together"):
        worst_correlated(counting(3), together=4)
    with pytest.raises(InputError, match="no respondents"):
        worst_correlated(listed(2, [(0, 1)], np.full((2, 2), 0.5), np.full(2, 0.5)))


# ---- sentences -----------------------------------------------------------------------------------------


def test_the_sentence_of_epsilon_one() -> None:
    assert attacker_sentence(0.5, 1.0) == (
        "Someone who is 50 % sure today of a yes-or-no fact about you can become at most 73.2 % sure, if others' answers say "
        "nothing about yours."
    )
    assert "can become at most 23.2 % sure, even if everybody's" in attacker_sentence(0.1, 1.0, together=None)
    assert "stays 50 % sure" in attacker_sentence(0.5, 0.0)
    assert "at most 100 %" in attacker_sentence(0.5, 40.0) and "certain" in attacker_sentence(0.5, inf)


def test_people_who_answer_alike_need_others_who_say_nothing() -> None:
    alike = attacker_sentence(0.5, 4.0, together=4)
    assert alike.endswith("if 4 people including you always answer alike and everybody else's answers say nothing about yours.")
    # Without the second half it is false: here two answer alike, a third follows nearly always, and the odds move by almost 3ε.
    chances = {"0,0,0": Fraction(99, 200), "1,1,1": Fraction(99, 200), "0,0,1": Fraction(1, 200), "1,1,0": Fraction(1, 200)}
    count = counting(3, epsilon=Fraction(1))
    shift = largest_shift(count, TablePrior(tuple(chances.items())))
    assert shift.bracket.lower > 2.8
    assert "at most 88.1 %" in attacker_sentence(0.5, 2, together=2) and moved_bracket(0.5, shift.bracket.lower).lower > 0.94


def test_bounds_in_words() -> None:
    near = power_sentence(power_bound(0.05, 1.0, 1))
    assert "more than 13.6 % of the time" in near and "one respondent" in near
    assert "rules out no test" in power_sentence(power_bound(0.05, 1.0, inf))
    wide = limit_sentence(PosteriorBounds(1.0, 3.0), 0.5)
    assert "between 4.74 % and 95.3 %" in wide and "says nothing" in wide and "10" in wide
    assert "says nothing" not in limit_sentence(PosteriorBounds(0.1, 1.0), 0.5)
    assert "sets no limit" in limit_sentence(PosteriorBounds(1.0, inf), 0.5)
    words = reading_sentence("7", 6.32, Fraction(4), Fraction(8), 0.9, 0.962)
    assert "under the design's prior: the true value lies between 4 and 8 with probability 96.2 %" in words and "6.32" in words
    assert "is 4 with" in reading_sentence("7", 4.0, Fraction(4), Fraction(4), 0.9, 0.95)


def test_an_attained_power_is_not_denied() -> None:
    # At ε = 8 some mechanism reaches 99.968 %: "no test … more than 99.9 %" was false.
    said = power_sentence(power_bound(0.05, 8, 1))
    assert "more than 99.97 % of the time" in said
