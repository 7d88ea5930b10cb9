"""The set-aside bound of the ladder: which sums over the others, how many of their states, the nodes, and the witness.

Any sums of whole weights serve (`certify.bounds.set_aside`); the bound is near the optimum when they hold what a good mechanism
reads and what it leaves out. One sum: the weights of the best weighted sum, coarsened to few steps. Two sums: the values as far as
that one reads them, and what is beyond, so that both together are ω and nothing is bounded respondent by respondent; where values
have too many steps for that, the first sum and a count of what it clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, sqrt

import numpy as np

from discreet.design.ladder.bounds.knots import dense_knots
from discreet.design.ladder.bounds.set_aside_prices import Prices
from discreet.design.ladder.bounds.set_aside_solver import solve_set_aside, taking
from discreet.design.ladder.mechanisms.population import Weights
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.memory import allowed
from discreet.model.certificate import Multipliers, SetAsideWitness
from discreet.model.iid_sum import IidSum
from discreet.numerics.arrays import Flags, Floats, Integers
from discreet.numerics.exact import whole_steps
from discreet.watch import SILENT, Watch

Form = tuple[int, ...]

STEPS, FEWEST_STEPS = 20, 12
"""Steps of the interior point that a program should have time for, and after which it proves something."""
FINENESSES = (
    (3e-3, 0.25), (3e-3, 0.2), (1e-3, 0.2), (1e-3, 0.15), (3e-4, 0.15), (3e-4, 0.12), (1e-4, 0.1), (3e-5, 0.08), (1e-5, 0.06),
)  # fmt: skip
"""What a program may leave out of the states, and how many roots of the loss its nodes are apart: between these a quarter of the
square of that is lost. From coarse to fine."""
FEWEST_KNOTS = 40
MOST_VALUES = 24
"""Steps that values may have for two sums to be ω."""
TOPS, TRIED = range(1, 6), 2
"""Steps that the first form may have; of those so many are tried that tell the weights best."""
FINENESS = 1e-4
"""What one step more must gain, as a share of the largest weight squared."""
MOST_CELLS = 4_000_000
"""Of the arrays behind the law of a state."""
BITS = 60


@dataclass(frozen=True, eq=False)
class SetAsideProgram:
    """Listed states and the bases s − w_i below them; `targets` [base, type] number the state reached, where it is `here`.

    `shares` and `residues` belong to types, `masses` to bases, `along` to states: ω − E ω is `along` of the state plus
    Σ n_i·residue_i.
    `coefficients` [form, base, type] is −(N·w_i − s), `second` is E[(ω − E ω)²] over the listed states.
    """

    respondents: int
    weights: tuple[Form, ...]
    slopes: Floats
    states: Integers
    bases: Integers
    targets: Integers
    here: Flags
    shares: Floats
    residues: Floats
    masses: Floats
    along: Floats
    coefficients: Floats
    second: float

    @property
    def read(self) -> Floats:
        """along + N·residue [base, type]: what ω would be if everyone left as much as the one set aside."""
        return np.asarray(self.along[self.targets] + self.respondents * self.residues)

    def costs(self, knots: Floats) -> Floats:
        """a² − 2a·read [node, base, type]."""
        a = knots[:, None, None]
        return np.asarray((a * a - 2 * a * self.read[None]) * self.here)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Forms from zero up, ω along them, and the laws of their states: P, E[r; s], E[r²; s] for r = Σ n_i·residue_i; P of N − 1."""

    weights: Integers
    slopes: Floats
    residues: Floats
    whole: Floats
    first: Floats
    second: Floats
    others: Floats


@lru_cache(maxsize=4)
def _sums(law: IidSum, weights: tuple[Form, ...]) -> _Sums | None:
    p, v = np.array([float(x) for x in law.probabilities]), np.array([float(x) for x in law.values])
    w, n = np.array(weights, dtype=np.int64), law.respondents
    w = w - w.min(axis=0)
    if float(np.prod([float(n * top + 1) for top in w.max(axis=0)])) > MOST_CELLS:
        return None
    u = v - p @ v
    plane = np.column_stack([np.ones(len(p)), w])
    root = np.sqrt(p)
    slopes = np.linalg.lstsq(plane * root[:, None], u * root, rcond=None)[0]
    residues = u - plane @ slopes
    residues[np.abs(residues) < 1e-12 * np.abs(u).max()] = 0.0
    return _Sums(w, slopes, residues, *_laws(p, w, residues, n), _laws(p, w, residues, n - 1)[0])


