"""Lower bounds by cuts of Rényi divergences: whatever a witness says, nothing false follows; what does not fit is refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from mutation import survivors

import discreet
from discreet.certify.bounds import renyi
from discreet.certify.bounds.renyi import renyi_upper_bound
from discreet.certify.optimality import upper_bound
from discreet.design.concentrated.cuts import cut_witness
from discreet.design.concentrated.gaussian_sums import ListedScorer, best_gaussian_sum
from discreet.design.program.sections import ground
from discreet.errors import InputError, Refuted
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.model.certificate import (
    ROOT_BITS,
    Certificate,
    Multipliers,
    OptimalityClaim,
    PrivacyProof,
    RenyiWitness,
)
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.watch import SILENT

ONE = 1 << ROOT_BITS


def asked(actions: Any = "integer", rho: str = "1/2", respondents: int = 3) -> Problem:
    return discreet.problem(
        respondents=respondents, values=[0, 1], probabilities=["0.6", "0.4"], actions=actions, rho=rho, unit="person"
    ).problem


def found_for(problem: Problem) -> RenyiWitness:
    witness = cut_witness(ground(problem), SILENT)
    assert witness is not None
    return witness


@pytest.mark.parametrize("actions", ["integer", "real"])
@pytest.mark.parametrize("rho", ["1/20", "1/2", "3"])
def test_the_bound_lies_below_gaussian_noise_and_not_far(actions: str, rho: str) -> None:
    problem = asked(actions, rho)
    noisy = best_gaussian_sum(ListedScorer(ground(problem)), SILENT)
    lower = -renyi_upper_bound(problem, found_for(problem))
    assert 0 < lower <= noisy.loss * (1 + 1e-9)
    assert lower > noisy.loss * {"1/20": 0.9, "1/2": 0.8, "3": 0.3}[rho]


@pytest.mark.parametrize("seed", range(20))
def test_any_numbers_prove_nothing_false(seed: int) -> None:
    """A witness at random, or the best one disturbed: what it proves stays below what Gaussian noise loses."""
    dice = Random(seed)
    problem = asked("real" if seed % 2 else "integer")
    noisy = best_gaussian_sum(ListedScorer(ground(problem)), SILENT)
    witness = found_for(problem)
    cuts = tuple((p, q, int(weight * dice.choice([0.5, 1, 1.1, 2]))) for p, q, weight in witness.cuts)
    each = tuple(
        Multipliers(m.action, tuple((p, q, int(t * dice.uniform(0.97, 1.03))) for p, q, t in m.flows)) for m in witness.multipliers
    )
    disturbed = replace(witness, cuts=cuts, multipliers=each)
    assert -renyi_upper_bound(problem, disturbed) <= noisy.loss * (1 + 1e-9)


def small(**changes: Any) -> RenyiWitness:
    """One cut along the edge 0–1, at ratio 1 for every action."""
    flows = ((0, 1, ONE),)
    each = tuple(Multipliers(Fraction(a), flows) for a in range(4))
    return replace(RenyiWitness(None, 2, 1 << 20, ((0, 1, 1 << 10),), each), **changes)


WRONG: dict[str, Callable[[], Any]] = {
    "no edge": lambda: renyi_upper_bound(asked(), small(cuts=((0, 2, 1),))),
    "twice": lambda: renyi_upper_bound(asked(), small(cuts=((0, 1, 1), (0, 1, 1)))),
    "a ratio without a cut": lambda: renyi_upper_bound(asked(), small(cuts=((1, 0, 1),))),
    "two ratios": lambda: renyi_upper_bound(asked(), small(multipliers=(Multipliers(Fraction(0), ((0, 1, ONE), (0, 1, ONE))),))),
    "an order too close to one": lambda: renyi_upper_bound(asked(), small(root=4097)),
    "another promise": lambda: renyi_upper_bound(asked().with_promise(PurePromise(Fraction(1))), small()),
    "nodes that leave out actions": lambda: renyi_upper_bound(asked("real"), small(multipliers=small().multipliers[:3])),
    "an action that is none": lambda: renyi_upper_bound(asked(), small(multipliers=(Multipliers(Fraction(9), ((0, 1, ONE),)),))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_the_problem_is_refuted(wrong: str) -> None:
    with pytest.raises((Refuted, InputError)):
        WRONG[wrong]()


def merged(values: list[int], statistic: dict[str, Any]) -> Problem:
    """Three types of which the last two are as likely together as the second of `asked`."""
    return discreet.problem(
        respondents=3, values=values, probabilities=["0.6", "0.3", "0.1"], statistic=statistic, rho="1/2", unit="person"
    ).problem


def test_a_count_of_several_types_is_bounded_as_the_count_of_one() -> None:
    """A forger who says the same of a sum, whose types differ, or names a reduction that nobody knows, is refuted."""
    counted, summed = merged([0, 1, 2], {"kind": "count", "of": [1, 2]}), merged([0, 1, 2], {"kind": "sum"})
    witness = replace(found_for(asked()), reduction="merged-count")
    assert renyi_upper_bound(counted, witness) == renyi_upper_bound(asked(), replace(witness, reduction=None))
    for problem, forged in ((summed, witness), (counted, replace(witness, reduction="merged"))):
        with pytest.raises(Refuted):
            renyi_upper_bound(problem, forged)


def test_negative_numbers_are_refused() -> None:
    for change in ({"root": 0}, {"scale": 0}, {"cuts": ((0, 1, -1),)}, {"multipliers": (Multipliers(Fraction(0), ((0, 1, -1),)),)}):
        with pytest.raises(InputError):
            small(**change)


def test_ratio_one_and_a_cut_by_hand() -> None:
    """u = α, w = α − 1 at ratio 1: every bracket at 0 gains λα, every one at 1 loses λ(α − 1), and e^{α(α−1)ρ} is paid for."""
    problem = asked()
    weight = Fraction(1 << 10, 1 << 20)
    pull = weight * (Fraction(3, 2) - Fraction(1, 2))
    limit = renyi.rational_above_exp(Fraction(3, 4) * Fraction(1, 2), renyi.BITS)
    assert float(-renyi_upper_bound(problem, small())) == pytest.approx(float(pull - weight * limit), abs=1e-15)


def test_certificates_keep_the_witness() -> None:
    problem = merged([0, 1, 2], {"kind": "count", "of": [1, 2]})
    witness = small(reduction="merged-count")
    claim = OptimalityClaim(Fraction(-1), upper_bound(problem, witness), witness)
    proof = PrivacyProof(problem.promise, Fraction(0), Fraction(1, 2), None, None, 3, 4, "closed-form")
    document = certificate_document(Certificate("0" * 64, proof, claim))
    again = certificate_from_document(document)
    assert again.optimality is not None and upper_bound(problem, again.optimality.witness) == claim.bound
    for key in ("root", "cuts"):
        lacking = {k: v for k, v in document["optimality"]["witness"].items() if k != key}
        with pytest.raises(InputError, match="root or cuts"):
            certificate_from_document(document | {"optimality": document["optimality"] | {"witness": lacking}})


def test_no_comparison_of_the_bound_can_change_unnoticed() -> None:
    problems = [asked(), asked("real"), asked(respondents=1)]
    witnesses = [found_for(p) for p in problems]
    questions: list[Callable[[ModuleType], Any]] = [
        lambda module, p=p, w=w: repr(module.renyi_upper_bound(p, w)) for p, w in zip(problems, witnesses, strict=True)
    ]
    forms = [
        {}, {"root": 4096}, {"root": 4097}, {"root": 4095}, {"root": 1}, {"cuts": ((0, 2, 1),)}, {"cuts": ((1, 0, 1),)},
        {"cuts": ((0, 1, 1), (0, 1, 1))}, {"cuts": ((0, 1, 5), (1, 0, 7))}, {"cuts": ((0, 1, 5), (2, 1, 7))},
        {"multipliers": (Multipliers(Fraction(0), ((0, 1, ONE), (0, 1, ONE))),)},
    ]  # fmt: skip
    questions += [lambda module, form=form: repr(module.renyi_upper_bound(asked(), small(**form))) for form in forms]
    questions.append(lambda module: repr(module.renyi_upper_bound(asked().with_promise(PurePromise(Fraction(1))), small())))
    counted = merged([0, 1, 2], {"kind": "count", "of": [1, 2]})
    through = replace(witnesses[0], reduction="merged-count")
    questions.append(lambda module: repr(module.renyi_upper_bound(counted, through)))
    questions += [lambda module, n=n: module._power_up(3 << renyi.BITS - 1, n) for n in (1, 2, 3, 5)]
    assert survivors(Path(discreet.__file__).parent / "certify" / "bounds" / "renyi.py", questions) == []
