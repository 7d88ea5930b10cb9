"""A mechanism from a linear program: solve, round, and carry the multipliers along as a witness.

The program's states are those of a box of histograms (SY Prop. 5 makes histograms enough under an exchangeable prior), or
all databases. The kernel is valued with every clamped state counted; the multipliers bound every private mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.design.program.neighbour import neighbour
from discreet.design.program.rounding import enough_bits, rounded_weights
from discreet.design.program.sections import (
    Ground,
    Recommendation,
    Section,
    boxed,
    ground,
    losses,
    recommendations,
    whole,
)
from discreet.design.program.thin_witness import SPARED, Bases, dual_witness, for_thinning
from discreet.design.program.truncation import choose_caps, choose_clamp, clips_nothing, regret_marginals
from discreet.design.proposal import Proposal
from discreet.design.schedule import is_affordable, must_be_affordable, now, program_seconds
from discreet.design.solver.pricing import Beginning, solve_priced
from discreet.design.solver.program import Program, Solution, reduced_cost, value_of
from discreet.design.solver.repair import repair
from discreet.design.watchdog import Keep, forget
from discreet.frozen import dataclass
from discreet.model.gap import size
from discreet.model.kernel import Output, TableKernel
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.numerics.exact import format_exact
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from discreet.design.program.wide import WidePlan
    from discreet.design.solver.stride import Timing

NEGLIGIBLE = 1e-13
"""An output whose probability is below this at every state is dropped."""
SMALLEST_SOLVED = Fraction(1, 10**8)
"""Below this ε, e^ε − 1 drowns in the rounding of e^ε, and what may be told gains less than that."""
LARGEST_SOLVED = Fraction(30)
"""Beyond this ε, e^ε drowns floats, and what is lost against the truth is below 10^-12 of it anyway."""
FINE = 1e-12
"""The share of a mechanism's loss that rounding adds where no gap was asked for."""
MOST_AT_ONCE = 30
"""Actions that are solved for at once, about: the others are priced."""
COARSEST = 0.1
"""What may be clamped away at most, as a share of the loss; weighed as if nothing were told: it costs a hundredth of that."""
SMALLEST_WINDOWED = Fraction(1, 4)
"""Below this ε windows are as wide as everything."""
ROOMIER, LESS_ROOM, EVEN = 3.0, 1.0, 1e-4
"""What may be clamped away on windows, in times the gap to reach: so much where that is small, less above the gap for which it is
one. Weighed as if nothing were told, a rare end costs a hundredth of its weight, a coarse box half of it."""
MOST_CLAMPED = 0.3
"""Share of the gap that truncation may take before a larger box is tried."""


def programmed(problem: Problem, gap: float, watch: Watch = SILENT, keep: Keep[Proposal] = forget) -> Proposal:
    """The best mechanism for listed actions, to a relative gap; `keep` is handed what makes a proposal of the best so far."""
    base = ground(problem)
    actions = recommendations(problem)
    table = losses(problem, actions, base.exact_omegas)
    at_once = min(len(actions), MOST_AT_ONCE)

    def proposed(best: SolvedSection) -> Proposal:
        return _proposed(best, actions, table, gap, watch)

    def hold(best: Callable[[], SolvedSection]) -> None:
        keep(lambda: proposed(best()))

    def plan(pace: float = 1.0) -> WidePlan | None:
        return wide_plan(base, table, actions, gap, at_once, watch, pace)

    wide = plan()
    if wide is None:
        return proposed(boxes(base, table, gap, at_once, watch, hold))
    from discreet.design.program.wide import at_the_pace_of_the_machine

    def solve(wide: WidePlan, timing: Timing, keep: Keep[SolvedSection]) -> SolvedSection:
        return SolvedSection.by(wide.section, table, lambda program, so_far: wide.solve(program, watch, timing, so_far), keep)

    return proposed(at_the_pace_of_the_machine(wide, plan, solve, watch, hold))


def _proposed(best: SolvedSection, actions: list[Recommendation], table: np.ndarray, gap: float, watch: Watch) -> Proposal:
    """A solved section in whole numbers, kernel and multipliers."""
    section, solution, program = best.section, best.solution, best.program
    problem = section.ground.problem
    spare = spared(gap, best.value, solution.bound)
    rounded = exact_kernel(section, best.kernel, actions, section.upper(table), solvable(problem.epsilon), spare)
    flows = standing(solution.multipliers, problem.epsilon)
    within = program.cost - reduced_cost(program, flows).min(axis=0)
    bases = _bases(section, gap, watch)
    witness = dual_witness(section, actions, flows, program.epsilon, spare, most=within, watch=for_thinning(watch), bases=bases)
    return Proposal(section.summary, rounded, witness, "program on all states", solution.status)


