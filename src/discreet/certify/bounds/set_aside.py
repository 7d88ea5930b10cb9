"""The set-aside bound, re-proved: one respondent is set aside, and what a mechanism says of him given the others is private.

Respondents are independent with one law p, neighbours replace one, the error is squared. Each type i has whole weights w_i, one
for each of a few forms; the state of a histogram n is s(n) = Σ_i n_i·w_i. Let u_i = v_i − E v, so that ω − E ω = Σ_i n_i·u_i, and
measure actions from E ω. The witness lists states, nodes a of the actions, numbers β(a, s), one for each form, and levels ν_i(b)
for a type i and the state b of the other N − 1 respondents.

Theorem. Let  H_i(a, s) = a² − 2aN·u_i + β(a, s)·(N·w_i − s)  for listed states and φ_b(a) = Σ_i p_i·(x_i⁺ − q·x_i⁻), x_i = H_i(a,
b + w_i) − ν_i(b), over the types i for which b + w_i is listed, with q ≥ e^ε. If φ_b(a) ≥ −δ_b for every action, then

    loss ≥ Σ_{s listed} E[(ω − E ω)²; s] + Σ_b μ(b)·( Σ_i p_i·ν_i(b) − δ_b ),        μ the law of the state of N − 1 respondents.

Proof. Where the state is not listed the loss is at least 0. Elsewhere (a − ω)² = ω² + Σ_i (n_i/N)·H_i(a, s), because Σ_i
n_i·(N·w_i − s) = 0. The prior is multinomial: π(n)·n_i/N = p_i·π⁻(n − e_i), π⁻ that of N − 1 respondents. So the expectation of
the second part is a sum over histograms n⁻ of the others, of π⁻(n⁻)·Σ_a Σ_i p_i·H_i(a, b + w_i)·m(a|n⁻ + e_i) with b = s(n⁻). As
Σ_a m = 1 it is Σ_i p_i·ν_i(b) plus Σ_a Σ_i p_i·x_i·m(a|n⁻ + e_i). The n⁻ + e_i are neighbours of each other: their m(a|·) lie
between their least, y_a, and q·y_a, so the sum over i is at least y_a·φ_b(a) ≥ −y_a·δ_b, and Σ_a y_a ≤ 1.  ∎  [ours]

Between two nodes at distance h, β is interpolated. Then x lies below its chord by t(1−t)·h², and φ is concave, rises with every
x_i and by at most q for each; so φ is at least (1−t)·φ_k + t·φ_{k+1} − q·P·t(1−t)·h², P the probability of the types counted, and
also at least the lesser of φ with h²/4 taken off every x at either node. The nodes must reach over all values of ω: an action
beyond them loses more than the end. Listed actions only restrict mechanisms. A decision's weight multiplies losses; β and ν
include it.

Arithmetic. All of φ is in whole numbers. Masses are rounded down by less than `missing` (`sum_laws`); each counts with the side
that weakens the bound. The second moment of ω at a state follows from the laws of N − 1 and N − 2 respondents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm, prod

from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.dual import FACTOR_BITS
from discreet.certify.value.sum_laws import sum_masses
from discreet.errors import Refuted, TooLarge
from discreet.model.certificate import Multipliers, SetAsideWitness
from discreet.model.iid_sum import IidSum, iid_sum
from discreet.model.losses import SquaredLoss
from discreet.model.problem import Problem
from discreet.model.together import ask
from discreet.numerics.brackets import rational_above_exp

BITS = 160
MOST_WORK = 20_000_000
"""Of every state nodes times types, types times the weights that differ, and `SECOND` times the sums that two of these have."""
SECOND = 4

State = tuple[int, ...]


def set_aside_upper_bound(problem: Problem, witness: SetAsideWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_set_aside(problem)
    if reason is not None:
        raise Refuted("a condition of the set-aside bound does not hold", reason)
    law = iid_sum(problem)
    weights = _weights(law, witness)
    work = work_of(weights, len(witness.states), len(witness.multipliers))
    if work > MOST_WORK:
        raise TooLarge("the set-aside bound", size=f"{work:,} sums", fits=f"{MOST_WORK:,}", remedy="use fewer states or nodes")
    ask(work, MOST_WORK)
    nodes = [node.action for node in witness.multipliers if isinstance(node.action, Fraction)]
    low, high = problem.omega_range
    rising = len(nodes) == len(witness.multipliers) and all(a < b for a, b in pairwise(nodes))
    if not rising or not nodes or nodes[0] > low or nodes[-1] < high:
        raise Refuted("the nodes must rise and reach over all values of the statistic", f"{len(nodes)} nodes")
    at = {state: h for h, state in enumerate(witness.states)}
    if len(at) != len(witness.states):
        raise Refuted("the witness lists a state twice", "states")
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    table = _Table(law, weights, witness, factor, problem.decision.weight)
    near, nearer = (_Masses(law, weights, law.respondents - k) for k in (1, 2))
    moment = _SecondMoment(law, weights)
    total = problem.decision.weight * sum((moment.at(s, near, nearer) for s in witness.states), Fraction(0))
    for base in sorted({tuple(x - y for x, y in zip(s, w, strict=True)) for s in witness.states for w in weights}):
        worth = table.worth(base, [at.get(tuple(x + y for x, y in zip(base, w, strict=True))) for w in weights])
        total += worth * near.side(base, worth < 0)
    return -total


def why_not_set_aside(problem: Problem) -> str | None:
    """The first condition of the theorem that fails, in words; None when all hold."""
    reason = why_not_chain(problem)
    if reason is None and not isinstance(problem.decision.loss, SquaredLoss):
        return "the error is not squared"
    if reason is None and iid_sum(problem).respondents < 2:
        return "there are not two respondents"
    return reason


def work_of(weights: Sequence[State], states: int, nodes: int) -> int:
    """What the bound takes with so many states and nodes, of at most `MOST_WORK`."""
    types, kinds = len(weights), len(set(weights))
    sums = min(kinds**2, prod(2 * _range(of) + 1 for of in zip(*weights, strict=True)))
    return states * (types * (nodes + kinds) + SECOND * sums) + SECOND * kinds**2


def _weights(law: IidSum, witness: SetAsideWitness) -> list[State]:
    """The weights of the types of positive probability."""
    if len(witness.weights) != len(law.all_values):
        raise Refuted("the witness weighs other types than the problem has", f"{len(witness.weights)} types")
    return [witness.weights[t] for t in law.types]


def _range(weights: Sequence[int]) -> int:
    return max(weights) - min(weights)


class _Masses:
    """The law of the state of so many respondents, from both sides: two forms are one with weights far enough apart."""

    def __init__(self, law: IidSum, weights: Sequence[State], respondents: int) -> None:
        self.lows = [min(w[k] for w in weights) for k in range(len(weights[0]))]
        self.reach = [respondents * _range(of) for of in zip(*weights, strict=True)]
        self.respondents = respondents
        keys = [self._key([x - low for x, low in zip(w, self.lows, strict=True)]) for w in weights]
        self.first, self.masses, self.missing = sum_masses(law.probabilities, keys, respondents, BITS)

    def _key(self, above: Sequence[int]) -> int:
        key, apart = 0, 1
        for x, reach in zip(above, self.reach, strict=True):
            key += x * apart
            apart *= reach + 1
        return key

    def side(self, state: State, upper: bool) -> Fraction:
        """A number not above the state's probability, or not below it."""
        above = [x - self.respondents * low for x, low in zip(state, self.lows, strict=True)]
        if not all(0 <= x <= reach for x, reach in zip(above, self.reach, strict=True)):
            return Fraction(0)
        at = self._key(above) - self.first
        mass = self.masses[at] if 0 <= at < len(self.masses) else 0
        return Fraction(mass + (self.missing if upper else 0), 1 << BITS)


