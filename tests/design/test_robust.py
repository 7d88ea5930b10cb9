"""Robust designs: both proved sides enclose the minimax regret found by brute force; forged proofs are refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from design_worlds import Document, document, loss_table, problem, school, world
from scipy.optimize import linprog

from discreet.certify import privacy
from discreet.certify.robust import mixture
from discreet.certify.verdict import robust_proof
from discreet.design import design
from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.questions import robust
from discreet.design.questions.minimax import _game
from discreet.design.questions.regret import under
from discreet.design.questions.robust import Robust, robust_design
from discreet.design.result import Design
from discreet.design.schedule import counted
from discreet.errors import InputError, Refuted
from discreet.files.artefact import read_artefact
from discreet.files.mechanism import mechanism_hash
from discreet.files.robust import RobustFile, write_robust
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Claims
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.views.robust import robust_view
from discreet.watch import Watch

CHANCES = ((".89", ".09", ".02"), (".89", ".05", ".06"))
PRIORS = [IidPrior(tuple(map(Fraction, p))) for p in CHANCES]


def minimax(docs: list[Document], best: list[float], epsilon: float = 1.0) -> float:
    """min over private m of max over priors of L(m) − best, as one program with an epigraph variable."""
    worlds = [world(doc, histograms=True) for doc in docs]
    loss = loss_table(docs[0], worlds[0].omegas)
    actions, states = loss.shape
    size = actions * states
    rows = []
    for a in range(actions):
        for i, j in [*worlds[0].edges, *((j, i) for i, j in worlds[0].edges)]:
            row = np.zeros(size + 1)
            row[a * states + i], row[a * states + j] = 1.0, -exp(epsilon)
            rows.append(row)
    upper = [0.0] * len(rows)
    for w, low in zip(worlds, best, strict=True):
        rows.append(np.append((loss * w.prior).ravel(), -1.0))
        upper.append(low)
    sums = np.zeros((states, size + 1))
    for h in range(states):
        sums[h, h:size:states] = 1.0
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.array(rows),
        b_ub=upper,
        A_eq=sums,
        b_eq=np.ones(states),
        bounds=[(0, 1)] * size + [(None, None)],
        method="highs",
    )
    assert found.status == 0
    return float(found.fun)


@pytest.fixture(scope="module")
def found() -> Robust:
    return robust_design(problem(school(5)), PRIORS, gap=1e-5, workers=1)


def test_both_sides_enclose_the_minimax_regret(found: Robust) -> None:
    docs = [document(5, range(3), p) for p in CHANCES]
    truth = minimax(docs, [float(r.loss) for r in found.references])
    assert float(found.proof.least) - 1e-6 <= truth <= float(found.proof.worst) + 1e-6
    assert float(found.proof.worst - found.proof.least) <= 1e-4


def test_it_beats_the_plain_optimum_at_the_other_prior_for_a_stated_price(found: Robust) -> None:
    assert float(found.proof.losses[1]) < 0.99 * found.plain[1]
    assert 0 < found.price == pytest.approx(float(found.proof.losses[0]) - found.plain[0], abs=1e-6)
    assert found.price <= float(found.proof.worst) + 1e-9
    assert max(found.plain[1] - float(found.references[1].loss), 0) > float(found.proof.worst)


def test_the_mechanism_is_private_and_its_prior_is_the_mixture(found: Robust) -> None:
    assert isinstance(privacy(found.mechanism), Certificate)
    assert found.mechanism.problem.prior == mixture(problem(school(5)), PRIORS, found.weights).prior
    assert sum(found.weights) == 1


def test_the_losses_are_those_of_following(found: Robust) -> None:
    mechanism = found.mechanism
    actions = np.array([float(o.action) for o in mechanism.outputs])  # type: ignore[arg-type]
    for chances, loss in zip(CHANCES, found.proof.losses, strict=True):
        w = world(document(5, range(3), chances), histograms=True)
        at = mechanism.states_of(np.array(w.states))
        errors = (actions[:, None] - np.array([float(x) for x in w.omegas])[None, :]) ** 2
        by_hand = float((w.prior * (mechanism.probabilities[:, at] * errors).sum(axis=0)).sum())
        assert float(loss) == pytest.approx(by_hand, rel=1e-9)


def held(found: Robust) -> RobustFile:
    """What the robust design's file holds."""
    references = tuple((r.mechanism, r.certificate) for r in found.references)
    return RobustFile(found.mechanism, found.certificate, found.weights, references)


def test_the_proof_is_computed_again_from_its_file(found: Robust, tmp_path: Path) -> None:
    path = tmp_path / "places.robust.json"
    digest = write_robust(path, held(found))
    read, same = read_artefact(path)
    assert isinstance(read, RobustFile) and same == digest
    again = robust_proof(read)
    assert (again.worst, again.least) == (found.proof.worst, found.proof.least)


