"""Laws of weighted sums under every prior: below the truth everywhere, by no more than they say; values that follow from them."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.certify.bounds import full_information as bound
from discreet.certify.value import laws, urn_sums
from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.laws import Listed, law_of
from discreet.certify.value.sums import Sums
from discreet.certify.value.weighted_sums import weighted_sum_payoff
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, MatchLoss, SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, ReplaceOne
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    ReferencePrior,
    TablePrior,
)
from discreet.model.problem import Problem, believed
from discreet.model.promises import PurePromise
from discreet.model.states import state_space
from discreet.model.statistic import CountStatistic, MeanStatistic, SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe

BITS = 96
KINDS = ("iid", "reference", "sizes", "dirichlet", "dirichlet sizes", "independent", "exchangeable", "table", "mixture",
         "mixture sizes")  # fmt: skip


def chances(rng: random.Random, count: int, most: int = 9) -> tuple[Fraction, ...]:
    parts = [rng.randint(0, most) for _ in range(count)]
    parts[rng.randrange(count)] += 1
    return tuple(Fraction(p, sum(parts)) for p in parts)


def mixture(rng: random.Random, types: int, concentration: tuple[Fraction, ...], size: tuple[Fraction, ...] | None) -> MixturePrior:
    """Some cells alike, some not."""
    parts = [rng.randint(1, 9) for _ in range(types)]
    alike = IidPrior(tuple(Fraction(p, sum(parts)) for p in parts))
    share = Fraction(rng.randint(1, 8), 9)
    return MixturePrior((share, 1 - share), (alike, DirichletMultinomialPrior(concentration)), size)


def random_problem(rng: random.Random, kind: str, decisions: tuple[Decision, ...] | None = None) -> Problem:
    types, n = rng.choice([2, 3]), rng.randint(1, 4)
    smallest = rng.randint(0, n - 1) if "sizes" in kind else n
    values = tuple(Fraction(rng.randint(-3, 6), rng.choice([1, 2])) for _ in range(types))
    universe = Universe(values, smallest, n)
    size = chances(rng, n - smallest + 1) if "sizes" in kind else None
    concentration = tuple(Fraction(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(types))
    histograms = [tuple(h) for h in universe.histograms().tolist()]
    labels = [",".join(map(str, d)) for d in universe.databases()]
    prior = {
        "iid": lambda: IidPrior(chances(rng, types)),
        "reference": lambda: ReferencePrior(tuple(rng.randint(1, 9) for _ in range(types)), "a survey"),
        "sizes": lambda: IidPrior(chances(rng, types), size),
        "dirichlet": lambda: DirichletMultinomialPrior(concentration),
        "dirichlet sizes": lambda: DirichletMultinomialPrior(concentration, size),
        "independent": lambda: IndependentPrior(tuple(chances(rng, types) for _ in range(n))),
        "exchangeable": lambda: ExchangeablePrior(tuple(zip(histograms, chances(rng, len(histograms)), strict=True))),
        "mixture": lambda: mixture(rng, types, concentration, None),
        "mixture sizes": lambda: mixture(rng, types, concentration, size),
        "table": lambda: TablePrior(tuple(zip(labels, chances(rng, len(labels)), strict=True))),
    }[kind]()
    statistic = rng.choice([SumStatistic(), CountStatistic((0,)), *([] if "sizes" in kind else [MeanStatistic()])])
    relation = AddRemoveOne() if "sizes" in kind else ReplaceOne()
    decisions = decisions or (Decision(SquaredLoss(), RealActions()),)
    return Problem(universe, relation, prior, statistic, decisions, PurePromise(Fraction(1000)))


def listed(problem: Problem) -> list[tuple[tuple[int, ...], Fraction, Fraction]]:
    """(histogram, probability, ω) of every finest state, straight from the definition."""
    space = problem.finest()
    belief = believed(problem, space)
    vectors = np.asarray(space.vectors)
    if not problem.exchangeable:
        vectors = problem.universe.histograms_of(vectors)
    return [(tuple(h), belief.weights[i], belief.omegas[i]) for i, h in enumerate(vectors.tolist())]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_a_law_lies_below_the_truth_and_says_what_is_missing(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    problem = random_problem(rng, kind)
    law = law_of(problem)
    assert law is not None
    weights = [rng.randint(-3, 4) for _ in range(problem.universe.types)]
    truth: dict[int, Fraction] = {}
    for h, p, _ in listed(problem):
        total = sum(w * c for w, c in zip(weights, h, strict=True))
        truth[total] = truth.get(total, Fraction(0)) + p
    found = law.masses(weights, BITS)
    for i, mass in enumerate(found.masses):
        assert Fraction(mass, 1 << BITS) <= truth.get(found.first + i, Fraction(0))
    assert sum(found.masses) + found.missing == 1 << BITS and found.missing < 1 << 30
    for t in range(problem.universe.types):
        count = sum((p * h[t] for h, p, _ in listed(problem)), Fraction(0))
        assert law.mean(t) == count
        others = law.without(t)
        if others is None:
            continue
        seen = others.masses(weights, BITS)
        squares = sum((Fraction(m, 1 << BITS) * (seen.first + i + weights[t]) ** 2 for i, m in enumerate(seen.masses)), Fraction(0))
        sums = [(p * h[t], sum(w * c for w, c in zip(weights, h, strict=True))) for h, p, _ in listed(problem)]
        exact = sum((p * total**2 for p, total in sums), Fraction(0))
        assert 0 <= exact - law.mean(t) * squares < Fraction(1, 1 << 50)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_second_moments_and_the_laws_of_the_others_are_those_of_the_states(kind: str, seed: int) -> None:
    """They are found for all types together; of a thousand types, one after the other took minutes."""
    rng = random.Random(f"second {kind} {seed}")
    problem = random_problem(rng, kind)
    law = law_of(problem)
    assert law is not None
    values = [Fraction(rng.randint(-6, 9), rng.randint(1, 4)) for _ in range(problem.universe.types)]
    totals = [(p, sum((v * c for v, c in zip(values, h, strict=True)), Fraction(0))) for h, p, _ in listed(problem)]
    exact = sum((p * total**2 for p, total in totals), Fraction(0))
    mean = sum((p * total for p, total in totals), Fraction(0))
    assert law.second(values) == exact and (exact > mean**2 or len({t for p, t in totals if p}) == 1)
    weights = [rng.choice([0, 2, 2, -1]) for _ in values]
    found = law.others(weights, BITS)
    each = {t: other.masses(weights, BITS) for t in range(len(values)) if (other := law.without(t)) is not None}
    assert {t: vars(m) for t, m in found.items()} == {t: vars(m) for t, m in each.items()}


@pytest.mark.parametrize("kind", ["dirichlet", "dirichlet sizes"])
@pytest.mark.parametrize("seed", range(12))
def test_an_urn_lies_below_the_series_and_misses_little(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn one after another or all at once: the same law, and the same laws of the others, whatever the sign of the weights."""
    rng = random.Random(f"urn {kind} {seed}")
    problem = random_problem(rng, kind)
    law = law_of(problem)
    assert law is not None
    weights = [rng.choice([1, 3]) * rng.randint(-3, 4) for _ in range(problem.universe.types)]
    exact, others = law.masses(weights, BITS), law.others(weights, BITS)
    assert set(others) == {t for t in range(problem.universe.types) if law.without(t) is not None}
    monkeypatch.setattr(laws, "MOST_IN_SERIES", -1)
    monkeypatch.setattr(laws, "PAIRS_PER_DRAW", 10**9)
    drawn = law.others(weights, BITS)
    assert set(drawn) == set(others)
    for below, near in [(law.masses(weights, BITS), exact), *((drawn[t], others[t]) for t in others)]:
        truth = {near.first + i: mass for i, mass in enumerate(near.masses)}
        for i, mass in enumerate(below.masses):
            assert 0 <= truth.get(below.first + i, 0) + near.missing - mass < 1 << BITS - 48
        assert sum(below.masses) + below.missing == 1 << BITS and 0 <= below.missing < 1 << BITS - 44


