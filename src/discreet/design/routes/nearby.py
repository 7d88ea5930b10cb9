"""Values that are unbiased nearby: E[a − ω] = 0 and Cov(a − ω, n_t) = 0 for every type t.

Then a slightly wrong prior moves totals in second order only. With s(n) linear in the counts, E(a − ω)² = E(a − ω − s)² − E s² for
every such mechanism: the Lagrangian is an ordinary design for the target ω + s, and its dual witness with s is the certificate.
The program has T more rows, whose multipliers are s. For a fixed kernel the best unbiased readings are a_o = E[ω + s | o] with the
one s that makes the equations true; outputs move there, and the program is solved again. Readings, unlike probabilities, may be any
numbers: T of them make the equations exact in rationals, and nothing about privacy changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from discreet.certify.bounds import FULL
from discreet.certify.bounds.dual import dual_upper_bound
from discreet.certify.bounds.unbiased import shifted_problem
from discreet.design.program.listed import exact_kernel, first_tolerance, label_of, solvable, truncated
from discreet.design.program.real import COARSE, continuous
from discreet.design.program.sections import Ground, Recommendation, Section, ground
from discreet.design.program.windows import MOST_WRITTEN, written_out
from discreet.design.proposal import Proposal
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked, Route
from discreet.design.schedule import TimeIsUpError, library_seconds
from discreet.design.solver.means import MeansProgram, solve_means
from discreet.design.solver.program import Program
from discreet.design.solver.repair import repair
from discreet.design.units import Units
from discreet.errors import InputError
from discreet.model.certificate import DualWitness, ShiftedWitness, TheoremWitness, Witness
from discreet.model.gap import reached
from discreet.model.kernel import Output, TableKernel
from discreet.model.problem import Problem, believed
from discreet.model.summary import Summary

BESIDE = (0.5, 0.04, 0.01, 0.0025)
"""How far beside each reading the next program has nodes, round by round, in distances of the first nodes."""
DIGITS = 8
"""Readings and shifts are rounded to so many digits of the range of the statistic; T readings are whatever they must be."""
USED = 1e-7
"""Outputs that are likelier than this somewhere are kept; readings make up for the others."""
SMALLEST_GAP = 1e-8
LONGEST = 24
"""Characters of a label."""
LIKELY = 1e-5
"""Outputs that are likelier than this under the prior are looked at more closely."""
REACH, MOST_NODES = 6.0, 150
"""How many steps over ε the first nodes reach beyond the likely range, and how many there are at most."""


class NearbyProgram(Route):
    """The best of all mechanisms whose values are unbiased nearby."""

    name = "nearby program"
    theorem = "completing the square"
    unbiased = ("nearby",)

    def obstacle(self, problem: Problem) -> str | None:
        if not problem.exchangeable:
            return "the order of respondents matters"
        if problem.epsilon == 0:
            return "at ε = 0 nothing may be told"
        return too_many(problem)

    def why(self, problem: Problem) -> str:
        return "an ordinary design for the statistic plus a linear function of the counts, which makes the equations true"

    def propose(self, problem: Problem, asked: Asked) -> Proposal:
        return shifted_design(problem, asked)


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the finest states: mass, statistic and φ = (1, n_1, …) without the reference type, in floats and exactly."""

    masses: np.ndarray
    omegas: np.ndarray
    features: np.ndarray
    exact_masses: tuple[int, ...]
    exact_omegas: tuple[Fraction, ...]
    whole_features: list[list[int]]

    @classmethod
    def of(cls, problem: Problem) -> Moments:
        space = problem.finest()
        belief = believed(problem, space)
        vectors = np.asarray(space.vectors, dtype=np.int64)
        universe = problem.people
        counts = vectors[:, 1:] if universe.fixed else vectors
        features = np.column_stack([np.ones(len(vectors), dtype=np.int64), counts])
        floats = np.array([float(w) for w in belief.omegas])
        numerators = tuple(belief.weights.numerators)
        return cls(belief.weights.floats(), floats, features.astype(float), numerators, belief.omegas, features.tolist())


