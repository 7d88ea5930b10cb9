"""Lower bounds on loss from multipliers: weak duality, redone in whole numbers without any solver.

For multipliers f ≥ 0 on directed edges i→j, each times q·x_j − x_i ≥ 0 with a rational q ≥ e^ε, every private mechanism has
  loss ≥ Σ_h min_a [ π_h·ℓ(a, ω_h) − (Gᵀf_a)_h ],   (Gᵀf)_h = q·Σ_{i→h} f − Σ_{h→k} f.
Actions without multipliers count with f = 0. Real actions: between nodes a_k < a_{k+1} the multipliers are interpolated
linearly, so each state's bracket is π·ℓ(a, ω) plus a linear function of a, and its minimum over the piece is taken exactly
(squared error: a parabola; absolute and pinball: straight between kinks).

States outside the witness's box carry no multipliers and count with their least loss, which is what makes truncation valid
for payoffs of any sign. Prior weights are rounded to 2^−B towards the safe side of the regret ℓ − min ℓ ≥ 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np


from discreet.errors import InputError, Refuted
from discreet.model.actions import Action, ListedActions, NamedActions, RealActions
from discreet.model.certificate import DualWitness, Multipliers
from discreet.model.decision import Decision
from discreet.model.problem import Problem, believed
from discreet.model.reductions import reduced
from discreet.model.replies import loss_table
from discreet.model.states import state_space
from discreet.model.summary import DatabaseSummary, HistogramSummary, check_summary
from discreet.numerics.brackets import rational_above_exp

MARGIN = 1e-9
TINY = 1e-280
PRIOR_BITS = 160
FACTOR_BITS = 96


@dataclass(frozen=True)
class _Ground:
    """Prior mass and statistic of the finest states; `inside` maps states of the box to them."""

    masses: list[Fraction]
    omegas: tuple[Fraction, ...]
    inside: list[int]
    edges: frozenset[tuple[int, int]]


def dual_upper_bound(problem: Problem, witness: DualWitness) -> Fraction:
    """A number that no private mechanism's expected payoff exceeds; refutes a witness that does not fit the problem."""
    if witness.reduction is not None:
        problem = reduced(problem, witness.reduction).problem
    decision = problem.decision
    if (witness.kind == "dual-with-chord") != isinstance(decision.actions, RealActions):
        raise Refuted("the witness does not speak about these actions", witness.kind)
    ground = _ground(problem, witness)
    by_omega = {omega: _least_loss(decision, omega) for omega in set(ground.omegas)}
    least = [by_omega[omega] for omega in ground.omegas]
    floor = sum((mass * low for mass, low in zip(ground.masses, least, strict=True)), Fraction(0))
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    pulls = [(m, _pulls(m, ground, witness.scale, factor)) for m in witness.multipliers]
    if isinstance(decision.actions, RealActions):
        gain = _over_pieces(decision, problem, ground, least, pulls)
    else:
        gain = _over_actions(decision, ground, least, pulls)
    return -(floor + gain)


def _ground(problem: Problem, witness: DualWitness) -> _Ground:
    """The finest states, and those of the box among them with their edges."""
    space = problem.finest()
    belief = believed(problem, space)
    masses = [belief.weights[i] for i in range(len(space))]
    summary = HistogramSummary(witness.box) if problem.exchangeable else DatabaseSummary()
    if witness.box is not None and not problem.exchangeable:
        raise Refuted("a box of histograms bounds nothing when the order of respondents matters", "a box")
    check_summary(summary, problem.universe, problem.neighbours)
    inner = state_space(problem.universe, problem.neighbours, summary) if witness.box is not None else space
    inside = [space.index[label] for label in inner.labels] if witness.box is not None else list(range(len(space)))
    edges = frozenset((int(a), int(b)) for a, b in inner.edges)
    return _Ground(masses, belief.omegas, inside, edges)


