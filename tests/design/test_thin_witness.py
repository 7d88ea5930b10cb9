"""Few multipliers with few bits, and kernels with few bits: what they cost is less than a tenth of the gap that was asked for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet.design.program.thin_witness as thin
from discreet.certify import privacy
from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.value.expected import expected_payoff
from discreet.design.program import rounding
from discreet.design.program.listed import programmed
from discreet.design.program.real import continuous
from discreet.design.program.rounding import enough_bits, is_private, raised, raised_together, rounded_weights, scaled
from discreet.design.proposal import Proposal
from discreet.design.solver.program import pulled
from discreet.files.problem import problem_from_document
from discreet.model.certificate import Certificate, DualWitness
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.numerics.brackets import rational_below_exp

PATH = np.array([[i, i + 1] for i in range(39)])


def problem(actions: str, epsilon: str = "1") -> Problem:
    document: dict[str, Any] = {
        "data": {"respondents": 12, "values": ["0", "1", "2"]},
        "prior": {"kind": "iid", "probabilities": ["0.85", "0.11", "0.04"]}, "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": actions}, "privacy": {"epsilon": epsilon},
    }  # fmt: skip
    return problem_from_document(document)


def made(actions: str, gap: float, epsilon: str = "1") -> tuple[Problem, Proposal, DualWitness]:
    asked = problem(actions, epsilon)
    found = (continuous if actions == "real" else programmed)(asked, gap)
    assert isinstance(found.witness, DualWitness)
    return asked, found, found.witness


@pytest.mark.parametrize(("actions", "gap"), [("integer", 1e-3), ("integer", 1e-7), ("real", 1e-3)])
def test_a_thin_witness_proves_as_much_but_for_a_tenth_of_the_gap(
    actions: str, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, _, small = made(actions, gap)
    monkeypatch.setattr(thin, "thinned", lambda flows, *_: flows)
    monkeypatch.setattr(thin, "one_way", lambda flows: flows)
    monkeypatch.setattr(thin, "_bits", lambda *_: 50)
    _, _, full = made(actions, gap)
    proved, before = dual_upper_bound(asked, small), dual_upper_bound(asked, full)
    assert float(proved - before) <= gap / 10 * float(abs(before))
    counted = [sum(len(m.flows) for m in w.multipliers) for w in (small, full)]
    assert counted[0] < counted[1] / (2 if actions == "real" else 3) and small.scale < full.scale


@pytest.mark.parametrize(("epsilon", "gap"), [("1", 1e-3), ("1", 1e-8), ("1/20", 1e-4), ("5", 1e-6)])
def test_a_kernel_with_few_bits_is_private_and_loses_less_than_a_tenth_of_the_gap(epsilon: str, gap: float) -> None:
    asked, found, witness = made("integer", gap, epsilon)
    mechanism = Mechanism(asked, found.summary, found.kernel, asked.guarantee)
    assert isinstance(privacy(mechanism), Certificate)
    value, bound = expected_payoff(mechanism)[0], dual_upper_bound(asked, witness)
    assert float(bound - value) <= gap * float(abs(value)), "the gap asked for is still reached"
    assert isinstance(found.kernel, TableKernel) and found.kernel.denominator.bit_length() < 64


def test_what_goes_both_ways_along_an_edge_proves_nothing() -> None:
    flows = np.random.default_rng(5).random((3, 2 * len(PATH)))
    found = thin.one_way(flows)
    assert (found >= 0).all() and np.count_nonzero(found) == flows.size / 2
    for factor in (1.0, float(np.e)):
        assert (pulled(found, PATH, factor, 40) <= pulled(flows, PATH, factor, 40) + 1e-15).all()


def test_what_is_not_kept_is_proved_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, _, small = made("integer", 1e-4)
    monkeypatch.setattr(thin, "thinned", None)
    with thin.in_passing():
        _, found, full = made("integer", 1e-4)
    mechanism = Mechanism(asked, found.summary, found.kernel, asked.guarantee)
    value = expected_payoff(mechanism)[0]
    assert float(dual_upper_bound(asked, full) - value) <= 1e-4 * float(abs(value))
    counted = [sum(len(m.flows) for m in w.multipliers) for w in (small, full)]
    assert counted[0] < counted[1]
    with pytest.raises(TypeError):
        made("integer", 1e-4)  # afterwards witnesses are made small again


def test_less_than_what_is_pulled_is_not_asked_for_and_more_is_never_given() -> None:
    """Near-miss: a vertex that pulls more than the given multipliers would prove less than they do."""
    rng = np.random.default_rng(4)
    flows = rng.random((3, 2 * len(PATH)))
    most = pulled(flows, PATH, float(np.e), 40)
    for spare in (1e-3, 1e-7):
        found = thin.thinned(flows, most, PATH, 1.0, spare)
        excess = np.maximum(pulled(found, PATH, float(np.e), 40) - most, 0.0)
        assert excess.max(axis=0).sum() <= spare and (found >= 0).all()
        assert np.count_nonzero(found) <= 3 * 40 < np.count_nonzero(flows)
    assert thin.thinned(flows, most, PATH, 1.0, 0.0) is flows, "where nothing may be lost, nothing is changed"


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 1000), Fraction(0), Fraction(12)])
def test_the_smallest_probability_does_not_decide_the_number_of_bits(epsilon: Fraction) -> None:
    """Rounded down, a probability of e^−39 at 2^−40 would be nothing, and nothing would spread to all of its row."""
    states = np.arange(40)
    shapes = np.exp(-float(epsilon) * np.abs(states[:, None] - states))
    lengthened = np.concatenate([shapes, np.ones((1, 40))])
    kernel = _repaired(lengthened, float(epsilon))
    regrets = np.abs(np.arange(41)[:, None] - states) / 40.0
    for spare in (1e-3, 1e-6):
        bits = enough_bits(regrets, 40, epsilon, spare)
        weights, whole = rounded_weights(kernel, PATH, epsilon, 40, bits)
        assert whole == 1 << bits and bits < 70
        assert all(sum(column) == whole for column in zip(*weights, strict=True))
        factor = rational_below_exp(epsilon, 200) if epsilon else Fraction(1)
        assert all(min(row) >= 0 and is_private(row, PATH.tolist(), factor) for row in weights)
        moved = np.array([[w / whole for w in row] for row in weights]) - kernel
        assert float((regrets * moved).sum()) <= spare


@pytest.mark.parametrize("sweeps", [60, 1])
@pytest.mark.parametrize(("epsilon", "bits"), [(Fraction(0), 30), (Fraction(1, 50), 40), (Fraction(1), 40), (Fraction(1), 50)])
def test_rows_are_raised_together_as_they_are_one_by_one(
    epsilon: Fraction, bits: int, sweeps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never less, so that no ratio is overstepped; seldom more, and where long chains are raised they are settled one by one."""
    monkeypatch.setattr(rounding, "MOST_SWEEPS", sweeps)
    factor = rational_below_exp(epsilon, 96) if epsilon else Fraction(1)
    kernel = np.random.default_rng(3).random((5, 40)) ** 8
    around = [[j for j in (i - 1, i + 1) if 0 <= j < 40] for i in range(40)]
    together = raised_together(kernel, PATH, around, factor, 1 << bits)
    for row, weights in zip(kernel.tolist(), together, strict=True):
        alone = raised([scaled(p, 1 << bits) for p in row], around, factor)
        more = [a - b for a, b in zip(weights, alone, strict=True)]
        assert is_private(weights, PATH.tolist(), factor) and 0 <= min(more) <= max(more) <= (2 if epsilon >= 1 else 60)
        beside = around[weights.index(max(weights))][0]
        assert not is_private([0 if i == beside else w for i, w in enumerate(weights)], PATH.tolist(), factor)


