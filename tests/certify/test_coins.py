"""Coins between two types: no ε-private mechanism loses less, whatever a witness says; what does not fit is refuted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, factorial, prod
from operator import le
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mutation import limited, unexplained

import discreet
from discreet.certify.bounds import coins as coins_module
from discreet.certify.bounds.chain import chain_upper_bound
from discreet.certify.bounds.coins import (
    _ways,
    chance_at_least,
    chance_of,
    coins_stage,
    coins_upper_bound,
    in_tiers,
    unknown_to_all,
)
from discreet.certify.duality.pulls import rounded
from discreet.certify.optimality import upper_bound
from discreet.design import design
from discreet.design.crew.shared_out import shared_out
from discreet.design.ladder.bounds import counts
from discreet.design.ladder.bounds import dice as proposing
from discreet.design.ladder.bounds.coins import best_coins
from discreet.design.ladder.bounds.counts import coins_bound
from discreet.design.ladder.bounds.dice import (
    ALL_STATES,
    FINENESSES,
    ON_WINDOWS,
    dice_bound,
    dice_within,
    in_tiers_of,
    promising,
    taking,
    why_no_coins,
)
from discreet.design.ladder.bounds.far import BY_HOLDERS, numbers_of
from discreet.design.ladder.bounds.throws import dice_of, likely_graph, likely_states, states_of
from discreet.design.schedule import Until, counted, now, spend, time_left
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.certificate import certificate_document, certificate_from_document
from discreet.files.problem import problem_from_document
from discreet.model.certificate import (
    Certificate,
    CoinsTier,
    CoinsWitness,
    Multipliers,
    OptimalityClaim,
    PrivacyProof,
    TheoremWitness,
    TypeDie,
    coin,
)
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.watch import Watch

BOUNDS = Path(discreet.__file__).parent / "certify" / "bounds"
COINS, COUNTS = BOUNDS / "coins.py", BOUNDS / "counts.py"
SMALL = (coin(0, 2, Fraction(2, 5), 3, 0, 3), coin(0, 1, Fraction(3, 5), 1, 0, 1))
DICE = (
    TypeDie((0, 1, 2), (Fraction(2, 5), Fraction(1, 10), Fraction(1, 5)), 3, ((0, 1), (0, 2))),
    coin(0, 1, Fraction(1, 10), 1, 0, 1),
)
ODD = (["1", "0", "0"], ["0.999999", "0.0000005", "0.0000005"], ["0.01", "0.01", "0.98"], ["1/3", "1/3", "1/3"])
QUICKER = "the other way to tell is slower and says the same"
EQUIVALENT = {
    "counts: grain.denominator == grain.numerator and origin.denominator == 1 [And→Or at 0]": QUICKER,
    "counts: origin.denominator == 1 [1→0 at 1]": QUICKER,
    "counts: origin.denominator == 1 [Eq→NotEq at 0]": QUICKER,
}


def asked(respondents: int = 8, epsilon: str = "1", kind: str = "squared-error", actions: Any = "real", **more: Any) -> Problem:
    return problem_from_document(
        {
            "data": {"respondents": respondents, "values": more.get("values", [0, 1, 2])},
            "prior": more.get("prior", {"kind": "iid", "probabilities": more.get("chances", ["0.5", "0.3", "0.2"])}),
            "statistic": {"kind": "sum"},
            "decision": {"kind": kind, "actions": actions},
            "privacy": {"epsilon": epsilon, "unit": "person"},
        }
    )


def any_witness(
    rng: Random, problem: Problem, coins: tuple[TypeDie, ...] = SMALL, nodes: tuple[Any, ...] | None = None
) -> CoinsWitness:
    """Random multipliers on the edges between the states of coins."""
    stage = coins_stage(iid_sum(problem), coins)
    ends = min(stage.omegas), max(stage.omegas)
    edges = [pair for a, b in sorted(stage.edges) for pair in ((a, b), (b, a))]
    each = [
        Multipliers(a, tuple((*edge, rng.randint(0, 40)) for edge in edges if rng.random() < 0.5))
        for a in nodes or (ends[0], sum(ends) / 3, ends[1])
    ]
    return CoinsWitness(coins, 1 << 9, tuple(each))


@pytest.mark.parametrize(("kind", "actions"), [("squared-error", "real"), ("squared-error", "integer"), ("absolute-error", "real")])
def test_no_design_loses_less(kind: str, actions: str) -> None:
    problem = asked(kind=kind, actions=actions)
    best = design(problem, gap=1e-5, compare=False).loss
    lower, witness = coins_bound(problem, SMALL, 60.0)
    proved = -coins_upper_bound(problem, witness)
    assert 0 < proved < best and proved <= lower
    assert all(-coins_upper_bound(problem, any_witness(Random(seed), problem)) <= best for seed in range(5))


def test_a_die_for_everybody_loses_nothing_and_a_narrower_one_proves_less() -> None:
    """A die with everybody's law is the problem itself; whatever is told of it, and any multipliers, prove no more."""
    problem = asked(6)
    best = design(problem, gap=1e-5, compare=False).loss
    whole = (TypeDie((0, 1, 2), (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), 6, ((0, 3), (0, 3))),)
    proved = [-coins_upper_bound(problem, coins_bound(problem, dice, 60.0)[1]) for dice in (whole, DICE)]
    assert 0.8 * best < proved[0] < best and 0 < proved[1] < proved[0]
    assert all(-coins_upper_bound(problem, any_witness(Random(seed), problem, DICE)) <= best for seed in range(5))


