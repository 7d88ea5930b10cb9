"""Discrete Gaussian kernels: ρ = Δ²/2σ² by both checkers, values from both sides, and what forgers try."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from forged_promises import COUNT, PART, approximate_mechanisms, concentrated_mechanisms, promising
from mutation import unexplained

import discreet
import discreet.verify_standalone as standalone
from discreet.certify import privacy
from discreet.certify.optimality import proved_value
from discreet.certify.value.gaussian import listed_payoff, noisy_rows, noisy_sums
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.errors import InputError
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.files.problem import problem_from_document
from discreet.model.certificate import Certificate, Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, PurePromise
from discreet.model.replies import best_replies
from discreet.model.summary import HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse

HALF = ConcentratedPromise(Fraction(1, 2))


def problem(decision: dict[str, Any] | None = None, **data: Any) -> Any:
    return problem_from_document({
        "data": {"respondents": 5, "values": [0, 1, 3]} | data,
        "prior": {"kind": "iid", "probabilities": ["0.5", "0.3", "0.2"]},
        "statistic": {"kind": "sum"},
        "decision": decision or {"kind": "squared-error", "actions": "real"},
        "privacy": {"rho": "1/2", "unit": "person"},
    })  # fmt: skip


def noisy(decision: dict[str, Any] | None = None) -> Mechanism:
    """Gaussian noise on clipped values, with the best actions to seven decimals."""
    asked = problem(decision)
    bare = Mechanism(asked, LinearSummary((0, 1, 2)), GaussianKernel(-4, 14, 2, Fraction(4)), asked.guarantee)
    joint = np.zeros((bare.kernel.width, 0))
    omegas = sorted({Fraction(w) for w in range(16)})
    space = asked.finest()
    from discreet.model.problem import believed

    belief = believed(asked, space)
    place = {w: i for i, w in enumerate(omegas)}
    weights = np.zeros((len(space), len(omegas)))
    for i, (w, mass) in enumerate(zip(belief.omegas, belief.weights.floats(), strict=True)):
        weights[i, place[w]] = mass
    states = bare.states_of(np.asarray(space.vectors))
    joint = bare.probabilities[:, states] @ weights
    actions = best_replies(asked.decision, joint, omegas).actions
    return Mechanism(asked, bare.summary, bare.kernel.with_actions(actions), asked.guarantee)


@pytest.mark.parametrize("mechanism", [*concentrated_mechanisms(), *approximate_mechanisms()], ids=repr)
def test_both_checkers_agree_on_every_promise(mechanism: Mechanism) -> None:
    mine = isinstance(privacy(mechanism), Certificate)
    try:
        standalone.verify(json.dumps(mechanism_document(mechanism)))
        theirs = True
    except standalone.Refuted:
        theirs = False
    assert mine == theirs


def test_a_variance_too_small_by_one_part_in_a_trillion_is_refuted_with_its_shift() -> None:
    held = promising(GaussianKernel(-3, 5, 1, Fraction(1)), HALF)
    assert isinstance(privacy(held), Certificate)
    forged = promising(GaussianKernel(-3, 5, 1, 1 - PART), HALF)
    found = privacy(forged)
    assert isinstance(found, Counterexample) and "shift of 1" in found.words and found.edge == ("0", "1")
    with pytest.raises(standalone.Refuted, match="shift of the total by 1"):
        standalone.verify(json.dumps(mechanism_document(forged)))


def test_a_clip_of_the_total_shortens_the_shift_that_counts() -> None:
    wide = LinearSummary((0, 5), 0, 2)
    assert isinstance(privacy(promising(GaussianKernel(0, 2, 5, Fraction(4)), HALF, summary=wide)), Certificate)
    unclipped = promising(GaussianKernel(0, 10, 5, Fraction(4)), HALF, summary=LinearSummary((0, 5)))
    assert isinstance(privacy(unclipped), Counterexample)


@pytest.mark.parametrize("promise", [PurePromise(Fraction(9)), ApproximatePromise(Fraction(9), Fraction(1, 2))])
def test_gaussian_noise_is_proved_for_no_other_promise(promise: Any) -> None:
    found = privacy(promising(GaussianKernel(0, 2, 1, Fraction(1)), promise))
    assert isinstance(found, Counterexample) and "formula" in found.words


def test_files_keep_the_kernel_exactly_and_refuse_what_it_cannot_be() -> None:
    made = noisy()
    document = mechanism_document(made)
    assert document["kernel"]["family"] == "discrete-gaussian" and document["kernel"]["sigma_squared"] == "4"
    assert mechanism_from_document(document) == made
    for key, value in (("sigma_squared", "0"), ("sigma_squared", "200000000"), ("ratio", "1/2"), ("from", 3), ("step", 1)):
        with pytest.raises(InputError):
            mechanism_from_document(document | {"kernel": document["kernel"] | {key: value}})
    lacking = {key: value for key, value in document["kernel"].items() if key != "sigma_squared"}
    with pytest.raises(InputError, match="sigma_squared"):
        mechanism_from_document(document | {"kernel": lacking})


def test_no_rational_pretends_to_be_a_probability() -> None:
    with pytest.raises(InputError, match="irrational"):
        noisy().probability(0, 0)
    with pytest.raises(InputError, match="irrational"):
        noisy().integer_table()


def test_sums_after_noise_are_bracketed() -> None:
    kernel = GaussianKernel(-2, 5, 1, Fraction(5, 3))
    numbers = [Fraction(k * k, 3) for k in range(kernel.width)]
    low, high = noisy_sums(kernel, numbers, 200)
    rows = np.exp(kernel.log_masses(np.arange(-2, 6), np.arange(-2, 6)))
    assert np.allclose([x / 2.0**200 for x in low], rows.T @ [float(x) for x in numbers], rtol=1e-12)
    assert all(0 <= b - a < 1 << 60 for a, b in zip(low, high, strict=True))
    assert np.allclose(noisy_rows(kernel), rows.T, rtol=1e-12) and np.allclose(noisy_rows(kernel).sum(axis=1), 1)


@pytest.mark.parametrize("decision", [
    {"kind": "squared-error", "actions": "real"}, {"kind": "absolute-error", "actions": "integer"},
    {"kind": "match", "actions": "integer"},
])  # fmt: skip
def test_the_value_is_known_from_both_sides(decision: dict[str, Any]) -> None:
    made = noisy(decision)
    floats = float(sum(
        mass * sum(made.probabilities[k, s] * float(made.problem.decision.payoff(a, w)) for k, a in enumerate(made.kernel.actions))
        for s, w, mass in _listed(made)
    ))  # fmt: skip
    for low, high in (listed_payoff(made, made.kernel), weighted_sum_payoff(made)):
        assert low <= high and high - low < Fraction(1, 10**9)
        assert float(low) == pytest.approx(floats, abs=1e-9)
    claim = OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("full information"))
    assert float(proved_value(made, claim)) == pytest.approx(floats, abs=1e-9)


def _listed(made: Mechanism) -> list[tuple[int, Fraction, float]]:
    from discreet.model.problem import believed

    space = made.problem.finest()
    belief = believed(made.problem, space)
    states = made.states_of(np.asarray(space.vectors)).tolist()
    return list(zip(states, belief.omegas, belief.weights.floats().tolist(), strict=True))


def test_the_wrong_kind_of_promise_is_named_in_words_by_the_standalone_verifier(capsys: Any, tmp_path: Any) -> None:
    document = mechanism_document(promising(GaussianKernel(-3, 5, 1, Fraction(1)), HALF))
    for change, words in (({"epsilon": "1"}, "neither"), ({"rho": "3/4"}, "weaker")):
        forged = document | {"guarantee": document["guarantee"] | change}
        (tmp_path / "x.json").write_text(json.dumps(forged), encoding="utf-8")
        assert standalone.main([str(tmp_path / "x.json")]) == 1
        assert words in capsys.readouterr().out
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    assert standalone.main([str(tmp_path / "x.json")]) == 0
    assert "rho = 0.5 for replace-one" in capsys.readouterr().out


def test_the_summary_that_gaussian_noise_reads_is_a_sum() -> None:
    with pytest.raises(InputError, match="cover"):
        promising(GaussianKernel(0, 1, 1, Fraction(1)), HALF)
    assert promising(GaussianKernel(0, 2, 1, Fraction(1)), HALF).summary == COUNT


def test_no_comparison_of_the_gaussian_checker_can_change_unnoticed() -> None:
    """As in `test_mutants`: σ² exactly enough, a little less and more, totals that clip, and summaries that are no sums."""
    cases = [promising(GaussianKernel(-3, 5, 1, 1 + by), HALF) for by in (Fraction(0), PART, -PART)]
    cases += [promising(GaussianKernel(0, 2, 5, Fraction(4)), HALF, summary=LinearSummary((0, 5), 0, 2))]
    cases += [promising(GaussianKernel(0, 10, 5, Fraction(4)), HALF, summary=LinearSummary((0, 5)))]
    cases += [promising(GaussianKernel(0, 10, 5, Fraction(4)), HALF, summary=LinearSummary((0, 5), 0, 7))]
    table = SimpleNamespace(summary=HistogramSummary(), problem=cases[0].problem)
    names = SimpleNamespace(summary=cases[0].summary, problem=SimpleNamespace(universe=ListedUniverse(("a", "b")), neighbours=None))
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, m=m, kernel=getattr(m, "kernel", cases[0].kernel): repr(module.gaussian_privacy(m, kernel, HALF))
        for m in (*cases, table, names)
    ]
    path = Path(discreet.__file__).parent / "certify" / "edges" / "gaussian.py"
    assert unexplained(path, questions, {}) == []
