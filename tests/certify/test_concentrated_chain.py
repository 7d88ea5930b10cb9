"""The chain bound under ρ: no kernel on a path beats it, a weaker constant would be beaten, forged claims are refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest

import discreet
from discreet.certify.bounds.concentrated_chain import CONCENTRATED, concentrated_chain_bound, concentrated_loss, path_losses
from discreet.certify.optimality import optimality
from discreet.design import design
from discreet.design.concentrated.chain import concentrated_chain_witness
from discreet.errors import Refuted
from discreet.model.certificate import Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.gap import relative_gap
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.numerics.discrete_gaussian import gaussian_logs
from discreet.watch import SILENT


def asked(respondents: int, rho: str, loss: str = "squared-error", values: tuple[int, ...] = (0, 1)) -> Problem:
    chances = {2: ["0.7", "0.3"], 3: ["0.89", "0.09", "0.02"]}[len(values)]
    return discreet.problem(
        respondents=respondents, values=list(values), probabilities=chances, decision=loss, actions="real", rho=rho
    ).problem


def binomial(trials: int, p: float) -> np.ndarray:
    return np.array([comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)])


def squared_error(law: np.ndarray, kernel: np.ndarray) -> float:
    """What remains of X after an output of the kernel [output, x]."""
    joint = kernel * law
    x, seen = np.arange(len(law)), joint.sum(axis=1)
    return float((joint @ x**2 - (joint @ x) ** 2 / seen).sum())


def kernels(size: int) -> list[np.ndarray]:
    """Gaussian noise of several widths, and random kernels near to constant ones and far from them."""
    random = np.random.default_rng(5)
    places, found = np.arange(-9, size + 9), []
    for variance in (Fraction(1), Fraction(2), Fraction(30)):
        rows = np.exp(gaussian_logs(variance, np.abs(places[:, None] - np.arange(size)[None, :])))
        found.append(rows / rows.sum(axis=0))
    for tilt in (0.1, 0.5, 2.0):
        rows = np.exp(np.cumsum(tilt * random.normal(size=(7, size)), axis=1))
        found.append(rows / rows.sum(axis=0))
    return found


@pytest.mark.parametrize("size", [2, 3, 8, 25])
def test_no_kernel_on_a_path_beats_it_at_its_own_divergence(size: int) -> None:
    law = binomial(size - 1, 0.3)
    for kernel in kernels(size):
        excess = max(float((kernel[:, i] ** 2 / kernel[:, i + 1]).sum()) for i in range(size - 1)) - 1
        bound = float(path_losses(law[:, None], excess * (1 + 1e-12), 1.0, 0.0)[0])
        assert 0 < bound <= squared_error(law, kernel) * (1 + 1e-9)


def test_a_smaller_constant_would_be_beaten() -> None:
    """Near-miss: with e^ρ − 1 in place of e^{2ρ} − 1 Gaussian noise would lose less than the bound."""
    law, rho = binomial(24, 0.3), 1 / 20
    places = np.arange(-40, 65)
    kernel = np.exp(gaussian_logs(Fraction(10), np.abs(places[:, None] - np.arange(25)[None, :])))
    true = squared_error(law, kernel / kernel.sum(axis=0))
    proved, claimed = (float(path_losses(law[:, None], exp(order * rho) - 1, 1.0, 0.0)[0]) for order in (2, 1))
    assert proved <= true < claimed


@pytest.mark.parametrize(("respondents", "rho", "share"), [(400, "1/100", 0.98), (100_000, "1/1000", 0.98), (400, "1/2", 0.55)])
def test_it_is_close_to_gaussian_noise_where_rho_is_small(respondents: int, rho: str, share: float) -> None:
    problem = asked(respondents, rho)
    bound = float(-concentrated_chain_bound(problem, TheoremWitness(CONCENTRATED, (("low", "0"), ("high", "1")))))
    reached = 1 / (1 / (respondents * 0.21) + 2 * float(Fraction(rho)))
    assert share * reached < bound <= reached


def test_a_design_beyond_programs_is_bounded_and_forged_claims_are_refuted() -> None:
    found = design(asked(400, "1/20", values=(0, 1, 2)), compare=False, seconds=1e6)
    assert found.certificate.optimality is not None and found.relative_gap < 0.05
    witness = concentrated_chain_witness(found.mechanism.problem, SILENT)
    assert witness is not None
    bound = concentrated_chain_bound(found.mechanism.problem, witness)
    claim = OptimalityClaim(found.certificate.optimality.value, bound, witness)
    bare = replace(found.mechanism, claims=replace(found.mechanism.claims, value=None, bound=None))
    assert isinstance(optimality(bare, claim), OptimalityClaim) and relative_gap(-claim.value, -bound) < 0.08
    assert isinstance(optimality(bare, replace(claim, bound=claim.bound * Fraction(1001, 1000))), Counterexample)
    for sets in ((("low", "0"),), (("low", "0"), ("high", "0")), (("low", "2"), ("high", "0")), (("low", "0"), ("high", "x"))):
        assert isinstance(optimality(bare, replace(claim, witness=TheoremWitness(CONCENTRATED, sets))), Counterexample)


@pytest.mark.parametrize(
    "problem",
    [asked(5, "1/2").with_promise(PurePromise(Fraction(1))), asked(5, "1/2", "absolute-error")],
    ids=["pure", "absolute"],
)
def test_it_speaks_of_squared_errors_under_rho_only(problem: Problem) -> None:
    with pytest.raises(Refuted):
        concentrated_chain_bound(problem, TheoremWitness(CONCENTRATED, (("low", "0"), ("high", "1"))))


def test_a_huge_rho_bounds_nothing_and_a_larger_one_never_more() -> None:
    from discreet.certify.bounds.chain import split_of

    split = split_of(asked(50, "1"), (0,), (1,))
    losses = [concentrated_loss(split, 50, Fraction(rho)) for rho in ("1/100", "1/2", "3", "99", "1000")]
    assert losses == sorted(losses, reverse=True) and losses[0] > 0 and losses[-1] == 0
