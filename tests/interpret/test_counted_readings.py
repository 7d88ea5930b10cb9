"""Noise that follows a count, read: everything that is said of it is what is said of the same mechanism written as a table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from counted_mechanisms import counted_on, peaked

from discreet.currencies import profile, rho
from discreet.currencies.channel import whole_channel
from discreet.design.comparison.counted_world import CountedWorld
from discreet.design.comparison.truths import ListedWorld, SummedWorld
from discreet.errors import InputError, TooLarge
from discreet.exchange.opendp_measurements import Plug
from discreet.interpret import posterior, readings
from discreet.interpret.attacker import worst_product
from discreet.interpret.closed_bounds import total_bounds
from discreet.interpret.level_likelihoods import must_read_the_total
from discreet.interpret.models import PoissonModel
from discreet.model.kernel import CountedKernel, Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.priors import DirichletMultinomialPrior
from discreet.sampling import draw_outputs


def peaks(tables: tuple[int, ...]) -> CountedKernel:
    return peaked(2, 0, -2, -2, tables=tables) if tables else peaked(2, 0, -2)


@pytest.fixture(scope="module", params=[(), (3, 1)], ids=["one count", "two counts"])
def both(request: pytest.FixtureRequest) -> tuple[Mechanism, Mechanism]:
    """A mechanism, and the same as a table: its ratio is a half, so all its probabilities are over a power of two."""
    kernel = replace(peaks(request.param), low=-1, high=7)
    kernel = kernel.with_actions([Fraction(k) for k in range(kernel.low, kernel.high + 1)])
    plain = counted_on(kernel, second=(1,) if request.param else ())
    prior = DirichletMultinomialPrior((Fraction(3), Fraction(1), Fraction(1, 2)))
    counted = replace(plain, problem=replace(plain.problem, prior=prior))
    rows, whole = counted.integer_table()
    outputs = tuple(Output(output.label, output.action) for output in kernel.outputs)
    table = TableKernel(counted.space.labels, outputs, tuple(map(tuple, rows)), whole)
    return counted, replace(counted, kernel=table)


def test_posteriors_are_those_of_the_table(both: tuple[Mechanism, Mechanism]) -> None:
    for label in ("-1", "2", "7"):
        one, other = (posterior(m, label) for m in both)
        assert one.values == other.values and np.allclose(one.probabilities, other.probabilities, rtol=1e-12)
    assert np.allclose(readings(both[0]).posteriors, readings(both[1]).posteriors, rtol=1e-12)


def test_every_currency_is_that_of_the_table(both: tuple[Mechanism, Mechanism]) -> None:
    one, other = (profile(m) for m in both)
    assert one.epsilon.bracket.upper == pytest.approx(other.epsilon.bracket.upper, rel=1e-12)
    for epsilon in ("0", "1/2", "9/10"):
        deltas = [each.delta_for_epsilon(epsilon).bracket.upper for each in (one, other)]
        assert deltas[0] == pytest.approx(deltas[1], rel=1e-9)
    assert rho(both[0]).upper == pytest.approx(rho(both[1]).upper, rel=1e-9)
    assert worst_product(both[0]).shift == pytest.approx(worst_product(both[1]).shift, rel=1e-12)


def test_other_truths_are_those_of_the_table(both: tuple[Mechanism, Mechanism]) -> None:
    for world in (ListedWorld, SummedWorld):
        one, other = (world(m) for m in both)
        for theta in (-0.4, 0.0, 0.7):
            assert one.tilted(theta).loss == pytest.approx(other.tilted(theta).loss, rel=1e-9)


def test_a_large_cell_is_seen_through_its_count_alone(both: tuple[Mechanism, Mechanism]) -> None:
    """With ends that gather nothing likely it is what the law of sum and count says; the largest loss of a table limits it."""
    assert isinstance(both[0].kernel, CountedKernel)
    kernel = peaks(both[0].kernel.tables).with_actions([Fraction(k) for k in range(-40, 51)])
    mechanism = replace(both[0], kernel=kernel)
    through, whole = CountedWorld(mechanism), SummedWorld(mechanism)
    for theta in (-0.4, 0.0, 0.7):
        one, other = through.tilted(theta), whole.tilted(theta)
        assert one.loss == pytest.approx(other.loss, rel=1e-4) and one.mean == other.mean
        assert one.bias == pytest.approx(other.bias, abs=1e-3) and one.loss <= through.most
    for each in (through.after_outputs, lambda: through.replies([0.0]), lambda: through.chances([0.0])):
        with pytest.raises(TooLarge, match="one by one"):
            each()


def test_draws_of_cells_are_drawn_from_their_own_table(both: tuple[Mechanism, Mechanism]) -> None:
    """Cells with three, two and no counted respondents; mean of 4,000 draws within six deviations."""
    cells = np.repeat(np.array([[0, 0, 3], [1, 0, 2], [3, 0, 0]]), 4_000, axis=0)
    drawn = draw_outputs(both[0], cells).reshape(3, -1)
    states = both[1].states_of(cells[::4_000])
    law = both[1].probabilities[:, states]
    places = np.arange(len(law))
    for row, column in zip(drawn, law.T, strict=True):
        mean = places @ column
        assert abs(row.mean() - mean) < 6 * np.sqrt((places - mean) ** 2 @ column / 4_000)


def test_what_reads_one_number_refuses_two(both: tuple[Mechanism, Mechanism]) -> None:
    """Totals near each other may be many neighbours apart: whoever takes |T − T′|/step for their distance promises too much."""
    counted = both[0]
    assert Plug(counted).natural == "database" and Plug(both[1]).natural == "total"
    refused: list[Any] = [
        lambda: Plug(counted).draw_total(3),
        lambda: Plug(counted).steps_of_total(1),
        lambda: PoissonModel(counted),
        lambda: total_bounds(counted, "2"),
        lambda: must_read_the_total(counted),
    ]
    for each in refused:
        with pytest.raises(InputError):
            each()


def test_large_cells_have_no_profile_and_say_so_before_any_work(
    both: tuple[Mechanism, Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = both[0].kernel
    assert isinstance(kernel, CountedKernel)
    second, radix = ((1,), 2_001) if kernel.tables else ((), 1)
    wide = counted_on(
        replace(kernel, actions=None, low=-1, high=5_000, stride=10_000, radix=radix), respondents=2_000, second=second
    )
    monkeypatch.setattr(Mechanism, "space", property(lambda _: pytest.fail("states were listed")))
    with pytest.raises(TooLarge, match="discreet convert"):
        whole_channel(wide)
