"""The same program with two sums and thousands of states: first-order steps on its smoothed dual.

For prices β and ν the bound is Σ_b μ(b)·(Σ_i p_i·ν_i(b) + min(0, min_a φ_b(a))), φ_b(a) = Σ_i p_i·(x_i⁺ − q·x_i⁻) (`certify`):
concave, with kinks. The least over actions is smoothed by τ·log Σ exp(−φ/τ), the kink of every x by σ·log(1 + exp(−x/σ)). What
comes out is a kernel, y_a(b) = exp(−φ_b(a)/τ)/Z times a factor between 1 and q for every type, and the gradient says by how much
it is inconsistent. L-BFGS climbs, τ falls from stage to stage, and each stage measures β_a(s) by how much its kernel plays a at s.
Work is linear in (node, base, type); a node meets only the bases near it, beyond that an action is too far to be played and β is 0.

Actions between nodes h apart cost up to h²/4 less than their chord. Every node counts as so much cheaper: that takes h²/4 off the
bound, where uncounted it takes up to e^ε as much.

Reference: Nesterov 2005 for smoothing; Liu and Nocedal 1989.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.design.ladder.bounds.set_aside_prices import Prices, proved
from discreet.design.schedule import SECONDS_PER_KERNEL_ENTRY, now, spend
from discreet.numerics.arrays import Floats
from discreet.watch import SILENT, Watch

if TYPE_CHECKING:
    from discreet.design.ladder.bounds.set_aside import SetAsideProgram

FIRST, FALL, STAGES = 0.7, 2.2, 9
"""τ of the first stage as a share of the loss, by what it is divided from stage to stage, and how many there are."""
KINK = 0.5
"""σ over τ."""
FLOOR = 0.2
"""What every node is taken to be played at least, as a share of all nodes alike, when β is measured."""
FEWEST, MOST = 40, 400
"""Steps of a stage."""
ENOUGH = 3e-8
"""A stage ends when a step gains less than this share."""
MEMORY = 15
REACH = 4.5
"""Bases farther from a node than so many roots of the loss, and the widest step of ω, are left out of its row."""
ROWS = 8
"""Nodes are taken together by so many."""


def step_seconds(program: SetAsideProgram, knots: Floats, loss: float) -> float:
    """A guess of one evaluation."""
    return SECONDS_PER_KERNEL_ENTRY * sum(row.entries for row in _rows(program, knots, loss)) * program.here.shape[1]


def step_set_aside(
    program: SetAsideProgram, epsilon: float, knots: Floats, loss: float, seconds: float, watch: Watch = SILENT
) -> Prices:
    """Prices that prove the best bound seen within the time; `loss` is that of a good mechanism."""
    from scipy.optimize import minimize

    ends, guess = now() + seconds, step_seconds(program, knots, loss)
    dual = _Dual(program, epsilon, knots, loss)
    best = Prices(dual.forms, dual.levels, float("-inf"))
    steps = int(min(max(seconds / guess / STAGES, FEWEST), MOST))
    for stage in range(STAGES):
        dual.smooth(FIRST * loss / FALL**stage)

        def stop(_: Any) -> None:
            spend(guess)
            if now() > ends or watch.cancelled():
                raise StopIteration

        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": MEMORY, "ftol": ENOUGH, "gtol": 0.0}
        found = minimize(dual.value, dual.packed(), jac=True, method="L-BFGS-B", callback=stop, options=options)
        dual.take(np.asarray(found.x))
        bound = proved(program, epsilon, knots, dual.forms, dual.levels)
        if bound > best.bound:
            best = Prices(dual.forms.copy(), dual.levels.copy(), bound)
        watch.report(stage="set-aside bound", bound=best.bound)
        if now() > ends or watch.cancelled():
            break
    return best


@dataclass(frozen=True, eq=False)
class _Row:
    """A run of nodes and the run of bases, in the order of ω, that they meet."""

    nodes: slice
    bases: slice

    @property
    def entries(self) -> int:
        return (self.nodes.stop - self.nodes.start) * (self.bases.stop - self.bases.start)


def _order(program: SetAsideProgram) -> tuple[NDArray[np.int64], Floats]:
    """Bases in the order of the mean of ω over their types, and those means."""
    held = program.shares * program.here
    means = (program.read * held).sum(axis=1) / np.maximum(held.sum(axis=1), 1e-300)
    order = np.argsort(means, kind="stable")
    return order, means[order]


def _rows(program: SetAsideProgram, knots: Floats, loss: float) -> list[_Row]:
    means = _order(program)[1]
    reach = REACH * math.sqrt(loss) + float(np.ptp(program.read, axis=1).max())
    rows = []
    for first in range(0, len(knots), ROWS):
        run = knots[first : first + ROWS]
        low, high = np.searchsorted(means, [run[0] - reach, run[-1] + reach])
        if low < high:
            rows.append(_Row(slice(first, first + len(run)), slice(int(low), int(high))))
    return rows


def _lowered(knots: Floats) -> Floats:
    """h²/4 of the wider interval beside each node."""
    bends = np.diff(knots) ** 2 / 4
    return np.asarray(np.maximum(np.append(bends, 0.0), np.append(0.0, bends)))


class _Dual:
    """β [node, form, state] and ν [base, type] in the order of ω, and the smoothed bound of them."""

    def __init__(self, program: SetAsideProgram, epsilon: float, knots: Floats, loss: float) -> None:
        from scipy import sparse

        self.q, self.shape = math.exp(epsilon), (len(knots), *program.coefficients.shape[:1], len(program.states))
        self.order = _order(program)[0]
        self.here, self.targets = program.here[self.order], program.targets[self.order]
        self.shares, self.masses = program.shares[None] * self.here, program.masses[self.order]
        self.weights = self.masses[:, None] * self.shares
        self.apart = program.coefficients[:, self.order]
        self.read = program.read[self.order]
        self.knots, self.lower = knots, _lowered(knots)
        self.rows = _rows(program, knots, loss)
        self.beta, self.nu = np.zeros(self.shape), -(self.read**2) * self.here
        numbers, bases = np.arange(self.here.size), len(self.here)
        types = self.here.shape[1]
        whole = sparse.csc_array(
            (self.here.ravel().astype(np.float64), (self.targets.ravel(), numbers)), shape=(self.shape[2], bases * types)
        )
        self.gather = [sparse.csr_array(whole[:, r.bases.start * types : r.bases.stop * types]) for r in self.rows]
        self.size = np.stack([whole @ (self.weights * c**2).ravel() for c in self.apart])
        self.level_unit = np.where(self.here, 1.0 / np.sqrt(np.where(self.here, self.weights, 1.0)), 0.0)
        self.tau, self.sigma = loss, KINK * loss
        self.form_unit, self.met = np.zeros(self.shape), np.zeros(self.shape, dtype=bool)

    @property
    def forms(self) -> Floats:
        return self.beta

    @property
    def levels(self) -> Floats:
        found = np.empty_like(self.nu)
        found[self.order] = self.nu
        return found

    def smooth(self, tau: float) -> None:
        """Begin a stage: β is measured by the kernel that the prices make now."""
        self.tau, self.sigma = tau, KINK * tau
        _, kernels = self._kernels()
        played = np.zeros(self.shape)
        for row, gather, kernel in zip(self.rows, self.gather, kernels, strict=True):
            for k, apart in enumerate(self.apart[:, row.bases]):
                played[row.nodes, k] = self._at_states(gather, kernel * apart**2)
        self.met = played > 0
        played += FLOOR / self.shape[0] * self.size[None]
        self.form_unit = np.where(self.met, 1.0 / np.sqrt(np.where(self.met, played, 1.0)), 0.0)

    def packed(self) -> Floats:
        """The prices in their units."""
        return np.concatenate([self.beta[self.met] / self.form_unit[self.met], self.nu[self.here] / self.level_unit[self.here]])

    def take(self, packed: Floats) -> None:
        cut = int(self.met.sum())
        self.beta[self.met] = packed[:cut] * self.form_unit[self.met]
        self.nu[self.here] = packed[cut:] * self.level_unit[self.here]

    def value(self, packed: Floats) -> tuple[float, Floats]:
        """The smoothed bound of packed prices and its gradient, with their signs turned."""
        self.take(packed)
        value, kernels = self._kernels()
        levels, forms = self.weights.copy(), np.zeros(self.shape)
        for row, gather, kernel in zip(self.rows, self.gather, kernels, strict=True):
            levels[row.bases] -= kernel.sum(axis=0)
            for k, apart in enumerate(self.apart[:, row.bases]):
                forms[row.nodes, k] = self._at_states(gather, kernel * apart)
        forms *= self.form_unit
        return -value, np.concatenate([forms[self.met], -(levels * self.level_unit)[self.here]])

    @staticmethod
    def _at_states(gather: Any, entries: Floats) -> Floats:
        """[node, base, type] added up for each state reached: [node, state]."""
        return np.asarray((gather @ entries.reshape(len(entries), -1).T).T)

    def _kernels(self) -> tuple[float, list[Floats]]:
        """The smoothed bound, and μ·p·P of every row [node, base, type]."""
        phi, steep = np.full((self.shape[0], len(self.masses)), np.inf), []
        for row in self.rows:
            a, near = self.knots[row.nodes, None, None], self.here[row.bases]
            x = a * a - self.lower[row.nodes, None, None] - 2 * a * self.read[row.bases] - self.nu[row.bases]
            for k, apart in enumerate(self.apart[:, row.bases]):
                x -= apart * self.beta[row.nodes, k][:, self.targets[row.bases]]
            fading = np.exp(-np.abs(x) / self.sigma)
            below = np.maximum(-x, 0.0) + self.sigma * np.log1p(fading)
            phi[row.nodes, row.bases] = np.einsum("bt,abt->ab", self.shares[row.bases], x - (self.q - 1) * below)
            steep.append((1 + (self.q - 1) * np.where(x > 0, fading, 1.0) / (1 + fading)) * near)
        least = np.minimum(phi.min(axis=0), 0.0)
        played = np.exp(-(phi - least) / self.tau)
        whole = np.exp(least / self.tau) + played.sum(axis=0)
        played /= whole
        value = float(self.masses @ ((self.shares * self.nu).sum(axis=1) + least - self.tau * np.log(whole)))
        for row, factor in zip(self.rows, steep, strict=True):
            factor *= self.weights[row.bases]
            factor *= played[row.nodes, row.bases, None]
        return value, steep
