"""The state that is read is the summary's, whatever bounds a file states, and what is no state is refused, not replaced."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.model.neighbours import ReplaceOne
from discreet.model.states import locate, state_space
from discreet.model.summary import Clamp, HistogramSummary, LinearSummary
from discreet.model.universe import Universe

VALUES = tuple(map(Fraction, range(6)))


@pytest.mark.parametrize("bound", [3, 2**62, 2**63 - 1, 2**63, 2**64, 2**80])
def test_bounds_beyond_64_bits_do_not_blur_counts(bound: int) -> None:
    universe = Universe.of(1000, VALUES)
    summary = HistogramSummary(Clamp((0,) * 6, (3, 3, 2, 2, 2, bound), 5))
    space = state_space(universe, ReplaceOne(), summary)
    rows = np.random.default_rng(0).multinomial(1000, [0.004, 0.002, 0.002, 0.001, 0.001, 0.99], size=500)
    wanted = [",".join(map(str, summary.of_histogram(tuple(row)))) for row in rows.tolist()]
    assert [space.labels[i] for i in locate(space, summary, rows)] == wanted


def test_a_histogram_of_another_size_is_no_state() -> None:
    space = state_space(Universe.of(3, VALUES), ReplaceOne(), HistogramSummary())
    assert locate(space, HistogramSummary(), np.array([[3, 0, 0, 0, 0, 0]])).tolist() == [0]
    with pytest.raises(InputError):
        locate(space, HistogramSummary(), np.array([[2, 0, 0, 0, 0, 0]]))


@pytest.mark.parametrize("types", [2, 3, 6, 40])
def test_a_row_whose_key_is_that_of_a_state_is_no_state(types: int) -> None:
    """Rows are found by a number in a base above every count; other counts may carry over to the number of a state."""
    universe = Universe.of(2, tuple(map(Fraction, range(types))))
    space = state_space(universe, ReplaceOne(), HistogramSummary())
    rest = [0] * (types - 2)
    for strange in ([5, 0], [-3, 2], [6, -1], [4, 0], [-1, 3], [2, 2]):
        with pytest.raises(InputError):
            locate(space, HistogramSummary(), np.array([[*strange, *rest]]))
    small = np.array([[1, 1, *rest]], dtype=np.int32)
    assert space.labels[int(locate(space, HistogramSummary(), small)[0])] == ",".join(map(str, small[0]))


def test_a_total_that_no_database_has_is_no_state() -> None:
    space = state_space(Universe.of(3, VALUES), ReplaceOne(), LinearSummary((0, 2, 4, 6, 8, 10)))
    with pytest.raises(InputError):
        locate(space, LinearSummary((1, 2, 4, 6, 8, 10)), np.array([[1, 2, 0, 0, 0, 0]]))
