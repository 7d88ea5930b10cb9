"""The urn bound, re-proved: any private mechanism seen through how many have one type, and sums beside it, under an urn's prior.

Neighbours replace one of N respondents, the error is squared, ω = Σ_i n_i·v_i over a histogram n. The prior is an urn: the next
respondent has type i with probability proportional to c_i + θ·n_i, n the histogram so far; θ = 1 for a Dirichlet-multinomial
with concentrations c, θ = 0 for independent respondents with probabilities c. One type r is the reference. Types have whole
weights w_i, one for each form; the state of n is s = (n_r, Σ_i n_i·w_i). Let M_i(s) = Σ_{n in s} π(n)·n_i·m(a|n)
for an action a.

Lemma. For i ≠ r let t be the state of a histogram of s with one respondent of type i replaced by r. For an ε-private mechanism

    (c_r + θ·n_r)·M_i(s)   and   c_i·M_r(t) + θ·(n_r + 1)·M_i(t)   differ by a factor of at most e^ε,

and Σ_i M_i(s)·(N·w_i − s) = 0 for every form, that of n_r (weights 1 for r, 0 elsewhere) included.

Proof. Let n′ = n − e_i + e_r. Both have the N − 1 others n − e_i in common, so π(n)·n_i·(c_r + θ·n_r) = π(n′)·n′_r·(c_i + θ·n′_i).
Multiply m(a|n) ≤ e^ε·m(a|n′) by this and sum over n in s with n_i ≥ 1: n′ runs through all of t with n′_r ≥ 1, and n_r and
n′_r = n_r + 1 are the same for all of a state, so that n′_r·Σ π·m = M_r(t). The other way round is the same. The last line says
that Σ_i n_i·w_i is s and Σ_i n_i is N.  ∎  [ours]

Weak duality. Measure actions from E ω, u_i = v_i − E ω/N. As (a − ω)² = ω² + Σ_i n_i·(a²/N − 2a·u_i), with multipliers f ≥ 0 on
both inequalities (a rational q ≥ e^ε in place of e^ε) and any β on the equations,

    loss ≥ Σ_{s listed} ( E[ω²; s] + Σ_i E[n_i; s]·min_a B_i(a, s) ),      B_i(a, s) = a²/N − 2a·u_i − pull_i(a, s),

pull_i the combination of the coefficients of M_i(s), because Σ_a M_i(s) = E[n_i; s]. States that are not listed count with zero:
losses are not negative, no pull may fall on them from the larger side (refuted), and from the smaller side it only helps.
Between nodes f and β are interpolated, and B lies below its chord by t(1−t)·h²/N. Nodes must reach over all values of ω: an
action beyond them loses more than the end. Listed actions only restrict mechanisms. A decision's weight multiplies losses; f and
β include it.

Arithmetic is exact. Types of one weight are a class; counts x of classes have probability N!/Π x_c!·Π (C_c)_{x_c}/(A)_N (θ = 1),
and given them each class is an urn of its own: E n_i = x_c·c_i/C_c, Var Σ v = x_c·(C_c + θ·x_c)/(C_c + θ)·Var v. The result is
rounded down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import factorial, lcm

from discreet.certify.bounds.chain import not_a_single_error
from discreet.certify.bounds.dual import FACTOR_BITS
from discreet.errors import Refuted, TooLarge
from discreet.model.certificate import Multipliers, UrnWitness
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp

BITS = 128
"""Of the result below the point."""
MOST_WORK = 20_000_000
"""Nodes times states times types, and counts of classes in all states."""
MOST_BITS = 1 << 32
"""Binary digits of all products of contents, of each type and number of respondents."""

State = tuple[int, ...]


@dataclass(frozen=True)
class Urn:
    """N respondents drawn one after the other: of each type its content c and its value; `grows` is θ."""

    respondents: int
    contents: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    grows: int

    @property
    def centre(self) -> Fraction:
        """E ω/N."""
        total = sum(self.contents, Fraction(0))
        return sum((c * v for c, v in zip(self.contents, self.values, strict=True)), Fraction(0)) / total


def why_not_drawn(problem: Problem) -> str | None:
    """Why respondents are not drawn from an urn, or the decision is no single error about their sum; None when it is so."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not universe.fixed or not isinstance(problem.neighbours, ReplaceOne):
        return "neighbours do not replace one of a fixed number of respondents"
    if not isinstance(problem.prior, (DirichletMultinomialPrior, IidPrior, ReferencePrior)):
        return "the prior is neither a Dirichlet-multinomial nor one law of independent respondents"
    if problem.statistic.weights(universe) is None:
        return "the statistic is not a sum, mean or count"
    return not_a_single_error(problem)