class _SecondMoment:
    """E[(ω − E ω)²; s] from below: N Σ_w A_w μ(s − w) + N(N−1) Σ_t B_t μ₂(s − t), t being what two respondents weigh together.

    A_w adds up p_i u_i² over the types of weight w, B_t the products of g_w = Σ p_i u_i over weights that come to t.
    """

    def __init__(self, law: IidSum, weights: Sequence[State]) -> None:
        n, first = law.respondents, dict.fromkeys(weights, Fraction(0))
        self.single, self.double = first.copy(), dict[State, Fraction]()
        for p, v, w in zip(law.probabilities, law.values, weights, strict=True):
            first[w] += p * (v - law.mean)
            self.single[w] += n * p * (v - law.mean) ** 2
        for (w, one), (x, other) in product(first.items(), repeat=2):
            both = tuple(a + b for a, b in zip(w, x, strict=True))
            self.double[both] = self.double.get(both, Fraction(0)) + n * (n - 1) * one * other

    def at(self, state: State, near: _Masses, nearer: _Masses) -> Fraction:
        """At one state."""
        total = Fraction(0)
        for parts, masses in ((self.single, near), (self.double, nearer)):
            for weight, factor in parts.items():
                total += factor * masses.side(tuple(x - y for x, y in zip(state, weight, strict=True)), factor < 0)
        return max(total, Fraction(0))


