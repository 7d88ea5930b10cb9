"""Files of very many parts, each just below its limits: refused in words, by the work that all of them ask for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import random_worlds as worlds
from counted_mechanisms import counted_on, peaked

from discreet.certify import privacy
from discreet.certify.bounds import CHAIN, chain
from discreet.certify.edges import counted
from discreet.certify.optimality import upper_bound
from discreet.certify.verdict import of_family
from discreet.errors import TooLarge
from discreet.files.family import family_document, family_from_document
from discreet.model import states
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate, SeveralWitness, TheoremWitness
from discreet.model.decision import Decision
from discreet.model.family import Family, Member
from discreet.model.losses import PinballLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.model.together import FOR_A_WHOLE_ONE, MOST, ask, together
from discreet.model.universe import Universe


def test_pieces_are_counted_as_shares_while_parts_of_a_file_are_looked_at() -> None:
    for _ in range(100):
        ask(7, 7)  # a file with one part: each piece has its own limit
    with together(FOR_A_WHOLE_ONE, "members"):
        for _ in range(2 * MOST):
            ask(1, 2)
        with together(10**6, "bounds of decision makers"):  # parts of a part are counted with the whole
            ask(50, 100)
            ask(1, 2)
            with pytest.raises(TooLarge, match=r"The members of this file ask .* Would fit: 9 times, for 8 of them"):
                ask(1, 10**9)
    with together(1, "members"):
        ask(MOST, 1)


def makers(number: int) -> tuple[Problem, TheoremWitness]:
    """So many pinball errors of three types, and a chain that bounds each of them."""
    levels = (Fraction(k, number + 1) for k in range(1, number + 1))
    universe = Universe.of(40, (Fraction(0), Fraction(1), Fraction(2)))
    problem = worlds.problem_of(universe, ReplaceOne())
    decisions = tuple(Decision(PinballLoss(q), RealActions()) for q in levels)
    return replace(problem, decisions=decisions), TheoremWitness(CHAIN, (("low", "0"), ("high", "2")))


@pytest.mark.parametrize("together_in_one", [False, True])
def test_bounds_of_very_many_decision_makers_are_refused(monkeypatch: pytest.MonkeyPatch, together_in_one: bool) -> None:
    """About a second for each, however many there are."""
    monkeypatch.setattr(chain, "QUADRATIC_WORK", 1)
    few, many = ((problem, part if together_in_one else SeveralWitness((part,) * number))
                 for number in (4, 60) for problem, part in [makers(number)])  # fmt: skip
    assert upper_bound(*few) < 0
    seen, found = [], chain.pinball_loss
    monkeypatch.setattr(chain, "pinball_loss", lambda *given: seen.append(1) or found(*given))
    with pytest.raises(TooLarge, match=r"bounds of decision makers of this file .* times, for 60 of them"):
        upper_bound(*many)
    assert len(seen) < 12 * 16  # so many paths for each


def family(members: int) -> Family:
    """Noise that follows a count, for cells of so many sizes."""
    found = []
    for size in range(1, members + 1):
        mechanism = counted_on(replace(peaked(2, 0, -2), low=-1, high=2 * members + 1, stride=4 * members), respondents=size)
        proof = privacy(mechanism)
        assert isinstance(proof, Certificate)
        found.append(Member(size, size, mechanism, proof, ()))
    return Family(tuple(found))


def test_a_family_of_very_many_members_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty million comparisons for each of ten thousand members would take days."""
    few, many = family(6), family(30)
    monkeypatch.setattr(counted, "MOST_COMPARED", 600)
    assert of_family(few, "").proved
    seen, found = [], counted.whole_tables
    monkeypatch.setattr(counted, "whole_tables", lambda kernel: seen.append(1) or found(kernel))
    with pytest.raises(TooLarge, match=r"The members of this file ask for too much work together"):
        of_family(many, "")
    assert len(seen) < 30


def test_a_family_is_refused_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """States of a clipped sum are found by shifting bits, however few are left."""
    found = []
    for size in range(1, 41):
        problem = worlds.problem_of(Universe.of(size, (Fraction(0), Fraction(1))), ReplaceOne())
        kernel = worlds.random_table(worlds.random.Random(1), ("0", "1"), 2)
        mechanism = worlds.mechanism_on(problem, LinearSummary((0, 1), 0, 1), kernel, Fraction(100))
        proof = privacy(mechanism)
        assert isinstance(proof, Certificate)
        found.append(Member(size, size, mechanism, proof, ()))
    document = family_document(Family(tuple(found)))
    assert len(family_from_document(document).members) == 40
    monkeypatch.setattr(states, "MOST_TOTAL_BITS", 41 * 40 * 2)
    with pytest.raises(TooLarge, match=r"The members of this file ask for too much work together"):
        family_from_document(document)
