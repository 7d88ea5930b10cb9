"""Claims by Theorem 3 stay true where floats lose their digits: far from zero, extreme quantiles, cancelling payoffs.

Every accepted value is compared with the exact expected payoff, every bound with the value of an optimal mechanism.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.certify.bounds.theorems import geometric_bound, theorem_value
from discreet.certify.optimality import optimality
from discreet.certify.value.expected import expected_payoff
from discreet.errors import InputError
from discreet.model.actions import Actions, ListedActions, RealActions
from discreet.model.certificate import Counterexample, OptimalityClaim, TheoremWitness
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import GeometricKernel
from discreet.model.losses import FormulaLoss, PinballLoss, SquaredLoss, loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

N = 6


def geometric(
    decision: Decision,
    actions: list[Fraction],
    offset: Fraction = Fraction(0),
    epsilon: Fraction = Fraction(1),
    chance: Fraction = Fraction(3, 10),
) -> Mechanism:
    problem = Problem(
        Universe.of(N, (offset, offset + 1)),
        ReplaceOne(),
        IidPrior((1 - chance, chance)),
        SumStatistic(),
        (decision,),
        PurePromise(epsilon),
    )
    kernel = GeometricKernel(0, N, 1, rational_above_exp(-epsilon, 60), tuple(actions))
    return Mechanism(problem, LinearSummary((0, 1)), kernel, Guarantee(PurePromise(epsilon), "replace-one", problem.unit))


def both(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """The value that Theorem 3's checker accepts and its bound, after comparing the value with the truth."""
    value = theorem_value(mechanism, TheoremWitness("SY Thm 3"))
    assert value is not None
    low, high = expected_payoff(mechanism)
    assert value <= high
    bound = geometric_bound(mechanism.problem)
    assert bound >= low
    return value, bound


@pytest.mark.parametrize("kind", ["squared-error", "absolute-error", "pinball"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_far_origin_changes_nothing(kind: str, listed: bool) -> None:
    found = []
    for offset in (Fraction(0), Fraction(10**15), Fraction(10**17) + Fraction(1, 3)):
        acts = [N * offset + k for k in range(N + 1)]
        actions: Actions = ListedActions(tuple(acts)) if listed else RealActions()
        decision = Decision(loss_of(kind, quantile=Fraction(9, 10) if kind == "pinball" else None), actions)
        found.append(both(geometric(decision, acts, offset)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("rest", [Fraction(1, 10**17), Fraction(1, 10**20)])
@pytest.mark.parametrize("upper", [False, True])
def test_extreme_quantiles_keep_both_sides(rest: Fraction, upper: bool) -> None:
    decision = Decision(PinballLoss(1 - rest if upper else rest), RealActions())
    for action in range(N + 1):
        both(geometric(decision, [Fraction(action)] * (N + 1), chance=Fraction(1, 1000)))


@pytest.mark.parametrize(
    "payoff",
    [
        "(omega*a - a*a/2 + 100000000000000000000) - 100000000000000000000",
        "omega*a - (a + 100000000000000000000 - 100000000000000000000)**2/2",
        "(100000000000000000000 + 1 - 100000000000000000000)*omega*a - a*a/2",
    ],
)
def test_payoffs_that_cancel_are_bounded_not_believed(payoff: str) -> None:
    decision = Decision(FormulaLoss(payoff), RealActions(Fraction(-1), Fraction(8)))
    plain = Decision(FormulaLoss("omega*a - a*a/2"), RealActions(Fraction(-1), Fraction(8)))
    acts = [Fraction(k) for k in range(N + 1)]
    _, bound = both(geometric(decision, acts))
    value, _ = both(geometric(plain, acts))
    assert bound >= value


@pytest.mark.parametrize("epsilon", [Fraction(50), Fraction(800), Fraction(1, 10**18)])
def test_extreme_promises_are_still_judged(epsilon: Fraction) -> None:
    both(geometric(Decision(SquaredLoss(), RealActions()), [Fraction(k) for k in range(N + 1)], epsilon=epsilon))


def test_payoffs_of_high_degree_are_decided_soon() -> None:
    """A product of many factors has a derivative of thousands of parts: convexity is decided on its polynomial."""
    steep = Decision(FormulaLoss("*".join(["a"] * 79) + "*omega - a*a"), RealActions(Fraction(0), Fraction(8)))
    with pytest.raises(InputError):
        geometric_bound(geometric(steep, [Fraction(k) for k in range(N + 1)]).problem)


def test_payoffs_beyond_floats_are_a_counterexample_not_a_crash() -> None:
    huge = Decision(FormulaLoss("9" * 4000), RealActions(Fraction(0), Fraction(8)))
    made = geometric(huge, [Fraction(k) for k in range(N + 1)])
    claim = OptimalityClaim(Fraction(0), Fraction(0), TheoremWitness("SY Thm 3"))
    assert isinstance(optimality(made, claim), Counterexample)
