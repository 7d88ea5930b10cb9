"""Regret over a whole set of priors: every prior of a dense grid stays below what is proved, and what is proved stays near.

The adversary is whoever looks at the corners of the set only: the worst prior may lie inside.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mutation import limited, unexplained

import discreet
from discreet.certify.whole_set import Covered, Largest, below, best_below, largest_regret, must_be_whole, regret_over, risks
from discreet.design import design
from discreet.errors import InputError
from discreet.model.actions import RealActions
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import MatchLoss, SquaredLoss
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.prior_set import PriorCell, PriorSet, prior_at
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

F = Fraction
CERTIFY = Path(discreet.__file__).parent / "certify"
TWO = PriorCell(((F(9, 10), F(1, 10)), (F(7, 10), F(3, 10))), (F(0), F(0)))
DIFFERING = replace(TWO, correlations=(F(1, 50), F(1, 10)))
THREE = PriorSet((F(14, 20), F(4, 20), F(2, 20)), ((F(1, 2), F(1)), (F(3, 20), F(5, 20)), (F(1, 20), F(3, 20))), (F(0), F(1, 20)))
ONES, THIRDS = (F(1),) * 3, (F(1, 3), F(2, 3), F(1, 5))
UNBIASED = Decision(SquaredLoss(), RealActions(), unbiased="everywhere")
EQUIVALENT = {
    "whole_set: universe.histogram_count > MOST_HISTOGRAMS [Gt→GtE at 0]": "a limit on work, not on truth",
    "whole_set: lost >= 1 [GtE→Gt at 0]": "of what is wholly lost nothing is kept either way",
    "whole_set: low == high [Eq→LtE at 0]": "the ends are in order",
    "whole_set: low < high [Lt→NotEq at 0]": "the ends are in order",
    "whole_set: low == high [Eq→GtE at 0]": "the ends are in order",
    "whole_set: tops > seen + float(enough) [Gt→GtE at 0]": "halving once more proves no less",
    "whole_set: (high - low) * n**0.5 / 3 > max(edges) [Gt→GtE at 0]": "which way a cell is cut decides nothing",
    "whole_set: (high - low) * n**0.5 / 3 > max(edges) [3→2 at 0]": "which way a cell is cut decides nothing",
}


def problem(size: int, types: int = 2) -> Problem:
    universe = Universe.of(size, tuple(map(F, range(types))))
    actions = integer_actions(F(0), F(size * (types - 1)))
    prior = IidPrior((F(1, types),) * types)
    return Problem(universe, ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), actions),), PurePromise(F(1)), "unit")


def inside(cell: PriorCell, steps: int) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """A grid of priors of the cell."""
    weights = [w for w in product(range(steps + 1), repeat=len(cell.vertices)) if sum(w) == steps]
    shares = [
        tuple(sum((F(w, steps) * v[t] for w, v in zip(ws, cell.vertices, strict=True)), F(0)) for t in range(len(ws)))
        for ws in weights
    ]
    low, high = cell.correlations
    return list(product(shares, dict.fromkeys(low + (high - low) * k / steps for k in range(steps + 1))))


def largest(values: list[Fraction], asked: Problem, cell: PriorCell, enough: float) -> Largest:
    """The largest expectation of values in a cell."""
    nothing = (F(0),) * len(cell.vertices)
    return largest_regret(asked, values, (nothing, nothing), cell, F(enough))


def expectation(values: list[Fraction], universe: Universe, at: tuple[tuple[Fraction, ...], Fraction]) -> Fraction:
    weights = prior_at(*at).on_histograms(universe.histograms(), universe)
    return sum((v * weights[i] for i, v in enumerate(values)), F(0))


@pytest.mark.parametrize("cell", [TWO, DIFFERING, *THREE.cells()])
def test_no_prior_of_a_dense_grid_exceeds_what_is_proved(cell: PriorCell) -> None:
    rng = random.Random(5)
    asked = problem(7, len(cell.vertices))
    universe = asked.universe
    assert isinstance(universe, Universe)
    for _ in range(3):
        values = [F(rng.randint(-20, 20), 3) for _ in universe.histograms()]
        found = largest(values, asked, cell, 0.02)
        highest = max(expectation(values, universe, at) for at in inside(cell, 8))
        assert highest <= found.upper <= highest + F(1, 10)
        assert abs(float(expectation(values, universe, found.at)) - found.seen) < 1e-9


def test_the_worst_prior_may_lie_inside() -> None:
    """At both corners the expectation is far below what it is between them: corners alone would prove too little."""
    asked = problem(8)
    universe = asked.universe
    assert isinstance(universe, Universe)
    hill = [F(10 if h[1] == 2 else 0) for h in universe.histograms().tolist()]
    cell = PriorCell(((F(99, 100), F(1, 100)), (F(1, 5), F(4, 5))), (F(0), F(0)))
    corners = max(expectation(hill, universe, corner) for corner in cell.corners)
    highest = max(expectation(hill, universe, at) for at in inside(cell, 60))
    found = largest(hill, asked, cell, 0.01)
    assert highest > 10 * corners and highest <= found.upper <= highest + F(1, 50)


@pytest.mark.parametrize("cell", [TWO, DIFFERING, THREE.cells()[0]])
def test_laws_inside_hold_what_is_kept_of_the_corners(cell: PriorCell) -> None:
    """π ≥ Σ λ_i (1 − τ)π_i at every histogram; without τ it would not be so."""
    asked = problem(7, len(cell.vertices))
    universe = asked.universe
    assert isinstance(universe, Universe)
    kept = [(there.prior.on_histograms(universe.histograms(), universe), mass) for there, mass in below(asked, cell)]
    whole = [prior_at(*corner).on_histograms(universe.histograms(), universe) for corner in cell.corners]
    exceeded = False
    rng = random.Random(1)
    for _ in range(6):
        shares = [F(rng.randint(1, 9)) for _ in cell.corners]
        weights = [s / sum(shares) for s in shares]
        rho = sum((w * r for w, (_, r) in zip(weights, cell.corners, strict=True)), F(0))
        parts = zip(weights, cell.corners, strict=True)
        at = [w * (1 - r) / (1 - rho) for w, (_, r) in parts]
        p = tuple(sum((a * v[t] for a, (v, _) in zip(at, cell.corners, strict=True)), F(0)) for t in range(len(cell.vertices)))
        law = prior_at(p, rho).on_histograms(universe.histograms(), universe)
        for i in range(len(law)):
            assert law[i] >= sum(w * mass * measure[i] for w, (measure, mass) in zip(weights, kept, strict=True))
            exceeded |= law[i] < sum(w * each[i] for w, each in zip(weights, whole, strict=True))
    assert exceeded


def covered(asked: Problem, cell: PriorCell) -> Covered:
    claims = [design(there, compare=False).certificate.optimality for there, _ in below(asked, cell)]
    return Covered(cell, tuple(claim.witness for claim in claims if claim is not None))


def test_nobody_loses_less_inside_and_the_regret_holds_at_every_prior() -> None:
    asked = problem(6)
    cell = PriorCell(((F(4, 5), F(1, 5)), (F(3, 4), F(1, 4))), (F(0), F(1, 100)))
    one = covered(asked, cell)
    low, high = best_below(asked, one)
    mechanism = design(replace(asked, prior=prior_at(*cell.middle)), compare=False).mechanism
    proved = regret_over(mechanism, [one], F(1, 100))
    universe = asked.universe
    assert isinstance(universe, Universe)
    at = risks(mechanism)
    regrets = []
    for place in inside(cell, 3):
        best = design(replace(asked, prior=prior_at(*place)), compare=False)
        share = (place[1] - cell.correlations[0]) / (cell.correlations[1] - cell.correlations[0])
        least = sum(((1 - share) * x + share * y) * p for x, y, p in zip(low, high, place[0], strict=True))
        assert least <= best.lower_bound + F(1, 10**9)
        regrets.append(expectation(at, universe, place) - best.loss)
    assert max(regrets) <= proved <= max(regrets) + F(1, 8)
    assert regret_over(mechanism, [replace(one, witnesses=())], F(1, 100)) >= max(
        expectation(at, universe, p) for p in inside(cell, 3)
    )


def test_what_cannot_be_proved_is_refused_before_any_work() -> None:
    asked = problem(6)
    named = replace(asked, decisions=(Decision(MatchLoss(), asked.decision.actions),))
    for wrong in (named, replace(asked, decisions=(UNBIASED,)), problem(400, 3)):
        with pytest.raises(InputError, match="Hedge with a radius"):
            must_be_whole(wrong)
    with pytest.raises(InputError, match="no set of priors"):
        PriorCell(((F(1), F(0)), (F(1, 2), F(1, 2))), (F(0), F(0)))
    with pytest.raises(InputError, match="reaches beyond"):
        PriorSet((F(1, 2), F(1, 2)), ((F(1, 4), F(1)),) * 2, (F(0), F(0)))
    with pytest.raises(InputError, match="nothing in common"):
        below(problem(200), PriorCell(((F(999, 1000), F(1, 1000)), (F(1, 1000), F(999, 1000))), (F(0), F(0))))


def test_no_comparison_can_change_unnoticed() -> None:
    asked = problem(4)
    point = PriorCell(((F(4, 5), F(1, 5)), (F(4, 5), F(1, 5))), (F(0), F(0)))
    flat = replace(point, vertices=((F(4, 5), F(1, 5)), (F(3, 5), F(2, 5))))
    one = covered(asked, flat)
    wide = PriorCell(((F(999, 1000), F(1, 1000)), (F(1, 1000), F(999, 1000))), (F(0), F(0)))
    universe = asked.universe
    assert isinstance(universe, Universe)
    values = [F(k * k % 7) for k in range(5)]
    mechanism = design(asked, compare=False).mechanism
    varying = replace(
        asked, universe=Universe((F(0), F(1)), 1, 4), neighbours=AddRemoveOne(), prior=IidPrior((F(1, 2), F(1, 2)), (F(1, 4),) * 4)
    )
    several = replace(asked, decisions=asked.decisions * 2)
    matched = replace(asked, decisions=(Decision(MatchLoss(), asked.decision.actions),))
    problems = [asked, varying, several, matched, replace(asked, decisions=(UNBIASED,))]
    shown = [F(1, 20), F(1, 4)]
    thirds = [F(k % 3) for k in range(15)]
    spread = replace(TWO, correlations=(F(0), F(2, 5)))
    questions: list[Callable[[ModuleType], Any]] = [
        *(lambda m, p=p: (m.why_not_whole(p), m.must_be_whole(p)) for p in problems),
        lambda m: limited(m, "MOST_HISTOGRAMS", 4, lambda n: n.why_not_whole(asked)),
        *(lambda m, c=c: [(p.prior.histogram, mass) for p, mass in m.below(asked, c)] for c in (flat, DIFFERING, wide, spread)),
        lambda m: m.masses_below(problem(200), wide),
        lambda m: m.below(problem(200), wide),
        lambda m: m.best_below(asked, m.Covered(flat, one.witnesses)),
        lambda m: m.best_below(asked, m.Covered(flat, ())),
        lambda m: m._solved([[F(0), F(1)], [F(1), F(1)]], [F(2), F(3)]),
        lambda m: m._solved([[F(1), F(1)], [F(1), F(1)]], [F(2), F(3)]),
        lambda m: m._solved([[F(2), F(1), F(0)], [F(1), F(3), F(1)], [F(0), F(1), F(1)]], [F(2), F(3), F(5)]),
        *(
            lambda m, e=e, c=c, x=x: m.largest_regret(asked, values, x, c, e).__dict__
            for e in shown
            for c in (TWO, DIFFERING, point)
            for x in (((F(1), F(2)), (F(3), F(1))), ((F(0), F(0)), (F(0), F(0))))
        ),
        lambda m: m.risks(mechanism),
        lambda m: m.risks(design(problem(3, 3), compare=False).mechanism),
        lambda m: [m._across(c, 9) for c in (TWO, DIFFERING, replace(DIFFERING, vertices=point.vertices), THREE.cells()[0])],
        lambda m: m.largest_regret(problem(4, 3), thirds, (ONES, THIRDS), THREE.cells()[1], F(1, 10)).__dict__,
        lambda m: m.regret_over(mechanism, [m.Covered(flat, one.witnesses)], F(1, 10)),
    ]  # fmt: skip
    assert unexplained(CERTIFY / "whole_set.py", questions, EQUIVALENT) == []
