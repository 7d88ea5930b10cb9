"""By how much can a mechanism lose more than the best one for whichever prior of a whole set is true? An upper side for every
prior of a cell (`model.prior_set`), proved.

Let L(p, ρ) be the loss of following the mechanism under a prior of the cell, R(h) its risk at histogram h, and r(μ) the least loss
of any private mechanism under a measure μ on histograms. Losses are not negative, so r(μ) ≥ r(ν) where μ ≥ ν, and r(μ + ν) ≥ r(μ)
+ r(ν).

*The best loss, from below.* In the coordinates ((1−ρ)p, ρ) the cell is the hull of its corners v_i, and π = Num/D with
Num(h) = n!/Πh_t! · Π_t Π_{k<h_t} ((1−ρ)p_t + ρk) log-concave and D = Π_{k<n} (1 − ρ + ρk) log-concave too. With weights λ of the
corners,

    log π(h) ≥ Σ λ_i log π_i(h) − d           d = (b − a)²/8 · Σ_k (k−1)²/(1 + a(k−1))², the bend of log D
             ≥ log Σ λ_i π_i(h) − x²/8 − d    x = log of the largest over the least π_i(h): Hoeffding's lemma

so π ≥ Σ λ_i (1 − τ)π_i with τ(h) = x²/8 + d, where x² ≤ (R − 1)²/R for R = e^x. Hence r(π) ≥ Σ λ_i r((1 − τ)π_i): plain bounds
under as many priors as there are corners, each by a witness. What is lost is of second order in the size of the cell. The weights
may be those of p among the vertices times those of ρ between its ends: so r ≥ c(ρ)·p with c affine in ρ, and c·p = E c·h/n.

*The regret, from above.* L − c·p is the expectation of g(h) = R(h) − c·h/n (the least c·h/n of both ends of ρ is taken), a
polynomial in p whose Bernstein coefficients at ρ = 0 are g itself. Drawing respondents one after another (Pólya's urn: type t next
with ((1−ρ)p_t + ρh_t)/(1 − ρ + ρ|h|)) gives it by backward recursion; letting the largest corner be taken at every step (for ρ = 0:
de Casteljau's algorithm with a choice) bounds it over the cell. Cutting cells in halves makes both sides meet. Sums are of floats,
with their rounding added.

Notation: a, b → the ends of ρ, n → respondents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.certify.optimality import upper_bound
from discreet.certify.value.expected import integer_columns, weighted_payoff
from discreet.errors import InputError
from discreet.model.certificate import Witness
from discreet.model.losses import DistanceLoss
from discreet.model.mechanism import Mechanism
from discreet.model.prior_set import PriorCell, Shares, prior_at
from discreet.model.priors import ExchangeablePrior
from discreet.model.priors.weights import ExactWeights
from discreet.model.problem import Problem
from discreet.model.statistic import on_histograms
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats
from discreet.numerics.brackets import float_up

Ends = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
BITS = 400
"""Laws are rounded down to multiples of 2^−BITS."""
MOST_HISTOGRAMS = 50_000
HALVINGS = 14
"""How often a cell is cut at most while its largest regret is looked for."""
ULP = Fraction(1, 2**52)


@dataclass(frozen=True, eq=False)
class Covered:
    """A cell with a witness for the best loss at each of its corners; without any, the best loses nothing."""

    cell: PriorCell
    witnesses: tuple[Witness, ...]


@dataclass(frozen=True)
class Largest:
    """An upper side of the regret over a cell, and where it is largest as far as was seen."""

    upper: Fraction
    seen: float
    at: tuple[Shares, Fraction]


def why_not_whole(problem: Problem) -> str | None:
    """Why nothing is proved over a whole set for this problem; None when it can be."""
    universe = problem.universe
    if not isinstance(universe, Universe) or not universe.fixed:
        return "a number of respondents that varies"
    if len(problem.decisions) != 1 or not isinstance(problem.decision.loss, DistanceLoss):
        return "another decision than one with squared, absolute or pinball error"
    if problem.unbiased is not None:
        return "values that are to be unbiased"
    return f"{universe.histogram_count:,} histograms" if universe.histogram_count > MOST_HISTOGRAMS else None


def must_be_whole(problem: Problem) -> None:
    """Refuse, before any work, what cannot be proved over a whole set of priors."""
    reason = why_not_whole(problem)
    if reason is not None:
        raise InputError(
            "The worst regret over a whole set of priors is not known for this problem",
            found=reason,
            allowed=f"one decision by distance, a fixed number of respondents, at most {MOST_HISTOGRAMS:,} histograms",
            remedy="hedge with a radius instead, or use smaller cells",
        )


def below(problem: Problem, cell: PriorCell) -> list[tuple[Problem, Fraction]]:
    """The problems under the measures (1 − τ)π_i at the corners of a cell, in their order, each with the mass of its measure."""
    universe = problem.people
    labels = [tuple(h) for h in universe.histograms().tolist()]
    return [(_under(problem, labels, row), Fraction(sum(row), 1 << BITS)) for row in _kept(universe, cell)]


def masses_below(problem: Problem, cell: PriorCell) -> list[Fraction]:
    """The masses alone."""
    return [Fraction(sum(row), 1 << BITS) for row in _kept(problem.people, cell)]


def _kept(universe: Universe, cell: PriorCell) -> list[list[int]]:
    """(1 − τ)π_i of every histogram, in units of 2^−BITS, rounded down."""
    histograms = universe.histograms()
    laws = [_rounded_down(prior_at(*corner).on_histograms(histograms, universe)) for corner in cell.corners]
    bend = _bend(cell, universe.largest)
    kept: list[list[int]] = [[] for _ in laws]
    for chances in zip(*laws, strict=True):
        most, least = max(chances) + 1, min(chances)
        lost = bend + Fraction((most - least) ** 2, 8 * most * least) if least else Fraction(1)
        for row, chance in zip(kept, chances, strict=True):
            row.append(0 if lost >= 1 else chance * (lost.denominator - lost.numerator) // lost.denominator)
    return kept


def _under(problem: Problem, labels: list[tuple[int, ...]], row: list[int]) -> Problem:
    whole = sum(row)
    if whole == 0:
        raise InputError(
            "This set of priors is too wide for one piece",
            found="laws that have nothing in common",
            allowed="shares that are near each other",
            remedy="cut the set into smaller pieces",
        )
    return replace(problem, prior=ExchangeablePrior(tuple((h, Fraction(w, whole)) for h, w in zip(labels, row, strict=True))))


def _rounded_down(law: ExactWeights) -> list[int]:
    return [(numerator << BITS) // law.denominator for numerator in law.numerators]


def _bend(cell: PriorCell, respondents: int) -> Fraction:
    """d: how far log D lies over its chord between the ends of ρ, at most."""
    low, high = cell.correlations
    if low == high:
        return Fraction(0)
    bends = sum((Fraction(k - 1) / (1 + low * (k - 1))) ** 2 for k in range(1, respondents)) + 1 / (1 - high) ** 2
    return (high - low) ** 2 / 8 * bends


def best_below(problem: Problem, covered: Covered) -> Ends:
    """c at both ends of ρ: no private mechanism loses less than c·p where the shares are p, c between the ends as ρ is."""
    cell = covered.cell
    if not covered.witnesses:
        nothing = (Fraction(0),) * len(cell.vertices)
        return nothing, nothing
    problems = below(problem, cell)
    least = [mass * max(-upper_bound(there, w), Fraction(0)) for (there, mass), w in zip(problems, covered.witnesses, strict=True)]
    count = len(cell.ends)
    low, high = (_solved([list(v) for v in cell.vertices], least[j::count]) for j in (0, count - 1))
    return tuple(low), tuple(high)


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """x with matrix·x = right, exactly."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if rows[i][i] == 0:
            raise InputError(
                "The vertices of a cell of priors lie in one plane",
                found="a cell without an inside",
                allowed="vertices in general position",
                remedy="cut the set of priors into simplices",
            )
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(len(rows)):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def risks(mechanism: Mechanism) -> list[Fraction]:
    """R(h): the expected loss of following the mechanism at each histogram, in the order of the universe."""
    problem = mechanism.problem
    universe = problem.people
    histograms = universe.histograms()
    columns, whole = integer_columns(mechanism)
    actions = [output.action for output in mechanism.outputs]
    omegas = on_histograms(problem.statistic, histograms, universe)
    payoffs: dict[Fraction, list[Fraction]] = {}
    known: dict[tuple[int, Fraction], Fraction] = {}
    found = []
    for state, omega in zip(mechanism.states_of(histograms).tolist(), omegas, strict=True):
        if omega not in payoffs:
            payoffs[omega] = [weighted_payoff(problem.decisions, action, omega) for action in actions]
        if (state, omega) not in known:
            pairs = zip(columns[state], payoffs[omega], strict=True)
            known[state, omega] = -sum((w * u for w, u in pairs), Fraction(0)) / whole
        found.append(known[state, omega])
    return found


