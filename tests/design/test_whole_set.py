"""The least worst regret over a whole set of priors: both sides hold, and hedging beats the design for one prior."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.certify.verdict import of_mechanism
from discreet.certify.whole_set import regret_over, risks
from discreet.design import design
from discreet.design.questions.family import design_family
from discreet.design.questions.whole_set import WholeSet, hedged_over
from discreet.errors import InputError
from discreet.files.sizes import Sizes
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.prior_set import PriorSet, prior_at
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

F = Fraction
WIDE = PriorSet((F(4, 5), F(1, 5)), ((F(1, 2), F(1)), (F(1, 20), F(1, 2))), (F(0), F(0)))


def problem(size: int) -> Problem:
    universe, actions = Universe.of(size, (F(0), F(1))), integer_actions(F(0), F(size))
    prior = IidPrior(WIDE.centre)
    return Problem(universe, ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), actions),), PurePromise(F(1)), "unit")


@pytest.fixture(scope="module")
def hedged() -> WholeSet:
    made = design(problem(10), compare=False)
    return hedged_over(made.mechanism, made.certificate, WIDE, seconds=1e6)


def test_both_sides_hold_on_a_grid_and_hedging_saves_regret(hedged: WholeSet) -> None:
    regret, asked = hedged.regret, problem(10)
    assert regret.finished and 0 < regret.least <= regret.worst < F(7, 10) * regret.unhedged
    assert of_mechanism(hedged.mechanism, hedged.certificate).proved and hedged.mechanism.problem.prior == asked.prior
    assert 0 <= regret.price < regret.unhedged
    universe = asked.universe
    assert isinstance(universe, Universe)
    at, seen = risks(hedged.mechanism), []
    for k in range(13):
        p = F(1, 20) + F(9, 20) * k / 12
        prior = prior_at((1 - p, p), F(0))
        weights = prior.on_histograms(universe.histograms(), universe)
        best = design(replace(asked, prior=prior), compare=False)
        seen.append(sum((r * weights[i] for i, r in enumerate(at)), F(0)) - best.loss)
    assert max(seen) <= regret.worst <= max(seen) + F(1, 30)


def test_the_worst_regret_is_proved_again_from_its_cells_and_cannot_be_had_with_fewer(hedged: WholeSet) -> None:
    """Near-miss: a cell without bounds proves less; the cells reach from one end of the set to the other."""
    proved = regret_over(hedged.mechanism, hedged.covered, F(1, 1000))
    assert proved <= hedged.regret.worst
    first, last = hedged.covered[0], hedged.covered[-1]
    assert regret_over(hedged.mechanism, [replace(last, witnesses=())], F(1, 1000)) > hedged.regret.worst
    assert {one.cell for one in hedged.covered} != {first.cell, last.cell}
    inner = [vertex[1] for one in hedged.covered for vertex in one.cell.vertices]
    assert min(inner) == F(1, 20) and max(inner) == F(1, 2)


def test_a_family_is_hedged_size_by_size(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one size each"):
        design_family(problem(4), Sizes(((2, 4),), {3: 1}), hedged=WIDE, folder=tmp_path)
    made = design_family(problem(4), [3], hedged=WIDE, folder=tmp_path, workers=1, seconds=1e6)
    again = design_family(problem(4), [3], hedged=WIDE, folder=tmp_path, workers=1, seconds=1e6)
    assert made.made[0].regret == again.made[0].regret and again.made[0].cached and not made.made[0].cached
    other = design_family(problem(4), [3], folder=tmp_path, workers=1)
    assert other.made[0].regret is None
