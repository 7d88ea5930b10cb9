"""Some respondents toss coins or dice between types, the others are known: a lower bound under ε for any number of respondents.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness names dice: types (faces), with a share of all respondents for each, and a number M of respondents. A coin is a die with two
faces of equal shares.

Theorem. Let the shares of the faces that are t, over all dice, come to at most p_t for every type t. Let x_d be independent, the
counts of the faces of M_d throws that fall on face f with probability share_f/share_d, share_d = Σ_f share_f; ω(x) = Σ_d Σ_f
x_{d,f}·(v_f − v_0), 0 the first face, and call x and y neighbours where Σ (x − y)·(e_f − e_0) is e_i − e_j for types i ≠ j. Then

    loss ≥ ( 1 − Σ_d P(Bin(N, share_d) < M_d) ) · L,

L the least loss of kernels on x of which those of neighbours differ by factors of at most e^ε.

Proof. Under an exchangeable prior a mechanism may read the histogram alone. Let each respondent of type t be handed die d with
probability share_t/p_t, independently, and let everybody learn who holds which die. Who holds die d, which happens with
probability share_d, is of type f with probability share_f/share_d, whatever the others are. Let everybody learn all types but
those of M_d holders of each die (where these are fewer, everything: then the loss is at least 0). The least loss can only fall.
With x_{d,f} the number of f among the M_d, the histogram is a known one plus Σ x_{d,f}·(e_f − e_0), so neighbours x and y are
histograms that differ by one respondent, and ω is known but for ω(x), by which an action may be moved.  ∎  [ours]

With coins (0, 2) and one (0, 1), x is a path on which the statistic moves in steps of one and neighbours are two steps apart: in a
large cell noise for a statistic of sensitivity two is all that is left, and L is nearly its variance. Where few respondents have
the highest value, nearly everybody holds a die with it.

L is bounded by multipliers (`dual`) between the x of a window; the others count with no loss, and so does what is left of a
probability that is rounded down, because losses are not negative. ω is counted in units of the largest |v_f − v_0|. Nodes stand for
real actions, unless the problem's actions lie on the lattice of its values and so do the nodes: moving an action by what is known
stays on the lattice, and beyond the window's ω its ends are better.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, gcd, lcm, prod

from discreet.certify.bounds.chain import binomial_below, why_not_chain
from discreet.certify.bounds.dual import FACTOR_BITS, over_actions, regrets_of
from discreet.certify.duality.chords import over_pieces
from discreet.certify.duality.pulls import PRIOR_BITS, PullStage, pull_of
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import CoinsWitness, TypeDie
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.roundings import drift

MOST_STATES = 5_000
MOST_COINS = 6
"""Counts of faces but the first; 3^counts moves are looked at."""
MOST_TOSSED = 20_000
"""Holders of one coin or die whose types are unknown."""
MOST_BITS = 1 << 21
"""Of the denominator of the probabilities of a die, which a witness decides by how it writes shares."""


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
    missed = sum((1 - _chance(law.respondents, die) for die in witness.coins), Fraction(0))
    return -max(loss, Fraction(0)) * max(1 - missed, Fraction(0))


def _must_be_handed_out(law: IidSum, dice: tuple[TypeDie, ...]) -> None:
    """Refute dice of types that do not occur, or more of them than a type has respondents."""
    of = dict(zip(law.types, law.probabilities, strict=True))
    taken: dict[int, Fraction] = {}
    for die in dice:
        for face, share in zip(die.faces, die.shares, strict=True):
            if face not in of:
                raise Refuted("a coin names a type that no respondent has", f"type {face}")
            taken[face] = taken.get(face, Fraction(0)) + share
    for face, share in taken.items():
        if share > of[face]:
            raise Refuted("more coins are handed out than a type has respondents", f"type {face}: {share} of {of[face]}")


def _chance(respondents: int, die: TypeDie) -> Fraction:
    """A number not above P(Bin(N, share) ≥ M)."""
    first, masses = binomial_below(respondents, die.share)
    held = masses[max(die.number - first, 0) :]
    return Fraction(float(held.sum()) * (1 - drift(len(masses) + 8)))


def steps_of(law: IidSum, dice: tuple[TypeDie, ...]) -> tuple[Fraction, list[Fraction]]:
    """The unit, and what each count adds to ω in it."""
    steps = [law.all_values[face] - law.all_values[die.faces[0]] for die in dice for face in die.faces[1:]]
    unit = max(map(abs, steps))
    if not unit:
        raise Refuted("no coin moves the statistic", "types of the same value")
    return unit, [step / unit for step in steps]


def coins_stage(law: IidSum, dice: tuple[TypeDie, ...]) -> PullStage:
    """The states x of the windows with their probabilities, ω and neighbours; the last count runs fastest."""
    windows = [window for die in dice for window in die.counts]
    sizes = [last - first + 1 for first, last in windows]
    tossed = max(die.number for die in dice)
    if len(windows) > MOST_COINS or prod(sizes) > MOST_STATES or tossed > MOST_TOSSED:
        raise TooLarge(
            "The states of this witness are too many",
            size=f"{prod(sizes):,} states of {len(windows)} counts, one of {tossed:,}",
            fits=f"{MOST_STATES:,} states of {MOST_COINS} counts of {MOST_TOSSED:,}",
            remedy="use another witness",
        )
    if max(map(bits_of, dice)) > MOST_BITS:
        raise TooLarge(
            "The shares of a die are written too finely for so many throws",
            size=f"probabilities of {max(map(bits_of, dice)):,} binary digits",
            fits=f"{MOST_BITS:,} binary digits",
            remedy="use shares with a smaller common denominator, or fewer throws",
        )
    _, steps = steps_of(law, dice)
    masses = [prod(each, start=Fraction(1)) for each in product(*(_masses(die) for die in dice))]
    states = list(product(*(range(first, last + 1) for first, last in windows)))
    omegas = tuple(sum((step * x for step, x in zip(steps, state, strict=True)), Fraction(0)) for state in states)
    at = {state: h for h, state in enumerate(states)}
    edges = set()
    for move in moves_of(dice):
        for state, h in at.items():
            other = at.get(tuple(x + d for x, d in zip(state, move, strict=True)))
            if other is not None:
                edges.add((min(h, other), max(h, other)))
    return PullStage(masses, omegas, list(range(len(states))), frozenset(edges))


def _masses(die: TypeDie) -> list[Fraction]:
    """Probabilities of the counts of a die in its windows: those of an even coin, those of others rounded down."""
    first, *others = _odds(die)
    whole, found = (first + sum(others)) ** die.number, []
    for counts in product(*(range(low, high + 1) for low, high in die.counts)):
        ways, left = 1, die.number
        for x, part in zip(counts, others, strict=True):
            ways *= comb(left, x) * part**x
            left -= x
        ways *= first**left
        found.append(Fraction(ways, whole) if die.even else Fraction((ways << PRIOR_BITS) // whole, 1 << PRIOR_BITS))
    return found


def _odds(die: TypeDie) -> list[int]:
    """The chances of the faces as whole numbers without a common divisor."""
    unit = lcm(*(share.denominator for share in die.shares))
    parts = [int(share * unit) for share in die.shares]
    common = gcd(*parts)
    return [part // common for part in parts]


def bits_of(die: TypeDie) -> int:
    """About how many binary digits the probabilities of its counts have."""
    return die.number * sum(_odds(die)).bit_length()


def moves_of(dice: tuple[TypeDie, ...]) -> list[tuple[int, ...]]:
    """The changes of x that replace one respondent by one of another type."""
    ends = [(die.faces[0], face) for die in dice for face in die.faces[1:]]
    found = []
    for move in product((-1, 0, 1), repeat=len(ends)):
        changed: dict[int, int] = {}
        for (low, high), d in zip(ends, move, strict=True):
            changed[high] = changed.get(high, 0) + d
            changed[low] = changed.get(low, 0) - d
        if sum(map(abs, changed.values())) == 2:
            found.append(move)
    return found


def free_decision(problem: Problem, coins: tuple[TypeDie, ...], actions: RealActions | ListedActions) -> Decision:
    """The decision about ω(x) in its unit."""
    unit, _ = steps_of(iid_sum(problem), coins)
    decision = problem.decision
    return Decision(decision.loss, actions, weight=decision.weight * unit**decision.distance.degree)


def lattice_actions(problem: Problem, coins: tuple[TypeDie, ...], ends: tuple[Fraction, Fraction]) -> ListedActions | None:
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