def shifted_design(problem: Problem, asked: Asked) -> Proposal:
    """Solve with the equations as rows, read the kernel anew, move its outputs to these readings, and bound at the shift found."""
    base = ground(problem)
    section = _likely(base, asked.gap)
    seen = Moments.of(problem)
    inside = section.inside
    centre, spread = _scales(seen, inside)
    features = ((seen.features[inside] - centre) / spread).T
    epsilon = solvable(problem.epsilon)
    program = MeansProgram(seen.masses[inside], seen.omegas[inside], section.space.edges, exp(float(epsilon)), features)
    first, grain = _first_nodes(program, float(epsilon))
    nodes = first
    best: tuple[float, np.ndarray, np.ndarray] | None = None
    limit = -np.inf
    witness: Witness = TheoremWitness(FULL)
    for turn in range(len(BESIDE)):
        found = solve_means(program, nodes, ends=False, seconds=library_seconds(asked.watch))
        if not found.optimal:
            break
        used = found.kernel.max(axis=1) > USED
        kernel = found.kernel[used] / found.kernel[used].sum(axis=0)
        reading, value = unbiased_readings(kernel[:, section.image], seen)
        if best is None or value < best[0]:
            best = (value, kernel, reading)
        if asked.watch.cancelled():
            break
        if turn:
            bound, shown = _bounded(problem, _raw(found.biases, centre, spread), best[0], asked)
            if bound > limit:
                limit, witness = bound, shown
            if asked.watch.cancelled() or reached(float(problem.decision.weight) * best[0], limit, asked.gap):
                break
        near = grain * BESIDE[turn]
        moved = reading[kernel @ program.masses > LIKELY]
        nodes = np.unique(np.concatenate([first[:: 1 + (turn > 0)], moved, moved - near, moved + near]))
    if best is None and asked.watch.cancelled():
        raise TimeIsUpError("its first program did not end in the time")
    if best is None or not np.isfinite(best[0]):
        raise InputError(
            "The program for unbiased values was not solved",
            found="no solution in floats",
            allowed="a smaller problem",
            remedy="use fewer respondents, or a larger ε",
        )
    return _exact(problem, section, best[1], best[2], seen, witness)


def _likely(base: Ground, gap: float) -> Section:
    """The box of likely histograms: readings make up for what is clamped."""
    values = np.array([float(w) for w in base.exact_omegas])
    grid = np.linspace(values[0], values[-1], COARSE)
    table = (values[None, :] - grid[:, None]) ** 2
    return truncated(base, table, first_tolerance(base, table, gap))


