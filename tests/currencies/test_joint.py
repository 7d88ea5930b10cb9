"""Batches of releases: the composed ε is proved from above, agrees with exact results, and is never below the truth."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.currencies.channel import channel_from_rows
from discreet.currencies.composition import optimal_delta, optimal_epsilon
from discreet.currencies.domination import coarsened, dominates, envelope
from discreet.currencies.joint import Part, joint_epsilon
from discreet.currencies.pair import Pair, exact_pair, pair_of
from discreet.currencies.profiles import pair_delta
from discreet.currencies.repeated import compose_pair
from discreet.errors import InputError

TENTH = Fraction(1, 10)
MILLIONTH = Fraction(1, 10**6)


def noisy(steps: int = 24, spread: float = 8.0) -> Pair:
    """Two rounded bell curves one apart: losses of many sizes, so that their ε alone says much less."""
    weights = [max(round(10**9 * exp(-((i - steps / 2) ** 2) / (2 * spread))), 1) for i in range(steps + 1)]
    first, second = [*weights, 1], [1, *weights]
    return exact_pair([Fraction(w, sum(first)) for w in first], [Fraction(w, sum(second)) for w in second])


def both_ways(pair: Pair) -> Pair:
    return envelope([pair, pair.reversed()])


def level(pair: Pair) -> Fraction:
    """A rational ε that the pair satisfies in both directions."""
    largest = max(pair.largest_ratio or Fraction(0), pair.reversed().largest_ratio or Fraction(0))
    epsilon = Fraction(0)
    while exp(epsilon) < largest * (1 + 1e-9):
        epsilon += Fraction(1, 50)
    return epsilon


@pytest.mark.parametrize(("epsilon", "times", "delta"), [("1/10", 20, 6), ("1/2", 50, 9), ("1", 8, 3), ("1/3", 1, 4)])
def test_equal_parts_give_the_optimal_composition(epsilon: str, times: int, delta: int) -> None:
    """KOV Thm 3.3, computed elsewhere by its own sum."""
    rate, chance = Fraction(epsilon), Fraction(1, 10**delta)
    known = optimal_epsilon(rate, Fraction(0), times, chance)
    found = joint_epsilon([Part(rate)] * times, chance)
    assert known.lower <= found <= known.upper + 2e-12
    assert joint_epsilon([Part(rate, None, times)], chance) == found


def test_twenty_tenths_cost_less_than_two_and_a_billionth_less_is_not_enough() -> None:
    """The near-miss: at the ε that is found δ suffices, a billionth below it does not."""
    found = joint_epsilon([Part(TENTH)] * 20, MILLIONTH)
    assert found < Fraction(9, 5)
    assert Fraction(optimal_delta(TENTH, Fraction(0), 20, found).upper) <= MILLIONTH
    assert Fraction(optimal_delta(TENTH, Fraction(0), 20, found - Fraction(1, 10**9)).lower) > MILLIONTH


@settings(max_examples=30)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(2, 9))
def test_different_parts_are_composed_exactly(sixtieths: list[int], power: int) -> None:
    """All 2^k outcomes of randomised responses listed one by one, in floats with room for their errors."""
    epsilons, delta = [Fraction(n, 60) for n in sixtieths], Fraction(1, 10**power)
    found = joint_epsilon([Part(e) for e in epsilons], delta)
    outcomes = [(1.0, 1.0)]
    for e in epsilons:
        p = 1 / (1 + exp(-float(e)))
        outcomes = [(a * x, b * y) for a, b in outcomes for x, y in ((p, 1 - p), (1 - p, p))]

    def needed(at: float) -> float:
        return sum(max(a - exp(at) * b, 0.0) for a, b in outcomes)

    assert needed(float(found)) <= float(delta) * (1 + 1e-6) + 1e-14
    if found < sum(epsilons):
        assert needed(float(found) - 1e-6) > float(delta) * (1 - 1e-9) - 1e-14 or found == 0


def test_a_lattice_that_is_too_fine_is_replaced_by_one_that_costs_little_more() -> None:
    fine = [Fraction(1, 7), Fraction(1, 9_999_991), Fraction(2, 5)]
    exact = joint_epsilon([Part(Fraction(1, 7)), Part(Fraction(2, 5))], MILLIONTH)
    found = joint_epsilon([Part(e) for e in fine], MILLIONTH)
    assert exact < found < exact + Fraction(1, 10**5)


def test_known_losses_compose_better_than_their_epsilon_and_never_below_the_truth() -> None:
    pair = both_ways(noisy())
    epsilon = level(pair)
    coarse = coarsened(pair, epsilon)
    times, delta = 12, Fraction(1, 10**5)
    by_loss = joint_epsilon([Part(epsilon, coarse)] * times, delta)
    by_epsilon = joint_epsilon([Part(epsilon)] * times, delta)
    assert by_loss < by_epsilon / 2 and by_epsilon <= times * epsilon
    for one in (pair, pair.reversed()):
        truth = compose_pair(one, times, by_loss)
        assert truth.lower <= delta, "what is promised is not refuted by the bracket of the same composition"
    nearly = joint_epsilon([Part(epsilon, pair)] * times, delta)
    assert nearly <= by_loss < nearly * Fraction(11, 10), "few atoms cost little"
    assert compose_pair(pair, times, nearly * Fraction(99, 100)).lower > delta, "and a hundredth less is refuted"


def test_hostile_parts_cost_no_more_than_a_moment() -> None:
    """A pair from a stranger's file with absurd ratios, or thousands of tiny parts: the sum is the answer, at once."""
    tiny = Fraction(1, 10**60)
    wild = exact_pair([1 - tiny, tiny], [tiny, 1 - tiny])
    assert joint_epsilon([Part(Fraction(1, 1000), wild, 2)], MILLIONTH) == Fraction(2, 1000)
    many = [Part(Fraction(1, 10**9 + 7), None, 900), Part(Fraction(1, 3))]
    assert joint_epsilon(many, MILLIONTH) <= Fraction(1, 3) + Fraction(900, 10**9)
    assert joint_epsilon(many * 2, MILLIONTH) == 2 * (Fraction(900, 10**9 + 7) + Fraction(1, 3))
    apart = exact_pair([Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)])
    assert joint_epsilon([Part(Fraction(1), apart), Part(Fraction(1))], Fraction(99, 100)) == 2
    assert joint_epsilon([Part(Fraction(1000), None, 999), Part(Fraction(999, 7))], MILLIONTH) == 999_000 + Fraction(999, 7)


