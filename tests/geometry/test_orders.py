"""Orders: certificates that certify, counterexamples that refute, and the comparison of two mechanisms.

Executes SY App. B.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.geometry.channel import Channel
from discreet.geometry.orders import compare_orders, orders_in_words
from discreet.geometry.orders.blackwell import blackwell, value_of
from discreet.geometry.orders.likelihood_ratio import (
    first_order,
    mlrp,
)
from discreet.geometry.orders.uprr import uprr
from discreet.model.priors import IidPrior
from discreet.views.plain import json_text


def F(*parts: object) -> tuple[Fraction, ...]:
    return tuple(Fraction(str(p)) for p in parts)


def random_channel(draw: random.Random, outputs: int, states: int) -> Channel:
    columns = [[draw.randint(1, 20) for _ in range(outputs)] for _ in range(states)]
    rows = tuple(tuple(Fraction(c[s], sum(c)) for c in columns) for s in range(outputs))
    return Channel(tuple(map(str, range(states))), tuple(map(str, range(outputs))), rows)


@pytest.mark.parametrize("seed", range(15))
def test_a_garbling_is_found_and_exact(seed: int) -> None:
    draw = random.Random(seed)
    ours = random_channel(draw, draw.randint(2, 5), draw.randint(2, 4))
    garbling = random_channel(draw, draw.randint(2, 4), len(ours.outputs))
    theirs = ours.garbled(garbling.rows)
    answer = blackwell(ours, theirs)
    assert answer.holds is True
    merged = ours.merged()
    assert merged.garbled(answer.garbling).rows == theirs.merged().rows


@pytest.mark.parametrize("seed", range(15))
def test_a_refutation_is_a_decision_that_prefers_the_other(seed: int) -> None:
    draw = random.Random(seed)
    ours, theirs = random_channel(draw, 3, 3), random_channel(draw, 3, 3)
    answer = blackwell(ours, theirs)
    if answer.holds:
        assert ours.merged().garbled(answer.garbling).rows == theirs.merged().rows
    else:
        assert answer.holds is False
        assert value_of(theirs, answer.payoff) - value_of(ours, answer.payoff) == answer.advantage > 0


def test_blackwell_is_reflexive_and_refuses_other_states() -> None:
    channel = random_channel(random.Random(1), 3, 3)
    assert blackwell(channel, channel).holds
    with pytest.raises(InputError, match="different states"):
        blackwell(channel, random_channel(random.Random(1), 3, 4))


def test_uprr_is_not_reflexive() -> None:
    """Two posteriors of one hyper, each rising and falling against the other in turn."""
    wavy = [F("0.1", "0.4", "0.1", "0.4"), F("0.4", "0.1", "0.4", "0.1")]
    answer = uprr(wavy, wavy)
    assert not answer.holds
    found = answer.counterexample
    assert found.posterior == 0 and found.falls_against == 1
    a, b = found.falls
    assert wavy[0][b] * wavy[1][a] < wavy[0][a] * wavy[1][b]
    a, b = found.rises
    assert wavy[0][b] * wavy[1][a] > wavy[0][a] * wavy[1][b]
    assert found.rises[1] > found.falls[0]


def test_uprr_with_zeros_compares_cross_multiplied() -> None:
    spike = F(0, 1, 0)
    flat = F("1/3", "1/3", "1/3")
    assert uprr([spike], [flat]).peaks == ((1, 1),)
    assert not uprr([flat], [spike]).holds
    # 0/0 in the middle must not hide a fall from the first state to the last.
    assert uprr([F("0.6", 0, "0.4")], [F("0.5", 0, "0.5")]).peaks == ((0, 1),)
    with pytest.raises(InputError, match="different states"):
        uprr([spike], [F("0.5", "0.5")])


def test_mlrp_implies_first_order_but_not_conversely() -> None:
    low, high = F("0.5", "0.1", "0.4"), F("0.3", "0.2", "0.5")
    assert first_order([low, high]).holds
    crossing = [F("0.5", "0.3", "0.2"), F("0.4", "0.2", "0.4"), F("0.45", "0.1", "0.45")]
    assert first_order(crossing[:2]).holds
    assert not mlrp(crossing[1:]).holds
    found = mlrp([F("0.6", "0.1", "0.3"), F("0.3", "0.5", "0.2")])
    assert not found.holds and (found.counterexample.low, found.counterexample.high) == (1, 2)
    with pytest.raises(InputError, match="different states"):
        first_order([low, F("0.5", "0.5")])


def test_comparing_two_geometric_mechanisms(problem, geometric) -> None:
    asked = problem(3)
    found = compare_orders(geometric(asked, (0, 1)), geometric(asked, (0, 1), Fraction(1, 2)))
    assert found["exact"] and found["oblivious"] == [True, True] and found["statistic"] == ["0", "1", "2", "3"]
    assert found["blackwell"]["first_over_second"]["holds"] is True
    assert found["blackwell"]["second_over_first"]["holds"] is False
    assert found["uprr"]["first_over_second"]["peaks"] == {"0": "0", "1": "1", "2": "2", "3": "3"}
    assert found["uprr"]["second_over_first"]["holds"] is False
    assert found["supermodular"]["first_over_second"]["holds"]
    assert not found["supermodular"]["second_over_first"]["holds"]
    assert found["mlrp"]["first"]["order"] == ["0", "1", "2", "3"] and found["first_order"]["second"]["holds"]
    assert json.loads(json_text(found))["blackwell"]["second_over_first"]["decision"]["advantage"] > 0


def test_long_numbers_are_rounded_and_said_so(problem, geometric) -> None:
    asked = problem(12, (5, 3, 2))
    found = compare_orders(geometric(asked, (0, 1, 2)), geometric(asked, (0, 1, 1)))
    assert found["exact"] is False
    assert found["blackwell"]["first_over_second"]["holds"] is False
    assert found["mlrp"]["first"] == {"holds": None, "within": True, "order": [str(k) for k in range(25)]}


def test_mechanisms_over_different_universes_are_refused(problem, geometric) -> None:
    first = geometric(problem(2), (0, 1))
    for other, words in (
        (problem(3), "universes"),
        (problem(2, prior=IidPrior(F("0.5", "0.5"))), "priors"),
    ):
        with pytest.raises(InputError, match=words):
            compare_orders(first, geometric(other, (0, 1)))


def test_a_mechanism_that_reads_databases(problem, geometric, response) -> None:
    asked = problem(2)
    found = compare_orders(geometric(asked, (0, 1)), response(asked))
    assert found["oblivious"] == [True, False]
    assert found["blackwell"]["second_over_first"]["holds"] is False


def test_the_comparison_in_words(problem, geometric, response) -> None:
    asked = problem(3)
    strong, weak = geometric(asked, (0, 1)), geometric(asked, (0, 1), Fraction(1, 2))
    lines = orders_in_words(compare_orders(strong, weak))
    assert lines[0].startswith("For every decision (Blackwell's order): the first tells more; a decision shows it, by ")
    assert "the first tells more (it holds for every decision); acting from " in lines[1]
    assert "the second tells more" in orders_in_words(compare_orders(weak, strong))[2]
    assert all("the two tell the same" in line for line in orders_in_words(compare_orders(weak, weak))[:3])
    pair = problem(2)
    mixed = orders_in_words(compare_orders(geometric(pair, (0, 1)), response(pair)))
    assert "the second reads more than the statistic" in mixed
    long = problem(12, (5, 3, 2))
    lines = orders_in_words(compare_orders(geometric(long, (0, 1, 2)), geometric(long, (0, 1, 1))))
    assert "neither tells more" in lines[0] and "rounded" in lines[-1]
