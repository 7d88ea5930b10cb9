"""What the tests of SY's theorems share, as the fixture `sy`: the papers' instances, random ones, and a plain program.

Random instances are drawn with fixed seeds: the same ones in every run, so a test never fails by chance.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.geometry.beliefs import Belief
from discreet.geometry.channel import Channel
from discreet.geometry.hyper import Hyper, hyper
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import StatedProblem, stated
from discreet.geometry.private_beliefs import PrivateBeliefs
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import SquaredLoss, TableLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import ExchangeablePrior, IidPrior, Prior, TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import Statistic, SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

ONE = Fraction(1)


def integers(largest: int) -> ListedActions:
    """The actions 0..largest."""
    return ListedActions(tuple(Fraction(a) for a in range(largest + 1)))


def squared(largest: int | None = None) -> Decision:
    """Squared error with real actions, or with the whole numbers up to `largest`."""
    return Decision(SquaredLoss(), RealActions() if largest is None else integers(largest))


def payoff(*rows: Sequence[object]) -> Decision:
    """A payoff table, one row for each action, one column for each value of the statistic."""
    table = tuple(tuple(Fraction(str(u)) for u in row) for row in rows)
    return Decision(TableLoss(table), NamedActions(tuple(f"action {a}" for a in range(len(rows)))))


def problem(
    respondents: int,
    values: Sequence[int],
    prior: Prior,
    decision: Decision | None = None,
    epsilon: Fraction = ONE,
    statistic: Statistic | None = None,
) -> Problem:
    """A problem about the sum of the values, squared error unless said otherwise."""
    universe = Universe.of(respondents, tuple(Fraction(v) for v in values))
    return Problem(universe, ReplaceOne(), prior, statistic or SumStatistic(), (decision or squared(),), PurePromise(epsilon))


def iid(*weights: int) -> IidPrior:
    """Type probabilities proportional to whole weights."""
    return IidPrior(tuple(Fraction(w, sum(weights)) for w in weights))


def exchangeable(weights: Sequence[int], respondents: int, types: int) -> ExchangeablePrior:
    """Whole weights of the histograms in lexicographic order."""
    histograms = [h for h in itertools.product(range(respondents + 1), repeat=types) if sum(h) == respondents]
    return ExchangeablePrior(tuple((h, Fraction(w, sum(weights))) for h, w in zip(histograms, weights, strict=True)))


def table(weights: Sequence[int], respondents: int, types: int) -> TablePrior:
    """Whole weights of the databases in lexicographic order."""
    names = [",".join(map(str, d)) for d in itertools.product(range(types), repeat=respondents)]
    return TablePrior(tuple((name, Fraction(w, sum(weights))) for name, w in zip(names, weights, strict=True)))


def random_table(seed: int, respondents: int, types: int) -> TablePrior:
    """A full-support prior with any correlation."""
    draw = random.Random(seed)
    return table([draw.randint(1, 30) for _ in range(types**respondents)], respondents, types)


def random_exchangeable(seed: int, respondents: int, types: int) -> ExchangeablePrior:
    """A full-support exchangeable prior."""
    draw = random.Random(seed)
    count = len([h for h in itertools.product(range(respondents + 1), repeat=types) if sum(h) == respondents])
    return exchangeable([draw.randint(1, 30) for _ in range(count)], respondents, types)


def random_payoff(seed: int, actions: int, values: int) -> Decision:
    """A payoff table of whole numbers from −9 to 9."""
    draw = random.Random(seed)
    return payoff(*[[draw.randint(-9, 9) for _ in range(values)] for _ in range(actions)])


def figures(decision: Decision | None = None, epsilon: Fraction = ONE) -> Problem:
    """Figures 1-8: two respondents of two types, π0 = (1/3, 1/6, 1/6, 1/3)."""
    return problem(2, (0, 1), exchangeable([1, 1, 1], 2, 2), decision, epsilon)


def appendix_A(delta: Fraction, decision: Decision | None = None) -> Problem:
    """Appendix A: three respondents, the last two equal with probability 1 − δ."""
    chances = {}
    for a, b, c in itertools.product((0, 1), repeat=3):
        chances[f"{a},{b},{c}"] = Fraction(1, 3 if a == b else 6) * (1 - delta if b == c else delta)
    return problem(3, (0, 1), TablePrior(tuple(chances.items())), decision)


def geometric(of: Problem, weights: Sequence[int], epsilon: Fraction | None = None) -> Mechanism:
    """The truncated geometric mechanism on Σ weights, with a ratio a hair above e^−ε."""
    summary = LinearSummary(tuple(weights))
    step = summary.step(of.neighbours)
    ratio = rational_above_exp(-(epsilon or of.epsilon) / step, 96)
    low, high = summary.range(of.universe)  # type: ignore[arg-type]
    guarantee = Guarantee(PurePromise(of.epsilon), of.neighbours.name, of.unit)
    return Mechanism(of, summary, GeometricKernel(low, high, step, ratio), guarantee)


def two_point(polytope: PrivateBeliefs, pick: int, ratio: Fraction) -> Hyper:
    """The hyper {π, π0 − s(π − π0)}, π an extreme point and s as large as a power of 1/2 allows (SY Lemma 8)."""
    points = extreme_points(polytope)
    point = points[pick % len(points)].belief(polytope.prior, ratio)
    s = ONE
    while True:
        other: Belief = tuple(q - s * (p - q) for p, q in zip(point, polytope.prior, strict=True))
        if min(other) >= 0 and polytope.contains(other):
            return hyper(polytope.labels, [point, other], [s / (1 + s), 1 / (1 + s)])
        s /= 2


def random_hyper(polytope: PrivateBeliefs, seed: int, ratio: Fraction, parts: int = 3) -> Hyper:
    """A private, Bayes-plausible hyper: an even mixture of two-point ones."""
    draw = random.Random(seed)
    pairs = [two_point(polytope, draw.randrange(10**6), ratio) for _ in range(parts)]
    posteriors = [p for pair in pairs for p in pair.posteriors]
    return hyper(polytope.labels, posteriors, [w / parts for pair in pairs for w in pair.weights])


def program_value(of: Problem | StatedProblem, on: str = "finest") -> float:
    """The designer's program in m(a|θ), solved by HiGHS as it stands (listed actions)."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    listed = of if isinstance(of, StatedProblem) else stated(of, on)
    decision = listed.problem.decision
    actions = list(decision.actions)  # type: ignore[arg-type]
    n, k = len(listed.space), len(actions)
    gain = np.array(
        [[float(p * decision.payoff(a, w)) for p, w in zip(listed.prior, listed.omega_of, strict=True)] for a in actions]
    )
    q = float(np.exp(float(listed.problem.epsilon)))
    rows, columns, entries = [], [], []
    r = 0
    for a in range(k):
        for i, j in listed.edges:
            for x, y in ((i, j), (j, i)):
                rows += [r, r]
                columns += [a * n + x, a * n + y]
                entries += [1.0, -q]
                r += 1
    bounds = coo_array((entries, (rows, columns)), shape=(r, n * k)).tocsr()
    sums = coo_array((np.ones(n * k), (np.tile(np.arange(n), k), np.arange(n * k))), shape=(n, n * k)).tocsr()
    found = linprog(-gain.ravel(), A_ub=bounds, b_ub=np.zeros(r), A_eq=sums, b_eq=np.ones(n), bounds=(0, None), method="highs")
    assert found.status == 0
    return float(-found.fun)


def value_of_channel(channel: Channel, listed: StatedProblem) -> Fraction:
    """Σ_s P(s)·v(posterior), exactly."""
    from discreet.geometry.hyper import hyper_of_channel, statistic_hyper
    from discreet.geometry.interim import Interim

    found = statistic_hyper(hyper_of_channel(channel, listed.prior), listed)
    interim = Interim(listed.problem.decisions, listed.omegas)
    return sum((w * interim.value(p) for p, w in zip(found.posteriors, found.weights, strict=True)), Fraction(0))


@pytest.fixture(scope="session")
def sy() -> SimpleNamespace:
    """All of the above by name."""
    names = (
        integers,
        squared,
        payoff,
        problem,
        iid,
        exchangeable,
        table,
        random_table,
        random_exchangeable,
        random_payoff,
        figures,
        appendix_A,
        geometric,
        two_point,
        random_hyper,
        program_value,
        value_of_channel,
    )
    return SimpleNamespace(**{thing.__name__: thing for thing in names})