def test_masses_of_dice_are_those_of_throws() -> None:
    """Multinomial probabilities, rounded down; those of even coins once, and together with others."""
    stage = coins_stage(iid_sum(asked()), DICE)
    ways = lambda x, y: Fraction(factorial(3), factorial(x) * factorial(y) * factorial(3 - x - y))  # noqa: E731
    exact = [
        ways(x, y) * Fraction(4, 7) ** (3 - x - y) * Fraction(1, 7) ** x * Fraction(2, 7) ** y / 2
        for x in range(2) for y in range(3) for _ in range(2)
    ]  # fmt: skip
    assert all(0 <= true - mass < Fraction(1, 2**159) for mass, true in zip(stage.masses, exact, strict=True))
    assert any(mass < true for mass, true in zip(stage.masses, exact, strict=True))
    even = coins_stage(iid_sum(asked()), (coin(0, 2, Fraction(2, 5), 300, 150, 151),))
    assert even.masses == [rounded(Fraction(comb(300, x), 2**300)) for x in (150, 151)]
    third = TypeDie((0, 1, 2, 3), (Fraction(1, 3), Fraction(1, 6), Fraction(1, 12), Fraction(1, 4)), 9, ((1, 2), (2, 3), (0, 4)))
    falls = [(5 + 4 - x - y - z, x, y, z) for x in (1, 2) for y in (2, 3) for z in range(5)]
    throws = lambda n: factorial(9) // prod(map(factorial, n)) * 4 ** n[0] * 2 ** n[1] * 3 ** n[3]  # noqa: E731
    assert list(_ways(third)) == [throws(n) for n in falls]


@pytest.mark.parametrize(("epsilon", "more"), [("2", 1.1), ("1", 1.0)])
def test_dice_prove_more_than_a_chain_where_few_have_the_highest_value(epsilon: str, more: float) -> None:
    problem = asked(1000, epsilon, values=list(range(6)), chances=["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"])
    dice = dice_of(problem)
    assert [[die.faces for die in each] for each in dice[:2]] == [[(0, 5)], [(0, 5), (0, 2)]]
    assert all(map(le, map(states_of, dice), map(states_of, dice[1:]))) and len(set(dice)) == len(dice)
    _, found = dice_bound(problem, in_tiers_of(iid_sum(problem), dice[1], 3), 60.0)
    chain = chain_upper_bound(problem, TheoremWitness("chain", (("low", "0"), ("high", "5"))))
    assert coins_upper_bound(problem, found) < Fraction(more) * chain


def tier(witness: CoinsWitness) -> CoinsTier:
    return CoinsTier(witness.coins[0].number, witness.coins[0].counts, witness.scale, witness.multipliers)