def _repaired(rows: np.ndarray, epsilon: float) -> np.ndarray:
    """Private rows whose columns sum to one: the last row takes what is left of the largest column, privately enough."""
    rows = rows / (2 * rows.sum(axis=0).max())
    left = 1.0 - rows[:-1].sum(axis=0)
    rows[-1] = left
    assert epsilon == 0 or np.all(np.abs(np.diff(np.log(left))) <= epsilon + 1e-12)
    return rows


def test_thinning_begins_where_another_ended_and_proves_as_much() -> None:
    """Bases of a bound a little above lead to few multipliers that pull no more; what is handed over is not written into."""
    rng = np.random.default_rng(7)
    flows = rng.random((2, 2 * len(PATH)))
    actions: list[Any] = [Fraction(0), Fraction(1)]
    near: thin.Bases = {}
    pulls = pulled(thin.one_way(flows), PATH, float(np.e), 40)
    thin.thinned(flows, 1.01 * np.abs(pulls) + pulls, PATH, 1.0, 1e-4, shared=(actions, near))
    assert set(near) == set(actions)
    before = dict(near)
    fresh = thin.thinned(flows, pulls, PATH, 1.0, 1e-4)
    begun = thin.thinned(flows, pulls, PATH, 1.0, 1e-4, shared=(actions, near))
    assert all(near[a] is before[a] for a in actions)
    for found in (fresh, begun):
        assert np.maximum(pulled(found, PATH, float(np.e), 40) - pulls, 0.0).max(axis=0).sum() <= 1e-4
        assert ((found > 1e-12).sum(axis=1) <= 40).all()
    assert np.isclose(fresh.sum(), begun.sum(), rtol=1e-6)
