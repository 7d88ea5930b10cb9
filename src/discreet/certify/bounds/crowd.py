"""A crowd seen through a count and a sum, dice beside it, all others told: a lower bound under ε for independent respondents.

Respondents are independent with one law p over types, ω = Σ_i v(θ_i), neighbours replace one, and the loss is one of a − ω. The
witness hands out dice as in `coins`: types (faces) with a share of all respondents for each. Most hold the first, the crowd; M of
these are unknown, and M_d of those of every other die.

What is left: n_j of the M show face j of the crowd's die, the others its first face, with the law π of M throws; c are the
counts of the other dice, with laws of their own, multiplied: κ. Let u_j be the steps by which face j differs from the first, and
a state s = (k, e, c) with k = Σ n_j and e = Σ n_j·u_j. A *gain* δ of the dice lets one thrower who shows the type of the crowd's
first face show another face of his die; 0 is one, too.

Lemma. Let m(a|n, c) be kernels of which those of neighbouring histograms differ by factors of at most e^ε, and M_a(s) =
Σ_{n: k, e} π(n)·m(a|n, c). Let w_j = κ' + l·u_j ≥ 0 for every face j, W(s) = κ'·k + l·e, and for a gain δ

    A_a(s) = Σ_j w_j·(M−k+1)·(p_j/p_0)·M_a(k − 1, e − u_j, c + δ).

Then  W(s)·M_a(s) ≤ e^ε·A_a(s)  and  A_a(s) ≤ e^ε·W(s)·M_a(s).  And where a thrower of c shows another face in c′ instead,
M_a(k, e, c) ≤ e^ε·M_a(k, e, c′).

Proof. Of (n, c) and (n − e_j, c + δ) one respondent shows another type: j became the first face, and if δ is not 0 somebody
who showed that type shows another one, so that in the histogram j became that other one (or nothing is changed, and the kernels
are the same). So m(a|n, c) ≤ e^ε·m(a|n − e_j, c + δ). Multiply by π(n)·n_j·w_j ≥ 0 and sum over j and n: on the left Σ_j n_j·w_j
= W(s) for all n; on the right π(n)·n_j = π(n − e_j)·(M−k+1)·p_j/p_0, π being multinomial, and n − e_j runs through all with
k − 1 and e − u_j. The other inequality is the same with the roles exchanged, and the last one a sum over n of neighbours.  ∎

Theorem. Σ_a M_a(s) = π(k, e), and given who holds what the loss is Σ_s κ(c)·Σ_a ℓ(a, ω(s))·M_a(s) at least, so with multipliers
f ≥ 0 on inequalities

    L_M ≥ Σ_{s listed} π(k, e)·min_a [ κ(c)·ℓ(a, ω(s)) − pull_a(s) ],

pull_a(s) being the coefficient of M_a(s) in q·(larger side) − (smaller side), q ≥ e^ε rational. States that are not listed count
with zero: losses are not negative, and none may stand on the larger side (refuted); on the smaller side it only helps. Actions
are real; between nodes f is interpolated (`chords`). As for dice,

    loss ≥ E[ max{ L_M : M ≤ H } ] − Σ_{other d} P(Bin(N, share_d) < M_d)·max L_M,        H ~ Bin(N, share of the crowd).  [ours]

Why. Of the far types count and sum are nearly everything, so that a few hundred states stand for all their histograms,
and there is room for a few respondents of nearer types who throw dice: what telling these costs (`coins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial, lcm, prod

from discreet.certify.bounds.averaged_pulls import AveragedRow, pulled, weighed
from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.coins import bits_of, chance_of, in_tiers, must_be_handed_out, odds_of
from discreet.certify.bounds.dual import FACTOR_BITS
from discreet.certify.bounds.state_masses import BITS, GroupLaw
from discreet.certify.duality.chords import over_pieces
from discreet.certify.duality.pulls import PRIOR_BITS, Looks, PullStage
from discreet.errors import Refuted, TooLarge
from discreet.model.actions import RealActions
from discreet.model.certificate import CrowdTier, CrowdWitness, TypeDie
from discreet.model.decision import Decision
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.problem import Problem
from discreet.model.together import ask, together
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import brief, whole_steps

MOST_TIERS = 17
MOST_DICE, MOST_THROWN, MOST_FACES = 8, 16, 8
"""Dice beside the crowd, throws of each, and its faces."""
MOST_DIGITS, MOST_RAY = 4096, 4096
"""Binary digits of a share, of an action and of the scale, and of a ray."""
MOST_ROWS = 5_000_000
"""Inequalities that carry multipliers, times faces."""
MOST_BITS = 1 << 27
"""Of the probabilities of all counts of the dice together."""
Counts = tuple[int, ...]
Turn = tuple[int, ...]
"""What is added to the counts of the dice."""


def crowd_upper_bound(problem: Problem, witness: CrowdWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the bound by a crowd does not hold", reason)
    law = iid_sum(problem)
    _must_be_small(law, witness)
    must_be_handed_out(law, (witness.crowd(witness.tiers[0]), *witness.dice))
    losses, looks = [], Looks()
    with together(len(witness.tiers), "bounds by a crowd"):
        for tier in witness.tiers:
            loss = _Crowd(problem, law, witness, tier).least_loss(looks)
            losses.append((tier.number, chance_of(law.respondents, witness.crowd(tier)), loss))
    missed = sum((1 - chance_of(law.respondents, die) for die in witness.dice), Fraction(0))
    return -max(in_tiers(losses) - missed * max(loss for _, _, loss in losses), Fraction(0))


def _must_be_small(law: IidSum, witness: CrowdWitness) -> None:
    """Refuse before any work what would take long."""
    if len(witness.tiers) > MOST_TIERS:
        raise TooLarge("This witness", size=f"{len(witness.tiers):,} tiers", fits=f"{MOST_TIERS}", remedy="use fewer")
    if len(witness.dice) > MOST_DICE:
        raise TooLarge("This witness", size=f"{len(witness.dice):,} dice", fits=f"{MOST_DICE}", remedy="use fewer")
    most = max(tier.number for tier in witness.tiers)
    if most > law.respondents:
        raise Refuted("the witness has more respondents than there are", f"{brief(most)} of {law.respondents}")
    actions = [node.action for tier in witness.tiers for node in tier.multipliers if isinstance(node.action, Fraction)]
    shares = [*witness.shares, *(share for die in witness.dice for share in die.shares)]
    digits = max(map(_digits, [*shares, *(Fraction(1, tier.scale) for tier in witness.tiers), *actions]))
    if digits > MOST_DIGITS:
        raise TooLarge(
            "A crowd writes a share, an action or its scale too finely",
            size=f"{digits:,} binary digits",
            fits=f"{MOST_DIGITS:,} binary digits",
            remedy="write it with fewer digits",
        )
    for die in witness.dice:
        if die.number > MOST_THROWN or len(die.faces) > MOST_FACES:
            raise TooLarge(
                "A die beside the crowd is thrown too often, or has too many faces",
                size=f"{brief(die.number)} throws, {len(die.faces)} faces",
                fits=f"{MOST_THROWN} throws, {MOST_FACES} faces",
                remedy="use another witness",
            )
    bits = sum(map(bits_of, witness.dice)) * sum(len({state[2:] for state in tier.states}) for tier in witness.tiers)
    if bits > MOST_BITS:
        raise TooLarge(
            "The probabilities of what the dice beside the crowd show are too long",
            size=f"{bits:,} binary digits",
            fits=f"{MOST_BITS:,} binary digits",
            remedy="use fewer counts, or shares with a smaller common denominator",
        )
    if max(abs(part) for ray in witness.rays for part in ray).bit_length() > MOST_RAY:
        raise TooLarge("A ray of this witness", size="more binary digits", fits=f"{MOST_RAY:,}", remedy="use smaller numbers")


def _digits(number: Fraction) -> int:
    return number.numerator.bit_length() + number.denominator.bit_length()


def gains(first: int, dice: Sequence[TypeDie]) -> list[Turn]:
    """What the counts of the dice may gain while one of the crowd shows its first face: nothing first."""
    found = [_still(dice)]
    for place, die in enumerate(dice):
        for before, after in permutations(range(len(die.faces)), 2):
            if die.faces[before] == first:
                found.append(_turned(dice, place, before, after))
    return found


def turns(dice: Sequence[TypeDie]) -> list[Turn]:
    """A thrower shows a later face instead of an earlier one."""
    return [
        _turned(dice, place, before, after)
        for place, die in enumerate(dice)
        for before, after in permutations(range(len(die.faces)), 2)
        if before < after
    ]


def _still(dice: Sequence[TypeDie]) -> Turn:
    return (0,) * sum(len(die.counts) for die in dice)


def _turned(dice: Sequence[TypeDie], place: int, before: int, after: int) -> Turn:
    """One thrower of a die from a face to another; first faces are not counted."""
    found, start = list(_still(dice)), sum(len(die.counts) for die in dice[:place])
    for face, d in ((before, -1), (after, 1)):
        if face:
            found[start + face - 1] += d
    return tuple(found)


def chance_of_counts(dice: Sequence[TypeDie], counts: Counts) -> Fraction:
    """κ: the probability of the counts of all dice but their first faces, rounded down; 0 of those that cannot be."""
    found, whole, start = 1, 1, 0
    for die in dice:
        own = counts[start : start + len(die.counts)]
        start += len(die.counts)
        every = (die.number - sum(own), *own)
        if min(every) < 0:
            return Fraction(0)
        ways, odds = factorial(die.number) // prod(map(factorial, every)), odds_of(die)
        found *= ways * prod(odd**x for odd, x in zip(odds, every, strict=True))
        whole *= sum(odds) ** die.number
    return Fraction((found << PRIOR_BITS) // whole, 1 << PRIOR_BITS)


class _Crowd:
    """One tier: its law, its states by their places, and the inequalities that carry multipliers."""

    def __init__(self, problem: Problem, law: IidSum, witness: CrowdWitness, tier: CrowdTier) -> None:
        self.problem, self.witness, self.tier = problem, witness, tier
        value = dict(zip(law.types, law.values, strict=True))
        first, *others = witness.faces
        self.unit, steps = whole_steps([value[t] - value[first] for t in others])
        share = sum(witness.shares)
        whole = lcm(*(s.denominator for s in witness.shares))
        self.bottom, *odds = [int(s * whole) for s in witness.shares]
        self.faces = list(zip(steps, odds, strict=True))
        self.law = GroupLaw(
            tier.number, witness.shares[0] / share, (tuple((s / share, u) for s, u in zip(witness.shares[1:], steps, strict=True)),)
        )
        self.at = {state: h for h, state in enumerate(tier.states)}
        self.gains, self.turns = gains(witness.faces[0], witness.dice), turns(witness.dice)
        self.apart = [value[f] - value[die.faces[0]] for die in witness.dice for f in die.faces[1:]]

    def least_loss(self, looks: Looks) -> Fraction:
        """L_M by the multipliers."""
        tier, dice = self.tier, self.witness.dice
        if len(self.at) != len(tier.states):
            raise Refuted("the witness lists a state twice", "states")
        if any(state[0] < 0 or state[0] > tier.number for state in tier.states):
            raise Refuted("the witness lists a state that no database has", "counts")
        for ray in self.witness.rays:
            if any(ray[0] + ray[1] * u < 0 for u, _ in self.faces):
                raise Refuted("a ray of the witness weighs some type negatively", str(list(map(brief, ray))))
        crowd = [state[:2] for state in tier.states]
        self.law.must_be_small(crowd)
        rows = self._rows()
        factor = rational_above_exp(self.problem.epsilon, FACTOR_BITS) if self.problem.epsilon else Fraction(1)
        pulls = [pulled(node, rows, factor) for node in tier.multipliers]
        masses = self.law.masses(crowd)
        weighing, doubt = weighed(tier.multipliers, pulls, factor.denominator * tier.scale, masses)
        kappa = {counts: chance_of_counts(dice, counts) for counts in {state[2:] for state in tier.states}}
        omegas = tuple(map(self._omega, tier.states))
        held = [_below(low * kappa[state[2:]]) for (low, _), state in zip(masses, tier.states, strict=True)]
        stage = PullStage(held, omegas, list(range(len(held))), frozenset())
        asked = self.problem.decision
        decision = Decision(asked.loss, RealActions(), asked.weight)
        loss = over_pieces(decision, (min(omegas), max(omegas)), stage, dict.fromkeys(omegas, Fraction(0)), weighing, looks)
        return max(loss - doubt, Fraction(0))

    def _omega(self, state: Counts) -> Fraction:
        """ω beside what it is when all show their first faces."""
        return self.unit * state[1] + sum((x * d for x, d in zip(state[2:], self.apart, strict=True)), Fraction(0))

    def _rows(self) -> dict[tuple[int, int], AveragedRow]:
        """The inequalities that carry a multiplier, by state and number: of every ray those of all gains, then turns."""
        by_ray, rows = len(self.gains), {}
        most = len(self.witness.rays) * by_ray + len(self.turns)
        used = {(state, row // 2) for node in self.tier.multipliers for state, row, _ in node.flows}
        ask(len(used) * len(self.faces), MOST_ROWS)
        for h, number in used:
            if number >= most:
                raise Refuted("the witness uses an inequality that there is not", f"number {brief(number)} of {most}")
            ray, gain = divmod(number, by_ray)
            if ray < len(self.witness.rays):
                rows[h, number] = self._averaged(self.tier.states[h], self.witness.rays[ray], self.gains[gain])
            else:
                rows[h, number] = self._turned(self.tier.states[h], self.turns[number - len(self.witness.rays) * by_ray])
        return rows

    def _averaged(self, state: Counts, ray: tuple[int, int], gain: Turn) -> AveragedRow:
        (k, e), counts = state[:2], _added(state[2:], gain)
        _must_be_possible(self.witness.dice, state[2:], counts)
        other: dict[int, int] = {}
        whole = True
        for u, odds in self.faces:
            weight = (ray[0] + ray[1] * u) * (self.tier.number - k + 1) * odds
            if not weight or k < 1:
                continue
            place = self.at.get((k - 1, e - u, *counts))
            if place is not None:
                other[place] = other.get(place, 0) + weight
            elif whole:
                whole = not self.law.possible((k - 1, e - u))
        return AveragedRow((ray[0] * k + ray[1] * e) * self.bottom, tuple(other.items()), whole)

    def _turned(self, state: Counts, turn: Turn) -> AveragedRow:
        counts = _added(state[2:], turn)
        _must_be_possible(self.witness.dice, state[2:], counts)
        place = self.at.get((*state[:2], *counts))
        return AveragedRow(1, () if place is None else ((place, 1),), place is not None)


def _added(counts: Counts, turn: Turn) -> Counts:
    return tuple(x + d for x, d in zip(counts, turn, strict=True))


def _must_be_possible(dice: Sequence[TypeDie], *both: Counts) -> None:
    """Refute counts that no throws have: nobody turns from them, or to them."""
    for counts in both:
        start = 0
        for die in dice:
            own = counts[start : start + len(die.counts)]
            start += len(die.counts)
            if min(own) < 0 or sum(own) > die.number:
                raise Refuted("the witness names counts of a die that no throws have", f"{list(map(brief, own))} of {die.number}")


def _below(mass: Fraction) -> Fraction:
    """A mass in parts of 2^−BITS, rounded down: losses are not negative."""
    return Fraction((mass.numerator << PRIOR_BITS - BITS) // mass.denominator, 1 << PRIOR_BITS)
