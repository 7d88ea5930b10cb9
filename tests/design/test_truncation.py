"""Truncation: its two bounds enclose the untruncated optimum for any payoff, and the clamp costs no more than it may.

Seeds are fixed: no false alarms.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.design.program import listed
from discreet.design.program.listed import COARSEST, affordable_tolerance, first_tolerance, fits, truncated
from discreet.design.program.sections import Ground, boxed, ground, losses, recommendations, whole
from discreet.design.program.truncation import choose_caps, choose_clamp, clips_nothing, regret_marginals
from discreet.design.schedule import Until, counted
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program, Solution
from discreet.design.solver.solve import solve
from discreet.files.problem import problem_from_document
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import ExchangeablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import TableStatistic
from discreet.model.summary import Clamp
from discreet.model.universe import Universe
from discreet.watch import Watch

TWENTY = {
    "data": {"respondents": 20, "values": [0, 1, 2]},
    "prior": {"kind": "iid", "probabilities": ["0.89", "0.09", "0.02"]},
    "statistic": {"kind": "sum"},
    "decision": {"kind": "squared-error", "actions": "integer"},
    "privacy": {"epsilon": 1},
}


def random_ground(rng: np.random.Generator) -> Ground:
    """Every histogram has its own ω, so that a loss table over ω is a loss of any shape over histograms."""
    size, types = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    universe = Universe.of(size, tuple(Fraction(t) for t in range(types)))
    rows = [tuple(h) for h in universe.histograms().tolist()]
    weights = [Fraction(int(w)) for w in rng.integers(1, 1000, len(rows))]
    prior = ExchangeablePrior(tuple((h, w / sum(weights)) for h, w in zip(rows, weights, strict=True)))
    statistic = TableStatistic(tuple((",".join(map(str, h)), Fraction(i)) for i, h in enumerate(rows)))
    decision = Decision(SquaredLoss(), ListedActions((Fraction(0),)))
    return ground(Problem(universe, ReplaceOne(), prior, statistic, (decision,), PurePromise(Fraction(1))))


@pytest.mark.parametrize("seed", range(25))
def test_bounds_enclose_the_optimum_for_payoffs_of_any_sign(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = random_ground(rng)
    types, size = base.space.vectors.shape[1], int(base.space.vectors[0].sum())
    table = rng.normal(size=(int(rng.integers(2, 5)), len(base.space))) * 5 + rng.normal() * 20
    epsilon = float(rng.choice([0.1, 1.0, 3.0]))
    cost, _ = whole(base).lower(table)
    full = solve(Program(cost, base.space.edges, epsilon), gap=1e-8)
    upper = (size, *(int(rng.integers(1, size + 1)) for _ in range(types - 1)))
    least = int(rng.integers(0, size))
    rest = (least, int(rng.integers(least, size + 1)))
    clamp = Clamp((0,) * types, upper, 0, rest)
    section = boxed(base, clamp if clamp.fits(size) else Clamp((0,) * types, upper, 0))
    inner, dropped = section.lower(table)
    found = solve(Program(inner, section.space.edges, epsilon), gap=1e-8)
    allowance = 1e-7 * float(np.abs(cost).sum())
    assert found.bound + dropped <= full.value + allowance
    assert float((section.upper(table) * found.kernel).sum()) >= full.bound - allowance
    if dropped > 1e-3:  # the near miss: dropping raw losses instead of regret proves nonsense when losses are positive
        assert found.bound < found.bound + dropped


def test_a_box_that_drops_nothing_changes_nothing() -> None:
    base = random_ground(np.random.default_rng(0))
    size = int(base.space.vectors[0].sum())
    types = base.space.vectors.shape[1]
    clamp = Clamp((0,) * types, (size,) * types, 0)
    assert clips_nothing(clamp, size)
    table = np.random.default_rng(1).normal(size=(3, len(base.space)))
    cost, dropped = boxed(base, clamp).lower(table)
    assert dropped == 0.0
    assert np.allclose(cost, boxed(base, clamp).upper(table))


def binomial(size: int, p: float) -> np.ndarray:
    counts = np.arange(size + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])
    return np.exp(logs[-1] - logs[counts] - logs[size - counts] + counts * np.log(p) + (size - counts) * np.log(1 - p))


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
def test_the_clamp_spends_no_more_than_allowed(tolerance: float) -> None:
    marginals = np.stack([binomial(400, p) for p in (0.8, 0.15, 0.05)])
    clamp = choose_clamp(marginals, tolerance)
    assert clamp.reference == 0 and clamp.fits(400) and clamp.rest == (clamp.lower[0], clamp.upper[0])
    lost = sum(marginals[j, : clamp.lower[j]].sum() + marginals[j, clamp.upper[j] + 1 :].sum() for j in range(3))
    assert 0 < lost <= tolerance
    assert clamp.lower[1] > 0, "far from zero the box does not start at zero"


def test_regret_weighs_what_a_blind_action_would_lose() -> None:
    histograms = np.array([[2, 0], [1, 1], [0, 2]])
    loss = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0]])
    weights = regret_marginals(histograms, np.array([0.5, 0.3, 0.2]), loss, np.arange(3))
    assert weights.shape == (2, 3)
    assert weights[1] == pytest.approx(np.array([0.5, 0.0, 0.0]) + np.array([0.5, 0.3, 0.2]) * 0.5)


def test_what_cannot_be_solved_in_time_is_clamped_further() -> None:
    """Seen failing: a hundred respondents under an overdispersed prior were not begun to be solved, and lost a third more."""
    document = {
        "data": {"respondents": 30, "values": [0, 1, 2]},
        "prior": {"kind": "exchangeable", "concentration": ["17.8", "1.8", "0.4"]},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": 1},
    }
    base = ground(problem_from_document(document))
    table = losses(base.problem, recommendations(base.problem), base.exact_omegas)
    first = first_tolerance(base, table, 1e-6)
    assert affordable_tolerance(base, table, 1e-6, 30, Until.after(1e6)) == first
    full, seconds = truncated(base, table, first), 1.0
    tolerance = affordable_tolerance(base, table, 1e-6, 30, Until.after(seconds))
    smaller = truncated(base, table, tolerance)
    assert not fits(full, 30, Until.after(seconds)) and fits(smaller, 30, Until.after(seconds))
    assert len(smaller.space) < len(full.space) and first < tolerance <= first_tolerance(base, table, COARSEST)
    assert affordable_tolerance(base, table, 1e-6, 30, Until.after(1e-6)) == first, "where nothing fits, nothing is given up"


@pytest.mark.parametrize("spoiled", [False, True], ids=["larger box solved", "larger box cut off"])
def test_a_machine_faster_than_guessed_goes_on_to_the_larger_box(spoiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen failing: forty respondents of four types stopped at a gap of 1e-5 with three quarters of their time left.

    A larger box that comes to nothing takes nothing away from the smaller one.
    """
    base = ground(problem_from_document(TWENTY))
    table = losses(base.problem, recommendations(base.problem), base.exact_omegas)
    first, watch = first_tolerance(base, table, 1e-6), Until.after(1e6)
    monkeypatch.setattr(listed, "affordable_tolerance", lambda *_: 4096 * first)
    asked: list[float] = []
    monkeypatch.setattr(listed, "fits", lambda *given: not asked.append(given[-1]) and len(asked) == 1)
    real, sizes = solve_priced, []

    def solved(program: Program, gap: float, watch: Watch, beginning: None) -> Solution:
        sizes.append(program.states)
        found = real(program, gap, watch)
        nothing = np.full_like(found.kernel, 1 / program.actions)
        return replace(found, kernel=nothing, bound=0.0) if spoiled and len(sizes) == 2 else found

    monkeypatch.setattr(listed, "solve_priced", solved)
    with counted():
        found = listed.boxes(base, table, 1e-6, 30, watch)
    assert asked[0] < 1, "the guess is for ninety steps, and it took fewer"
    assert sizes[0] < sizes[1] and len(found.section.space) == sizes[0 if spoiled else 1]


