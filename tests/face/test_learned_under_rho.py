"""Learning under ρ: discrete Gaussian noise on what is learned from, a ledger of zcdp, and the same adversaries."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from learned_folders import adds_up, altered, one_digit
from learners import QUESTION, County, make

from discreet.errors import BudgetExceeded, InputError, Refuted
from discreet.files.family import read_family
from discreet.files.problem import read_problem
from discreet.model.promises import ConcentratedPromise
from discreet.publish import gather, verify
from discreet.publish.agreement import agreement

UNDER_RHO = QUESTION.replace("epsilon = 1", 'rho = "1/2"')


@pytest.fixture(scope="module")
def concentrated(tmp_path_factory: pytest.TempPathFactory) -> County:
    """Under ρ = 1/2: a tenth for learning, which a move charges fourfold, the rest twice."""
    county = make(tmp_path_factory.mktemp("concentrated") / "county", Fraction(11, 10), "zcdp", UNDER_RHO)
    county.learn(share="0.1")
    return county


def test_a_prior_is_learned_under_rho_and_enforced(concentrated: County) -> None:
    folder = concentrated.folder / "out"
    verdict = verify(folder / "release", concentrated.signer.fingerprint)
    assert verdict.holds
    assert [c.kind for c in verdict.checks if "learning release that it names" in c.words] == ["enforced"]
    with concentrated.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == 0  # 4 · 1/20 + 2 · 9/20
    problem = read_problem(folder / "problem.toml")
    assert problem.prior.kind == "release" and problem.promise == ConcentratedPromise(Fraction(9, 20))
    kernels = {m.mechanism.kernel for m in read_family(folder / "learning.family.json").members}
    assert {kernel.sigma_squared for kernel in kernels} == {Fraction(10)}  # 1/2ρ of a twentieth
    adds_up(folder / "release")
    assert agreement(folder / "release").cells == 28


def test_under_rho_a_digit_and_the_noise_are_refuted_too(concentrated: County, tmp_path: Path) -> None:
    """One digit of the prior; and a learning release whose σ² is said to be another one than was drawn with."""
    shutil.copytree(concentrated.folder, tmp_path / "county")
    county = County(tmp_path / "county")
    kept = (county.folder / "out" / "mechanism.family.json").read_bytes()
    altered(county, one_digit)
    with pytest.raises(Refuted, match="not what follows"):
        gather(county.folder / "out" / "plan.toml")
    (county.folder / "out" / "mechanism.family.json").write_bytes(kept)
    gather(county.folder / "out" / "plan.toml")
    place = county.folder / "out" / "learned" / "mechanism.json"
    text = place.read_text(encoding="utf-8")
    assert '"sigma_squared":"10"' in text
    place.write_text(text.replace('"sigma_squared":"10"', '"sigma_squared":"11"'), encoding="utf-8")
    with pytest.raises(Refuted, match="changed after it was published"):
        gather(county.folder / "out" / "plan.toml")


@pytest.mark.parametrize(
    ("currency", "budget", "question"),
    [
        ("zcdp", Fraction(11, 10) - Fraction(1, 10**9), UNDER_RHO),
        ("zcdp", Fraction(6, 10), QUESTION),  # ε = 1 costs tanh ½ for each of two cells, and learning twice ε/10
        ("pure", Fraction(2) - Fraction(1, 10**9), QUESTION),
    ],
)
def test_a_budget_that_is_too_small_for_both_releases_is_refused_before_the_first(
    tmp_path: Path, currency: str, budget: Fraction, question: str
) -> None:
    """In the currency of the ledger: under ρ two cells that are pooled in one number are charged fourfold, not twice."""
    poor = make(tmp_path / "poor", budget, currency, question)
    with pytest.raises(BudgetExceeded):
        poor.learn(share="0.1")
    with poor.ledger() as ledger:
        assert ledger.remaining("the towns", "person") == budget


def test_rho_and_a_ledger_of_pure_epsilon_do_not_go_together(tmp_path: Path) -> None:
    pure = make(tmp_path / "pure", question=UNDER_RHO)
    with pytest.raises(InputError, match="no cost in ε"):
        pure.learn()
    both = make(tmp_path / "both", question=UNDER_RHO.replace('rho = "1/2"', 'epsilon = 1\ndelta = "1/1000"'))
    with pytest.raises(InputError):
        both.learn()
    for county in (pure, both):
        with county.ledger() as ledger:
            assert ledger.remaining("the towns", "person") == 4
