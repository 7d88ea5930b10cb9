"""The quotient bound, re-proved: a lower bound on every private mechanism's loss, whose size hardly depends on T.

Respondents are independent with one law p, neighbours replace one, ω = Σ_i v(θ_i). One type is the reference; the others fall into
groups. x_g counts respondents of group g, x = Σ_g x_g, u_j = v_j − v_reference in whole steps, and a state is
s = (x_1, …, x_G, Σ_j n_j u_j).

Lemma. Let m be ε-private, and M_a(s) = Σ_{n in s} π(n)·m(a|n) over histograms n. Let c_j = k_g(j) + l·u_j ≥ 0 for every type j of
positive probability, C(s) = Σ_g k_g x_g + l·ω, and

    A_a(s) = Σ_j c_j·(N−x+1)·(p_j/p_0)·M_a(s−j),        s−j: one respondent of type j became a reference type.

Then  C(s)·M_a(s) ≤ e^ε·A_a(s)  and  A_a(s) ≤ e^ε·C(s)·M_a(s).

Proof. m(a|n) ≤ e^ε·m(a|n−e_j), n−e_j having one more reference type. Multiply by π(n)·n_j·c_j ≥ 0 and sum over j and over n
in s. On the left Σ_j n_j c_j = C(s) is the same for every n in s: that is why c is affine in u, with one slope. On the right
π(n)·n_j = π(n−e_j)·(N−x+1)·p_j/p_0 since π is multinomial, and n−e_j runs through all of s−j. The other inequality is the same
with the roles exchanged.  ∎  [ours]

Weak duality. Σ_a M_a(s) = π(s), and the loss is Σ_s Σ_a ℓ(a, ω_s)·M_a(s). For multipliers f ≥ 0 on the inequalities (a rational
q ≥ e^ε in place of e^ε) every private mechanism has  loss ≥ Σ_s π(s)·min_a [ ℓ(a, ω_s) − pull_a(s) ],  pull_a the combination of
the coefficients of M_a(s). States that are not listed count with zero: losses are not negative, and no pull may fall on them from
the larger side (refuted), while from the smaller side it only helps. Between nodes of real actions f is interpolated (`chords`);
nodes that are not among listed actions bound every real action, hence the listed ones. Of listed actions those beyond a last node
that no listed state's ω exceeds need not be looked at, and so below the first: who plays that node instead keeps the promise and
loses no more there.

All coefficients are whole numbers after multiplying by p's denominators. Only π(s) is rounded (`state_masses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from discreet.certify.bounds.averaged_pulls import AveragedRow, pulled, weighed
from discreet.certify.bounds.chain import why_not_chain
from discreet.certify.bounds.dual import FACTOR_BITS, over_actions, regrets_of
from discreet.certify.bounds.state_masses import BITS, GroupLaw
from discreet.certify.duality.chords import least_losses, over_pieces
from discreet.certify.duality.pulls import PullStage
from discreet.errors import Refuted
from discreet.model.actions import Actions, ListedActions, RealActions
from discreet.model.certificate import QuotientWitness, Recommendation
from discreet.model.iid_sum import iid_sum
from discreet.model.problem import Problem
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import whole_steps


def quotient_upper_bound(problem: Problem, witness: QuotientWitness) -> Fraction:
    """What no ε-private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    reason = why_not_chain(problem)
    if reason is not None:
        raise Refuted("a condition of the quotient bound does not hold", reason)
    setting = _setting(problem, witness)
    setting.law.must_be_small(witness.states)
    rows = _rows(setting, witness)
    masses = setting.law.masses(witness.states)
    omegas = tuple(setting.origin + setting.unit * state[-1] for state in witness.states)
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    pulls = [pulled(node, rows, factor) for node in witness.multipliers]
    weighing, doubt = weighed(witness.multipliers, pulls, factor.denominator * witness.scale * setting.bottom, masses)
    lows = [Fraction(low, 1 << BITS) for low, _ in masses]
    stage = PullStage(lows, omegas, list(range(len(lows))), frozenset())
    distinct, decision = sorted(set(omegas)), problem.decision
    if isinstance(decision.actions, ListedActions):
        decision = replace(decision, actions=_looked_at(decision.actions, [m.action for m in witness.multipliers], distinct))
    if isinstance(decision.actions, RealActions):
        least = least_losses(decision, distinct)
        gain = over_pieces(decision, problem.omega_range, stage, least, weighing)
    else:
        regrets, least = regrets_of((decision,), distinct)
        gain = over_actions((decision,), stage, regrets, weighing)
    floor = sum((low * least[omega] for low, omega in zip(lows, omegas, strict=True)), Fraction(0))
    return -(floor + gain - doubt)


