"""From histograms to outputs, with the mechanism of each cell's size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from laws import FALSE_ALARM, p_value

import discreet
from discreet.errors import InputError
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary
from discreet.sampling import draw_cells, draw_outputs


def problem(size: int) -> Problem:
    """Three types, squared error."""
    return discreet.problem(
        respondents=size, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], actions="real", epsilon=1
    ).problem


def geometric(size: int) -> Mechanism:
    """Geometric noise on the number of respondents of a non-zero type."""
    kernel = GeometricKernel(0, size, 1, Fraction(1, 2))
    guarantee = Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent")
    return Mechanism(problem(size), LinearSummary((0, 1, 1)), kernel, guarantee)


def identity(size: int) -> Mechanism:
    """A kernel that publishes its state: useless for privacy, perfect for seeing what was read."""
    p = problem(size)
    from discreet.model.states import state_space

    space = state_space(p.universe, p.neighbours, HistogramSummary())
    weights = tuple(tuple(int(k == s) for s in range(len(space))) for k in range(len(space)))
    kernel = TableKernel(space.labels, tuple(Output(label) for label in space.labels), weights, 1)
    return Mechanism(p, HistogramSummary(), kernel, Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent"))


def test_each_cell_is_read_by_the_mechanism_of_its_size() -> None:
    family = {n: identity(n) for n in (3, 4)}
    rows = np.array([[3, 0, 0], [1, 2, 1], [0, 0, 3], [4, 0, 0]])
    drawn = draw_cells(family, rows)
    labels = [family[int(row.sum())].outputs[k].label for row, k in zip(rows, drawn, strict=True)]
    assert labels == ["3,0,0", "1,2,1", "0,0,3", "4,0,0"]
    assert (draw_cells(family, rows, lazy=True) == drawn).all()


def test_a_closed_form_reads_the_clipped_total_and_follows_its_law() -> None:
    """False-alarm probability 1e-7."""
    mechanism = geometric(10)
    rows = np.tile([6, 3, 1], (200_000, 1))
    assert mechanism.places_of(rows[:1]).tolist() == [4]
    law = [mechanism.kernel.mass(k, 4) for k in range(11)]  # type: ignore[arg-type]
    drawn = draw_outputs(mechanism, rows)
    assert p_value(drawn, law) > FALSE_ALARM
    near = [mechanism.kernel.mass(k, 5) for k in range(11)]  # type: ignore[arg-type]
    assert p_value(drawn, near) < FALSE_ALARM


def test_a_closed_form_makes_no_list_of_states() -> None:
    mechanism = geometric(10**9)
    drawn = draw_outputs(mechanism, np.array([[10**9 - 500_000_000, 500_000_000, 0]]))
    assert abs(int(drawn[0]) - 500_000_000) < 200  # beyond with probability 2^-199


def test_sizes_without_a_mechanism_and_whole_databases_are_refused() -> None:
    with pytest.raises(InputError, match="does not cover"):
        draw_cells({3: identity(3)}, np.array([[2, 0, 0]]))
    p = problem(1)
    kernel = TableKernel(("0", "1", "2"), (Output("a"), Output("b")), ((1, 1, 1), (1, 1, 1)), 2)
    whole = Mechanism(p, DatabaseSummary(), kernel, Guarantee(PurePromise(Fraction(1)), "replace-one", "respondent"))
    with pytest.raises(InputError, match="whole database"):
        draw_outputs(whole, np.array([[1, 0, 0]]))
