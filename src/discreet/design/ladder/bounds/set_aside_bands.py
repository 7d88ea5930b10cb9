"""What the interior point of the set-aside bound factors: for every action a matrix in blocks along the first sum, and one for ν.

C·D·Cᵀ of an action (`set_aside_solver`) joins only states that one base reaches. In the order of the first sum, states in runs as
long as the largest weight, it is block tridiagonal. What actions share are the prices ν_i(b) of normalisation. Those are smooth
along the sums, so they are taken from B-splines with few knots, one set for each type, and what is left of all actions is one dense
matrix of types × splines. Any ν proves a bound: fewer knots cost a little of it and nothing of its truth.

An action meets the bases near it alone (a window); farther ones would not play it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.numerics.arrays import Flags, Floats, Integers

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram

ALONG, ACROSS = 8, 5
"""Splines along the first sum, where there is one sum three times as many, and along each other one."""
SMALLEST_BLOCK = 32
RIDGE, PRICE_RIDGE = 1e-12, 1e-4
"""Added to matrices of unit diagonal: of an action, and of ν."""


def splines(at: Integers, count: int) -> Floats:
    """[point, function]: B-splines, cubic where `count` allows, over whole numbers; one for each number where these are few."""
    from scipy.interpolate import BSpline

    low, high = int(at.min()), int(at.max())
    if high - low < count:
        return np.asarray(np.eye(high - low + 1)[at - low])
    degree = min(3, count - 1)
    knots = np.concatenate([[low] * degree, np.linspace(low, high, count - degree + 1), [high] * degree])
    return np.asarray(BSpline.design_matrix(at.astype(np.float64), knots, degree).toarray())


@dataclass(frozen=True, eq=False)
class Window:
    """The bases that an action meets, the blocks of states that they reach, and the splines that are not zero there.

    `tied` [block, row] are the rows of states that no other base reaches; β is 0 elsewhere, so that bases outside see none.
    """

    bases: slice
    blocks: slice
    first_column: int
    tied: Flags


class Layout:
    """Rows (state, form) in blocks of `width` along the first sum, and the splines: `basis` [base, function].

    Sizes and windows are known at once; products need `assemble` before.
    """

    def __init__(self, program: SetAsideProgram) -> None:
        self.here, self.shares = program.here, program.shares
        self.weights = program.shares[None] * program.masses[:, None] * program.here
        forms, (self.bases, self.types) = len(program.coefficients), self.here.shape
        size = np.zeros((forms, len(program.states)))
        for k, apart in enumerate(program.coefficients):
            np.add.at(size[k], program.targets[self.here], (self.weights * apart**2)[self.here])
        self.size = np.sqrt(np.where(size > 0, size, 1.0))
        units = zip(program.coefficients, self.size, strict=True)
        self.entries = np.stack([self.weights * c / s[program.targets] * self.here for c, s in units])
        self.group, self.width, self.place = _blocks(program)
        self.count = int(self.group.max()) + 1
        self.rows = self.place[:, program.targets]
        along = ALONG if program.bases.shape[1] > 1 else 3 * ALONG
        first = splines(program.bases[:, 0], along)
        self.basis = first
        for other in program.bases.T[1:]:
            across = splines(other, ACROSS)
            self.basis = (self.basis[:, :, None] * across[:, None, :]).reshape(self.bases, -1)
        self.each = self.types * self.basis.shape[1] // first.shape[1]
        """Columns of one spline along the first sum."""
        self.columns = self.types * self.basis.shape[1]
        met = first > 0
        self.begins = program.bases[met.argmax(axis=0), 0]
        self.ends = program.bases[len(met) - 1 - met[::-1].argmax(axis=0), 0]
        tops = np.zeros(self.count, dtype=np.int64)
        np.maximum.at(tops, self.group, program.states[:, 0])
        self.active = [self.each * int(np.searchsorted(self.begins, top, side="right")) for top in tops]
        self.along, self.targets = program.bases[:, 0], program.targets
        from_, types = np.nonzero(self.here)
        self.least, self.most = np.full(len(program.states), self.bases), np.zeros(len(program.states), dtype=np.int64)
        np.minimum.at(self.least, program.targets[from_, types], from_)
        np.maximum.at(self.most, program.targets[from_, types], from_)

    def assemble(self) -> None:
        """Where each entry of D [base, type, type] goes: into the blocks of C·D·Cᵀ, and into C·D times the splines."""
        from scipy import sparse

        width, types = self.width, self.types
        cells, sources, values, rows, bases, pairs, factors = ([] for _ in range(7))
        for i in range(types):
            for j in range(types):
                b = np.flatnonzero(self.here[:, i] & self.here[:, j])
                source = (b * types + i) * types + j
                for row, entry in zip(self.rows[:, b, i], self.entries[:, b, i], strict=True):
                    rows.append(row * types + j)
                    bases.append(b)
                    pairs.append(source)
                    factors.append(entry * self.weights[b, j])
                    for column, other in zip(self.rows[:, b, j], self.entries[:, b, j], strict=True):
                        below = row // width - column // width
                        keep = (below == 0) | (below == 1)
                        cell = (row // width * 2 + below) * width**2 + row % width * width + column % width
                        cells.append(cell[keep])
                        sources.append(source[keep])
                        values.append((entry * other)[keep])
        at = (np.concatenate(cells), np.concatenate(sources))
        shape = (2 * self.count * width**2, self.bases * types**2)
        self.to_blocks = sparse.csr_array((np.concatenate(values), at), shape=shape)
        row, base = np.concatenate(rows), np.concatenate(bases)
        order = np.lexsort((base, row))
        self.pairs, self.factors = np.concatenate(pairs)[order], np.concatenate(factors)[order]
        self.pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.count * width * types))])
        self.columns_of_rows = base[order]

    def window(self, low: int, high: int) -> Window:
        """For bases from `low` to before `high`, in the order of the first sum."""
        reached = self.group[self.targets[low:high][self.here[low:high]]]
        first = int(np.searchsorted(self.ends, self.along[low]))
        blocks = slice(int(reached.min()), int(reached.max()) + 1)
        tied = np.zeros(self.count * self.width, dtype=bool)
        tied[self.place[:, (self.least >= low) & (self.most < high)]] = True
        return Window(slice(low, high), blocks, first * self.each, tied.reshape(self.count, self.width)[blocks])

    def blocks(self, window: Window, d: Floats) -> Floats:
        """[block, itself or the one before, row, column] of C·D·Cᵀ; `d` [base, type, type] is zero outside the window."""
        size = 2 * self.width**2
        part = _rows_of(window.blocks, size)
        inner = slice(self.to_blocks.indptr[part.start], self.to_blocks.indptr[part.stop])
        found = _sparse(self.to_blocks.data[inner], self.to_blocks.indices[inner], self.to_blocks.indptr, part, d.size) @ d.ravel()
        return np.asarray(found).reshape(-1, 2, self.width, self.width)

    def splined(self, window: Window, d: Floats) -> Floats:
        """C·D times the splines: [block, row, column], columns by splines along the first sum, then types."""
        part = _rows_of(window.blocks, self.width * self.types)
        inner = slice(self.pointers[part.start], self.pointers[part.stop])
        data = d.ravel()[self.pairs[inner]] * self.factors[inner]
        found = _sparse(data, self.columns_of_rows[inner], self.pointers, part, self.bases) @ self.basis
        splits = found.reshape(-1, self.types, self.columns // self.each, self.each // self.types)
        return np.ascontiguousarray(splits.transpose(0, 2, 1, 3)).reshape(-1, self.width, self.columns)

    def told(self, moved: Floats) -> Floats:
        """Splines times weighted [base, type]: what of it ν sees."""
        found = (self.basis.T @ (moved * self.weights)).reshape(-1, self.each // self.types, self.types)
        return np.ascontiguousarray(found.transpose(0, 2, 1)).ravel()

    def prices(self, coefficients: Floats) -> Floats:
        """ν [base, type], weighted, of coefficients of the splines."""
        split = coefficients.reshape(-1, self.types, self.each // self.types).transpose(0, 2, 1).reshape(-1, self.types)
        return np.asarray((self.basis @ split) * self.weights)

    def doubled(self, d: Floats) -> Floats:
        """Splines · D · splines, weighted, for D [base, type, type]."""
        found = np.empty((self.columns, self.columns))
        functions, inner = self.basis.shape[1], self.each // self.types
        number = (np.arange(self.columns // self.each)[:, None] * self.each + np.arange(inner)).ravel()
        for i in range(self.types):
            for j in range(self.types):
                weighed = self.basis * (d[:, i, j] * self.weights[:, i] * self.weights[:, j])[:, None]
                found[np.ix_(number + i * inner, number + j * inner)] = self.basis.T @ weighed
        assert len(number) == functions
        return found


def _blocks(program: SetAsideProgram) -> tuple[Integers, int, Integers]:
    """The block of every state, the rows of a block, and the row of every form and state."""
    forms, states = len(program.coefficients), len(program.states)
    along = program.states[:, 0] - program.states[:, 0].min()
    reach = max(w[0] for w in program.weights) - min(w[0] for w in program.weights)
    runs = max(reach, int(np.ceil(SMALLEST_BLOCK * (along.max() + 1) / (forms * states))), 1)
    group = along // runs
    counts = np.bincount(group)
    within = np.arange(states) - (np.cumsum(counts) - counts)[group]
    width = forms * int(counts.max())
    return group, width, np.stack([group * width + within * forms + k for k in range(forms)])


def _rows_of(blocks: slice, size: int) -> slice:
    return slice(blocks.start * size, blocks.stop * size)


def _sparse(data: Floats, indices: Any, pointers: Any, rows: slice, columns: int) -> Any:
    from scipy import sparse

    own = pointers[rows.start : rows.stop + 1] - pointers[rows.start]
    return sparse.csr_array((data, indices, own), shape=(rows.stop - rows.start, columns))


class Bands:
    """The Cholesky factor of an action's matrix, its diagonal made one: inverses of diagonal blocks, and the blocks below."""

    def __init__(self, layout: Layout, window: Window, d: Floats, prices: Floats) -> None:
        """Takes off `prices`, the matrix of ν, what this action's β take up; raises LinAlgError when the numbers give out."""
        from scipy.linalg import LinAlgError, lapack

        blocks = layout.blocks(window, d)
        own = np.einsum("gii->gi", blocks[:, 0]) * window.tied
        self.scale = np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
        blocks[:, 0] *= self.scale[:, :, None] * self.scale[:, None, :]
        blocks[1:, 1] *= self.scale[1:, :, None] * self.scale[:-1, None, :]
        diagonal = np.arange(layout.width)
        blocks[:, 0, diagonal, diagonal] = 1.0 + RIDGE
        self.inverse, self.below = np.empty_like(blocks[:, 0]), blocks[:, 1].copy()
        right = layout.splined(window, d)
        right *= self.scale[:, :, None]
        for g, (block, lower) in enumerate(blocks):
            columns = slice(window.first_column, layout.active[window.blocks.start + g])
            x = right[g, :, columns]
            if g:
                joined = np.matmul(lower, self.inverse[g - 1].T, out=self.below[g])
                block -= joined @ joined.T
                before = slice(columns.start, layout.active[window.blocks.start + g - 1])
                x[:, : before.stop - before.start] -= joined @ right[g - 1, :, before]
            factor, wrong = lapack.dpotrf(block.T, lower=1)
            if wrong:
                raise LinAlgError("an action's matrix is not positive")
            self.inverse[g] = lapack.dtrtri(factor, lower=1, overwrite_c=1)[0]
            right[g, :, columns] = self.inverse[g] @ x
        active = layout.active[window.blocks]
        for top in sorted(set(active)):
            same = [g for g, other in enumerate(active) if other == top]
            columns = slice(window.first_column, top)
            solved = right[same[0] : same[-1] + 1].reshape(-1, layout.columns)[:, columns]
            prices[columns, columns] -= solved.T @ solved

    def solve(self, right: Floats) -> Floats:
        """The matrix's inverse times [row of the window]."""
        x = right.reshape(self.scale.shape) * self.scale
        for g in range(len(x)):
            x[g] = self.inverse[g] @ (x[g] - self.below[g] @ x[g - 1] if g else x[g])
        for g in range(len(x) - 1, -1, -1):
            x[g] = (x[g] - x[g + 1] @ self.below[g + 1] if g + 1 < len(x) else x[g]) @ self.inverse[g]
        return np.asarray((x * self.scale).ravel())
