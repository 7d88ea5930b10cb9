"""Designs under ρ: discrete Gaussian noise on a weighted sum, proved, and never worse than what is done today."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from design_worlds import document, problem, school

import discreet.verify_standalone as standalone
from discreet.certify.bounds import FULL
from discreet.certify.bounds.full_information import full_information
from discreet.certify.optimality import optimality
from discreet.certify.verdict import of_mechanism
from discreet.design import Design, design
from discreet.design.certified import certified
from discreet.design.concentrated import gaussian_sums
from discreet.design.concentrated.gaussian_sums import LawScorer, ListedScorer, best_gaussian_sum
from discreet.design.program.sections import ground
from discreet.design.routes.concentrated import GaussianSums, RenyiSums, RenyiTables
from discreet.design.routes.oblivious import Oblivious
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked
from discreet.design.schedule import TimeIsUpError, Until, counted
from discreet.errors import InputError
from discreet.files.mechanism import mechanism_document
from discreet.interpret.level_likelihoods import must_read_the_total
from discreet.model.certificate import OptimalityClaim, RenyiWitness, TheoremWitness
from discreet.model.gaussian_kernel import GaussianKernel
from discreet.model.kernel import TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.numerics.exact import format_exact
from discreet.views.noise import noise_view
from discreet.watch import SILENT

RHO = "0.4621171572600098"
"""The ρ of an ε = 1 design of SY Example 1: tanh(1/2)."""


def concentrated(found: dict[str, Any], rho: object) -> dict[str, Any]:
    return found | {"privacy": {"rho": str(rho), "unit": "household"}}


def made(asked: dict[str, Any], **options: Any) -> Design:
    found = design(problem(asked), **options)
    verdict = of_mechanism(found.mechanism, found.certificate)
    assert verdict.proved and not verdict.not_proved
    return found


def gaussian_loss(weights: tuple[int, ...], rho: float, probabilities: list[float], respondents: int) -> float:
    """The expected squared error of Gaussian noise on a count of non-empty households, written again from the definitions."""
    p = sum(q for q, w in zip(probabilities, weights, strict=True) if w)
    values = [v for v, w in enumerate(weights) if w]
    q = np.array([probabilities[v] for v in values]) / p
    mean, spread = float(q @ values), float(q @ np.square(values)) - float(q @ values) ** 2
    n = np.arange(respondents + 1)
    from scipy.stats import binom

    prior, noise = binom.pmf(n, respondents, p), np.arange(-15, 56)
    kernel = np.exp(-((noise[:, None] - n[None, :]) ** 2) * rho)
    kernel /= kernel.sum(axis=0)
    joint = kernel * prior
    reply = joint @ n / joint.sum(axis=1)
    hidden = float((joint * (n[None, :] - reply[:, None]) ** 2).sum())
    return respondents * p * spread + mean**2 * hidden


def test_listed_actions_are_designed_as_tables() -> None:
    asked = problem(concentrated(document(), "1/2"))
    noisy = best_gaussian_sum(ListedScorer(ground(asked)), SILENT)
    found = made(concentrated(document(), "1/2"), compare=False)
    assert isinstance(found.mechanism.kernel, TableKernel) and float(found.loss) < 0.95 * noisy.loss
    assert found.relative_gap < 0.01


def test_a_count_is_within_one_percent_of_the_best() -> None:
    found = made(concentrated(school(40, "real", types=2), RHO), compare=False)
    assert found.claim.witness.kind == "renyi-cuts"
    assert found.relative_gap < 0.005
    noisy = gaussian_loss((0, 1), float(RHO), [0.89, 0.11], 40)
    assert isinstance(found.mechanism.kernel, TableKernel) and float(found.loss) < 0.996 * noisy
    standalone.verify(json.dumps(mechanism_document(found.mechanism)))
    forged = mechanism_document(found.mechanism)
    for where in (forged["guarantee"], forged["problem"]["privacy"]):
        where["rho"] = format_exact(Fraction(RHO) * Fraction(99, 100))
    with pytest.raises(standalone.Refuted, match="divergence of order"):
        standalone.verify(json.dumps(forged))


@pytest.mark.slow
def test_sy_example_1_counts_non_empty_households() -> None:
    asked = problem(concentrated(school(40, "real"), RHO))
    noise = best_gaussian_sum(LawScorer(asked), SILENT)
    assert noise.summary.weights == (0, 1, 1) and noise.kernel.sigma_squared == 1 / (2 * Fraction(RHO))
    assert noise.loss == pytest.approx(gaussian_loss((0, 1, 1), float(RHO), [0.89, 0.09, 0.02], 40), rel=1e-6)
    found = made(concentrated(school(40, "real"), RHO), compare=False)
    assert float(found.loss) < min(noise.loss, 1.8248) and isinstance(found.mechanism.kernel, TableKernel)
    assert found.claim.witness.kind == "renyi-cuts" and found.relative_gap < 0.02


def test_a_table_on_a_sum_beats_noise_where_histograms_are_many() -> None:
    """At ρ = 2 noise is far from the best, and the program reads the likely totals alone."""
    asked = problem(concentrated(school(24, "real"), "2"))
    proposal = RenyiSums().propose(asked, Asked(1e-4, 60.0, Until.after(1e9)))
    mechanism, certificate = certified(asked, replace(proposal, witness=TheoremWitness(FULL)), RenyiSums().taken(asked, proposal))
    assert isinstance(mechanism.kernel, TableKernel) and mechanism.summary.kind == "linear"
    assert certificate.optimality is not None
    assert float(-certificate.optimality.value) < 0.93 * best_gaussian_sum(LawScorer(asked), SILENT).loss


@pytest.mark.parametrize("actions", ["real", "integer"])
def test_reading_the_statistic_alone_has_a_price_under_rho_too(actions: str) -> None:
    """The table on the sum keeps ρ, reads the sum alone, and is no better than the best of all."""
    with counted():
        found = design(problem(concentrated(school(4, actions), "1/2")), within="oblivious", compare=False, gap=1e-3)
    assert found.within == "oblivious" and found.price is not None and found.price > -1e-9
    assert isinstance(found.mechanism.summary, LinearSummary) and found.mechanism.summary.weights == (0, 1, 2)
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)


def test_counted_time_makes_designs_the_same_on_any_machine() -> None:
    """A design with hardly any time does what its counted work allows, not what the machine happens to reach."""
    asked = problem(concentrated(school(12, "real"), "1/2"))
    found = []
    for _ in range(2):
        with counted():
            found.append(design(asked, compare=False, seconds=0.2))
    assert mechanism_document(found[0].mechanism) == mechanism_document(found[1].mechanism)
    assert found[0].claim.bound == found[1].claim.bound


def test_baselines_are_those_of_this_promise() -> None:
    found = made(concentrated(school(6), "1/10"))
    shown = {name: b.loss for name, b in found.baselines.items() if b.loss is not None}
    assert set(shown) == {"no information", "full information", "discrete gaussian", "discrete gaussian at face value"}
    private = [loss for name, loss in shown.items() if name != "full information"]
    assert float(found.loss) <= min(private) * (1 + 1e-9)
    assert shown["discrete gaussian"] < shown["discrete gaussian at face value"]


@pytest.mark.parametrize("changes", [
    {"decision": {"kind": "absolute-error", "actions": "integer"}},
    {"decision": {"kind": "match", "actions": "integer"}},
    {"prior": {"kind": "exchangeable", "concentration": ["1", "2", "1"]}},
    {"respondents": {"from": 0, "to": 2}, "neighbours": "add-remove-one",
     "prior": {"kind": "iid", "probabilities": [".5", ".3", ".2"], "size": "uniform"}},
    {"prior": {"kind": "independent", "probabilities": [["1/2", "1/2", "0"], ["1/3", "1/3", "1/3"]]}, "respondents": 2},
    {"statistic": {"kind": "mean"}},
])  # fmt: skip
def test_every_prior_and_decision_is_served(changes: dict[str, Any]) -> None:
    found = made(concentrated(document(**changes), "1/2"), compare=False)
    nothing = made(concentrated(document(**changes), "1/1000000"), compare=False)
    assert found.value > nothing.value


def test_many_respondents_need_no_list_of_states() -> None:
    asked = concentrated(school(250, "real"), "1/8")
    assert too_many(problem(asked)) is not None
    found = made(asked, compare=False)
    assert found.loss < 12 and found.relative_gap < 0.2


@pytest.mark.parametrize(("privacy", "words"), [
    ({"rho": "1/2", "epsilon": "1"}, "no way that is known"), ({"rho": "0"}, "above 0"), ({"rho": "1e9"}, "above 0"),
    ({"rho": "sqrt(2)"}, "rho"), ({"rho": "-1"}, "0 or more|from 0 on"), ({"rho": "nan"}, "rho"),
])  # fmt: skip
def test_strange_levels_are_refused_in_words(privacy: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        problem(document() | {"privacy": privacy})


def test_a_rho_that_needs_more_noise_than_can_be_drawn_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="σ²"):
        design(problem(concentrated(document(), Fraction(1, 10**12))))


BUSES = {"kind": "expression", "payoff": "-omega/a - 0.1*a", "actions": {"from": "0.05", "to": "60"}}


def buses(rho: str = "1/2") -> dict[str, Any]:
    asked = document(4, (0, 1, 2), ("0.7", "0.2", "0.1"), BUSES, statistic={"kind": "count", "of": [1, 2]})
    return concentrated(asked, rho)


def test_a_payoff_with_a_pole_is_bounded_under_rho() -> None:
    """Nodes and pieces of equal width bounded a payoff of −1.3 by +3,700: chords near the pole bulge most."""
    with counted():
        found = made(buses(), compare=False)
    assert isinstance(found.claim.witness, RenyiWitness) and found.claim.witness.reduction == "merged-count"
    assert found.relative_gap < 0.01 and found.bound < full_information(found.mechanism.problem) < 0


def test_a_design_whose_bounding_routes_are_given_up_is_kept_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine only the pure design may come back in time: it has no bound of its own, and there was none to claim."""

    def late(*_: object) -> None:
        raise TimeIsUpError

    for route in (GaussianSums, RenyiTables):
        monkeypatch.setattr(route, "propose", late)
    kept: list[Mechanism] = []
    found = design(problem(buses()), keep=lambda mechanism, _: kept.append(mechanism))
    assert kept and kept[0].claims.bound is not None and found.value <= found.bound


