"""What a release costs: the certified ε and ρ of its mechanisms, never less than what they lose, never more than ε alone says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import ceil, tanh
from pathlib import Path

import pytest
from towns import bell_mechanism, make_town, town_mechanism

import discreet.verify_standalone as standalone
from discreet.certify.edges.approximate import mechanism_table, tight_delta
from discreet.currencies.divergences import renyi
from discreet.errors import BudgetExceeded, InputError
from discreet.ledger import Cost
from discreet.model.mechanism import Mechanism
from discreet.model.plan import Exposure
from discreet.model.promises import ApproximatePromise
from discreet.numerics.exact import exact
from discreet.publish import publish, verify
from discreet.publish.costs import least_cost, part_holds, part_of, rounded_up

ONE = Exposure("values", "person", 1, 1)


def test_rho_is_the_mechanisms_own_and_covers_every_order() -> None:
    mechanism = bell_mechanism()
    cost = least_cost(ONE, [mechanism])
    assert cost.epsilon < 2 and cost.zcdp < cost.epsilon**2 / 10, "bell curves lose far less than their ε"
    for order in ("1.01", "1.5", "2", "5", "20", "100"):
        assert Fraction(renyi(mechanism, order).lower) <= cost.zcdp * Fraction(order)
    near = max(Fraction(renyi(mechanism, order).upper) / Fraction(order) for order in ("1.0001", "1.01", "1.1", "2"))
    assert near > cost.zcdp * Fraction(99, 100), "and not more than it must be"


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_closed_forms_cost_what_epsilon_alone_says(epsilon: str) -> None:
    cost = least_cost(ONE, [town_mechanism(epsilon=epsilon)])
    value = float(Fraction(epsilon))
    assert cost.epsilon == Fraction(epsilon) and float(cost.zcdp) == pytest.approx(value * tanh(value / 2), rel=1e-12)
    assert cost.zcdp < cost.epsilon**2 / 2


def test_the_worst_mechanism_counts() -> None:
    both = least_cost(ONE, [bell_mechanism(), town_mechanism(epsilon="1")])
    assert both.zcdp == least_cost(ONE, [town_mechanism(epsilon=str(both.epsilon))]).zcdp
    assert both.epsilon >= 1


@pytest.mark.parametrize(("rows", "cells"), [(1, 1), (3, 1), (1, 2), (3, 2)])
def test_rows_cost_k_times_epsilon_and_k_squared_times_rho(rows: int, cells: int) -> None:
    one = least_cost(ONE, [bell_mechanism()])
    many = least_cost(Exposure("values", "person", rows, cells), [bell_mechanism()])
    assert (many.epsilon, many.zcdp) == (rows * cells * one.epsilon, rows**2 * cells * one.zcdp)
    part = part_of(Exposure("values", "person", rows, cells), [bell_mechanism()], with_pair=True)
    assert (part.epsilon, part.times, part.pair is None) == (rows * one.epsilon, cells, rows > 1)


def test_what_is_charged_leaves_room_for_other_floats_and_no_more() -> None:
    for rho in (Fraction(1, 3), Fraction(1, 10**7), Fraction(12345678901234567, 10**14)):
        cost = Cost(Fraction(100), rho=rho)
        charged = rounded_up(cost)
        assert rho * (1 + Fraction(1, 10**9)) < charged.zcdp < rho * (1 + Fraction(1, 10**7))
        assert charged.covers(cost) and not cost.covers(charged)
        assert not Cost(charged.epsilon - Fraction(1, 10**9), rho=charged.rho).covers(cost)
    assert rounded_up(Cost(Fraction(1), Fraction(1, 10))) == Cost(Fraction(1), Fraction(1, 10))


def test_what_is_written_for_composition_must_be_true() -> None:
    mechanisms = [bell_mechanism()]
    part = part_of(ONE, mechanisms, with_pair=True)
    assert part_holds(part, ONE, mechanisms)
    assert not part_holds(replace(part, epsilon=part.epsilon - Fraction(1, 10**6)), ONE, mechanisms)
    assert not part_holds(part, Exposure("moves", "person", 1, 2), mechanisms), "two cells are touched"
    assert not part_holds(part, Exposure("values", "person", 2, 1), mechanisms), "two rows are two edges"
    wider = [bell_mechanism(spread=5.0)]
    assert not part_holds(replace(part, epsilon=Fraction(3)), ONE, wider), "the pair of another mechanism"


def test_a_ledger_of_zcdp_grants_by_it_and_verify_computes_it_again(tmp_path: Path) -> None:
    """Six bell tables fit where ε²/2 would allow none; a commitment that states a little less is refused."""
    town = make_town(tmp_path / "town", currency="zcdp", cap=Fraction(1, 2), mechanism=bell_mechanism())
    cost = town.bundle().cost
    assert cost.epsilon**2 / 2 > 1 > 6 * cost.zcdp
    for i in range(6):
        folder = town.publish(town.folder / f"release{i}")
    assert verify(folder).holds
    with pytest.raises(BudgetExceeded):
        town.publish(town.folder / "one too many")
    with town.ledger() as book:
        less = replace(cost, rho=cost.zcdp * (1 - Fraction(1, 10**6)))
        name = book.commit("the town", "person", less, town.bundle().hashes | {"nonce": "00"}, town.signer).hash
        with pytest.raises(InputError, match="too small a cost"):
            publish(town.bundle(), town.folder / "cheap", book, signer=town.signer, commitment=name)


def proved_with_delta() -> Mechanism:
    """The bell table at ε = 1/4 with the δ that it has there, rounded up."""
    bell = bell_mechanism()
    delta = Fraction(ceil(tight_delta(mechanism_table(bell), Fraction(1, 4)).tight_high * 10**6), 10**6)
    problem = bell.problem.with_promise(ApproximatePromise(Fraction(1, 4), delta))
    return Mechanism(problem, bell.summary, bell.kernel, problem.guarantee)


def test_a_proved_delta_is_published_charged_and_verified(tmp_path: Path) -> None:
    mechanism = proved_with_delta()
    promise = mechanism.guarantee.promise
    assert least_cost(ONE, [mechanism]) == Cost.of(promise)
    town = make_town(tmp_path / "town", currency="approximate", cap=Fraction(2), delta=Fraction(9, 10), mechanism=mechanism)
    folder = town.publish()
    assert verify(folder).holds
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    assert facts["promise"] == "approximate" and exact(facts["privacy_loss"]["delta"]) == promise.numbers["delta"]
    assert standalone.main([str(folder / "mechanism.json")]) == 0
    with pytest.raises(InputError, match="δ > 0"):
        make_town(tmp_path / "pure", mechanism=mechanism).publish()


def test_promises_of_several_kinds_have_no_cost_together_and_no_batch() -> None:
    mixed = [bell_mechanism(), proved_with_delta()]
    with pytest.raises(InputError, match="several kinds"):
        least_cost(ONE, mixed)
    with pytest.raises(InputError, match="purely ε-private"):
        part_of(ONE, mixed[1:])
