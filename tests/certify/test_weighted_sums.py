"""Weighted sums valued for any T and N: equal to the exact enumeration where that fits, and brackets that hold."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.certify.optimality import optimality, proved_bound, proved_value
from discreet.certify.value.expected import expected_payoff
from discreet.certify.value.sum_laws import sum_masses
from discreet.certify.value.sums import sums_of
from discreet.certify.value.weighted_sums import _bracketed, weighted_sum_payoff, why_not_weighted_sum
from discreet.errors import InputError, TooLarge
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel, StaircaseKernel
from discreet.model.losses import AbsoluteLoss, FormulaLoss, MatchLoss, PinballLoss, SquaredLoss, loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import CountStatistic, MeanStatistic, SumStatistic, TableStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


def mechanism_of(p, v, respondents, kernel, weights, decision=None, statistic=None, low=None, high=None):
    decision = decision or Decision(SquaredLoss(), RealActions())
    problem = Problem(
        Universe(tuple(map(Fraction, v)), respondents, respondents),
        ReplaceOne(),
        IidPrior(tuple(map(Fraction, p))),
        statistic or SumStatistic(),
        (decision,),
        PurePromise(Fraction(1)),
    )
    guarantee = Guarantee(PurePromise(Fraction(1)), problem.neighbours.name, problem.unit)
    return Mechanism(problem, LinearSummary(tuple(weights), low, high), kernel, guarantee)


def random_mechanism(rng: random.Random, kind: str) -> Mechanism | None:
    types, n = rng.randint(2, 4), rng.randint(1, 6)
    counts = [rng.randint(0, 9) for _ in range(types)]
    v = sorted(rng.sample([Fraction(k, 6) for k in range(-40, 40)], types))
    w = [rng.randint(-3, 4) for _ in range(types)]
    low, high = n * min(w), n * max(w)
    if rng.random() < 0.5:
        low, high = low + rng.randint(0, 2), high - rng.randint(0, 2)
    if not any(counts) or low >= high:
        return None
    first, last, step = low - rng.randint(0, 3), high + rng.randint(0, 2), max(w) - min(w)
    numbers = [Fraction(rng.randint(-300, 300), 7) for _ in range(5)]
    if kind in ("match", "expression", "listed"):
        numbers = [Fraction(k) for k in (-4, 1, 2, 3, 8)]
    actions = tuple(rng.choice(numbers) for _ in range(last - first + 1))
    kernel = (
        GeometricKernel(first, last, step, Fraction(7, 9), actions)
        if rng.random() < 0.4
        else StaircaseKernel(first, last, step, rng.randint(1, step), Fraction(2, 5), actions)
    )
    listed = ListedActions(tuple(sorted(set(numbers))))
    decision = {
        "pinball": Decision(PinballLoss(Fraction(1, 3)), RealActions()),
        "match": Decision(MatchLoss(), listed),
        "expression": Decision(FormulaLoss("a*omega - a*a/2"), listed),
        "listed": Decision(SquaredLoss(), listed),
    }.get(kind) or Decision(loss_of(kind), RealActions())
    decision = replace(decision, weight=Fraction(3, 2))
    statistic = rng.choice([SumStatistic(), MeanStatistic(), CountStatistic((rng.randrange(types),))])
    p = [Fraction(c, sum(counts)) for c in counts]
    return mechanism_of(p, v, n, kernel, w, decision, statistic, low, high)


@pytest.mark.parametrize("kind", ["squared-error", "listed", "absolute-error", "pinball", "match", "expression"])
def test_equal_to_the_exact_enumeration(kind):
    rng = random.Random(kind)
    checked = 0
    while checked < 30:
        mechanism = random_mechanism(rng, kind)
        if mechanism is None:
            continue
        low, high = weighted_sum_payoff(mechanism)
        exact = expected_payoff(mechanism)[0]
        assert low <= exact <= high
        assert high - low < (Fraction(1, 10**25) if kind in ("squared-error", "listed") else Fraction(1, 10**8))
        checked += 1


@pytest.mark.parametrize("family", ["geometric", "staircase"])
def test_filters_bracket_the_kernel_entry_by_entry(family):
    numbers = [Fraction(k * k % 11, 3) for k in range(26)]
    for plateau in (1, 2, 5):
        kernel = (
            GeometricKernel(-3, 22, 5, Fraction(8, 9))
            if family == "geometric"
            else StaircaseKernel(-3, 22, 5, plateau, Fraction(3, 8))
        )
        lower, upper = _bracketed(kernel, numbers, 100)
        for state in range(-3, 23):
            exact = sum(kernel.mass(y, state) * numbers[y + 3] for y in range(-3, 23))
            below, above = (Fraction(side[state + 3], 1 << 100) for side in (lower, upper))
            assert below <= exact <= above < below + Fraction(1, 10**25)


def test_masses_lie_below_the_law_and_say_what_is_missing():
    p, n = (Fraction(1, 3), Fraction(2, 3)), 40
    first, masses, missing = sum_masses(p, (-1, 2), n, 64)
    assert sum(masses) + missing == 1 << 64
    assert missing < 1 << 16
    for i, mass in enumerate(masses):
        ups, odd = divmod(first + i + n, 3)
        exact = 0 if odd else math.comb(n, ups) * p[1] ** ups * p[0] ** (n - ups)
        assert 0 <= exact - Fraction(mass, 1 << 64) < Fraction(1, 1 << 50)


def wide(respondents: int, actions_shift: Fraction = Fraction(0), clipped: bool = False) -> Mechanism:
    """A crude mechanism on the plain sum of ten types: each output is taken at its word; `clipped`: the last two weigh the same."""
    p = [Fraction(1, 10)] * 10
    high = 9 * respondents
    actions = tuple(Fraction(k) + actions_shift for k in range(high + 1))
    kernel = StaircaseKernel(0, high, 9, 4, Fraction(2, 5), actions)
    return mechanism_of(p, range(10), respondents, kernel, [*range(9), 8] if clipped else range(10))


def noise_variance(kernel: StaircaseKernel) -> Fraction:
    return sum((2 * j * j * kernel.noise(j) for j in range(1, 600)), Fraction(0))


def test_far_from_the_ends_the_loss_is_the_variance_of_the_noise():
    """Taking outputs at their word loses exactly the noise's variance, plus the squared shift."""
    mechanism = wide(200, Fraction(1, 2))
    low, high = weighted_sum_payoff(mechanism)
    expected = -noise_variance(mechanism.kernel) - Fraction(1, 4)
    assert high - low < Fraction(1, 10**25)
    assert abs(low - expected) < Fraction(1, 10**20)


