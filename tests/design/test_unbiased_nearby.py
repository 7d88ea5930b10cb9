"""Values unbiased nearby: errors without mean and covariance, proved; near-misses refuted twice."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from unbiased_designs import TINY, asked, everywhere, noise

import discreet.verify_standalone as standalone
from discreet.certify.unbiased import UnbiasedProof, unbiased
from discreet.certify.verdict import of_mechanism
from discreet.design import design
from discreet.design.result import Design
from discreet.errors import InputError
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.mechanism import Mechanism
from discreet.numerics.exact import format_exact


@pytest.fixture
def small() -> Design:
    return everywhere()


@pytest.fixture(scope="module")
def near() -> Design:
    return design(asked(unbiased="nearby"), gap=1e-3, seconds=3600)


def moments(mechanism: Mechanism) -> list[Fraction]:
    """E[(a − ω)·n_t] for every type, by plain sums of fractions."""
    problem = mechanism.problem
    vectors = problem.finest().vectors
    weights = problem.prior.on_histograms(vectors, problem.universe)  # type: ignore[arg-type]
    at = mechanism.states_of(vectors).tolist()
    numbers = [output.action for output in mechanism.outputs]
    found = [Fraction(0)] * 3
    for row, state, mass in zip(vectors.tolist(), at, weights.numerators, strict=True):
        mean = sum((a * mechanism.probability(k, state) for k, a in enumerate(numbers) if isinstance(a, Fraction)), Fraction(0))
        for t, count in enumerate(row):
            found[t] += mass * count * (mean - row[1] - 2 * row[2])
    return found


def test_nearby_errors_have_no_mean_and_no_covariance(near: Design, small: Design) -> None:
    assert moments(near.mechanism) == [0, 0, 0]
    found = of_mechanism(near.mechanism, near.certificate)
    assert found.proved and found.unbiased is not None and found.unbiased.kind == "nearby"
    assert 0 < near.lower_bound <= near.loss <= small.loss
    again = certificate_from_document(json.loads(json.dumps(certificate_document(near.certificate))))
    assert of_mechanism(mechanism_from_document(mechanism_document(near.mechanism)), again).proved
    standalone.verify(json.dumps(mechanism_document(near.mechanism)))


def test_nearby_near_misses_are_refuted_by_both(near: Design) -> None:
    document = copy.deepcopy(mechanism_document(near.mechanism))
    action = document["kernel"]["outputs"][1]["action"]
    action["number"] = format_exact(Fraction(action["number"]) + TINY)
    found = of_mechanism(mechanism_from_document(document))
    assert found.counterexample is not None and found.counterexample.claim == "unbiased"
    with pytest.raises(standalone.Refuted):
        standalone.verify(json.dumps(document))
    another = mechanism_document(near.mechanism)
    another["problem"]["decision"][0]["unbiased"] = "everywhere"
    assert of_mechanism(mechanism_from_document(another)).counterexample is not None
    with pytest.raises((standalone.Refuted, standalone.TooLarge)):
        standalone.verify(json.dumps(another))


def test_what_a_release_adds_up_is_what_was_proved(near: Design) -> None:
    from discreet.model.unbiased import unbiased_values

    found = unbiased_values(near.mechanism)
    assert found is not None and found.tolist() == [float(o.action) for o in near.mechanism.outputs]  # type: ignore[arg-type]


def test_nearby_is_for_cells_of_one_size(near: Design, small: Design) -> None:
    from discreet.certify.verdict import of_member
    from discreet.design.questions.family import design_family
    from discreet.files.sizes import Sizes
    from discreet.model.family import Member

    with pytest.raises(InputError, match="one size"):
        design_family(asked(unbiased="nearby"), Sizes(((2, 3),), {2: 1, 3: 1}))
    member = Member(2, 3, near.mechanism, near.certificate, (), 0, Fraction(1, 10))
    assert str(of_member(member).counterexample) == "Values unbiased nearby serve cells of other sizes"
    assert of_member(Member(2, 3, small.mechanism, small.certificate, (), 0, Fraction(1, 10))).counterexample is None


def test_what_is_right_everywhere_takes_no_list_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain noise for 200 respondents of three types was written out at 20,301 states, for a minute, after every search."""
    monkeypatch.setattr(Mechanism, "integer_table", lambda _: pytest.fail("the kernel was written out"))
    made = noise(asked(200, "nearby"), "geometric")
    assert unbiased(made) == UnbiasedProof("everywhere", 0)
    first, *others = made.kernel.recommended or ()
    assert isinstance(first, Fraction)
    biased = replace(made, kernel=made.kernel.with_actions([first + 1, *others]))
    with pytest.raises(pytest.fail.Exception, match="written out"):  # only the lemma is no proof of the contrary
        unbiased(biased)
