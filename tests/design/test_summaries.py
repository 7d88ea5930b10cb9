"""Programs on a weighted sum and on two counts: exact, private, valued without listing histograms, never worse than noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.certify import privacy
from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.bounds.groupings import clipped_groups, fitting, grouped_program, two_groups
from discreet.design.ladder.mechanisms import programs
from discreet.design.ladder.mechanisms.pairs import box_of, pairs_of, read_pair
from discreet.design.ladder.mechanisms.programs import read_sum
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate
from discreet.model.decision import Decision, integer_actions
from discreet.model.guarantee import Guarantee
from discreet.model.losses import loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import MeanStatistic, SumStatistic
from discreet.model.universe import Universe
from discreet.watch import SILENT

ONE_AND_THE_REST = (0, 1, 0, 0, 0, 0), (2, 3, 4, 5)
FIVE = (".8", ".1", ".05", ".03", ".015", ".005")


def problem_of(
    p=FIVE, v=range(6), respondents=6, actions=None, kind="squared-error", statistic=None, concentration=None, epsilon=1
):
    universe = Universe(tuple(map(Fraction, v)), respondents, respondents)
    decision = Decision(loss_of(kind), actions or RealActions())
    shares = tuple(map(Fraction, p))
    prior = IidPrior(shares) if concentration is None else DirichletMultinomialPrior(tuple(concentration * x for x in shares))
    return Problem(universe, ReplaceOne(), prior, statistic or SumStatistic(), (decision,), PurePromise(Fraction(epsilon)))


def mechanism_of(problem, read):
    guarantee = Guarantee(PurePromise(problem.epsilon), "replace-one", problem.unit)
    return Mechanism(problem, read.summary, read.kernel, guarantee)


@pytest.mark.parametrize("statistic", [SumStatistic(), MeanStatistic()])
@pytest.mark.parametrize("listed", [False, True])
def test_tables_on_sums_are_private_and_valued_alike_both_ways(statistic, listed):
    """The law of the sum and the list of histograms give the same number, to far more digits than any claim."""
    real = problem_of(statistic=statistic)
    actions = integer_actions(*real.omega_range) if listed else None
    problem = problem_of(statistic=statistic, actions=actions)
    reader = Reader(problem)
    for read in (read_sum(reader, (0, 1, 2, 2, 2, 2), 60.0), read_pair(reader, ONE_AND_THE_REST, 60.0)):
        mechanism = mechanism_of(problem, read)
        assert isinstance(privacy(mechanism), Certificate)
        low, high = weighted_sum_payoff(mechanism)
        exact = expected_payoff(mechanism)[0]
        assert low <= exact <= high and high - low < Fraction(1, 10**20)
        assert read.loss == pytest.approx(float(-exact))


def test_a_program_that_comes_to_less_than_what_is_held_is_not_solved_to_its_end(monkeypatch):
    """The adversary: a box so small that most of ω is cut off, which took a quarter of a design's time to find out."""
    reader = Reader(problem_of(respondents=20))
    box = box_of(reader, ONE_AND_THE_REST, 60.0)
    free = programs.read(reader, box, SILENT)
    assert programs.read(reader, box, SILENT, held=free.loss).loss == free.loss  # equal is not in vain
    steps, solve = [], programs.solve_priced

    def counting(program, gap, watch):
        found = solve(program, gap, watch)
        steps.append((found.iterations, found.status))
        return found

    monkeypatch.setattr(programs, "solve_priced", counting)
    assert programs.read(reader, box, SILENT, held=0.7 * free.loss) is None and steps.pop()[1] == "cancelled"
    assert programs.read(reader, box, SILENT, held=1e-3) is None and steps == []  # what two counts do not tell is more than that


def test_two_counts_beat_one_sum_and_both_beat_noise():
    problem = problem_of(respondents=20)
    reader = Reader(problem)
    pair = read_pair(reader, ONE_AND_THE_REST, 60.0)
    line = read_sum(reader, (0, 12, 24, 24, 24, 24), 60.0)
    assert pair.loss < 8.12 < line.loss < 8.1691
    assert line.summary.weights == (0, 1, 2, 2, 2, 2)
    assert pair.summary.weights == (0, 1, 21, 21, 21, 21)


def test_a_count_of_far_types_beside_a_sum_beats_every_weighted_sum_in_cells_that_differ():
    """Twenty respondents of a Dirichlet at ε = 2: 4.557 was the least that any weighted sum loses, and pairs were refused."""
    problem = problem_of(respondents=20, concentration=20, epsilon=2)
    read = read_pair(Reader(problem), ((0, 1, 2, 0, 0, 0), (3, 4, 5)), 0.7)
    mechanism = mechanism_of(problem, read)
    assert isinstance(privacy(mechanism), Certificate)
    assert read.loss < 4.39 and float(-weighted_sum_payoff(mechanism)[0]) == pytest.approx(read.loss)