def set_aside_program(law: IidSum, weights: Sequence[Form], leave_out: float) -> SetAsideProgram | None:
    """The program for the likely states of these forms; None when there are too many."""
    sums = _sums(law, tuple(weights))
    if sums is None:
        return None
    p, n = np.array([float(x) for x in law.probabilities]), law.respondents
    w, slopes, residues = sums.weights, sums.slopes, sums.residues
    whole, first, second, others = sums.whole, sums.first, sums.second, sums.others
    order = np.argsort(-whole, axis=None)
    kept = np.sort(order[: int(np.searchsorted(np.cumsum(whole.ravel()[order]), 1 - leave_out)) + 1])
    states = np.stack(np.unravel_index(kept, whole.shape), axis=1)
    along = n * slopes[0] + states @ slopes[1:]
    number = np.full(whole.shape, -1, dtype=np.int64)
    number.ravel()[kept] = np.arange(len(kept))
    below = (states[:, None, :] - w[None, :, :]).reshape(-1, w.shape[1])
    inside = (below >= 0).all(axis=1) & (below < np.array(others.shape)).all(axis=1)
    bases = np.unique(below[inside], axis=0)
    masses = others[tuple(bases.T)]
    bases, masses = bases[masses > 0], masses[masses > 0]
    reached = bases[:, None, :] + w[None, :, :]
    targets = number[tuple(np.moveaxis(reached, 2, 0))]
    here = targets >= 0
    targets = np.where(here, targets, 0)
    apart = -np.moveaxis(n * w[None, :, :] - states[targets], 2, 0) * here
    moments = whole.ravel()[kept] * along**2 + 2 * along * first.ravel()[kept] + second.ravel()[kept]
    return SetAsideProgram(
        n, tuple(map(tuple, w.tolist())), slopes[1:], states, bases, targets, here, p, residues, masses, along,
        apart.astype(np.float64), float(moments.sum()),
    )  # fmt: skip


