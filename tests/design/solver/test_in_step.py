"""Programs solved in step come to what each comes to alone, whoever stalls, is cancelled or leaves early beside them."""

from __future__ import annotations

import threading
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discreet.design.solver import in_step, meeting
from discreet.design.solver.cholesky import Cholesky
from discreet.design.solver.in_step import PathAsked, interior_points
from discreet.design.solver.interior import interior_point
from discreet.design.solver.meeting import Meeting, solved
from discreet.design.solver.program import Program, Solution, dual_bound, value_of, violation
from discreet.watch import SILENT

GAP = 1e-7
EDGES = np.array(list(pairwise(range(12))) + [(k, k + 3) for k in range(9)])


def on_one_graph(seed: int, count: int = 5) -> list[Program]:
    """Programs with different costs, numbers of actions and ε on the same states."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(12))
    levels = rng.choice([0.2, 0.5, 1.0, 2.0], count)
    return [Program(prior * rng.normal(size=(int(rng.integers(2, 7)), 12)), EDGES, float(level)) for level in levels]


def holds(program: Program, found: Solution, gap: float = GAP) -> None:
    """Both sides of a solution, computed again."""
    size = float(np.abs(program.cost).sum())
    assert violation(found.kernel, program.edges, program.factor) <= 0 and found.kernel.min() >= 0
    assert found.value == pytest.approx(value_of(program, found.kernel), abs=1e-12 * size)
    assert found.bound <= dual_bound(program, found.multipliers) + 1e-12 * size
    assert found.relative_gap <= gap


@pytest.mark.parametrize("seed", range(6))
def test_programs_in_step_reach_what_each_reaches_alone(seed: int) -> None:
    programs = on_one_graph(seed)
    for program, found in zip(programs, interior_points([PathAsked(p, GAP) for p in programs]), strict=True):
        alone = interior_point(program, GAP)
        holds(program, found)
        assert abs(found.iterations - alone.iterations) <= 1 and found.status == "optimal"
        assert found.value == pytest.approx(alone.value, abs=2 * GAP * float(np.abs(program.cost).sum()))


def test_company_does_not_change_a_single_bit() -> None:
    programs = on_one_graph(7, 12)
    asked = [PathAsked(p, GAP) for p in programs if order(p) == order(programs[0])]
    assert len(asked) > 3
    together, backwards = interior_points(asked), interior_points(asked[::-1])[::-1]
    for number, (one, two) in enumerate(zip(together, backwards, strict=True)):
        alone = interior_points([asked[number]])[0]
        for other in (two, alone):
            np.testing.assert_array_equal(one.kernel, other.kernel)
            np.testing.assert_array_equal(one.multipliers, other.multipliers)


def test_two_states_and_two_actions_keep_up_with_larger_programs_elsewhere() -> None:
    tiny = [Program(np.array([[0.0, 1.0], [1.0, 0.0]]) * w, np.array([[0, 1]]), 1.0) for w in (1.0, 1e-6, 1e6)]
    programs = [*tiny, *on_one_graph(3, 3)]
    for program, found in zip(programs, solved([PathAsked(p, GAP) for p in programs]), strict=True):
        holds(program, found)


def test_one_whose_prices_have_no_digits_left_stalls_and_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = on_one_graph(11, 4)
    calls: list[int] = []

    class Failing(Cholesky):
        def __init__(self, matrix: Any) -> None:
            calls.append(0)
            if len(calls) > 12 and len(calls) % 4 == 2:  # the second of four, from the fourth step on
                raise np.linalg.LinAlgError("no digits left")
            super().__init__(matrix)

    monkeypatch.setattr(in_step, "Cholesky", Failing)
    asked = [PathAsked(p, GAP) for p in programs]
    point = in_step.Points(programs)
    with np.errstate(all="ignore"):
        moves = [point.advance().tolist() for _ in range(4)]
    assert moves == [[True] * 4] * 3 + [[True, False, True, True]]
    assert np.isfinite(point.x).all() and point.x.min() > 0
    calls.clear()
    monkeypatch.setattr(Failing, "__init__", lambda self, matrix: failing_in(self, matrix, calls))
    found = interior_points(asked)
    assert [one.status for one in found] == ["optimal", "stalled", "optimal", "optimal"]
    for k in (0, 2, 3):
        holds(programs[k], found[k])
    holds(programs[1], found[1], gap=10.0)  # a private kernel and a true bound, if not near each other


def failing_in(self: Cholesky, matrix: Any, calls: list[int]) -> None:
    """Fails once, for the second of four programs, in the fourth step."""
    calls.append(0)
    if len(calls) == 14:
        raise np.linalg.LinAlgError("no digits left")
    Cholesky.__init__(self, matrix)


class Impatient:
    """Cancels after so many reports."""

    def __init__(self, reports: int) -> None:
        self.left = reports

    def report(self, **told: Any) -> None:
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left <= 0


def test_one_that_is_cancelled_leaves_with_what_it_has() -> None:
    programs = on_one_graph(5, 3)
    asked = [PathAsked(p, GAP, Impatient(4) if k == 1 else SILENT) for k, p in enumerate(programs)]
    found = interior_points(asked)
    assert [one.status for one in found] == ["optimal", "cancelled", "optimal"]
    assert found[1].iterations == 3
    holds(programs[1], found[1], gap=10.0)
    holds(programs[2], found[2])


def test_as_many_are_solved_at_once_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [PathAsked(p, GAP) for p in on_one_graph(2, 5)]
    before, sizes = solved(asked), list[int]()

    def noted(some: list[PathAsked]) -> list[Solution]:
        sizes.append(len(some))
        return interior_points(some)

    monkeypatch.setattr(meeting, "interior_points", noted)
    monkeypatch.setattr(meeting, "MOST_BYTES", 1)
    for one, two in zip(before, solved(asked), strict=True):
        np.testing.assert_array_equal(one.kernel, two.kernel)
    assert sizes == [1] * 5


def test_a_meeting_waits_for_those_on_the_way_and_for_nobody_who_left(monkeypatch: pytest.MonkeyPatch) -> None:
    programs, sizes, found = on_one_graph(9, 3), list[int](), dict[int, Solution]()
    monkeypatch.setattr(meeting, "interior_points", lambda some: (sizes.append(len(some)), interior_points(some))[1])
    held = Meeting(4)
    held.seats[3].leave()

    def attend(k: int) -> None:
        found[k] = held.seats[k].solve(programs[k], GAP, None)

    threads = [threading.Thread(target=attend, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(sizes) == 3 and len(sizes) == len({order(p) for p in programs})
    for k, program in enumerate(programs):
        holds(program, found[k])


def order(program: Program) -> bytes:
    """What programs that are solved in step have in common."""
    return meeting.order_of(program).order.tobytes()


def test_what_goes_wrong_in_company_is_told_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(some: list[PathAsked]) -> list[Solution]:
        raise MemoryError("no room")

    monkeypatch.setattr(meeting, "interior_points", broken)
    held, failures = Meeting(2), list[str]()

    def attend(k: int) -> None:
        with pytest.raises(MemoryError) as caught:
            held.seats[k].solve(on_one_graph(1, 2)[k], GAP, None)
        failures.append(str(caught.value))

    threads = [threading.Thread(target=attend, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == ["no room"] * 2


def test_one_works_at_a_time_until_it_asks_or_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "LONGEST_TURN", 1e9)
    programs, held = on_one_graph(9, 4), Meeting(4)
    at_work, most, found = list[int](), list[int](), dict[int, Solution]()

    def work(k: int) -> None:
        at_work.append(k)
        for _ in range(200):
            most.append(len(at_work))
            threading.Event().wait(1e-5)  # whoever may work now, works
        at_work.remove(k)

    def attend(k: int) -> None:
        held.seats[k].take()
        try:
            for again in range(2):
                work(k)
                if k == 3:  # one fails on the way
                    raise ValueError("left early")
                found[k + 4 * again] = held.seats[k].solve(programs[k], GAP, None)
        except ValueError:
            pass
        finally:
            held.seats[k].leave()

    threads = [threading.Thread(target=attend, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and sorted(found) == [0, 1, 2, 4, 5, 6]
    for k in range(3):
        np.testing.assert_array_equal(found[k].kernel, found[k + 4].kernel)


def test_nobody_waits_for_ever_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "LONGEST_TURN", 0.0)
    held = Meeting(2)
    copy_context().run(held.seats[0].take)  # and never comes back
    copy_context().run(held.seats[1].take)
    assert held.turn is held.seats[0]
    held.seats[1].leave()
    assert held.turn is held.seats[0]
    held.seats[0].leave()
    assert held.turn is None
