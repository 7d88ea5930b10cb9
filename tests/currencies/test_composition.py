"""Composition: rules, exact lattices, certified brackets; against enumeration and against dp-accounting."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.currencies import composition
from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.currencies.conversions import convert
from discreet.currencies.grid import grid_delta, grid_delta_of
from discreet.currencies.lattice import lattice_delta, lattice_of
from discreet.currencies.pair import Pair, exact_pair, pair_of
from discreet.currencies.profiles import pair_delta, profile
from discreet.currencies.repeated import compose, compose_epsilon, compose_many, compose_pair, dominating_pair
from discreet.currencies.statements import statement
from discreet.errors import InputError
from discreet.model.kernel import GeometricKernel
from discreet.model.mechanism import Mechanism

F = Fraction


def enumerated(pair: Pair, times: int, epsilon: float) -> float:
    """δ(ε) of independent releases over every sequence of outputs."""
    p, q = (np.array([w / pair.denominator for w in side]) for side in (pair.first, pair.second))
    total = 0.0
    for outputs in product(range(len(p)), repeat=times):
        chosen = list(outputs)
        total += max(float(np.prod(p[chosen])) - math.exp(epsilon) * float(np.prod(q[chosen])), 0.0)
    return total


def geometric_pair(outputs: int, state: int, ratio: Fraction, apart: int = 1) -> Pair:
    kernel = GeometricKernel(0, outputs - 1, 1, ratio)
    rows = [[kernel.mass(y, s) for y in range(outputs)] for s in (state, state + apart)]
    return exact_pair(rows[0], rows[1])


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_sums_are_exact_and_say_what_they_assume() -> None:
    assert composition.pure(["0.1", "0.2", "1/3"]).result.numbers["epsilon"] == F(3, 10) + F(1, 3)
    assert composition.concentrated(["0.1", "0.2"]).result.numbers["rho"] == F(3, 10)
    assert composition.information(["0.1", "0.2"]).result.numbers["mi"] == F(3, 10)
    assert "Markov" in composition.information([1]).assumes and "adva" in composition.pure([1]).assumes
    with pytest.raises(InputError):
        composition.pure([-1])


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("level", ["0", "0.7", "2"])
def test_optimal_composition_is_randomised_response_repeated(times: int, level: str) -> None:
    high = 1 / (1 + math.exp(-0.8))
    pair = pair_of([high, 1 - high], [1 - high, high])
    found = composition.optimal_delta(F("0.8"), F(0), times, F(level))
    assert found.middle == pytest.approx(enumerated(pair, times, float(level)), abs=1e-12)


def test_optimal_composition_of_leaky_releases() -> None:
    epsilon, delta = 0.5, 0.02
    high = (1 - delta) / (1 + math.exp(-epsilon))
    first = [delta, high, 1 - delta - high, 0.0]
    pair = pair_of(first, first[::-1])
    for level in (0.0, 0.6, 1.4):
        found = composition.optimal_delta(F("0.5"), F("0.02"), 4, F(level))
        assert found.middle == pytest.approx(enumerated(pair, 4, level), abs=1e-12)
    with pytest.raises(InputError, match="give themselves away"):
        composition.optimal("0.5", 4, delta="0.02", at_delta="0.01")
    with pytest.raises(InputError, match="one ε or at one δ"):
        composition.optimal("0.5", 4)


def test_optimal_is_better_than_advanced_and_than_the_sum() -> None:
    optimal = composition.optimal("0.1", 200, at_delta="1e-6").result.numbers["epsilon"]
    advanced = composition.advanced("0.1", 200, "1e-6").result.numbers["epsilon"]
    rho = convert(statement("epsilon", epsilon="0.1"), "zcdp").result.numbers["rho"]
    joint = composition.concentrated([rho] * 200).result
    zcdp = convert(joint, "approximate", delta="1e-6").result.numbers["epsilon"]
    assert optimal < zcdp < advanced < 20
    back = composition.optimal("0.1", 200, at_epsilon=optimal).result.numbers["delta"]
    assert float(back) == pytest.approx(1e-6, rel=1e-9)
    assert float(composition.optimal("0.1", 200, at_epsilon=optimal * F(99, 100)).result.numbers["delta"]) > 1e-6


# ---- lattices -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [1, 2, 3])
def test_geometric_losses_lie_on_a_lattice_and_compose_exactly(apart: int) -> None:
    pair = geometric_pair(6, 1, F(2, 3), apart)
    lattice = lattice_of(pair)
    assert lattice is not None and sum(m for _, m in lattice.masses) == 1
    for times in (1, 2, 4):
        for level in (0.0, 0.3, 1.0):
            found = lattice_delta(lattice, times, F(level))
            assert found.width <= 1e-15
            assert found.middle == pytest.approx(enumerated(pair, times, level), abs=1e-13)


def test_a_base_that_no_output_has_is_found() -> None:
    base = F(3, 2)
    weights = [(1, 2), (2, 3)]
    # Losses 2·log b and 3·log b with P- and Q-masses; a third output completes both to one.
    p = [F(1, 10), F(1, 5)]
    q = [mass / base**power for mass, (_, power) in zip(p, weights, strict=True)]
    rest_p, rest_q = 1 - sum(p), 1 - sum(q)
    assert lattice_of(exact_pair([*p, rest_p], [*q, rest_q])) is None
    leak = exact_pair([*p, rest_p, 0], [*q, 0, rest_q])
    lattice = lattice_of(leak)
    assert lattice is not None and lattice.base == base and [i for i, _ in lattice.masses] == [2, 3]
    assert lattice.infinite == rest_p
    assert lattice_delta(lattice, 3, F(1)).middle == pytest.approx(enumerated(leak, 3, 1.0), abs=1e-13)


def test_a_base_close_to_one_is_no_burden() -> None:
    gap = F(1, 10**12)
    pair = pair_of([F(1, 2) + gap, F(1, 2) - gap], [F(1, 2) - gap, F(1, 2) + gap])
    lattice = lattice_of(pair)
    assert lattice is not None and lattice_delta(lattice, 1000, F(5)).upper == 0.0
    # The sum of a thousand fair signs has mean size near √(2·1000/π), each worth 2·10^-12 of total variation.
    assert lattice_delta(lattice, 1000, F(0)).middle == pytest.approx(2e-12 * math.sqrt(2000 / math.pi), rel=1e-3)


def test_losses_without_a_common_measure_are_no_lattice() -> None:
    assert lattice_of(pair_of(["1/2", "3/10", "1/5"], ["1/5", "1/2", "3/10"])) is None
    nudged = geometric_pair(6, 2, F(2, 3))
    weights = list(nudged.first)
    weights[0] += 1
    weights[1] -= 1
    assert lattice_of(Pair(tuple(weights), nudged.second, nudged.denominator)) is None


# ---- brackets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("times", [1, 3, 5])
def test_the_bracket_holds_the_truth(seed: int, times: int) -> None:
    rng = np.random.default_rng(seed)
    pair = pair_of(*rng.dirichlet(np.full(4, 2.0), 2).tolist())
    for level in (0.0, 0.5, 2.0, 4.0):
        truth = enumerated(pair, times, level)
        found = grid_delta(pair, times, F(level), points=1 << 14)
        assert found.lower <= truth + 1e-13 and truth <= found.upper + 1e-13
        assert found.width <= 1e-3


def test_a_finer_grid_gives_a_narrower_bracket_inside_the_coarser() -> None:
    rng = np.random.default_rng(7)
    pair = pair_of(*rng.dirichlet(np.full(5, 3.0), 2).tolist())
    coarse, fine = (grid_delta(pair, 60, F(10), points=1 << bits) for bits in (13, 18))
    assert fine.width < coarse.width / 4
    assert coarse.lower <= fine.upper and fine.lower <= coarse.upper


@pytest.mark.parametrize(("times", "level"), [(100, "3"), (1000, "2"), (1000, "18"), (1000, "40")])
def test_grid_and_lattice_agree_down_to_tiny_deltas(times: int, level: str) -> None:
    pair = geometric_pair(40, 7, F(905, 1000))
    exactly = compose_pair(pair, times, level)
    around = grid_delta(pair, times, F(level), points=1 << 16)
    assert around.lower <= exactly.upper and exactly.lower <= around.upper
    assert around.width <= 1e-6 * exactly.upper


def test_a_table_rounded_from_a_lattice_is_nearly_exact() -> None:
    pair = geometric_pair(12, 4, F(4, 5))
    bits = 70
    rounded = [[w * 2**bits // pair.denominator for w in side] for side in (pair.first, pair.second)]
    for side in rounded:
        side[0] += 2**bits - sum(side)
    table = Pair(tuple(rounded[0]), tuple(rounded[1]), 2**bits)
    assert lattice_of(table) is None
    found, ideal = compose_pair(table, 300, 5), compose_pair(pair, 300, 5)
    assert found.width <= 1e-8 * ideal.upper and found.lower <= ideal.upper <= found.upper * (1 + 1e-8)


def test_different_pairs_compose_together() -> None:
    rng = np.random.default_rng(21)
    one, other = (pair_of(*rng.dirichlet(np.full(3, 2.0), 2).tolist()) for _ in range(2))
    for level in (0.0, 0.7, 2.5):
        total = 0.0
        p = [[w / pair.denominator for w in pair.first] for pair in (one, other)]
        q = [[w / pair.denominator for w in pair.second] for pair in (one, other)]
        for a, b, c in product(range(3), repeat=3):
            up, down = p[0][a] * p[0][b] * p[1][c], q[0][a] * q[0][b] * q[1][c]
            total += max(up - math.exp(level) * down, 0.0)
        found = grid_delta_of([(one, 2), (other, 1)], F(level), points=1 << 15)
        assert found.lower <= total + 1e-13 <= found.upper + 2e-13 and found.width < 1e-4


def test_several_mechanisms_are_bounded_together(geometric: Callable[..., Mechanism]) -> None:
    mild, strong = geometric(9, F(9, 10)), geometric(5, F(3, 4))
    joint = compose_many([(mild, 30), (strong, 5)], 2)
    parts = [composition.optimal_delta(F(math.log(10 / 9)), F(0), 30, F(2)).upper, compose(strong, 5, 2).upper]
    assert max(parts) < joint < 1
    assert compose_many([(mild, 30)], 2) == compose(mild, 30, 2).upper
    assert compose_many([], 0) == 0.0


# ---- mechanisms -----------------------------------------------------------------------------------------------------


def test_the_geometric_mechanism_composes_exactly_over_all_edges(geometric: Callable[..., Mechanism]) -> None:
    mechanism = geometric(12, F(9, 10))
    found = compose(mechanism, 100, 2)
    assert found.upper - found.lower <= 1e-15
    ideal = composition.optimal_delta(F(math.log(10 / 9)), F(0), 100, F(2))
    assert found.bracket.middle == pytest.approx(ideal.middle, rel=1e-12)
    epsilon = compose_epsilon(mechanism, 100, "1e-6")
    assert compose(mechanism, 100, epsilon.upper).upper <= 1e-6 <= compose(mechanism, 100, epsilon.lower * 0.999).upper


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_edge_lies_in_the_bracket(seed: int, random_channel: Callable[..., LossChannel]) -> None:
    channel = random_channel(seed, 3, 4)
    for level in (0, 2, 5):
        truth = max(enumerated(channel.pair(i, j), 4, level) for i in range(3) for j in range(3) if i != j)
        repeated = compose(channel, 4, level, points=1 << 14)
        adaptive = compose(channel, 4, level, adaptive=True, points=1 << 14)
        assert repeated.lower <= truth + 1e-12 <= repeated.upper + 2e-12
        assert adaptive.upper >= truth and repeated.upper <= adaptive.upper + 1e-15
        assert repeated.upper - truth <= 1e-4


def test_the_dominating_pair_dominates_every_edge(random_channel: Callable[..., LossChannel]) -> None:
    seen = profile(random_channel(2, 4, 6))
    pair, single = dominating_pair(seen)
    assert single is None
    for level in (0, F(1, 2), 1, 3):
        assert pair_delta(pair, F(level)).upper >= seen.delta_for_epsilon(level).lower
    assert pair_delta(pair, F(1)).upper <= seen.delta_for_epsilon(1).upper + 1e-11


def test_a_mechanism_that_reveals_nothing_composes_to_nothing() -> None:
    assert compose(channel_from_rows([[0.5, 0.5], [0.5, 0.5]]), 50, 0).upper == 0.0
    assert compose(channel_from_rows([[1, 0], [0, 1]], edges=[]), 50, 0).upper == 0.0
    assert compose_epsilon(channel_from_rows([[0.5, 0.5], [0.5, 0.5]]), 50, "0.1").upper == 0.0


def test_dp_accounting_is_never_below_and_within_its_discretisation() -> None:
    from dp_accounting.pld import privacy_loss_distribution

    rng = np.random.default_rng(11)
    step = 1e-3
    for times in (1, 20):
        p, q = rng.dirichlet(np.full(6, 5.0), 2)
        theirs = privacy_loss_distribution.from_two_probability_mass_functions(
            dict(enumerate(np.log(p))),
            dict(enumerate(np.log(q))),
            value_discretization_interval=step,
            symmetric=False,
        ).self_compose(times)
        channel = channel_from_rows([p.tolist(), q.tolist()])
        for level in (0.2, 1.0, 3.0):
            ours = compose(channel, times, level, points=1 << 15)
            stated = theirs.get_delta_for_epsilon(level)
            assert stated >= ours.lower - 1e-12
            shifted = compose(channel, times, max(level - times * step, 0.0), points=1 << 15)
            assert stated <= shifted.upper + 1e-9