def test_forged_proofs_are_refuted(found: Robust) -> None:
    file = held(found)
    other = (found.weights[1], found.weights[0])
    assert other != found.weights
    with pytest.raises(Refuted, match="not the mixture"):
        robust_proof(replace(file, weights=other))
    with pytest.raises(Refuted, match="not the mixture"):
        robust_proof(replace(file, references=file.references[::-1]))
    with pytest.raises(Refuted, match="2 weights for 1 priors"):
        robust_proof(replace(file, references=file.references[:1]))
    mechanism = replace(found.mechanism, claims=Claims())
    bare = replace(file.certificate, mechanism=mechanism_hash(mechanism), optimality=None)
    with pytest.raises(Refuted, match="no witness of optimality"):
        robust_proof(replace(file, mechanism=mechanism, certificate=bare))


def test_one_prior_needs_no_robustness() -> None:
    with pytest.raises(InputError, match="several different priors"):
        robust_design(problem(school(2)), [PRIORS[0], PRIORS[0]])


@pytest.mark.parametrize("weights", [(Fraction(1, 2), Fraction(1, 3)), (Fraction(3, 2), Fraction(-1, 2)), (Fraction(1),)])
def test_weights_must_be_probabilities(weights: tuple[Fraction, ...]) -> None:
    with pytest.raises(InputError, match="no probabilities"):
        mixture(problem(school(2)), PRIORS, weights)


def test_real_actions_and_three_priors() -> None:
    third = IidPrior((Fraction(9, 10), Fraction(8, 100), Fraction(2, 100)))
    found = robust_design(problem(school(3, actions="real")), [*PRIORS, third], gap=1e-3, workers=1)
    assert found.status == "optimal" and found.proof.least <= found.proof.worst
    assert float(found.proof.worst - found.proof.least) <= 4e-3
    assert isinstance(privacy(found.mechanism), Certificate)


class After:
    """A watch that cancels after so many reports."""

    def __init__(self, reports: int) -> None:
        self.left = reports

    def report(self, **told: object) -> None:
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left < 0


@pytest.mark.parametrize("actions", ["integer", "real"])
@pytest.mark.parametrize("reports", [0, 12, 40])
def test_cancelling_keeps_what_is_proved(actions: str, reports: int) -> None:
    """The worst regret of what is returned lies between its own proved sides, however early the search was stopped."""
    found = robust_design(problem(school(4, actions=actions)), PRIORS, After(reports), workers=1)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert 0 <= found.proof.least <= found.proof.worst
    assert found.status in ("cancelled", "optimal")
    if reports == 0:
        assert found.status == "cancelled" and found.proof.least == 0
    best = robust_design(problem(school(4, actions=actions)), PRIORS, workers=1)
    assert found.proof.least <= best.proof.worst and best.proof.least <= found.proof.worst


def test_real_actions_reach_the_gap_that_was_asked_for() -> None:
    """Real actions can only help: their minimax regret is enclosed, and fine listed actions come down to it."""
    real = robust_design(problem(school(8, actions="real")), PRIORS, gap=1e-4, workers=1)
    assert real.status == "optimal"
    width = 2e-4 * max(float(r.loss) for r in real.references)
    assert float(real.proof.worst - real.proof.least) <= width
    assert all(float(best[1]) <= loss + 1e-9 for best, loss in zip(real.proof.best, real.plain, strict=True))


@pytest.mark.parametrize(
    "decision",
    [
        {"kind": "squared-error", "actions": {"from": "0.5", "to": "3"}},
        {"kind": "absolute-error", "actions": "real"},
        {"kind": "expression", "payoff": "-omega/a - 0.1*a", "actions": {"from": "0.5", "to": "10"}},
    ],
)
def test_other_real_actions(decision: Document) -> None:
    asked = problem(document(3, range(3), CHANCES[0], decision))
    found = robust_design(asked, PRIORS, workers=1)
    assert found.status == "optimal" and isinstance(privacy(found.mechanism), Certificate)
    assert 0 <= found.proof.least <= found.proof.worst
    assert all(o.action in asked.decision.actions for o in found.mechanism.outputs)  # type: ignore[operator]
    early = robust_design(asked, PRIORS, After(0), workers=1)
    assert early.proof.least == 0 and early.proof.worst >= found.proof.least


@pytest.mark.slow
def test_example_1_with_real_actions() -> None:
    """Against (.89, .05, .06) the robust mechanism saves more than 2.4; at (.89, .09, .02) it costs 0.49."""
    found = robust_design(problem(school(40, actions="real")), PRIORS, gap=4e-3, seconds=1e6, workers=2)
    assert found.status == "optimal"
    assert found.plain[1] > 6.8 and float(found.proof.losses[1]) < 4.42
    assert 0.483 < found.price < 0.498 and float(found.proof.worst - found.proof.least) < 2e-2


@pytest.mark.slow
def test_example_1_against_the_prior_with_more_large_families() -> None:
    found = robust_design(problem(school(40)), PRIORS, seconds=1e6, workers=2)
    assert found.plain[0] == pytest.approx(2.4097, abs=1e-3)
    assert found.plain[1] > 6.5 and float(found.proof.losses[1]) < 4.5
    assert 0.45 < found.price < 0.48
    assert float(found.proof.worst - found.proof.least) < 1e-3


