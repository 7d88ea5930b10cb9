"""Priors from public counts that may be old or noisy: what they leave uncertain is part of the prior, and nobody can forge it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.certify.verdict import of_mechanism
from discreet.design import design
from discreet.errors import InputError
from discreet.files.mechanism import mechanism_document, mechanism_from_document
from discreet.files.problem import problem_from_document
from discreet.files.problem_document import problem_document
from discreet.model.origin import PublicCounts
from discreet.model.priors import DirichletMultinomialPrior, ReferencePrior

F = Fraction
OLD = {"kind": "reference", "counts": [890, 90, 20], "source": "last year", "change": "0.2", "noise": "3"}


def document(**changed: Any) -> dict[str, Any]:
    prior = {key: value for key, value in {**OLD, **changed}.items() if value is not None}
    return {
        "data": {"respondents": 5, "values": [0, 1, 2]},
        "prior": prior,
        "statistic": {"kind": "sum"},
        "decision": {"kind": "squared-error", "actions": "integer"},
        "privacy": {"epsilon": 1},
    }


def test_the_law_has_the_mean_and_variance_of_what_the_counts_leave_open() -> None:
    """Shares drawn around the counts, moved by noise and change: their variance over all types is that of the Dirichlet law."""
    public = PublicCounts((890, 90, 20), "last year", F(1, 5), F(3))
    total = float(sum(public.concentration))
    p = np.array([float(c) for c in public.concentration]) / total
    assert p == pytest.approx([0.89, 0.09, 0.02])
    rng = np.random.default_rng(3)
    drawn = rng.dirichlet([890, 90, 20], 40_000) + rng.normal(0, 3 / 1000, (40_000, 3)) + rng.normal(0, 0.2, (40_000, 3)) * p
    wanted = float((p * (1 - p)).sum()) / (total + 1)
    assert drawn.var(axis=0).sum() == pytest.approx(wanted, rel=0.05)  # five deviations: false alarm below 1e-6
    without = PublicCounts((890, 90, 20), "last year", F(0))
    assert sum(without.concentration) == 1000


def test_a_problem_holds_the_counts_and_the_prior_follows_again() -> None:
    problem = problem_from_document(document())
    assert isinstance(problem.prior, DirichletMultinomialPrior) and problem.prior.kind == "reference"
    written = problem_document(problem)
    assert written["prior"] == OLD
    assert problem_from_document(written) == problem
    assert isinstance(problem_from_document(document(change=None, noise=None)).prior, ReferencePrior)
    made = design(problem, gap=0.01, compare=False)
    assert of_mechanism(made.mechanism, made.certificate).proved
    assert mechanism_from_document(mechanism_document(made.mechanism)).problem.prior == problem.prior


def test_nobody_can_claim_another_law_for_the_same_counts() -> None:
    prior = problem_from_document(document()).prior
    assert isinstance(prior, DirichletMultinomialPrior)
    with pytest.raises(InputError, match="does not follow from the public counts"):
        replace(prior, concentration=(prior.concentration[0] + F(1, 1000), *prior.concentration[1:]))
    made = mechanism_document(design(problem_from_document(document()), gap=0.05, compare=False).mechanism)
    made["problem"]["prior"]["concentration"] = ["1", "1", "1"]
    with pytest.raises(InputError, match="no such key"):
        mechanism_from_document(made)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"counts": [890, 110, 0]}, "without a chance"),
        ({"counts": [890]}, "without a chance"),
        ({"change": "-0.1"}, "out of range"),
        ({"change": "11"}, "out of range"),
        ({"noise": "-1"}, "out of range"),
        ({"source": " "}, "no source"),
    ],
)
def test_bad_counts_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        problem_from_document(document(**changed))


def test_a_type_never_seen_needs_a_pseudo_count() -> None:
    seen = problem_from_document(document(counts=[890, 110, 0], pseudo_count="0.5")).prior
    assert isinstance(seen, DirichletMultinomialPrior) and min(seen.concentration) > 0