def _scales(seen: Moments, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What features are centred at and divided by; the constant is left alone."""
    mass = seen.masses[inside] / seen.masses[inside].sum()
    centre = mass @ seen.features[inside]
    spread = np.sqrt(mass @ (seen.features[inside] - centre) ** 2)
    spread[spread == 0] = 1.0
    centre[0], spread[0] = 0.0, 1.0
    return centre, spread


def _raw(biases: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The shift in counts: half of the multipliers of the equations, which speak of centred counts."""
    shift = biases / 2 / spread
    shift[0] -= float(shift[1:] @ centre[1:])
    return shift


def _first_nodes(program: MeansProgram, epsilon: float) -> tuple[np.ndarray, float]:
    """Nodes over the likely range and as far beyond it as noise would go, and their distance."""
    low, high = float(program.omegas.min()), float(program.omegas.max())
    edges = program.edges
    step = float(np.abs(program.omegas[edges[:, 0]] - program.omegas[edges[:, 1]]).max(initial=0.0)) or 1.0
    beyond = REACH * step / min(epsilon, 1.0)
    grain = max(step / 4, (high - low + 2 * beyond) / MOST_NODES)
    return np.arange(low - beyond, high + beyond + grain / 2, grain), grain


def _bounded(problem: Problem, shift: np.ndarray, value: float, asked: Asked) -> tuple[float, ShiftedWitness]:
    """The lower bound on the loss that a shift proves, and its witness; `value` is the loss that it is to be near."""
    exact = _rounded(shift, problem)
    inner, square = shifted_problem(problem, exact)
    units = Units.of(inner)
    # gaps are relative to the shifted loss, which is larger by E s²
    gap = max(asked.gap / 3 * value / (value + float(square)), SMALLEST_GAP)
    found = units.restored(continuous(units.inner, gap, asked.watch))
    assert isinstance(found.witness, DualWitness)
    shown = ShiftedWitness(exact, found.witness)
    return -float(dual_upper_bound(inner, found.witness)) - float(problem.decision.weight * square), shown


def _exact(
    problem: Problem, section: Section, kernel: np.ndarray, reading: np.ndarray, seen: Moments, witness: Witness
) -> Proposal:
    """The kernel as an exact private table, read so that the equations hold in rationals."""
    epsilon = solvable(problem.epsilon)
    order = np.argsort(reading)
    rows, numbers = kernel[order], reading[order]
    cost = section.ground.masses[section.inside] * (numbers[:, None] - seen.omegas[section.inside]) ** 2
    rows = repair(rows, Program(cost, section.space.edges, float(epsilon)))
    placeholder: list[Recommendation] = [Fraction(k) for k in range(len(numbers))]
    table = exact_kernel(section, rows, placeholder, cost, epsilon)
    kept = [int(output.label) for output in table.outputs]
    whole = table.floats(range(len(table.states)))[:, section.image]
    again, _ = unbiased_readings(whole, seen)
    if len(kept) < len(seen.whole_features[0]):
        raise _undecided()
    exact = exact_readings(problem, table, section.image, again, seen)
    summary, read = _unclamped(section, _read(table, exact))
    return Proposal(summary, read, witness, "program for a shifted target, read without bias", "optimal")


def _unclamped(section: Section, table: TableKernel) -> tuple[Summary, TableKernel]:
    """The same mechanism on all histograms where these are few: then anyone checks its means without knowing about clamps."""
    base = section.ground
    if len(base.space) == len(section.space) or len(base.space) > MOST_WRITTEN:
        return section.summary, table
    return base.summary, written_out(section, table)


def _rounded(shift: np.ndarray, problem: Problem) -> tuple[Fraction, ...]:
    """The shift as exact numbers: the constant, then one for each type (none for the reference where the size is fixed)."""
    low, high = problem.omega_range
    grain = _grain(high - low)
    numbers = [Fraction(round(float(s) / float(grain))) * grain for s in shift.tolist()]
    universe = problem.people
    return (numbers[0], *([Fraction(0)] * universe.fixed), *numbers[1:])


def _grain(width: Fraction) -> Fraction:
    """A power of ten, DIGITS digits below a width."""
    places = DIGITS
    while width and width < 1:
        width, places = width * 10, places + 1
    while width >= 10:
        width, places = width / 10, places - 1
    return Fraction(1, 10**places) if places >= 0 else Fraction(10**-places)


def unbiased_readings(kernel: np.ndarray, seen: Moments) -> tuple[np.ndarray, float]:
    """The readings of least squared error that are unbiased nearby, and that error; `kernel` is [output, finest state].

    Infinite where the outputs do not tell the counts apart, and no reading is unbiased.
    """
    joint = kernel * seen.masses
    mass = np.maximum(joint.sum(axis=1), 1e-300)
    centre = seen.masses @ seen.features
    centre[0] = 0.0
    features = seen.features - centre
    omega = joint @ seen.omegas / mass
    phi = joint @ features / mass[:, None]
    wanted = (seen.masses * seen.omegas) @ features - (mass * omega) @ phi
    system = (phi * mass[:, None]).T @ phi
    shift = np.linalg.lstsq(system, wanted, rcond=1e-13)[0]
    if np.abs(system @ shift - wanted).max() > 1e-9 * max(1.0, float(np.abs(wanted).max())):
        return omega, np.inf
    reading = omega + phi @ shift
    return reading, float(((reading[:, None] - seen.omegas) ** 2 * joint).sum())


def exact_readings(problem: Problem, table: TableKernel, image: np.ndarray, reading: np.ndarray, seen: Moments) -> list[Fraction]:
    """The readings rounded, and as many of them as there are equations changed so that these hold exactly."""
    from scipy.linalg import qr

    low, high = problem.omega_range
    grain = _grain(high - low)
    numbers = [Fraction(round(a / float(grain))) * grain for a in reading.tolist()]
    width = len(seen.whole_features[0])
    # M[o] = Σ_h π_h m(o|h) φ(h) in whole numbers, and what is wanted of Σ_o a_o M[o]
    by_state = [[0] * width for _ in table.states]
    wanted = [Fraction(0)] * width
    for state, mass, omega, phi in zip(image.tolist(), seen.exact_masses, seen.exact_omegas, seen.whole_features, strict=True):
        by_state[state] = [b + mass * f for b, f in zip(by_state[state], phi, strict=True)]
        wanted = [w + mass * f * omega * table.denominator for w, f in zip(wanted, phi, strict=True)]
    moments = [[sum(w * b[i] for w, b in zip(row, by_state, strict=True)) for i in range(width)] for row in table.weights]
    total = sum(seen.exact_masses) * table.denominator
    rough = np.array([[m / total for m in row] for row in moments])
    spread = rough / np.maximum(np.abs(rough).max(axis=0), 1e-300)
    rank = int(np.linalg.matrix_rank(spread, tol=1e-12))
    chosen = qr(spread.T, mode="economic", pivoting=True)[2][:rank].tolist()
    equations = qr(spread[chosen], mode="economic", pivoting=True)[2][:rank].tolist()
    missing = [wanted[i] - sum((a * row[i] for a, row in zip(numbers, moments, strict=True)), Fraction(0)) for i in range(width)]
    solution = _solved([[Fraction(moments[o][i]) for o in chosen] for i in equations], [missing[i] for i in equations])
    for o, change in zip(chosen, solution, strict=True):
        numbers[o] += change
    return numbers


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a small regular system, exactly (Gauss)."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        if rows[pivot][k] == 0:
            raise _undecided()
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def _read(table: TableKernel, numbers: list[Fraction]) -> TableKernel:
    """The same draws, read as these numbers, equal ones as one output; each is named by its number, rounded where that is long."""
    merged: dict[Fraction, list[int]] = {}
    for number, row in zip(numbers, table.weights, strict=True):
        merged[number] = [a + b for a, b in zip(merged.get(number, [0] * len(row)), row, strict=True)]
    labels: dict[str, Fraction] = {}
    for number in sorted(merged):
        label, digits = label_of(number), 12
        while len(label) > LONGEST or label in labels:
            label = label_of(Fraction(round(number * 10**digits), 10**digits))
            if label not in labels:
                break
            digits += 1
        labels[label] = number
    outputs = tuple(Output(label, number) for label, number in labels.items())
    return TableKernel(table.states, outputs, tuple(tuple(merged[number]) for number in labels.values()), table.denominator)


def _undecided() -> InputError:
    return InputError(
        "The outputs of this design cannot be read without bias",
        found="outputs that do not tell the counts apart",
        allowed="as many different outputs as there are types",
        remedy='ask for unbiased = "everywhere", or a larger ε',
    )