def test_tiers_prove_the_mean_over_how_many_hold_the_die() -> None:
    """What more holders hide counts as often as there are so many: by itself it would be more than the best design loses."""
    problem, share = asked(6, values=[0, 1, 4], chances=["0.6", "0.1", "0.3"]), Fraction(3, 5)
    best = design(problem, gap=1e-5, compare=False).loss
    each = [coins_bound(problem, (coin(0, 2, share, number, 0, number),), 60.0) for number in (2, 3, 4, 6)]
    assert all(one[0] < other[0] for one, other in pairwise(each))
    assert each[-1][0] > best  # as if all six held it
    alone = [-coins_upper_bound(problem, witness) for _, witness in each]
    together = replace(each[0][1], tiers=tuple(tier(witness) for _, witness in each[1:]))
    proved = -coins_upper_bound(problem, together)
    assert max(alone) < proved < best
    chances = [sum(comb(6, k) * share**k * (1 - share) ** (6 - k) for k in range(number, 7)) for number in (2, 3, 4, 6)]
    losses = [0, *(float(one / chance) for one, chance in zip(alone, chances, strict=True))]
    gained = [float(chance) * (b - a) for chance, a, b in zip(chances, losses, losses[1:], strict=False)]
    assert float(proved) == pytest.approx(sum(gained), rel=1e-9)
    for order in ((3, 1, 2), (2, 3, 1), (1, 1, 2, 3)):  # in any order, and no tier counts twice
        assert -coins_upper_bound(problem, replace(together, tiers=tuple(tier(each[k][1]) for k in order))) == proved
    silent = tuple(Multipliers(Fraction(end), ()) for end in (0, 5))
    useless = replace(together, tiers=(*together.tiers, CoinsTier(5, ((0, 5),), 1, silent)))
    assert -coins_upper_bound(problem, useless) == proved  # a tier that proves nothing takes nothing away


def test_who_lacks_a_coin_is_taken_off_in_every_tier() -> None:
    problem = asked(6, values=[0, 1, 4], chances=["0.6", "0.1", "0.3"])
    dice = [(coin(0, 2, Fraction(3, 5), number, 0, number), coin(0, 1, Fraction(1, 5), 1, 0, 1)) for number in (2, 3)]
    (low, first), (high, second) = (coins_bound(problem, each, 60.0) for each in dice)
    proved = -coins_upper_bound(problem, replace(first, tiers=(tier(second),)))
    chances = [sum(comb(6, k) * 0.6**k * 0.4 ** (6 - k) for k in range(number, 7)) for number in (2, 3)]
    expected = chances[0] * low + chances[1] * (high - low) - 0.8**6 * high
    assert float(proved) == pytest.approx(expected, rel=1e-3) and proved < design(problem, compare=False).loss


def test_dice_in_tiers_prove_more_than_in_one() -> None:
    problem = asked(100, values=list(range(6)), chances=["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"])
    law, dice = iid_sum(problem), next(each for each in dice_of(problem) if [die.faces for die in each] == [(0, 5, 4), (0, 2)])
    one, three = (-coins_upper_bound(problem, dice_bound(problem, in_tiers_of(law, dice, k), 60.0)[1]) for k in (1, 3))
    assert three > Fraction(103, 100) * one
    with counted():
        within = dice_within(problem, 8.0)
        (few, many), most = promising(problem, within, 1.0)
        assert most == 0.0  # there is no time for trials: some with few states come first, and promise nothing
        (many,), most = promising(problem, within, 60.0)
        bound, witness = dice_bound(problem, few, 8.0)
        assert few.states < many.states and 0 < bound < most
        assert all(other.tiers != few.tiers for other in dice_within(problem, 8.0, witness))
        hasty = dice_bound(problem, few, 0.0)[1]
    assert len(hasty.tiers) == 0 < len(witness.tiers)


SIX: dict[str, Any] = {"values": list(range(6)), "chances": ["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"]}