@pytest.mark.parametrize("smallest", [0, 4])
def test_counts_are_capped_where_respondents_are_added_and_removed(smallest: int) -> None:
    """Seen failing: sixty respondents of two types were 1,891 states, and real actions lost 140 percent more than they had to."""
    sizes = 13 - smallest
    document = {
        "data": {"respondents": {"from": smallest, "to": 12}, "values": [0, 1], "neighbours": "add-remove-one"},
        "prior": {"kind": "iid", "probabilities": ["0.9", "0.1"], "size": [f"1/{sizes}"] * sizes},
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": 1},
    }
    base = ground(problem_from_document(document))
    table = losses(base.problem, recommendations(base.problem), base.exact_omegas)
    full = solve(Program(whole(base).lower(table)[0], base.space.edges, 1.0), gap=1e-8)
    section = truncated(base, table, first_tolerance(base, table, 0.1))
    clamp = section.summary.clamp
    assert clamp is not None and clamp.reference is None and clamp.lower == (0, 0)
    assert smallest <= clamp.upper[1] < clamp.upper[0] and len(section.space) < len(base.space)
    assert set(section.space.labels) <= set(base.space.labels), "every state of the box is one that a database has"
    inner, dropped = section.lower(table)
    found = solve(Program(inner, section.space.edges, 1.0), gap=1e-8)
    value = float((section.upper(table) * found.kernel).sum())
    assert found.bound + dropped <= full.value * (1 + 1e-8) <= value * (1 + 2e-8)
    assert value - found.bound - dropped < 0.05 * value
    exact = truncated(base, table, 0.0)
    assert len(exact.space) == len(base.space), "no tolerance, no caps"


def test_caps_spend_no_more_than_allowed_and_stop_at_the_smallest_size() -> None:
    marginals = np.stack([binomial(60, p) for p in (0.7, 0.1)])
    clamp = choose_caps(marginals, 1e-6)
    lost = sum(row[cap + 1 :].sum() for row, cap in zip(marginals, clamp.upper, strict=True))
    assert 0 < lost <= 1e-6 < lost + min(row[cap] for row, cap in zip(marginals, clamp.upper, strict=True))
    assert choose_caps(marginals, 1e9, smallest=7).upper == (7, 7)
    assert clips_nothing(choose_caps(marginals, 0.0), 60)