def _pulls(m: Multipliers, ground: _Ground, scale: int, factor: Fraction) -> dict[int, Fraction]:
    """(Gᵀf)_h by state of the box, over edges that really exist."""
    into: dict[int, int] = {}
    out: dict[int, int] = {}
    for start, end, flow in m.flows:
        if (min(start, end), max(start, end)) not in ground.edges or flow < 0:
            raise Refuted("the witness puts a multiplier where no edge is", f"states {start} and {end}")
        into[end] = into.get(end, 0) + flow
        out[start] = out.get(start, 0) + flow
    return {h: (factor * into.get(h, 0) - out.get(h, 0)) / scale for h in into.keys() | out.keys()}


def _least_loss(decision: Decision, omega: Fraction) -> Fraction:
    """min_a ℓ(a, ω)."""
    if isinstance(decision.actions, RealActions):
        return -decision.payoff(_clipped(decision.actions, omega), omega)
    if decision.is_loss and isinstance(decision.actions, ListedActions):
        from bisect import bisect_left

        numbers = decision.actions.numbers
        at = bisect_left(numbers, omega)
        return min(-decision.payoff(a, omega) for a in numbers[max(at - 1, 0) : at + 1])
    return min(-decision.payoff(a, omega) for a in decision.actions)


def _over_actions(
    decision: Decision, ground: _Ground, least: Sequence[Fraction],
    pulls: Sequence[tuple[Multipliers, dict[int, Fraction]]],
) -> Fraction:
    """Σ over box states of min_a [π·regret − Gᵀf], listed actions; a state of no multipliers contributes zero."""
    assert isinstance(decision.actions, (ListedActions, NamedActions))
    by_action = {m.action: pull for m, pull in pulls}
    if len(by_action) != len(pulls) or not set(by_action) <= set(decision.actions):
        raise Refuted("the witness repeats an action or names one that the problem does not have", "actions")
    actions = list(decision.actions)
    tables = [by_action.get(action, {}) for action in actions]
    regrets = _regrets(decision, actions, ground, least)
    masses = [_rounded(ground.masses[state]) for state in ground.inside]
    rough = regrets * np.array([float(m) for m in masses]) - _dense(tables, len(masses))
    total = Fraction(0)
    for h, state in enumerate(ground.inside):
        omega = ground.omegas[state]
        total += min(
            masses[h] * (-decision.payoff(actions[i], omega) - least[state]) - tables[i].get(h, 0)
            for i in _contenders(rough[:, h])
        )
    return total


def _regrets(
    decision: Decision, actions: Sequence[Action], ground: _Ground, least: Sequence[Fraction]
) -> np.ndarray:
    """ℓ(a, ω) − min ℓ in floats [action, state of the box], computed once for each value of the statistic."""
    distinct = sorted({ground.omegas[state] for state in ground.inside})
    place = {omega: k for k, omega in enumerate(distinct)}
    table = np.array([[-float(decision.payoff(a, omega)) for omega in distinct] for a in actions])
    columns = [place[ground.omegas[state]] for state in ground.inside]
    return table[:, columns] - np.array([float(least[state]) for state in ground.inside])


def _dense(tables: Sequence[dict[int, Fraction]], states: int) -> np.ndarray:
    found = np.zeros((len(tables), states))
    for row, table in zip(found, tables, strict=True):
        for h, pull in table.items():
            row[h] = float(pull)
    return found


def _contenders(rough: np.ndarray) -> list[int]:
    """Entries that may be the least: floats leave out only what is above it by far more than they can err.

    Each entry is a sum of a few products with a relative error below 10^-15 of its largest term.
    """
    size = float(np.abs(rough).max(initial=0.0))
    return np.flatnonzero(rough <= rough.min() + MARGIN * size + TINY).tolist()