def test_pairs_are_told_from_either_end_and_never_without_both_parts():
    """What is far is far from the likelier end; near types keep their distances, on a lattice that stays coarse."""
    low, high = Reader(problem_of()), Reader(problem_of(p=FIVE[::-1]))
    assert next(pairs_of(low, (0, 1, 2, 2, 2, 2))) == ONE_AND_THE_REST
    assert next(pairs_of(high, (0, 0, 0, 1, 2, 3))) == ((0, 0, 0, 2, 1, 0), (2, 1, 0))
    for reader in (low, high, Reader(problem_of(v=(0, 1, 2, 50, 99, 1000)))):
        for weights in ((0, 1, 2, 3, 4, 5), (5, 5, 5, 5, 5, 0), (0, 1, 1, 1, 1, 1)):
            for near, far in pairs_of(reader, weights):
                assert far and 0 < max(near) <= 12 and all(near[t] == 0 for t in far)


def test_the_pair_is_the_histogram_of_merged_types():
    """Its edges are those of replacing one respondent among {0}, {1} and {2..5}."""
    problem = problem_of(respondents=5)
    mechanism = mechanism_of(problem, read_pair(Reader(problem), ONE_AND_THE_REST, 60.0))
    totals = mechanism.space.vectors[:, 0]
    counts = {(int(t) % 6, int(t) // 6): i for i, t in enumerate(totals)}
    expected = {
        frozenset((i, counts[near + a, far + b]))
        for (near, far), i in counts.items()
        for a, b in product((-1, 0, 1), repeat=2)
        if (a, b) != (0, 0) and a + b in (-1, 0, 1) and (near + a, far + b) in counts
    }
    assert {frozenset(edge) for edge in mechanism.space.edges.tolist()} == expected


def test_too_large_or_another_loss_is_left_to_noise():
    assert read_pair(Reader(problem_of(respondents=400)), ONE_AND_THE_REST, 60.0) is None
    assert read_pair(Reader(problem_of(respondents=40)), ONE_AND_THE_REST, 0.01) is None
    assert read_sum(Reader(problem_of(respondents=40)), (0, 1, 2, 2, 2, 2), 0.01) is None
    assert read_sum(Reader(problem_of(respondents=400)), (0, 20, 40, 60, 80, 81), 60.0) is None
    absolute = problem_of(kind="absolute-error")
    table = mechanism_of(problem_of(), read_sum(Reader(problem_of()), (0, 1, 2, 2, 2, 2), 60.0))
    other = Mechanism(absolute, table.summary, table.kernel, table.guarantee)
    low, high = weighted_sum_payoff(other)
    assert low <= high < 0 and high - low < 1e-6, "what is solved for squared error is valued for any"


def test_groups_follow_the_clipping_unless_their_values_differ_much():
    reader = Reader(problem_of())
    for groups in (clipped_groups, two_groups):
        assert groups(reader, (0, 12, 24, 24, 24, 24)) == [[1], [2, 3, 4, 5]]
        assert groups(reader, (0, 1, 1, 1, 1, 1)) == [[1], [2, 3, 4, 5]]
    assert clipped_groups(Reader(problem_of((".8", ".1", ".1"), range(3))), (0, 1, 2)) is None
    skewed = Reader(problem_of((".7", ".1", ".1", ".05", ".05"), (0, 1, 2, 3, 7)))
    assert clipped_groups(skewed, (0, 7, 20, 24, 24)) == [[1], [2, 3, 4]]
    assert two_groups(skewed, (0, 7, 20, 24, 24)) == [[1, 2, 3], [4]]


def test_programs_fit_the_time():
    reader = Reader(problem_of(respondents=50))
    groups = [[1], [2, 3, 4, 5]]
    short, long = (fitting(reader, groups, seconds) for seconds in (5.0, 12.0))
    assert short.size < long.size and short.dropped > long.dropped
    assert fitting(reader, groups, 1.0) is None
    assert grouped_program(reader, (0, 12, 24, 24, 24, 24), 5.0).groups == ((1,), (2, 3, 4, 5))
    assert grouped_program(Reader(problem_of((".8", ".1", ".1"), range(3))), (0, 1, 2), 10.0) is None
    assert fitting(Reader(problem_of(respondents=1000)), groups, 600.0) is None
    assert np.isclose(short.masses.sum() + short.dropped, 1.0)
