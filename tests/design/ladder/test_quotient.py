"""The quotient bound: its lemma executed on private mechanisms, never above the truth, near it where it
should be."""

import itertools
import math

import numpy as np
import pytest
from averaging import quotient_bound

from discreet.design.ladder.bounds.averaged import averages
from discreet.design.ladder.bounds.knots import least_between, place_knots
from discreet.design.ladder.bounds.quotient import bound_from_multipliers, privacy_rows
from discreet.design.ladder.bounds.stakes import Stakes
from discreet.design.ladder.mechanisms.noise import geometric_noise
from discreet.design.ladder.mechanisms.population import Population
from discreet.design.ladder.mechanisms.proxy import squared_loss_proxy
from discreet.errors import InputError, TooLarge
from discreet.model.iid_sum import IidSum

P, V, N = [0.5, 0.2, 0.2, 0.1], [0, 1, 2, 5], 5


def private_output(rng, respondents, types, epsilon):
    """m(a|n) for one output: e^(-epsilon d) with d the distance to a random set of histograms."""
    states = [h for h in itertools.product(range(respondents + 1), repeat=types) if sum(h) == respondents]
    centres = [states[i] for i in rng.choice(len(states), size=3, replace=False)]
    return {h: math.exp(-epsilon * min(sum(abs(a - b) for a, b in zip(h, c, strict=True)) / 2 for c in centres)) for h in states}


def averaged_output(output, p, v, groups):
    """mbar(a|s) and pi(s) by enumeration, keyed by (x_1.., omega), reference type 0."""
    total, mass = {}, {}
    for h, value in output.items():
        prior = math.factorial(sum(h)) * math.prod(q**c / math.factorial(c) for q, c in zip(p, h, strict=True))
        key = (*(sum(h[t] for t in g) for g in groups), sum(c * x for c, x in zip(h, v, strict=True)))
        total[key] = total.get(key, 0.0) + prior * value
        mass[key] = mass.get(key, 0.0) + prior
    return {k: total[k] / mass[k] for k in total}, mass


@pytest.mark.parametrize("groups", [[[1, 2, 3]], [[1], [2, 3]], [[1], [2], [3]]])
def test_averages_of_private_mechanisms_satisfy_every_row(groups):
    rng = np.random.default_rng(11)
    program = averages(IidSum.of(P, V, N), reference=0, groups=groups, leave_out=1e-15)
    tight = 0.0
    for _ in range(20):
        mbar, mass = averaged_output(private_output(rng, N, 4, 0.7), P, V, groups)
        assert set(mass) == set(program.states)
        kernel = np.array([mbar[s] for s in program.states])
        np.testing.assert_allclose(program.masses, [mass[s] for s in program.states], rtol=1e-11)
        slack = privacy_rows(program, 0.7) @ kernel
        assert slack.min() >= -1e-12
        tight = max(tight, -(privacy_rows(program, 0.6) @ kernel).min())
    assert tight > 1e-3  # near miss: the rows of a smaller epsilon are violated


def test_weights_sum_to_one_only_for_affine_rays():
    program = averages(IidSum.of(P, V, N), reference=0, leave_out=1e-15)
    assert max(abs(sum(row.weights) - 1) for row in program.rows) < 1e-12
    # Near miss: c_j = u_j^2 is not affine.  Its total over a histogram is not a function of (x, omega), and
    # the weights that belong to c_j = u_j^2 over the total of c_j = u_j do not sum to one.
    mass = dict(zip(program.states, program.masses, strict=True))
    wrong = [
        sum(v * v * (N - x + 1) * p / P[0] * mass.get((x - 1, omega - v), 0.0) for p, v in zip(P[1:], V[1:], strict=True))
        / (mass[x, omega] * omega)
        for x, omega in program.states
        if x
    ]
    assert max(abs(w - 1) for w in wrong) > 0.1


def test_never_above_the_truth_with_real_actions(truths):
    for (p, v, respondents, epsilon), truth, _ in truths[:80]:
        bound = quotient_bound(p, v, respondents, epsilon, leave_out=1e-9).lower_bound
        assert bound <= truth + 1e-7


