"""Flows found by pushing: what they say is so, they are found where they should be, and nobody relies on them elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.design.solver import pricing
from discreet.design.solver.flows import deficits, price
from discreet.design.solver.program import Floats, Integers, Program, pulled
from discreet.design.solver.pushes import pushed


def grid(side: int) -> Integers:
    number = np.arange(side * side).reshape(side, side)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:]), (number[1:, :-1], number[:-1, 1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])


def counted(side: int, actions: int, epsilon: float) -> Program:
    """Squared error of i + 2j, where both are binomial."""
    rng = np.arange(side)
    law = np.exp(-0.5 * ((rng - 0.3 * side) / (0.12 * side)) ** 2)
    prior = np.outer(law, law).ravel() / law.sum() ** 2
    omega = (rng[:, None] + 2 * rng[None, :]).ravel()
    return Program(prior * (np.arange(actions)[:, None] - omega) ** 2, grid(side), epsilon)


@pytest.mark.parametrize("seed", range(10))
def test_every_edge_carries_what_its_tail_is_short_of(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges, q = grid(6), float(np.exp(rng.uniform(0.1, 2)))
    surplus: Floats = rng.normal(size=(12, 36)) * rng.dirichlet(np.ones(36)) + rng.uniform(0.0, 6.0, size=(12, 1)) / 36
    flow = pushed(surplus, edges, q)
    short = deficits(surplus - pulled(flow, edges, q, 36))
    assert flow.min() >= 0
    decided = price(surplus, edges, q, 1e-9).deficit
    assert (short <= 1e-12).any() and np.all(decided[short <= 1e-12] <= 1e-9)  # no flow is found where there is none


def test_little_is_left_where_it_is() -> None:
    edges, surplus = grid(5), np.full((1, 25), 0.1)
    surplus[0, 24] = 1.0
    surplus[0, [0, 4, 20]] = [-0.01, -1e-9, -2e-9]
    assert np.count_nonzero(pushed(surplus, edges, 2.0)) > np.count_nonzero(pushed(surplus, edges, 2.0, least=1e-8)) > 0
    assert not pushed(surplus, edges, 2.0, least=0.1).any()


def test_much_that_is_short_and_no_room_on_the_way_stay_numbers() -> None:
    """Seen failing: what was short was divided by no room at all, and infinity was sent."""
    edges, surplus = grid(5), np.full((1, 25), -1e12)
    surplus[0, 24] = 1e20
    with np.errstate(all="raise"):
        flow = pushed(surplus, edges, 2.0)
    assert np.isfinite(flow).all() and deficits(surplus - pulled(flow, edges, 2.0, 25))[0] == 0.0


def test_a_way_too_long_for_floats_is_not_taken() -> None:
    """Seen failing: on four hundred states in a row, e^2 more at each of them, infinity and what is no number came out."""
    edges = np.stack([np.arange(399), np.arange(1, 400)], axis=1)
    surplus = np.full((2, 400), [[-1e-3], [0.0]])
    surplus[:, 399] = 1.0
    surplus[1, 398] = -1e-3
    with np.errstate(all="raise"):
        flow = pushed(surplus, edges, float(np.exp(2)))
    assert not flow[0].any() and np.count_nonzero(flow[1]) == 1


def test_actions_far_from_those_that_are_played_need_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    program = counted(9, 40, 1.0)
    wanted = pricing.solve_priced(program)

    def refuse(*_: object) -> None:
        raise AssertionError("an interior point was asked for flows")

    monkeypatch.setattr(pricing, "price", refuse)
    found = pricing.solve_priced(program)
    assert found.relative_gap <= 1e-6 and found.bound == wanted.bound


def test_what_pushing_does_not_find_is_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    program = counted(7, 30, 1.0)
    wanted = pricing.solve_priced(program)
    monkeypatch.setattr(pricing, "pushed", lambda surplus, edges, *_: np.full((len(surplus), 2 * len(edges)), 1e9))
    found = pricing.solve_priced(program)
    assert found.relative_gap <= 1e-6 and found.value == pytest.approx(wanted.value, rel=2e-6)
