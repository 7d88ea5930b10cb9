"""SY Lemma 1: the geometric mechanism's posteriors about a count are those that attain the upper privacy bound up to a
cut-off x and the lower one beyond it. (The cut-off ranges over all integers; the proof's first case is +ε.)

Executed: the posteriors are e^{−ε|ω−x|} tilts, extreme in K_Ω; Figures 5-7's numbers. Near-miss: the valley
posterior, extreme too, is not induced, and a geometric mechanism with a larger ratio attains nothing.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.geometry.hyper import hyper_of, statistic_hyper
from discreet.geometry.labellings import ExtremePoint, extreme_points
from discreet.geometry.of_problem import K_Omega_of, stated


def posteriors(sy, problem, epsilon=None):
    listed = stated(problem)
    return statistic_hyper(hyper_of(sy.geometric(problem, (0, 1), epsilon)), listed), K_Omega_of(listed)


@pytest.mark.parametrize("respondents", [1, 2, 3, 5])
def test_single_peaked_labels(sy, respondents: int) -> None:
    problem = sy.problem(respondents, (0, 1), sy.random_exchangeable(respondents, respondents, 2))
    hyper, polytope = posteriors(sy, problem)
    assert len(hyper) == respondents + 1
    extreme = set(extreme_points(polytope))
    for x, posterior in enumerate(hyper.posteriors):
        labels = [respondents - abs(w - x) for w in range(respondents + 1)]
        point = ExtremePoint(tuple(k - min(labels) for k in labels))
        assert point in extreme
        tilted = point.belief(polytope.prior, polytope.ratio_bracket()[0])
        assert list(map(float, posterior)) == pytest.approx(list(map(float, tilted)), abs=1e-15)
        shifts = polytope.log_shifts(posterior)
        assert shifts == pytest.approx([-1.0 if w < x else 1.0 for w in range(respondents)], abs=1e-12)


def test_the_numbers_of_figures_5_to_7(sy) -> None:
    hyper, _ = posteriors(sy, sy.figures())
    weights = [float(w) for w in hyper.weights]
    assert weights == pytest.approx([0.366312673267, 0.267374653466, 0.366312673267], abs=1e-12)
    low, middle, high = ([float(p) for p in posterior] for posterior in hyper.posteriors)
    assert low == pytest.approx([0.665240955775, 0.244728471055, 0.0900305731704], abs=1e-12)
    assert middle == pytest.approx([0.211941557617, 0.576116884766, 0.211941557617], abs=1e-12)
    assert high == pytest.approx(low[::-1], abs=1e-15)


def test_the_valley_is_the_near_miss(sy) -> None:
    hyper, polytope = posteriors(sy, sy.figures())
    valley = ExtremePoint((1, 0, 1))
    assert valley in extreme_points(polytope)
    belief = valley.belief(polytope.prior, polytope.ratio_bracket()[0])
    assert [float(p) for p in belief] == pytest.approx([0.422318798252, 0.155362403497, 0.422318798252], abs=1e-12)
    assert min(max(abs(float(p - q)) for p, q in zip(belief, posterior, strict=True)) for posterior in hyper.posteriors) > 0.2
    duller, _ = posteriors(sy, sy.figures(), Fraction(9, 10))
    assert all(polytope.binding(posterior) == [] for posterior in duller.posteriors)
