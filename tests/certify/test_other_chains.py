"""Chains under Dirichlet priors and where respondents come and go: never above the optimum, exact for two types."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from discreet.certify.bounds import other_chains
from discreet.certify.bounds.chain import CHAIN
from discreet.certify.bounds.other_chains import GROWING, beta_binomial, growing_chain, overdispersed_chain
from discreet.certify.optimality import upper_bound
from discreet.design import design
from discreet.errors import Refuted
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.losses import AbsoluteLoss, Loss, MatchLoss, PinballLoss, SquaredLoss
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

LOSSES: tuple[Loss, ...] = (SquaredLoss(), SquaredLoss(), AbsoluteLoss(), PinballLoss(Fraction(4, 5)))


def random_problem(rng: random.Random, growing: bool) -> Problem:
    types, n = rng.choice([2, 3]), rng.randint(1, 4)
    values = tuple(map(Fraction, sorted(rng.sample(range(-3, 6), types))))
    concentration = tuple(Fraction(rng.randint(1, 9), rng.randint(1, 3)) for _ in range(types))
    decision = Decision(rng.choice(LOSSES), RealActions(), weight=Fraction(rng.randint(1, 3)))
    promise = PurePromise(Fraction(rng.choice(["1/2", "1", "2"])))
    if not growing:
        prior: DirichletMultinomialPrior | IidPrior = DirichletMultinomialPrior(concentration)
        return Problem(Universe(values, n, n), ReplaceOne(), prior, SumStatistic(), (decision,), promise)
    smallest = rng.randint(0, n - 1)
    parts = [rng.randint(0, 4) for _ in range(n - smallest + 1)]
    parts[0] += 1
    size = tuple(Fraction(p, sum(parts)) for p in parts)
    total = sum(concentration)
    prior = rng.choice([DirichletMultinomialPrior(concentration, size), IidPrior(tuple(c / total for c in concentration), size)])
    return Problem(Universe(values, smallest, n), AddRemoveOne(), prior, SumStatistic(), (decision,), promise)


def least_loss(problem: Problem) -> float:
    """What a certified mechanism loses: not below the optimum."""
    return float(design(problem, gap=1e-5, compare=False).loss)


@pytest.mark.parametrize("seed", range(25))
def test_the_overdispersed_chain_is_never_above_the_optimum(seed: int) -> None:
    problem = random_problem(random.Random(seed), growing=False)
    types = range(problem.universe.types)
    truth = least_loss(problem)
    for cut in range(1, len(types)):
        for skip in range(len(types) - cut):
            bound = -overdispersed_chain(problem, tuple(types[:cut]), tuple(types[cut + skip :]))
            assert 0 <= float(bound) <= truth * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(25))
def test_the_growing_chain_is_never_above_the_optimum(seed: int) -> None:
    problem = random_problem(random.Random(1000 + seed), growing=True)
    values = problem.universe.values
    truth = least_loss(problem)
    for count in range(1, len(values) + 1):
        for high in combinations(range(len(values)), count):
            if min(values[t] for t in high) < 0 < max(values[t] for t in high):
                with pytest.raises(Refuted, match="both signs"):
                    growing_chain(problem, high)
                continue
            assert float(-growing_chain(problem, high)) <= truth * (1 + 1e-9) + 1e-12


def overdispersed(n: int, concentration: tuple[str, ...], values: tuple[int, ...], loss: Loss | None = None) -> Problem:
    return Problem(
        Universe(tuple(map(Fraction, values)), n, n),
        ReplaceOne(),
        DirichletMultinomialPrior(tuple(map(Fraction, concentration))),
        SumStatistic(),
        (Decision(loss or SquaredLoss(), RealActions()),),
        PurePromise(Fraction(1)),
    )


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss()])
def test_two_types_reach_the_optimum(loss: Loss) -> None:
    """With two types everybody plays and nothing else is told: SY Thm 3."""
    problem = overdispersed(12, ("2", "3/2"), (0, 5), loss)
    assert float(-overdispersed_chain(problem, (0,), (1,))) == pytest.approx(least_loss(problem), rel=1e-9)


def test_many_draws_from_a_wide_prior_are_nearly_independent_ones() -> None:
    """Concentrations a million times larger are identical respondents, whose chain is another theorem."""
    wide = overdispersed(20, ("700000", "200000", "100000"), (0, 1, 3))
    prior = IidPrior((Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)))
    alike = upper_bound(replace(wide, prior=prior), TheoremWitness(CHAIN, (("low", "0"), ("high", "2"))))
    assert float(overdispersed_chain(wide, (0,), (2,))) == pytest.approx(float(alike), rel=1e-4)


def test_near_miss_a_slightly_wider_prior_exceeds_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bound is tight, concentrations smaller by a hundredth hide more than there is to hide."""
    problem = overdispersed(12, ("2", "3/2"), (0, 5))
    truth, law = least_loss(problem), beta_binomial
    monkeypatch.setattr(other_chains, "beta_binomial", lambda n, a, b: law(n, a * Fraction(99, 100), b * Fraction(99, 100)))
    assert float(-overdispersed_chain(problem, (0,), (1,))) > truth * (1 + 1e-5)


