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


from discreet.errors import InputError, Refuted
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.certificate import DualWitness, Multipliers
from discreet.model.decision import Decision
from discreet.model.problem import Problem, believed
from discreet.model.states import state_space
from discreet.model.summary import DatabaseSummary, HistogramSummary, check_summary
from discreet.numerics.brackets import rational_above_exp

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
    decision = problem.decision
    if (witness.kind == "dual-with-chord") != isinstance(decision.actions, RealActions):
        raise Refuted("the witness does not speak about these actions", witness.kind)
    ground = _ground(problem, witness)
    least = [_least_loss(decision, omega) for omega in ground.omegas]
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
    total = Fraction(0)
    for h, state in enumerate(ground.inside):
        mass, omega = _rounded(ground.masses[state]), ground.omegas[state]
        total += min(
            mass * (-decision.payoff(action, omega) - least[state]) - pull.get(h, 0)
            for action in decision.actions
            for pull in (by_action.get(action, {}),)
        )
    return total


def _over_pieces(
    decision: Decision, problem: Problem, ground: _Ground, least: Sequence[Fraction],
    pulls: Sequence[tuple[Multipliers, dict[int, Fraction]]],
) -> Fraction:
    """Σ over box states of the least bracket over all pieces between action nodes."""
    nodes = [m.action for m, _ in pulls]
    if any(isinstance(a, str) for a in nodes) or any(a >= b for a, b in pairwise(nodes)):  # type: ignore[operator]
        raise Refuted("the action nodes of the witness are not ascending numbers", "nodes")
    low, high = _needed_range(decision, problem)
    numbers = [a for a in nodes if isinstance(a, Fraction)]
    if not numbers or numbers[0] > low or numbers[-1] < high:
        raise Refuted("the action nodes of the witness leave out actions", f"nodes must reach from {low} to {high}")
    total = Fraction(0)
    for h, state in enumerate(ground.inside):
        mass, omega = _rounded(ground.masses[state]), ground.omegas[state]
        heights = [-pull.get(h, Fraction(0)) - mass * least[state] for _, pull in pulls]
        best = None
        for k in range(max(len(numbers) - 1, 1)):
            found = _least_on_piece(decision, mass, omega, numbers[k : k + 2], heights[k : k + 2])
            best = found if best is None or found < best else best
        assert best is not None
        total += best
    return total


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
