"""Designs carried over to a near prior: proved there anew, or not taken."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.certify import optimality, privacy
from discreet.design import design
from discreet.design.processes.carried import Finished, apart, carried_over, worth_trying
from discreet.design.questions.family import design_family
from discreet.design.reports import Among
from discreet.model.certificate import Certificate, OptimalityClaim
from discreet.model.decision import Decision, integer_actions
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, Prior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe


def learned(one: str, two: str, concentration: int = 0) -> Prior:
    p = Fraction(one), Fraction(two)
    shares = (1 - sum(p), *p)
    return DirichletMultinomialPrior(tuple(concentration * x for x in shares)) if concentration else IidPrior(shares)


def places(prior: Prior, respondents: int = 8, epsilon: str = "1") -> Problem:
    actions = integer_actions(Fraction(0), Fraction(2 * respondents))
    people = Universe.of(respondents, tuple(map(Fraction, range(3))))
    return Problem(people, ReplaceOne(), prior, SumStatistic(), (Decision(SquaredLoss(), actions),), PurePromise(Fraction(epsilon)))


def finished(problem: Problem, gap: float = 1e-4) -> Finished:
    found = design(problem, gap=gap, compare=False)
    return Finished(found.mechanism, found.certificate)


@pytest.fixture(scope="module")
def first() -> Finished:
    return finished(places(learned("0.09", "0.02")))


@pytest.mark.parametrize("concentration", [0, 60])
def test_a_near_prior_is_served_by_its_own_proof(concentration: int) -> None:
    """The certificate is that of the new problem: value and bound are others, and hold for whoever checks them."""
    made = finished(places(learned("0.09", "0.02", concentration)))
    near = places(learned("0.0901", "0.02001", concentration))
    found = carried_over(near, [made], 0.02)
    assert found is not None and found.relative_gap <= 0.02 and found.mechanism.problem == near
    assert found.mechanism.kernel == made.mechanism.kernel and found.reduction == "near prior"
    assert isinstance(privacy(found.mechanism), Certificate)
    claim, before = found.certificate.optimality, made.certificate.optimality
    assert claim is not None and before is not None and claim.value != before.value and claim.bound != before.bound
    assert optimality(found.mechanism, claim) == claim
    best = design(near, gap=1e-6, compare=False)
    assert float(found.lower_bound) <= float(best.loss) <= float(found.loss) + 1e-6


def test_what_was_proved_under_one_prior_proves_nothing_under_another(first: Finished) -> None:
    """Who copies the old numbers is refuted: the bound under the new prior is another."""
    near = places(learned("0.1", "0.025"))
    claim = first.certificate.optimality
    assert claim is not None
    forged = replace(first.mechanism, problem=near)
    assert not isinstance(optimality(forged, claim), OptimalityClaim)


def test_a_far_prior_a_small_gap_and_another_question_are_designed_anew(first: Finished) -> None:
    near, far = learned("0.0901", "0.02001"), learned("0.2", "0.02")
    assert carried_over(places(near), [first], 0.02) is not None
    for other in (places(far), places(near, respondents=9), places(near, epsilon="1/2"), places(near, epsilon="2")):
        assert carried_over(other, [first], 0.02) is None
    assert carried_over(places(near), [first], 1e-4) is None
    assert not worth_trying(places(learned("0.09", "0.02", 60)), first, 0.5)


def test_the_proof_decides_where_the_guess_lets_pass(first: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.design.processes.carried.STEEP", 0.0)
    far = places(learned("0.12", "0.02"))
    assert worth_trying(far, first, 0.01) and carried_over(far, [first], 0.01) is None


def test_priors_are_compared_by_their_largest_relative_difference() -> None:
    assert apart(learned("0.1", "0.02"), learned("0.1", "0.02")) == 0
    assert apart(learned("0.1", "0.02"), learned("0.1", "0.03")) == Fraction(1, 2)
    assert apart(learned("0.1", "0.02", 60), learned("0.1", "0.02", 30)) == 1
    assert apart(learned("0.1", "0.02", 60), learned("0.1", "0.02")) is None
    assert apart(learned("0.1", "0"), learned("0.1", "0")) is None


def test_strata_share_members_and_keep_them(tmp_path: Path) -> None:
    one = design_family(places(learned("0.09", "0.02")), [3, 5], gap=0.02, folder=tmp_path, workers=1)
    near = places(learned("0.09001", "0.02"))
    two = design_family(near, [3, 5], gap=0.02, folder=tmp_path, workers=1, nearby=[one.family])
    kernels = [[m.mechanism.kernel for m in made.family.members] for made in (one, two)]
    assert kernels[0] == kernels[1] and all(how.relative_gap <= 0.02 and not how.cached for how in two.made)
    assert [how.record.steps[0].name for how in two.made] == ["near prior"] * 2
    again = design_family(near, [3, 5], gap=0.02, folder=tmp_path, workers=1)
    assert all(how.cached for how in again.made)
    assert [m.mechanism.kernel for m in again.family.members] == kernels[1]


def test_whoever_watches_hears_which_part_of_the_whole_is_at_work() -> None:
    heard: list[str] = []

    class Listening:
        def report(self, **told: object) -> None:
            heard.append(str(told["message"]))

        def cancelled(self) -> bool:
            return True

    first_part = Among(Listening(), "stratum", 1, 8, 0.0)
    first_part.report(stage="member 1 of 80", message=None)
    Among(Listening(), "stratum", 3, 8, 0.0).report(stage="x", message="member: 3 of 80 done")
    assert heard[0] == "stratum 1 of 8" and first_part.cancelled()
    assert heard[1].startswith("stratum 3 of 8 (all: about ") and heard[1].endswith("left), member: 3 of 80 done")
