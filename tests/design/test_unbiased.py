"""Values that can be added up: bias exactly 0, proved; a bound over all unbiased mechanisms; near-misses refuted twice."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from unbiased_designs import TINY, asked, bias_at, everywhere, noise
from unbiased_documents import clamped_documents

import discreet.verify_standalone as standalone
from discreet.certify.bounds.unbiased import unbiased_upper_bound
from discreet.certify.verdict import of_mechanism
from discreet.design import design
from discreet.design.program.means import Scale, exact_means, repair_outputs
from discreet.design.program.unbiased_noise import NOISES, variance
from discreet.design.result import Design
from discreet.errors import DiscreetError, InputError, Refuted, TooLarge
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.model.certificate import UnbiasedWitness
from discreet.numerics.exact import format_exact


@pytest.fixture
def small() -> Design:
    return everywhere()


def test_bias_is_exactly_zero_at_every_state(small: Design) -> None:
    assert all(bias_at(small.mechanism, state) == 0 for state in range(len(small.mechanism.space)))
    found = of_mechanism(small.mechanism, small.certificate)
    assert found.proved and found.unbiased is not None and found.unbiased.kind == "everywhere" and not found.not_proved
    assert any(output.action < 0 for output in small.mechanism.outputs)  # type: ignore[operator]


def test_the_best_lies_between_its_bound_and_every_noise(small: Design) -> None:
    assert 0 < small.lower_bound <= small.loss
    assert small.relative_gap < 0.03
    assert all(float(small.loss) < variance(asked(), name) for name in NOISES)
    assert set(small.baselines) == {"full information", "geometric", "staircase", "laplace"}


@pytest.mark.slow
def test_school_planning_for_ten() -> None:
    found = design(asked(10), gap=0.03, seconds=3600, compare=False)
    assert found.loss <= Fraction("5.87") and found.lower_bound >= Fraction("5.6")
    assert of_mechanism(found.mechanism, found.certificate).unbiased is not None
    assert standalone.verify(json.dumps(mechanism_document(found.mechanism)))


def test_a_count_beats_geometric_noise() -> None:
    problem = asked(10, values=(0, 1))
    found = design(problem, gap=1e-3, seconds=600)
    assert found.loss <= Fraction("1.601")
    assert round(variance(problem, "geometric"), 3) == 1.841


def test_the_certificate_survives_its_file(small: Design) -> None:
    again = certificate_from_document(json.loads(json.dumps(certificate_document(small.certificate))))
    assert again.optimality is not None and isinstance(again.optimality.witness, UnbiasedWitness)
    document = json.loads(json.dumps(mechanism_document(small.mechanism)))
    assert of_mechanism(mechanism_from_document(document), again).proved


@pytest.mark.parametrize("name", NOISES)
def test_noise_with_read_ends_is_unbiased_and_private(name: str) -> None:
    mechanism = noise(asked(4), name)
    assert of_mechanism(mechanism).unbiased is not None
    assert all(bias_at(mechanism, state) == 0 for state in range(len(mechanism.space)))
    standalone.verify(json.dumps(mechanism_document(mechanism)))


def test_geometric_noise_needs_no_list() -> None:
    mechanism = noise(asked(20_000), "geometric")
    found = of_mechanism(mechanism)
    assert found.proved and found.unbiased is not None and found.unbiased.states == 0


def moved_action(document: dict[str, Any]) -> None:
    action = document["kernel"]["outputs"][7]["action"]
    action["number"] = format_exact(Fraction(action["number"]) + TINY)


def moved_mass(document: dict[str, Any]) -> None:
    """The smallest share of one state's mass from an output to the next: means are off by far less than 10^-12."""
    weights = document["kernel"]["weights"]
    weights[5][0], weights[6][0] = str(int(weights[5][0]) - 1), str(int(weights[6][0]) + 1)


def moved_values(document: dict[str, Any]) -> None:
    document["problem"]["data"]["values"] = ["0", "1", format_exact(2 + TINY)]


def no_number(document: dict[str, Any]) -> None:
    del document["kernel"]["outputs"][3]["action"]


@pytest.mark.parametrize("forge", [moved_action, moved_mass, moved_values, no_number])
def test_near_misses_are_refuted_by_both(small: Design, forge: Callable[[dict[str, Any]], None]) -> None:
    document = copy.deepcopy(mechanism_document(small.mechanism))
    forge(document)
    found = of_mechanism(mechanism_from_document(document))
    assert found.counterexample is not None and found.counterexample.claim == "unbiased"
    with pytest.raises((standalone.Refuted, KeyError)):
        standalone.verify(json.dumps(document))


def test_a_biased_mechanism_does_not_become_unbiased_by_saying_so() -> None:
    biased = design(asked(unbiased=None), gap=1e-2, seconds=600, compare=False).mechanism
    document = mechanism_document(biased)
    document["problem"]["decision"][0]["unbiased"] = "everywhere"
    assert of_mechanism(mechanism_from_document(document)).counterexample is not None
    with pytest.raises((standalone.Refuted, standalone.TooLarge)):
        standalone.verify(json.dumps(document))


def test_an_end_read_as_itself_is_refuted() -> None:
    mechanism = noise(asked(4), "geometric")
    document = mechanism_document(mechanism)
    document["kernel"]["actions"][0]["number"] = "0"
    found = of_mechanism(mechanism_from_document(document))
    assert found.counterexample is not None and "stands for" in str(found.counterexample)
    with pytest.raises(standalone.Refuted):
        standalone.verify(json.dumps(document))