def test_exact_beta_binomials() -> None:
    whole = 1 << other_chains.BITS
    masses = beta_binomial(7, Fraction(3, 2), Fraction(2, 5))
    assert 0 <= whole - sum(masses) <= 8
    mean = sum(Fraction(j * m, whole) for j, m in enumerate(masses))
    assert abs(mean - 7 * Fraction(15, 19)) < Fraction(1, 10**60)


def test_a_law_found_step_by_step_is_hardly_below_the_exact_one() -> None:
    n, a, b = 300, Fraction(8), Fraction(7, 5)
    below, exact = beta_binomial(n, a, b), Fraction(1 << other_chains.BITS)
    for i in range(n):
        exact *= (b + i) / (a + b + i)
    for j in range(n + 1):
        assert 0 <= exact - below[j] < 2, j
        if j < n:
            exact *= (n - j) * (a + j) / ((j + 1) * (b + n - j - 1))


def test_bounds_of_several_decision_makers_add_up() -> None:
    one = overdispersed(6, ("2", "1", "1"), (0, 1, 2))
    other = Decision(PinballLoss(Fraction(9, 10)), RealActions(), weight=Fraction(3))
    both = replace(one, decisions=(*one.decisions, other))
    witness = TheoremWitness(CHAIN, (("low", "0"), ("high", "1,2")))
    alone = [upper_bound(replace(one, decisions=(d,)), witness) for d in both.decisions]
    assert upper_bound(both, witness) == sum(alone) and min(map(abs, alone)) > 0
    # whoever does not minimise an error is bounded by the truth; somebody must
    named = Decision(MatchLoss(), ListedActions(tuple(map(Fraction, range(13)))))
    assert upper_bound(replace(both, decisions=(*both.decisions, named)), witness) == sum(alone) + 1
    with pytest.raises(Refuted, match="no decision"):
        upper_bound(replace(one, decisions=(named, named)), witness)


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        (TheoremWitness(CHAIN, (("low", "0,1"), ("high", "1,2"))), "disjoint"),
        (TheoremWitness(CHAIN, (("low", "2"), ("high", "0"))), "above one in high"),
        (TheoremWitness(CHAIN, (("low", "0"), ("high", "7"))), "names each of its types once"),
        (TheoremWitness(CHAIN, (("low", "0"),)), "low and high"),
        (TheoremWitness(GROWING, (("high", "2"),)), "add or remove"),
    ],
)
def test_what_the_theorems_do_not_allow_is_refuted(witness: TheoremWitness, words: str) -> None:
    with pytest.raises(Refuted, match=words):
        upper_bound(overdispersed(5, ("2", "1", "1"), (0, 1, 2)), witness)


def test_conditions_are_named() -> None:
    problem = overdispersed(5, ("2", "1", "1"), (0, 1, 2))
    assert other_chains.why_not_overdispersed_chain(problem) is None
    assert "Dirichlet" in (
        other_chains.why_not_overdispersed_chain(replace(problem, prior=IidPrior((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))))
        or ""
    )
    assert "single" in (other_chains.why_not_overdispersed_chain(replace(problem, decisions=problem.decisions * 2)) or "")
    assert "add or remove" in (other_chains.why_not_growing_chain(problem) or "")
