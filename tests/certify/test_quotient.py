"""The quotient bound re-proved: never above exact optima, at one with floats, strict about its witness."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from averaging import quotient_bound

from discreet.certify import optimality
from discreet.certify.bounds import quotient
from discreet.certify.bounds.averaged_pulls import AveragedRow, pulled
from discreet.certify.bounds.quotient import quotient_upper_bound
from discreet.certify.bounds.state_masses import BITS, GroupLaw
from discreet.design.ladder.bounds.quotient_witness import quotient_witness
from discreet.design.ladder.climb import climb
from discreet.design.program.listed import programmed
from discreet.errors import DiscreetError, InputError, Refuted, TooLarge
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import (
    Certificate,
    Counterexample,
    Multipliers,
    OptimalityClaim,
    PrivacyProof,
    QuotientWitness,
)
from discreet.model.decision import Decision
from discreet.model.guarantee import Guarantee
from discreet.model.losses import loss_of
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import MeanStatistic, SumStatistic
from discreet.model.universe import Universe

INSTANCES = 200


def problem_of(p, v, respondents, epsilon=1, actions=None, kind="squared-error", statistic=None):
    listed = RealActions() if actions is None else ListedActions(tuple(map(Fraction, actions)))
    universe = Universe(tuple(map(Fraction, v)), respondents, respondents)
    decision = Decision(loss_of(kind), listed)
    prior = IidPrior(tuple(map(Fraction, p)))
    return Problem(universe, ReplaceOne(), prior, statistic or SumStatistic(), (decision,), PurePromise(Fraction(epsilon)))


def proposed(problem, groups=None, leave_out=1e-9, targets=None):
    """The float bound and its witness."""
    p, v = problem.prior.probabilities, problem.statistic.weights(problem.universe)
    decision = problem.decision
    actions = None if problem.real_actions else [float(a) for a in decision.actions]
    found = quotient_bound(p, v, problem.universe.respondents, float(problem.epsilon), actions, targets, groups, leave_out)
    ends = problem.omega_range if problem.real_actions else None
    return found, quotient_witness(found, range(len(p)), ends)


def random_problem(rng):
    """Few types with random, possibly negative or fractional values, and a list of actions."""
    types = int(rng.integers(2, 5))
    counts = rng.multinomial(100, rng.dirichlet(np.ones(types))) + 1
    p = [Fraction(int(c), int(counts.sum())) for c in counts]
    v = [Fraction(int(x), 2) for x in rng.choice(np.arange(-4, 9), size=types, replace=False)]
    respondents = int(rng.integers(1, 5 if types < 4 else 4))
    ends = respondents * min(v), respondents * max(v)
    actions = sorted({ends[0] + (ends[1] - ends[0]) * Fraction(k, 8) for k in range(9)})
    return problem_of(p, v, respondents, Fraction(str(rng.choice([0.2, 0.5, 1.0, 2.0]))), actions)


@pytest.fixture(scope="module")
def example():
    problem = problem_of([Fraction(5, 10), Fraction(2, 10), Fraction(2, 10), Fraction(1, 10)], [0, 1, 2, 5], 6)
    return problem, *proposed(problem)


def test_never_above_the_optimum_of_hundreds_of_small_problems():
    rng = np.random.default_rng(5)
    shares, together = [], []
    for _ in range(INSTANCES):
        problem = random_problem(rng)
        truth = programmed(problem, 1e-7)
        best = -optimality_value(problem, truth)
        p = problem.prior.probabilities
        reference = max(range(len(p)), key=lambda t: p[t])
        alone = [[t] for t in range(len(p)) if t != reference]
        for groups in (None, alone):
            found, witness = proposed(problem, groups)
            certified = -float(quotient_upper_bound(problem, witness))
            assert certified <= best + 1e-12
            assert math.isclose(certified, found.lower_bound, rel_tol=1e-6, abs_tol=1e-9)
        shares.append(certified / best)
        together.append(len(p))
    assert np.median(shares) > 0.97
    assert min(share for share, types in zip(shares, together, strict=True) if types == 2) > 1 - 1e-5


def optimality_value(problem, proposal):
    mechanism = bare(problem, proposal)
    from discreet.certify.value.expected import expected_payoff

    return float(expected_payoff(mechanism)[0])


def bare(problem, proposal):
    guarantee = Guarantee(PurePromise(problem.epsilon), "replace-one", problem.unit)
    return Mechanism(problem, proposal.summary, proposal.kernel, guarantee)


def test_real_actions_means_and_other_errors():
    p, v = ["0.89", "0.09", "0.02"], [0, 1, 2]
    found, witness = proposed(problem_of(p, v, 10), leave_out=1e-7)
    assert math.isclose(-float(quotient_upper_bound(problem_of(p, v, 10), witness)), found.lower_bound, rel_tol=1e-8)
    mean = problem_of(p, v, 10, statistic=MeanStatistic())
    found, witness = proposed(mean, leave_out=1e-7)
    assert math.isclose(-float(quotient_upper_bound(mean, witness)), found.lower_bound, rel_tol=1e-8)
    # nodes that are no listed actions bound all real actions, hence the listed ones
    listed = problem_of(p, v, 10, actions=[0, 2, 5])
    _, witness = proposed(problem_of(p, v, 10), leave_out=1e-7)
    assert quotient_upper_bound(listed, witness) == quotient_upper_bound(problem_of(p, v, 10), witness)
    # the lemma knows no loss: any multipliers bound an absolute error as well
    absolute = problem_of(p, v, 4, actions=range(9), kind="absolute-error")
    _, witness = proposed(problem_of(p, v, 4, actions=range(9)))
    assert -quotient_upper_bound(absolute, witness) <= -optimality_value(absolute, programmed(absolute, 1e-7))


def test_the_lemma_on_masses_of_a_private_mechanism(example):
    """M(s) by enumeration satisfies every row that the checker uses, and violates those of a smaller ε."""
    problem, _, witness = example
    setting = quotient._setting(problem, witness)
    rows = quotient._rows(setting, witness)
    rng = np.random.default_rng(1)
    tight = 0.0
    for _ in range(10):
        masses = masses_of_one_output(problem, witness, rng, 1.0)
        for (state, _), row in rows.items():
            own = row.own * masses[state]
            before = sum(c * masses[h] for h, c in row.other)
            assert before <= math.e * own * (1 + 1e-12)
            assert not row.whole or own <= math.e * before * (1 + 1e-12)
            tight = max(tight, before / own, own / before if row.whole else 0.0)
    assert tight > math.exp(0.8)


def masses_of_one_output(problem, witness, rng, epsilon):
    n, types = problem.universe.respondents, problem.universe.types
    histograms = problem.finest().vectors
    centre = histograms[rng.integers(len(histograms), size=3)]
    away = np.abs(histograms[:, None, :] - centre[None]).sum(axis=2).min(axis=1) / 2
    p = [float(x) for x in problem.prior.probabilities]
    at = {state: h for h, state in enumerate(witness.states)}
    found = [0.0] * len(at)
    for h, d in zip(histograms.tolist(), away.tolist(), strict=True):
        prior = math.factorial(n) * math.prod(p[t] ** h[t] / math.factorial(h[t]) for t in range(types))
        key = (*(sum(h[t] for t in g) for g in witness.groups), sum(c * x for c, x in zip(h, [0, 1, 2, 5], strict=True)))
        if key in at:
            found[at[key]] += prior * math.exp(-epsilon * d)
    return found


def test_masses_of_states_from_both_sides():
    law = GroupLaw(6, Fraction(1, 2), (((Fraction(1, 5), 1), (Fraction(1, 5), 2)), ((Fraction(1, 10), 5),)))
    states = [(x, y, w) for x in range(7) for y in range(7 - x) for w in range(31)]
    masses = law.masses(states)
    assert sum(low for low, _ in masses) <= 1 << BITS <= sum(high for _, high in masses)
    assert all(high - low < 1 << BITS - 100 for low, high in masses)
    assert masses[states.index((2, 1, 8))][0] / 2**BITS == pytest.approx(
        float(60 * Fraction(1, 2) ** 3 * Fraction(2, 25) * Fraction(1, 10))
    )
    assert law.possible((2, 1, 8))
    assert not any(law.possible(s) for s in ((2, 1, 10), (7, 0, 8), (1, 0, 0), (-1, 1, 4)))


def test_what_is_written_too_finely_or_too_far_apart_is_refused_before_it_is_formed():
    """The adversaries: two kilobytes whose exact powers take minutes, or whose steps a list of gigabytes."""
    fine = Fraction(10**300 // 3, 10**300)
    long = GroupLaw(20_000, 1 - fine, (((fine, 1),),))
    with pytest.raises(TooLarge, match="too finely"):
        long.masses([(1, 1), (2, 2)])
    far = GroupLaw(6, Fraction(1, 2), (((Fraction(1, 4), 1), (Fraction(1, 4), 3 * 10**9)),))
    with pytest.raises(TooLarge, match="too many respondents apart"):
        far.masses([(0, 0)])
    many = GroupLaw(2000, Fraction(1, 3), (((Fraction(2, 3), 1),),))
    assert len(many.masses([(x, x) for x in range(600, 700)])) == 100


def test_actions_without_multipliers_at_a_state_take_no_room_there():
    """The adversary: nodes and states by the thousand, of which none has a multiplier."""
    alone = Multipliers(Fraction(0), ((0, 0, 3),))
    rows = {(0, 0): AveragedRow(5, ((2, 7),), True)}
    assert pulled(alone, rows, Fraction(3, 2)) == {0: -2 * 3 * 5, 2: 3 * 3 * 7}
    assert pulled(replace(alone, flows=()), rows, Fraction(3, 2)) == {}


def test_a_negative_multiplier_is_refused(example):
    _, _, witness = example
    with pytest.raises(InputError, match="negative"):
        altered(witness, lambda flow: (flow[0], flow[1], -flow[2]))


def altered(witness, change):
    first = next(i for i, m in enumerate(witness.multipliers) if m.flows)
    m = witness.multipliers[first]
    flows = (change(m.flows[0]), *m.flows[1:])
    each = (*witness.multipliers[:first], Multipliers(m.action, flows), *witness.multipliers[first + 1 :])
    return replace(witness, multipliers=each)


def test_weights_make_both_sides_equal_when_nothing_is_said(example):
    """m = 1 has M = π, and then C(s)·π(s) = A(s): exact weights pass, near-misses (N−x for N−x+1, p_j for p_j/p_0) fail."""
    problem, _, witness = example
    masses = [float(low) for low, _ in quotient._setting(problem, witness).law.masses(witness.states)]

    def apart(witness_rows, change=lambda _, c: c):
        return max(
            abs(sum(change(state, c) * masses[h] for h, c in row.other) / (row.own * masses[state]) - 1)
            for (state, _), row in witness_rows.items()
            if row.whole
        )

    rows = quotient._rows(quotient._setting(problem, witness), witness)
    room = [6 - sum(state[:-1]) + 1 for state in witness.states]
    assert apart(rows) < 1e-12
    assert apart(rows, lambda state, c: c * (room[state] - 1) / room[state]) > 0.1
    assert apart(rows, lambda _, c: c * 0.5) > 0.1


def test_a_factor_below_e_to_epsilon_would_prove_nonsense(monkeypatch):
    """Near-miss in a test double: with q for a smaller ε some multipliers exceed the truth, with the honest q none do."""
    problem = problem_of(["0.6", "0.4"], [0, 1], 4, actions=range(5))
    truth = -optimality_value(problem, programmed(problem, 1e-8))
    _, witness = proposed(problem)
    assert truth * (1 - 1e-6) < -quotient_upper_bound(problem, witness) <= truth
    _, of_less = proposed(problem.with_epsilon(Fraction(9, 10)))
    assert -quotient_upper_bound(problem, of_less) <= truth
    honest = quotient.rational_above_exp
    monkeypatch.setattr(quotient, "rational_above_exp", lambda e, b: honest(e * Fraction(9, 10), b))
    assert -quotient_upper_bound(problem, of_less) > truth * (1 + 1e-2)


def test_another_problems_witness_proves_less(example):
    problem, _, witness = example
    for other in (
        problem.with_epsilon(Fraction(3, 2)),
        problem_of(["0.4", "0.3", "0.2", "0.1"], [0, 1, 2, 5], 6),
        problem_of(["0.5", "0.2", "0.2", "0.1"], [0, 1, 3, 5], 6),
    ):
        mine, _ = proposed(other)
        assert -quotient_upper_bound(other, witness) < mine.lower_bound * (1 - 1e-3)
    three = problem_of(["0.5", "0.3", "0.2"], [0, 1, 2], 6)
    with pytest.raises(Refuted, match="every type"):
        quotient_upper_bound(three, witness)
    few = problem_of(["0.5", "0.2", "0.2", "0.1"], [0, 1, 2, 5], 3)
    with pytest.raises(Refuted, match="no database"):
        quotient_upper_bound(few, witness)
    dependent = replace(problem, prior=DirichletMultinomialPrior((Fraction(1),) * 4))
    with pytest.raises(Refuted, match="independent"):
        quotient_upper_bound(dependent, witness)


def test_a_claim_better_by_a_hundred_thousandth_is_refuted(example):
    problem, _, witness = example
    mechanism = bare(problem, climb(problem, seconds=0.0))
    bound = quotient_upper_bound(problem, witness)
    value = Fraction(-(10**6))
    assert optimality(mechanism, OptimalityClaim(value, bound, witness)) == OptimalityClaim(value, bound, witness)
    better = optimality(mechanism, OptimalityClaim(value, bound * (1 + Fraction(1, 10**5)), witness))
    assert isinstance(better, Counterexample) and better.claim == "bound"


def test_witnesses_that_break_the_conditions_are_refuted(example):
    problem, _, witness = example
    broken = {
        "every type": replace(witness, groups=((1, 2, 2),)),
        "twice": replace(witness, states=(witness.states[1], *witness.states[1:])),
        "negatively": replace(witness, rays=((-1, 0), *witness.rays[1:])),
        "no database": replace(witness, states=((7, 7), *witness.states[1:])),
        "nodes": replace(witness, multipliers=witness.multipliers[1:]),
    }
    for words, wrong in broken.items():
        with pytest.raises(Refuted, match=words):
            quotient_upper_bound(problem, wrong)
    with pytest.raises(InputError, match="0 states"):  # it ended in an error of Python's where actions are listed
        replace(witness, states=(), multipliers=())
    # a state of the larger side goes missing: its mass must not be forgotten
    gone = next(h for h in range(len(witness.states)) if any(b == h for r in rows_used(problem, witness) for b, _ in r.other))
    moved = (99, 99, 99)[: len(witness.states[0])]
    with pytest.raises(Refuted):
        quotient_upper_bound(problem, replace(witness, states=(*witness.states[:gone], moved, *witness.states[gone + 1 :])))


def rows_used(problem, witness):
    return quotient._rows(quotient._setting(problem, witness), witness).values()


def test_an_inequality_whose_larger_side_is_not_listed_is_refuted():
    problem = problem_of(["0.5", "0.3", "0.2"], [0, 1, 2], 3, actions=range(7))
    states = ((1, 1), (0, 0))
    forward = (Multipliers(Fraction(0), ((0, 0, 1),)),)
    fine = QuotientWitness(0, ((1, 2),), ((1, 0),), states, 1000, forward)
    assert -quotient_upper_bound(problem, fine) <= 2
    lonely = replace(fine, states=((1, 1), (2, 2)))
    with pytest.raises(Refuted, match="larger side"):
        quotient_upper_bound(problem, lonely)
    backward = replace(lonely, multipliers=(Multipliers(Fraction(0), ((0, 1, 1),)),))
    assert -quotient_upper_bound(problem, backward) <= 2


def document_of(witness):
    proof = PrivacyProof(PurePromise(Fraction(1)), Fraction(0), Fraction(1), None, None, 1, 1)
    return certificate_document(Certificate("0" * 64, proof, OptimalityClaim(Fraction(-2), Fraction(-1), witness)))


def test_files_keep_the_witness(example):
    _, _, witness = example
    document = json.loads(json.dumps(document_of(witness)))
    assert certificate_from_document(document).optimality.witness == witness
    del document["optimality"]["witness"]["rays"]
    with pytest.raises(InputError, match="lacks a key"):
        certificate_from_document(document)
    theorem = {"kind": "theorem", "theorem": "chain", "rays": [[1]]}
    document["optimality"]["witness"] = theorem
    with pytest.raises(InputError, match="another kind"):
        certificate_from_document(document)


def test_fuzzed_witnesses_are_told_apart_without_a_traceback():
    problem = problem_of(["0.5", "0.3", "0.2"], [0, 1, 2], 3, actions=range(7))
    _, witness = proposed(problem)
    mechanism = bare(problem, climb(problem, seconds=0.0))
    rng = random.Random(3)
    honest = document_of(witness)["optimality"]["witness"]
    strange = [None, -1, 0, 7, 10**30, "x", "", [], [[]], [[0]], {}, True, 1.5]
    verdicts = set()
    for _ in range(400):
        document = document_of(witness)
        held = document["optimality"]["witness"]
        key = rng.choice(["reference", "groups", "rays", "states", "scale", "multipliers", "kind"])
        if isinstance(honest[key], list) and rng.random() < 0.7:
            changed = json.loads(json.dumps(honest[key]))
            at = rng.randrange(len(changed))
            if isinstance(changed[at], list) and changed[at] and rng.random() < 0.7:
                changed[at][rng.randrange(len(changed[at]))] = rng.choice([-3, 0, 1, 2, 10**12, "x", None, 2**70])
            else:
                changed[at] = rng.choice(strange)
            held[key] = changed
        else:
            held[key] = rng.choice(strange)
        try:
            read = certificate_from_document(json.loads(json.dumps(document))).optimality
            found = optimality(mechanism, replace(read, value=Fraction(-(10**9)), bound=Fraction(0)))
            verdicts.add(type(found).__name__)
            if isinstance(found, Counterexample):
                assert str(found)
        except DiscreetError as error:
            verdicts.add(type(error).__name__)
    assert {"InputError", "Counterexample"} <= verdicts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "respondents", "actions", "optimum", "within"),
    [
        (["0.89", "0.09", "0.02"], 40, None, 2.3259193, 3e-5),
        (["0.89", "0.09", "0.02"], 40, range(81), 2.40974874, 1e-5),
        (["0.86", "0.09", "0.03", "0.02"], 20, range(61), 3.7756096, 5e-4),
    ],
)
def test_near_known_optima(p, respondents, actions, optimum, within):
    """School planning at ε = 1: certified optima of the histogram program."""
    problem = problem_of(p, range(len(p)), respondents, actions=actions)
    _, witness = proposed(problem, leave_out=1e-7)
    certified = -float(quotient_upper_bound(problem, witness))
    assert optimum * (1 - within) <= certified <= optimum