def regret_over(mechanism: Mechanism, covered: Sequence[Covered], enough: Fraction) -> Fraction:
    """What a mechanism loses more than the best for whichever prior of these cells is true, at most."""
    at = risks(mechanism)
    return max(largest_regret(mechanism.problem, at, best_below(mechanism.problem, one), one.cell, enough).upper for one in covered)


def largest_regret(problem: Problem, at: Sequence[Fraction], best: Ends, cell: PriorCell, enough: Fraction) -> Largest:
    """An upper side of the regret at every prior of a cell, of a mechanism with these risks, where nobody loses less than `best`.

    Pieces of the cell are halved until it is within `enough` of what was seen, or `HALVINGS` times.
    """
    universe = problem.people
    n, types = universe.largest, universe.types
    tables = np.zeros((3, *(n + 1,) * (types - 1)))
    for h, risk in zip(universe.histograms().tolist(), at, strict=True):
        least = [sum((x * k for x, k in zip(c, h, strict=True)), Fraction(0)) / n for c in best]
        tables[(slice(None), *h[1:])] = [float(risk), *map(float, least)]
    slack = float_up(ULP * (n + 1) * (types + 16)) * (1 + float(np.abs(tables).sum(axis=0).max()))
    low, high = cell.correlations

    def over(pieces: list[PriorCell]) -> Floats:
        place = [[float((r - low) / (high - low)) if low < high else 0.0 for r in piece.correlations] for piece in pieces]
        between = np.array(place).reshape(-1, 2, *(1,) * (types - 1))
        least = (tables[1] + between * (tables[2] - tables[1])).min(axis=1)
        return _urn(tables[0] - least, n, pieces)

    pieces, closed, seen, place = [cell], -np.inf, -np.inf, cell.middle
    tops, wide = np.zeros(0), np.zeros(0, dtype=bool)
    for _ in range(HALVINGS):
        points = over([PriorCell((piece.middle[0],) * types, (piece.middle[1],) * 2) for piece in pieces])
        highest = int(points.argmax())
        seen, place = max((seen, place), (float(points[highest]), pieces[highest].middle), key=lambda pair: pair[0])
        tops = over(pieces) + slack
        wide = tops > seen + float(enough)
        closed = max([closed, *tops[~wide].tolist()])
        pieces = [half for piece, open_ in zip(pieces, wide, strict=True) if open_ for half in piece.halves(_across(piece, n))]
        if not pieces:
            break
    return Largest(Fraction(max([closed, *tops[wide].tolist()])), seen, place)


