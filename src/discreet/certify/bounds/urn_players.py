"""An urn of players, all others known: a lower bound under ε for a Dirichlet, with many respondents of cheap types set aside.

Neighbours replace one of N respondents, the error is squared, ω = Σ_i n_i·v_i, and the prior is a Dirichlet-multinomial with
concentrations c. The witness names types: who has one of them plays. One of these types is the reference r. C is the sum of c over
the players' types, A over all. A state of players is x: how many of them, X, have another type than r, and sums over these.

Theorem. Let M ~ BetaBin(N; C, A − C). For M players let π_M be the law of states and L(M) their least loss. Then loss ≥ E L(M), and
for M_1 ≤ M ≤ M_2 an urn witness (`urn`) for M_1 players bounds L(M) from below, when the loss at each state x counts with the part
κ(x) ≤ min_{M_1 ≤ M ≤ M_2} π_M(x)/π_{M_1}(x), and the reference has no weight in the sums.

Proof. Let everybody learn who plays and the types of all others: the least loss can only fall. Of a Dirichlet the shares within the
players' types are independent of the rest, so M players are an urn with their concentrations, a replacement among them is one
respondent's, and ω is what is known and M·v_r plus Σ n_i·(v_i − v_r), so that actions may be measured from there.

For M players let Y(x) = E[m(a|n); x]/π_M(x) and y_i(x) = E[n_i·m(a|n); x]/E[n_i; x] for i ≠ r. Given x, the counts of other types
have a law without M, and so has E[n_i | x]. Hence what the lemma of `urn` says, divided by its value for m = 1, is without M too:
with t the state of one respondent of type i fewer,

    y_i(x)   and   (c_i·Y(t) + E[n_i|t]·y_i(t)) / (c_i + E[n_i|t])   differ by a factor of at most e^ε,

and Σ_{i≠r} E[n_i|x]·w_i·y_i(x) is Y(x) times the sum, also for w = 1 and X. So M_i = E_{M_1}[n_i; x]·y_i and M_r = E_{M_1}[n_r;
x]·Y obey all that the witness uses, whatever M is. At x a mechanism loses π_M(x)·Σ_a (a²·Y − 2a·Σ_i E[n_i|x]·(v_i − v_r)·y_i) +
E[(Σ n_i (v_i − v_r))²; x], which is not negative and π_M(x) times a number without M: so it is at least κ(x) times the same for
M_1. States of more than M_1 others count with nothing.  ∎  [ours]

π_M(x)/π_{M_1}(x) depends on X alone: π_{M+1}/π_M = (M + 1)·(c_r + M − X)/((M + 1 − X)·(C + M)). κ is rounded down to KEPT_BITS
bits. Blocks of M do not overlap, and P(M_1 ≤ M ≤ M_2) is exact.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, lcm

from discreet.certify.bounds.urn import Urn, least_loss, rising, rounded_down, urn_of
from discreet.errors import Refuted, TooLarge
from discreet.model.certificate import UrnPart, UrnPlayersWitness
from discreet.model.problem import Problem

KEPT_BITS = 40
MOST_RESPONDENTS = 2_000


def urn_players_upper_bound(problem: Problem, witness: UrnPlayersWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    urn = urn_of(problem)
    if not urn.grows:
        raise Refuted("a condition of the bound by an urn of players does not hold", "the prior is not a Dirichlet-multinomial")
    if urn.respondents > MOST_RESPONDENTS:
        size, fits = f"{urn.respondents:,} respondents", f"{MOST_RESPONDENTS:,}"
        raise TooLarge("the bound by an urn of players", size=size, fits=fits, remedy="use another witness")
    _must_be_types(urn, witness)
    total = Fraction(0)
    for part in witness.parts:
        few = urn_of_players(urn, witness.types, part.inner.reference, part.first)
        shares = {count: kept_share(few, part, count) for count in {state[0] for state in part.inner.states}}
        kept = [shares[state[0]] for state in part.inner.states]
        ends = part.first * min(few.values), part.first * max(few.values)
        loss = least_loss(few, part.inner, problem.epsilon, problem.decision.weight, ends, kept)
        total += chance_of_players(urn, witness.types, part.first, part.last) * max(loss, Fraction(0))
    return -rounded_down(total)


def _must_be_types(urn: Urn, witness: UrnPlayersWitness) -> None:
    """Refute types that are none, blocks that overlap, and a reference that has a weight."""
    known = set(range(len(urn.values)))
    if len(set(witness.types)) < len(witness.types) or not set(witness.types) <= known:
        raise Refuted("the players' types must be different types of the problem", list(witness.types))
    blocks = [(part.first, part.last) for part in witness.parts]
    apart = all(a[1] < b[0] for a, b in pairwise(blocks)) and all(first <= last for first, last in blocks)
    if not apart or blocks[0][0] < 1 or blocks[-1][1] > urn.respondents:
        raise Refuted("blocks of numbers of players must ascend from 1 up to all respondents", blocks)
    for part in witness.parts:
        if any(part.inner.weights[part.inner.reference]):
            raise Refuted("the reference of an urn of players has no weight", list(part.inner.weights[part.inner.reference]))


def urn_of_players(urn: Urn, types: tuple[int, ...], reference: int, players: int) -> Urn:
    """So many players, values measured from that of the reference, which is a place among the types."""
    own = urn.values[types[reference]]
    return Urn(players, tuple(urn.contents[t] for t in types), tuple(urn.values[t] - own for t in types), 1)


def kept_share(urn: Urn, part: UrnPart, count: int) -> Fraction:
    """κ of the states in which so many of M_1 players have the reference type; 1 where there are none."""
    others, ratio = part.first - count, Fraction(1)
    if not 0 <= count <= part.first:
        return Fraction(1)
    least, own, whole = ratio, urn.contents[part.inner.reference], sum(urn.contents, Fraction(0))
    for m in range(part.first, part.last):
        ratio *= (m + 1) * (own + m - others) / ((m + 1 - others) * (whole + m))
        least = min(least, ratio)
    return Fraction((least.numerator << KEPT_BITS) // least.denominator, 1 << KEPT_BITS)


def chance_of_players(urn: Urn, types: tuple[int, ...], first: int, last: int) -> Fraction:
    """P(first ≤ M ≤ last)."""
    unit = lcm(*(c.denominator for c in urn.contents))
    whole = int(sum(urn.contents, Fraction(0)) * unit)
    playing = int(sum((urn.contents[t] for t in types), Fraction(0)) * unit)
    n = urn.respondents
    playing_ways, other_ways = rising(playing, unit, last), rising(whole - playing, unit, n - first)
    top = sum(comb(n, m) * playing_ways[m] * other_ways[n - m] for m in range(first, last + 1))
    return Fraction(top, rising(whole, unit, n)[n])