@pytest.mark.parametrize(("respondents", "rho", "were"), [(100, RHO, 2.9935), (400, "1/10", 12.733), (100, "2", 0.9358)])
def test_no_weights_on_a_small_lattice_lose_noticeably_less(respondents: int, rho: str, were: float) -> None:
    """Whoever weighs a household with two children 4/3 or 7/4 of one with one child: the search used to try 1, 3/2 and 2 only."""
    scorer = LawScorer(problem(concentrated(school(respondents, "real"), rho)))
    found = best_gaussian_sum(scorer, SILENT)
    others = [scorer.read((0, one, two)).loss for two in range(1, 8) for one in range(two + 1) if one or two == 1]
    assert found.loss <= 1.001 * min(others) and found.loss < 0.96 * were


def test_the_price_of_noise_is_proved_under_rho() -> None:
    """No coupling decides whether noise is optimal under ρ, but two designs with their bounds may; else nothing is claimed."""
    asked = problem(concentrated(school(3), "2"))
    with counted():
        facts = noise_view(asked).facts
    assert facts["optimal"] is False and 0 < facts["price"]["at_least"] <= facts["price"]["at_most"]
    assert facts["price"]["oblivious_bound"] < facts["price"]["value"]
    unpriced = noise_view(asked, price=False).facts
    assert unpriced["optimal"] is None and "price" not in unpriced