def test_dice_with_many_states_are_tried_roughly_and_the_best_have_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows from thirty states on: they prove nearly what all states prove, and no more."""
    for module in (proposing, counts):
        monkeypatch.setattr(module, "FEW_STATES", 30)
    monkeypatch.setattr(proposing, "TIERS", (3,))
    problem, listed = asked(60, "2", **SIX), asked(60, "2", actions="integer", **SIX)
    assert not any(one.many for one in dice_within(listed, 20.0))
    law, small = iid_sum(problem), next(each for each in dice_of(problem) if [die.faces for die in each] == [(0, 5, 4), (0, 2)])
    whole, windowed = (in_tiers_of(law, small, 3, fineness) for fineness in (ALL_STATES, ON_WINDOWS[1]))
    assert windowed.many and windowed.states > whole.states and windowed.fineness.gap > whole.fineness.gap
    with counted():
        exact, near = (-coins_upper_bound(problem, dice_bound(problem, each, 600.0)[1]) for each in (whole, windowed))
        assert Fraction(99, 100) * exact < near < Fraction(102, 100) * exact
        within = dice_within(problem, 1.5)
        assert sum(one.many for one in within) > 1 and all(taking(problem, one) <= 1.5 for one in within)
        (best,), most = promising(problem, within, 600.0)
        assert best.many
        assert promising(problem, within[:1], 600.0) == (within[:1], 0.0)  # nothing to be tried
        proved = {one: dice_bound(problem, one, 600.0)[0] for one in within if one.many}
    assert proved[best] > 0.98 * max(proved.values()) and 0.95 * most < proved[best] < 1.05 * most


def test_what_is_thrown_beside_the_far_types_is_found_by_trying() -> None:
    """A coin that two toss, or a small die with two types, proves more than coins of one each, with fewer states."""
    problem = asked(100, **SIX)
    with counted():
        (best,), _ = promising(problem, dice_within(problem, 60.0), 60.0)
        each = {tuple((die.faces, die.number) for die in dice[1:]): dice for dice in dice_of(problem) if len(dice[0].faces) == 4}
        small, coins = each[((0, 1, 2), 1),], each[((0, 2), 1), ((0, 1), 1)]
        one, two = (counts.solved(problem, dice, 1e-3, 4e-3, Until.after(60.0))[0] for dice in (small, coins))
    assert sum(die.number + len(die.faces) - 2 for die in best.tiers[0][1:]) > 1
    assert likely_states(small, 1e-3) < 0.8 * likely_states(coins, 1e-3) and one > two


@pytest.mark.parametrize("longer", [0.3, 1.0, 4.0])
def test_a_tier_is_solved_as_near_as_there_is_time_for_by_the_one_before(longer: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: a machine that is slower than guessed, on which tiers were cut off, or one that is quicker."""
    problem, solved = asked(100, **SIX), []

    def slowly(
        asked: Problem, dice: tuple[TypeDie, ...], left_out: float, gap: float, until: Watch
    ) -> tuple[float, int, tuple[()]]:
        (fineness,) = (one for one in FINENESSES if (one.left_out, one.gap) == (left_out, gap))
        solved.append(left_out)
        spend(min(longer * taking(asked, replace(chosen, tiers=(dice,), fineness=fineness)), time_left(until)))
        return 5.0, 1, ()

    with counted():
        within = [one for one in dice_within(problem, 60.0) if one.many and len(one.tiers) > 8]
        chosen = max(within, key=lambda one: one.fineness.left_out)
        monkeypatch.setattr(proposing, "solved", slowly)
        monkeypatch.setattr(proposing, "shared_out", lambda *parts, **more: shared_out(*parts, **{**more, "guess": 0.0}))
        started = now()
        dice_bound(problem, chosen, 60.0)
        assert now() - started <= 60.001
    assert len(solved) == len(chosen.tiers) and solved[0] == chosen.fineness.left_out
    assert (max(solved[1:]) < solved[0]) == (longer < 1) and (min(solved[1:]) > solved[0]) == (longer > 1)


def test_dice_that_too_few_hold_are_not_thrown() -> None:
    """Thirty respondents with three of type 2: a coin of it, as two hold it, would be missed by one cell in twelve."""
    for respondents in (30, 60, 200):
        problem = asked(respondents, "2", **SIX)
        for dice in dice_of(problem):
            assert all(chance_of(respondents, die) > Fraction(97, 100) - Fraction(1, 100) for die in dice[1:])


def test_numbers_of_holders_are_those_that_prove_most() -> None:
    """Beside every other choice of as many numbers; a loss grows with the number of holders."""
    share, mean = Fraction(2, 5), 8.0
    chances = {m: float(chance_at_least(20, share, m)) for m in range(21)}

    def worth(numbers: Sequence[int]) -> float:
        return in_tiers([(m, chances[m], max(1 + BY_HOLDERS * (m / mean - 1), 0.0)) for m in numbers])

    for count in (1, 2, 3):
        found = numbers_of(20, share, 20, count)
        assert len(found) == count == len(set(found)) and list(found) == sorted(found)
        best = max(worth(some) for some in combinations(range(1, 14), count))
        assert worth(found) == pytest.approx(best, abs=1e-12)
    assert worth(numbers_of(20, share, 20, 4)) < worth(numbers_of(20, share, 20, 16)) < 1
    assert numbers_of(20, Fraction(1), 20, 3) == (20,) and max(numbers_of(10**6, Fraction(1, 2), 300, 4)) == 300
    assert numbers_of(3, Fraction(1, 100), 3, 16)[0] >= 0