def _over_pieces(
    decision: Decision, problem: Problem, ground: _Ground, least: Sequence[Fraction],
    pulls: Sequence[tuple[Multipliers, dict[int, Fraction]]],
) -> Fraction:
    """Σ over box states of the least bracket over all pieces between action nodes."""
    nodes = [m.action for m, _ in pulls]
    numbers = [a for a in nodes if isinstance(a, Fraction)]
    if len(numbers) != len(nodes) or any(a >= b for a, b in pairwise(numbers)):
        raise Refuted("the action nodes of the witness are not ascending numbers", "nodes")
    low, high = _needed_range(decision, problem)
    if not numbers or numbers[0] > low or numbers[-1] < high:
        raise Refuted("the action nodes of the witness leave out actions", f"nodes must reach from {low} to {high}")
    tables = [pull for _, pull in pulls]
    dense = _dense(tables, len(ground.inside))
    ends = np.array([float(a) for a in numbers])
    total = Fraction(0)
    for h, state in enumerate(ground.inside):
        mass, omega = _rounded(ground.masses[state]), ground.omegas[state]
        shift = mass * least[state]
        rough = _rough_pieces(decision, float(mass), float(omega), ends, -dense[:, h] - float(shift))
        total += min(
            _least_on_piece(
                decision, mass, omega, numbers[k : k + 2], [-t.get(h, Fraction(0)) - shift for t in tables[k : k + 2]]
            )
            for k in _contenders(rough)
        )
    return total


def _rough_pieces(decision: Decision, mass: float, omega: float, ends: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """`_least_on_piece` for all pieces in floats, only to tell which deserve the exact one."""
    at_ends = mass * loss_table(decision, ends, np.array([omega]))[:, 0] + heights
    if len(ends) == 1:
        return at_ends
    a, b, y, z = ends[:-1], ends[1:], heights[:-1], heights[1:]
    slope = (z - y) / (b - a)
    if decision.kind == "squared-error":
        turn = np.clip(omega - slope / (2 * mass) if mass > 0 else a, a, b)
    else:
        turn = np.clip(omega, a, b)
    inner = mass * loss_table(decision, turn, np.array([omega]))[:, 0] + y + slope * (turn - a)
    return np.minimum(np.minimum(at_ends[:-1], at_ends[1:]), inner)


def _least_on_piece(
    decision: Decision, mass: Fraction, omega: Fraction, ends: Sequence[Fraction], heights: Sequence[Fraction]
) -> Fraction:
    """min over a in the piece of mass·ℓ(a, ω) + the straight line through the heights at its ends."""
    at_ends = [-mass * decision.payoff(a, omega) + y for a, y in zip(ends, heights, strict=True)]
    if len(ends) == 1:
        return at_ends[0]
    (a, b), (y, z) = ends, heights
    slope = (z - y) / (b - a)
    if decision.kind == "squared-error":
        if mass == 0:
            return min(at_ends)
        turn = omega - slope / (2 * mass)
        if a < turn < b:
            return min(*at_ends, mass * (turn - omega) ** 2 + y + slope * (turn - a))
        return min(at_ends)
    if decision.kind in ("absolute-error", "pinball"):
        if a < omega < b:
            return min(*at_ends, y + slope * (omega - a))
        return min(at_ends)
    raise InputError(
        "A bound for real actions is proved for squared, absolute and pinball losses", found=decision.kind,
        allowed="squared-error, absolute-error, pinball", remedy="list the actions",
    )


def _needed_range(decision: Decision, problem: Problem) -> tuple[Fraction, Fraction]:
    """Actions beyond the statistic's range are never better than the nearest end of it, clipped to what is allowed."""
    assert isinstance(decision.actions, RealActions)
    low, high = problem.omega_range
    return _clipped(decision.actions, low), _clipped(decision.actions, high)


def _clipped(actions: RealActions, omega: Fraction) -> Fraction:
    if actions.lower is not None:
        omega = max(omega, actions.lower)
    return omega if actions.upper is None else min(omega, actions.upper)


def _rounded(mass: Fraction) -> Fraction:
    """The mass rounded down to 2^−B: it multiplies regrets ≥ 0, so the bound only gets lower."""
    return Fraction((mass.numerator << PRIOR_BITS) // mass.denominator, 1 << PRIOR_BITS)
