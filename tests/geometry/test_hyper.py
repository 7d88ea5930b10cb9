"""Hypers, channels, screening and symmetrisation.

Executes SY eq. (6).
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.geometry.channel import Channel, averaged, channel_of, is_oblivious, statistic_channel
from discreet.geometry.hyper import Hyper, hyper, hyper_of, hyper_of_channel, statistic_hyper
from discreet.geometry.of_problem import K, stated
from discreet.geometry.screening import screen
from discreet.geometry.symmetrisation import symmetrise

HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)


def test_a_broken_hyper_is_refused() -> None:
    for posteriors, weights, words in (
        (((ONE, ZERO),), (HALF,), "does not sum"),
        (((ONE, ZERO), (ONE, ZERO)), (HALF, HALF), "twice"),
        (((ONE, ZERO), (ZERO, ONE)), (ONE, ZERO), "never occurs"),
        (((ONE, ONE),), (ONE,), "simplex"),
        ((), (), "needs"),
    ):
        with pytest.raises(InputError, match=words):
            Hyper(("a", "b"), posteriors, weights)


def test_equal_posteriors_are_added_up() -> None:
    found = hyper(("a", "b"), [(ONE, ZERO), (ZERO, ONE), (ONE, ZERO), (HALF, HALF)], [HALF / 2, HALF, HALF / 2, ZERO])
    assert dict(zip(found.posteriors, found.weights, strict=True)) == {(ONE, ZERO): HALF, (ZERO, ONE): HALF}


def test_garbling_a_hyper_is_garbling_its_channel(problem, geometric) -> None:
    mechanism = geometric(problem(2), (0, 1))
    listed = stated(mechanism.problem)
    garbling = ((HALF, HALF, ZERO), (HALF, HALF, ONE))
    through_channel = hyper_of_channel(channel_of(mechanism).garbled(garbling), listed.prior)
    direct = hyper_of(mechanism).garbled(garbling)
    assert set(zip(direct.posteriors, direct.weights, strict=True)) == set(
        zip(through_channel.posteriors, through_channel.weights, strict=True)
    )
    assert all(K(mechanism.problem).contains(p) for p in direct.posteriors)


def test_a_garbling_must_be_stochastic(problem, geometric) -> None:
    with pytest.raises(InputError, match="not a distribution"):
        channel_of(geometric(problem(2), (0, 1))).garbled(((ONE, ONE, ONE), (HALF, ZERO, ZERO)))


def test_oblivious_or_not(problem, geometric, response) -> None:
    asked = problem(2)
    listed = stated(asked, "databases")
    assert is_oblivious(channel_of(geometric(asked, (0, 1)), listed), listed) is None
    told = channel_of(response(asked), listed)
    assert is_oblivious(told, listed) == ("no", "1,0", "0,1")
    mean = averaged(told, listed)
    assert mean.rows[0] == (Fraction(5, 8), HALF, Fraction(3, 8))
    assert statistic_channel(response(asked)) == mean


def test_projected_hyper_of_a_mechanism_reading_databases(problem, response) -> None:
    mechanism = response(problem(2))
    listed = stated(mechanism.problem, "databases")
    found = statistic_hyper(hyper_of(mechanism), listed)
    assert found.states == ("0", "1", "2") and found.is_bayes_plausible(listed.statistic_prior)
    with pytest.raises(InputError, match="reads whole databases"):
        channel_of(mechanism, stated(mechanism.problem))


def test_symmetrising_truthful_response(problem, response) -> None:
    mean = symmetrise(response(problem(2)))
    assert mean.states == ("2,0", "1,1", "0,2")
    assert mean.rows == ((Fraction(5, 8), HALF, Fraction(3, 8)), (Fraction(3, 8), HALF, Fraction(5, 8)))


def test_a_broken_channel_is_refused() -> None:
    with pytest.raises(InputError, match="one row"):
        Channel(("a",), ("s", "t"), ((ONE,),))
    with pytest.raises(InputError, match="not a distribution"):
        Channel(("a",), ("s", "t"), ((ONE,), (HALF,)))
    with pytest.raises(InputError, match="states and outputs"):
        Channel((), (), ())


def test_rounding_keeps_a_channel(problem, geometric) -> None:
    exact = channel_of(geometric(problem(4), (0, 1)))
    rounded = exact.rounded(40)
    gaps = [abs(p - q) for a, b in zip(exact.rows, rounded.rows, strict=True) for p, q in zip(a, b, strict=True)]
    assert max(gaps) < Fraction(5, 2**40) and rounded.bits() < exact.bits()


def test_screening_counts_bounds(problem, geometric, response) -> None:
    """On counts the geometric mechanism passes; on sums of 0, 1, 2 it fails, and counting the non-zeros passes."""
    fine = screen(geometric(problem(3), (0, 1)))
    assert fine.could_be_optimal and fine.in_normal_form
    assert [(o.attained, o.required) for o in fine.outputs] == [(3, 3)] * 4
    magnitude = problem(3, (5, 3, 2))
    assert not screen(geometric(magnitude, (0, 1, 2))).could_be_optimal
    assert screen(geometric(magnitude, (0, 1, 1))).could_be_optimal
    assert not screen(geometric(problem(3), (0, 1), Fraction(1, 2))).could_be_optimal
    told = screen(response(problem(2)))
    assert told.among == "all" and [o.required for o in told.outputs] == [3, 3] and not told.could_be_optimal
    with pytest.raises(InputError, match="screened"):
        screen(response(problem(2)), among="some")


def test_screening_among_the_same_summary(problem, geometric) -> None:
    """A sum of 0, 1, 2 with geometric noise of step 2 attains only the bounds two steps apart."""
    found = screen(geometric(problem(2, (5, 3, 2)), (0, 1, 2)), among="summary")
    assert not found.could_be_optimal
    assert screen(geometric(problem(50), (0, 1)), among="summary").could_be_optimal