@pytest.mark.parametrize(("respondents", "types"), [(60, 5), (30, 3)])
def test_what_cannot_be_mixed_in_the_time_is_chosen_among_what_is_known(
    respondents: int, types: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 respondents of five types have 635,376 histograms; 20,301 were listed, and took a minute to prove of one second asked."""
    monkeypatch.setattr(robust, "SECONDS_PER_PROVED_ENTRY", 1.0)
    monkeypatch.setattr(robust, "Exchange", None)
    crowd = problem(document(respondents, range(types), [f"1/{types}"] * types, {"kind": "squared-error", "actions": "real"}))
    other = IidPrior((Fraction(9, 10), *[Fraction(1, 10 * (types - 1))] * (types - 1)))
    monkeypatch.setattr(robust, "reference_design", quickly)
    found = robust_design(crowd, [crowd.prior, other], seconds=1, workers=1)
    noise = noise_on_the_statistic(crowd)
    assert found.status == robust.KNOWN and noise is not None
    plain = [under(noise, replace(crowd, prior=p)).followed for p in found.priors]
    worst = max(loss - float(r.loss) for loss, r in zip(plain, found.references, strict=True))
    reached = max(float(loss - r.loss) for loss, r in zip(found.proof.losses, found.references, strict=True))
    assert reached <= worst * (1 + 1e-9)
    assert 0 == found.proof.least < found.proof.worst < 1.05 * max(plain)
    path = tmp_path / "crowd.robust.json"
    write_robust(path, held(found))
    read, _ = read_artefact(path)
    assert isinstance(read, RobustFile) and robust_proof(read) == found.proof
    with pytest.raises(Refuted, match="not the mixture"):
        robust_proof(replace(read, weights=read.weights[::-1]))
    assert "no mechanisms were mixed" in str(robust_view(found).told)


def quickly(task: tuple[Problem, float, float], watch: Watch) -> Design:
    """A reference by counted work."""
    with counted():
        return design(task[0], watch, gap=0.2, seconds=0.5, compare=False)


@pytest.mark.parametrize("unit", ["1e15", "1e-12"])
def test_the_game_has_no_units(unit: str) -> None:
    """Seen: regrets of 1e30 are no linear program that a solver takes, and the command ended as a defect."""
    regrets = np.array([[0.0, 9.0], [6.0, 0.0], [4.0, 3.0]])
    shares, weights, worst = _game(regrets)
    scaled = _game(regrets * float(unit) ** 2)
    assert np.allclose(scaled[0], shares) and np.allclose([float(w) for w in scaled[1]], [float(w) for w in weights], atol=3e-6)
    assert scaled[2] == pytest.approx(worst * float(unit) ** 2)


def test_priors_that_cannot_be_mixed_are_answered_by_the_best_of_what_is_known() -> None:
    rows = [[["3/4", "1/4"], ["1/2", "1/2"]], [["1/4", "3/4"], ["1/2", "1/2"]]]
    one, other = (problem(document(2, (0, 1), {"kind": "independent", "probabilities": p})) for p in rows)
    found = robust_design(one, [one.prior, other.prior], workers=1)
    assert found.status == robust.KNOWN and sorted(found.weights) == [0, 1]
    assert robust_proof(held(found)) == found.proof
    with pytest.raises(InputError, match="mixed when the order"):
        mixture(one, [one.prior, other.prior], [Fraction(1, 2)] * 2)


def test_several_decision_makers_have_the_best_of_what_is_known() -> None:
    """They were refused, after the reference of the first prior had been designed."""
    both = [{"kind": "squared-error", "actions": "real", "weight": 1}, {"kind": "match", "actions": [0, 1, 2], "weight": 3}]
    base = problem({**document(3, range(3), CHANCES[0]), "decision": both})
    found = robust_design(base, [base.prior, PRIORS[1]], workers=1)
    assert found.status == robust.KNOWN and robust_proof(held(found)) == found.proof


class _Impatient(Watch):
    """Cancels as soon as the game begins."""

    def __init__(self) -> None:
        self.over = False

    def report(self, **progress: Any) -> None:
        self.over = self.over or str(progress.get("stage", "")).startswith("robust")

    def cancelled(self) -> bool:
        return self.over


def test_a_game_without_time_is_no_worse_than_plain_noise() -> None:
    """Seen with 200 respondents and one second: a worst regret of 16.3 where plain noise has 3.0."""
    base = problem(document(30, range(3), [".9", ".08", ".02"]))
    priors = [base.prior, IidPrior((Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)))]
    found = robust_design(base, priors, _Impatient(), workers=1)
    assert found.rounds == 1
    noise = noise_on_the_statistic(base)
    assert noise is not None
    plain = max(
        under(noise, replace(base, prior=p)).followed - float(r.loss) for p, r in zip(priors, found.references, strict=True)
    )
    assert float(found.proof.worst) <= 1.001 * plain + 1e-3
