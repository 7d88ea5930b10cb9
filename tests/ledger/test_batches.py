"""Batches in the ledger, on both stores: one charge for all members, each drawn at most once, a cost that follows from them."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import log, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.currencies.composition import optimal_epsilon
from discreet.currencies.joint import Part
from discreet.errors import BudgetExceeded, InputError
from discreet.ledger import Batch, BatchMember, Budget, Cost, Ledger, Signer, compose_batch, open_ledger
from discreet.ledger.batches import KNOWN_EPSILON, SUM
from discreet.ledger.chain import Entry
from discreet.ledger.store import row_of

TENTH = Fraction(1, 10)
DELTA = Fraction(1, 10**6)


def members(count: int, epsilon: Fraction = TENTH) -> list[BatchMember]:
    return [
        BatchMember({"plan": f"{i:064x}", "nonce": f"{i + 7:064x}"}, Cost(epsilon, rho=epsilon**2 / 2), Part(epsilon))
        for i in range(count)
    ]


def opened(place: str, currency: str = "approximate", cap: Fraction = Fraction(3), delta: Fraction = DELTA) -> Ledger:
    book = open_ledger(place, create=True)
    book.init(currency)
    book.declare("households", "household", cap, delta if currency == "approximate" else Fraction(0))
    return book


def committed(book: Ledger, batch: Batch) -> str:
    return book.commit_batch("households", "household", batch).hash


def test_twenty_equal_releases_cost_less_than_their_sum(place: str) -> None:
    batch = compose_batch("tables", members(20), "approximate", DELTA / 4)
    known = optimal_epsilon(TENTH, Fraction(0), 20, DELTA / 4)
    assert batch.rule == KNOWN_EPSILON and known.lower <= batch.cost.epsilon <= known.upper + 2e-12
    assert batch.cost.epsilon < 2 and batch.cost.delta == DELTA / 4
    with opened(place) as book:
        name = committed(book, batch)
        book.reserve(name, 0)
        assert book.remaining("households", "household") >= 3 - batch.cost.epsilon
        for member in range(1, 20):
            book.reserve(name, member)
        state = book.state
        assert state.spent["households", "household"].total == batch.cost.epsilon, "charged once"
        assert book.verify() is None


@pytest.mark.parametrize("less", [Fraction(1, 10**9), Fraction(1, 2)])
def test_a_cost_understated_by_a_billionth_is_refused(place: str, less: Fraction) -> None:
    """The near-miss of the theorem: the cost as composed is taken."""
    batch = compose_batch("tables", members(20), "approximate", DELTA / 4)
    cheaper = replace(batch, cost=Cost(batch.cost.epsilon - less, batch.cost.delta, batch.cost.rho))
    with opened(place) as book:
        with pytest.raises(InputError, match="costs more than is stated"):
            committed(book, cheaper)
        for wrong in (
            replace(batch, cost=replace(batch.cost, delta=batch.cost.delta / 2)),
            replace(batch, cost=replace(batch.cost, rho=Fraction(1, 10) - Fraction(1, 10**9))),
            replace(batch, rule=SUM),
            replace(batch, rule="wishful"),
        ):
            with pytest.raises(InputError, match="costs more than is stated"):
                committed(book, wrong)
        committed(book, batch)


def test_delta_is_not_spent_for_next_to_nothing() -> None:
    """Two releases of ε = 1 at δ = 2.5e-7 would save half a millionth of ε."""
    batch = compose_batch("pair", members(2, Fraction(1)), "approximate", DELTA / 4)
    assert (batch.rule, batch.cost.epsilon, batch.cost.delta) == (SUM, 2, 0)


@pytest.mark.parametrize(("currency", "cap"), [("pure", Fraction(2)), ("zcdp", Fraction(1, 10))])
def test_elsewhere_a_batch_costs_the_sum(place: str, currency: str, cap: Fraction) -> None:
    batch = compose_batch("tables", members(20), currency, Fraction(0))
    assert (batch.cost, batch.rule) == (Cost(Fraction(2), rho=Fraction(1, 10)), SUM)
    with opened(place, currency, cap) as book:
        name = committed(book, batch)
        book.reserve(name, 3)
        assert book.remaining("households", "household") == 0
        book.reserve(name, 4)
        with pytest.raises(BudgetExceeded):
            book.reserve(book.commit("households", "household", Cost(Fraction(1, 10**9)), {}).hash)


def test_a_batch_that_does_not_fit_is_refused_whole(place: str) -> None:
    with opened(place, "pure", Fraction(2) - Fraction(1, 10**9)) as book:
        name = committed(book, compose_batch("tables", members(20), "pure", Fraction(0)))
        for member in range(20):
            with pytest.raises(BudgetExceeded):
                book.reserve(name, member)
        assert book.remaining("households", "household") == 2 - Fraction(1, 10**9)


def test_each_member_is_drawn_once_and_burned_ones_do_not_come_back(place: str) -> None:
    with opened(place, "pure", Fraction(3)) as book:
        name = committed(book, compose_batch("tables", members(3, Fraction(1)), "pure", Fraction(0)))
        held = book.reserve(name, 1).hash
        for refused in (1, 3, -1, None):
            with pytest.raises(InputError):
                book.reserve(name, refused)
        book.spend(held)
        book.burn(held, "crash")
        with pytest.raises(InputError, match="at most once"):
            book.reserve(name, 1)
        single = book.commit("households", "household", Cost(Fraction(1)), {}).hash
        with pytest.raises(InputError, match="no batch"):
            book.reserve(single, 0)
        with pytest.raises(BudgetExceeded):
            book.reserve(single)
        assert book.verify() is None


def test_the_charge_comes_back_only_when_nothing_of_the_batch_is_held(place: str) -> None:
    with opened(place, "pure", Fraction(3)) as book:
        name = committed(book, compose_batch("tables", members(3, Fraction(1)), "pure", Fraction(0)))

        def left() -> Fraction:
            return book.remaining("households", "household")

        first, second = book.reserve(name, 0).hash, book.reserve(name, 1).hash
        book.withdraw(first)
        assert left() == 0, "the second still holds the batch"
        book.withdraw(second)
        assert left() == 3, "nothing was drawn"
        again = book.reserve(name, 0).hash
        book.spend(again)
        other = book.reserve(name, 1).hash
        book.withdraw(other)
        assert left() == 0, "one member was drawn"
        book.release(book_spend(book, book.reserve(name, 1).hash), "d" * 64)
        with pytest.raises(InputError):
            book.withdraw(again)
        assert left() == 0 and book.verify() is None


def book_spend(book: Ledger, name: str) -> str:
    book.spend(name)
    return name


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 20), min_size=2, max_size=6),
    st.lists(st.fractions(min_value=0, max_value=1, max_denominator=20), max_size=4),
)
def test_never_more_is_granted_than_the_theorems_allow(twentieths: list[int], singles: list[Fraction]) -> None:
    """(ε, δ) of everything granted, by the better of sum and filter, stays within the budget."""
    budget = Budget("approximate", Fraction(3, 2), Fraction(1, 1000))
    epsilons = [Fraction(n, 20) for n in twentieths]
    listed = [BatchMember({"plan": str(i)}, Cost(e, rho=e**2 / 2), Part(e)) for i, e in enumerate(epsilons)]
    batch = compose_batch("b", listed, "approximate", Fraction(1, 4000))
    spent, granted = budget.spent([]), []
    for cost in (batch.cost, *(Cost(e) for e in singles)):
        try:
            spent = budget.must_allow(spent, cost)
            granted.append(cost)
        except BudgetExceeded:
            pass
    total = sum((cost.epsilon for cost in granted), Fraction(0))
    square = float(sum((cost.square for cost in granted), Fraction(0)))
    by_filter = sqrt(2 * log(2000) * square) + square / 2
    assert min(float(total), by_filter) <= 1.5 * (1 + 1e-12)
    assert sum((cost.delta for cost in granted), Fraction(0)) <= Fraction(1, 2000)


@pytest.mark.parametrize(
    "make",
    [
        lambda: compose_batch("b", members(1), "pure", Fraction(0)),
        lambda: compose_batch(" ", members(2), "pure", Fraction(0)),
        lambda: compose_batch("b", members(2) + members(1), "pure", Fraction(0)),
        lambda: BatchMember({}, Cost(Fraction(1), DELTA), Part(Fraction(1))),
        lambda: Batch.from_event({"members": [{}], "batch": "b"}),
    ],
    ids=["one plan", "no name", "a plan twice", "a member with δ", "a malformed batch"],
)
def test_what_is_no_batch_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


def _draw(place: str, name: str, start: int, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    drawn = []
    with open_ledger(place) as book:
        for step in range(6):
            member = (start + step) % 6
            try:
                book.spend(book.reserve(name, member).hash)
                drawn.append(member)
            except InputError:
                pass
    results.put(drawn)


def test_eight_processes_race_for_the_members_of_one_batch(place: str) -> None:
    """Each asks for all six: one charge, every member drawn by exactly one of them."""
    with opened(place, "pure", Fraction(3)) as book:
        name = committed(book, compose_batch("tables", members(6, Fraction(1, 2)), "pure", Fraction(0)))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    racers = [context.Process(target=_draw, args=(place, name, i, results)) for i in range(8)]
    for racer in racers:
        racer.start()
    drawn = [member for _ in racers for member in results.get(timeout=600)]
    for racer in racers:
        racer.join(timeout=600)
    assert sorted(drawn) == list(range(6))
    with open_ledger(place) as book:
        assert book.remaining("households", "household") == 0 and book.verify() is None
        kinds = [entry.event["kind"] for entry in book.history()]
    assert kinds.count("reserve") == kinds.count("spend") == 6


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """The whole chain made anew with the batch changed, as whoever owns the file can."""
    with open_ledger(str(path)) as book:
        entries = list(book.history())
    last, renamed, made = None, {}, []
    for entry in entries:
        event = json.loads(json.dumps(dict(entry.event)))
        if "members" in event:
            change(event)
        event |= {key: renamed[event[key]] for key in ("commitment", "reservation") if key in event}
        last = Entry.after(last, entry.time, event)
        renamed[entry.hash] = last.hash
        made.append(last)
    with sqlite3.connect(path) as link:
        link.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal; DELETE FROM entries;")
        link.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            list(map(row_of, made)),
        )


TAMPERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "cost lowered": lambda e: e["cost"].update(epsilon="1.7"),
    "a member added": lambda e: e["members"].append(e["members"][0] | {"hashes": {"plan": "f" * 64}}),
    "a member cheaper": lambda e: e["members"][0]["cost"].update(epsilon="0.05"),
    "another rule": lambda e: e.update(rule="sum"),
    "members lost": lambda e: e.update(members=[{}]),
    "members that are none": lambda e: e.update(members="none"),
    "a pair of nothing": lambda e: (
        e.update(rule="privacy loss distributions", pairs=[{"first": ["0"], "second": ["0"], "denominator": "0"}]),
        e["members"][0]["part"].update(pair=0),
    ),
    "a pair that gives everything away": lambda e: (
        e.update(rule="privacy loss distributions", pairs=[{"first": ["1", "0"], "second": ["0", "1"], "denominator": "1"}]),
        e["members"][0]["part"].update(pair=0),
    ),
}


@pytest.mark.parametrize("kind", TAMPERED)
def test_a_batch_that_was_tampered_with_is_found(tmp_path: Path, kind: str) -> None:
    """Without a key: by its cost, where that no longer follows. With one: by the signature, whatever was changed."""
    batch = compose_batch("tables", members(20), "approximate", DELTA / 4)
    signer = Signer.create(tmp_path / "key.pem")
    for name, key in (("open.db", None), ("signed.db", signer)):
        with open_ledger(str(tmp_path / name), create=True) as book:
            book.init("approximate", key)
            book.declare("households", "household", Fraction(3), DELTA)
            book.reserve(book.commit_batch("households", "household", batch, key).hash, 2)
            assert book.verify() is None
        rewritten(tmp_path / name, TAMPERED[kind])
        with open_ledger(str(tmp_path / name)) as book:
            found = book.verify()
        if kind != "a member cheaper" or key is not None:
            assert found is not None and ("costs more" in found.words or "signed" in found.words or "rule" in found.words)
