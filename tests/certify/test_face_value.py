"""Noise at face value: its loss is the noise's, whatever the prior; and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.certify.optimality import proved_value
from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.face_value import _reaches, face_value_payoff
from discreet.certify.value.on_a_line import line_payoff
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise
from discreet.files.problem import problem_from_document
from discreet.model.certificate import OptimalityClaim, TheoremWitness
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism
from discreet.model.progression import Progression
from discreet.model.summary import LinearSummary

SQUARED = {"kind": "squared-error", "actions": "real"}
PINBALL = {"kind": "pinball", "quantile": "0.9", "actions": "real"}
DIRICHLET = {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}


def noisy(respondents: object, decision: object, prior: dict[str, object], **data: object) -> Mechanism:
    document = {
        "data": {"respondents": respondents, "values": [1, 2, 4], **data},
        "prior": prior,
        "statistic": {"kind": "sum"},
        "decision": decision,
        "privacy": {"epsilon": "1.5"},
    }
    made = noise_on_the_statistic(problem_from_document(document))
    assert made is not None
    return made


@pytest.mark.parametrize("decision", [SQUARED, PINBALL, [{**SQUARED, "weight": "2"}, {**PINBALL, "weight": "3"}]])
@pytest.mark.parametrize("prior", [DIRICHLET, {"kind": "iid", "probabilities": ["1/2", "1/3", "1/6"]}])
def test_the_noise_bounds_the_loss_from_above_and_is_near_it(decision: object, prior: dict[str, object]) -> None:
    mechanism = noisy(12, decision, prior)
    at_face_value = face_value_payoff(mechanism)
    plain = plain_noise(mechanism.problem)
    assert at_face_value is not None and plain is not None
    assert float(-at_face_value) == pytest.approx(plain, rel=1e-9)
    low, _ = expected_payoff(mechanism)
    assert at_face_value <= low and low / at_face_value > Fraction(1, 2)
    along_a_line = line_payoff(mechanism)
    assert along_a_line is None or along_a_line <= at_face_value


def test_with_respondents_added_or_removed() -> None:
    mechanism = noisy({"from": 0, "to": 9}, SQUARED, {**DIRICHLET, "size": ["1/10"] * 10}, neighbours="add-remove-one")
    at_face_value = face_value_payoff(mechanism)
    assert at_face_value is not None and at_face_value <= expected_payoff(mechanism)[0]


def test_many_overdispersed_respondents_are_valued_at_once() -> None:
    """The law of this sum is too large to be formed."""
    mechanism = noisy(5_000, SQUARED, DIRICHLET)
    value = proved_value(mechanism, OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("full information")))
    assert float(-value) == pytest.approx(plain_noise(mechanism.problem), rel=1e-9)


def test_values_at_even_distances_are_compared_with_those_shown() -> None:
    mechanism = noisy(12, SQUARED, DIRICHLET)
    kernel = mechanism.kernel
    assert isinstance(kernel, GeometricKernel) and isinstance(kernel.actions, Progression)
    even = kernel.actions
    listed = replace(mechanism, kernel=replace(kernel, actions=tuple(even)))
    assert face_value_payoff(mechanism) == face_value_payoff(listed) is not None
    for moved in (
        replace(even, start=even.start + 1),
        replace(even, step=even.step * 2),
        replace(even, start=even.start - even.step),
    ):
        assert face_value_payoff(replace(mechanism, kernel=replace(kernel, actions=moved))) is None


def test_what_only_resembles_it_is_not_taken_for_it() -> None:
    mechanism = noisy(12, SQUARED, DIRICHLET)
    kernel = mechanism.kernel
    assert kernel.recommended is not None
    shifted = list(kernel.recommended)
    shifted[3] += Fraction(1, 10**9)  # type: ignore[operator]
    moved = replace(mechanism, kernel=kernel.with_actions(shifted))  # type: ignore[union-attr, arg-type]
    assert face_value_payoff(moved) is None
    clipped = replace(mechanism, summary=replace(mechanism.summary, high=20))  # type: ignore[type-var]
    assert face_value_payoff(clipped) is None
    other = replace(mechanism.problem, decisions=problem_from_document({
        "data": {"respondents": 12, "values": [1, 2, 4]}, "prior": DIRICHLET, "statistic": {"kind": "sum"},
        "decision": {"kind": "match", "actions": "integer"}, "privacy": {"epsilon": "1.5"},
    }).decisions)  # fmt: skip
    assert face_value_payoff(replace(mechanism, problem=other)) is None


ABSOLUTE = {"kind": "absolute-error", "actions": "integer"}
RARE = {"kind": "iid", "probabilities": ["0.9", "0.09", "0.01"]}


@pytest.mark.parametrize("decision", [ABSOLUTE, PINBALL])
def test_a_window_adds_what_lies_outside_it(decision: dict[str, object]) -> None:
    """Cells with more values than can be listed tell a window apart; where the prior leaves it too often, nothing is claimed."""
    whole = noisy(60, decision, RARE)
    lowest = whole.kernel.low  # type: ignore[union-attr]
    wide, narrow = (in_a_window(whole, lowest + most) for most in (110, 20))
    at_face_value = face_value_payoff(wide)
    assert at_face_value is not None and at_face_value < face_value_payoff(whole)  # type: ignore[operator]
    assert at_face_value <= weighted_sum_payoff(wide)[1]
    assert face_value_payoff(narrow) is None
    squared = replace(wide, problem=noisy(60, SQUARED, RARE).problem)
    assert face_value_payoff(squared) is None


def test_probabilities_of_large_sums_are_never_understated() -> None:
    weights, shares = (0, 1, 3), (Fraction(7, 10), Fraction(1, 5), Fraction(1, 10))
    law = [Fraction(1)]
    for _ in range(12):
        law = [
            sum((p * law[k - w] for p, w in zip(shares, weights, strict=True) if 0 <= k - w < len(law)), Fraction(0))
            for k in range(len(law) + 3)
        ]
    for k in range(len(law)):
        assert sum(law[k:]) <= _reaches(weights, shares, 12, k) <= 1
    assert _reaches(weights, shares, 12, 36) < Fraction(1, 10**6)


def in_a_window(mechanism: Mechanism, high: int) -> Mechanism:
    """The same noise told apart up to an end only."""
    kernel = mechanism.kernel
    assert isinstance(kernel, GeometricKernel) and isinstance(mechanism.summary, LinearSummary) and kernel.actions is not None
    told = replace(kernel, high=high, actions=kernel.actions[: high - kernel.low + 1])
    return replace(mechanism, kernel=told, summary=replace(mechanism.summary, high=high))