def test_a_level_above_of_any_size_reads_the_statistic_alone() -> None:
    """A county of thousands is no list of histograms: noise on its total is what levels above the blocks need."""
    county, route = problem(concentrated(school(4_000), "1/4")), Oblivious()
    assert route.why_not(county) is None
    proposal = route.propose(county, Asked(1e-2, 5.0, Until.after(5.0)))
    mechanism, certificate = certified(county, replace(proposal, witness=TheoremWitness(FULL)), route.taken(county, proposal))
    must_read_the_total(mechanism)
    assert certificate.optimality is not None and 7.9 < -certificate.optimality.value < 8.1


@pytest.mark.parametrize("pairs", [1, 50, 1 << 20])
def test_noise_is_put_through_in_blocks(monkeypatch, pairs):
    """All pairs of outputs and totals at once took 160 MB more, whatever was allowed."""
    monkeypatch.setattr(gaussian_sums, "AT_ONCE", pairs)
    kernel, moments = GaussianKernel(-9, 30, 1, Fraction(7)), np.arange(24.0).reshape(2, 12)
    rows = np.exp(kernel.log_masses(np.arange(-9, 31), np.arange(3, 15)))
    assert np.allclose(gaussian_sums.through(kernel, moments, 3), moments @ rows.T, rtol=1e-13, atol=0)
