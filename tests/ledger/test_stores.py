"""One suite over both stores: what a ledger promises does not depend on where it lives."""

from __future__ import annotations

import multiprocessing
from datetime import datetime, tzinfo
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, InputError
from discreet.ledger import Cost, Ledger, open_ledger
from discreet.model.promises import ConcentratedPromise


def committed(ledger: Ledger, epsilon: Fraction = Fraction(1, 2)) -> str:
    return ledger.commit("households", "household", Cost(epsilon), {"mechanism": "a" * 64}).hash


def test_a_reservation_counts_as_spent_and_survives_reopening(ledger: Ledger, place: str) -> None:
    name = committed(ledger)
    ledger.reserve(name)
    assert ledger.remaining("households", "household") == Fraction(3, 2)
    with open_ledger(place) as other:
        assert other.remaining("households", "household") == Fraction(3, 2)
        assert other.verify() is None


def test_exactly_the_cap_is_granted(ledger: Ledger) -> None:
    name = committed(ledger)
    for _ in range(4):
        ledger.reserve(name)
    with pytest.raises(BudgetExceeded) as refused:
        ledger.reserve(name)
    assert "0.5" in str(refused.value.requested) and "0" in str(refused.value.remaining)
    assert ledger.remaining("households", "household") == 0
    assert ledger.verify() is None


def test_a_thousandth_too_much_is_refused(ledger: Ledger) -> None:
    """The near-miss: sums are exact, so nothing is forgiven."""
    ledger.reserve(committed(ledger, Fraction(2)))
    with pytest.raises(BudgetExceeded):
        ledger.reserve(committed(ledger, Fraction(1, 10**30)))


def test_spent_is_never_refunded_but_an_undrawn_reservation_may_be_withdrawn(ledger: Ledger) -> None:
    name = committed(ledger)
    first, second = ledger.reserve(name).hash, ledger.reserve(name).hash
    ledger.withdraw(first)
    assert ledger.remaining("households", "household") == Fraction(3, 2)
    ledger.spend(second)
    with pytest.raises(InputError):
        ledger.withdraw(second)
    ledger.burn(second, "lost")
    assert ledger.remaining("households", "household") == Fraction(3, 2)
    assert ledger.verify() is None


@pytest.mark.parametrize(
    "misstep", ["spend twice", "release before spend", "reserve nothing", "another population", "budget twice"]
)
def test_steps_out_of_order_are_refused_and_leave_no_trace(ledger: Ledger, misstep: str) -> None:
    name = committed(ledger)
    held = ledger.reserve(name).hash
    before = ledger.head().hash
    with pytest.raises(InputError):
        if misstep == "spend twice":
            ledger.spend(held)
            before = ledger.head().hash
            ledger.spend(held)
        elif misstep == "release before spend":
            ledger.release(held, "x")
        elif misstep == "reserve nothing":
            ledger.reserve("f" * 64)
        elif misstep == "another population":
            ledger.commit("others", "household", Cost(Fraction(1)), {})
        else:
            ledger.declare("households", "household", Fraction(9))
    assert ledger.head().hash == before
    assert ledger.verify() is None


