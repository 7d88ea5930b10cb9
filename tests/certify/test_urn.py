"""The urn bound re-proved: never above exact optima, at one with floats, strict about its witness."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from test_quotient import optimality_value, problem_of

from discreet.certify.bounds import urn as checker
from discreet.certify.bounds.urn import urn_of, urn_upper_bound
from discreet.design.ladder.bounds import urn_solver
from discreet.design.ladder.bounds.rungs import UrnBound
from discreet.design.ladder.bounds.urn import urn_bound, urn_program
from discreet.design.ladder.bounds.urn_forms import fitting, forms_of, likeliest
from discreet.design.ladder.climb import climb
from discreet.design.ladder.rung import Found, Height
from discreet.design.program.listed import programmed
from discreet.design.schedule import counted, now, spend
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.certificate import _witness, _witness_document
from discreet.files.problem import problem_from_document
from discreet.files.schema import Witness, read_shape
from discreet.model.actions import ListedActions
from discreet.model.certificate import Multipliers, UrnWitness
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.statistic import MeanStatistic
from discreet.watch import SILENT


def over(shares, values, respondents, concentration=20, **more):
    prior = DirichletMultinomialPrior(tuple(concentration * Fraction(p) for p in shares))
    return replace(problem_of(shares, values, respondents, **more), prior=prior)


def proposed(problem, weights=None, leave_out=1e-9, loss=None):
    """The float bound and its witness."""
    forms = tuple(() if weights is None else w if isinstance(w, tuple) else (w,) for w in weights or problem.people.values)
    program = urn_program(urn_of(problem), likeliest(problem), forms, leave_out)
    found = urn_bound(problem, program, 0.6 * program.whole if loss is None else loss, 600.0)
    return found.lower_bound, found.witness


@pytest.fixture(scope="module")
def example():
    problem = over(["0.7", "0.2", "0.1"], [0, 1, 3], 5)
    return problem, *proposed(problem)


@pytest.mark.parametrize(
    ("shares", "values", "respondents", "epsilon", "weights", "near"),
    [
        (["0.7", "0.2", "0.1"], [0, 1, 3], 5, 1, (0, 1, 2), 0.95),
        (["0.6", "0.2", "0.1", "0.1"], [0, 1, 2, 3], 3, 1, ((0, 0), (0, 0), (1, 0), (0, 1)), 0.95),
        (["0.7", "0.2", "0.1"], [0, 1, 3], 5, Fraction(1, 4), None, 0.97),
        (["0.2", "0.5", "0.3"], [-2, 0, 1], 4, 2, (0, 1, 2), 0.45),
    ],
)
def test_never_above_the_optimum_and_near_it(shares, values, respondents, epsilon, weights, near):
    actions = np.linspace(min(values) * respondents, max(values) * respondents, 61)
    for prior in ("urn", "independent"):
        problem = over(shares, values, respondents, epsilon=epsilon)
        if prior == "independent":
            problem = problem_of(shares, values, respondents, epsilon=epsilon)
        grid = ListedActions(tuple(Fraction(float(a)).limit_denominator(1000) for a in actions))
        listed = replace(problem, decisions=(replace(problem.decision, actions=grid),))
        best = -optimality_value(listed, programmed(listed, 1e-7))
        floats, witness = proposed(problem, weights, loss=best)
        certified = -float(urn_upper_bound(problem, witness))
        assert certified <= best and math.isclose(certified, floats, rel_tol=1e-6)
        assert certified > near * best


def test_moments_of_states_are_those_of_all_databases():
    """Exact sums over all orders in which respondents may be drawn from the urn."""
    problem = over(["0.5", "0.2", "0.2", "0.1"], [0, 1, 2, 5], 4)
    urn, weights = urn_of(problem), ((0,), (1,), (2,), (2,))
    states = {}
    for drawn in product(range(4), repeat=4):
        chance, n = Fraction(1), [0] * 4
        for t in drawn:
            chance *= (urn.contents[t] + n[t]) / (20 + sum(n))
            n[t] += 1
        key = (n[0], sum(w[0] * k for w, k in zip(weights, n, strict=True)))
        counts, second = states.setdefault(key, ([Fraction(0)] * 4, [Fraction(0)]))
        for i, k in enumerate(n):
            counts[i] += chance * k
        second[0] += chance * sum((k * (v - urn.centre) for k, v in zip(n, urn.values, strict=True)), Fraction(0)) ** 2
    prior = checker._Prior(urn, UrnWitness(0, weights, tuple(states), 1, ()))
    for key, (counts, second) in states.items():
        assert prior.moments(key) == (counts, second[0])
    assert prior.moments((5, 0)) == ([0] * 4, 0) and prior.moments((2, 9)) == ([0] * 4, 0)


def test_other_units_and_statistics(example):
    problem, floats, _ = example
    heavy = replace(problem, decisions=(replace(problem.decision, weight=Fraction(3)),))
    three, heavier = proposed(heavy, loss=3 * 2.0)
    assert math.isclose(-float(urn_upper_bound(heavy, heavier)), three, rel_tol=1e-8)
    assert math.isclose(three, 3 * floats, rel_tol=0.02)
    mean = replace(problem, statistic=MeanStatistic())
    one, smaller = proposed(mean)
    assert math.isclose(-float(urn_upper_bound(mean, smaller)), one, rel_tol=1e-8)
    assert math.isclose(25 * one, floats, rel_tol=0.02)


def test_any_multipliers_prove_something_and_none_too_much(example):
    """A forger may write any multipliers: the bound stays below what the best mechanism loses."""
    problem, floats, witness = example
    rng = np.random.default_rng(3)
    for _ in range(6):
        forged = tuple(
            replace(m, flows=tuple((s, k, int(x * float(rng.choice([0.5, 1.0, 2.0])))) for s, k, x in m.flows))
            for m in witness.multipliers
        )
        assert -float(urn_upper_bound(problem, replace(witness, multipliers=forged))) <= floats * 1.02


def test_witnesses_that_do_not_fit_are_refuted(example, monkeypatch):
    problem, _, witness = example
    nodes = witness.multipliers
    used = next(s for s, place, _ in nodes[3].flows if place >= 1 and (place - 1) % 2 == 0 and witness.states[s][0] < 4)
    after = witness.states.index((witness.states[used][0] + 1,))
    elsewhere = tuple((99,) if h == after else state for h, state in enumerate(witness.states))
    for bad in (
        replace(witness, states=(witness.states[1], *witness.states[1:])),
        replace(witness, weights=(*witness.weights, ())),
        replace(witness, multipliers=nodes[1:]),
        replace(witness, multipliers=nodes[:-1]),
        replace(witness, multipliers=nodes[::-1]),
        replace(witness, multipliers=()),
        replace(witness, multipliers=(replace(nodes[0], action="low"), *nodes[1:])),
        replace(witness, states=elsewhere),
    ):
        with pytest.raises(Refuted):
            urn_upper_bound(problem, bad)
    with pytest.raises(Refuted, match="condition"):
        urn_upper_bound(over(["0.7", "0.2", "0.1"], [0, 1, 3], 5, kind="absolute-error"), witness)
    for wrong in (
        {"states": ((1, 2),)}, {"states": ()}, {"scale": 0}, {"reference": 3}, {"reference": -1},
        {"multipliers": (replace(nodes[0], flows=((0, 1, 5),)),)}, {"multipliers": (replace(nodes[0], flows=((0, 7, 5),)),)},
        {"multipliers": (replace(nodes[0], flows=((0, 3, -5),)),)}, {"multipliers": (replace(nodes[0], flows=((99, 0, 5),)),)},
    ):  # fmt: skip
        with pytest.raises(InputError):
            replace(witness, **wrong)
    monkeypatch.setattr(checker, "MOST_WORK", 10)
    with pytest.raises(TooLarge):
        urn_upper_bound(problem, witness)


def test_products_of_a_million_respondents_are_refused_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A witness of one state asked for a list of a million products, the last of twenty million binary digits."""

    def begun(*_: object) -> None:
        raise AssertionError("a product was formed")

    monkeypatch.setattr(checker, "_rising", begun)
    witness = UrnWitness(0, ((0,), (1,)), ((1, 0),), 1, (Multipliers(Fraction(0), ()), Multipliers(Fraction(10**6), ())))
    for kind in ({"kind": "exchangeable", "concentration": ["3", "1"]}, {"kind": "iid", "probabilities": ["3/4", "1/4"]}):
        document = {
            "data": {"respondents": 10**6, "values": [0, 1]},
            "prior": kind,
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "real"},
            "privacy": {"epsilon": "1", "unit": "person"},
        }
        with pytest.raises(TooLarge, match="too long for so many"):
            urn_upper_bound(problem_from_document(document), witness)
        with pytest.raises(AssertionError):
            urn_upper_bound(problem_from_document(document | {"data": {"respondents": 1000, "values": [0, 1]}}), witness)


