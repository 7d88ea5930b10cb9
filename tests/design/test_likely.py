"""Likely histograms: their program bounds every mechanism, and what it finds is private for all histograms.

The adversary forgets where neighbours of histograms that are left out land, or puts a price where no edge is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.certify import privacy
from discreet.certify.optimality import proved_value, upper_bound
from discreet.design import design
from discreet.design.ladder import likely as rung
from discreet.design.ladder.climb import FIRST, RUNGS
from discreet.design.ladder.rung import Found, Height
from discreet.design.program import likely as module
from discreet.design.program.likely import (
    around,
    fitting,
    heaviest,
    left_out,
    likely_bound,
    likely_kernel,
    limiting,
    nearest,
    read_as,
)
from discreet.design.program.sections import ground, whole
from discreet.design.program.windows import alone
from discreet.design.schedule import counted
from discreet.design.solver.graph_cells import solve_graph_cells
from discreet.errors import Refuted
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate, Counterexample, DualWitness, Multipliers, OptimalityClaim
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import SumStatistic
from discreet.model.summary import HistogramSummary
from discreet.model.universe import Universe
from discreet.watch import SILENT


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Six respondents of four types: 84 histograms."""
    return Problem(
        Universe(tuple(map(Fraction, (0, 1, 2, 4))), 6, 6),
        ReplaceOne(),
        IidPrior(tuple(map(Fraction, (".7", ".15", ".1", ".05")))),
        SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(2)),
    )


@pytest.fixture(scope="module")
def best(problem: Problem) -> tuple[float, float]:
    """Loss and bound of the program on all histograms."""
    found = design(problem, gap=1e-3, compare=False)
    return float(found.loss), float(found.lower_bound)


def mechanism_of(problem: Problem, summary, kernel) -> Mechanism:
    return Mechanism(problem, summary, kernel, problem.guarantee)


def test_the_nearest_is_as_near_as_can_be_and_then_like_it(problem: Problem) -> None:
    base = ground(problem)
    kept = np.isin(np.arange(84), heaviest(base, 20))
    found = nearest(base.space.edges, base.omegas, kept)
    assert kept[found].all() and (found[kept] == np.flatnonzero(kept)).all()
    for state in np.flatnonzero(~kept).tolist():
        steps = base.space.distances(state)
        assert steps[found[state]] == steps[kept].min()
        if steps[found[state]] == 1:
            beside = np.flatnonzero(kept & (steps == 1))
            apart = np.abs(base.omegas - base.omegas[state])
            assert apart[found[state]] == apart[beside].min()


@pytest.mark.parametrize("count", [5, 20, 60])
def test_a_few_histograms_bound_every_mechanism(problem: Problem, best: tuple[float, float], count: int) -> None:
    base = ground(problem)
    found = likely_bound(base, heaviest(base, count), 1e-3)
    proved = float(-upper_bound(problem, found.witness))
    assert proved <= best[0]
    assert proved == pytest.approx(found.lower_bound, abs=2e-3 * best[0])
    assert proved > (1 - 20 * left_out(base, heaviest(base, count))) * best[1]


