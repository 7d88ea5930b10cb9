"""Exact linear algebra on rationals: rank, a solution of A x = b with x ≥ 0, and what proves that there is none.

`nonnegative_solution` is the first phase of the simplex method with Bland's rule on exact tableaux. Its solution is
basic, so the columns it uses are linearly independent (Carathéodory); where there is none it returns Farkas'
multipliers y with yᵀA ≤ 0 and yᵀb > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Vector = Sequence[Fraction]


@dataclass(frozen=True)
class Feasibility:
    """Either a basic `solution` with its `basis`, or the multipliers that refute one."""

    solution: tuple[Fraction, ...] | None
    basis: tuple[int, ...]
    refutation: tuple[Fraction, ...] | None


def rank(vectors: Sequence[Vector]) -> int:
    """The rank of a list of rational vectors."""
    return int(_matrix(vectors).rank()) if vectors and vectors[0] else 0


def linearly_independent(vectors: Sequence[Vector]) -> bool:
    """Whether no vector is a combination of the others."""
    return rank(vectors) == len(vectors)


def affinely_independent(points: Sequence[Vector]) -> bool:
    """Whether no point is an affine combination of the others: appending a 1 to each makes that linear."""
    return linearly_independent([(*point, Fraction(1)) for point in points])


def unique_solution(columns: Sequence[Vector], target: Vector) -> tuple[Fraction, ...] | None:
    """x with Σ_j x_j column_j = target when the columns are independent and x exists, else None."""
    rows = [[column[i] for column in columns] + [target[i]] for i in range(len(target))]
    reduced, found = _matrix(rows).rref()
    n = len(columns)
    if found > n or any(reduced[i, i] != 1 for i in range(min(n, found))) or found < n:
        return None
    return tuple(_fraction(reduced[i, n]) for i in range(n))


def nonnegative_solution(columns: Sequence[Vector], target: Vector) -> Feasibility:
    """A basic x ≥ 0 with Σ_j x_j column_j = target, or the multipliers that show there is none."""
    height, width = len(target), len(columns)
    signs = [1 if b >= 0 else -1 for b in target]
    tableau = [
        [signs[i] * columns[j][i] for j in range(width)] + [Fraction(int(i == k)) for k in range(height)] + [signs[i] * target[i]]
        for i in range(height)
    ]
    # The last row is the sum of artificial variables, to be driven to zero.
    costs = [-sum((tableau[i][j] for i in range(height)), Fraction(0)) for j in range(width)]
    costs += [Fraction(0)] * height + [-sum((row[-1] for row in tableau), Fraction(0))]
    basis = list(range(width, width + height))
    while True:
        entering = next((j for j in range(width) if costs[j] < 0), None)
        if entering is None or costs[-1] == 0:
            break
        rows = [i for i in range(height) if tableau[i][entering] > 0]
        leaving = min(rows, key=lambda i: (tableau[i][-1] / tableau[i][entering], basis[i]))
        _pivot(tableau, costs, leaving, entering)
        basis[leaving] = entering
    if costs[-1] != 0:
        return Feasibility(None, (), tuple(s * (1 - costs[width + i]) for i, s in enumerate(signs)))
    x = [Fraction(0)] * width
    for i, j in enumerate(basis):
        if j < width:
            x[j] = tableau[i][-1]
    return Feasibility(tuple(x), tuple(sorted(j for j in basis if j < width)), None)


def _pivot(tableau: list[list[Fraction]], costs: list[Fraction], row: int, column: int) -> None:
    scale = tableau[row][column]
    tableau[row] = pivot = [x / scale if x else x for x in tableau[row]]
    for i, other in enumerate(tableau):
        factor = other[column]
        if i != row and factor:
            tableau[i] = [x - factor * p if p else x for x, p in zip(other, pivot, strict=True)]
    factor = costs[column]
    costs[:] = [x - factor * p if p else x for x, p in zip(costs, pivot, strict=True)]


def _matrix(rows: Sequence[Vector]) -> Any:
    from flint import fmpq, fmpq_mat

    entries = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))