def _race(place: str, name: str, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    granted = 0
    with open_ledger(place) as ledger:
        for _ in range(4):
            try:
                ledger.reserve(name)
                granted += 1
            except BudgetExceeded:
                pass
    results.put(granted)


def test_eight_processes_race_for_the_last_units(place: str) -> None:
    """Eight processes ask 32 times for a unit of which ten are left: exactly ten are granted."""
    with open_ledger(place, create=True) as ledger:
        ledger.init("pure")
        ledger.declare("households", "household", Fraction(10))
        name = ledger.commit("households", "household", Cost(Fraction(1)), {}).hash
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    racers = [context.Process(target=_race, args=(place, name, results)) for _ in range(8)]
    for racer in racers:
        racer.start()
    granted = [results.get(timeout=600) for _ in racers]
    for racer in racers:
        racer.join(timeout=600)
    assert sum(granted) == 10
    with open_ledger(place) as ledger:
        assert ledger.remaining("households", "household") == 0
        assert ledger.verify() is None


@pytest.mark.parametrize("currency", ["pure", "zcdp", "approximate"])
def test_a_cost_with_a_delta_is_charged_in_approximate_and_refused_elsewhere(place: str, currency: str) -> None:
    """Releases made elsewhere may be (ε, δ)-private: half of δ is theirs, and not a hair more."""
    share = Fraction(1, 2 * 10**6)
    with open_ledger(place, create=True) as ledger:
        ledger.init(currency)
        ledger.declare("households", "household", Fraction(2), 2 * share if currency == "approximate" else Fraction(0))
        name = ledger.commit("households", "household", Cost(Fraction(1, 10), share), {}).hash
        if currency != "approximate":
            with pytest.raises(InputError, match="δ > 0"):
                ledger.reserve(name)
            both = ledger.commit("households", "household", Cost(Fraction(1, 10), share, Fraction(1, 200)), {}).hash
            with pytest.raises(InputError, match="δ > 0"):
                ledger.reserve(both)
            return
        ledger.reserve(name)
        with pytest.raises(BudgetExceeded):
            ledger.reserve(ledger.commit("households", "household", Cost(Fraction(0), Fraction(1, 10**30)), {}).hash)
        assert ledger.remaining("households", "household") == Fraction(19, 10) and ledger.verify() is None


@pytest.mark.parametrize("currency", ["pure", "zcdp"])
def test_a_cost_of_rho_alone_is_charged_in_zcdp_and_refused_in_pure(place: str, currency: str) -> None:
    with open_ledger(place, create=True) as book:
        book.init(currency)
        book.declare("households", "household", Fraction(1))
        cost = Cost.of(ConcentratedPromise(Fraction(3, 8)))
        name = book.commit("households", "household", cost, {"plan": "aa" * 32}).hash
        if currency == "pure":
            with pytest.raises(InputError, match="only ρ has no cost in ε"):
                book.reserve(name)
        else:
            book.reserve(name)
            assert book.remaining("households", "household") == Fraction(5, 8)
        assert book.verify() is None


def test_asking_whether_it_would_be_granted_leaves_no_trace(ledger: Ledger) -> None:
    name = committed(ledger, Fraction(2))
    before = ledger.head().hash
    assert ledger.grants(name) and ledger.grants(name) and not ledger.grants("f" * 64)
    assert ledger.head().hash == before and ledger.remaining("households", "household") == 2
    ledger.reserve(name)
    assert not ledger.grants(name)


def test_export_lists_every_entry(ledger: Ledger, tmp_path: Path) -> None:
    committed(ledger)
    assert ledger.export(tmp_path / "out.jsonl") == 3
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


def test_what_follows_the_data_takes_the_time_of_the_entry_before(ledger: Ledger) -> None:
    held = ledger.reserve(committed(ledger))
    assert ledger.spend(held.hash).time == ledger.release(held.hash, "d" * 64).time == held.time


def test_a_release_that_was_not_recorded_is_found(ledger: Ledger) -> None:
    held = ledger.reserve(committed(ledger)).hash
    ledger.spend(held)
    assert ledger.verify(releases={held: "d" * 64}) is not None
    ledger.release(held, "d" * 64)
    assert ledger.verify(releases={held: "d" * 64}) is None
    assert ledger.verify(releases={held: "e" * 64}) is not None


def test_a_clock_that_goes_back_does_not_take_the_ledger_with_it(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    import discreet.ledger.writing as writing

    last = list(ledger.history())[-1].time

    class Past:
        @staticmethod
        def now(zone: tzinfo) -> datetime:
            return datetime(1999, 1, 1, tzinfo=zone)

    monkeypatch.setattr(writing, "datetime", Past)
    committed(ledger)
    assert list(ledger.history())[-1].time == last
    assert ledger.verify() is None