@dataclass(frozen=True, eq=False)
class SolvedSection:
    """A section, its program, the kernel of a solution, what that loses with every state counted, and how much of it is open."""

    section: Section
    program: Program
    solution: Solution
    kernel: np.ndarray
    value: float
    clamped: float
    open: float

    @classmethod
    def by(
        cls,
        section: Section,
        table: np.ndarray,
        solve: Callable[[Program, Keep[Solution]], Solution],
        keep: Keep[SolvedSection] = forget,
    ) -> SolvedSection:
        """Solve the program of a section."""
        lower, dropped = section.lower(table)
        program = Program(lower, section.space.edges, float(solvable(section.ground.problem.epsilon)))

        def read(solution: Solution) -> SolvedSection:
            kernel = repair(solution.kernel, program)
            value = float((section.upper(table) * kernel).sum())
            clamped = value - value_of(program, kernel) - dropped
            return cls(section, program, solution, kernel, value, clamped, value - solution.bound - dropped)

        return read(solve(program, lambda so_far: keep(lambda: read(so_far()))))


def boxes(
    base: Ground, table: np.ndarray, gap: float, at_once: int, watch: Watch, keep: Keep[SolvedSection] = forget
) -> SolvedSection:
    """The box of likely histograms that is solved in time, and larger ones as long as clamping costs too much and time is left.

    How long the last one took against what was guessed says how long the next one will.
    """

    def solve_from(beginning: Beginning | None) -> Callable[[Program, Keep[Solution]], Solution]:
        return lambda program, _: solve_priced(program, 0.6 * gap, watch, beginning=beginning)

    first, tolerance = first_tolerance(base, table, gap), affordable_tolerance(base, table, gap, at_once, watch)
    best: SolvedSection | None = None
    given = _given(base, gap, watch) if tolerance == first else None
    while True:
        section, beginning = (truncated(base, table, tolerance), None) if given is None else given
        must_be_affordable(at_once, len(section.space), section.dimensions, watch)
        begun = now()
        solved, given = SolvedSection.by(section, table, solve_from(beginning)), None
        pace = (now() - begun) / program_seconds(at_once, len(section.space), section.dimensions)
        best = solved if best is None or solved.open < best.open else best
        keep(partial(replace, best))
        finer = finer_tolerance(section, table, tolerance, solved.clamped, gap * size(solved.value), watch)
        if finer is not None and tolerance > first:
            finer = first
        if finer is None or not fits(truncated(base, table, finer), at_once, watch, min(pace, 1.0)):
            return best
        tolerance = finer


def _given(base: Ground, gap: float, watch: Watch) -> tuple[Section, Beginning] | None:
    """The box and the first point that a neighbouring size has for this one."""
    near = neighbour()
    if near is None:
        return None
    from discreet.design.program.halfway import begun_near

    return begun_near(near, base, gap, watch)


def _bases(section: Section, gap: float, watch: Watch) -> Bases | None:
    """What the witness of a neighbouring size shares with this one."""
    near = neighbour()
    if near is None:
        return None
    from discreet.design.program.halfway import bases_near

    return bases_near(near, section, gap, watch)


def wide_plan(
    base: Ground,
    table: np.ndarray,
    actions: list[Recommendation] | None,
    gap: float,
    at_once: int,
    watch: Watch,
    pace: float = 1.0,
) -> WidePlan | None:
    """Windows for a program that is not solved in time as a whole, for the least gap that they reach; None where none helps.

    Without actions they are real, and the error is squared. At a `pace` that was seen, where none fits, the cheapest.
    """
    problem = base.problem
    if problem.epsilon < SMALLEST_WINDOWED or fits(whole(base), at_once, watch, pace):
        return None
    if fits(truncated(base, table, first_tolerance(base, table, gap)), at_once, watch, pace):
        return None
    from discreet.design.program.wide import GOALS, centres_of, planned

    centres = None if actions is None else centres_of(problem, actions)
    if centres is None and actions is not None:
        return None
    plan = None
    for goal in (gap, *(g for g in GOALS if g > gap)):
        room = 1.0 if goal == gap else min(ROOMIER, max(LESS_ROOM, (EVEN / goal) ** 0.5))
        tolerance = first_tolerance(base, table, room * goal)
        plan = planned(truncated(base, table, tolerance), centres, goal, float(solvable(problem.epsilon)))
        if plan is None:
            return None
        if plan.fits(watch, pace):
            return plan
    return plan if pace > 1.0 else None


def usual_seconds(problem: Problem, gap: float) -> float:
    """A guess of what the program for listed actions usually takes, on the states that the gap lets it tell apart."""
    base, actions = ground(problem), recommendations(problem)
    table = losses(problem, actions, base.exact_omegas)
    section = truncated(base, table, first_tolerance(base, table, gap))
    return program_seconds(min(len(actions), MOST_AT_ONCE), len(section.space), section.dimensions)


def spared(gap: float, value: float, bound: float) -> float:
    """How much loss each rounding may add: a small share of the gap that was asked for, or of what is left of it."""
    return SPARED * max(gap * float(size(value, bound)), value - bound)


