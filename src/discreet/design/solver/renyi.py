"""An interior point for the convex program of zCDP: the cheapest kernel whose Rényi divergences are small along every edge.

    min Σ_{a,x} C[a,x]·m[a,x]   over m > 0 with   Σ_a m[a,x] = 1   and, for each cut j = (p → q, α),

        g_j(m) = Σ_a m[a,p]^α m[a,q]^(1−α) ≤ c_j = e^{α(α−1)ρ}.

g_j is convex, and its second derivative is one square for each action: α(α−1)·f·(d_p − d_q)² in relative steps d = dm/m, with
f = m_p^α m_q^(1−α). So Newton's matrix is, for each action, a weighted graph Laplacian plus a diagonal; actions meet only in the
rows of the cuts and of the sums. Each action's block is inverted by itself, and what is left has one row for each cut and state.

Primal-dual: multipliers λ_j of the cuts, v_x of the sums, z[a,x] of m > 0. At a solution of the perturbed conditions

    C[a,x] + Σ_{j: p=x} λ_j α r^{α−1} − Σ_{j: q=x} λ_j (α−1) r^α − v_x = z[a,x] = μ/m[a,x] > 0,     r = m[a,p]/m[a,q],

so λ, r and v are a feasible dual: a lower bound that `certify` checks again from λ and r alone.

Cuts may share multipliers, λ_j = share_j·Λ_group(j): then only Σ share_j·(g_j − c_j) ≤ 0 is asked of each group, which makes the
optimum smaller, the bound as valid as ever, and what is left of Newton's matrix much smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.design.schedule import renyi_seconds, spend
from discreet.design.solver.threads import one_thread
from discreet.numerics.arrays import Floats, Integers
from discreet.watch import SILENT, Watch

MOST_STEPS = 80
SHRINK = 0.15
BACK = 0.95


@dataclass(frozen=True, eq=False)
class RenyiProgram:
    """Costs [action, state]; directed edges `first` → `second` with order and limit of each cut; which cuts share multipliers."""

    cost: Floats
    first: Integers
    second: Integers
    order: Floats
    limit: Floats
    groups: Groups | None = None


@dataclass(frozen=True, eq=False)
class Groups:
    """For each cut the number of its group, and its share of the group's multiplier."""

    number: Integers
    share: Floats


@dataclass(frozen=True, eq=False)
class RenyiSolution:
    """The kernel; another one whose ratios, with the multipliers of the cuts, make the best bound; both sides in floats."""

    kernel: Floats
    shape: Floats
    weights: Floats
    value: float
    bound: float
    steps: int

    def ratios(self, program: RenyiProgram) -> Floats:
        """r [action, cut]: the likelihood ratio along each cut's edge."""
        return np.asarray(self.shape[:, program.first] / self.shape[:, program.second])


@one_thread()
def solve_renyi(program: RenyiProgram, start: Floats, gap: float = 1e-4, watch: Watch = SILENT) -> RenyiSolution:
    """From a kernel that is private and positive everywhere to one within the gap of the best."""
    state = _State(program, start)
    scale = max(abs(float((program.cost * start).sum())), 1e-300)
    actions, states = program.cost.shape
    guess = renyi_seconds(actions, states, len(program.first), len(state.weight))
    steps, best = 0, (state.dual_value(), state.m, state.of_cuts)
    while steps < MOST_STEPS and not watch.cancelled():
        close = state.complementarity < 0.3 * gap * scale
        if close and state.residual < 0.1 * gap * scale:
            break
        # close to the end only the rows of the dual are mended: actions of next to no mass bind the bound as much as others
        try:
            state.step(1.0 if close else SHRINK)
        except np.linalg.LinAlgError:  # numbers beyond floats: what was reached before is what there is
            break
        spend(guess)
        steps += 1
        bound = state.dual_value()
        if bound > best[0]:
            best = (bound, state.m, state.of_cuts)
    value = float((program.cost * state.m).sum())
    return RenyiSolution(state.m, best[1], best[2], value, best[0], steps)


def pulls(program: RenyiProgram, kernel: Floats, weight: Floats) -> Floats:
    """Σ_{j: p=x} λ_j α r^{α−1} − Σ_{j: q=x} λ_j (α−1) r^α [action, state]."""
    ratio = kernel[:, program.first] / kernel[:, program.second]
    found = np.zeros_like(kernel)
    order = program.order
    np.add.at(found.T, program.first, (weight * order * ratio ** (order - 1)).T)
    np.add.at(found.T, program.second, -(weight * (order - 1) * ratio**order).T)
    return found


