"""Some respondents toss fair coins between two types, the others are known: a lower bound under ε for any number of respondents.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness names coins: pairs of types (l, h), each with a share and a number M of respondents.

Theorem. Let Σ share/2 over the coins that name t be at most p_t for every type t. Let x_c ~ Bin(M_c, ½) be independent, ω(x) =
Σ_c x_c·(v_h − v_l), and call x and y neighbours where Σ_c (x_c − y_c)·(e_h − e_l) is e_i − e_j for two types i ≠ j. Then

    loss ≥ ( 1 − Σ_c P(Bin(N, share_c) < M_c) ) · L,

L the least loss of kernels on x of which those of neighbours differ by factors of at most e^ε.

Proof. Under an exchangeable prior a mechanism may read the histogram alone. Let each respondent of type t be handed coin c with
probability (share_c/2)/p_t, independently, and let everybody learn who holds which coin. Who holds coin c, which happens with
probability share_c, is of type l or h with probability ½ each, whatever the others are. Let everybody learn all types but those
of M_c holders of each coin (where these are fewer, everything: then the loss is at least 0). The least loss can only fall. With x_c
the number of h among the M_c, the histogram is a known one plus Σ_c x_c·(e_h − e_l), so neighbours x and y are histograms that
differ by one respondent, and ω is known but for ω(x), by which an action may be moved.  ∎  [ours]

With coins (0, 2) and one (0, 1), x is a path on which the statistic moves in steps of one and neighbours are two steps apart: in a
large cell noise for a statistic of sensitivity two is all that is left, and L is nearly its variance.

L is bounded by multipliers (`dual`) between the x of a window; the others count with no loss. ω is counted in units of the largest
|v_h − v_l|. Nodes stand for real actions, unless the problem's actions lie on the lattice of its values and so do the
nodes: moving an action by what is known stays on the lattice, and beyond the window's ω its ends are better.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

from discreet.certify.bounds.chain import binomial_below, why_not_chain
from discreet.certify.bounds.dual import FACTOR_BITS, over_actions, regrets_of
from discreet.certify.duality.chords import over_pieces
from discreet.certify.duality.pulls import PullStage, pull_of
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import CoinsWitness, FairCoin
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.roundings import drift

MOST_STATES = 5_000
MOST_COINS = 6
"""Different ones; 3^coins moves are looked at."""
MOST_TOSSED = 20_000
"""Holders of one coin whose types are unknown."""


def coins_upper_bound(problem: Problem, witness: CoinsWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the bound by coins does not hold", reason)
    law = iid_sum(problem)
    _must_be_handed_out(law, witness.coins)
    stage = coins_stage(law, witness.coins)
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    pulls = [pull_of(m, stage.edges, witness.scale, factor) for m in witness.multipliers]
    ends = min(stage.omegas), max(stage.omegas)
    listed = lattice_actions(problem, witness.coins, ends)
    if listed is not None and all(m.action in listed for m in witness.multipliers):
        decision = free_decision(problem, witness.coins, listed)
        regrets, least = regrets_of((decision,), stage.values)
        assert not any(least.values()), "every ω of a lattice is an action"
        loss = over_actions((decision,), stage, regrets, pulls)
    else:
        decision = free_decision(problem, witness.coins, RealActions())
        loss = over_pieces(decision, ends, stage, dict.fromkeys(stage.omegas, Fraction(0)), pulls)
    missed = sum((1 - _chance(law.respondents, coin) for coin in witness.coins), Fraction(0))
    return -max(loss, Fraction(0)) * max(1 - missed, Fraction(0))


def _must_be_handed_out(law: IidSum, coins: tuple[FairCoin, ...]) -> None:
    """Refute coins of types that do not occur, or more of them than a type has respondents."""
    of = dict(zip(law.types, law.probabilities, strict=True))
    for coin in coins:
        if coin.low not in of or coin.high not in of:
            raise Refuted("a coin names a type that no respondent has", f"types {coin.low} and {coin.high}")
    for t, p in of.items():
        taken = sum((coin.share / 2 for coin in coins for side in (coin.low, coin.high) if side == t), Fraction(0))
        if taken > p:
            raise Refuted("more coins are handed out than a type has respondents", f"type {t}: {taken} of {p}")


def _chance(respondents: int, coin: FairCoin) -> Fraction:
    """A number not above P(Bin(N, share) ≥ M)."""
    first, masses = binomial_below(respondents, coin.share)
    held = masses[max(coin.number - first, 0) :]
    return Fraction(float(held.sum()) * (1 - drift(len(masses) + 8)))


def steps_of(law: IidSum, coins: tuple[FairCoin, ...]) -> tuple[Fraction, list[Fraction]]:
    """The unit, and what a head of each coin adds to ω in it."""
    steps = [law.all_values[coin.high] - law.all_values[coin.low] for coin in coins]
    unit = max(map(abs, steps))
    if not unit:
        raise Refuted("no coin moves the statistic", "two types of the same value")
    return unit, [step / unit for step in steps]


def coins_stage(law: IidSum, coins: tuple[FairCoin, ...]) -> PullStage:
    """The states x of the windows with their probabilities, ω and neighbours; the last coin runs fastest."""
    sizes = [coin.last - coin.first + 1 for coin in coins]
    tossed = max(coin.number for coin in coins)
    if len(coins) > MOST_COINS or prod(sizes) > MOST_STATES or tossed > MOST_TOSSED:
        raise TooLarge(
            "The states of this witness are too many",
            size=f"{prod(sizes):,} states of {len(coins)} coins, one of {tossed:,}",
            fits=f"{MOST_STATES:,} states of {MOST_COINS} coins of {MOST_TOSSED:,}",
            remedy="use another witness",
        )
    _, steps = steps_of(law, coins)
    chances = [[Fraction(comb(c.number, x), 1 << c.number) for x in range(c.first, c.last + 1)] for c in coins]
    states = list(product(*(range(size) for size in sizes)))
    masses = [prod((chance[x] for chance, x in zip(chances, state, strict=True)), start=Fraction(1)) for state in states]
    omegas = tuple(
        sum((step * (coin.first + x) for step, coin, x in zip(steps, coins, state, strict=True)), Fraction(0)) for state in states
    )
    at = {state: h for h, state in enumerate(states)}
    edges = set()
    for move in moves_of(coins):
        for state, h in at.items():
            other = at.get(tuple(x + d for x, d in zip(state, move, strict=True)))
            if other is not None:
                edges.add((min(h, other), max(h, other)))
    return PullStage(masses, omegas, list(range(len(states))), frozenset(edges))


def moves_of(coins: tuple[FairCoin, ...]) -> list[tuple[int, ...]]:
    """The changes of x that replace one respondent by one of another type."""
    found = []
    for move in product((-1, 0, 1), repeat=len(coins)):
        changed: dict[int, int] = {}
        for coin, d in zip(coins, move, strict=True):
            changed[coin.high] = changed.get(coin.high, 0) + d
            changed[coin.low] = changed.get(coin.low, 0) - d
        if sum(map(abs, changed.values())) == 2:
            found.append(move)
    return found


def free_decision(problem: Problem, coins: tuple[FairCoin, ...], actions: RealActions | ListedActions) -> Decision:
    """The decision about ω(x) in its unit."""
    unit, _ = steps_of(iid_sum(problem), coins)
    decision = problem.decision
    return Decision(decision.loss, actions, weight=decision.weight * unit**decision.distance.degree)


def lattice_actions(problem: Problem, coins: tuple[FairCoin, ...], ends: tuple[Fraction, Fraction]) -> ListedActions | None:
    """The points between the ends of the lattice of values, where all listed actions lie on it too; None elsewhere."""
    actions, law = problem.decision.actions, iid_sum(problem)
    if not isinstance(actions, ListedActions):
        return None
    (unit, _), origin = law.lattice, law.respondents * min(law.values)
    whole = unit.denominator == unit.numerator and origin.denominator == 1
    if not all(a.denominator == 1 if whole else ((a - origin) / unit).denominator == 1 for a in actions.numbers):
        return None
    step = unit / steps_of(law, coins)[0]
    low, high = (int(end / step) for end in ends)
    return ListedActions(tuple(k * step for k in range(low, high + 1))) if high - low < MOST_STATES else None
