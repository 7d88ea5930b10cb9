"""Programs with means: the best unbiased kernel on all states, on a window, or on the statistic, with a bound for all of them.

Nodes begin half a unit apart. Between nodes a bound loses π·width²/4, so pieces where it falls are halved, round by round, and each
round takes three quarters of what is still missing (`MOST_ROUNDS`, time permitting). Where no bound is wanted, nodes are added
beside the outputs that are used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp

import numpy as np

from discreet.certify.bounds import FULL
from discreet.design.program.listed import label_of
from discreet.design.program.means import FINE, Scale, exact_means, repair_outputs
from discreet.design.program.sections import Ground, Section
from discreet.design.program.windows import alone, likeliest, windowed, written_out
from discreet.design.proposal import Proposal
from discreet.design.schedule import Until, library_seconds
from discreet.design.solver.means import MeansProgram, MeansSolution, has_ends, refined, solve_means
from discreet.design.solver.program import directed
from discreet.errors import TooLarge
from discreet.model.certificate import Flow, Multipliers, TheoremWitness, UnbiasedWitness, Witness
from discreet.model.gap import reached
from discreet.model.kernel import Output, TableKernel

MOST_ROUNDS = 10
HALF = 0.5
"""Distance of the first nodes, in units of the statistic."""
LIKELY, RARE = 1e-4, 1e-5
"""Nodes are dense over values that leave out this much of the prior at either end; rarer outputs have none added beside them."""
WINDOWS = ((1e-2, 0.0), (1e-4, HALF / 4), (1e-6, HALF / 16), (1e-8, HALF / 64))
"""Round by round: what the window may leave out of the prior, and how far beside each output that is used there are more nodes."""
LEFT_OUT = 1e-3
"""What a window for a bound leaves out of the prior, as a share of the gap; ten times as much where floats cannot bound so many."""
MOST_BOUNDED = 100_000
"""Nodes times directed edges of the first program for a bound: some ten seconds."""


@dataclass(frozen=True, eq=False)
class MeansStage:
    """A section as a program with means: values of the statistic in whole units."""

    section: Section
    scale: Scale
    program: MeansProgram

    @classmethod
    def of(cls, section: Section) -> MeansStage:
        base = section.ground
        omegas = [Fraction(0)] * len(section.space)
        for state, column in zip(section.image.tolist(), base.column.tolist(), strict=True):
            omegas[state] = base.exact_omegas[column]
        scale = Scale.of(omegas)
        masses = np.bincount(section.image, base.masses, len(section.space)).astype(np.float64)
        places = np.array(scale.places, dtype=float)
        return cls(section, scale, MeansProgram(masses, places, section.space.edges, exp(float(base.problem.epsilon))))

    def nodes(self) -> np.ndarray:
        """Half units over the range of the statistic and as far beyond it as the two outputs of the repair."""
        low, high = self._ends
        return np.arange(low, high + HALF / 2, HALF)

    def sparse_nodes(self) -> np.ndarray:
        """The same over likely values only, and steps of one respondent beyond."""
        low, high = self._ends
        step = _step(self.program)
        first, last = _likely_range(self.program)
        reach = _reach(step, self._epsilon)
        inner = np.arange(max(low, first - reach), min(high, last + reach) + HALF / 2, HALF)
        outer = [np.arange(inner[0], low, -step), np.arange(inner[-1], high, step), [low, high]]
        return np.unique(np.concatenate([inner, *outer]))

    def proposal(self, found: MeansSolution, witness: Witness, words: str) -> Proposal:
        """The kernel made exact."""
        fine = np.round(found.nodes * (1 << FINE)).astype(np.int64)
        epsilon = self.section.ground.problem.epsilon
        outputs, weights, denominator = exact_means(found.kernel, fine, self.scale, self.section.space.edges, epsilon)
        actions = [self.scale.number(a) for a in outputs]
        named = tuple(Output(label_of(a), a) for a in actions)
        kernel = TableKernel(self.section.space.labels, named, tuple(map(tuple, weights)), denominator)
        return Proposal(self.section.summary, kernel, witness, words, "optimal")

    @property
    def _ends(self) -> tuple[int, int]:
        return repair_outputs(self.scale.places, self.section.space.edges, self._epsilon)

    @property
    def _epsilon(self) -> float:
        return float(self.section.ground.problem.epsilon)


def whole_means(section: Section, gap: float, watch: Until) -> Proposal:
    """The best unbiased kernel over all states, with the bound of the same program, or of a window where floats bound no more."""
    stage = MeansStage.of(section)
    nodes = stage.nodes()
    if not has_ends(stage.program, nodes):
        return statistic_means(section, gap, watch)
    best, shown = _halved(stage.program, nodes, gap, watch)
    weight = float(section.ground.problem.decision.weight)
    witness = _witness(shown, stage.scale, stage.program.edges, weight, np.arange(len(section.space)))
    return stage.proposal(best, witness, "program with means on all states")


def statistic_means(section: Section, gap: float, watch: Until) -> Proposal:
    """The best unbiased kernel over the states of a section, and the bound of a window of likely histograms."""
    stage = MeansStage.of(section)
    best = _solved(stage.program, stage.nodes(), watch)
    if not watch.cancelled():
        finer = _solution(stage.program, _beside(best, stage.program, best.nodes, HALF / 4), watch)
        best = finer if finer.optimal and finer.value < best.value else best
    words = "program with means on the statistic" if section.summary.kind == "linear" else "program with means on all states"
    return stage.proposal(best, window_witness(section.ground, best.value, gap, watch), words)


def window_means(base: Ground, gap: float, watch: Until) -> Proposal:
    """The best unbiased kernel over likely states and the statistic of the others, in larger and larger windows."""
    best: tuple[MeansStage, MeansSolution] | None = None
    witness: Witness | None = None
    for outside, beside in WINDOWS:
        stage = MeansStage.of(windowed(base, likeliest(base, outside)))
        nodes = stage.sparse_nodes()
        if best is None:
            best = (stage, _solved(stage.program, nodes, watch))
        else:
            found = _solution(stage.program, _beside(best[1], best[0].program, nodes, beside), watch)
            if found.optimal and found.value < best[1].value:
                best = (stage, found)
        if watch.cancelled():
            break
        if witness is None:
            witness, bound = _window_bound(base, best[1].value, gap, watch)
        if watch.cancelled() or reached(best[1].value, bound, gap):
            break
    assert best is not None
    stage, found = best
    made = stage.proposal(found, witness or TheoremWitness(FULL), "program with means on likely histograms and the statistic")
    assert isinstance(made.kernel, TableKernel)
    return replace(made, kernel=written_out(stage.section, made.kernel))


def window_witness(base: Ground, value: float, gap: float, watch: Until) -> Witness:
    """A bound on all unbiased mechanisms from likely histograms alone; that of full information where there is none."""
    problem = base.problem
    if watch.cancelled() or not problem.exchangeable or problem.unbiased != "everywhere":
        return TheoremWitness(FULL)
    return _window_bound(base, value, gap, watch)[0]


def _window_bound(base: Ground, value: float, gap: float, watch: Until) -> tuple[Witness, float]:
    """The witness of a window and its bound in floats: means and edges inside it are as they are, all others are left out."""
    scale = Scale.of([base.exact_omegas[column] for column in base.column.tolist()])
    places = np.array(scale.places, dtype=float)
    epsilon = float(base.problem.epsilon)
    outside = LEFT_OUT * gap
    while outside < 1:
        inside = likeliest(base, outside)
        program = MeansProgram(base.masses[inside], places[inside], alone(base, inside), exp(epsilon))
        reach = _reach(_step(program), epsilon)
        nodes = np.arange(program.omegas.min() - reach, program.omegas.max() + reach + HALF / 2, HALF)
        if len(nodes) * program.arcs <= MOST_BOUNDED and len(program.edges) and has_ends(program, nodes):
            break
        outside *= 10
    else:
        return TheoremWitness(FULL), 0.0
    _, found = _halved(program, nodes, gap, watch, value)
    if not np.isfinite(found.bound):
        return TheoremWitness(FULL), 0.0
    wide = _reaching(found, float(places.min()), float(places.max()))
    return _witness(wide, scale, program.edges, float(base.problem.decision.weight), inside), found.bound


def _halved(
    program: MeansProgram, nodes: np.ndarray, gap: float, watch: Until, value: float = np.inf
) -> tuple[MeansSolution, MeansSolution]:
    """The solutions of least value and of largest bound; pieces where the bound falls are halved until it is near enough.

    `value` is a loss that need not be undercut: the bound is near enough when it is near that one.
    """
    best = shown = last = _solved(program, nodes, watch, ends=True)
    for _ in range(MOST_ROUNDS):
        least = best.value if np.isinf(value) else max(value, best.value)
        if watch.cancelled() or reached(least, shown.bound, gap / 2) or reached(best.value, shown.bound, gap / 4):
            break
        finer = np.round(refined(last, gap * best.value / 8) * (1 << FINE)) / (1 << FINE)
        if len(finer) == len(last.nodes):
            break
        found = _solution(program, finer, watch, ends=True)
        if not found.optimal:
            break
        best = found if found.value < best.value else best
        last, shown = found, found if found.bound > shown.bound else shown
    return best, shown


def _solution(program: MeansProgram, nodes: np.ndarray, watch: Until, *, ends: bool = False) -> MeansSolution:
    return solve_means(program, nodes, ends=ends, seconds=library_seconds(watch))


def _solved(program: MeansProgram, nodes: np.ndarray, watch: Until, *, ends: bool = False) -> MeansSolution:
    """The first solution, without which there is nothing."""
    found = _solution(program, nodes, watch, ends=ends)
    if not found.optimal:
        raise TooLarge(
            "The program for unbiased values was not solved",
            size=f"{len(program.masses):,} states and {len(nodes):,} outputs",
            fits="a smaller problem, or more time",
            remedy="use fewer respondents, a larger ε, or more --seconds",
        )
    return found


def _beside(found: MeansSolution, program: MeansProgram, nodes: np.ndarray, width: float) -> np.ndarray:
    """Nodes, and those of a solution that are used, with two more beside each that is likely."""
    used = found.nodes[found.kernel.max(axis=1) > 1e-6]
    likely = found.nodes[found.kernel @ program.masses > RARE]
    more = np.concatenate([nodes, used, likely - width, likely + width]).clip(nodes[0], nodes[-1])
    return np.unique(np.round(more * (1 << FINE)) / (1 << FINE))


def _step(program: MeansProgram) -> float:
    """How far one respondent moves the statistic at most."""
    ends = program.omegas[program.edges]
    return float(np.abs(ends[:, 0] - ends[:, 1]).max(initial=1.0))


def _reach(step: float, epsilon: float) -> int:
    """How far beyond likely values outputs are chosen one by one."""
    return ceil(4 * step / min(epsilon, 1.0))


def _likely_range(program: MeansProgram) -> tuple[float, float]:
    order = np.argsort(program.omegas, kind="stable")
    mass = np.cumsum(program.masses[order])
    first, last = (min(int(np.searchsorted(mass, share)), len(order) - 1) for share in (LIKELY, 1 - LIKELY))
    return float(program.omegas[order[first]]), float(program.omegas[order[last]])


def _reaching(found: MeansSolution, low: float, high: float) -> MeansSolution:
    """The same multipliers with nodes that reach over the whole statistic: beyond its ends they go on with their slopes."""
    nodes, multipliers = found.nodes, found.multipliers
    if low < nodes[0]:
        multipliers = np.vstack([multipliers[:1] + (nodes[0] - low) * found.tails[0], multipliers])
        nodes = np.concatenate([[low], nodes])
    if high > nodes[-1]:
        multipliers = np.vstack([multipliers, multipliers[-1:] + (high - nodes[-1]) * found.tails[1]])
        nodes = np.concatenate([nodes, [high]])
    return replace(found, nodes=nodes, multipliers=multipliers)


def _witness(found: MeansSolution, scale: Scale, edges: np.ndarray, weight: float, states: np.ndarray) -> Witness:
    """The multipliers in the units of the problem, as whole numbers over a power of two that keeps 60 bits of the largest.

    `states` are those of the problem that the program's stand for.
    """
    size = weight * float(scale.unit) ** 2
    parts = [np.maximum(found.multipliers, 0.0) * size, np.maximum(found.tails, 0.0) * size, found.biases * size]
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts)
    bits = max(59 - int(np.ceil(np.log2(largest))), 0) if largest > 0 else 0
    flows, tails, biases = (np.floor(np.ldexp(part, bits)).astype(np.int64) for part in parts)
    tail, head = (states[end] for end in directed(edges))

    def listed(row: np.ndarray) -> tuple[Flow, ...]:
        at = np.flatnonzero(row)
        return tuple(zip(tail[at].tolist(), head[at].tolist(), row[at].tolist(), strict=True))

    nodes = [scale.number(round(a * (1 << FINE))) for a in found.nodes.tolist()]
    return UnbiasedWitness(
        1 << bits,
        tuple(Multipliers(a, listed(row)) for a, row in zip(nodes, flows, strict=True)),
        (listed(tails[0]), listed(tails[1])),
        tuple((h, h, int(n)) for h, n in zip(states.tolist(), biases.tolist(), strict=True) if n),
    )