@pytest.mark.parametrize(("respondents", "epsilon"), [(50, "1"), (50, "2"), (100, "1")])
def test_every_tier_fits_however_many_types_there_are(respondents: int, epsilon: str) -> None:
    """The adversary: eleven types, few of them of the likeliest one, so that windows are as wide as there are throws, or wider."""
    shares = [Fraction(3, 5) ** t for t in range(11)]
    problem = asked(respondents, epsilon, values=list(range(11)), chances=[str(x / sum(shares)) for x in shares])
    law, each = iid_sum(problem), dice_of(problem)
    assert max(len(dice[0].faces) for dice in each) > 5
    for dice in each:
        for count in (3, 16):
            tiers = in_tiers_of(law, dice, count).tiers
            assert len(tiers) > 1
            for tier in tiers:
                unknown_to_all(law, tier).must_be_few()


def test_windows_may_hold_more_than_there_are_throws_and_nobody_is_there() -> None:
    """The adversary: a witness that leads its multipliers through states which no respondents can be in."""
    problem, wide = asked(), (replace(DICE[0], counts=((0, 3), (0, 3))), DICE[1])
    stage = coins_stage(iid_sum(problem), wide)
    states = unknown_to_all(iid_sum(problem), wide).states
    apart = [Fraction(4, 7), Fraction(1, 7), Fraction(2, 7)]
    for (x, y, b), mass in zip(states, stage.masses, strict=True):
        ways = Fraction(factorial(3), prod(map(factorial, (3 - x - y, x, y)))) if x + y <= 3 else Fraction(0)
        true = ways * apart[0] ** max(3 - x - y, 0) * apart[1] ** x * apart[2] ** y / 2
        assert 0 <= true - mass < Fraction(1, 2**100) and (b in (0, 1)) and (mass > 0) == (x + y <= 3)
    assert all(sum(states[h][:2]) <= 3 for edge in stage.edges for h in edge)
    there, beyond = states.index((1, 2, 0)), states.index((2, 2, 0))
    _, whole = coins_bound(problem, wide, 60.0)
    best = design(problem, gap=1e-5, compare=False).loss
    narrow = -coins_upper_bound(problem, coins_bound(problem, DICE, 60.0)[1])
    assert narrow < -coins_upper_bound(problem, whole) < best
    through = replace(whole, multipliers=(Multipliers(whole.multipliers[0].action, ((there, beyond, 1),)), *whole.multipliers[1:]))
    with pytest.raises(Refuted, match="where no edge is"):
        coins_upper_bound(problem, through)


def test_likely_edges_are_those_that_a_program_has() -> None:
    problem = asked(60, "2", values=list(range(6)), chances=["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"])
    law = iid_sum(problem)
    for dice in dice_of(problem)[:6]:
        stage = coins_stage(law, dice)
        kept = set(counts.likely(np.array([float(x) for x in stage.masses]), 1e-3).tolist())
        edges = sum(a in kept and b in kept for a, b in stage.edges)
        assert likely_graph(dice, 0.0) == (len(stage.omegas), len(stage.edges))
        assert likely_graph(dice, 1e-3) == pytest.approx((len(kept), edges), rel=0.15)


def test_dice_are_found_on_either_side_and_for_any_law() -> None:
    mirrored = asked(400, values=[-5, -1, 0, 1], chances=["0.02", "0.1", "0.8", "0.08"])
    assert dice_of(mirrored)[0][0].faces[:2] == (2, 0)
    ends = ((9, "8", False), (20, "1", True), (19, "1", False), (50, "1/2", False), (200, "1/4", False), (1000, "1/4", True))
    for respondents, epsilon, found in ends:  # where few, or little is said of each, one respondent set aside proves more
        assert bool(dice_of(asked(respondents, epsilon, chances=["0.9", "0.06", "0.04"]))) is found
    odd = [asked(100, epsilon, values=[0, 1, 40], chances=chances) for epsilon in ("0", "1/1000", "30") for chances in ODD]
    for problem in odd:
        for dice in dice_of(problem)[:1]:
            coins_upper_bound(problem, any_witness(Random(1), problem, dice))