def test_windows_prove_nearly_as_much(problem: Problem, best: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    base = ground(problem)
    inside, asked = heaviest(base, 60), []

    def windows(*arguments: Any) -> Any:
        asked.append(arguments)
        return solve_graph_cells(*arguments)

    monkeypatch.setattr(module, "solve_graph_cells", windows)
    exactly = float(-upper_bound(problem, likely_bound(base, inside, 5e-3).witness))
    assert not asked
    monkeypatch.setattr(module, "FEW", 50)
    found = likely_bound(base, inside, 5e-3)
    proved = float(-upper_bound(problem, found.witness))
    assert len(asked) == 1
    assert 0.97 * exactly < proved <= best[0] and proved == pytest.approx(found.lower_bound, abs=2e-3 * best[0])
    likely_bound(base, inside, 1e-3)
    assert len(asked) == 1, "too near for windows"


def test_prices_where_no_edge_is_are_refuted(problem: Problem) -> None:
    base = ground(problem)
    inside = heaviest(base, 20)
    witness = likely_bound(base, inside, 1e-2).witness
    space = state_space(problem.universe, problem.neighbours, HistogramSummary(witness.box))
    far = int(np.argmax(space.distances(0)))
    assert space.distances(0)[far] > 1
    for flow in ((0, far, 1), (0, 0, 1), (0, len(space), 1)):
        first, *others = witness.multipliers
        forged = replace(witness, multipliers=(Multipliers(first.action, (*first.flows, flow)), *others))
        with pytest.raises(Refuted, match="where no edge is"):
            upper_bound(problem, forged)


def test_the_box_around_them_is_the_smallest(problem: Problem) -> None:
    base = ground(problem)
    vectors = base.space.vectors[heaviest(base, 12)]
    clamp = around(vectors)
    summary = HistogramSummary(clamp)
    assert all(summary.of_histogram(tuple(row)) == tuple(row) for row in vectors.tolist())
    assert clamp.upper == tuple(vectors.max(axis=0).tolist())


def test_what_is_read_through_a_few_is_private_for_all(problem: Problem, best: tuple[float, float]) -> None:
    base = ground(problem)
    read = read_as(whole(base), heaviest(base, 30))
    value, kernel = likely_kernel(read, 1e-3)
    mechanism = mechanism_of(problem, read.box.summary, kernel)
    assert isinstance(privacy(mechanism), Certificate)
    bare = OptimalityClaim(Fraction(0), Fraction(0), DualWitness("dual-with-chord", None, 1, ()))
    assert float(-proved_value(mechanism, bare)) == pytest.approx(value, rel=1e-3)
    assert best[1] <= value < 1.1 * best[0]


def test_forgetting_where_neighbours_land_is_found_out(problem: Problem) -> None:
    base = ground(problem)
    inside = heaviest(base, 30)
    read = read_as(whole(base), inside)
    edges = alone(base, inside)
    assert len(edges) < len(read.section.space.edges)
    forgetful = replace(read, section=replace(read.section, space=replace(read.section.space, edges=edges)))
    _, kernel = likely_kernel(forgetful, 1e-3)
    assert isinstance(privacy(mechanism_of(problem, read.box.summary, kernel)), Counterexample)


def test_the_rung_says_where_it_serves(problem: Problem) -> None:
    assert "histograms are listed" in (rung.LikelyHistograms().why_not(problem) or "")
    several = replace(problem, decisions=(*problem.decisions, *problem.decisions))
    assert "one squared error" in (rung.LikelyHistograms().why_not(several) or "")


def test_the_rung_adds_to_both_sides_unless_nothing_is_left_to_add(problem: Problem, best: tuple[float, float]) -> None:
    height = Height(problem, 1e-3, SILENT)
    with counted():
        for first in FIRST:
            height.take(first.climb(height, 10.0) or Found())
        found = rung.LikelyHistograms().climb(height, 20.0)
        assert found is not None and found.witness is not None and found.loss is not None
        assert best[1] <= found.loss < min(1.01 * best[0], height.loss)
        assert 0.99 * best[1] < float(-upper_bound(problem, found.witness)) <= best[0]
        assert isinstance(privacy(mechanism_of(problem, found.summary, found.kernel)), Certificate)
        height.take(found)
        assert rung.LikelyHistograms().climb(height, 20.0) is None
    assert any(isinstance(each, rung.LikelyHistograms) for each in RUNGS)


def test_more_time_takes_more_of_them(problem: Problem) -> None:
    base = ground(problem)
    for some in (fitting, limiting):
        sizes = [len(some(base, seconds)) for seconds in (0.0, 0.15, 1.0, 100.0)]
        assert sizes == sorted(sizes) and sizes[0] == 1 and sizes[-1] == 84
