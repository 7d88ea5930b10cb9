"""A robust proof rests on references that keep the same promise: stricter or broken ones are refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.certify.robust import mixture
from discreet.certify.verdict import robust_proof
from discreet.design import design
from discreet.errors import Refuted
from discreet.files.mechanism import mechanism_hash
from discreet.files.robust import RobustFile
from discreet.model.actions import ListedActions
from discreet.model.certificate import Certificate
from discreet.model.decision import Decision
from discreet.model.kernel import TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

Proved = tuple[Mechanism, Certificate]
PRIORS = tuple(IidPrior(tuple(map(Fraction, p))) for p in ((".5", ".3", ".2"), (".2", ".3", ".5")))
WEIGHTS = (Fraction(1, 2), Fraction(1, 2))


def problem(epsilon: Fraction = Fraction(1)) -> Problem:
    actions = ListedActions(tuple(map(Fraction, range(5))))
    return Problem(
        Universe.of(2, tuple(map(Fraction, range(3)))),
        ReplaceOne(),
        PRIORS[0],
        SumStatistic(),
        (Decision(SquaredLoss(), actions),),
        PurePromise(epsilon),
    )


def best(of: Problem) -> Proved:
    found = design(of)
    return found.mechanism, found.certificate


def renamed(mechanism: Mechanism, certificate: Certificate) -> Certificate:
    """The certificate made to name the forged mechanism."""
    return replace(certificate, mechanism=mechanism_hash(mechanism))


@pytest.fixture(scope="module")
def mixed() -> Proved:
    return best(mixture(problem(), PRIORS, WEIGHTS))


@pytest.fixture(scope="module")
def references() -> list[Proved]:
    return [best(replace(problem(), prior=prior)) for prior in PRIORS]


def test_honest_references_are_accepted(mixed: Proved, references: list[Proved]) -> None:
    proof = robust_proof(RobustFile(*mixed, WEIGHTS, tuple(references)))
    assert proof.least <= proof.worst


def test_a_reference_with_a_stricter_promise_is_refuted(mixed: Proved, references: list[Proved]) -> None:
    """Its bound is that of a smaller ε, so the regret of the mechanism would look smaller than it is."""
    strict, proof = best(replace(problem(Fraction(1, 10)), prior=PRIORS[0]))
    forged = replace(strict, problem=references[0][0].problem)
    with pytest.raises(Refuted):
        robust_proof(RobustFile(*mixed, WEIGHTS, ((forged, renamed(forged, proof)), references[1])))


def test_a_reference_that_is_not_private_is_refuted(mixed: Proved, references: list[Proved]) -> None:
    """It reaches a loss that no private mechanism does, so the least regret would look larger than it is."""
    honest, proof = references[0]
    kernel = honest.kernel
    assert isinstance(kernel, TableKernel)
    rows = [[0] * len(kernel.states) for _ in kernel.outputs]
    for state in range(len(kernel.states)):
        rows[state % len(rows)][state] = kernel.denominator
    revealing = replace(honest, kernel=replace(kernel, weights=tuple(map(tuple, rows))))
    with pytest.raises(Refuted):
        robust_proof(RobustFile(*mixed, WEIGHTS, ((revealing, renamed(revealing, proof)), references[1])))
