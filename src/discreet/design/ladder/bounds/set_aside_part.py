"""One action of the interior point of the set-aside bound: its part of the iterate, of the Newton matrix and of a direction."""

from __future__ import annotations

import math

import numpy as np

from discreet.design.ladder.bounds.set_aside_bands import Bands, Layout, Window
from discreet.numerics.arrays import Floats

LEAST_LEFT = 0.5
"""What is left of an entry that a step would have carried past zero."""

Way = list[Floats]
"""Moves of P, y, β, u, t and the multipliers of u and t at one node."""


class ActionPart:
    """One action in its window: P [base, type], y [base], slacks, their multipliers and β."""

    def __init__(self, layout: Layout, window: Window, q: float, cost: Floats, over: Floats, played: float, number: int) -> None:
        """`cost` [base, type] less ν is `over`, at the start; `played` is P there."""
        from scipy import sparse

        bases = window.bases
        self.q, self.window, self.number = q, window, number
        self.here, self.weights = layout.here[bases], layout.weights[bases]
        self.cost = cost[bases] * self.weights
        self.first = window.blocks.start * layout.width
        rows = (window.blocks.stop - window.blocks.start) * layout.width
        live = self.here & window.tied.ravel()[np.where(self.here, layout.rows[:, bases] - self.first, 0)]
        columns = np.broadcast_to(np.arange(self.here.size).reshape(self.here.shape), live.shape)
        at = (layout.rows[:, bases][live] - self.first, columns[live])
        self.ties = sparse.csr_array((layout.entries[:, bases][live], at), shape=(rows, self.here.size))
        self.back = sparse.csr_array(self.ties.T)
        self.p = np.full(self.here.shape, played)
        self.y = np.full(len(self.here), played / math.sqrt(self.q))
        self.u, self.t = self.p - self.y[:, None], self.q * self.y[:, None] - self.p
        self.zt = np.where(self.here, over[bases] * self.weights / (q - 1), 1.0)
        self.zu = self.q * self.zt
        self.beta = np.zeros(rows)

    def tied(self, beta: Floats) -> Floats:
        """Cᵀβ [base, type]."""
        return np.asarray((self.back @ beta).reshape(self.here.shape))

    def product(self) -> float:
        """Σ of slacks times multipliers."""
        return float(((self.zu * self.u + self.zt * self.t) * self.here).sum())

    def factor(self, layout: Layout, room: Floats, prices: Floats, nu: Floats) -> None:
        """The Newton matrix; `room` [base, type, type] is zero before, and holds D after."""
        here, q = self.here, self.q
        self.alpha, self.tau = self.zu / self.u, self.zt / self.t
        diagonal = self.alpha + self.tau
        self.cross = -(self.alpha + q * self.tau) * here
        gamma = ((q - 1) ** 2 * self.alpha * self.tau / diagonal * here).sum(axis=1)
        self.corner = ((self.alpha + q * q * self.tau) * here).sum(axis=1)
        self.inverse = here / diagonal
        self.slope = self.inverse * self.cross
        self.gamma = gamma
        d = room[self.window.bases]
        np.multiply(self.slope[:, :, None], (self.slope / gamma[:, None])[:, None, :], out=d)
        types = np.arange(here.shape[1])
        d[:, types, types] += self.inverse
        self.bands = Bands(layout, self.window, room, prices)
        y = self.y[:, None]
        self.stray = (self.cost - self.tied(self.beta) - nu - self.zu + self.zt) * here
        self.stray_y = (self.zu * here).sum(axis=1) - q * (self.zt * here).sum(axis=1)
        self.off_u, self.off_t = (self.p - y - self.u) * here, (q * y - self.p - self.t) * here

    def spread(self, x: Floats) -> Floats:
        """D·x [base, type]."""
        return np.asarray(self.inverse * x + self.slope * ((self.slope * x).sum(axis=1) / self.gamma)[:, None])

    def held(self, moved: Floats) -> tuple[Floats, Floats]:
        """A move of P kept consistent, and the β for that."""
        beta = -self.bands.solve(self.ties @ moved.ravel())
        return moved + self.spread(self.tied(beta)), beta

    def begin(self, ku: Floats, kt: Floats, whole: bool) -> Floats:
        """The move of P for these changes of multipliers, ν as it is; `whole` makes good what is unbalanced too."""
        self.ku, self.kt, self.whole = ku * self.here, kt * self.here, whole
        u, t = self.ku, self.kt
        if whole:
            u, t = u - self.alpha * self.off_u, t - self.tau * self.off_t
        right, self.low = u - t, self.q * t.sum(axis=1) - u.sum(axis=1)
        if whole:
            right, self.low = right - self.stray, self.low - self.stray_y
        self.move, self.bend = self.held(self.spread(right) - self.slope * (self.low / self.gamma)[:, None])
        return self.move

    def end(self, dnu: Floats) -> Way:
        """All moves, once that of ν is known."""
        more, extra = self.held(self.spread(dnu))
        dp, here = self.move + more, self.here
        dy = (self.low - (self.cross * dp).sum(axis=1)) / self.corner
        du, dt = (dp - dy[:, None]) * here, (self.q * dy[:, None] - dp) * here
        if self.whole:
            du, dt = du + self.off_u, dt + self.off_t
        return [dp, dy, self.bend + extra, du, dt, self.ku - self.alpha * du * here, self.kt - self.tau * dt * here]

    def go(self, way: Way, first: float, second: float, least: float) -> None:
        """Step; `least` is what products come to at least, over the weight."""
        dp, dy, dbeta, du, dt, dzu, dzt = way
        self.p, self.y, self.beta = self.p + first * dp, self.y + first * dy, self.beta + second * dbeta
        self.u, self.t = (np.maximum(x + first * dx, LEAST_LEFT * x) for x, dx in ((self.u, du), (self.t, dt)))
        for name, x, dx, slack in (("zu", self.zu, dzu, self.u), ("zt", self.zt, dzt, self.t)):
            moved = np.maximum(x + second * dx, LEAST_LEFT * x)
            setattr(self, name, np.where(self.here, np.maximum(moved, least * self.weights / slack), 1.0))