@pytest.mark.slow
def test_ten_thousand_respondents():
    mechanism = wide(10_000)
    low, high = weighted_sum_payoff(mechanism)
    assert abs(low + noise_variance(mechanism.kernel)) < Fraction(1, 10**20)
    assert high - low < Fraction(1, 10**20)


def claim_of(mechanism: Mechanism, low: str, high: str) -> OptimalityClaim:
    witness = TheoremWitness("chain", (("low", low), ("high", high)))
    bare = OptimalityClaim(Fraction(0), Fraction(0), witness)
    return OptimalityClaim(proved_value(mechanism, bare), proved_bound(mechanism, bare), witness)


def test_claims_are_proved_and_forged_ones_refuted():
    mechanism = wide(60)
    claim = claim_of(mechanism, "0,1,2", "7,8,9")
    assert optimality(mechanism, claim) == claim
    tiny = Fraction(1, 10**5)
    overlapping = TheoremWitness("chain", (("low", "0,1,2"), ("high", "2,9")))
    reversed_sets = TheoremWitness("chain", (("low", "9"), ("high", "0")))
    forgeries = [
        (mechanism, replace(claim, value=claim.value + tiny), "worth less"),
        (mechanism, replace(claim, bound=claim.bound - tiny), "weaker bound"),
        (mechanism, replace(claim, witness=overlapping), "disjoint"),
        (mechanism, replace(claim, witness=reversed_sets), "above one in high"),
        (mechanism, replace(claim, witness=TheoremWitness("universal optimality")), "not known"),
        (wide(60, Fraction(1, 100)), claim, "worth less"),
        (wide(59), claim, "weaker bound"),
    ]
    for forged, about, words in forgeries:
        found = optimality(forged, about)
        assert isinstance(found, Counterexample), words
        assert words in str(found)