def _across(cell: PriorCell, n: int) -> bool:
    """Whether correlations move the law more than shares do; a guess that only saves work."""
    low, high = map(float, cell.correlations)
    edges = [abs(float(a - b)) for i, v in enumerate(cell.vertices) for w in cell.vertices[:i] for a, b in zip(v, w, strict=True)]
    return (high - low) * n**0.5 / 3 > max(edges)


def _urn(value: Floats, n: int, cells: Sequence[PriorCell]) -> Floats:
    """For each cell the expectation of its values [cell, counts] in the urn in which the largest corner is taken at every step."""
    types = value.ndim
    vertices = np.array([[[float(x) for x in v] for v in cell.vertices] for cell in cells])  # [cell, vertex, type]
    ends = np.array([[float(x) for x in cell.correlations] for cell in cells])
    for size in range(n - 1, -1, -1):
        inner = (slice(0, size + 1),) * (types - 1)
        following = [value[(slice(None), *inner)]]
        for t in range(1, types):
            moved = tuple(slice(1, size + 2) if s == t else slice(0, size + 1) for s in range(1, types))
            following.append(value[(slice(None), *moved)])
        counts = np.indices((size + 1,) * (types - 1))
        held = [size - counts.sum(axis=0), *counts]
        drawn = np.add.reduce([h * v for h, v in zip(held, following, strict=True)])
        shape = (len(cells),) + (1,) * (types - 1)
        steps = [np.add.reduce([vertices[:, i, t].reshape(shape) * following[t] for t in range(types)]) for i in range(types)]
        most = np.maximum.reduce(steps)
        value = np.maximum.reduce(
            [((1 - r) * most + r * drawn) / (1 - r + r * size) for r in (ends[:, j].reshape(shape) for j in (0, 1))]
        )
    return np.asarray(value.reshape(len(cells)))
