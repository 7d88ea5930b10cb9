"""Noise read along a line: its loss by two moments, above the exact one and near it; and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.certify.optimality import proved_value
from discreet.certify.value.on_a_line import line_payoff, second_moment
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.files.problem import problem_from_document
from discreet.model.certificate import OptimalityClaim, TheoremWitness
from discreet.model.kernel import ClosedKernel, GeometricKernel, StaircaseKernel
from discreet.model.mechanism import Mechanism
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary

SQUARED = {"kind": "squared-error", "actions": "real", "weight": "3/2"}
DIRICHLET = {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}
IID = {"kind": "iid", "probabilities": ["1/2", "1/3", "1/6"]}


def read_on_a_line(
    respondents: object,
    prior: dict[str, object],
    *,
    beyond: int = 90,
    weights: tuple[int, ...] = (0, 1, 1),
    decision: object = SQUARED,
    plateau: int | None = None,
    **data: object,
) -> Mechanism:
    document = {
        "data": {"respondents": respondents, "values": [1, 2, 4], **data},
        "prior": prior,
        "statistic": {"kind": "sum"},
        "decision": decision,
        "privacy": {"epsilon": "1/2"},
    }
    problem = problem_from_document(document)
    low, high = LinearSummary(weights).range(problem.people)
    actions = tuple(Fraction(7, 3) + Fraction(5, 4) * k for k in range(low - beyond, high + beyond + 1))
    step = max(weights) - min(weights)
    kernel: ClosedKernel = GeometricKernel(low - beyond, high + beyond, step, Fraction(61, 100), actions)
    if plateau is not None:
        kernel = StaircaseKernel(low - beyond, high + beyond, step, plateau, Fraction(61, 100), actions)
    return Mechanism(problem, LinearSummary(weights), kernel, problem.guarantee)


@pytest.mark.parametrize("weights", [(0, 1, 1), (2, 0, 1), (-1, 1, 3)])
@pytest.mark.parametrize("prior", [DIRICHLET, IID])
def test_two_moments_bound_the_loss_from_above_and_are_near_it(prior: dict[str, object], weights: tuple[int, ...]) -> None:
    mechanism = read_on_a_line(12, prior, weights=weights)
    found, (low, high) = line_payoff(mechanism), weighted_sum_payoff(mechanism)
    assert found is not None and found <= high
    assert found >= low * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize(("weights", "plateau"), [((0, 3, 4), 1), ((0, 3, 4), 2), ((0, 3, 4), 4), ((-1, 1, 2), 2), ((0, 1, 1), 1)])
def test_stairs_are_read_along_a_line_too(weights: tuple[int, ...], plateau: int) -> None:
    mechanism = read_on_a_line(12, DIRICHLET, weights=weights, plateau=plateau, beyond=330)
    found, (low, high) = line_payoff(mechanism), weighted_sum_payoff(mechanism)
    assert found is not None and low * (1 + Fraction(1, 10**6)) <= found <= high
    wide = sum((mechanism.kernel.noise(j) * j * j for j in range(-900, 901)), Fraction(0))
    assert float(second_moment(mechanism.kernel)) == pytest.approx(float(wide), rel=1e-12)


@pytest.mark.parametrize("beyond", [228, 229, 231, 320])
def test_stairs_that_are_gathered_at_the_ends_are_never_forgotten(beyond: int) -> None:
    """Noise of four units to a stair reaches four times as far: counting units instead of stairs would forget it."""
    mechanism = read_on_a_line(5, IID, weights=(0, 3, 4), plateau=2, beyond=beyond)
    found = line_payoff(mechanism)
    assert found is not None and found <= weighted_sum_payoff(mechanism)[1]
    assert line_payoff(read_on_a_line(5, IID, weights=(0, 3, 4), plateau=2, beyond=90)) is None


def test_with_respondents_added_or_removed() -> None:
    prior = {**DIRICHLET, "size": ["1/10"] * 10}
    mechanism = read_on_a_line({"from": 0, "to": 9}, prior, neighbours="add-remove-one")
    found, (low, high) = line_payoff(mechanism), weighted_sum_payoff(mechanism)
    assert found is not None and low * (1 + Fraction(1, 10**6)) <= found <= high


@pytest.mark.parametrize("beyond", [57, 60, 80])
def test_what_is_gathered_at_the_ends_is_never_forgotten(beyond: int) -> None:
    """However near the ends are, the bound is not below the loss."""
    mechanism = read_on_a_line(5, IID, beyond=beyond)
    found = line_payoff(mechanism)
    assert found is not None and found <= weighted_sum_payoff(mechanism)[1]
    assert line_payoff(read_on_a_line(5, IID, beyond=40)) is None


def test_many_overdispersed_respondents_are_valued_at_once() -> None:
    mechanism = read_on_a_line(5_000, DIRICHLET)
    value = proved_value(mechanism, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("full information")))
    assert value == line_payoff(mechanism)


@pytest.mark.parametrize("beyond", [90, 200])
def test_a_line_is_a_line_whether_listed_or_not(beyond: int) -> None:
    mechanism = read_on_a_line(12, DIRICHLET, beyond=beyond)
    kernel = mechanism.kernel
    assert isinstance(kernel, GeometricKernel) and kernel.actions is not None
    even = Progression(Fraction(7, 3) + Fraction(5, 4) * kernel.low, Fraction(5, 4), kernel.width)
    assert even == kernel.actions
    value = line_payoff(replace(mechanism, kernel=replace(kernel, actions=even)))
    assert value is not None and value == line_payoff(mechanism)
    for other in (replace(even, start=even.start + 1), replace(even, step=even.step * 2)):
        listed, short = (line_payoff(replace(mechanism, kernel=replace(kernel, actions=a))) for a in (tuple(other), other))
        assert listed == short != value


def test_nothing_else_is_taken_for_it() -> None:
    mechanism = read_on_a_line(12, DIRICHLET)
    kernel = mechanism.kernel
    assert isinstance(kernel, GeometricKernel) and kernel.actions is not None
    for low, high in ((1, None), (None, 11), (3, 9)):  # a window: sums beyond it are moved, and the line does not know
        assert line_payoff(replace(mechanism, summary=LinearSummary((0, 1, 1), low, high))) is None
    for at in (0, 1, len(kernel.actions) // 2, -1):  # a line that is bent once
        bent = list(kernel.actions)
        bent[at] = Fraction(0)
        assert line_payoff(replace(mechanism, kernel=replace(kernel, actions=tuple(bent)))) is None
    assert line_payoff(replace(mechanism, kernel=replace(kernel, actions=None))) is None
    absolute = {"kind": "absolute-error", "actions": "real"}
    assert line_payoff(read_on_a_line(12, DIRICHLET, decision=absolute)) is None
    both = replace(mechanism.problem, decisions=mechanism.problem.decisions * 2)
    pairs = replace(kernel, actions=tuple((a, a) for a in kernel.actions))
    assert line_payoff(replace(mechanism, problem=both, kernel=pairs)) is None
