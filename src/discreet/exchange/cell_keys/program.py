"""The linear program of a perturbation table: the least δ at an ε with D, V, no bias, no negative counts; a proved bound.

Unknowns p_i(v) ≥ 0 on the allowed noise, one row for each count 0 … n (the last one for all larger counts), and δ:

    minimise δ   subject to   Σ_v p = 1,  Σ_v v·p = 0,  L_i ≤ Σ_v v²·p ≤ U_i   at every count,
                              Σ_j max(p_i(j − i) − x·p_k(j − k), 0) ≤ δ        for neighbours i, k = i ± 1, both ways,

with x a rational beside e^ε: below it the δ found is enough at ε, above it the optimum is a bound that holds at ε.
Zeros decide δ where they are kept, so a second program spreads what freedom is left: with δ at zero held, it minimises
the δ between positive counts.

Floats propose multipliers y; for any y with y ≤ 0 on A x ≤ b the Lagrangian

    b·y + Σ_j min(0, c_j − (Aᵀy)_j)·u_j,     0 ≤ unknown_j ≤ u_j = 1,

is at most the optimum (weak duality), and it is summed in rationals, so the bound is proved whatever the solver did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.exchange.cell_keys.entropy import allowed_noise

DUAL_BITS = 60
SIMPLE = (100, 10_000, 1_000_000)
"""Multipliers are rounded to multiples of 2^−60, or to fractions of such denominators, before they prove anything."""


@dataclass(frozen=True)
class Wanted:
    """What a table must satisfy: the noise allowed at each count and the ends of its variance; `unbiased_zero` keeps zeros."""

    noise: int
    variances: tuple[tuple[Fraction, Fraction], ...]
    blocked: tuple[int, ...] = ()
    monotone: bool = False
    unbiased_zero: bool = True

    def values(self, count: int) -> list[int]:
        """The noise allowed at a count of this table."""
        if count == 0 and not self.unbiased_zero:
            return [v for v in range(self.noise + 1) if v not in self.blocked]
        return allowed_noise(count, self.noise, self.blocked)

    @property
    def last(self) -> int:
        return len(self.variances) - 1


@dataclass
class TableProgram:
    """min c·x, equalities and inequalities A x ≤ b as sparse rows of exact numbers; unknowns lie in [0, 1]."""

    columns: dict[tuple[object, ...], int] = field(default_factory=dict)
    equal: list[tuple[dict[int, Fraction], Fraction]] = field(default_factory=list)
    below: list[tuple[dict[int, Fraction], Fraction]] = field(default_factory=list)

    def column(self, *name: object) -> int:
        """The place of an unknown, made when first named."""
        return self.columns.setdefault(name, len(self.columns))


@dataclass(frozen=True)
class Solved:
    """Rows and δ in floats; the δ that no such table goes below at this ratio, proved; and rows without any small chance."""

    rows: list[dict[int, float]]
    delta: float
    bound: Fraction
    inside: list[dict[int, float]]


def table_program(wanted: Wanted, ratio: Fraction) -> TableProgram:
    """The program at a ratio x; `delta` is the leak of every edge, `inner` that of edges between positive counts."""
    program = constraints(wanted)
    delta, inner = program.column("delta"), program.column("inner")
    for count in range(wanted.last + 1):
        for first, second in ((count, count + 1), (count + 1, count)):
            _leak(program, wanted, first, second, ratio, inner if count else delta)
    program.below.append(({inner: Fraction(1), delta: Fraction(-1)}, Fraction(0)))
    return program


def constraints(wanted: Wanted) -> TableProgram:
    """What every row must satisfy, without any word about privacy."""
    program = TableProgram()
    for count in range(wanted.last + 1):
        values = wanted.values(count)
        places = [program.column("p", count, v) for v in values]
        low, high = wanted.variances[count]
        program.equal.append(({k: Fraction(1) for k in places}, Fraction(1)))
        if count or wanted.unbiased_zero:
            program.equal.append(({k: Fraction(v) for k, v in zip(places, values, strict=True) if v}, Fraction(0)))
        squares = {k: Fraction(v * v) for k, v in zip(places, values, strict=True) if v}
        if squares and low == high:
            program.equal.append((squares, low))
        elif squares:
            program.below.append((squares, high))
            program.below.append(({k: -a for k, a in squares.items()}, -low))
        if wanted.monotone:
            _fall_away_from_zero(program, count, values)
    return program


def solve(wanted: Wanted, ratio: Fraction) -> Solved:
    """The best rows in floats and the exact bound."""
    program = table_program(wanted, ratio)
    delta = program.columns["delta",]
    first = _minimised(program, wanted, {delta: 1.0})
    bound = lagrangian(program, first.eqlin.marginals, first.ineqlin.marginals)
    held = {delta: min(float(first.fun) * (1 + 1e-9) + 1e-12, 1.0)}
    second = _minimised(program, wanted, {program.columns["inner",]: 1.0}, held)
    return Solved(_rows(program, wanted, second.x), float(first.fun), bound, _inside(wanted))


def bound_at(wanted: Wanted, ratio: Fraction) -> Fraction:
    """The exact bound alone."""
    program = table_program(wanted, ratio)
    found = _minimised(program, wanted, {program.columns["delta",]: 1.0})
    return lagrangian(program, found.eqlin.marginals, found.ineqlin.marginals)


def _inside(wanted: Wanted) -> list[dict[int, float]]:
    """Rows that satisfy everything with the smallest chance of each row as large as it can be."""
    program = constraints(wanted)
    least = []
    for count in range(wanted.last + 1):
        place = program.column("least", count)
        least.append(place)
        for v in wanted.values(count):
            program.below.append(({place: Fraction(1), program.columns["p", count, v]: Fraction(-1)}, Fraction(0)))
    found = _minimised(program, wanted, dict.fromkeys(least, -1.0))
    return _rows(program, wanted, found.x)


def _minimised(program: TableProgram, wanted: Wanted, cost: dict[int, float], most: dict[int, float] | None = None) -> Any:
    from scipy.optimize import linprog

    width = len(program.columns)
    costs = np.zeros(width)
    for place, c in cost.items():
        costs[place] = c
    bounds = np.tile([0.0, 1.0], (width, 1))
    for place, upper in (most or {}).items():
        bounds[place, 1] = upper
    equal, right = _matrix(program.equal, width)
    below, limits = _matrix(program.below, width) if program.below else (None, None)
    found = linprog(costs, A_ub=below, b_ub=limits, A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    if found.status != 0:
        raise InputError(
            "No table satisfies all of this",
            found=f"D = {wanted.noise}, variances {[float(v[1]) for v in wanted.variances][:6]}",
            allowed="a variance that unbiased noise of this bound can have at every count",
            remedy="a smaller V, a larger D, fewer blocked outputs or no monotony",
        )
    return found


def _rows(program: TableProgram, wanted: Wanted, x: np.ndarray) -> list[dict[int, float]]:
    return [
        {v: max(float(x[program.columns["p", count, v]]), 0.0) for v in wanted.values(count)} for count in range(wanted.last + 1)
    ]


def lagrangian(program: TableProgram, on_equal: Sequence[float], on_below: Sequence[float]) -> Fraction:
    """A lower bound of the optimum from the solver's multipliers, exact: the best of several ways to round them.

    Where the optimum is a simple fraction so are its multipliers, and one of the roundings proves it to the last digit.
    """
    equal, below = ([Fraction(float(y)) for y in multipliers] for multipliers in (on_equal, on_below))
    bounds = [_lagrangian(program, _in_steps(equal), _in_steps(below))]
    for most in SIMPLE:
        simple = [[y.limit_denominator(most) for y in multipliers] for multipliers in (equal, below)]
        bounds.append(_lagrangian(program, *simple))
    return max(bounds)


def _in_steps(multipliers: list[Fraction]) -> list[Fraction]:
    return [Fraction(round(y * 2**DUAL_BITS), 2**DUAL_BITS) for y in multipliers]


def _lagrangian(program: TableProgram, on_equal: list[Fraction], on_below: list[Fraction]) -> Fraction:
    """b·y + Σ_j min(0, reduced cost_j): y is free on equalities and at most 0 on A x ≤ b, where a positive one is left out."""
    reduced: dict[int, Fraction] = {program.columns["delta",]: Fraction(1)}
    bound = Fraction(0)
    signed = [min(y, Fraction(0)) for y in on_below]
    for (row, right), y in (*zip(program.equal, on_equal, strict=True), *zip(program.below, signed, strict=True)):
        if y:
            bound += right * y
            for place, a in row.items():
                reduced[place] = reduced.get(place, Fraction(0)) - a * y
    return bound + sum((c for c in reduced.values() if c < 0), Fraction(0))


def _leak(program: TableProgram, wanted: Wanted, first: int, second: int, ratio: Fraction, delta: int) -> None:
    """Σ_j max(p_first(j) − x·p_second(j), 0) ≤ δ, with one slack for each output that both or only the first may have."""
    here = {first + v: (min(first, wanted.last), v) for v in wanted.values(min(first, wanted.last))}
    there = {second + v: (min(second, wanted.last), v) for v in wanted.values(min(second, wanted.last))}
    total: dict[int, Fraction] = {delta: Fraction(-1)}
    for output, at in here.items():
        own = program.column("p", *at)
        if output not in there:
            total[own] = total.get(own, Fraction(0)) + 1
            continue
        slack = program.column("t", first, second, output)
        row = {own: Fraction(1), slack: Fraction(-1)}
        other = program.column("p", *there[output])
        row[other] = row.get(other, Fraction(0)) - ratio
        program.below.append((row, Fraction(0)))
        total[slack] = Fraction(1)
    program.below.append((total, Fraction(0)))


def _fall_away_from_zero(program: TableProgram, count: int, values: list[int]) -> None:
    """p(v) rises up to v = 0 and falls after it, over the allowed noise."""
    for one, other in pairwise(values):
        low, high = (one, other) if other <= 0 else (other, one)
        if one < 0 < other:
            continue
        places = program.column("p", count, low), program.column("p", count, high)
        program.below.append(({places[0]: Fraction(1), places[1]: Fraction(-1)}, Fraction(0)))


def _matrix(rows: list[tuple[dict[int, Fraction], Fraction]], width: int) -> tuple[Any, np.ndarray]:
    from scipy.sparse import csr_array

    data, across, down = [], [], []
    for i, (row, _) in enumerate(rows):
        for k, a in row.items():
            data.append(float(a))
            across.append(k)
            down.append(i)
    return csr_array((data, (down, across)), shape=(len(rows), width)), np.array([float(b) for _, b in rows])