def test_no_witness_proves_more_than_is_true(small: Design) -> None:
    witness = small.claim.witness
    assert isinstance(witness, UnbiasedWitness)
    problem, chance = small.mechanism.problem, random.Random(20)
    honest = unbiased_upper_bound(problem, witness)
    for _ in range(12):
        biases = tuple((h, h, n + chance.randint(-(2**50), 2**50)) for h, _, n in witness.biases)
        with suppress(Refuted):
            assert unbiased_upper_bound(problem, replace(witness, biases=biases)) >= small.value
    assert honest >= small.value
    with pytest.raises(Refuted):
        unbiased_upper_bound(problem, replace(witness, biases=((99, 99, 1),)))
    with pytest.raises(Refuted):
        unbiased_upper_bound(problem.biased, witness)
    with pytest.raises(InputError):
        replace(witness, tails=(((0, 1, -1),), ()))


def test_a_crude_kernel_is_repaired_exactly() -> None:
    """Means off by 10^-9 at random states, as a solver leaves them."""
    import numpy as np

    scale = Scale(Fraction(0), Fraction(1), (0, 1, 2, 3))
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    low, high = repair_outputs(scale.places, edges, 1.0)
    share = (np.array(scale.places) - low) / (high - low)
    kernel = np.stack([1 - share, share]) + 1e-9 * np.random.default_rng(3).standard_normal((2, 4))
    outputs, weights, whole = exact_means(kernel, np.array([low, high]) << 10, scale, edges, Fraction(1))
    for state, place in enumerate(scale.places):
        assert sum(row[state] for row in weights) == whole
        assert sum(a * row[state] for a, row in zip(outputs, weights, strict=True)) == whole * (place << 10)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({"kind": "absolute-error", "actions": "real"}, "squared error"),
        ({"kind": "squared-error", "actions": "integer"}, "not all real"),
        ({"kind": "squared-error", "actions": {"from": 0, "to": 4}}, "not all real"),
    ],
)
def test_unbiased_values_are_real_and_judged_by_squared_error(decision: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        asked(decision=decision | {"unbiased": "everywhere"})


def test_what_is_refused() -> None:
    with pytest.raises(DiscreetError):
        asked(unbiased="somewhere")
    with pytest.raises(InputError, match="one decision maker"):
        asked(decision=[{"kind": "squared-error", "actions": "real", "unbiased": "everywhere"}] * 2)
    with pytest.raises(TooLarge, match="who tells nothing"):
        design(asked(epsilon=0), seconds=600)


def test_time_that_is_up_still_gives_unbiased_values() -> None:
    """No route comes back: noise is published, not nothing, which would be biased."""
    from discreet.design.best_mechanism import _Search
    from discreet.watch import SILENT

    search = _Search(asked(5), 1e-3, 600, SILENT)
    search._as_a_last_resort()
    assert of_mechanism(*search.proofs.settled()).unbiased is not None


def test_unbiased_noise_is_compared_by_name(small: Design, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from discreet.cli.main import app
    from discreet.files import write_mechanism

    path = tmp_path / "x.mechanism.json"
    write_mechanism(path, small.mechanism)
    done = CliRunner().invoke(app, ["compare", str(path), "geometric", "staircase", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["mechanisms"]
    assert [abs(row["bias"]) < 1e-9 for row in rows] == [True] * 3
    assert rows[0]["followed"] < min(rows[1]["followed"], rows[2]["followed"])


def test_one_draw_carries_value_and_action(small: Design) -> None:
    from discreet.design.questions.both import both
    from discreet.views.both import both_words

    found = both(small.mechanism)
    assert found.alone_bound <= found.alone_action <= found.action < found.variance == pytest.approx(float(small.loss))
    assert "without decision.unbiased" not in both_words(found)
    assert "one design serves both" in both_words(replace(found, alone_variance=found.variance))
    with pytest.raises(InputError, match="adding up"):
        both(replace(small.mechanism, problem=small.mechanism.problem.biased))


def test_points_of_a_frontier_are_coarse_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each point is a program with means: to the usual gaps a frontier of five would take minutes."""
    from discreet.design.questions import frontier as points

    gaps: list[float] = []
    monkeypatch.setattr(points, "side_by_side", lambda _, tasks, *_rest: gaps.extend(task.gap for task in tasks) or [])
    for gap in (None, 1e-5):
        points.frontier(asked(), [Fraction(1)], gap=gap)
    points.frontier(asked(unbiased=None), [Fraction(1)])
    assert gaps == [1e-2, 1e-5, 1e-6]


def test_what_would_take_too_long_is_refused_before_it_begins() -> None:
    """A file may name any number of respondents, and any number of long fractions: neither costs its reader more than asking."""
    many = clamped_documents()[0]
    many["problem"]["data"]["respondents"] = 10**5
    many["kernel"]["states"] = [f"{10**5 - k},{k}" for k in range(3)]
    with pytest.raises(standalone.TooLarge, match="steps"):
        standalone.verify(json.dumps(many))
    long = mechanism_document(noise(asked(100), "staircase"))
    for k, output in enumerate(long["kernel"]["outputs"]):
        output["action"]["number"] = f"1/{10**4000 + 2 * k + 1}"
    with pytest.raises(standalone.TooLarge, match="steps"):
        standalone.verify(json.dumps(long))