def solvable(epsilon: Fraction) -> Fraction:
    """The ε to solve for: a mechanism private at a smaller ε is private at a larger one; next to nothing is solved as nothing."""
    return min(epsilon, LARGEST_SOLVED) if epsilon >= SMALLEST_SOLVED else Fraction(0)


def standing(multipliers: np.ndarray, epsilon: Fraction) -> np.ndarray:
    """Multipliers for a smaller ε prove nothing at a larger one; none at all prove that the truth is the best to know."""
    return multipliers if epsilon <= LARGEST_SOLVED else np.zeros_like(multipliers)


def first_tolerance(base: Ground, table: np.ndarray, gap: float) -> float:
    """How much loss truncation may cost, as a share of what the design will lose, which is not known yet.

    Its loss lies between that of full and of no information; with losses near zero in between, a fifth of that range.
    """
    masses = np.bincount(base.column, base.masses, len(base.exact_omegas))
    blind, informed = float((table @ masses).min()), float(table.min(axis=0) @ masses)
    surely = min(abs(blind), abs(informed)) if blind * informed > 0 else 0.0
    return gap * max(surely, 0.2 * (blind - informed))


def affordable_tolerance(base: Ground, table: np.ndarray, gap: float, actions: int, watch: Watch) -> float:
    """The first tolerance, or four times as much, and again, until the box that it leaves is usually solved in time.

    A smaller box that is solved leaves less open than a larger one that is not, up to a point: the first one where none is.
    """
    first = first_tolerance(base, table, gap)
    tried, most = first, first_tolerance(base, table, COARSEST)
    while not fits(truncated(base, table, tried), actions, watch):
        tried *= 4
        if tried > most:
            return first
    return tried


def fits(section: Section, actions: int, watch: Watch, pace: float = 1.0) -> bool:
    """Whether the program of a section is usually solved in time, at so many times the seconds that are guessed."""
    return is_affordable(actions, len(section.space), section.dimensions, watch, pace)


def finer_tolerance(
    section: Section, table: np.ndarray, tolerance: float, clamped: float, allowed: float, watch: Watch
) -> float | None:
    """What truncation may cost on another try, when it cost too much of what is `allowed` and more states help; None otherwise."""
    base = section.ground
    spent = tolerance == 0.0 or watch.cancelled() or len(section.space) == len(base.space)
    if clamped <= MOST_CLAMPED * allowed or spent:
        return None
    finer = tolerance * min(1e-2, 0.1 * allowed / clamped)
    grows = len(truncated(base, table, finer).space) > len(section.space)
    return finer if grows else 0.0  # what is left out then has no mass


def truncated(base: Ground, table: np.ndarray, tolerance: float) -> Section:
    """The box of likely histograms, or everything when truncation does not apply or does not pay."""
    problem = base.problem
    if not problem.exchangeable or problem.epsilon == 0:
        return whole(base)
    weights = regret_marginals(base.space.vectors, base.masses, table, base.column)
    if isinstance(problem.neighbours, ReplaceOne):
        clamp = choose_clamp(weights, tolerance)
    else:
        clamp = choose_caps(weights, tolerance, problem.people.smallest)
    return whole(base) if clips_nothing(clamp, weights.shape[1] - 1) else boxed(base, clamp)


def exact_kernel(
    section: Section,
    kernel: np.ndarray,
    actions: list[Recommendation],
    cost: np.ndarray,
    epsilon: Fraction,
    spare: float | None = None,
) -> TableKernel:
    """The rounded kernel with its outputs labelled by the actions that they recommend; rounding adds about `spare` to its loss."""
    # at a large ε what is lost at all is lost by outputs that are hardly ever seen
    worst = float((cost.max(axis=0) - cost.min(axis=0)).sum()) * len(kernel)
    faint = min(NEGLIGIBLE, FINE * abs(float((cost * kernel).sum())) / worst) if worst > 0 else NEGLIGIBLE
    used = np.flatnonzero(kernel.max(axis=1) > faint)
    kept = kernel[used] / kernel[used].sum(axis=0)
    blind = int(np.argmin(cost[used].sum(axis=1)))
    allowed = FINE * abs(float((cost[used] * kept).sum())) if spare is None else spare
    bits = enough_bits(cost[used] - cost[used].min(axis=0), blind, epsilon, allowed)
    weights, denominator = rounded_weights(kept, section.space.edges, epsilon, blind, bits)
    outputs = tuple(Output(label_of(actions[i]), actions[i]) for i in used.tolist())
    return TableKernel(section.space.labels, outputs, tuple(map(tuple, weights)), denominator)


def label_of(action: Recommendation) -> str:
    """How an output is called: the action that it recommends."""
    if isinstance(action, tuple):
        return "; ".join(label_of(a) for a in action)
    return action if isinstance(action, str) else format_exact(action)
