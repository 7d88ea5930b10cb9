"""Designs of near sizes that begin at one point, halfway along the path of a size between them.

In counts of all types but the reference, the likely histograms of two near sizes are the same ones with the same graph; only their
masses differ. So a point of the path of one size is a point for the other: probabilities and slacks as they are, multipliers and
prices scaled by how much likelier each state is. Far along the path that does not pay, since a point near the boundary stays there;
from a gap of a tenth half of the steps are saved. Nothing here is believed: what comes of it is proved as ever.
"""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from discreet.design.program.listed import MOST_AT_ONCE, first_tolerance, fits, programmed, solvable, truncated
from discreet.design.program.neighbour import beginning_near
from discreet.design.program.sections import Ground, Recommendation, Section, boxed, ground, losses, recommendations
from discreet.design.program.thin_witness import Bases
from discreet.design.solver.interior import Iterate, Point
from discreet.design.solver.pricing import Beginning, likely_actions, widened
from discreet.design.solver.program import Program, directed
from discreet.design.solver.threads import one_thread
from discreet.frozen import dataclass
from discreet.model.gap import reached
from discreet.model.problem import Problem
from discreet.model.summary import Clamp, HistogramSummary
from discreet.model.universe import Universe
from discreet.watch import Watch

FAR_ENOUGH = 0.08
"""The relative gap at which others begin."""
FINER = 2.0
"""A box that serves its neighbours too loses so much less by clamping."""
MOST_STEPS = 30
"""A path that has not come so far by then is not shared."""
KEPT = 2
"""Points that are remembered: members of a block are designed one after the other."""


@dataclass(frozen=True, eq=False)
class Halfway:
    """A point (x, s, z, λ) of the path of one problem, its states and actions, and what costs were divided by."""

    section: Section
    clamp: Clamp
    actions: list[Recommendation]
    point: Point
    scale: float
    bases: list[Bases] = field(default_factory=list)
    """Where the search for few multipliers of the problem itself ended, once it did."""


_kept: list[tuple[Problem, float, Halfway | None]] = []


def begun_near(other: Problem, base: Ground, gap: float, watch: Watch) -> tuple[Section, Beginning] | None:
    """The section and the first point that a problem has from its neighbour; None where the two are too different."""
    problem = base.problem
    alike = all(getattr(other, part) == getattr(problem, part) for part in ("neighbours", "statistic", "prior", "promise"))
    judged = [(d.loss, d.weight) for d in other.decisions] == [(d.loss, d.weight) for d in problem.decisions]
    peopled = isinstance(problem.universe, Universe) and problem.exchangeable and other.people.values == problem.people.values
    if not (alike and judged and peopled and problem.people.fixed and other.people.fixed):
        return None
    found = halfway(other, gap, watch)
    return None if found is None else _moved(found, base)


def bases_near(other: Problem, section: Section, gap: float, watch: Watch) -> Bases | None:
    """Where the search for few multipliers begins, on the section that the neighbour gave; None on another one.

    The neighbour itself begins anew and gets an empty place to leave them; if nobody has designed it yet, it is solved for them.
    """
    found = halfway(other, gap, watch)
    if found is None or not np.array_equal(found.section.space.edges, section.space.edges):
        return None
    if section.ground.problem == other:
        found.bases[:] = [{}]
        return found.bases[0]
    if not found.bases:
        with beginning_near(other):
            programmed(other, gap, watch)
    if not found.bases:  # its own box was another one
        found.bases.append({})
    return found.bases[0] or None


def halfway(problem: Problem, gap: float, watch: Watch) -> Halfway | None:
    """The point at which the neighbours of a problem begin; None where it has no box of likely states, or was not reached."""
    for held, at, found in _kept:
        if at == gap and held == problem:
            return found
    found = _reached(problem, gap, watch)
    if not watch.cancelled():
        _kept[:] = [*_kept[1 - KEPT :], (problem, gap, found)]
    return found


@one_thread()
def _reached(problem: Problem, gap: float, watch: Watch) -> Halfway | None:
    base, actions = ground(problem), recommendations(problem)
    table = losses(problem, actions, base.exact_omegas)
    section = truncated(base, table, first_tolerance(base, table, gap) / FINER)
    clamp = section.summary.clamp if isinstance(section.summary, HistogramSummary) else None
    if clamp is None or clamp.rest is None or not fits(section, min(len(actions), MOST_AT_ONCE), watch):
        return None
    program = Program(section.lower(table)[0], section.space.edges, float(solvable(problem.epsilon)))
    active = widened(program, likely_actions(program))
    state = Iterate(program.restricted(active))
    for _ in range(MOST_STEPS):
        if reached(state.value(), state.bound(), FAR_ENOUGH):
            return Halfway(section, clamp, [actions[k] for k in active.tolist()], state.point, state.scale)
        with np.errstate(all="ignore"):
            if watch.cancelled() or not state.advance():
                return None
    return None


def _moved(found: Halfway, base: Ground) -> tuple[Section, Beginning] | None:
    """The point as one of another size."""
    here, there = base.problem.people, found.section.ground.problem.people
    clamp, shift = found.clamp, here.respondents - there.respondents
    assert clamp.rest is not None
    rest = clamp.rest[0] + shift, clamp.rest[1] + shift
    place = {action: k for k, action in enumerate(recommendations(base.problem))}
    if rest[0] < 0 or not all(action in place for action in found.actions):
        return None
    section = boxed(base, replace(clamp, rest=rest))
    others = list(clamp.clipped)
    before, after = found.section.space, section.space
    same = len(before) == len(after) and np.array_equal(before.vectors[:, others], after.vectors[:, others])
    if not same or not np.array_equal(before.edges, after.edges):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        likelier = base.masses[section.inside] / found.section.ground.masses[found.section.inside]
    if not (np.isfinite(likelier).all() and likelier.min() > 0):
        return None
    tail, head = directed(after.edges)
    x, s, z, price = found.point
    scaled = found.scale * z * np.sqrt(likelier[tail] * likelier[head])
    chosen = np.array([place[action] for action in found.actions])
    return section, Beginning(chosen, (x, s, scaled, found.scale * price * likelier))