def test_a_witness_survives_its_file(example):
    _, _, witness = example
    document = json.loads(json.dumps(_witness_document(witness)))
    found = _witness(read_shape(Witness, document, "The witness"))
    assert isinstance(found, UrnWitness) and _witness_document(found) == document and found.states == witness.states
    for key in ("reference", "weights", "states"):
        with pytest.raises(InputError, match=r"lacks"):
            _witness(read_shape(Witness, {k: v for k, v in document.items() if k != key}, "The witness"))


def test_six_types_and_a_small_epsilon_are_closed_by_one_count():
    """9.5 % by the chain: a mechanism loses 25.878."""
    shares = ["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"]
    problem = over(shares, list(range(6)), 20, epsilon=Fraction(1, 4))
    floats, witness = proposed(problem, None, 3e-3, loss=25.88)
    assert 25.7 < floats < 25.878
    assert math.isclose(-float(urn_upper_bound(problem, witness)), floats, rel_tol=1e-7)


def test_the_ladder_climbs_it_where_the_prior_is_an_urn():
    problem = over(["0.7", "0.2", "0.1"], [0, 1, 3], 8, epsilon=Fraction(1, 4))
    with counted():
        proposal = climb(problem, seconds=8.0, gap=1e-3)
    chain, reached = proposal.rungs[0].lower_bound, [rung for rung in proposal.rungs if rung.name == "urn bound"]
    assert reached and isinstance(proposal.witness, UrnWitness)
    assert chain < 0.99 * reached[0].lower_bound
    assert math.isclose(-float(urn_upper_bound(problem, proposal.witness)), max(r.lower_bound for r in reached), rel_tol=1e-6)
    independent = problem_of(["0.7", "0.2", "0.1"], [0, 1, 3], 8, epsilon=Fraction(1, 4))
    assert UrnBound().why_not(problem) is None and UrnBound().why_not(independent) is not None


