"""Values against brute force over databases; dual bounds against linear programs; theorems against high precision."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from random_worlds import label, mechanism_on, problem_of, random_table, random_world

from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.bounds.theorems import geometric_bound, why_not_geometric
from discreet.certify.duality.pulls import added
from discreet.certify.value.expected import expected_payoff
from discreet.errors import DiscreetError, Refuted
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.certificate import DualWitness, Multipliers
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output
from discreet.model.losses import AbsoluteLoss, MatchLoss, SquaredLoss, TableLoss, loss_of
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import IidPrior, IndependentPrior
from discreet.model.problem import Problem, believed
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import SumStatistic, of_database
from discreet.model.summary import Clamp, DatabaseSummary, LinearSummary
from discreet.model.universe import Universe

TWO = (Fraction(0), Fraction(1))


@pytest.mark.parametrize("seed", range(60))
def test_the_value_is_the_sum_over_databases(seed: int) -> None:
    """Σ_θ π(θ) Σ_s m(s|θ) u(a_s, ω(θ)), every database listed."""
    rng = random.Random(seed)
    universe, neighbours, summary = random_world(rng)
    problem = problem_of(universe, neighbours)
    if isinstance(summary, DatabaseSummary):
        others = universe.types - 1
        heads = [Fraction(k, 10) for k in range(1, universe.largest + 1)]
        rows = tuple((head, *((1 - head) / others,) * others) for head in heads)
        if len(rows) == 1:
            return
        problem = replace(problem, prior=IndependentPrior(rows))
    kernel = random_table(rng, state_space(universe, neighbours, summary).labels, rng.randint(1, 3))
    actions = [Fraction(rng.randint(0, 9), 3) for _ in kernel.outputs]
    kernel = replace(kernel, outputs=tuple(Output(o.label, a) for o, a in zip(kernel.outputs, actions, strict=True)))
    mechanism = mechanism_on(problem, summary, kernel)
    at = {state: i for i, state in enumerate(kernel.states)}
    total = Fraction(0)
    for database in universe.databases():
        state, omega = at[label(summary, database, universe)], of_database(problem.statistic, database, universe)
        chance = problem.prior.of_database(database, universe)
        for s, action in enumerate(actions):
            total += chance * kernel.probability(s, state) * problem.decision.payoff(action, omega)
    assert expected_payoff(mechanism) == (total, total)


def optimum(problem: Problem) -> float:
    """The program of SY eq. (2) over histograms, solved by HiGHS in floats."""
    from scipy.optimize import linprog

    space = problem.finest()
    belief = believed(problem, space)
    actions = list(problem.decision.actions)  # type: ignore[arg-type]
    n, k = len(space), len(actions)
    weight = float(problem.decision.weight)
    payoffs = [[belief.weights[h] * problem.decision.payoff(a, belief.omegas[h]) for h in range(n)] for a in actions]
    cost = -weight * np.array(payoffs, dtype=float)
    q = float(np.exp(float(problem.epsilon)))
    rows = []
    for a in range(k):
        for i, j in space.edges.tolist():
            for x, y in ((i, j), (j, i)):
                row = np.zeros((k, n))
                row[a, x], row[a, y] = 1, -q
                rows.append(row.ravel())
    sums = np.zeros((n, k, n))
    for h in range(n):
        sums[h, :, h] = 1
    edges = {"A_ub": np.array(rows), "b_ub": np.zeros(len(rows))} if rows else {}
    found = linprog(cost.ravel(), A_eq=sums.reshape(n, -1), b_eq=np.ones(n), method="highs", **edges)
    assert found.status == 0
    return -found.fun


def random_problem(rng: random.Random) -> Problem:
    universe = Universe.of(rng.randint(1, 4), tuple(map(Fraction, range(rng.choice([2, 3])))))
    neighbours = ReplaceOne()
    if rng.random() < 0.3:
        universe, neighbours = Universe(universe.values, 1, 3), AddRemoveOne()  # type: ignore[assignment]
    top = universe.largest * (universe.types - 1)
    kind = rng.choice(["squared", "absolute", "table"])
    actions = ListedActions(tuple(map(Fraction, sorted(rng.sample(range(top + 1), rng.randint(1, min(4, top + 1)))))))
    if kind == "table":
        rows = tuple(tuple(Fraction(rng.randint(-5, 5)) for _ in range(top + 1)) for _ in actions)
        names = NamedActions(tuple(f"x{i}" for i in range(len(rows))))
        decision = Decision(TableLoss(rows), names, weight=Fraction(rng.randint(1, 3)))
    else:
        decision = Decision(loss_of("squared-error" if kind == "squared" else "absolute-error"), actions)
    return problem_of(universe, neighbours, Fraction(rng.randint(0, 20), 10), decision)


def flows(rng: random.Random, edges: list[list[int]], most: int) -> tuple[tuple[int, int, int], ...]:
    """Random multipliers in random directions on some of the edges."""
    some = [edge if rng.random() < 0.5 else edge[::-1] for edge in edges if rng.random() < 0.6]
    return tuple((i, j, rng.randint(0, most)) for i, j in some)


@pytest.mark.parametrize("seed", range(80))
def test_no_multipliers_push_the_bound_below_the_optimum(seed: int) -> None:
    rng = random.Random(seed)
    problem = random_problem(rng)
    best = optimum(problem)
    edges = problem.finest().edges.tolist()
    for _ in range(6):
        multipliers = tuple(
            Multipliers(action, flows(rng, edges, 40))
            for action in problem.decision.actions  # type: ignore[union-attr]
            if rng.random() < 0.8
        )
        bound = dual_upper_bound(problem, DualWitness("dual", None, rng.choice([100, 1000, 10**4]), multipliers))
        assert float(bound) >= best - 1e-7


@pytest.mark.parametrize("seed", range(30))
def test_a_box_never_pushes_it_below_either(seed: int) -> None:
    rng = random.Random(seed)
    problem = random_problem(rng)
    while not isinstance(problem.neighbours, ReplaceOne):
        problem = random_problem(rng)
    universe = problem.universe
    assert isinstance(universe, Universe)
    rest = rng.choice([None, (0, universe.largest), (min(1, universe.largest), universe.largest)])
    box = Clamp((0,) * universe.types, tuple(rng.randint(0, 3) for _ in range(universe.types)), 0, rest)
    from discreet.model.summary import HistogramSummary

    inner = state_space(universe, problem.neighbours, HistogramSummary(box))
    edges = inner.edges.tolist()
    multipliers = tuple(Multipliers(action, flows(rng, edges, 40)) for action in problem.decision.actions)  # type: ignore[union-attr]
    assert float(dual_upper_bound(problem, DualWitness("dual", box, 500, multipliers))) >= optimum(problem) - 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_chords_never_push_it_below_a_fine_grid(seed: int) -> None:
    """Real actions: no bound is below the optimum over a grid of the same actions."""
    rng = random.Random(seed)
    universe = Universe.of(rng.randint(1, 3), TWO)
    kind = rng.choice(["squared-error", "absolute-error", "pinball"])
    quantile = Fraction(rng.randint(1, 9), 10) if kind == "pinball" else None
    weight = Fraction(rng.randint(1, 3))
    n = universe.respondents
    grid = ListedActions(tuple(Fraction(k, 4) for k in range(4 * n + 1)))
    decision = Decision(loss_of(kind, quantile=quantile), grid, weight=weight)
    listed = problem_of(universe, ReplaceOne(), Fraction(rng.randint(1, 20), 10), decision)
    real = replace(listed, decisions=(replace(listed.decision, actions=RealActions()),))
    edges = listed.finest().edges.tolist()
    nodes = sorted({Fraction(0), Fraction(n), *(Fraction(rng.randint(0, 4 * n), 4) for _ in range(3))})
    multipliers = tuple(Multipliers(a, flows(rng, edges, 30)) for a in nodes)
    bound = dual_upper_bound(real, DualWitness("dual-with-chord", None, 300, multipliers))
    assert float(bound) >= optimum(listed) - 1e-7


@pytest.mark.parametrize("least", [Fraction(1, 3), Fraction(-1, 3), Fraction(5, 2**400 + 1), Fraction(-5, 2**400 + 1)])
def test_a_long_sum_errs_downwards_alone_and_by_next_to_nothing(least: Fraction) -> None:
    """A lower bound on loss may lose digits, never gain them; a short one is exact."""
    short, long = Fraction(2, 7), Fraction(1, 3**3000)
    assert added(short, least) == short + least
    assert short + long + least - Fraction(1, 10**90) < added(short + long, least) < short + long + least


def test_a_box_that_leaves_the_universe_is_refused_in_words() -> None:
    """Clipped counts of a varying size can be fewer than any database has."""
    universe = Universe(TWO, 2, 3)
    decision = Decision(SquaredLoss(), ListedActions(tuple(map(Fraction, range(4)))))
    problem = problem_of(universe, AddRemoveOne(), decision=decision)
    witness = DualWitness("dual", Clamp((0, 0), (1, 0), None), 1, ())
    with pytest.raises(DiscreetError):
        dual_upper_bound(problem, witness)


def high_precision_loss(n: int, p: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """Least squared loss after the truncated geometric on Bin(n, p), to 50 digits: Σ_k (Σ c² − (Σ c)²/Σ 1)."""
    with mpmath.workdps(60):
        r = mpmath.e ** (-mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        chance = mpmath.mpf(p.numerator) / p.denominator
        prior = [mpmath.binomial(n, c) * chance**c * (1 - chance) ** (n - c) for c in range(n + 1)]
        loss = mpmath.mpf(0)
        for k in range(n + 1):
            unit = 1 / (1 + r) if k in (0, n) else (1 - r) / (1 + r)
            joint = [prior[c] * unit * r ** abs(k - c) for c in range(n + 1)]
            mass, first = sum(joint), sum(j * c for c, j in enumerate(joint))
            loss += sum(j * c * c for c, j in enumerate(joint)) - first * first / mass
        return loss


@pytest.mark.parametrize(
    ("n", "p", "epsilon"),
    [(1, "1/2", "1"), (5, "3/10", "1"), (20, "11/100", "1/2"), (40, "11/100", "1"), (60, "1/2", "2")],
)
def test_theorem_3_bounds_agree_with_high_precision(n: int, p: str, epsilon: str) -> None:
    problem = Problem(
        Universe.of(n, TWO), ReplaceOne(), IidPrior((1 - Fraction(p), Fraction(p))), SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),), PurePromise(Fraction(epsilon)),
    )  # fmt: skip
    assert why_not_geometric(problem) is None
    true = high_precision_loss(n, Fraction(p), Fraction(epsilon))
    bound = -geometric_bound(problem)
    with mpmath.workdps(60):
        lower = mpmath.mpf(bound.numerator) / bound.denominator
        assert lower <= true and (true - lower) / true < mpmath.mpf("1e-9")


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_theorem_3_bounds_agree_with_the_program(n: int) -> None:
    listed = Decision(AbsoluteLoss(), ListedActions(tuple(map(Fraction, range(n + 1)))))
    skewed = IidPrior((Fraction(7, 10), Fraction(3, 10)))
    problem = replace(problem_of(Universe.of(n, TWO), ReplaceOne(), decision=listed), prior=skewed)
    assert float(geometric_bound(problem)) == pytest.approx(optimum(problem), abs=1e-6)
    assert float(geometric_bound(problem)) >= optimum(problem) - 1e-7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: problem_of(Universe.of(2, (*TWO, Fraction(2))), ReplaceOne()), "more than two types"),
        (lambda _: problem_of(Universe(TWO, 1, 2), AddRemoveOne()), "do not replace"),
        (lambda p: p.with_epsilon(Fraction(0)), "ε is 0"),
        (lambda p: replace(p, prior=IndependentPrior((TWO, (Fraction(1, 3), Fraction(2, 3))))), "order of respondents"),
        (lambda p: replace(p, decisions=(p.decision, p.decision)), "several decision makers"),
        (lambda p: replace(p, decisions=(Decision(MatchLoss(), ListedActions((*TWO, Fraction(2)))),)), "not supermodular"),
    ],
)
def test_theorem_3_names_the_condition_that_fails(change, words: str) -> None:
    reason = why_not_geometric(change(problem_of(Universe.of(2, TWO), ReplaceOne())))
    assert reason is not None and words in reason


def test_the_value_of_a_closed_form_is_that_of_its_table() -> None:
    problem = problem_of(Universe.of(3, TWO), ReplaceOne())
    actions = tuple(Fraction(k) for k in range(4))
    kernel = GeometricKernel(0, 3, 1, Fraction(1, 2), actions)
    total = Fraction(0)
    for database in problem.universe.databases():  # type: ignore[union-attr]
        c = sum(database)
        total += sum((Fraction(1, 8) * kernel.mass(k, c) * -Fraction((k - c) ** 2) for k in range(4)), Fraction(0))
    assert expected_payoff(mechanism_on(problem, LinearSummary((0, 1)), kernel)) == (total, total)
    silent = mechanism_on(problem, LinearSummary((0, 1)), replace(kernel, actions=None))
    with pytest.raises(DiscreetError, match="recommends no action"):
        expected_payoff(silent)


def test_a_witness_for_other_actions_is_refuted() -> None:
    problem = problem_of(Universe.of(2, TWO), ReplaceOne(), decision=Decision(MatchLoss(), ListedActions(TWO)))
    zero, seven = Multipliers(Fraction(0), ()), Multipliers(Fraction(7), ())
    for multipliers in ((seven,), (zero, zero), (Multipliers(Fraction(0), ((0, 2, 1),)),)):
        with pytest.raises(Refuted):
            dual_upper_bound(problem, DualWitness("dual", None, 1, multipliers))
    with pytest.raises(Refuted):
        dual_upper_bound(problem, DualWitness("dual-with-chord", None, 1, ()))