@dataclass(frozen=True, eq=False)
class _Node:
    """The numbers of one node: β [state] of every form, and a² − 2aN·u of every type, both in whole units."""

    forms: dict[int, list[int]]
    costs: list[int]


class _Table:
    """φ of any base at every node, in whole numbers over one denominator."""

    def __init__(self, law: IidSum, weights: Sequence[State], witness: SetAsideWitness, factor: Fraction, weight: Fraction) -> None:
        n, mean = law.respondents, law.mean
        self.weights, self.states, self.respondents = weights, witness.states, n
        self.factor, self.width = factor, len(weights[0])
        bottom = lcm(*(p.denominator for p in law.probabilities))
        self.shares = [int(p * bottom) for p in law.probabilities]
        places = [Fraction(m.action) - n * mean for m in witness.multipliers]  # type: ignore[arg-type]
        costs = [[weight * (a * a - 2 * a * n * (v - mean)) for v in law.values] for a in places]
        bends = [weight * (b - a) ** 2 / 4 for a, b in pairwise(places)]
        unit = lcm(witness.scale, *(x.denominator for x in [*bends, *(c for row in costs for c in row)]))
        self.step, self.bottom = unit // witness.scale, bottom * unit
        self.nodes = [
            _Node(self._forms(m), [int(c * unit) for c in row]) for m, row in zip(witness.multipliers, costs, strict=True)
        ]
        self.bends = [int(x * unit) for x in bends]
        number = {t: i for i, t in enumerate(law.types)}
        self.levels = {(state, number[t]): x for state, t, x in witness.levels if t in number}

    def _forms(self, node: Multipliers) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for state, form, x in node.flows:
            found.setdefault(state, [0] * self.width)[form] += x
        return found

    def worth(self, base: State, targets: Sequence[int | None]) -> Fraction:
        """Σ_i p_i·ν_i(b) − δ_b."""
        kinds = [(i, h, self.levels.get((h, i), 0)) for i, h in enumerate(targets) if h is not None]
        level = sum(self.shares[i] * x for i, _, x in kinds) * self.step
        pulls = [
            (i, h, x * self.step, [self.respondents * w - s for w, s in zip(self.weights[i], self.states[h], strict=True)])
            for i, h, x in kinds
        ]
        rows = [list(self._gains(node, pulls)) for node in self.nodes]
        least = min(Fraction(0), *(self._phi(row, 0) for row in rows))
        held = sum(self.shares[i] for i, _, _ in kinds)
        for bend, (row, following) in zip(self.bends, pairwise(rows), strict=True):
            left, right, curve = self._phi(row, 0), self._phi(following, 0), 4 * self.factor * held * bend
            if abs(right - left) < curve:
                dip = (left + right) / 2 - curve / 4 - (right - left) ** 2 / (4 * curve)
                if dip < least:
                    least = min(least, max(dip, min(self._phi(row, bend), self._phi(following, bend))))
        return (level + least) / self.bottom

    def _gains(self, node: _Node, pulls: Sequence[tuple[int, int, int, list[int]]]) -> Iterator[tuple[int, int]]:
        """(p_i, H_i − ν_i) of every type counted."""
        for i, h, level, apart in pulls:
            forms = node.forms.get(h)
            pulled = sum(f * d for f, d in zip(forms, apart, strict=True)) * self.step if forms else 0
            yield self.shares[i], node.costs[i] + pulled - level

    def _phi(self, gains: Sequence[tuple[int, int]], less: int) -> Fraction:
        up = sum(p * (x - less) for p, x in gains if x > less)
        down = sum(p * (less - x) for p, x in gains if x < less)
        return up - self.factor * down
