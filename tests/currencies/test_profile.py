"""δ(ε), the tight ε and what follows, against brute force over all events, closed forms and awkward mechanisms.

Executes DR Def. 1.1.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from discreet.currencies.attack import advantage, bayes_success, pair_success, success_at
from discreet.currencies.channel import LossChannel, channel_from_rows, channel_of
from discreet.currencies.divergences import pair_renyi, relative_entropy, renyi
from discreet.currencies.groups import group
from discreet.currencies.loss import loss_distribution
from discreet.currencies.pair import pair_of
from discreet.currencies.profiles import pair_delta, pair_epsilon, profile
from discreet.currencies.tight import tight_epsilon
from discreet.currencies.tradeoffs import approximate_tradeoff, tradeoff
from discreet.currencies.zcdp import rho
from discreet.errors import InputError

F = Fraction
INF = math.inf


def events(channel: LossChannel) -> list[tuple[Fraction, Fraction]]:
    """(P(A), Q(A)) of every event on every directed edge, exact."""
    found = []
    outputs = len(channel.outputs)
    for a, b in channel.edges.tolist():
        for one, other in permutations((a, b)):
            p = [channel.exact(y, one) for y in range(outputs)]
            q = [channel.exact(y, other) for y in range(outputs)]
            for chosen in product((0, 1), repeat=outputs):
                inside = [y for y in range(outputs) if chosen[y]]
                found.append((sum((p[y] for y in inside), F(0)), sum((q[y] for y in inside), F(0))))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("zeros", [False, True])
def test_delta_is_the_largest_excess_over_all_events(seed: int, zeros: bool, random_channel: Callable[..., LossChannel]) -> None:
    channel = random_channel(seed, 3, 7, zeros=zeros)
    seen, every = profile(channel), events(channel)
    for epsilon in (0, F(1, 10), 1, 3):
        truth = max(float(p) - math.exp(epsilon) * float(q) for p, q in every)
        found = seen.delta_for_epsilon(epsilon)
        assert found.lower - 1e-14 <= truth <= found.upper + 1e-14
        assert found.upper - found.lower <= 1e-14
        assert found.upper <= seen.deltas([float(epsilon)])[0] <= found.upper + 1e-11
    assert advantage(seen).bracket.middle == pytest.approx(float(max(p - q for p, q in every)), abs=1e-15)
    pi = F(3, 10)
    truth = float(max(pi * p + (1 - pi) * (1 - q) for p, q in every))
    assert bayes_success(seen, pi).bracket.middle == pytest.approx(truth, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_twelve_outputs_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair = pair_of(*rng.dirichlet(np.ones(12), 2).tolist())
    p, q = np.array(pair.first) / pair.denominator, np.array(pair.second) / pair.denominator
    masks = (np.arange(4096)[:, None] >> np.arange(12)) & 1
    for epsilon in (0.0, 0.5, 2.0):
        truth = float((masks @ p - math.exp(epsilon) * (masks @ q)).max())
        found = pair_delta(pair, F(epsilon))
        assert abs(found.middle - truth) < 1e-13 and found.width < 1e-15
    level = 0.1
    fitting = float((masks @ p)[masks @ q <= level].max())
    assert pair_success(pair, F(1, 10)).lower >= fitting - 1e-15


def test_the_tight_epsilon_is_an_exact_ratio() -> None:
    channel = channel_from_rows([["1/3", "2/3"], ["1/2", "1/2"]])
    tight = tight_epsilon(channel)
    assert tight.ratio == F(3, 2) and tight.edge == ("1", "0") and tight.output == "0"
    assert tight.bracket.lower <= math.log(1.5) <= tight.upper <= math.nextafter(math.log(1.5), 2) * (1 + 1e-15)


def test_a_ratio_larger_by_one_part_in_ten_to_the_forty_is_the_tight_one() -> None:
    tiny = F(1, 10**40)
    rows = [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)], [F(1, 3) - tiny, F(2, 3) + tiny]]
    found = tight_epsilon(channel_from_rows(rows, edges=[(0, 1), (1, 2)]))
    assert found.ratio == F(1, 2) / (F(1, 3) - tiny) and found.edge == ("1", "2")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomised_response_in_closed_form(epsilon: float, response: Callable[[float], LossChannel]) -> None:
    seen = profile(response(epsilon))
    assert seen.epsilon.upper == pytest.approx(epsilon, abs=1e-14)
    for at in (0.0, epsilon / 3, epsilon / 2):
        truth = (math.exp(epsilon) - math.exp(at)) / (1 + math.exp(epsilon))
        found = seen.delta_for_epsilon(at)
        assert found.bracket.middle == pytest.approx(truth, abs=1e-14)
        assert seen.epsilon_for_delta(found.upper).bracket.middle == pytest.approx(at, abs=1e-12)
    assert relative_entropy(seen.channel).upper == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)
    assert rho(seen.channel).upper == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=2e-9)
    for order in (1.5, 2.0, 10.0):
        closed = (math.log(math.cosh(epsilon * (order - 0.5))) - math.log(math.cosh(epsilon / 2))) / (order - 1)
        assert renyi(seen.channel, order).bracket.middle == pytest.approx(closed, rel=1e-12)
    assert renyi(seen.channel, INF).upper == seen.epsilon.upper


def test_the_geometric_mechanism_in_closed_form(geometric: Callable[..., object]) -> None:
    ratio = F(2, 3)
    seen = profile(geometric(8, ratio))  # type: ignore[arg-type]
    assert seen.epsilon.ratio == 1 / ratio
    # Each edge is randomised response with odds 1/r: masses 1/(1+r) and r/(1+r).
    assert advantage(seen).bracket.middle == pytest.approx(float((1 - ratio) / (1 + ratio)), abs=1e-16)
    assert len(seen.breakpoints) == 2


def test_delta_and_epsilon_are_inverse(random_channel: Callable[..., LossChannel]) -> None:
    seen = profile(random_channel(3, 5, 8))
    for delta in ("0.3", "0.1", "1e-3", "1e-9"):
        epsilon = seen.epsilon_for_delta(delta)
        assert seen.delta_for_epsilon(epsilon.upper).upper <= float(delta) * (1 + 1e-9)
        if epsilon.lower > 0:
            assert seen.delta_for_epsilon(epsilon.lower * (1 - 1e-9)).upper > float(delta)
    assert seen.epsilon_for_delta(0).upper == seen.epsilon.upper
    assert seen.epsilon_for_delta(1).upper == 0.0


def test_a_pair_that_leaks_has_no_level_below_its_leak() -> None:
    leaking = pair_of(["1/10", "9/10"], [0, 1])
    assert pair_epsilon(leaking, F(1, 20)).upper == INF
    assert pair_epsilon(leaking, F(1, 10)).upper == 0.0


def test_the_loss_distribution_holds_the_profile() -> None:
    pair = pair_of(["1/2", "1/4", "1/4", 0], ["1/8", "1/2", 0, "3/8"])
    losses = loss_distribution(pair)
    assert losses.infinite == F(1, 4) and losses.mean().upper == INF
    assert [atom.ratio for atom in losses.atoms] == [F(1, 2), F(4), None]
    assert losses.exceeds(F(1)) == F(3, 4) and losses.exceeds(F(2)) == F(1, 4)
    closed = pair_of(["2/3", "1/3"], ["1/3", "2/3"])
    assert loss_distribution(closed).mean().middle == pytest.approx(pair_renyi(closed, F(1)).middle, abs=1e-16)


@pytest.mark.parametrize("seed", range(4))
def test_the_tradeoff_is_below_every_test_and_dual_to_delta(seed: int, random_channel: Callable[..., LossChannel]) -> None:
    seen = profile(random_channel(seed, 3, 6))
    curve = tradeoff(seen)
    alphas = [a for a, _ in curve.corners]
    assert alphas == sorted(alphas) and curve.corners[0] == (0.0, 1.0) and curve.corners[-1][1] == 0.0
    for p, q in events(seen.channel):
        assert curve.beta(q) <= float(1 - p) + 1e-15
    for epsilon in (0.0, 0.7, 2.0):
        dual = 1 - min(b + math.exp(epsilon) * a for a, b in curve.corners)
        assert dual == pytest.approx(seen.deltas([epsilon])[0], abs=1e-10)
    for alpha in (F(1, 100), F(1, 4)):
        assert 1 - success_at(seen, alpha).upper >= curve.beta(alpha) - 1e-15


def test_the_tradeoff_of_randomised_response_is_that_of_pure_privacy(response: Callable[[float], LossChannel]) -> None:
    curve, pure = tradeoff(profile(response(1.0))), approximate_tradeoff(1)
    for alpha in np.linspace(0, 1, 21).tolist():
        assert curve.beta(alpha) == pytest.approx(pure(alpha), abs=1e-12)


# ---- awkward mechanisms ---------------------------------------------------------------------------------------------


def test_equal_rows_reveal_nothing() -> None:
    seen = profile(channel_from_rows([["1/7", "6/7", 0]] * 3))
    assert seen.epsilon.ratio == 1 and seen.epsilon.upper == 0.0
    assert seen.delta_for_epsilon(0).upper == 0.0 and seen.epsilon_for_delta("1e-9").upper == 0.0
    assert rho(seen.channel).upper == 0.0 and relative_entropy(seen.channel).upper == 0.0
    assert tradeoff(seen).beta("0.3") == pytest.approx(0.7, abs=1e-12)
    assert bayes_success(seen).upper == 0.5


def test_no_edges_promise_everything() -> None:
    seen = profile(channel_from_rows([[1, 0], [0, 1]], edges=[]))
    assert seen.epsilon.upper == 0.0 and seen.delta_for_epsilon(0).upper == 0.0 and rho(seen.channel).upper == 0.0
    assert tradeoff(seen).corners == ((0.0, 1.0), (1.0, 0.0))
    assert success_at(seen, "0.2").bracket.middle == pytest.approx(0.2, abs=1e-16)


def test_only_connected_states_are_compared() -> None:
    rows = [[0.5, 0.5], [0.4, 0.6], [1, 0], [0.9, 0.1]]
    seen = profile(channel_from_rows(rows, edges=[(0, 1)]))
    assert seen.epsilon.ratio == F(5, 4)
    assert profile(channel_from_rows(rows, edges=[(0, 1), (2, 3)])).epsilon.ratio is None


def test_an_impossible_output_on_one_side_is_infinite_loss() -> None:
    seen = profile(channel_from_rows([[0.5, 0.5, 0], [0.5, 0.49, 0.01]]))
    assert seen.epsilon.ratio is None and seen.epsilon.edge == ("1", "0") and seen.epsilon.output == "2"
    assert rho(seen.channel).upper == INF and renyi(seen.channel, 2).upper == INF
    assert seen.delta_for_epsilon(50).bracket.middle == pytest.approx(0.01, abs=1e-17)
    assert seen.epsilon_for_delta("0.001").upper == INF
    assert seen.epsilon_for_delta("0.01").upper < 0.1
    # An output that nobody can produce changes nothing.
    assert profile(channel_from_rows([[0.5, 0.5, 0], [0.4, 0.6, 0]])).epsilon.ratio == F(5, 4)


@pytest.mark.parametrize("exponent", [300, 320, 2000])
def test_probabilities_of_ten_to_the_minus_hundreds(exponent: int) -> None:
    small = F(1, 10**exponent)
    seen = profile(channel_from_rows([[small, 1 - small], [3 * small, 1 - 3 * small]]))
    assert seen.epsilon.ratio == 3 and seen.epsilon.edge == ("1", "0")
    found = seen.delta_for_epsilon("0.5")
    truth = (3 - math.exp(0.5)) * float(small)
    assert found.lower <= truth * (1 + 1e-12) and found.upper <= max(truth * (1 + 1e-9), 1e-306)
    # K(t) is near max(t log 3 − log 1/p, 0), whose quotient by t² peaks at (log 3)²/(4 log 1/p).
    closed = math.log(3) ** 2 / (4 * (exponent * math.log(10) - math.log(3)))
    assert rho(seen.channel).upper == pytest.approx(closed, rel=0.02)


def test_near_equal_rows_keep_their_digits() -> None:
    gap = F(1, 10**9)
    seen = profile(channel_from_rows([[F(1, 2) + gap, F(1, 2) - gap], [F(1, 2), F(1, 2)]]))
    assert seen.delta_for_epsilon(0).bracket.middle == pytest.approx(1e-9, rel=1e-15)
    assert relative_entropy(seen.channel).bracket.middle == pytest.approx(2e-18, rel=1e-6)


def test_groups_are_looser_and_never_looser_than_k_times(random_channel: Callable[..., LossChannel]) -> None:
    line = random_channel(5, 7, 5, line=True)
    single = profile(line).epsilon.upper
    last = 0.0
    for size in (1, 2, 3, 10):
        found = profile(group(line, size))
        assert last <= found.epsilon.upper <= size * single + 1e-12
        last = found.epsilon.upper
    assert len(group(line, 10).edges) == 21
    with pytest.raises(InputError, match="at least one"):
        group(line, 0)


@pytest.mark.parametrize("bad", [-1, "-0.1"])
def test_negative_levels_are_refused(bad: object, response: Callable[[float], LossChannel]) -> None:
    seen = profile(response(1.0))
    with pytest.raises(InputError, match="negative"):
        seen.delta_for_epsilon(bad)
    with pytest.raises(InputError, match="negative"):
        seen.epsilon_for_delta(bad)
    with pytest.raises(InputError, match="not a distribution"):
        channel_from_rows([[0.5, 0.6], [0.5, 0.5]])
    with pytest.raises(InputError, match="order"):
        renyi(seen.channel, "0.5")


def test_zcdp_against_a_fine_grid_of_orders(random_channel: Callable[..., LossChannel]) -> None:
    for seed in range(5):
        channel = random_channel(seed, 3, 5)
        found = rho(channel)
        w = channel.probabilities
        grid = 1 + np.geomspace(1e-5, 50, 3000)
        best = max(
            float(np.log((w[:, i] ** a * w[:, j] ** (1 - a)).sum()) / (a - 1) / a)
            for i, j in permutations(range(3), 2)
            for a in grid
        )
        assert best <= found.upper * (1 + 1e-9) and found.lower >= best * (1 - 1e-4)
        assert found.upper - found.lower <= 2e-9 * found.upper


def test_a_mechanism_is_read_as_its_channel(geometric: Callable[..., object]) -> None:
    mechanism = geometric(5)
    channel = channel_of(mechanism)  # type: ignore[arg-type]
    assert len(channel.edges) == 5 and channel.exact(0, 0) == F(2, 3)
    assert tight_epsilon(mechanism).ratio == 2  # type: ignore[arg-type]
