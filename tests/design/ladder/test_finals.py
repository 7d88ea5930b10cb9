"""Who has the time: what trials tell apart needs no more, what they do not is decided by middle programs."""

from __future__ import annotations

import pytest
from crowd_problems import LOSS, asked

from discreet.design.ladder.bounds import finals
from discreet.design.ladder.bounds.crowd import CrowdChoice, CrowdPlan, best_crowds, by_middle_number, crowd_bound, planned
from discreet.design.ladder.bounds.dice import Dice, by_middle_tier, dice_bound, in_tiers_of
from discreet.design.ladder.bounds.finals import CLOSE, Contender, decided
from discreet.design.ladder.bounds.throws import dice_of
from discreet.design.schedule import counted
from discreet.model.iid_sum import iid_sum
from discreet.watch import SILENT, Deadline

CROWD = CrowdPlan(CrowdChoice((0, 8, 7)), (3, 5, 7), (1e-2, 0.3), 20.0, 9)
LONG = 600.0


def dice(tiers: int = 3) -> Dice:
    problem = asked()
    return in_tiers_of(iid_sum(problem), dice_of(problem)[0], tiers)


def contenders(*promises: float) -> list[Contender]:
    """A crowd of three programs and dice of three."""
    problem, plans = asked(), (CROWD, dice())
    crowd = Contender(plans[0], promises[0], 3, by_middle_number, (problem, plans[0], LOSS))
    return [crowd, *(Contender(plans[1], promise, 3, by_middle_tier, (problem, plans[1])) for promise in promises[1:])]


@pytest.mark.parametrize(
    ("promises", "proved", "chosen"),
    [
        ((20.0, 20.0 * CLOSE + 0.1), None, 1),  # far apart: nothing is solved
        ((20.0, 0.0), None, 0),
        ((20.0, 20.1), (19.0, 18.0), 0),  # the adversary: a trial that promised more than it keeps
        ((20.0, 20.1), (18.0, 19.0), 1),
        ((20.0, 20.1), (19.0, 0.0), 1),  # cut off: its promise is believed in part
        ((20.0, 20.1), (19.9, None), 0),
    ],
)
def test_what_trials_do_not_tell_apart_is_solved(
    promises: tuple[float, float], proved: tuple[float, ...] | None, chosen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = contenders(*promises)
    given: list[float] = []

    def solved(work: object, parts: list[tuple[object, tuple[object, ...]]], *_: object, **__: object) -> list[float | None]:
        assert proved is not None, "nothing was to be solved"
        given.extend(float(asked[-1]) for _, asked in parts)  # type: ignore[arg-type]
        return list(proved)

    monkeypatch.setattr(finals, "shared_out", solved)
    monkeypatch.setattr(finals, "hands_for", lambda _: 2)
    found = decided(plans, 100.0, SILENT)
    assert found is plans[chosen].plan
    assert given == ([] if proved is None else [pytest.approx((1 - finals.FINAL) * 50.0)] * 2), "the time that each will have"


def test_nothing_is_chosen_of_nothing_and_one_without_work() -> None:
    assert decided([], LONG, SILENT) is None
    assert decided(contenders(0.0), LONG, SILENT) is None
    assert decided(contenders(1.0), LONG, SILENT) is CROWD


@pytest.mark.slow
def test_middle_programs_say_what_all_prove() -> None:
    problem = asked()
    with counted():
        plan = planned(problem, best_crowds(problem, LOSS, 12.0), LOSS, 6.0)
        assert plan is not None
        told, found = by_middle_number(problem, plan, LOSS, LONG, SILENT), crowd_bound(problem, plan, LOSS, LONG)
        assert found is not None and told == pytest.approx(found[0], rel=0.03)
        assert by_middle_number(problem, plan, LOSS, LONG, Deadline(0.0)) == 0.0
        thrown = dice()
        assert by_middle_tier(problem, thrown, LONG, SILENT) == pytest.approx(dice_bound(problem, thrown, LONG)[0], rel=0.05)
        assert by_middle_tier(problem, thrown, LONG, Deadline(0.0)) == 0.0
        ways = [
            Contender(plan, found[0], len(plan.numbers), by_middle_number, (problem, plan, LOSS)),
            Contender(thrown, found[0], len(thrown.tiers), by_middle_tier, (problem, thrown)),
        ]
        both = decided(ways, LONG, SILENT)
        assert both is plan, "dice of two types prove less"
