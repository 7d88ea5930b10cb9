"""Documents that promise ρ or (ε, δ), at both sides of what is true, for checkers that must tell them apart."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import random_worlds as worlds

from discreet.certify.edges.approximate import mechanism_table, tight_delta
from discreet.certify.edges.concentrated import concentrated_privacy
from discreet.files.mechanism import mechanism_document
from discreet.model.certificate import PrivacyProof
from discreet.model.kernel import (
    GaussianKernel,
    GeometricKernel,
    Kernel,
    Output,
    StaircaseKernel,
    TableKernel,
)
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, Promise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

TWO = (Fraction(0), Fraction(1))
COUNT = LinearSummary((0, 1))
PART = Fraction(1, 10**12)
"""One part in 10^12: a σ² too small by so much is refuted."""


def promising(kernel: Kernel, promise: Promise, respondents: int = 2, summary: LinearSummary = COUNT) -> Mechanism:
    """A mechanism on a count that makes a promise, true or not."""
    problem = worlds.problem_of(Universe.of(respondents, TWO), ReplaceOne()).with_promise(promise)
    return Mechanism(problem, summary, kernel, problem.guarantee)


def table(*rows: tuple[int, ...]) -> TableKernel:
    """A kernel with these weights on the counts 0, 1, …"""
    total = sum(row[0] for row in rows)
    states = tuple(map(str, range(len(rows[0]))))
    return TableKernel(states, tuple(Output(str(k)) for k in range(len(rows))), rows, total)


TABLES = (
    table((5, 4, 3), (2, 3, 3), (1, 1, 2)), table((8, 8, 8), (8, 8, 8)), table((30, 20, 2), (2, 12, 30)),
    table((62, 2, 1), (1, 61, 1), (1, 1, 62)), table((60, 3, 1), (3, 58, 3), (1, 3, 60)), table((7, 7, 6), (1, 1, 2), (0, 0, 0)),
)  # fmt: skip
"""The fourth is worst at an order between 1 and 2, the fifth beyond 2."""


def smallest_rho(kernel: TableKernel) -> tuple[Fraction, Fraction]:
    """Both sides of the smallest ρ."""
    promise = ConcentratedPromise(Fraction(10**4))
    found = concentrated_privacy(promising(kernel, promise), promise)
    assert isinstance(found, PrivacyProof)
    return found.tight_low, found.tight_high


def concentrated_mechanisms() -> list[Mechanism]:
    """Tables, noise and closed forms at ρ just above and just below what they keep."""
    found = []
    for kernel in TABLES:
        low, high = smallest_rho(kernel)
        for rho in (max(high, PART) * (1 + Fraction(1, 10**4)), max(low * (1 - Fraction(1, 10**4)), PART)):
            found.append(promising(kernel, ConcentratedPromise(rho)))
    half, exact = ConcentratedPromise(Fraction(1, 2)), Fraction(1)
    for variance in (exact, exact * (1 - PART), exact * (1 + PART), Fraction(10**8)):
        found.append(promising(GaussianKernel(-3, 5, 1, variance), half))
    wide = LinearSummary((0, 3), 0, 2)  # neighbours are three apart, but clipped to two
    for variance in (Fraction(4), Fraction(4) * (1 - PART)):
        found.append(promising(GaussianKernel(0, 6, 3, variance), half, summary=wide))
    ratio = Fraction(1, 2)
    proved = concentrated_privacy(promising(GeometricKernel(0, 2, 1, ratio), half), half)
    assert isinstance(proved, PrivacyProof)
    for rho in (proved.tight_high * (1 + PART), proved.tight_high * (1 - PART)):
        found.append(promising(GeometricKernel(0, 2, 1, ratio), ConcentratedPromise(rho)))
        found.append(promising(StaircaseKernel(0, 2, 1, 1, ratio), ConcentratedPromise(rho)))
    ranged = worlds.problem_of(Universe(TWO, 1, 3), AddRemoveOne()).with_promise(half)
    found.append(Mechanism(ranged, COUNT, GaussianKernel(0, 3, 1, exact), ranged.guarantee))
    return found


def approximate_mechanisms() -> list[Mechanism]:
    """Tables at their smallest δ, rounded either way, at several ε."""
    found = []
    for kernel in (*TABLES, table((8, 7, 8), (0, 1, 0))):
        for epsilon in (Fraction(0), Fraction(1, 3), Fraction(1)):
            mechanism = promising(kernel, ApproximatePromise(epsilon, Fraction(1, 2)))
            tight = tight_delta(mechanism_table(mechanism), epsilon, 200)
            for delta in {tight.tight_high, tight.tight_low * (1 - PART), Fraction(1, 10**3)}:
                if 0 < delta < 1:
                    found.append(promising(kernel, ApproximatePromise(epsilon, delta)))
    return found


def promised_documents() -> list[dict[str, Any]]:
    """All of them as documents, and what only a reader who checks everything refuses."""
    found = [mechanism_document(m) for m in (*concentrated_mechanisms(), *approximate_mechanisms())]
    noisy = mechanism_document(promising(GaussianKernel(-3, 5, 1, Fraction(1)), ConcentratedPromise(Fraction(1, 2))))
    listed = mechanism_document(promising(TABLES[0], ConcentratedPromise(Fraction(1, 2))))
    close = mechanism_document(promising(TABLES[0], ApproximatePromise(Fraction(1), Fraction(1, 2))))
    changes: list[tuple[dict[str, Any], dict[tuple[str, ...], Any]]] = [
        (noisy, {("kernel", "sigma_squared"): "0"}), (noisy, {("kernel", "sigma_squared"): "-1"}),
        (noisy, {("kernel", "sigma_squared"): "100000000"}), (noisy, {("kernel", "sigma_squared"): "100000001"}),
        (noisy, {("kernel", "from"): 1}), (noisy, {("kernel", "to"): 1}), (noisy, {("kernel", "step"): 0}),
        (noisy, {("guarantee", "rho"): "0"}), (noisy, {("guarantee", "rho"): "-1"}), (noisy, {("guarantee", "rho"): "3/4"}),
        (noisy, {("guarantee", "rho"): "10000", ("problem", "privacy", "rho"): "10000"}),
        (noisy, {("guarantee", "rho"): "10001", ("problem", "privacy", "rho"): "10001"}),
        (noisy, {("guarantee", "epsilon"): "1"}), (noisy, {("problem", "privacy", "epsilon"): "1"}),
        (noisy, {("kernel", "family"): "laplace"}), (noisy, {("summary", "kind"): "histogram"}),
        (listed, {("kernel", "weights", "0"): ["8", "4", "3"], ("kernel", "weights", "1"): ["0", "3", "3"],
                  ("kernel", "weights", "2"): ["0", "1", "2"], ("guarantee", "rho"): "9", ("problem", "privacy", "rho"): "9"}),
        (close, {("guarantee", "delta"): "3/4"}), (close, {("guarantee", "delta"): "1", ("problem", "privacy", "delta"): "1"}),
        (close, {("guarantee", "delta"): "0", ("problem", "privacy", "delta"): "0"}),
        (close, {("guarantee", "delta"): "0"}), (close, {("kernel", "family"): "geometric"}),
    ]  # fmt: skip
    for document, written in changes:
        forged = copy.deepcopy(document)
        for way, value in written.items():
            here: Any = forged
            for key in way[:-1]:
                here = here[key]
            here[int(way[-1]) if isinstance(here, list) else way[-1]] = value
        found.append(forged)
    unsaid = copy.deepcopy(noisy)
    del unsaid["guarantee"]["rho"]
    return [*found, unsaid]