def test_never_above_the_truth_with_listed_actions_and_groups(truths, optimum):
    close = []
    for (p, v, respondents, epsilon), _, _ in truths[:60]:
        actions = np.linspace(respondents * min(v), respondents * max(v), 9)
        truth = optimum(p, v, respondents, epsilon, actions)
        bound = quotient_bound(p, v, respondents, epsilon, actions=actions, leave_out=1e-9).lower_bound
        reference = max(range(len(p)), key=lambda t: p[t])
        alone = [[t] for t in range(len(p)) if t != reference]
        grouped = quotient_bound(p, v, respondents, epsilon, actions=actions, groups=alone, leave_out=1e-9).lower_bound
        assert bound <= grouped + 1e-6
        assert grouped <= truth + 1e-7
        close.append(grouped / truth)
    assert np.median(close) > 0.97


def test_any_multipliers_prove_a_bound_below_the_truth(truths, optimum):
    rng = np.random.default_rng(2)
    for (p, v, respondents, epsilon), _, _ in truths[:10]:
        actions = np.linspace(respondents * min(v), respondents * max(v), 9)
        program = averages(IidSum.of(p, v, respondents), leave_out=1e-9)
        cone = privacy_rows(program, epsilon)
        f = rng.normal(size=(9, cone.shape[0])) * 0.05
        assert bound_from_multipliers(program, cone, actions, f, Stakes(nodes=actions, listed=True)) <= optimum(
            p, v, respondents, epsilon, actions
        )


def test_certified_optima_are_approached():
    p, v = [0.89, 0.09, 0.02], [0, 1, 2]
    assert 1.08880 < quotient_bound(p, v, 10, 1.0, actions=range(21), leave_out=1e-7).lower_bound <= 1.088810814
    assert 1.63649 < quotient_bound(p, v, 20, 1.0, actions=range(41), leave_out=1e-7).lower_bound <= 1.6365125
    four = quotient_bound([0.86, 0.09, 0.03, 0.02], [0, 1, 2, 3], 10, 1.0, actions=range(31), leave_out=1e-7)
    assert 2.35338 < four.lower_bound <= 2.3534040


def test_example_one_with_real_and_integer_actions():
    p, v = [0.89, 0.09, 0.02], [0, 1, 2]
    means = squared_loss_proxy(Population.alike(p, v, 40, 1.0), [0, 1, 1], geometric_noise(1.0, 1)).actions
    real = quotient_bound(p, v, 40, 1.0, targets=means, leave_out=1e-7)
    assert 2.32588 < real.lower_bound <= 2.3259193
    integer = quotient_bound(p, v, 40, 1.0, actions=range(81), leave_out=1e-7)
    assert 2.40973 < integer.lower_bound <= 2.40974874


@pytest.mark.slow
def test_example_one_without_knowing_where_the_optimum_plays():
    unaided = quotient_bound([0.89, 0.09, 0.02], [0, 1, 2], 40, 1.0, leave_out=1e-6)
    assert 2.3250 < unaided.lower_bound <= 2.3259193


def test_knots_cover_and_rewards_suffice():
    knots, reach = place_knots([2.0, 3.0, 5.0], -4.0, 20.0, 0.25)
    assert (knots[0], knots[-1]) == (-4.0, 20.0)
    assert {2.0, 3.0, 5.0} <= set(knots[reach == 0])
    assert np.all(reach[:-1] + reach[1:] >= np.diff(knots) - 1e-12)
    # The claim of the module: brackets above the price by reach^2 stay above it between the knots.
    masses = np.array([0.3, 0.7])
    bracket = masses[None, :] * reach[:, None] ** 2
    assert least_between(bracket, knots, masses).min() >= -1e-12
    assert least_between(bracket * 0.9, knots, masses).min() < -1e-3  # near miss: a smaller reward does not


def test_refusals():
    with pytest.raises(TooLarge, match="chain bound"):
        quotient_bound([0.3, 0.3, 0.2, 0.2], [0, 1, 7, 100], 1000, 1.0)
    with pytest.raises(InputError, match="reference"):
        quotient_bound([1.0], [0], 3, 1.0)
    with pytest.raises(InputError, match="Groups"):
        quotient_bound([0.5, 0.3, 0.2], [0, 1, 2], 3, 1.0, groups=[[1]])
