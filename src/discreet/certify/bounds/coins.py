"""Some respondents toss coins or dice between types, the others are known: a lower bound under ε for any number of respondents.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness names dice: types (faces), with a share of all respondents for each, and a number M of respondents. A coin is a die with two
faces of equal shares.

Theorem. Let the shares of the faces that are t, over all dice, come to at most p_t for every type t. Let x_d be independent, the
counts of the faces of M_d throws that fall on face f with probability share_f/share_d, share_d = Σ_f share_f; ω(x) = Σ_d Σ_f
x_{d,f}·(v_f − v_0), 0 the first face, and call x and y neighbours where Σ (x − y)·(e_f − e_0) is e_i − e_j for types i ≠ j. Then

    loss ≥ ( 1 − Σ_d P(Bin(N, share_d) < M_d) ) · L,

L the least loss of kernels on x of which those of neighbours differ by factors of at most e^ε. More is proved in tiers, with
several numbers M of throws of the first die, L_M the least loss with that number: with H ~ Bin(N, share) who hold that die

    loss ≥ E[ max{ L_M : M ≤ H } ] − Σ_{other d} P(Bin(N, share_d) < M_d) · max L_M,

where the largest of none is 0.

Proof. Under an exchangeable prior a mechanism may read the histogram alone. Let each respondent of type t be handed die d with
probability share_t/p_t, independently, and let everybody learn who holds which die. Who holds die d, which happens with
probability share_d, is of type f with probability share_f/share_d, whatever the others are. Let everybody learn all types but
those of M_d holders of each die (where these are fewer, everything: then the loss is at least 0). The least loss can only fall.
With x_{d,f} the number of f among the M_d, the histogram is a known one plus Σ x_{d,f}·(e_f − e_0), so neighbours x and y are
histograms that differ by one respondent, and ω is known but for ω(x), by which an action may be moved. So given H, and enough
holders of the other dice, the loss is at least L_M for any M ≤ H that is chosen, and the choice may depend on H, which everybody
knows. As losses are not negative, E[max; enough of the others] ≥ E[max] − P(not enough)·max L_M.  ∎  [ours]

With coins (0, 2) and one (0, 1), x is a path on which the statistic moves in steps of one and neighbours are two steps apart: in a
large cell noise for a statistic of sensitivity two is all that is left, and L is nearly its variance. Where few respondents have
the highest value, nearly everybody holds a die with it; a number of throws that is nearly always reached is by some deviations
too small in the mean, and tiers take that back.

L is bounded as that of any unknown counts (`counts`). Windows may hold x of more than M_d respondents: nobody is in such a state,
it has probability 0, and no edge leads there. The x outside the windows count with no loss, and so does what is left of a
probability that is rounded down, because losses are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, gcd, lcm, prod
from typing import TypeVar

from discreet.certify.bounds.chain import binomial_below, why_not_chain
from discreet.certify.bounds.counts import UnknownCounts
from discreet.certify.duality.pulls import PRIOR_BITS, Looks, PullStage
from discreet.errors import Refuted, TooLarge
from discreet.model.certificate import CoinsWitness, TypeDie
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.numerics.exact import brief
from discreet.numerics.roundings import drift

Number = TypeVar("Number", Fraction, float)

MOST_TIERS = 16
"""Numbers of holders beside the first."""
MOST_TOSSED = 20_000
"""Holders of one coin or die whose types are unknown."""
LOST = 1e-300
"""More than what floats lose of a probability that is too small for all their digits; nothing of others."""
MOST_BITS = 1 << 21
"""Of the denominator of the probabilities of a die, which a witness decides by how it writes shares."""
MOST_WORK = 1 << 32
"""States times the binary digits of their probabilities, of all tiers together."""
AT_ONCE = 64
"""The first state of a row takes as long as so many that follow from the one before."""


def coins_upper_bound(problem: Problem, witness: CoinsWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the bound by coins does not hold", reason)
    law = iid_sum(problem)
    must_be_handed_out(law, witness.coins)
    if len(witness.tiers) > MOST_TIERS:
        raise TooLarge("This witness has many tiers", size=f"{len(witness.tiers):,}", fits=f"{MOST_TIERS}", remedy="use fewer")
    ask(_must_be_counted_soon(law, [dice for dice, _, _ in witness.each]), MOST_WORK)
    losses, looks = [], Looks()
    for dice, scale, multipliers in witness.each:
        loss = unknown_to_all(law, dice).least_loss(problem, coins_stage(law, dice), scale, multipliers, looks)
        losses.append((dice[0], loss))
    proved = in_tiers([(die.number, chance_of(law.respondents, die), loss) for die, loss in losses])
    missed = sum((1 - chance_of(law.respondents, die) for die in witness.coins[1:]), Fraction(0))
    return -max(proved - missed * max(loss for _, loss in losses), Fraction(0))


def in_tiers(tiers: Sequence[tuple[int, Number, Number]]) -> Number:
    """What is lost in the mean, given (M, P(H ≥ M), L) of every tier: with H who hold the die the largest L of an M ≤ H."""
    best = total = 0 * tiers[0][2]
    for _, chance, loss in sorted(tiers):
        higher = max(best, loss)
        total, best = total + chance * (higher - best), higher
    return total


def must_be_handed_out(law: IidSum, dice: tuple[TypeDie, ...]) -> None:
    """Refute dice of types that do not occur, or more of them than a type has respondents."""
    of = dict(zip(law.types, law.probabilities, strict=True))
    taken: dict[int, Fraction] = {}
    for die in dice:
        for face, share in zip(die.faces, die.shares, strict=True):
            if face not in of:
                raise Refuted("a coin names a type that no respondent has", f"type {brief(face)}")
            taken[face] = taken.get(face, Fraction(0)) + share
    for face, share in taken.items():
        if share > of[face]:
            raise Refuted(
                "more coins are handed out than a type has respondents", f"type {brief(face)}: {brief(share)} of {brief(of[face])}"
            )


def chance_of(respondents: int, die: TypeDie) -> Fraction:
    """A number not above the probability that enough hold it."""
    return chance_at_least(respondents, die.share, die.number)


def chance_at_least(respondents: int, share: Fraction, number: int) -> Fraction:
    """A number not above P(Bin(N, share) ≥ M)."""
    first, masses = binomial_below(respondents, share)
    held = float(masses[max(number - first, 0) :].sum())
    return Fraction(max(held * (1 - drift(len(masses) + 8)) - LOST, 0.0))


def unknown_to_all(law: IidSum, dice: tuple[TypeDie, ...]) -> UnknownCounts:
    """What is left: how many show each face but the first."""
    windows = tuple(window for die in dice for window in die.counts)
    return UnknownCounts(law.respondents, law.all_values, law.values, ends_of(dice), windows)


def ends_of(dice: Sequence[TypeDie]) -> tuple[tuple[int, int], ...]:
    """The types between which each count moves."""
    return tuple((die.faces[0], face) for die in dice for face in die.faces[1:])


def coins_stage(law: IidSum, dice: tuple[TypeDie, ...]) -> PullStage:
    """The states x of the windows with their probabilities, ω and neighbours; the last count runs fastest."""
    unknown = unknown_to_all(law, dice)
    _must_be_counted_soon(law, [dice])
    each, whole = [list(_parts(die)) for die in dice], prod(map(_whole, dice))
    return unknown.stage([Fraction((prod(parts) << PRIOR_BITS) // whole, 1 << PRIOR_BITS) for parts in product(*each)])


def _must_be_counted_soon(law: IidSum, tiers: Sequence[tuple[TypeDie, ...]]) -> int:
    """Binary digits to be computed; refuses too many states, throws and digits, all tiers together, before any work."""
    work = 0
    for dice in tiers:
        unknown = unknown_to_all(law, dice)
        unknown.must_be_few()
        tossed, digits = max(die.number for die in dice), [bits_of(die) for die in dice]
        if tossed > MOST_TOSSED:
            raise TooLarge("Too many hold a coin", size=f"{tossed:,}", fits=f"{MOST_TOSSED:,}", remedy="use another witness")
        if max(digits) > MOST_BITS:
            raise TooLarge(
                "The shares of a die are written too finely for so many throws",
                size=f"probabilities of {max(digits):,} binary digits",
                fits=f"{MOST_BITS:,} binary digits",
                remedy="use shares with a smaller common denominator, or fewer throws",
            )
        rows = sum(prod(last - first + 1 for first, last in die.counts[:-1]) for die in dice)
        work += (unknown.size + AT_ONCE * rows) * sum(digits)
    if work > MOST_WORK:
        raise TooLarge(
            "The probabilities of so many states are too long",
            size=f"{work:,} binary digits",
            fits=f"{MOST_WORK:,} binary digits",
            remedy="use fewer states, fewer throws or shares with a smaller common denominator",
        )
    return work


def _whole(die: TypeDie) -> int:
    """What the probabilities of a die are counted in: all ways of an even coin, else parts of 2^−B."""
    return 1 << (die.number if die.even else PRIOR_BITS)


def _parts(die: TypeDie) -> Iterator[int]:
    """Probabilities of the counts of a die in its windows: those of an even coin, those of others rounded down."""
    if die.even:
        return _ways(die)
    whole = sum(odds_of(die)) ** die.number
    return ((ways << PRIOR_BITS) // whole for ways in _ways(die))


def _ways(die: TypeDie) -> Iterator[int]:
    """Of the counts in its windows, the last fastest, in how many ways faces fall so, one of odds m in m ways."""
    first, *others = odds_of(die)

    def placed(ways: int, left: int, face: int) -> Iterator[int]:
        """The counts of a face and those after it, given the ways in which all that are left fall on the first face."""
        if face == len(others):
            yield ways
            return
        (low, high), part = die.counts[face], others[face]
        ways, left = ways * comb(max(left, 0), low) * part**low // first**low, left - low
        for x in range(low, high + 1):
            yield from placed(ways, left, face + 1)
            ways, left = ways * left * part // ((x + 1) * first), left - 1

    return placed(first**die.number, die.number, 0)


def odds_of(die: TypeDie) -> list[int]:
    """The chances of the faces as whole numbers without a common divisor."""
    unit = lcm(*(share.denominator for share in die.shares))
    parts = [int(share * unit) for share in die.shares]
    common = gcd(*parts)
    return [part // common for part in parts]


def bits_of(die: TypeDie) -> int:
    """About how many binary digits the probabilities of its counts have."""
    return die.number * sum(odds_of(die)).bit_length()