def test_the_bound_is_for_the_guaranteed_epsilon():
    mechanism = wide(60)
    claim = claim_of(mechanism, "0,1,2", "7,8,9")
    asked = mechanism.problem.with_epsilon(Fraction(2))
    looser = replace(mechanism, problem=asked, guarantee=asked.guarantee)
    found = optimality(looser, claim)
    assert isinstance(found, Counterexample)
    assert found.claim == "bound"


def test_conditions_are_named():
    mechanism = wide(5)
    assert why_not_weighted_sum(mechanism) is None
    table = TableStatistic(tuple((",".join(map(str, h)), Fraction(h[0])) for h in mechanism.problem.universe.histograms().tolist()))
    with pytest.raises(InputError, match="not a sum"):
        weighted_sum_payoff(replace(mechanism, problem=replace(mechanism.problem, statistic=table)))
    silent = replace(mechanism, kernel=replace(mechanism.kernel, actions=None))
    with pytest.raises(InputError, match="no actions"):
        weighted_sum_payoff(silent)


def absolute(mechanism: Mechanism, quantile: Fraction | None = None) -> Mechanism:
    decision = Decision(AbsoluteLoss() if quantile is None else PinballLoss(quantile), RealActions())
    return replace(mechanism, problem=replace(mechanism.problem, decisions=(decision,)))


@pytest.mark.parametrize("quantile", [None, Fraction(1, 10), Fraction(2, 3)])
def test_moments_bracket_what_the_joint_law_says(monkeypatch, quantile):
    mechanism = absolute(wide(12, Fraction(3, 2)), **({} if quantile is None else {"quantile": quantile}))
    low, high = weighted_sum_payoff(mechanism)
    assert high - low < Fraction(1, 10**8)
    monkeypatch.setattr("discreet.certify.value.joint_sums.MOST_CELLS", 10)
    wider_low, wider_high = weighted_sum_payoff(mechanism)
    assert wider_low < low < high < wider_high < 0
    assert wider_low > 3 * low


def test_moments_bracket_the_errors_of_several_decision_makers(monkeypatch):
    """Each for himself, by the law that one of them needs: the sum of what each loses who is alone."""
    from discreet.certify.value.weighted_sums import _Through

    alone = wide(12, Fraction(3, 2))
    makers = (Decision(SquaredLoss(), RealActions(), weight=Fraction(2)), Decision(PinballLoss(Fraction(2, 3)), RealActions()))
    shared = replace(alone.kernel, actions=tuple((a, a) for a in alone.kernel.actions))
    both = replace(alone, problem=replace(alone.problem, decisions=makers), kernel=shared)
    low, high = weighted_sum_payoff(both)
    monkeypatch.setattr("discreet.certify.value.joint_sums.MOST_CELLS", 10)
    each = [weighted_sum_payoff(replace(alone, problem=replace(alone.problem, decisions=(maker,)))) for maker in makers]
    formed, made = [], _Through.__init__
    monkeypatch.setattr(_Through, "__init__", lambda self, *given: formed.append(1) or made(self, *given))
    wider = weighted_sum_payoff(both)
    assert wider[0] < low < high < wider[1] and len(formed) == 1
    assert abs(wider[0] - each[0][0] - each[1][0]) < Fraction(1, 10**30)


def test_a_likely_window_changes_nothing_that_can_be_seen(monkeypatch):
    """A stride of likely totals mistakes less than is known: both brackets hold the truth and nearly agree."""
    from discreet.certify.value import joint_sums

    mechanism = absolute(wide(40, clipped=True))
    assert joint_sums.joint_cells(sums_of(mechanism)) < 0.9 * joint_sums.joint_cells(sums_of(mechanism), exact=True)
    windowed = weighted_sum_payoff(mechanism)
    formed = joint_sums.joint_masses
    monkeypatch.setattr(joint_sums, "joint_masses", lambda sums, **_: formed(sums, exact=True))
    whole = weighted_sum_payoff(mechanism)
    assert whole[0] - windowed[0] < Fraction(1, 10**8)
    assert max(whole[0], windowed[0]) <= min(whole[1], windowed[1])


def test_payoffs_that_need_the_joint_law_say_when_it_is_too_large():
    mechanism = wide(300, clipped=True)
    whole = ListedActions(tuple(Fraction(k) for k in range(2701)))
    matching = replace(mechanism.problem, decisions=(Decision(MatchLoss(), whole),))
    with pytest.raises(TooLarge, match="joint law"):
        weighted_sum_payoff(replace(mechanism, problem=matching))