def test_shares_that_are_written_too_finely_are_refused_before_any_work() -> None:
    """A witness of a few thousand characters could otherwise ask for days of work on numbers of gigabytes."""
    fine = tuple(Fraction(10**999, 5 * (10**999 + k)) for k in (0, 1, 2))
    problem, die = asked(), TypeDie((0, 1, 2), fine, 20_000, ((0, 30), (0, 30)))
    with pytest.raises(TooLarge, match="too finely"):
        coins_stage(iid_sum(problem), (die,))
    chances = [str(Fraction(8, 10) - Fraction(3, 10**400)), *["1/10", "1/20"], str(Fraction(1, 20) + Fraction(3, 10**400))]
    assert dice_of(asked(20_000, values=[0, 1, 5, 6], chances=chances)) == []


def test_tiers_are_refused_before_any_work_when_they_are_too_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One die with shares of thirty digits is checked at once; seventeen of them, or one of many states, took minutes."""
    fine, problem = TypeDie((0, 2), (Fraction(10**28 + 1, 10**29), Fraction(1, 10)), 20_000, ((0, 399),)), asked(10**6)
    one, wide = CoinsWitness((fine,), 1, ()), replace(fine, counts=((0, 4_999),))

    def counted(*_: object) -> None:
        raise AssertionError("states were counted")

    monkeypatch.setattr(coins_module, "_ways", counted)
    with pytest.raises(AssertionError):
        coins_upper_bound(problem, one)
    for witness in (replace(one, tiers=(CoinsTier(20_000, fine.counts, 1, ()),) * 16), replace(one, coins=(wide,))):
        with pytest.raises(TooLarge, match="too long"):
            coins_upper_bound(problem, witness)


def test_where_all_toss_one_coin_nothing_is_lost() -> None:
    problem = asked(12, values=[0, 1], chances=["0.5", "0.5"])
    everybody = (coin(0, 1, Fraction(1), 12, 0, 12),)
    _, witness = coins_bound(problem, everybody, 60.0)
    best, proved = design(problem, compare=False).loss, -coins_upper_bound(problem, witness)
    assert 0.998 * best < proved < best


def test_coins_prove_more_than_a_chain_in_a_large_cell() -> None:
    problem = asked(50_000, chances=["0.89", "0.09", "0.02"], actions="integer")
    assert why_no_coins(problem) is None and why_no_coins(asked()) is not None
    coins = best_coins(problem, 2.0)
    assert [die.number > 1 for die in coins] == [True, False]
    _, found = coins_bound(problem, coins, 60.0)
    chain = chain_upper_bound(problem, TheoremWitness("chain", (("low", "0"), ("high", "2"))))
    proved = coins_upper_bound(problem, found)
    assert -proved > 1.01 * -chain
    assert upper_bound(problem, found) == proved


@pytest.mark.parametrize(
    ("coins", "words"),
    [
        ((coin(0, 2, Fraction(2, 5) + Fraction(1, 10**9), 3, 0, 3), SMALL[1]), "more coins are handed out"),
        ((SMALL[0], coin(0, 1, Fraction(7, 10), 1, 0, 1)), "more coins are handed out"),
        ((replace(DICE[0], shares=(Fraction(1, 2), Fraction(1, 10), Fraction(1, 5))), DICE[1]), "type 0: 0.55 of 0.5"),
        ((replace(SMALL[0], faces=(0, 3)), SMALL[1]), "no respondent has"),
        ((replace(SMALL[0], faces=(3, 2)), SMALL[1]), "no respondent has"),
    ],
)
def test_coins_that_nobody_could_hand_out_are_refuted(coins: tuple[TypeDie, ...], words: str) -> None:
    problem = asked()
    witness = any_witness(Random(1), problem)
    with pytest.raises(Refuted, match=words):
        coins_upper_bound(problem, replace(witness, coins=coins))


def test_a_multiplier_between_states_that_are_no_neighbours_is_refuted() -> None:
    problem = asked()
    witness = any_witness(Random(1), problem)
    far = Multipliers(witness.multipliers[0].action, ((0, 5, 1),))  # from (0, 0) to (2, 1)
    with pytest.raises(Refuted, match="where no edge is"):
        coins_upper_bound(problem, replace(witness, multipliers=(far, *witness.multipliers[1:])))


@pytest.mark.parametrize(
    "wrong",
    [
        {"faces": (0, 0, 2)}, {"faces": (0, 1)}, {"faces": (0,), "shares": (Fraction(1, 5),), "counts": ()}, {"counts": ((0, 1),)},
        {"shares": (Fraction(2, 5), Fraction(0), Fraction(1, 5))}, {"shares": (Fraction(2, 5), Fraction(1, 2), Fraction(1, 5))},
        {"shares": (Fraction(2, 5), Fraction(1, 5))}, {"counts": ((-1, 1), (0, 2))}, {"counts": ((1, 0), (0, 2))},
        {"counts": ((0, 1), (0, 4))}, {"number": 1},
    ],
)  # fmt: skip
def test_what_is_no_die_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="A coin or die has faces"):
        replace(DICE[0], **wrong)


@pytest.mark.parametrize("dice", [SMALL, DICE])
def test_a_witness_of_coins_is_written_and_read(dice: tuple[TypeDie, ...]) -> None:
    problem = asked()
    witness = any_witness(Random(2), problem, dice)
    privacy = PrivacyProof(problem.promise, Fraction(1), Fraction(1), None, None, 0, 0)
    certificate = Certificate("0" * 64, privacy, OptimalityClaim(Fraction(-2), Fraction(-1), witness))
    document = certificate_document(certificate)
    assert certificate_from_document(document) == certificate
    first = document["optimality"]["witness"]["coins"][0]
    for key in ("share", "counts") if dice is SMALL else ("shares", "windows"):
        held = first.pop(key)
        with pytest.raises(InputError, match="is not whole"):
            certificate_from_document(document)
        first[key] = held
    for key, other in (("share", "1/10"), ("counts", [0, 1]), ("shares", ["1/10"]), ("windows", [[0, 1]]), ("types", [0, 1, 2, 3])):
        if first.get(key) is None or (key == "types" and dice is SMALL):
            held = first.get(key)
            first[key] = other
            with pytest.raises(InputError, match="is not whole"):
                certificate_from_document(document)
            first.pop(key)
            first |= {key: held} if held is not None else {}
    more = CoinsTier(dice[0].number + 1, dice[0].counts, 7, witness.multipliers[:1])
    tiered = replace(certificate, optimality=OptimalityClaim(Fraction(-2), Fraction(-1), replace(witness, tiers=(more,))))
    assert certificate_from_document(certificate_document(tiered)) == tiered
    for wrong, words in ((replace(more, scale=0), "no negative multiplier"), (replace(more, number=1), "A coin or die has faces")):
        with pytest.raises(InputError, match=words):
            replace(witness, tiers=(wrong,))
    document["optimality"]["witness"]["coins"] = None
    with pytest.raises(InputError, match="lacks a key"):
        certificate_from_document(document)
    with pytest.raises(InputError, match="no negative multiplier"):
        replace(witness, scale=0)


def corpus() -> list[tuple[Problem, CoinsWitness]]:
    """Witnesses for all kinds of actions, and such as do not fit; the first of eight states."""
    rng = Random(3)
    squared = asked()
    whole, halves = asked(actions="integer"), asked(actions={"from": 0, "to": 16, "step": "1/2"})
    apart = asked(values=[0, 2, 4], actions=list(range(0, 33, 3)))
    between = asked(7, values=["1/2", "3/2", "5/2"], actions=[0, 1, 2, 17])
    thirds = asked(values=[0, "1/3", "2/3"], actions=["0", "1/3", "2"])
    still, absolute = asked(epsilon="0"), asked(kind="absolute-error")
    rare = asked(chances=["0.8", "0", "0.2"])
    given = asked(prior={"kind": "exchangeable", "concentration": ["2", "1", "1"]})
    exact = tuple(map(Fraction, (0, 1, 2)))
    cases: list[tuple[Problem, CoinsWitness]] = []
    for problem in (squared, whole, halves, apart, between, thirds, still, absolute):
        cases += [
            (problem, any_witness(rng, problem)),
            (problem, any_witness(rng, problem, nodes=(0, *exact[1:], 3 + Fraction(1, 2)))),
        ]
        cases += [(problem, any_witness(rng, problem, nodes=tuple(Fraction(k, 2) for k in range(8))))]
    first = cases[0][1]
    narrow = (replace(SMALL[0], counts=((1, 2),)), SMALL[1])
    doubled = (
        coin(0, 2, Fraction(1, 5), 2, 0, 2),
        coin(0, 2, Fraction(1, 5), 1, 0, 1),
        coin(1, 2, Fraction(1, 100), 1, 0, 1),
    )
    thrice = (
        TypeDie((2, 0), (Fraction(1, 5), Fraction(1, 10)), 3, ((1, 2),)),
        TypeDie((0, 2), (Fraction(1, 5), Fraction(1, 10**9)), 2, ((0, 1),)),
    )
    cases += [(squared, any_witness(rng, squared, coins)) for coins in (narrow, doubled, SMALL[:1], DICE, DICE[:1])]
    cases += [(squared, replace(first, coins=thrice))]
    cases += [(rare, first), (given, first)]
    cases += [(squared, replace(first, coins=(coin(0, 2, share, 3, 0, 3), SMALL[1]))) for share in (Fraction(1, 9), Fraction(1, 2))]
    cases += [
        (squared, replace(first, coins=coins))
        for coins in ((replace(SMALL[0], faces=(0, 3)), SMALL[1]), (SMALL[0], replace(SMALL[1], faces=(3, 1))))
    ]
    cases += [(asked(1), first), (asked(3), first)]
    cases += [(squared, replace(first, tiers=(tier(any_witness(rng, squared, narrow)), replace(tier(first), number=5))))]
    return cases


SIZES = (("MOST_TOSSED", 3), ("MOST_BITS", 6), ("MOST_TIERS", 1), ("MOST_WORK", 8 * 136))
"""Of the first of the corpus: eight states of 6 + 2 binary digits, and two first ones that take as long as 64."""


def test_no_comparison_of_the_bound_can_change_unnoticed() -> None:
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: module.coins_upper_bound(*case) for case in corpus()]
    limits = [(name, size + d) for name, size in SIZES for d in (-1, 0, 1)]
    questions += [lambda module, name=name, most=most: limited(module, name, most, questions[0]) for name, most in limits]
    assert unexplained(COINS, questions, EQUIVALENT) == []


def least(module: ModuleType, problem: Problem, witness: CoinsWitness) -> Any:
    """What the mutated module says of the counts that a witness leaves unknown."""
    left = unknown_to_all(iid_sum(problem), witness.coins)
    unknown = module.UnknownCounts(left.respondents, left.values, left.occurring, left.ends, left.windows)
    unknown.must_be_few()
    stage = unknown.stage(coins_stage(iid_sum(problem), witness.coins).masses)
    return sorted(stage.edges), stage.omegas, unknown.least_loss(problem, stage, witness.scale, witness.multipliers)


def test_no_comparison_about_unknown_counts_can_change_unnoticed() -> None:
    sparse = asked(values=[0, 1, 6], actions="integer")  # 20 points of the lattice beside 8 states
    sixths = any_witness(Random(4), sparse, nodes=(0, 1, 2, 3 + Fraction(1, 6)))
    still = asked(values=[1, 1, 1])
    cases = [*corpus(), (still, any_witness(Random(4), asked()))]
    questions: list[Callable[[ModuleType], Any]] = [lambda module, case=case: least(module, *case) for case in cases]
    limits = [(name, size + d) for name, size in (("MOST_STATES", 8), ("MOST_COUNTS", 2)) for d in (-1, 0, 1)]
    questions += [lambda module, name=name, most=most: limited(module, name, most, questions[0]) for name, most in limits]
    questions += [
        lambda module, most=most: limited(module, "MOST_STATES", most, lambda inner: least(inner, sparse, sixths))
        for most in (19, 20)
    ]
    assert unexplained(COUNTS, questions, EQUIVALENT) == []


@pytest.mark.parametrize(("throws", "share"), [(32, Fraction(1, 10**11)), (27, Fraction(1, 10**13)), (30, Fraction(1, 3))])
def test_a_chance_is_never_above_the_true_one_however_small(throws: int, share: Fraction) -> None:
    """32 of 200 hold a die of share 10^-11 with a probability of 10^-315, of which floats have few digits."""
    die = TypeDie((0, 1), (share / 3, 2 * share / 3), throws, ((0, throws),))
    true = sum((comb(200, k) * share**k * (1 - share) ** (200 - k) for k in range(throws, 201)), Fraction(0))
    assert 0 <= chance_of(200, die) <= true <= chance_of(200, die) + Fraction(1, 10**12)