@pytest.mark.parametrize("kind", ["dirichlet", "dirichlet sizes"])
@pytest.mark.parametrize("seed", range(12))
def test_pairs_of_counts_lie_below_the_truth_and_miss_next_to_nothing(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three weights of any sign, zero among them or not; a fixed number of respondents or one that varies."""
    rng = random.Random(f"pairs {kind} {seed}")
    problem = random_problem(rng, kind)
    law = law_of(problem)
    assert law is not None
    few = [
        rng.randint(-3, 4),
        rng.randint(-3, 4),
        0 if problem.universe.smallest < problem.universe.largest else rng.randint(-3, 4),
    ]
    weights = [rng.choice(few) for _ in range(problem.universe.types)]
    monkeypatch.setattr(laws, "MOST_IN_SERIES", -1)
    monkeypatch.setattr(laws, "PAIRS_PER_DRAW", 0)
    monkeypatch.setattr(laws, "urn_sums", None)
    truth: dict[int, Fraction] = {}
    for h, p, _ in listed(problem):
        total = sum(n * w for n, w in zip(h, weights, strict=True))
        truth[total] = truth.get(total, Fraction(0)) + p
    found = law.masses(weights, BITS)
    assert sum(found.masses) + found.missing == 1 << BITS and found.missing <= 2 * len(found.masses)
    for i, mass in enumerate(found.masses):
        assert 0 <= truth.get(found.first + i, Fraction(0)) * (1 << BITS) - mass < 2
    assert all(truth[s] < Fraction(2, 1 << BITS) for s in truth if not 0 <= s - found.first < len(found.masses))
    assert set(law.others(weights, BITS)) == {t for t in range(problem.universe.types) if law.without(t) is not None}


def test_three_values_far_apart_are_summed_over_pairs_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values 0, 1, 100 and a thousand respondents: five laws of 100,001 totals were drawn, in three seconds each."""
    monkeypatch.setattr(laws, "urn_sums", None)
    one, sizes = (
        laws.Overdispersed((Fraction(16), Fraction(2), Fraction(1, 10)), ((1000, Fraction(1)),)),
        tuple((n, Fraction(1, 301)) for n in range(301)),
    )
    for law, weights in ((one, (0, 1, 100)), (one, (7, 1, 100)), (replace(one, sizes=sizes), (0, 1, 5))):
        found = law.masses(weights, 88)
        assert 0 <= found.missing < len(found.masses)
        mean = sum((found.first + i) * mass for i, mass in enumerate(found.masses)) / 2.0**88
        assert mean == pytest.approx(sum(w * float(law.mean(t)) for t, w in enumerate(weights)), rel=1e-12)
    many = replace(one, concentration=(Fraction(1),) * 4)
    assert not many._in_pairs((0, 1, 2, 100)) and not replace(one, sizes=((10**5, Fraction(1)),))._in_pairs((0, 1, 100))


def test_products_of_an_urn_never_exceed_the_truth() -> None:
    """The largest numbers that 62 bits hold, where a carry that is lost or a product that overflows would show."""
    rng = random.Random(62)
    numbers = [0, 1, 1 << 31, (1 << 31) - 1, (1 << 62) - 1, 1 << 62, *(rng.getrandbits(62) for _ in range(200))]
    shares = [
        Fraction(0),
        Fraction(1),
        Fraction(1, 1 << 62),
        1 - Fraction(1, 1 << 62),
        *(Fraction(x, 1 << 62) for x in numbers[6:60]),
    ]
    for share in [*shares, Fraction(1, 3), Fraction(999, 1019)]:
        for number, found in zip(numbers, urn_sums.below(np.array(numbers, dtype=np.uint64), share).tolist(), strict=True):
            assert 0 <= number * share - found < 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_values_by_the_law_hold_the_value_by_enumeration(kind: str, seed: int) -> None:
    """Any prior, closed forms and tables, one decision maker or several, losses and payoffs."""
    rng = random.Random(f"{seed} {kind}")
    decisions = rng.choice(
        [
            (Decision(SquaredLoss(), RealActions(), weight=Fraction(3, 2)),),
            (Decision(AbsoluteLoss(), RealActions()),),
            (Decision(FormulaLoss("a*(omega - 2)"), ListedActions((Fraction(0), Fraction(1)))),),
            (Decision(MatchLoss(), ListedActions(tuple(map(Fraction, range(9))))), Decision(SquaredLoss(), RealActions())),
        ]
    )
    problem = random_problem(rng, kind, decisions)
    types = problem.universe.types
    if rng.random() < 0.5:
        values = problem.statistic.weights(problem.universe)
        weights = tuple(int(v * 2 * problem.universe.largest) for v in values)  # noise on the statistic itself
    else:
        weights = tuple(rng.randint(-2, 3) for _ in range(types))
    summary = LinearSummary(weights)
    low, high = summary.range(problem.universe)
    high = max(high, low + 1)
    step = max(1, summary.step(problem.neighbours))

    def action() -> object:
        each = tuple(
            Fraction(rng.randint(0, 1)) if isinstance(d.loss, FormulaLoss) else Fraction(rng.randint(0, 8)) for d in decisions
        )
        return each if len(each) > 1 else each[0]

    actions = tuple(action() for _ in range(low, high + 1))
    kernel = rng.choice(
        [
            GeometricKernel(low, high, step, Fraction(3, 5), actions),
            StaircaseKernel(low, high, step, rng.randint(1, step), Fraction(2, 5), actions),
        ]
    )
    if rng.random() < 0.4:
        states = state_space(problem.universe, problem.neighbours, summary).labels
        left = [rng.randint(1, 255) for _ in states]
        outputs = (Output("one", actions[0]), Output("two", actions[-1]))
        kernel = TableKernel(states, outputs, (tuple(left), tuple(256 - w for w in left)), 256)
    mechanism = Mechanism(problem, summary, kernel, problem.guarantee)
    exact = expected_payoff(mechanism)[0]
    below, above = weighted_sum_payoff(mechanism)
    assert below <= exact <= above and above - below < Fraction(1, 10**8)


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_does_better_than_to_know_the_truth(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(kind)
    makers = (
        Decision(SquaredLoss(), ListedActions((Fraction(0), Fraction(5, 2), Fraction(3)))),
        Decision(FormulaLoss("a*(omega - 2)"), ListedActions((Fraction(0), Fraction(1))), weight=Fraction(2)),
    )
    problem = random_problem(rng, kind, makers)
    exact = sum(
        (p * sum((d.weight * max(d.payoff(a, w) for a in d.actions) for d in makers), Fraction(0)) for _, p, w in listed(problem)),
        Fraction(0),
    )
    found = bound.full_information(problem)
    assert exact <= found < exact + Fraction(1, 10**30)
    monkeypatch.setattr(bound, "MOST_LISTED", 0)
    assert exact <= bound.full_information(problem) < exact + Fraction(1, 10**30)


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_do_what_ω_says_loses_nothing_and_no_law_is_formed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers up to 100,000 were looked up one by one in the law of their sum."""
    monkeypatch.setattr(bound, "masses_of_statistic", None)
    problem = random_problem(random.Random(kind), kind)
    (low, high), (unit, _) = problem.omega_range, bound.lattice(problem.statistic.weights(problem.universe))
    every = tuple(low + unit * k for k in range(int((high - low) / unit) + 1))
    error = Decision(AbsoluteLoss(), ListedActions((*every, high + 5)))
    assert bound.full_information(replace(problem, decisions=(error, Decision(SquaredLoss(), RealActions())))) == 0
    for missing in ListedActions((*every[1:], high + 1)), ListedActions((low - 1, *every[:-1])), RealActions(low + unit / 2, high):
        assert len(every) < 2 or not bound.is_answered(replace(problem, decisions=(replace(error, actions=missing),)))


def test_a_payoff_of_unlikely_values_counts_for_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: with few bits most of the law is missing, and it may all lie where the payoff is largest."""
    problem = random_problem(random.Random(3), "iid", (Decision(FormulaLoss("omega*omega"), NamedActions(("go",))),))
    exact = bound.full_information(problem)
    monkeypatch.setattr(bound, "MOST_LISTED", 0)
    monkeypatch.setattr(bound, "BITS", 3)
    low, high = problem.omega_range
    assert exact < bound.full_information(problem) <= max(low**2, high**2)


def test_when_a_sum_determines_the_statistic() -> None:
    law = Listed((((2, 0, 1), Fraction(1)),))
    values = (Fraction(0), Fraction(1, 2), Fraction(3, 2))
    spread = Listed((((1, 1, 1), Fraction(1)),))
    assert Sums(spread, (0, 1, 3), values, 3, 3).tied == (Fraction(1, 2), 0)
    assert Sums(spread, (2, 3, 5), values, 3, 3).tied == (Fraction(1, 2), -3)
    assert Sums(spread, (2, 3, 5), values, 1, 3).tied is None, "without knowing how many there are"
    assert Sums(spread, (0, 1, 2), values, 3, 3).tied is None
    assert Sums(spread, (0, 1, 1), values, 3, 3).tied is None
    assert Sums(law, (0, 7, 3), values, 3, 3).tied == (Fraction(1, 2), 0), "types that never occur do not matter"


def test_laws_that_do_not_fit_are_refused() -> None:
    problem = random_problem(random.Random(1), "dirichlet")
    wide = replace(problem, universe=Universe(problem.universe.values, 40_000, 40_000))
    law = law_of(wide)
    assert law is not None
    with pytest.raises(TooLarge, match="smaller weights"):
        law.masses([0, 1, 9][: wide.universe.types], BITS)


@pytest.mark.parametrize("seed", range(6))
def test_payoffs_that_are_lines_need_no_joint_law(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """f(a) + ω·g(a) through the mean of ω after each total: the same number as through the joint law."""
    rng = random.Random(seed)
    values = [str(rng.randint(-2, 5)) for _ in range(3)]
    prior: dict[str, object] = {"kind": "iid", "probabilities": ["1/2", "1/3", "1/6"]}
    if seed % 2:
        prior = {"kind": "exchangeable", "concentration": ["3", "2", "1/2"]}
    problem = discreet.problem(
        respondents=5,
        values=values,
        prior=prior,
        decision={"kind": "expression", "actions": {"from": -4, "to": 9}, "payoff": "a*omega - a**2 + 3"},
        epsilon=1,
    ).problem
    summary = LinearSummary((0, 1, rng.randint(2, 3)))
    low, high = summary.range(problem.people)
    actions = tuple(Fraction(rng.randint(-12, 27), 3) for _ in range(low, high + 1))
    kernel = GeometricKernel(low, high, 3, Fraction(4, 5), actions)
    mechanism = Mechanism(problem, summary, kernel, problem.guarantee)
    below, above = weighted_sum_payoff(mechanism)
    monkeypatch.setattr("discreet.certify.value.weighted_sums.joint_fits", lambda *_, **__: False)
    low_side, high_side = weighted_sum_payoff(mechanism)
    assert low_side <= above and below <= high_side and high_side - low_side < Fraction(1, 10**20)


def test_full_information_of_lines_is_bounded_from_the_mean_where_no_law_is_formed() -> None:
    """20,000 respondents in cells that differ: the bound was that every cell is the best possible one."""
    problem = threshold_in_cells_that_differ(20_000)
    assert bound.full_information(problem) == Fraction(40_000 - 130) * Fraction(5_200, 40_000)
    for few in (threshold_in_cells_that_differ(100), threshold_in_cells_that_differ(400)):
        assert bound.full_information(few) < bound._along_a_chord(few) < Fraction(2 * few.people.largest - 130)


def test_gains_where_no_law_of_the_statistic_is_formed_have_no_bound() -> None:
    """The adversary: a gain of 1 whatever happens, of a mean over 59 or 60 of six types; it was bounded by 0."""
    halves = (Fraction(1, 2), Fraction(1, 2))
    gain = Decision(FormulaLoss("1 + 0*omega + 0*a"), ListedActions((Fraction(0), Fraction(1))))
    for size, few in ((3, True), (60, False)):
        people = Universe(tuple(map(Fraction, range(6))), size - 1, size)
        law = IidPrior((Fraction(1, 6),) * 6, halves)
        problem = Problem(people, AddRemoveOne(), law, MeanStatistic(), (gain,), PurePromise(Fraction(1)))
        if few:
            assert bound.full_information(problem) == 1
        else:
            with pytest.raises(Refuted, match="too many values"):
                bound.full_information(problem)


def test_many_classes_in_large_steps_are_not_drawn() -> None:
    """The adversary: steps of 333 make the work look small, and what is kept of it is eight gigabytes."""
    sizes = ((3, Fraction(1)),)
    assert not laws.Overdispersed((Fraction(1),) * 1001, sizes).fits([333 * t for t in range(1001)])
    assert laws.Overdispersed((Fraction(1),) * 11, ((1000, Fraction(1)),)).fits(range(11))


def threshold_in_cells_that_differ(respondents: int) -> Problem:
    return discreet.problem(
        respondents=respondents,
        values=[0, 1, 2],
        prior={"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]},
        decision={"kind": "expression", "actions": [0, 1], "payoff": "a*(omega-130)"},
        epsilon=1,
    ).problem


def test_a_threshold_in_large_cells_that_differ_is_designed_and_beats_publishing_nothing() -> None:
    """It was refused, publishing nothing included: "this payoff needs the joint law"."""
    problem = threshold_in_cells_that_differ(800)
    reading = Reader(problem).counted()
    assert reading is not None and reading.summary.weights == (0, 1, 1)
    value = weighted_sum_payoff(Mechanism(problem, reading.summary, reading.kernel, problem.guarantee))[0]
    assert float(-value) == pytest.approx(reading.loss, rel=1e-9)
    assert value > (Fraction(800 * 26, 100) - 130) * Fraction(11, 10)