class _State:
    """One iterate: m, Λ of each group with slacks s, v and z."""

    def __init__(self, program: RenyiProgram, start: Floats) -> None:
        self.program = program
        cuts = len(program.first)
        self.groups = program.groups or Groups(np.arange(cuts), np.ones(cuts))
        self.limit = self._gathered(program.limit)
        self.gradients = _Gradients(program, self.groups)
        self.m = np.asarray(start / start.sum(axis=0))
        actions, states = self.m.shape
        scale = float(np.abs(program.cost).sum(axis=1).mean()) + 1e-12
        mu = 0.1 * scale / states
        self.slack = np.maximum(self.limit - self._gathered(self._moments().sum(axis=0)), 1e-3 * self.limit)
        self.weight = mu / self.slack / len(self.slack)
        self.z = mu / self.m / (actions * states)
        self.v = (program.cost + pulls(program, self.m, self.of_cuts)).min(axis=0)

    @property
    def of_cuts(self) -> Floats:
        """λ of every cut."""
        return self._spread(self.weight)

    def _spread(self, of_groups: Floats) -> Floats:
        return np.asarray(self.groups.share * of_groups[self.groups.number])

    def _gathered(self, of_cuts: Floats) -> Floats:
        return np.bincount(self.groups.number, self.groups.share * of_cuts).astype(np.float64)

    def _moments(self) -> Floats:
        p, q = self.m[:, self.program.first], self.m[:, self.program.second]
        return np.asarray(q * (p / q) ** self.program.order)

    @property
    def complementarity(self) -> float:
        """Σ m·z + Σ s·λ: the gap of a feasible pair."""
        return float((self.m * self.z).sum() + self.slack @ self.weight)

    @property
    def residual(self) -> float:
        """How much of the bound is lost to rows of the dual that do not hold yet, and to sums that are not one."""
        short = np.maximum(-(self._stationarity() + self.z), 0.0).max(axis=0)
        return float(short.sum() + np.abs(self.v) @ np.abs(self.m.sum(axis=0) - 1))

    def _stationarity(self) -> Floats:
        return np.asarray(self.program.cost + pulls(self.program, self.m, self.of_cuts) - self.v - self.z)

    def dual_value(self) -> float:
        """Σ_x min_a [C + pulls] − Σ λ c: a lower bound whatever the iterate."""
        rows = self.program.cost + pulls(self.program, self.m, self.of_cuts)
        return float(rows.min(axis=0).sum() - self.weight @ self.limit)

    def step(self, shrink: float) -> None:
        """One Newton step towards a smaller μ, as far as everything stays positive."""
        program, m = self.program, self.m
        actions, states = m.shape
        first, second, order = program.first, program.second, program.order
        mu = shrink * self.complementarity / (m.size + len(self.weight))
        moments = self._moments()
        # relative steps d = dm/m: blocks per action, Laplacian of curvatures plus m·z
        curve = self.of_cuts * order * (order - 1) * moments
        blocks = np.zeros((actions, states, states))
        each = np.arange(actions)[:, None]
        np.add.at(blocks, (each, first, first), curve)
        np.add.at(blocks, (each, second, second), curve)
        np.add.at(blocks, (each, first, second), -curve)
        np.add.at(blocks, (each, second, first), -curve)
        at = np.arange(states)
        blocks[:, at, at] += m * self.z
        inverse = np.linalg.inv(blocks)
        # right sides: stationarity with z eliminated, times m
        load = -(self._stationarity() * m) + (mu - m * self.z)
        cuts = len(self.weight)
        total = cuts + states
        schur, aim = np.zeros((total, total)), np.zeros(total)
        here, there = order * moments, (1 - order) * moments  # gradient of g_j in relative steps, at p and at q
        solved = np.einsum("axy,ay->ax", inverse, load)
        for a in range(actions):
            gradient = self.gradients.of(here[a], there[a])
            side = np.empty((states, total))
            side[:, :cuts] = (gradient @ inverse[a]).T
            side[:, cuts:] = -inverse[a] * m[a]
            schur[:cuts] += gradient @ side
            schur[cuts:] -= m[a][:, None] * side
            aim[:cuts] += gradient @ solved[a]
            aim[cuts:] -= m[a] * solved[a]
        schur[np.arange(cuts), np.arange(cuts)] += self.slack / self.weight
        aim[:cuts] += (self._gathered(moments.sum(axis=0)) + self.slack - self.limit) + (mu / self.weight - self.slack)
        aim[cuts:] -= m.sum(axis=0) - 1
        moved = np.linalg.lstsq(schur, aim, rcond=None)[0] if not _well(schur) else np.linalg.solve(schur, aim)
        d_weight, d_v = moved[:cuts], moved[cuts:]
        back, change = load.copy(), self._spread(d_weight)
        np.add.at(back.T, first, -(here * change).T)
        np.add.at(back.T, second, -(there * change).T)
        back += m * d_v
        d = np.einsum("axy,ay->ax", inverse, back)
        d_z = (mu - m * self.z) / m - self.z * d
        d_slack = (mu / self.weight - self.slack) - self.slack / self.weight * d_weight
        primal = min(1.0, BACK * _room(np.ones_like(d), d), BACK * _room(self.slack, d_slack))
        dual = min(1.0, BACK * _room(self.weight, d_weight), BACK * _room(self.z, d_z))
        size = min(primal, dual)
        self.m = m * (1 + size * d)
        self.slack = np.maximum(self.slack + size * d_slack, 1e-300)
        self.weight, self.v, self.z = self.weight + size * d_weight, self.v + size * d_v, self.z + size * d_z


class _Gradients:
    """The gradient of each group's constraint in relative steps of one action, [group, state]: the same places for every action."""

    def __init__(self, program: RenyiProgram, groups: Groups) -> None:
        number = np.concatenate([groups.number, groups.number])
        self.order = np.argsort(number, kind="stable")
        self.share = groups.share
        self.states = np.concatenate([program.first, program.second])[self.order]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(number))])
        self.shape = (len(self.starts) - 1, program.cost.shape[1])

    def of(self, here: Floats, there: Floats) -> Any:
        """From the derivatives of every cut at its first and at its second state."""
        from scipy import sparse

        data = np.concatenate([self.share * here, self.share * there])[self.order]
        return sparse.csr_array((data, self.states, self.starts), shape=self.shape)


def _room(value: Floats, change: Floats) -> float:
    """How far one may go until the first entry is zero."""
    falling = change < 0
    return float((value[falling] / -change[falling]).min()) if falling.any() else 1e9


def _well(matrix: Floats) -> bool:
    return bool(np.isfinite(matrix).all())