def test_sums_have_the_levels_that_leave_least_within_classes():
    shares = ["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"]
    forms = forms_of(over(shares, list(range(6)), 20))
    assert forms[0] == ((),) * 6 and forms[1] == ((0,), (0,), (1,), (1,), (1,), (1,))
    assert forms[2] == ((0,), (0,), (1,), (2,), (2,), (2,)) and forms[3] == ((0, 0), (0, 0), (1, 0), (0, 1), (0, 1), (0, 1))
    assert forms_of(over(["0.2", "0.5", "0.3"], [-2, 0, 1], 4)) == [((), (), ()), ((0,), (0,), (1,))]


def test_time_goes_to_nodes_as_well_as_to_states():
    """With states alone 10.885 was the end at twenty respondents, however much time was left; nodes were worth a percent."""
    shares = ["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"]
    problem = over(shares, list(range(6)), 20)
    with counted():
        few, more, most = (fitting(problem, forms_of(problem)[3], 11.25, seconds) for seconds in (40.0, 80.0, 400.0))
    assert few.unproved > more.unproved > most.unproved
    assert few.nodes < more.nodes and len(more.program.states) < len(most.program.states)
    with counted():
        assert fitting(problem, forms_of(problem)[3], 11.25, 1.0) is None


def test_nearer_nodes_prove_more():
    problem = over(["0.7", "0.2", "0.1"], [0, 1, 3], 5, epsilon=2)
    program = urn_program(urn_of(problem), 0, ((0,), (1,), (2,)), 1e-9)
    far, near = (urn_bound(problem, program, 1.1, 600.0, apart=apart) for apart in (0.25, 0.0625))
    assert len(near.witness.multipliers) > len(far.witness.multipliers)
    assert -urn_upper_bound(problem, near.witness) > -urn_upper_bound(problem, far.witness)


def test_a_program_whose_steps_are_too_slow_makes_way_for_a_smaller_one(monkeypatch):
    """Such a one was cut off in the middle on a busy machine, where its multipliers prove nothing."""
    problem = over(["0.7", "0.2", "0.1"], [0, 1, 3], 8, epsilon=Fraction(1, 4))
    with counted():
        height = Height(problem, 1e-3, SILENT)
        height.take(Found(loss=5.0))
        monkeypatch.setattr(urn_solver, "spend", lambda seconds: spend(8 * seconds))
        found = UrnBound().climb(height, 16.0)
        assert now() < 16.0
    assert height.urn_pace >= 4.7
    assert found is not None and found.lower_bound > 0


@pytest.mark.parametrize("weight", [Fraction(1, 10**30), Fraction(10**30)])
def test_multipliers_are_as_good_in_any_unit(example, weight):
    """They were dropped as too faint for tiny weights, and overflowed for huge ones."""
    problem, floats, _ = example
    other = replace(problem, decisions=(replace(problem.decision, weight=weight),))
    program = urn_program(urn_of(other), likeliest(other), ((), (), ()), 1e-9)
    found = urn_bound(other, program, 0.6 * program.whole * float(weight), 600.0)
    assert -urn_upper_bound(other, found.witness) / weight == pytest.approx(floats, rel=1e-4)
