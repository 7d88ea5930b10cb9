"""dp_accounting: our dominating pairs compose there to what we compose here, and its events are judged exactly here."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from random_worlds import problem_of, random_mechanism

from discreet.currencies import compose
from discreet.errors import InputError
from discreet.exchange import dominating, finite, finite_of, from_accounting, judge, repeated, to_accounting
from discreet.exchange.accounting import leading, mass_functions, pair_table
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

pytest.importorskip("dp_accounting")
TWO = (Fraction(0), Fraction(1))
COUNT = problem_of(Universe.of(6, TWO), ReplaceOne())
GEOMETRIC = geometric_mechanism(COUNT, LinearSummary((0, 1)))
SKEW = finite([["0.7", "0.2", "0.1"], ["0.4", "0.3", "0.3"], ["0.2", "0.2", "0.6"]], states_in="rows", neighbours="counts")


@pytest.mark.parametrize("source", [GEOMETRIC, SKEW], ids=["geometric", "anyone's table"])
@pytest.mark.parametrize("times", [1, 10, 30])
def test_composition_there_equals_ours_within_a_thousandth(source: object, times: int) -> None:
    """Both sides: pessimistic from above, optimistic from below, ours in between."""
    above = to_accounting(source).self_compose(times)  # type: ignore[arg-type]
    below = to_accounting(source, pessimistic=False).self_compose(times)  # type: ignore[arg-type]
    channel = source.profiled if hasattr(source, "profiled") else source
    for epsilon in (0.5, 1.0, 3.0):
        ours = compose(channel, times, epsilon, adaptive=True)  # type: ignore[arg-type]
        assert ours.lower - 1e-12 <= above.get_delta_for_epsilon(epsilon) <= ours.upper + 1e-3
        assert below.get_delta_for_epsilon(epsilon) <= ours.upper + 1e-12


def test_a_pair_that_is_an_edge_is_tight_from_both_sides() -> None:
    found = dominating(GEOMETRIC)
    assert found.edge is not None and leading(GEOMETRIC) == found
    for epsilon in (0.0, 0.5):
        above, below = (to_accounting(GEOMETRIC, pessimistic=side).self_compose(10) for side in (True, False))
        assert 0 <= above.get_delta_for_epsilon(epsilon) - below.get_delta_for_epsilon(epsilon) < 1e-3


def test_the_pair_dominates_every_edge_of_random_mechanisms() -> None:
    rng = random.Random(2)
    for k in range(12):
        table = finite_of(random_mechanism(rng, zeros=k % 3 == 0))
        pair = pair_table(dominating(table))
        for epsilon in (0, Fraction(1, 2), 2):
            there = judge(pair, at_epsilons=[epsilon]).deltas[0]
            here = judge(table, at_epsilons=[epsilon]).deltas[0]
            assert here.tight_low <= there.tight_high + Fraction(1, 10**12)


def test_mass_functions_are_distributions_without_impossible_outcomes() -> None:
    leaky = finite([["1/2", "1/2", 0], [0, "1/2", "1/2"]], states_in="rows")
    lower, upper = mass_functions(dominating(leaky).pair)
    assert len(lower) == len(upper) == 2 and set(lower) != set(upper)
    pld = to_accounting(leaky)
    assert pld.get_delta_for_epsilon(50.0) == pytest.approx(0.5)


def test_randomised_response_and_discrete_laplace_are_read_as_they_are() -> None:
    from dp_accounting import dp_event

    response = from_accounting(dp_event.RandomizedResponseDpEvent(0.5, 4))
    assert response.columns[0] == (Fraction(5, 8), Fraction(1, 8), Fraction(1, 8), Fraction(1, 8))
    laplace = from_accounting(dp_event.DiscreteLaplaceDpEvent(0.5, 2))
    assert judge(laplace, epsilon=1).findings[0].holds and laplace.edges == ((0, 1), (0, 2), (1, 2))
    assert not judge(laplace, epsilon="0.999999").findings[0].holds
    for event in (dp_event.GaussianDpEvent(1.0), dp_event.NoOpDpEvent(), object()):
        with pytest.raises(InputError, match="no finite table"):
            from_accounting(event)
    for event in (dp_event.DiscreteLaplaceDpEvent(0.0, 1), dp_event.DiscreteLaplaceDpEvent(1.0, 0)):
        with pytest.raises(InputError, match="positive parameter"):
            from_accounting(event)
    with pytest.raises(InputError, match="two answers"):
        from_accounting(dp_event.RandomizedResponseDpEvent(0.5, 1))


def test_repeating_a_mechanism_is_the_product_of_its_rows() -> None:
    thrice = repeated(SKEW, 3)
    assert len(thrice.outputs) == 10 and all(sum(column) == 1 for column in thrice.columns)
    ours = compose(SKEW.profiled, 3, 1)
    exact = judge(thrice, at_epsilons=[1]).deltas[0]
    assert ours.lower <= float(exact.tight_high) + 1e-12 and float(exact.tight_low) <= ours.upper + 1e-12
    assert judge(repeated(RESPONSE, 2)).tight.ratio == 9
    with pytest.raises(Exception, match="too many outcomes"):
        repeated(SKEW, 5000)


RESPONSE = finite([["3/4", "1/4"], ["1/4", "3/4"]])


def test_the_accountant_counts_repeated_randomised_response_once_and_is_refuted() -> None:
    """dp-accounting 0.5 and 0.6: PLDAccountant.compose(RandomizedResponseDpEvent, count) leaves the count out.

    The promise for ten answers is that for one; ten answers together break it at the very first edge. Where the peer has mended
    this, its promise is proved instead: either way the verdict must fit what was promised.
    """
    import dp_accounting
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    event = dp_event.RandomizedResponseDpEvent(0.5, 2)
    accountant = pld_privacy_accountant.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(event, 10)
    promised = accountant.get_epsilon(1e-6)
    found = judge(repeated(from_accounting(event), 10), epsilon=Fraction(promised), delta="1e-6").findings[0]
    assert found.holds is (promised > 10)
    if not found.holds:
        assert found.counterexample is not None and found.counterexample.edge == ("0", "1")
        assert promised == pytest.approx(1.0987, abs=1e-3)


def test_grids_are_positive() -> None:
    for interval in (0.0, -1.0, 2.0):
        with pytest.raises(InputError, match="positive width"):
            to_accounting(SKEW, interval=interval)
