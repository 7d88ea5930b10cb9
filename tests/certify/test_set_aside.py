"""The set-aside bound re-proved: never above exact optima, at one with floats, strict about its witness."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from test_quotient import optimality_value, problem_of, random_problem

from discreet.certify.bounds import set_aside as checker
from discreet.certify.bounds.set_aside import set_aside_upper_bound
from discreet.design.ladder.bounds.set_aside import Fitted, forms_of, knots_of, set_aside_bound, set_aside_program
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.program.listed import programmed
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.certificate import _witness, _witness_document
from discreet.files.schema import Witness, read_shape
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import Multipliers, SetAsideWitness
from discreet.model.iid_sum import iid_sum
from discreet.model.priors import DirichletMultinomialPrior
from discreet.model.statistic import MeanStatistic

INSTANCES = 6


def proposed(problem, forms, leave_out=1e-9, loss=None):
    """The float bound and its witness."""
    reader = Reader(problem)
    program = set_aside_program(reader.law, forms, leave_out)
    variance = float(problem.decision.weight * reader.law.variance * reader.law.respondents)
    about = 0.5 * variance if loss is None else loss
    fitted = Fitted(program, knots_of(reader, about / float(problem.decision.weight)))
    found = set_aside_bound(reader, fitted, about, 1e-3, 60.0)
    return found.lower_bound, found.witness


def counted(types):
    """Every type but the first is counted: states are histograms."""
    return [tuple(int(t == k) for k in range(1, types)) for t in range(types)]


@pytest.fixture(scope="module")
def example():
    problem = problem_of([Fraction(5, 10), Fraction(2, 10), Fraction(2, 10), Fraction(1, 10)], [0, 1, 2, 5], 6)
    return problem, *proposed(problem, [(0,), (1,), (2,), (2,)])


def test_never_above_the_optimum_of_small_problems():
    rng = np.random.default_rng(7)
    shares = []
    for _ in range(INSTANCES):
        problem = random_problem(rng)
        if problem.universe.respondents < 2:
            continue
        best = -optimality_value(problem, programmed(problem, 1e-7))
        types = problem.universe.types
        forms = counted(types) if types < 4 else [(t,) for t in range(types)]
        floats, witness = proposed(problem, forms, loss=best)
        certified = -float(set_aside_upper_bound(problem, witness))
        assert certified <= best + 1e-12
        assert math.isclose(max(certified, 0.0), floats, rel_tol=1e-6, abs_tol=1e-6 * best)
        shares.append(certified / best)
    assert np.median(shares) > 0.9  # listed actions lose more than the real ones that are bounded


def test_histograms_as_states_reach_the_optimum_of_real_actions():
    problem = problem_of(["0.89", "0.09", "0.02"], [0, 1, 2], 10)
    floats, _ = proposed(problem, counted(3), 1e-6, loss=0.98)
    assert 0.965 < floats < 0.97889  # 0.97889 is the optimum


def test_other_units_weights_and_statistics(example):
    problem, floats, witness = example
    assert math.isclose(-float(set_aside_upper_bound(problem, witness)), floats, rel_tol=1e-9)
    listed = replace(problem, decisions=(replace(problem.decision, actions=ListedActions((Fraction(0), Fraction(3)))),))
    assert set_aside_upper_bound(listed, witness) == set_aside_upper_bound(problem, witness)
    heavy = replace(problem, decisions=(replace(problem.decision, weight=Fraction(3)),))
    three, heavier = proposed(heavy, [(0,), (1,), (2,), (2,)], loss=3 * 3.0)
    assert math.isclose(-float(set_aside_upper_bound(heavy, heavier)), three, rel_tol=1e-9)
    mean = replace(problem, statistic=MeanStatistic())
    one, smaller = proposed(mean, [(0,), (1,), (2,), (2,)])
    assert math.isclose(-float(set_aside_upper_bound(mean, smaller)), one, rel_tol=1e-9)
    assert math.isclose(36 * one, floats, rel_tol=0.02)


def test_any_prices_prove_something_and_none_too_much(example):
    """A forger may write any prices: the bound stays below what a mechanism is known to lose."""
    problem, floats, witness = example
    rng = np.random.default_rng(3)
    for _ in range(5):
        factor = float(rng.choice([-1.0, 0.0, 0.5, 1.5, 10.0]))
        levels = tuple((s, t, int(x * factor)) for s, t, x in witness.levels)
        forms = tuple(
            replace(m, flows=tuple((s, k, int(x * float(rng.choice([0.5, 1.0, 2.0])))) for s, k, x in m.flows))
            for m in witness.multipliers
        )
        for forged in (replace(witness, levels=levels), replace(witness, multipliers=forms)):
            assert -float(set_aside_upper_bound(problem, forged)) <= floats * 1.05


def test_witnesses_that_do_not_fit_are_refuted(example, monkeypatch):
    problem, _, witness = example
    nodes = witness.multipliers
    wrong = [
        replace(witness, states=(witness.states[1], *witness.states[1:])),
        replace(witness, weights=witness.weights[:-1], levels=()),
        replace(witness, multipliers=nodes[1:]),
        replace(witness, multipliers=nodes[:-1]),
        replace(witness, multipliers=nodes[::-1]),
        replace(witness, multipliers=()),
        replace(witness, multipliers=(replace(nodes[0], action="low"), *nodes[1:])),
    ]
    for bad in wrong:
        with pytest.raises(Refuted):
            set_aside_upper_bound(problem, bad)
    over = replace(problem, prior=DirichletMultinomialPrior(tuple(map(Fraction, (5, 2, 2, 1)))))
    absolute = problem_of(problem.prior.probabilities, [0, 1, 2, 5], 6, kind="absolute-error")
    alone = problem_of(problem.prior.probabilities, [0, 1, 2, 5], 1)
    for other in (over, absolute, alone):
        with pytest.raises(Refuted, match="condition"):
            set_aside_upper_bound(other, witness)
    monkeypatch.setattr(checker, "MOST_WORK", 10)
    with pytest.raises(TooLarge):
        set_aside_upper_bound(problem, witness)
    for rows in ({"states": ((1, 2),)}, {"states": ()}, {"scale": 0}, {"levels": ((0, 9, 1),)}, {"levels": ((10**6, 0, 1),)}):
        with pytest.raises(InputError):
            replace(witness, **rows)
    with pytest.raises(InputError):
        replace(witness, multipliers=(Multipliers(Fraction(0), ((0, 1, 1),)),))


def test_many_weights_that_all_differ_are_refused_before_any_work(monkeypatch):
    """The adversary: ten kilobytes of types and states, of which every two types have a sum of their own."""
    types, respondents = 150, 40
    problem = problem_of([Fraction(1, types)] * types, list(range(types)), respondents)
    nodes = (Multipliers(Fraction(0), ()), Multipliers(Fraction(types * respondents), ()))
    strange = tuple((t * t,) for t in range(types))
    states = tuple((s,) for s in range(1000))
    monkeypatch.setattr(checker, "sum_masses", lambda *_: pytest.fail("a law was formed"))
    with pytest.raises(TooLarge, match="set-aside"):
        set_aside_upper_bound(problem, SetAsideWitness(strange, states, 1, (), nodes))
    assert checker.work_of(strange, 1000, 2) > checker.MOST_WORK > checker.work_of([(t,) for t in range(types)], 500, 20)


def test_a_weight_of_billions_is_refused_before_a_list_is_made():
    """The adversary: one long weight, in a file of seven hundred bytes that asked for gigabytes."""
    problem = problem_of([Fraction(1, 2), Fraction(1, 2)], [0, 1], 6)
    nodes = (Multipliers(Fraction(0), ()), Multipliers(Fraction(6), ()))
    for far in (3 * 10**9, 10**30):
        with pytest.raises(TooLarge, match="too many likely values"):
            set_aside_upper_bound(problem, SetAsideWitness(((0,), (far,)), ((0,),), 1, (), nodes))


def test_the_second_moment_at_a_state_is_that_of_all_databases():
    """Types of equal weight and different values, one after the other and together."""
    p, v, weights = [Fraction(x, 10) for x in (4, 3, 2, 1)], [0, 1, 2, 5], [(0, 1), (1, 0), (1, 0), (1, 0)]
    law = iid_sum(problem_of(p, v, 4))
    near, nearer = (checker._Masses(law, weights, 4 - k) for k in (1, 2))
    moment, true = checker._SecondMoment(law, weights), {}
    for database in product(range(4), repeat=4):
        state = tuple(sum(weights[t][k] for t in database) for k in (0, 1))
        omega = sum(v[t] for t in database)
        true[state] = true.get(state, 0) + math.prod(p[t] for t in database) * (omega - 4 * law.mean) ** 2
    for state, expected in true.items():
        assert 0 <= expected - moment.at(state, near, nearer) < Fraction(1, 2**140)


def test_a_witness_survives_its_file(example):
    _, _, witness = example
    document = json.loads(json.dumps(_witness_document(witness)))
    found = _witness(read_shape(Witness, document, "The witness"))
    assert isinstance(found, SetAsideWitness) and _witness_document(found) == document
    assert list(found.levels) == list(witness.levels) and found.states == witness.states
    for key in ("weights", "states", "levels"):
        with pytest.raises(InputError, match=r"lacks"):
            _witness(read_shape(Witness, {k: v for k, v in document.items() if k != key}, "The witness"))


def test_forms_follow_the_weights_of_a_good_sum():
    problem = problem_of(["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"], [0, 1, 2, 3, 4, 5], 20)
    reader = Reader(problem)
    alone, *_, both, beside = forms_of(reader, (0, 12, 24, 24, 24, 24))
    assert alone == [(0,), (1,), (2,), (2,), (2,), (2,)]
    assert both == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)] and beside[3:] == [(3, 0), (3, 1), (3, 2)]
    unclipped = forms_of(reader, (0, 1, 2, 3, 4, 5))[-2]
    assert [sum(pair) for pair in unclipped] == [0, 1, 2, 3, 4, 5] and unclipped[-1] == (3, 2)
    brackets = Reader(problem_of(["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"], [0, 1, 3, 10, 40, 100], 20))
    assert all(set(w) <= {0, 1} for w in zip(*[pair[1:] for pair in forms_of(brackets, (0, 1, 2, 2, 2, 2))[-1]], strict=True))
    knots = knots_of(reader, 8.1)
    assert knots[0] <= -20 * 0.375 + 1e-9 and knots[-1] >= 100 - 7.5 - 1e-9 and RealActions() == problem.decision.actions
