"""ρ-zCDP of finite mechanisms: proved above its smallest ρ, refuted below it, at every order and not only at whole ones."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
import random_worlds as worlds

from discreet import certify
from discreet.certify.edges import concentrated
from discreet.model.certificate import Certificate, Counterexample
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.promises import ConcentratedPromise
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.concentrated import rho_bracket

TWO = (Fraction(0), Fraction(1))
COUNT = LinearSummary((0, 1))


def promising(mechanism: Mechanism, rho: Fraction) -> Mechanism:
    """The same mechanism with another promise, for a problem that asks for it."""
    asked = mechanism.problem.with_promise(ConcentratedPromise(rho))
    return replace(mechanism, problem=asked, guarantee=asked.guarantee)


def pair_mechanism(first: list[int], second: list[int]) -> Mechanism:
    """One respondent, two types: the two states are neighbours and have these weights."""
    outputs = tuple(Output(str(i)) for i in range(len(first)))
    kernel = TableKernel(("0", "1"), outputs, tuple(zip(first, second, strict=True)), sum(first))
    return worlds.mechanism_on(worlds.problem_of(Universe.of(1, TWO), ReplaceOne()), COUNT, kernel, Fraction(50))


def quotient(p: list[int], q: list[int], order: mpmath.mpf) -> mpmath.mpf:
    """D_α/α in high precision."""
    total = sum(mpmath.mpf(a) ** order * mpmath.mpf(b) ** (1 - order) for a, b in zip(p, q, strict=True) if a) / sum(p)
    return mpmath.log(total) / ((order - 1) * order)


def smallest_rho(p: list[int], q: list[int], orders: list[float]) -> float:
    """The largest quotient over the given orders, both ways."""
    with mpmath.workdps(60):
        return float(max(quotient(a, b, mpmath.mpf(order)) for a, b in ((p, q), (q, p)) for order in orders))


GRID = [1 + 10 ** (k / 24) for k in range(-120, 73)]


@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_rho_is_found_from_both_sides(seed: int) -> None:
    rng = random.Random(seed)
    parts = [rng.randrange(1, 1 << rng.choice([3, 10, 20])) for _ in range(rng.randrange(2, 6))]
    other = [rng.randrange(1, 1 << 12) for _ in parts]
    size = 1 << 24
    p, q = ([max(1, x * (size - 64) // sum(of)) for x in of] for of in (parts, other))
    p[0] += size - sum(p)
    q[0] += size - sum(q)
    seen = smallest_rho(p, q, GRID)
    mechanism = pair_mechanism(p, q)
    proof = certify.privacy(promising(mechanism, Fraction(seen * (1 + 2e-3))))
    assert isinstance(proof, Certificate)
    assert seen * (1 - 1e-12) <= float(proof.privacy.tight_high) <= seen * (1 + 2e-3)
    assert float(proof.privacy.tight_high / proof.privacy.tight_low) - 1 < 3e-7
    assert isinstance(certify.privacy(promising(mechanism, proof.privacy.tight_high)), Certificate)
    refuted = certify.privacy(promising(mechanism, proof.privacy.tight_low * (1 - Fraction(1, 10**6))))
    assert isinstance(refuted, Counterexample) and refuted.edge in {("0", "1"), ("1", "0")}
    assert "divergence of order" in refuted.words


def test_whole_orders_are_not_enough() -> None:
    """Between α = 1 and 2 this pair is worse than at every whole order: a promise that only those keep is refuted."""
    p, q = [1 << 16, (1 << 20) - (1 << 16)], [1 << 8, (1 << 20) - (1 << 8)]
    orders = [float(k) for k in range(2, 200)]
    whole, every = smallest_rho(p, q, [1.0000001, *orders]), smallest_rho(p, q, GRID)
    assert every > whole * 1.0001
    found = certify.privacy(promising(pair_mechanism(p, q), Fraction(whole)))
    assert isinstance(found, Counterexample)
    assert isinstance(certify.privacy(promising(pair_mechanism(p, q), Fraction(every * 1.001))), Certificate)


def test_an_output_on_one_side_only_is_an_infinite_divergence() -> None:
    for p, q in (([8, 0], [7, 1]), ([7, 1], [8, 0])):
        found = certify.privacy(promising(pair_mechanism(p, q), Fraction(10_000)))
        assert isinstance(found, Counterexample) and found.output == "1" and "impossible" in found.words
        assert found.edge == (("1", "0") if q[1] else ("0", "1"))


def test_outputs_impossible_on_both_sides_and_equal_rows_say_nothing() -> None:
    found = certify.privacy(promising(pair_mechanism([4, 4, 0], [4, 4, 0]), Fraction(1, 10**30)))
    assert isinstance(found, Certificate) and found.privacy.tight_high == 0


def test_a_promise_inside_the_bracket_is_not_accepted() -> None:
    mechanism = pair_mechanism([5, 3], [7, 1])
    assert isinstance(mechanism.kernel, TableKernel)
    bracket = rho_bracket(concentrated._rows(mechanism, mechanism.kernel), 2.0)
    assert isinstance(certify.privacy(promising(mechanism, Fraction(bracket.upper))), Certificate)
    between = (Fraction(bracket.lower) + Fraction(bracket.upper)) / 2
    found = certify.privacy(promising(mechanism, between))
    assert isinstance(found, Counterexample) and "too close" in found.words


@pytest.mark.parametrize("kernel", [GeometricKernel(0, 3, 1, Fraction(1, 2)), StaircaseKernel(0, 3, 1, 1, Fraction(1, 2))])
def test_closed_forms_are_proved_by_their_factor(kernel: GeometricKernel | StaircaseKernel) -> None:
    mechanism = worlds.mechanism_on(worlds.problem_of(Universe.of(3, TWO), ReplaceOne()), COUNT, kernel)
    exact = math.log(2) * math.tanh(math.log(2) / 2)
    assert isinstance(certify.privacy(promising(mechanism, Fraction(exact * (1 + 1e-12)))), Certificate)
    found = certify.privacy(promising(mechanism, Fraction(exact * (1 - 1e-12))))
    assert isinstance(found, Counterexample) and "proved by its formula" in found.words
