"""Cuts for players under ρ: no mechanism that keeps ρ loses less, whatever a witness says; what does not fit is refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from mutation import limited, survivors

import discreet
from discreet.certify.bounds.players import among_players, players_stage, players_upper_bound
from discreet.certify.bounds.renyi import cut_lower_bound
from discreet.certify.optimality import upper_bound
from discreet.design.concentrated.gaussian_sums import LawScorer, best_gaussian_sum
from discreet.design.concentrated.players import players_witness
from discreet.errors import InputError, Refuted
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.model.certificate import (
    ROOT_BITS,
    Certificate,
    Multipliers,
    OptimalityClaim,
    PlayersPart,
    PlayersWitness,
    PrivacyProof,
    RenyiWitness,
)
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.summary import Clamp
from discreet.watch import SILENT

ONE = 1 << ROOT_BITS
ZERO_PLAYS = ((0,), (2,))


def asked(respondents: int = 20, rho: str = "1/2", loss: str = "squared-error", **more: Any) -> Problem:
    return discreet.problem(
        respondents=respondents,
        values=more.get("values", [0, 1, 2]),
        probabilities=more.get("chances", ["0.5", "0.3", "0.2"]),
        decision=loss,
        actions="real",
        rho=rho,
        unit="person",
    ).problem


@cache
def found_for(problem: Problem) -> PlayersWitness:
    witness = players_witness(problem, SILENT)
    assert witness is not None
    return witness


@pytest.mark.parametrize(("rho", "share"), [("1/50", 0.6), ("1/2", 0.85), ("3", 0.35)])
def test_the_bound_lies_below_gaussian_noise_and_not_far(rho: str, share: float) -> None:
    problem = asked(12, rho)
    noisy = best_gaussian_sum(LawScorer(problem), SILENT).loss
    assert share * noisy < -players_upper_bound(problem, found_for(problem)) <= noisy * (1 + 1e-9)


def test_three_kinds_hide_more_where_one_replacement_tells_little() -> None:
    problem = asked(20, "1/50")
    noisy = best_gaussian_sum(LawScorer(problem), SILENT).loss
    assert len(found_for(problem).kinds) == 3
    assert 0.95 * noisy < -players_upper_bound(problem, found_for(problem)) <= noisy


def test_units_and_weights_change_nothing() -> None:
    """Values a thousand times as large lose a million times as much, by the same witness."""
    small, large = asked(12), asked(12, values=[7, 1007, 2007])
    heavy = replace(small, decisions=(replace(small.decision, weight=Fraction(3)),))
    bound = players_upper_bound(small, found_for(small))
    for other, factor in ((large, 10**6), (heavy, 3)):
        assert float(players_upper_bound(other, found_for(other))) == pytest.approx(factor * float(bound), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_any_numbers_prove_nothing_false(seed: int) -> None:
    """The best witness disturbed: what it proves stays below what Gaussian noise loses."""
    dice, problem = Random(seed), asked(12)
    noisy = best_gaussian_sum(LawScorer(problem), SILENT).loss
    witness = found_for(problem)
    parts = []
    for part in witness.parts:
        weights = tuple((p, q, int(weight * dice.choice([0.5, 1, 1.1, 2]))) for p, q, weight in part.cuts.cuts)
        each = tuple(
            Multipliers(m.action, tuple((p, q, int(t * dice.uniform(0.97, 1.03))) for p, q, t in m.flows))
            for m in part.cuts.multipliers
        )
        parts.append(replace(part, cuts=replace(part.cuts, cuts=weights, multipliers=each)))
    disturbed = replace(witness, parts=tuple(parts))
    assert 0 <= -players_upper_bound(problem, disturbed) <= noisy * (1 + 1e-9)


def test_a_longer_step_must_be_paid_with_its_square() -> None:
    """Near-miss: were moves of k players to keep kρ, a bound would lie above what Gaussian noise loses."""
    problem = asked(200, "1/50", values=[0, 1], chances=["0.5", "0.5"])
    noisy = best_gaussian_sum(LawScorer(problem), SILENT).loss
    witness = found_for(problem)
    (part,) = witness.parts
    assert part.step > 1 and part.cuts.box is not None
    few = among_players(problem, witness.kinds, part.players)
    stage = players_stage(few, part.cuts.box, part.step)
    paid, unpaid = (cut_lower_bound(few, part.cuts, stage, Fraction(factor, 50)) for factor in (part.step**2, part.step))
    assert 0.95 * noisy < paid <= noisy < unpaid


def small(**changes: Any) -> PlayersWitness:
    """Of four respondents at least two play; one cut from no to one player of the higher kind, at ratio 1 for every node."""
    box = Clamp((0, 0), (2, 2), 0)
    each = tuple(Multipliers(Fraction(a), ((0, 1, ONE),)) for a in range(3))
    cuts = RenyiWitness(box, 2, 1 << 20, ((0, 1, 1 << 10),), each)
    part = PlayersPart(changes.pop("players", 2), changes.pop("step", 1), replace(cuts, **changes.pop("cuts", {})))
    return replace(PlayersWitness(ZERO_PLAYS, (part,)), **changes)


def following(second: int) -> PlayersWitness:
    return replace(small(), parts=(*small().parts, replace(small().parts[0], players=second)))


def boxed(lower: tuple[int, ...], upper: tuple[int, ...], reference: int | None, rest: tuple[int, int] | None = None) -> Any:
    return lambda: players_upper_bound(asked(4), small(cuts={"box": Clamp(lower, upper, reference, rest)}))


GONE = asked(4, chances=["0.5", "0.5", "0"])
EQUAL = asked(4, values=[0, 1, 1])
WRONG: dict[str, Callable[[], Any]] = {
    "another promise": lambda: players_upper_bound(asked(4).with_promise(PurePromise(Fraction(1))), small()),
    "a type of no probability": lambda: players_upper_bound(GONE, small()),
    "a type that is none": lambda: players_upper_bound(asked(4), small(kinds=((0,), (3,)))),
    "a type twice": lambda: players_upper_bound(asked(4), small(kinds=((0,), (0,)))),
    "one kind": lambda: players_upper_bound(asked(4), small(kinds=((0,),))),
    "an empty kind": lambda: players_upper_bound(asked(4), small(kinds=((0,), ()))),
    "two values in a kind": lambda: players_upper_bound(asked(4), small(kinds=((0,), (1, 2)))),
    "kinds of one value": lambda: players_upper_bound(EQUAL, small(kinds=((1,), (2,)))),
    "more players than respondents": lambda: players_upper_bound(asked(1), small()),
    "parts that do not ascend": lambda: players_upper_bound(asked(4), following(2)),
    "no move of the step": lambda: players_upper_bound(asked(4), small(step=2)),
    "a box of another number of kinds": boxed((0, 0, 0), (2, 2, 2), 0),
    "a box without a rest": boxed((0, 0), (2, 2), None),
    "a rest within bounds": boxed((0, 0), (2, 2), 0, (0, 2)),
    "an absolute error of a table": lambda: players_upper_bound(asked(4, loss="match"), small()),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_the_problem_is_refuted(wrong: str) -> None:
    with pytest.raises((Refuted, InputError)):
        WRONG[wrong]()


@pytest.mark.parametrize("change", [{"players": 0}, {"step": 0}, {"cuts": {"box": None}}], ids=str)
def test_numbers_below_one_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        small(**change)


def test_one_cut_by_hand() -> None:
    """λα at no player of the higher kind, −λ(α − 1) at one, λe^{α(α−1)ρ} paid: times the chance that two or more play."""
    problem = asked(4)
    few = among_players(problem, ZERO_PLAYS, 2)
    part = small(cuts={"scale": 1 << 14}).parts[0]
    assert part.cuts.box is not None
    alone = cut_lower_bound(few, part.cuts, players_stage(few, part.cuts.box, 1), Fraction(1, 2))
    assert alone < 0 and players_upper_bound(problem, small()) == 0  # such a witness proves nothing: never less than that
    found = found_for(problem)
    chances = {m: sum(_chance(4, k) for k in range(m, end)) for m, end in _ends([p.players for p in found.parts], 5)}
    losses = {}
    for part in found.parts:
        few = among_players(problem, found.kinds, part.players)
        assert part.cuts.box is not None
        losses[part.players] = cut_lower_bound(few, part.cuts, players_stage(few, part.cuts.box, part.step), Fraction(1, 2))
    stated = sum(chances[m] * max(float(loss), 0.0) for m, loss in losses.items())
    assert float(-players_upper_bound(problem, found)) == pytest.approx(stated, rel=1e-6) and stated > 0


def _chance(n: int, k: int) -> float:
    from math import comb

    return comb(n, k) * 0.7**k * 0.3 ** (n - k)


def _ends(starts: list[int], last: int) -> list[tuple[int, int]]:
    return list(zip(starts, [*starts[1:], last], strict=True))


def test_certificates_keep_the_witness() -> None:
    problem = asked(12)
    witness = found_for(problem)
    claim = OptimalityClaim(Fraction(-9), upper_bound(problem, witness), witness)
    proof = PrivacyProof(problem.promise, Fraction(0), Fraction(1, 2), None, None, 3, 4, "closed-form")
    document = certificate_document(Certificate("0" * 64, proof, claim))
    again = certificate_from_document(document)
    assert again.optimality is not None and upper_bound(problem, again.optimality.witness) == claim.bound
    for key in ("kinds", "parts"):
        lacking = {k: v for k, v in document["optimality"]["witness"].items() if k != key}
        with pytest.raises(InputError, match="kinds or parts"):
            certificate_from_document(document | {"optimality": document["optimality"] | {"witness": lacking}})


def test_no_comparison_of_the_bound_can_change_unnoticed() -> None:
    problem = asked(4)
    witness = found_for(problem)
    merged = asked(4, values=[0, 2, 2])
    cases: list[Callable[[ModuleType], Any]] = [
        lambda module: module.players_upper_bound(problem, witness),
        lambda module: module.players_upper_bound(merged, replace(witness, kinds=((0,), (1, 2)))),
        lambda module: module.players_upper_bound(problem, replace(witness, kinds=((0,), (1,)))),
        lambda module: module.players_upper_bound(problem, following(3)),
        lambda module: module.players_upper_bound(problem, small(players=4)),
        lambda module: module.players_upper_bound(problem, small(players=5)),
        lambda module: module.players_upper_bound(problem, small(parts=())),
    ]
    cases += [lambda module, wrong=wrong: _under(module, WRONG[wrong]) for wrong in WRONG]
    for box, step in (
        (Clamp((0, 0, 0), (4, 4, 4), 0), 1),
        (Clamp((0, 1, 0), (9, 2, 1), 0), 1),
        (Clamp((0, 0, 0), (4, 4, 4), 2), 2),
    ):
        few = among_players(problem, ((0,), (1,), (2,)), 4)
        cases.append(lambda module, few=few, box=box, step=step: repr(module.players_stage(few, box, step)))
        for name, limit in (("MOST_STATES", 25), ("MOST_STATES", 24), ("MOST_STATES", 26), ("MOST_WORK", 400), ("MOST_WORK", 399)):
            ask = lambda module, few=few, box=box: repr(module.players_stage(few, box, 1))  # noqa: E731
            cases.append(lambda module, name=name, limit=limit, ask=ask: limited(module, name, limit, ask))
    path = Path(discreet.__file__).parent / "certify" / "bounds" / "players.py"
    assert survivors(path, cases) == []


def _under(module: ModuleType, wrong: Callable[[], Any]) -> Any:
    """What a mutant answers where the original refuses."""
    original = wrong.__globals__["players_upper_bound"]
    wrong.__globals__["players_upper_bound"] = module.players_upper_bound
    try:
        return wrong()
    finally:
        wrong.__globals__["players_upper_bound"] = original