def _laws(p: Floats, w: Integers, x: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """P(s), E[r; s] and E[r²; s] for r = Σ x over n respondents, by Fourier transforms; noise below 1e-15 is taken for nothing."""
    parts = [np.zeros(tuple(n * w.max(axis=0) + 1)) for _ in range(3)]
    for share, at, value in zip(p, w, x, strict=True):
        for k, part in enumerate(parts):
            part[tuple(at)] += share * value**k
    a, b, c = (np.fft.rfftn(part) for part in parts)
    shape = parts[0].shape
    axes = tuple(range(len(shape)))
    lower = a ** (n - 1)
    found = [lower * a, n * lower * b, n * lower * c + n * (n - 1) * a ** max(n - 2, 0) * b * b]
    mass, first, second = (np.fft.irfftn(f, shape, axes) for f in found)
    return np.where(mass > 1e-15, mass, 0.0), first, second


@dataclass(frozen=True, eq=False)
class Bounded:
    """A lower bound on the loss, the decision's weight included, with its witness."""

    lower_bound: float
    witness: SetAsideWitness


def knots_of(reader: Reader, loss: float, apart: float = 0.15) -> Floats:
    """Nodes measured from E ω: so many roots of the loss apart where a mechanism of this loss plays, reaching over all values."""
    law = reader.law
    mean, variance = float(law.mean * law.respondents), float(law.variance * law.respondents)
    low, high = (float(end) - mean for end in reader.problem.omega_range)
    spread = sqrt(max(variance - loss, 0.05 * variance))
    return dense_knots(0.0, spread, low, high, min(apart * sqrt(loss), 5.0 * spread / FEWEST_KNOTS))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A program and its nodes, that the time allows; `whole` where it allows all steps that these should have."""

    program: SetAsideProgram
    knots: Floats
    whole: bool = True


def fitting_program(
    reader: Reader, forms: Sequence[Form], loss: float, seconds: float, finenesses: Sequence[tuple[float, float]] = FINENESSES
) -> Fitted | None:
    """The finest program that time and memory allow; None when there is none."""
    loss, found = loss / float(reader.problem.decision.weight), None
    for leave_out, apart in finenesses:
        program = set_aside_program(reader.law, forms, leave_out)
        if program is None:
            break
        knots = knots_of(reader, loss, apart)
        step, size = taking(program, knots, loss)
        if (FEWEST_STEPS if found is None else STEPS) * step > seconds or size > allowed():
            break
        found = Fitted(program, knots, STEPS * step <= seconds)
    return found


def forms_of(reader: Reader, weights: Weights) -> list[list[Form]]:
    """What to sum over the others, cheapest first: the weights in few steps; then two sums that are ω, or a count beside."""
    p, w = np.asarray(reader.probabilities), (np.array(weights) - min(weights)) / (max(weights) - min(weights))
    misfit = {top: float(p @ (w - np.round(w * top) / top) ** 2) + FINENESS * top for top in TOPS}
    single = list(dict.fromkeys(coarse(weights, top) for top in sorted(TOPS, key=lambda top: misfit[top])[:TRIED]))
    alone: list[list[Form]] = [[(w,) for w in form] for form in single]
    beside: list[list[Form]] = [list(zip(form, _clipped(reader, form), strict=True)) for form in single]
    whole = _both(reader, weights)
    return alone + (whole or [pair for pair in beside if len({both[1] for both in pair}) > 1])


def coarse(weights: Weights, top: int) -> Form:
    """The weights in whole steps from 0 to `top`."""
    low, high = min(weights), max(weights)
    return tuple(round((w - low) * top / (high - low)) for w in weights)


def _both(reader: Reader, weights: Weights) -> list[list[Form]]:
    """Values up to a cut, and what is beyond: the cut where weights are full, but two steps below the top, and one beside it."""
    least = min(reader.law.values)
    steps = whole_steps([v - least for v in reader.law.values])[1]
    levels = sorted(set(steps))
    if len(levels) < 3 or levels[-1] > MOST_VALUES:
        return []
    full = min(step for step, w in zip(steps, weights, strict=True) if w == max(weights))
    at = min(levels.index(full), max(len(levels) - 3, 1))
    cuts = dict.fromkeys(levels[k] for k in (at, at + 1, at - 1) if 0 < k < len(levels) - 1)
    return [[(min(step, cut), max(step - cut, 0)) for step in steps] for cut in list(cuts)[:2]]


def _clipped(reader: Reader, form: Form) -> Form:
    """One for the types whose value lies farther from what the form reads of it than a quarter of the farthest, on that side."""
    v, w = np.array(reader.values), np.array(form, dtype=float)
    root = np.sqrt(reader.probabilities)
    plane = np.column_stack([np.ones(len(w)), w])
    over = v - plane @ np.linalg.lstsq(plane * root[:, None], v * root, rcond=None)[0]
    farthest = over[int(np.argmax(np.abs(over)))]
    return tuple(int(x) for x in over / (farthest or 1.0) > 0.25)


def set_aside_bound(
    reader: Reader,
    fitted: Fitted,
    loss: float,
    gap: float,
    seconds: float,
    watch: Watch = SILENT,
    enough: float = inf,
) -> Bounded:
    """The bound that a program proves within the time, or the first that is `enough`; `loss` is that of a good mechanism."""
    weight, program, knots = float(reader.problem.decision.weight), fitted.program, fitted.knots
    found = solve_set_aside(program, reader.epsilon, knots, loss / weight, gap, seconds, watch, enough / weight)
    return Bounded(weight * max(found.bound, 0.0), _witness(reader, program, knots, found))


def _witness(reader: Reader, program: SetAsideProgram, knots: Floats, prices: Prices) -> SetAsideWitness:
    """Prices as whole numbers; those of forms are told of N·w − s, and −2a·slope·(N·w − s) is part of them."""
    law, weight = reader.law, float(reader.problem.decision.weight)
    mean = law.mean * law.respondents
    nodes = [Fraction(float(k)) + mean for k in knots]
    low, high = reader.problem.omega_range
    nodes[0], nodes[-1] = min(nodes[0], low), max(nodes[-1], high)
    forms = weight * (prices.forms + 2 * knots[:, None, None] * program.slopes[None, :, None])
    levels = weight * prices.levels
    largest = max(float(np.abs(forms).max(initial=0.0)), float(np.abs(levels).max(initial=0.0)), 1e-300)
    bits = max(0, BITS - int(np.ceil(np.log2(largest))))
    states, types = program.targets[program.here], np.nonzero(program.here)[1]
    scaled = np.rint(np.ldexp(levels[program.here], bits)).astype(np.int64)
    listed = tuple((int(s), law.types[t], int(x)) for s, t, x in zip(states, types, scaled, strict=True))
    each = []
    for node, row in zip(nodes, np.rint(np.ldexp(forms, bits)).astype(np.int64), strict=True):
        flows = tuple((s, k, int(x)) for k, of_form in enumerate(row) for s, x in enumerate(of_form) if x)
        each.append(Multipliers(node, flows))
    width = len(program.weights[0])
    weights = [(0,) * width] * len(law.all_values)
    for t, w in zip(law.types, program.weights, strict=True):
        weights[t] = w
    rows = tuple(tuple(int(x) for x in state) for state in program.states)
    return SetAsideWitness(tuple(weights), rows, 1 << bits, listed, tuple(each))
