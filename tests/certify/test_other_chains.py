"""Chains under Dirichlet priors and where respondents come and go: never above the optimum, exact for two types."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from discreet.certify.bounds import other_chains
from discreet.certify.bounds.chain import CHAIN
from discreet.certify.bounds.other_chains import GROWING, Paths, growing_chain, overdispersed_chain
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
    truth, law = least_loss(problem), Paths.dirichlet
    monkeypatch.setattr(Paths, "dirichlet", lambda n, a, b: law(n, a * Fraction(99, 100), b * Fraction(99, 100)))
    other_chains._last.clear()  # another test may have asked for the same bound
    found = overdispersed_chain(problem, (0,), (1,))
    other_chains._last.clear()
    assert float(-found) > truth * (1 + 1e-5)


def risen(c: Fraction, k: int) -> Fraction:
    found = Fraction(1)
    for i in range(k):
        found *= (c + i) / (i + 1)
    return found


@pytest.mark.parametrize("a, b", [("3/2", "2/5"), ("8", "7/5"), ("1/1000000", "5"), ("1e-320", "2e-320"), ("90000", "1e9")])
def test_laws_of_paths_lie_hardly_below_the_exact_ones(a: str, b: str) -> None:
    n, first, second = 40, Fraction(a), Fraction(b)
    below = Paths.dirichlet(n, first, second).law(n).tolist()
    for j, found in enumerate(below):
        exact = risen(first, j) * risen(second, n - j) / risen(first + second, n)
        assert Fraction(found) <= exact
        assert exact < Fraction(2) ** -990 or exact * (1 - Fraction(1, 10**14)) < Fraction(found), j
    assert sum(map(Fraction, below)) <= 1


def test_laws_of_independent_paths_and_of_sets_that_hold_everybody() -> None:
    n, p = 60, Fraction(1, 7)
    below = Paths.independent(n, p).law(n).tolist()
    for j, found in enumerate(below):
        exact = comb(n, j) * p**j * (1 - p) ** (n - j)
        assert exact * (1 - Fraction(1, 10**14)) < Fraction(found) <= exact
    assert Paths.independent(n, Fraction(1)).law(n).tolist()[:n] == [0.0] * n
    sure = Paths.dirichlet(n, Fraction(3), Fraction(0)).law(n).tolist()
    assert sure[:n] == [0.0] * n and 1 - 1e-14 < sure[n] < 1
    # masses that floats would round are left out
    tiny = Paths.independent(400, Fraction(1, 10**6)).law(400)
    assert tiny[400] == 0.0 < tiny[40]


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
