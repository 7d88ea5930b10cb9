"""Claims for anybody's mechanism: proved or refuted with the edge in pure ε, (ε, δ) and ρ; best for anybody; beaten by how much."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.exchange import beaten, could_be_best, finite, judge
from discreet.exchange.judgement import by_count
from discreet.mechanisms.geometric import TruncatedGeometric
from discreet.model.actions import RealActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe
from discreet.views.judgement import beaten_view, judgement_view, screen_view

RESPONSE = finite([["3/4", "1/4"], ["1/4", "3/4"]], states=["no", "yes"], outputs=["says no", "says yes"], name="response")
KEEPS_ZERO = finite(
    [[1, 0, 0], ["3/8", "1/4", "3/8"], ["1/10", "3/10", "3/5"]], neighbours="counts", states_in="rows", name="keeps zero"
)


def count_problem(respondents: int, epsilon: Fraction = Fraction(1)) -> Problem:
    return Problem(
        Universe.of(respondents, (Fraction(0), Fraction(1))),
        ReplaceOne(),
        IidPrior((Fraction(7, 10), Fraction(3, 10))),
        SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(epsilon),
    )


def test_the_tight_epsilon_is_the_logarithm_of_an_exact_ratio() -> None:
    found = judge(RESPONSE)
    assert found.tight.ratio == 3 and found.tight.edge is not None
    low, high = found.tight.epsilon or (0, 0)
    assert low < Fraction(math.log(3)) + Fraction(1, 10**15) and high > Fraction(math.log(3)) - Fraction(1, 10**15)
    assert found.findings == () and not found.refuted


@pytest.mark.parametrize(("epsilon", "holds"), [("1.0986122886681098", True), ("1.0986122886681096", False)])
def test_pure_claims_are_decided_in_the_sixteenth_digit(epsilon: str, holds: bool) -> None:
    found = judge(RESPONSE, epsilon=epsilon)
    assert found.findings[0].holds is holds and found.refuted is not holds


def test_an_approximate_claim_is_refuted_with_edge_and_event() -> None:
    found = judge(KEEPS_ZERO, epsilon=5, delta="0.6249999999999999")
    counterexample = found.findings[0].counterexample
    assert counterexample is not None and counterexample.edge == ("1", "0")
    assert judge(KEEPS_ZERO, epsilon=5, delta="0.625").findings[0].holds


def test_rho_is_decided_outside_its_bracket() -> None:
    """Randomised response at ε = log 3 has ρ = ε·tanh(ε/2) = log(3)/2."""
    truth = math.log(3) / 2
    assert judge(RESPONSE, rho=truth * (1 + 1e-8)).findings[0].holds is True
    refuted = judge(RESPONSE, rho=truth * (1 - 1e-8)).findings[0]
    assert refuted.holds is False and refuted.counterexample is not None and refuted.counterexample.edge is not None
    infinite = judge(KEEPS_ZERO, rho=1000).findings[0]
    assert infinite.holds is False and "no ρ at all" in str(infinite.counterexample and infinite.counterexample.found)
    assert judge(finite([[1, 0], [1, 0]], states_in="rows"), rho=0).findings[0].holds


def test_every_currency_is_shown() -> None:
    found = judge(KEEPS_ZERO, at_epsilons=[1, 2], at_deltas=["0.7", "0.01"])
    assert [proof.epsilon for proof in found.deltas] == [1, 2]
    assert all(proof.tight_low == Fraction(5, 8) for proof in found.deltas)
    assert found.epsilons[0][1].upper < math.inf and found.epsilons[1][1].upper == math.inf
    leaks = by_count(KEEPS_ZERO, 1)
    assert len(leaks) == 4 and max(leaks, key=lambda leak: leak.high).first == "1"
    facts = judgement_view(found).facts
    assert facts["tight_epsilon"] is None and facts["rho"]["rho"][1] == math.inf


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"delta": 1}, "together with"),
        ({"epsilon": -1}, "out of range"),
        ({"epsilon": 1, "delta": 2}, "0 to 1"),
        ({"rho": "x"}, "not a finite"),
    ],
)
def test_what_is_no_claim_is_refused(claims: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        judge(RESPONSE, **claims)  # type: ignore[arg-type]


def test_binding_bounds_tell_whether_it_could_be_best_for_anybody() -> None:
    geometric = TruncatedGeometric(Fraction(1), 0, 3).table()
    rows = [[Fraction(w, geometric.denominator) for w in row] for row in geometric.weights]
    best = finite(rows, states_in="columns", neighbours="counts")
    assert could_be_best(best).could_be_optimal
    assert could_be_best(RESPONSE).could_be_optimal
    blurred = [[(rows[k][s] + Fraction(1, 4)) / 2 for s in range(4)] for k in range(4)]
    screen = could_be_best(finite(blurred, states_in="columns", neighbours="counts"))
    assert not screen.could_be_optimal and screen_view(screen).facts["best"]["not_extreme"]
    with pytest.raises(InputError, match="purely private"):
        could_be_best(KEEPS_ZERO)


def test_a_mechanism_on_the_statistic_is_beaten_by_what_the_design_gains() -> None:
    """The geometric is best for a count (SY Thm 3), a blurred one is not; both by exact expected losses."""
    problem = count_problem(3)
    geometric = TruncatedGeometric(Fraction(1), 0, 3).table()
    rows = [[Fraction(w, geometric.denominator) for w in row] for row in geometric.weights]
    best = beaten(finite(rows, states_in="columns", neighbours="counts"), problem)
    assert best.read == "statistic" and 0 <= best.at_most < Fraction(1, 10**4)
    assert abs(best.epsilon - 1) < Fraction(1, 10**9)
    blurred = [[(rows[k][s] + Fraction(1, 4)) / 2 for s in range(4)] for k in range(4)]
    found = beaten(finite(blurred, states_in="columns", neighbours="counts"), problem)
    assert 0 < found.at_least <= found.at_most and found.epsilon < best.epsilon
    assert beaten_view(found).facts["beaten"]["own"] == -found.value > beaten_view(found).facts["beaten"]["designed"]


def test_the_comparison_uses_the_neighbours_of_the_problem() -> None:
    """Stated to protect steps of one, read with values 0 and 2: a neighbour moves by two, so its true ε is twice as large."""
    problem = Problem(
        Universe.of(2, (Fraction(0), Fraction(2))),
        ReplaceOne(),
        IidPrior((Fraction(1, 2), Fraction(1, 2))),
        SumStatistic(),
        (Decision(SquaredLoss(), RealActions()),),
        PurePromise(Fraction(1)),
    )
    geometric = TruncatedGeometric(Fraction(1), 0, 4).table()
    rows = [[Fraction(w, geometric.denominator) for w in row] for row in geometric.weights]
    found = beaten(finite(rows, states_in="columns", neighbours="counts"), problem)
    assert abs(found.epsilon - 2) < Fraction(1, 10**9)


def test_states_that_are_not_the_problems_are_refused() -> None:
    with pytest.raises(InputError, match="not those of the problem"):
        beaten(RESPONSE, count_problem(3))
    with pytest.raises(InputError, match="no finite ε"):
        beaten(KEEPS_ZERO, count_problem(2))