def why_not_urn(problem: Problem) -> str | None:
    """The first condition of the theorem that fails, in words; None when all hold."""
    reason = why_not_drawn(problem)
    return "the error is not squared" if reason is None and not isinstance(problem.decision.loss, SquaredLoss) else reason


def urn_of(problem: Problem) -> Urn:
    """The urn that a problem's prior is; refuted where it is none."""
    reason, universe, prior = why_not_drawn(problem), problem.universe, problem.prior
    values = problem.statistic.weights(universe) if isinstance(universe, Universe) else None
    if reason is not None or values is None or not isinstance(universe, Universe):
        raise Refuted("a condition of bounds under an urn does not hold", reason or "databases have no types")
    if isinstance(prior, DirichletMultinomialPrior):
        return Urn(universe.respondents, prior.concentration, values, 1)
    assert isinstance(prior, (IidPrior, ReferencePrior))
    return Urn(universe.respondents, prior.probabilities, values, 0)


def urn_upper_bound(problem: Problem, witness: UrnWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_urn(problem)
    if reason is not None:
        raise Refuted("a condition of the urn bound does not hold", reason)
    urn = urn_of(problem)
    if len(witness.weights) != len(urn.values):
        raise Refuted("the witness weighs other types than the problem has", f"{len(witness.weights)} types")
    work = len(witness.multipliers) * len(witness.states) * len(urn.values)
    if work > MOST_WORK:
        raise TooLarge("the urn bound", size=f"{work:,} sums", fits=f"{MOST_WORK:,}", remedy="use fewer states or nodes")
    ask(work, MOST_WORK)
    bits = urn.respondents**2 // 2 * (len(urn.values) + 1) * _longest(urn).bit_length()
    if bits > MOST_BITS:
        raise TooLarge(
            "The probabilities of this urn are too long for so many respondents",
            size=f"{bits:,} binary digits",
            fits=f"{MOST_BITS:,} binary digits",
            remedy="use contents with a smaller common denominator, or another witness",
        )
    ask(bits, MOST_BITS)
    nodes = [node.action for node in witness.multipliers if isinstance(node.action, Fraction)]
    low, high = problem.omega_range
    rising = len(nodes) == len(witness.multipliers) and all(a < b for a, b in pairwise(nodes))
    if not rising or not nodes or nodes[0] > low or nodes[-1] < high:
        raise Refuted("the nodes must rise and reach over all values of the statistic", f"{len(nodes)} nodes")
    at = {state: h for h, state in enumerate(witness.states)}
    if len(at) != len(witness.states):
        raise Refuted("the witness lists a state twice", "states")
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    weight, prior = problem.decision.weight, _Prior(urn, witness)
    pulls = _Pulls(urn, witness, at, factor)
    least = _least(urn, pulls, witness.multipliers, nodes, weight)
    total = Fraction(0)
    for state, worths in zip(witness.states, least, strict=True):
        counts, second = prior.moments(state)
        total += weight * second + sum((n * worth for n, worth in zip(counts, worths, strict=True) if n), Fraction(0))
    return -Fraction((total.numerator << BITS) // total.denominator, 1 << BITS)


def _longest(urn: Urn) -> int:
    """The largest factor of a product of contents in whole numbers."""
    whole = lcm(*(c.denominator for c in urn.contents))
    return int(sum(urn.contents, Fraction(0)) * whole) + urn.grows * whole * urn.respondents


class _Prior:
    """E[n_i; s] of every type and E[(ω − E ω)²; s], exactly, by the counts of classes of types with the same weights."""

    def __init__(self, urn: Urn, witness: UrnWitness) -> None:
        self.urn, self.reference = urn, witness.reference
        places: dict[State, list[int]] = {}
        for i, w in enumerate(witness.weights):
            if i != witness.reference:
                places.setdefault(w, []).append(i)
        self.classes = list(places.values())
        self.weights = list(places)
        self.own = witness.weights[witness.reference]
        whole = lcm(*(c.denominator for c in urn.contents))
        n, grown = urn.respondents, urn.grows * whole
        sizes = [sum((urn.contents[i] for i in kinds), Fraction(0)) for kinds in ([witness.reference], *self.classes)]
        self.ways = [_rising(int(c * whole), grown, n) for c in sizes]
        self.bottom = _rising(int(sum(urn.contents, Fraction(0)) * whole), grown, n)[n]
        self.sizes = sizes
        self.left = MOST_WORK

    def moments(self, state: State) -> tuple[list[Fraction], Fraction]:
        """E[n_i; s] of each type, and E[(ω − E ω)²; s]."""
        urn, others = self.urn, range(1, len(self.sizes))
        n, own = urn.respondents, state[0]
        first, pairs = [0] * len(self.sizes), [[0] * len(self.sizes) for _ in self.sizes]
        if 0 <= own <= n:
            rest = tuple(s - own * w for s, w in zip(state[1:], self.own, strict=True))
            for counts in self._shared(n - own, rest, 0):
                x = (own, *counts)
                chance = factorial(n)
                for k, table in zip(x, self.ways, strict=True):
                    chance = chance // factorial(k) * table[k]
                for c, k in enumerate(x):
                    first[c] += chance * k
                    for d in range(c, len(x)):
                        pairs[c][d] += chance * k * x[d]
        means, spreads = zip(*(self._class(kinds) for kinds in ([self.reference], *self.classes)), strict=True)
        second = sum((first[c] * self._spread(c, spreads[c]) for c in others), Fraction(0))
        for c in range(len(self.sizes)):
            bent = spreads[c] * urn.grows / (self.sizes[c] + urn.grows) if spreads[c] else 0
            second += pairs[c][c] * (means[c] ** 2 + bent)
            second += 2 * means[c] * sum((pairs[c][d] * means[d] for d in range(c + 1, len(self.sizes))), Fraction(0))
        found = [Fraction(0)] * len(urn.values)
        for c, kinds in enumerate(([self.reference], *self.classes)):
            for i in kinds:
                found[i] = first[c] * urn.contents[i] / (self.sizes[c] * self.bottom) if self.sizes[c] else Fraction(0)
        return found, second / self.bottom

    def _spread(self, c: int, variance: Fraction) -> Fraction:
        """What one respondent of a class adds to the variance, the part that grows with their number aside."""
        return variance * self.sizes[c] / (self.sizes[c] + self.urn.grows) if variance else Fraction(0)

    def _class(self, kinds: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Mean, measured from E ω/N, and variance of the values of a class."""
        size = sum((self.urn.contents[i] for i in kinds), Fraction(0))
        if not size:
            return Fraction(0), Fraction(0)
        parts = [(self.urn.contents[i] / size, self.urn.values[i] - self.urn.centre) for i in kinds]
        mean = sum((p * u for p, u in parts), Fraction(0))
        return mean, sum((p * u * u for p, u in parts), Fraction(0)) - mean**2

    def _shared(self, left: int, rest: State, number: int) -> Iterator[tuple[int, ...]]:
        """All counts of the classes from `number` on that make so many respondents and these sums."""
        weights = self.weights[number]
        first = left if number == len(self.weights) - 1 else 0
        for k in range(first, left + 1):
            self.left -= 1
            if self.left < 0:
                raise TooLarge("the urn bound", size="too many counts", fits=f"{MOST_WORK:,}", remedy="use fewer levels of weights")
            after = tuple(s - k * w for s, w in zip(rest, weights, strict=True))
            if number < len(self.weights) - 1:
                yield from ((k, *others) for others in self._shared(left - k, after, number + 1))
            elif not any(after):
                yield (k,)


def _rising(first: int, step: int, most: int) -> list[int]:
    """first·(first + step)·… of 0, 1, …, most factors."""
    found = [1]
    for k in range(most):
        found.append(found[-1] * (first + k * step))
    return found


class _Pulls:
    """The combination of the coefficients of every M_i(s) at a node, in whole numbers over `bottom`."""

    def __init__(self, urn: Urn, witness: UrnWitness, at: dict[State, int], factor: Fraction) -> None:
        self.urn, self.witness, self.at, self.factor = urn, witness, at, factor
        self.whole = lcm(*(c.denominator for c in urn.contents))
        self.contents = [int(c * self.whole) for c in urn.contents]
        self.bottom = witness.scale * self.whole * factor.denominator
        self.forms = [(int(i == witness.reference), *w) for i, w in enumerate(witness.weights)]

    def of(self, node: Multipliers) -> list[list[int]]:
        """[state][type] of a node."""
        witness, top, under = self.witness, self.factor.numerator, self.factor.denominator
        r, n, grown = witness.reference, self.urn.respondents, self.urn.grows * self.whole
        found = [[0] * len(self.forms) for _ in witness.states]
        width = len(self.forms[r])
        for h, place, x in node.flows:
            state = witness.states[h]
            if place < width:
                for i, w in enumerate(self.forms):
                    found[h][i] -= under * self.whole * x * (n * w[place] - state[place])
                continue
            i, larger = divmod(place - width, 2)
            moved = tuple(s - a + b for s, a, b in zip(state, self.forms[i], self.forms[r], strict=True))
            t = self.at.get(moved)
            here, to_reference, to_type = self.contents[r] + grown * state[0], self.contents[i], grown * (state[0] + 1)
            if larger:
                found[h][i] += top * x * here
                factor = -under
            elif t is None:
                raise Refuted("the witness uses an inequality whose larger side it does not list", f"state number {h}")
            else:
                found[h][i] -= under * x * here
                factor = top
            if t is not None:
                found[t][r] += factor * x * to_reference
                found[t][i] += factor * x * to_type
        return found


def _least(
    urn: Urn, pulls: _Pulls, multipliers: Sequence[Multipliers], nodes: Sequence[Fraction], weight: Fraction
) -> list[list[Fraction]]:
    """min_a B_i(a, s) as [state][type]."""
    n, centre = urn.respondents, urn.centre
    places = [a - n * centre for a in nodes]
    costs = [[weight * (a * a / n - 2 * a * (v - centre)) for v in urn.values] for a in places]
    bends = [weight * (b - a) ** 2 / n for a, b in pairwise(places)]
    unit = lcm(pulls.bottom, *(x.denominator for x in [*bends, *(c for row in costs for c in row)]))
    step = unit // pulls.bottom
    found: list[list[Fraction]] = []
    before: list[list[int]] = []
    for number, (node, row) in enumerate(zip(multipliers, costs, strict=True)):
        whole = [int(c * unit) for c in row]
        here = [[c - step * x for c, x in zip(whole, pulled, strict=True)] for pulled in pulls.of(node)]
        if not number:
            found = [[Fraction(x) for x in cells] for cells in here]
        else:
            bend = int(bends[number - 1] * unit)
            for held, old, new in zip(found, before, here, strict=True):
                for i, (left, right) in enumerate(zip(old, new, strict=True)):
                    held[i] = min(held[i], _dip(left, right, bend))
        before = here
    return [[x / unit for x in cells] for cells in found]


def _dip(left: int, right: int, bend: int) -> Fraction:
    """The least of a chord less t(1−t)·bend, its ends included."""
    if abs(right - left) < bend:
        return Fraction(2 * bend * (left + right) - bend**2 - (right - left) ** 2, 4 * bend)
    return Fraction(min(left, right))
