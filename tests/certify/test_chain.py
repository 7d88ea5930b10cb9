"""The chain bound re-proved: never above exact optima, Theorem 3 for two types, strict about its witness."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from discreet.certify.bounds.chain import (
    Split,
    binomial_below,
    chain_loss,
    chain_upper_bound,
    hidden_variances,
    split_of,
    why_not_chain,
)
from discreet.certify.bounds.theorems import geometric_bound, theorem_upper_bound
from discreet.errors import Refuted
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.losses import MatchLoss, loss_of
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import ExchangeablePrior, IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import MeanStatistic, SumStatistic
from discreet.model.universe import Universe

INSTANCES = 300
ACTIONS = 15


def problem_of(p, v, respondents, epsilon=1, kind="squared-error", quantile=None, statistic=None, actions=None):
    decision = Decision(loss_of(kind, quantile=quantile), RealActions() if actions is None else actions)
    universe = Universe(tuple(map(Fraction, v)), respondents, respondents)
    prior = IidPrior(tuple(map(Fraction, p)))
    return Problem(universe, ReplaceOne(), prior, statistic or SumStatistic(), (decision,), PurePromise(Fraction(epsilon)))


def witness(low, high):
    words = (",".join(map(str, low)), ",".join(map(str, high)))
    return TheoremWitness("chain", (("low", words[0]), ("high", words[1])))


def all_splits(p, v):
    """Every pair of a lower and an upper tail of the types that may occur."""
    order = [t for t in sorted(range(len(v)), key=lambda t: v[t]) if p[t] > 0]
    for i in range(1, len(order)):
        for j in range(i, len(order)):
            if v[order[i - 1]] <= v[order[j]]:
                yield order[:i], order[j:]


def least_loss(p, v, respondents, epsilon, losses):
    """The optimum over all private mechanisms that read whole databases, by linear programming; losses [action, ω]."""
    databases = list(itertools.product(range(len(p)), repeat=respondents))
    index = {d: i for i, d in enumerate(databases)}
    prior = np.array([math.prod(float(p[t]) for t in d) for d in databases])
    omega = np.array([float(sum(v[t] for t in d)) for d in databases])
    edges = [
        (index[d], index[(*d[:i], t, *d[i + 1 :])])
        for d in databases
        for i in range(respondents)
        for t in range(len(p))
        if t != d[i]
    ]
    cost = (prior * losses(omega)).ravel()
    n, k = len(databases), len(cost) // len(databases)
    tails, heads = np.array(edges).T
    rows = np.arange(k * len(edges))
    block = np.repeat(np.arange(k) * n, len(edges))
    entries = np.concatenate([np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))])
    columns = np.concatenate([block + np.tile(tails, k), block + np.tile(heads, k)])
    privacy = coo_array((entries, (np.tile(rows, 2), columns)), shape=(len(rows), k * n)).tocsr()
    sums = coo_array((np.ones(k * n), (np.tile(np.arange(n), k), np.arange(k * n))), shape=(n, k * n)).tocsr()
    solved = linprog(
        cost,
        A_ub=privacy,
        b_ub=np.zeros(len(rows)),
        A_eq=sums,
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs",
    )
    assert solved.status == 0
    return float(solved.fun)


def losses_at(kind, quantile, actions):
    def losses(omega):
        gap = omega[None, :] - np.asarray(actions)[:, None]
        if kind == "squared-error":
            return gap**2
        if kind == "absolute-error":
            return np.abs(gap)
        return np.maximum(float(quantile) * gap, (float(quantile) - 1) * gap)

    return losses


@pytest.fixture(scope="module")
def truths():
    """Random problems, one in eight with a type that cannot occur, and their least losses on a grid of actions."""
    rng = np.random.default_rng(41)
    found = []
    for number in range(INSTANCES):
        types = int(rng.integers(2, 4))
        respondents = int(rng.integers(1, 4 if types == 3 else 6))
        counts = rng.integers(1, 12, size=types)
        if number % 8 == 0 and types == 3:
            counts[1] = 0
        p = [Fraction(int(c), int(counts.sum())) for c in counts]
        v = [Fraction(int(x), 2) for x in rng.choice(np.arange(-5, 9), size=types, replace=False)]
        kind = ("squared-error", "squared-error", "absolute-error", "pinball")[number % 4]
        quantile = Fraction(int(rng.integers(1, 10)), 10) if kind == "pinball" else None
        epsilon = Fraction(int(rng.choice([2, 5, 10, 20])), 10)
        problem = problem_of(p, v, respondents, epsilon, kind, quantile)
        grid = np.linspace(respondents * float(min(v)), respondents * float(max(v)), ACTIONS)
        truth = least_loss(p, v, respondents, float(epsilon), losses_at(kind, quantile, grid))
        found.append((problem, p, v, truth))
    return found


def test_never_above_the_least_loss_of_any_private_mechanism(truths):
    checked, tight = 0, 0
    for problem, p, v, truth in truths:
        for low, high in all_splits(p, v):
            bound = float(-chain_upper_bound(problem, witness(low, high)))
            assert 0 < bound <= truth + 1e-7, (p, v, low, high)
            checked += 1
            tight += bound > 0.9 * truth
    assert checked > 1.5 * INSTANCES
    assert tight > INSTANCES / 4


@pytest.mark.parametrize("forged", ["everyone plays", "widest gap", "more variance"])
def test_near_miss_a_wrong_formula_exceeds_the_truth(truths, forged):
    above = 0
    for problem, p, v, truth in truths:
        widest = max(v) - min(v)
        decision = problem.decision
        quantile, scale = decision.loss.quantile, decision.loss.pinballs
        for low, high in all_splits(p, v):
            split = split_of(problem, tuple(low), tuple(high))
            wrong = {
                "everyone plays": replace(split, share=Fraction(1)),
                "widest gap": replace(split, mean=widest, variance=Fraction(0)),
                "more variance": replace(split, variance=split.variance + widest**2),
            }[forged]
            loss = chain_loss(wrong, problem.universe.largest, problem.epsilon, quantile)
            above += scale * float(loss) > truth + 1e-6
    assert above > 0


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "pinball"])
@pytest.mark.parametrize("respondents", [1, 7, 300])
def test_two_types_give_the_bound_of_theorem_three(kind, respondents):
    problem = problem_of(("7/10", "3/10"), (-1, 2), respondents, "1/2", kind, Fraction(1, 5) if kind == "pinball" else None)
    found = -chain_upper_bound(problem, witness([0], [1]))
    theorem = -geometric_bound(problem)
    assert float(found) == pytest.approx(float(theorem), rel=1e-9)


def test_figures_of_the_planned_instances():
    p5, v5 = [Fraction(x) for x in (".8", ".1", ".05", ".03", ".015", ".005")], range(6)
    assert 11.92 < -chain_upper_bound(problem_of(p5, v5, 50), witness([0], [3, 4, 5])) < 12.1
    p10 = [Fraction(x) for x in [".30", ".18", ".14", ".11", ".09", ".07", ".05", ".03", ".018", ".009", ".003"]]
    v10 = (0, 1, 2, 3, 5, 8, 12, 20, 35, 60, 100)
    for respondents, planned, low, high in (
        (100, 3212, [0, 1], [9, 10]), (1000, 10572, [0], [10]), (10_000, 17288, [0], [10])
    ):  # fmt: skip
        bound = -chain_upper_bound(problem_of(p10, v10, respondents), witness(low, high))
        assert planned < bound < 1.02 * planned


def test_a_mean_is_a_scaled_sum_and_weights_scale_the_bound():
    p, v = ("1/2", "3/10", "1/5"), (0, 1, 3)
    base = chain_upper_bound(problem_of(p, v, 20), witness([0], [2]))
    mean = chain_upper_bound(problem_of(p, v, 20, statistic=MeanStatistic()), witness([0], [2]))
    assert float(mean) == pytest.approx(float(base) / 400, rel=1e-9)
    problem = problem_of(p, v, 20)
    heavier = replace(problem, decisions=(replace(problem.decision, weight=Fraction(3)),))
    assert chain_upper_bound(heavier, witness([0], [2])) == 3 * base


def test_more_players_never_lower_the_loss_and_blocks_are_below(monkeypatch):
    split = Split(Fraction(1, 2), Fraction(1, 5), Fraction(3), Fraction(1))
    alone = [chain_loss(replace(split, share=Fraction(1)), m, Fraction(1), None) for m in range(1, 40)]
    assert all(b >= a * (1 - 1e-12) for a, b in itertools.pairwise(alone))
    exact = chain_loss(split, 400, Fraction(1), None)
    monkeypatch.setattr("discreet.certify.bounds.chain.MOST_PLAYERS", 20)
    assert 0.9 * exact < chain_loss(split, 400, Fraction(1), None) < exact


def test_the_antithetic_coupling():
    problem = problem_of(["1/4"] * 4, (0, 1, 2, 3), 5)
    assert split_of(problem, (0, 1), (2, 3)) == Split(Fraction(1), Fraction(1, 2), Fraction(2), Fraction(1))
    uneven = problem_of(("1/2", "1/4", "1/8", "1/8"), (0, 1, 2, 6), 5)
    # halves of H beside thirds of L: gaps 6, 2, 1 with probabilities 1/2, 1/6, 1/3
    assert split_of(uneven, (0, 1), (2, 3)).mean == Fraction(11, 3)


def test_binomial_masses_lie_below_and_miss_little():
    for trials, p in (
        (30, Fraction(1, 7)),
        (500, Fraction(9, 10)),
        (3, Fraction(1, 10**9)),
        (1, Fraction(1, 2)),
    ):
        first, masses = binomial_below(trials, p)
        assert 1 - 1e-10 < masses.sum() <= 1
        for at in {0, len(masses) // 2, len(masses) - 1}:
            k = first + at
            assert Fraction(float(masses[at])) <= math.comb(trials, k) * p**k * (1 - p) ** (trials - k)


@pytest.mark.parametrize("share", [Fraction(1, 10**324), Fraction(1, 10**1000), 1 - Fraction(1, 10**320)])
def test_shares_beyond_all_floats_leave_everybody_alike(share):
    first, masses = binomial_below(20, share)
    assert first == 20 * round(share) and len(masses) == 1 and 1 - 1e-15 < masses[0] < 1


@pytest.mark.parametrize("ratio", [0.05, 0.37, 0.9])
def test_hidden_variances_equal_dense_ones_from_below(ratio):
    masses = np.stack([binomial_below(40, Fraction(1, 3))[1], binomial_below(40, Fraction(3, 4))[1]], axis=1)
    size = len(masses)
    x = np.arange(size)
    kernel = ratio ** np.abs(x[:, None] - x[None, :]) * (1 - ratio) / (1 + ratio)
    kernel[0], kernel[-1] = ratio**x / (1 + ratio), ratio ** (size - 1 - x) / (1 + ratio)
    count, indicators = hidden_variances(masses, ratio)
    for j in range(2):
        joint = kernel * masses[:, j]
        density = joint.sum(axis=1)
        below = np.cumsum(joint, axis=1)
        dense = (joint @ x**2 - (joint @ x) ** 2 / density).sum()
        crossing = (below * (density[:, None] - below) / density[:, None]).sum()
        assert (1 - 1e-9) * dense < count[j] <= dense * (1 + 1e-12)
        assert (1 - 1e-9) * crossing < indicators[j] <= crossing * (1 + 1e-12)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ("0,1", "1,2", "disjoint"),
        ("0,0", "2", "disjoint"),
        ("0", "7", "disjoint"),
        ("-1", "2", "disjoint"),
        ("2", "0", "above one in high"),
        ("0,2", "1", "above one in high"),
        ("3", "2", "positive probability"),
        ("0", "", "list of numbers"),
        ("0", "two", "list of numbers"),
    ],
)
def test_sets_that_the_theorem_does_not_allow_are_refuted(low, high, words):
    problem = problem_of(("1/2", "3/10", "1/5", "0"), (0, 1, 3, 2), 9)
    with pytest.raises(Refuted, match=words):
        chain_upper_bound(problem, TheoremWitness("chain", (("low", low), ("high", high))))


def test_parameters_and_theorems_that_are_not_known_are_refuted():
    problem = problem_of(("1/2", "1/2"), (0, 1), 9)
    for parameters in (
        (("low", "0"),),
        (("low", "0"), ("high", "1"), ("bound", "9")),
        (("low", "0"), ("low", "1")),
    ):
        with pytest.raises(Refuted, match="low and high"):
            chain_upper_bound(problem, TheoremWitness("chain", parameters))
    with pytest.raises(Refuted, match="not known"):
        theorem_upper_bound(problem, TheoremWitness("chains", (("low", "0"), ("high", "1"))))


def test_conditions_are_checked():
    problem = problem_of(("1/2", "1/2"), (0, 1), 2)
    table = tuple(((2 - k, k), Fraction(1, 3)) for k in range(3))
    others = [
        (replace(problem, prior=ExchangeablePrior(table)), "independent"),
        (
            replace(problem, decisions=(Decision(MatchLoss(), ListedActions((Fraction(0), Fraction(1)))),)),
            "squared",
        ),
        (replace(problem, decisions=(problem.decision, problem.decision)), "single"),
    ]
    assert why_not_chain(problem) is None
    for other, words in others:
        with pytest.raises(Refuted, match=words):
            chain_upper_bound(other, witness([0], [1]))


def test_extreme_epsilon():
    p, v = ("1/2", "3/10", "1/5"), (0, 1, 3)
    variance = 20 * (Fraction(3, 10) + Fraction(9, 5) - Fraction(81, 100))
    losses = [
        -chain_upper_bound(problem_of(p, v, 20, epsilon), witness([0], [1, 2]))
        for epsilon in ("0", "1/1000000", "1", "20", "299", "1000")
    ]
    assert all(a >= b >= 0 for a, b in itertools.pairwise(losses))
    assert 0.5 * variance < losses[0] <= variance
    assert losses[-1] == 0
