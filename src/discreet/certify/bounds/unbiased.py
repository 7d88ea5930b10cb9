"""Lower bounds on the loss of unbiased mechanisms: weak duality with the mean of each state as one more equation.

Everywhere. For multipliers f ≥ 0 of edges and ν_h of means, of any sign, a private mechanism with E[a | h] = ω_h loses
  at least Σ_h min_a [ π_h (a − ω_h)² − ν_h (a − ω_h) − (Gᵀf_a)_h ],
since E[ν_h (a − ω_h) | h] = 0. f is linear between nodes a_1 < … < a_K and goes on with slopes f⁻, f⁺ ≥ 0 beyond them. There the
bracket is a convex parabola: where its derivative at the last node points outward, it is least at that node.

Nearby. If E[(a − ω)·s(n)] = 0 for s linear in the counts, E(a − ω)² = E(a − ω − s)² − E s², so whatever bounds the loss for the
target ω + s from below, less E s², bounds the loss for ω. Mechanisms that are unbiased everywhere are unbiased nearby too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.certify.bounds.dual import FACTOR_BITS, dual_upper_bound
from discreet.certify.duality.chords import over_pieces
from discreet.certify.duality.pulls import Pull, PullStage, pull_of
from discreet.errors import Refuted
from discreet.model.certificate import Flow, Multipliers, ShiftedWitness, UnbiasedWitness
from discreet.model.problem import Problem, believed
from discreet.model.statistic import TableStatistic, on_histograms
from discreet.model.universe import Universe
from discreet.numerics.brackets import rational_above_exp
from discreet.numerics.exact import whole_steps


def unbiased_upper_bound(problem: Problem, witness: UnbiasedWitness) -> Fraction:
    """A number that no private mechanism with unbiased values exceeds; refutes a witness that does not fit the problem."""
    if problem.unbiased != "everywhere":
        raise Refuted("the witness speaks about values that are unbiased everywhere", str(problem.unbiased))
    space = problem.finest()
    belief = believed(problem, space)
    masses = [belief.weights[i] for i in range(len(space))]
    edges = frozenset((int(a), int(b)) for a, b in space.edges)
    factor = rational_above_exp(problem.epsilon, FACTOR_BITS) if problem.epsilon else Fraction(1)
    unit, _ = whole_steps([w - belief.omegas[0] for w in belief.omegas])
    biases = _biases(witness.biases, len(space), witness.scale * unit)
    pulls = [pull_of(m, edges, witness.scale, factor) for m in witness.multipliers]
    nodes = [pull.action for pull in pulls if isinstance(pull.action, Fraction)]
    if len(nodes) != len(pulls) or not nodes:
        raise Refuted("the action nodes of the witness are no numbers", "nodes")
    weight = problem.decision.weight
    below, above = (pull_of(Multipliers(Fraction(0), tail), edges, witness.scale, factor).exact for tail in witness.tails)
    for h, (mass, omega) in enumerate(zip(masses, belief.omegas, strict=True)):
        up = 2 * weight * mass * (nodes[-1] - omega) - biases[h] - above.get(h, Fraction(0)) / unit
        down = 2 * weight * mass * (omega - nodes[0]) + biases[h] - below.get(h, Fraction(0)) / unit
        if up < 0 or down < 0:
            raise Refuted("the witness leaves out values beyond its nodes", f"state {space.labels[h]}")
    # the multipliers of means are linear in a, like those of edges between nodes: they are one line for `over_pieces`
    lines = [_with_means(pull, a, belief.omegas, biases) for pull, a in zip(pulls, nodes, strict=True)]
    stage = PullStage(masses, belief.omegas, list(range(len(space))), edges)
    least = dict.fromkeys(belief.omegas, Fraction(0))
    return -over_pieces(problem.decision, (nodes[0], nodes[-1]), stage, least, lines)


def _biases(flows: Sequence[Flow], states: int, scale: Fraction) -> list[Fraction]:
    found = [Fraction(0)] * states
    for state, again, numerator in flows:
        if not 0 <= state < states or again != state:
            raise Refuted("the witness speaks about the mean of a state that does not exist", f"state {state}")
        found[state] += numerator / scale
    return found


def _with_means(pull: Pull, a: Fraction, omegas: Sequence[Fraction], biases: Sequence[Fraction]) -> Pull:
    pulled = pull.exact
    at = {h: pulled.get(h, Fraction(0)) + nu * (a - omegas[h]) for h, nu in enumerate(biases)}
    return Pull(pull.action, at)


def shifted_upper_bound(problem: Problem, witness: ShiftedWitness) -> Fraction:
    """A number that no private mechanism with values unbiased nearby exceeds."""
    if problem.unbiased is None:
        raise Refuted("the witness speaks about unbiased values", "a problem that asks for none")
    shifted, square = shifted_problem(problem, witness.shift)
    return dual_upper_bound(shifted, witness.inner) + problem.decision.weight * square


def shifted_problem(problem: Problem, shift: Sequence[Fraction]) -> tuple[Problem, Fraction]:
    """The problem with target ω + s(n), no longer asking for unbiased values, and E s²."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not problem.exchangeable or len(shift) != universe.types + 1:
        raise Refuted("a shift needs an exchangeable prior and a number for each type and one more", f"{len(shift)} numbers")
    vectors = np.asarray(problem.finest().vectors)
    rows = vectors.tolist()
    by = [shift[0] + sum((s * n for s, n in zip(shift[1:], row, strict=True)), Fraction(0)) for row in rows]
    omegas = on_histograms(problem.statistic, vectors, universe)
    table = tuple((",".join(map(str, row)), w + s) for row, w, s in zip(rows, omegas, by, strict=True))
    weights = problem.prior.on_histograms(vectors, universe)
    square = sum((m * s * s for m, s in zip(weights.numerators, by, strict=True)), Fraction(0)) / weights.denominator
    return replace(problem.biased, statistic=TableStatistic(table)), square
