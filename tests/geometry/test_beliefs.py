"""Beliefs and private beliefs: what is refused, and what membership says.

Executes SY eq. (4) and (7).
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InputError, TooLarge
from discreet.geometry.beliefs import belief, full_support, project
from discreet.geometry.exponentials import sign_at_exp, value_at_exp
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K, K_Omega, oblivious_problem, stated
from discreet.geometry.private_beliefs import PrivateBeliefs
from discreet.model.priors import ExchangeablePrior, IidPrior, TablePrior

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (["1/2", "1/3"], "does not sum to one"),
        ([-HALF, HALF, 1], "negative"),
        ([1], "every state"),
        (["nan", 1], "not a finite number"),
    ],
)
def test_beliefs_off_the_simplex_are_refused(numbers: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        belief(numbers, 2 if len(numbers) != 3 else 3)


def test_a_prior_without_full_support_is_refused(problem) -> None:
    with pytest.raises(InputError, match=r"full support"):
        full_support((Fraction(1), Fraction(0)), ("a", "b"))
    with pytest.raises(InputError, match="no probability"):
        K(problem(prior=IidPrior((Fraction(1), Fraction(0)))))
    with pytest.raises(InputError, match="no probability"):
        K_Omega(problem(prior=ExchangeablePrior((((2, 0), HALF), ((0, 2), HALF)))))


def test_projection_adds_up() -> None:
    assert project((HALF, HALF / 2, HALF / 2), ("x", "y", "x"), ("x", "y")) == (Fraction(3, 4), Fraction(1, 4))


def test_the_violated_pair_is_the_worst_one() -> None:
    third = Fraction(1, 3)
    path = PrivateBeliefs(("a", "b", "c"), (third,) * 3, ((0, 1), (1, 2)), Fraction(1))
    found = path.violation(["0.1", "0.3", "0.6"])
    assert found is not None and (found.state, found.other) == ("b", "a")
    assert found.log_shift == pytest.approx(1.0986, abs=1e-4)
    assert path.violation(["0.2", "0.3", "0.5"]) is None
    assert path.in_relative_interior(["0.2", "0.3", "0.5"])


@pytest.mark.parametrize("edges", [((0, 0),), ((0, 7),)])
def test_a_broken_graph_is_refused(edges) -> None:
    with pytest.raises(InputError, match="edge"):
        PrivateBeliefs(("a", "b"), (HALF, HALF), edges, Fraction(1))


def test_negative_epsilon_is_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        PrivateBeliefs(("a", "b"), (HALF, HALF), ((0, 1),), Fraction(-1))


def test_sizes_beyond_enumeration_say_what_would_fit(problem) -> None:
    with pytest.raises(TooLarge, match="5 respondents of 2 types"):
        extreme_points(K(problem(4, (1, 1, 1)), "databases"))
    with pytest.raises(TooLarge, match="for instance 15 respondents"):
        stated(problem(20), "databases")
    with pytest.raises(TooLarge, match="histograms"):
        stated(problem(10**6, (1, 1, 1)))


def test_histograms_need_exchangeable_respondents(problem) -> None:
    prior = TablePrior(tuple((d, Fraction(w, 10)) for d, w in (("0,0", 1), ("0,1", 2), ("1,0", 3), ("1,1", 4))))
    with pytest.raises(InputError, match="exchangeable"):
        K(problem(prior=prior), "histograms")
    with pytest.raises(InputError, match="databases or histograms"):
        K(problem(), "rows")


def test_several_components_and_zero_epsilon() -> None:
    quarter = (Fraction(1, 4),) * 4
    apart = PrivateBeliefs(tuple("abcd"), quarter, ((0, 1), (2, 3)), Fraction(1))
    points = {p.exponents for p in extreme_points(apart)}
    assert points == {(0, 1, None, None), (1, 0, None, None), (None, None, 0, 1), (None, None, 1, 0)}
    still = PrivateBeliefs(tuple("abcd"), quarter, ((0, 1), (2, 3)), Fraction(0))
    assert {p.exponents for p in extreme_points(still)} == {(0, 0, None, None), (None, None, 0, 0)}


def test_the_oblivious_problem_has_the_same_statistic(problem) -> None:
    whole = problem(3, (3, 2, 1))
    reduced = oblivious_problem(whole)
    assert reduced.omegas == whole.omegas
    polytope, again = K_Omega(whole), K(reduced)
    assert (polytope.prior, polytope.edges) == (again.prior, again.edges)


def test_signs_of_sums_of_exponentials() -> None:
    one = Fraction(1)
    e = {0: Fraction(-2718281828459045, 10**15), 1: one}
    assert sign_at_exp(e, one) == 1  # e is a little above its first sixteen digits
    assert sign_at_exp({0: Fraction(-2718281828459046, 10**15), 1: one}, one) == -1
    assert sign_at_exp({1: Fraction(0)}, one) == 0 and sign_at_exp({2: one, 5: -one}, Fraction(0)) == 0
    low, high = value_at_exp({-1: one, 2: -one}, one)
    assert low < high and float(low) == pytest.approx(2.718281828459045**-1 - 2.718281828459045**2)