def _looked_at(actions: ListedActions, nodes: Sequence[Recommendation], omegas: Sequence[Fraction]) -> Actions:
    """The listed actions that a bound must look at, or all real ones where a node is not listed."""
    numbers = [node for node in nodes if isinstance(node, Fraction) and node in actions]
    if len(numbers) < len(nodes):
        return RealActions()
    low, high = min(numbers, default=omegas[-1] + 1), max(numbers, default=omegas[0] - 1)
    return ListedActions(tuple(a for a in actions.numbers if (a >= low or low > omegas[0]) and (a <= high or high < omegas[-1])))


@dataclass(frozen=True, eq=False)
class _Setting:
    """The problem seen from the reference type: ω = origin + unit·steps; each type's group, step and p as a whole number."""

    law: GroupLaw
    origin: Fraction
    unit: Fraction
    types: tuple[tuple[int, int, int], ...]
    bottom: int


def _setting(problem: Problem, witness: QuotientWitness) -> _Setting:
    law = iid_sum(problem)
    values, p = (dict(zip(law.types, of, strict=True)) for of in (law.values, law.probabilities))
    grouped = [t for group in witness.groups for t in group]
    if sorted([witness.reference, *grouped]) != list(law.types) or not all(witness.groups):
        raise Refuted(
            "the reference and the groups must hold every type of positive probability once",
            f"reference {witness.reference}, groups {[list(g) for g in witness.groups]}",
        )
    unit, multiples = whole_steps([values[t] - values[witness.reference] for t in grouped])
    steps = dict(zip(grouped, multiples, strict=True))
    whole = lcm(*(mass.denominator for mass in law.probabilities))
    groups = tuple(tuple((p[t], steps[t]) for t in group) for group in witness.groups)
    return _Setting(
        GroupLaw(law.respondents, p[witness.reference], groups),
        law.respondents * values[witness.reference],
        unit,
        tuple((g, steps[t], int(p[t] * whole)) for g, group in enumerate(witness.groups) for t in group),
        int(p[witness.reference] * whole),
    )


def _rows(setting: _Setting, witness: QuotientWitness) -> dict[tuple[int, int], AveragedRow]:
    """The inequalities that carry a multiplier, by state and ray."""
    n = setting.law.respondents
    at = {state: h for h, state in enumerate(witness.states)}
    if len(at) != len(witness.states):
        raise Refuted("the witness lists a state twice", "states")
    wrong = next((s for s in witness.states if min(s[:-1]) < 0 or sum(s[:-1]) > n), None)
    if wrong is not None:
        raise Refuted("the witness lists a state that no database has", str(list(wrong)))
    for ray in witness.rays:
        if any(ray[g] + ray[-1] * step < 0 for g, step, _ in setting.types):
            raise Refuted("a ray of the witness weighs some type negatively", str(list(ray)))
    used = {(state, row // 2) for m in witness.multipliers for state, row, _ in m.flows}
    rows = {}
    for h, r in used:
        state, ray = witness.states[h], witness.rays[r]
        room = n - sum(state[:-1]) + 1
        before: dict[int, int] = {}
        whole = True
        for g, step, p in setting.types:
            c = ray[g] + ray[-1] * step
            earlier = (*state[:g], state[g] - 1, *state[g + 1 : -1], state[-1] - step)
            if c == 0 or earlier[g] < 0:
                continue
            if earlier in at:
                before[at[earlier]] = before.get(at[earlier], 0) + c * room * p
            elif whole:
                whole = not setting.law.possible(earlier)
        own = sum(k * x for k, x in zip(ray, state, strict=True)) * setting.bottom
        rows[h, r] = AveragedRow(own, tuple(before.items()), whole)
    return rows
