"""Bounds that are found once, and none that says less than nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
from ladder_problems import problem_of

from discreet.certify.bounds import FULL
from discreet.certify.bounds import full_information as plain
from discreet.design import best_mechanism, certified
from discreet.design.ladder.climb import climb
from discreet.design.reports import AsPayoffs
from discreet.design.routes.blind import blind_proposal
from discreet.design.schedule import counted
from discreet.model.actions import ListedActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.losses import FormulaLoss
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.promises import PurePromise
from discreet.model.record import Step
from discreet.watch import SILENT

STEEP = Decision(FormulaLoss("-abs(omega - a)*(1 + a/100)"), ListedActions((Fraction(0), Fraction(5), Fraction(10))))


def alike(respondents):
    return problem_of([1.0] * 3, [0, 1, 2], respondents, 1.0)


def steep():
    """Payoffs that are no errors, with cells that differ."""
    spread = DirichletMultinomialPrior((Fraction(16), Fraction(2), Fraction(1, 10)))
    return replace(problem_of([0.8, 0.1, 0.1], [0, 1, 5], 40, 1.0, (STEEP,)), prior=spread)


def test_after_a_ladder_no_chain_is_looked_for_again():
    """It begins with one, whatever its bound became: half a second for the mean of 2,000 respondents."""
    search = best_mechanism._Search(alike(12), 1e-6, 1.0, SILENT)
    search._keep(*search.proofs.proved(blind_proposal(search.problem), Step("blind", True, "", "")))
    assert not search.proofs.tried_a_chain
    with counted():
        proposal = climb(search.problem, seconds=1.0)
    search._keep(*search.proofs.proved(proposal, Step("ladder", True, "", "")))
    assert search.proofs.tried_a_chain


def test_the_bound_of_full_information_is_found_once(monkeypatch):
    """Steep errors of 45,001 values and 101 actions took four seconds, three times over for one answer; likely values are looked at
    once, whatever is promised."""
    problem = steep()
    seen, best = [], FormulaLoss.largest_payoffs

    def counting(loss, omegas, actions):
        seen.append(len(omegas))
        return best(loss, omegas, actions)

    monkeypatch.setattr(FormulaLoss, "largest_payoffs", counting)
    monkeypatch.setattr(plain, "MOST_LISTED", 10)
    masses, missing = plain.masses_of_statistic(problem)
    first = plain.full_information(problem)
    assert missing and sum(seen) == 40 * 5 + 1 and seen[0] == len(masses)
    assert plain.full_information(replace(problem, promise=PurePromise(Fraction(3)))) == first and len(seen) == 2
    assert plain.full_information(replace(problem, decisions=(replace(STEEP, weight=Fraction(2)),))) == 2 * first and len(seen) == 4


def test_a_bound_below_nothing_is_none():
    """Solvers begin below zero, and a multiplier that is far off proves less than who knows the truth."""
    problem, heard = alike(4), []
    watch = SimpleNamespace(report=lambda **told: heard.append(told), cancelled=lambda: False)
    AsPayoffs.of(problem, watch).report(stage="program", value=22.5, bound=-22.5)
    AsPayoffs.of(steep(), watch).report(stage="program", value=-3.0, bound=-22.5)
    assert [(told["value"], told["bound"]) for told in heard] == [(-22.5, 0.0), (3.0, 22.5)]
    proofs = certified.Proofs(problem)
    low = TheoremWitness("chain", (("low", "0"), ("high", "2")))
    assert proofs.bounded(low).bound < 0 and proofs.bounded(low).witness == low
    for error, kept in ((Fraction(5), TheoremWitness(FULL)), (Fraction(-5), low)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(certified, "upper_bound", lambda *_, error=error: error)
            found = proofs.bounded(low)
        assert (found.witness, found.bound) == (kept, min(error, Fraction(0)))
