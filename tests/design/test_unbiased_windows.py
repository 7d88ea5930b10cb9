"""Windows of likely histograms: unbiased outside them too, and what they prove holds for all."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from unbiased_designs import asked, bias_at

import discreet.verify_standalone as standalone
from discreet.certify.bounds.unbiased import unbiased_upper_bound
from discreet.certify.verdict import of_mechanism
from discreet.errors import Refuted
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.certificate import UnbiasedWitness, Witness
from discreet.model.mechanism import Mechanism


@pytest.fixture(scope="module")
def window() -> tuple[Mechanism, Witness]:
    """Eight pupils, of whose histograms only the likely ones are told apart."""
    from discreet.design.program.sections import ground
    from discreet.design.program.unbiased import window_means
    from discreet.design.schedule import Until

    problem = asked(8)
    made = window_means(ground(problem), 0.05, Until.after(3600))
    assert made.witness is not None
    return Mechanism(problem, made.summary, made.kernel, problem.guarantee), made.witness


def test_a_window_is_unbiased_outside_it_too(window: tuple[Mechanism, Witness]) -> None:
    """Histograms outside differ from those inside with the same sum, and share what is drawn among themselves."""
    mechanism, _ = window
    table = mechanism.probabilities
    seen = {column.tobytes() for column in table.T}
    assert 17 < len(seen) < len(mechanism.space) == 45
    assert all(bias_at(mechanism, state) == 0 for state in range(45))
    found = of_mechanism(mechanism)
    assert found.proved and found.unbiased is not None and found.unbiased.states == 45
    standalone.verify(json.dumps(mechanism_document(mechanism)))


def test_what_a_window_proves_holds_for_all(window: tuple[Mechanism, Witness]) -> None:
    """Its bound lies below 5.607, which finer outputs reach, and near its own loss."""
    from discreet.certify.value.expected import expected_payoff

    mechanism, witness = window
    assert isinstance(witness, UnbiasedWitness) and len({h for h, _, _ in witness.biases}) < 45
    bound, loss = -unbiased_upper_bound(mechanism.problem, witness), -expected_payoff(mechanism)[0]
    assert Fraction("5.3") < bound < Fraction("5.6065") < loss < Fraction("5.75")
    far = max(h for h in range(45) if mechanism.space.vectors[h][2] == 8)
    with pytest.raises(Refuted):  # a multiplier where the window has none needs nodes that reach further
        unbiased_upper_bound(mechanism.problem, replace(witness, biases=(*witness.biases, (far, far, -(10**18)))))


def test_a_state_outside_the_window_that_is_off_is_refuted(window: tuple[Mechanism, Witness]) -> None:
    document = mechanism_document(window[0])
    state = document["kernel"]["states"].index("0,0,8")
    weights = document["kernel"]["weights"]
    a, b = [k for k, row in enumerate(weights) if int(row[state]) > 10**6][:2]
    weights[a][state], weights[b][state] = str(int(weights[a][state]) - 1), str(int(weights[b][state]) + 1)
    found = of_mechanism(mechanism_from_document(document))
    assert found.counterexample is not None and "0,0,8" in str(found.counterexample)
    with pytest.raises(standalone.Refuted, match="biased at"):
        standalone.verify(json.dumps(document))
