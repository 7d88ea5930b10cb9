"""Weighted sums: their law against enumeration, their loss against the truth, and the figures of the plan."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.certify.value.laws import Overdispersed
from discreet.design.ladder.mechanisms.noise import geometric_noise, staircase_noise
from discreet.design.ladder.mechanisms.population import Population
from discreet.design.ladder.mechanisms.proxy import best_noise, lattice_weights, squared_loss_proxy
from discreet.design.ladder.mechanisms.sums import sum_law, urn_law
from discreet.design.ladder.mechanisms.weights import best_clipping, clipped_sum, search_weights, settle
from discreet.errors import InputError, TooLarge
from discreet.watch import Deadline


def geometric(p, v, respondents, epsilon):
    """What people do today: noise on the statistic itself."""
    weights, exact = lattice_weights(v)
    assert exact
    return squared_loss_proxy(Population.alike(p, v, respondents, epsilon), weights, geometric_noise(epsilon, max(weights)))


def enumerated(rows, v, w):
    """{s: (mass, mean, variance of omega)} and the joint law, by listing all databases."""
    joint: dict[tuple[int, float], float] = {}
    for types in itertools.product(range(len(v)), repeat=len(rows)):
        mass = math.prod(row[t] for row, t in zip(rows, types, strict=True))
        key = (sum(w[t] for t in types), sum(v[t] for t in types))
        joint[key] = joint.get(key, 0.0) + mass
    law = {}
    for s in {s for s, _ in joint}:
        part = [(omega, m) for (t, omega), m in joint.items() if t == s]
        mass = sum(m for _, m in part)
        mean = sum(o * m for o, m in part) / mass
        law[s] = (mass, mean, sum((o - mean) ** 2 * m for o, m in part) / mass)
    return law, joint


@pytest.mark.parametrize("w", [[0, 1, 1, 3], [0, 4, 4, 12]])
def test_law_equals_enumeration(w):
    rng = np.random.default_rng(5)
    v = [-1.5, 0.25, 2.0, 7.0]
    p = rng.dirichlet(np.ones(4))
    law = sum_law(p, v, w, 4)
    expected, _ = enumerated([p] * 4, v, w)
    for i, s in enumerate(range(law.first, law.last + 1)):
        mass, mean, variance = expected.get(s, (0.0, 0.0, 0.0))
        assert law.masses[i] == pytest.approx(mass, rel=1e-12)
        if mass:
            assert law.means[i] == pytest.approx(mean, rel=1e-10, abs=1e-10)
            assert law.variances[i] == pytest.approx(variance, rel=1e-8, abs=1e-10)


def test_quick_law_agrees_with_the_direct_one(named):
    p, v = named["T10inc"]
    direct, quick = (sum_law(p, v, [min(x, 30) for x in v], 300, quick=q) for q in (False, True))
    assert quick.unexplained == pytest.approx(direct.unexplained, rel=1e-8)
    shift = quick.first - direct.first
    np.testing.assert_allclose(quick.masses, direct.masses[shift : shift + len(quick.masses)], atol=1e-12)


def test_loss_equals_the_dense_computation():
    p, v, w, respondents = [0.5, 0.3, 0.15, 0.05], [0, 1, 3, 4], [0, 2, 5, 5], 6
    _, joint = enumerated([p] * respondents, v, w)
    for noise in (geometric_noise(0.8, 5), staircase_noise(0.8, 5)):
        proxy = squared_loss_proxy(Population.alike(p, v, respondents, 0.8), w, noise)
        rows = {s: proxy.row(s) for s, _ in joint}
        loss = sum(m * rows[s] @ (proxy.actions - omega) ** 2 for (s, omega), m in joint.items())
        assert proxy.loss == pytest.approx(loss, rel=1e-10)


def test_never_beats_the_truth(truths):
    for (p, v, respondents, epsilon), truth, finer in truths[:70]:
        baseline = geometric(p, v, respondents, epsilon)
        population = Population.alike(p, v, respondents, epsilon)
        clipped = clipped_sum(population)
        searched = search_weights(population, start=clipped.weights, seconds=0.1)
        assert truth - finer - 1e-7 <= searched.loss <= clipped.loss * (1 + 1e-9)
        assert truth - finer - 1e-7 <= baseline.loss


def test_example_one():
    p, v = [0.89, 0.09, 0.02], [0, 1, 2]
    population = Population.alike(p, v, 40, 1.0)
    assert geometric(p, v, 40, 1.0).loss == pytest.approx(3.23204002326, abs=1e-10)
    assert squared_loss_proxy(population, [0, 1, 1], geometric_noise(1.0, 1)).loss == pytest.approx(2.32591922806, abs=1e-10)
    assert clipped_sum(population).loss == pytest.approx(2.32591922806, abs=1e-10)
    integer = squared_loss_proxy(population, v, geometric_noise(1.0, 2), allowed=range(81))
    assert integer.loss == pytest.approx(3.30255990683, abs=1e-10)
    count = squared_loss_proxy(population, [0, 1, 1], geometric_noise(1.0, 1), allowed=range(81))
    assert count.loss == pytest.approx(2.40974845, abs=5e-7)
    # Near miss: the count that merges the wrong types is worse.
    assert squared_loss_proxy(population, [0, 0, 1], geometric_noise(1.0, 1)).loss > 3


FIGURES = [
    ("T5", 50, 20.93, 13.77),
    ("T5", 200, 37.34, 23.90),
    ("T5", 1000, 46.87, 35.42),
    ("T10lin", 50, 86.14, 52.24),
    ("T10lin", 100, 120.8, 70.70),
    ("T10lin", 1000, 188.4, 135.1),
    ("T10inc", 100, 5952, 3887),
    ("T10inc", 1000, 16293, 11683),
]


@pytest.mark.parametrize(("name", "respondents", "baseline", "clipped"), FIGURES)
def test_figures(named, name, respondents, baseline, clipped):
    p, v = named[name]
    assert geometric(p, v, respondents, 1.0).loss == pytest.approx(baseline, rel=3e-4)
    found = clipped_sum(Population.alike(p, v, respondents, 1.0))
    assert found.loss <= clipped + 0.005
    assert found.loss * 1.3 <= baseline


SEARCHED = [("T5", 1000, 35.40), ("T10lin", 50, 52.21), ("T10lin", 1000, 135.1)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "respondents", "planned"), SEARCHED)
def test_searched_figures(named, name, respondents, planned):
    assert search_weights(Population.alike(*named[name], respondents, 1.0), seconds=5).loss <= planned


@pytest.mark.slow
def test_ten_thousand_respondents(named):
    p, v = named["T10inc"]
    assert geometric(p, v, 10_000, 1.0).loss == pytest.approx(19574, rel=1e-4)
    assert clipped_sum(Population.alike(p, v, 10_000, 1.0)).loss <= 18026


def test_stairs_of_few_steps_have_a_centre_of_an_even_number_of_them():
    """Three types in a large cell: the best noise in steps of one loses 4·2b/(1−b)² + 1/4, that on whole numbers 1.3 % more."""
    ratio = math.exp(-1.0)
    best, wide = 8 * ratio / (1 - ratio) ** 2 + 0.25, Population.alike((0.89, 0.09, 0.02), (0, 1, 2), 10**6, 1.0)
    refined = squared_loss_proxy(wide, (0, 4, 8), staircase_noise(1.0, 8, 4)).loss
    odd = min(squared_loss_proxy(wide, (0, 1, 2), staircase_noise(1.0, 2, m)).loss for m in (1, 2))
    assert 1.002 * best < refined < 1.003 * best and odd > 1.01 * best
    assert clipped_sum(wide).loss == refined  # finer weights, whose law is too large to be settled, are not chosen
    plateaus = [{noise.plateau for noise in best_noise(1.0, 40, unit) if noise.stair > 1} for unit in (1, 20)]
    assert 20 not in plateaus[0] and 20 in plateaus[1]


def test_clipping_two_sided_values():
    v = [-50, -1, 0, 1, 50]
    p = [0.001, 0.3, 0.398, 0.3, 0.001]
    lo, hi = best_clipping(Population.alike(p, v, 50, 1.0))
    assert -15 < lo < 0 < hi < 15
    assert lo == pytest.approx(-hi, abs=0.5)
    assert best_clipping(Population.alike(p, v, 10**6, 1.0)) == pytest.approx((-50, 50), abs=0.5)


def test_weights_and_lattices_are_checked():
    assert lattice_weights([0.5, 1.0, 2.5]) == ((0, 1, 4), True)
    assert lattice_weights([-3, 0, 1 / 3])[0] == (0, 9, 10)
    assert not lattice_weights([0, 1, math.pi])[1]
    for bad in ([0, 0, 0], [1, 2, 3], [0, -1, 2], [0, 0.5, 1]):
        with pytest.raises(InputError):
            sum_law([0.2, 0.3, 0.5], [0, 1, 2], bad, 3)
    with pytest.raises(InputError, match="constant"):
        clipped_sum(Population.alike([0.5, 0.5], [3, 3], 4, 1.0))
    with pytest.raises(TooLarge, match="smaller weights"):
        sum_law([0.5, 0.5], [0, 1], [0, 10**6], 10**4)


def test_irregular_values_and_cancelling():
    p, v = [0.4, 0.3, 0.2, 0.1], [0, 1, math.pi, 20.5]
    population = Population.alike(p, v, 200, 1.0)
    found = clipped_sum(population)
    whole = squared_loss_proxy(population, lattice_weights(v)[0], geometric_noise(1.0, 240))
    assert found.loss < whole.loss
    stopped = search_weights(population, seconds=60, watch=Deadline(0.0))
    assert stopped.weights == found.weights


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 20.0])
@pytest.mark.parametrize("respondents", [1, 7])
def test_hard_cases(epsilon, respondents):
    p, v = [0.5, 0.0, 0.3, 0.2], [-0.5, 1000.0, 1, 5]
    prior = respondents * float(np.dot(p, np.square(v)) - np.dot(p, v) ** 2)
    found = clipped_sum(Population.alike(p, v, respondents, epsilon))
    assert -1e-9 <= found.loss <= prior * (1 + 1e-9)
    if epsilon < 1e-3:
        assert found.loss == pytest.approx(prior, rel=1e-4)
    if epsilon == 20.0:
        assert found.loss < 1e-3 * prior


@pytest.mark.parametrize("weights", [(0, 1, 2), (0, 4, 6), (3, 0, 1), (0, 0, 1)])
def test_an_urn_has_the_law_of_its_listed_histograms(weights):
    concentration, values, n = (Fraction(8), Fraction(3, 2), Fraction(1, 10)), (0.0, 1.0, 5.0), 7
    listed = {}
    for h in itertools.product(range(n + 1), repeat=3):
        if sum(h) == n:
            chance = math.factorial(n) / math.prod(float(sum(concentration)) + i for i in range(n))
            chance *= math.prod(
                math.prod(float(c) + i for i in range(k)) / math.factorial(k) for c, k in zip(concentration, h, strict=True)
            )
            p, m = listed.get(np.dot(weights, h), (0.0, 0.0))
            listed[np.dot(weights, h)] = p + chance, m + chance * np.dot(values, h)
    law = urn_law(concentration, values, weights, n)
    found = {law.first + i: (p, m) for i, (p, m) in enumerate(zip(law.masses, law.means, strict=True)) if p > 0}
    assert set(found) == set(listed)
    assert all(found[s] == pytest.approx((p, m / p), rel=1e-12) for s, (p, m) in listed.items())
    both = sum(m**2 / p for p, m in listed.values())
    population = Population(Overdispersed(concentration, ((n, Fraction(1)),)), tuple(map(Fraction, values)), n, n, 1.0)
    assert law.unexplained == pytest.approx(float(population.sums(weights).second()) - both, rel=1e-9)
    assert population.law(weights).means == pytest.approx(law.means)


def test_a_staircase_serves_large_cells_that_differ():
    """1,000 respondents: no law of a sum fitted, and plain noise at face value, 49.77, was all that was found."""
    concentration = tuple(Fraction(x, 50) for x in (800, 100, 50, 30, 15, 5))
    population = Population(Overdispersed(concentration, ((1000, Fraction(1)),)), tuple(map(Fraction, range(6))), 1000, 1000, 1.0)
    assert settle(population, (0, 4, 8, 12, 16, 20)).loss < 47.9