def test_hundreds_of_different_parts_take_a_moment() -> None:
    """Every publication and every verification of a member composes the whole batch again."""
    parts = [Part(Fraction(1, 10) + Fraction(i, 10**6)) for i in range(300)]
    found = joint_epsilon(parts, MILLIONTH)
    assert joint_epsilon([Part(Fraction(1, 10), None, 300)], MILLIONTH) < found
    assert found < joint_epsilon([Part(Fraction(1, 10) + Fraction(300, 10**6), None, 300)], MILLIONTH) * Fraction(1001, 1000)


def test_parts_of_both_kinds_go_together() -> None:
    pair = both_ways(noisy())
    epsilon = level(pair)
    mixed = joint_epsilon([Part(epsilon, pair), Part(TENTH, None, 5)], MILLIONTH)
    assert mixed <= joint_epsilon([Part(epsilon), Part(TENTH, None, 5)], MILLIONTH)
    assert mixed >= joint_epsilon([Part(epsilon, pair)], MILLIONTH)


def test_without_delta_epsilons_add_up() -> None:
    assert joint_epsilon([Part(TENTH, None, 3), Part(Fraction(1, 7))], Fraction(0)) == Fraction(3, 10) + Fraction(1, 7)
    assert joint_epsilon([], MILLIONTH) == 0 == joint_epsilon([Part(Fraction(0))], MILLIONTH)


def test_outputs_that_give_a_state_away_leave_nothing_to_gain() -> None:
    leaky = pair_of(["1/2", "1/2", "0"], ["0", "1/2", "1/2"])
    assert joint_epsilon([Part(Fraction(3), leaky)], Fraction(1, 10)) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Part(Fraction(-1)),
        lambda: Part(TENTH, None, 0),
        lambda: Part(TENTH, None, 10**6),
        lambda: Part(Fraction(10**6)),
        lambda: joint_epsilon([], Fraction(1)),
    ],
)
def test_nonsense_is_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


def test_domination_is_decided_at_every_level() -> None:
    strong = pair_of(["3/4", "1/4"], ["1/4", "3/4"])
    weak = pair_of(["2/3", "1/3"], ["1/3", "2/3"])
    other = pair_of(["1/2", "1/2"], ["1/8", "7/8"])
    assert dominates(strong, weak) and not dominates(weak, strong)
    assert not dominates(strong, other) and not dominates(other, strong), "each is better at some ε"
    above = envelope([strong, other])
    assert dominates(above, strong) and dominates(above, other)
    for x in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2)):
        assert pair_delta(above, x).upper >= max(pair_delta(strong, x).lower, pair_delta(other, x).lower)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=7), st.randoms(use_true_random=False))
def test_what_is_coarsened_dominates(weights: list[int], chance: object) -> None:
    others = list(weights)
    chance.shuffle(others)  # type: ignore[attr-defined]
    pair = pair_of([Fraction(w, sum(weights)) for w in weights], [Fraction(w, sum(others)) for w in others])
    coarse = coarsened(pair, Fraction(1, 2))
    assert dominates(coarse, pair) and len(coarse.key) <= 52
    assert dominates(coarse, coarse)


def test_a_pair_of_a_channel_dominates_all_its_edges() -> None:
    from discreet.currencies.profiles import profile
    from discreet.currencies.repeated import dominating_pair

    channel = channel_from_rows([["1/2", "1/3", "1/6"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]], edges=[(0, 1), (1, 2)])
    pair = dominating_pair(profile(channel))[0]
    for direction in range(channel.directed):
        assert dominates(pair, channel.pair(*channel.states_of(direction)))
