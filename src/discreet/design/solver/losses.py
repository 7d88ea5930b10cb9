"""Losses over real actions: what the continuum solver needs to know about one.

Prior-weighted costs c_h(a) = π_h·ℓ(a, ω_h).  Between two nodes the flow is interpolated linearly, so the
reduced cost of state h on a piece [a₁, a₂] is c_h(a) − (line through p₁ at a₁ and p₂ at a₂), and its minimum is

    squared error    taken exactly: the vertex of π(a − ω)² − line, or an end;
    pinball          taken exactly: an end, or the kink a = ω;
    −f(a) − ω·g(a)   bounded below by the chord less (width²/8)·(the largest second derivative on the piece).

Pinball with quantile 1/2 is half the absolute error. Of an affine payoff f + ω·g only the posterior mean of ω matters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Protocol

import numpy as np

from discreet.design.solver.program import Floats
from discreet.errors import InputError
from discreet.frozen import dataclass

UNBOUNDED = (-np.inf, np.inf)

LOOKS, BROADER = 5, 1.02
"""The second derivative is looked at in so many places of a piece and taken a little larger; `certify` encloses it."""

Function = Callable[[Floats], Floats]
Smooth = tuple[Function, Function, Function]
"""A function with its first and second derivative."""


class RealLoss(Protocol):
    """A loss of a real action, prior included; arrays are [action, state]."""

    @property
    def prior(self) -> Floats:
        """π_h for each state."""
        ...

    @property
    def low(self) -> float:
        """No action below is ever needed."""
        ...

    @property
    def high(self) -> float:
        """No action above is ever needed."""
        ...

    def cost(self, actions: Floats) -> Floats:
        """c_h(a) for each action and state."""
        ...

    def rate(self, actions: Floats) -> Floats:
        """∂c_h/∂a for each action and state."""
        ...

    def bend(self, actions: Floats) -> Floats:
        """Half of ∂²c_h/∂a² for each action and state, zero where a loss is straight or bends down."""
        ...

    def best(self, kernel: Floats) -> Floats:
        """For each row m_a of a kernel the action that minimises Σ_h m_a(h)·c_h."""
        ...

    def piece_minimum(self, left: Floats, right: Floats, at_left: Floats, at_right: Floats) -> Floats:
        """A lower bound, [piece, state], on min over [left, right] of c_h(a) minus the line at_left → at_right."""
        ...


class _OfDistance:
    """No action beyond the range of ω is better than its end, or than the allowed action next to that."""

    omega: Floats
    ends: tuple[float, float]

    @property
    def low(self) -> float:
        return float(np.clip(np.min(self.omega), *self.ends))

    @property
    def high(self) -> float:
        return float(np.clip(np.max(self.omega), *self.ends))


@dataclass(frozen=True)
class SquaredError(_OfDistance):
    """ℓ = (a − ω)² for actions within `ends`; the best action is the posterior mean, or the end next to it."""

    prior: Floats = field(repr=False)
    omega: Floats = field(repr=False)
    ends: tuple[float, float] = UNBOUNDED

    def __post_init__(self) -> None:
        _check(self.prior, self.omega)

    def cost(self, actions: Floats) -> Floats:
        return np.asarray(self.prior * (np.asarray(actions)[:, None] - self.omega) ** 2)

    def rate(self, actions: Floats) -> Floats:
        return np.asarray(2 * self.prior * (np.asarray(actions)[:, None] - self.omega))

    def bend(self, actions: Floats) -> Floats:
        return np.broadcast_to(self.prior, (len(actions), len(self.prior)))

    def best(self, kernel: Floats) -> Floats:
        weight = kernel * self.prior
        means = (weight @ self.omega) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        return np.asarray(np.clip(means, *self.ends))

    def piece_minimum(self, left: Floats, right: Floats, at_left: Floats, at_right: Floats) -> Floats:
        width = np.maximum(right - left, np.finfo(float).tiny)[:, None]
        tilt = (at_right - at_left) / width
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            vertex = self.omega + np.where(self.prior > 0, tilt / (2 * self.prior), np.inf * np.sign(tilt))
        vertex = np.clip(np.nan_to_num(vertex, nan=left.min()), left[:, None], right[:, None])
        share = (vertex - left[:, None]) / width
        inner = self.prior * (vertex - self.omega) ** 2 - (1 - share) * at_left - share * at_right
        ends = np.minimum(self.cost(left) - at_left, self.cost(right) - at_right)
        return np.asarray(np.minimum(inner, ends))


@dataclass(frozen=True)
class Pinball(_OfDistance):
    """ℓ = quantile·(ω − a) for a ≤ ω and (1 − quantile)·(a − ω) for a ≥ ω; the best action is a posterior quantile.

    `Pinball(prior, omega, 0.5, scale=2.0)` is the absolute error.
    """

    prior: Floats = field(repr=False)
    omega: Floats = field(repr=False)
    quantile: float = 0.5
    scale: float = 1.0
    ends: tuple[float, float] = UNBOUNDED

    def __post_init__(self) -> None:
        _check(self.prior, self.omega)
        if not 0 < self.quantile < 1:
            raise InputError(
                "the quantile is out of range", found=self.quantile, allowed="0 < quantile < 1", remedy="0.5 asks for the median"
            )

    def cost(self, actions: Floats) -> Floats:
        over = np.asarray(actions)[:, None] - self.omega
        return np.asarray(self.scale * self.prior * np.where(over >= 0, (1 - self.quantile) * over, -self.quantile * over))

    def rate(self, actions: Floats) -> Floats:
        over = np.asarray(actions)[:, None] >= self.omega
        return np.asarray(self.scale * self.prior * np.where(over, 1 - self.quantile, -self.quantile))

    def bend(self, actions: Floats) -> Floats:
        return np.zeros((len(actions), len(self.prior)))

    def best(self, kernel: Floats) -> Floats:
        order = np.argsort(self.omega, kind="stable")
        weight = (kernel * self.prior)[:, order]
        reached = np.cumsum(weight, axis=1)
        place = np.argmax(reached >= self.quantile * reached[:, -1:], axis=1)
        return np.asarray(np.clip(self.omega[order][place], *self.ends), dtype=np.float64)

    def piece_minimum(self, left: Floats, right: Floats, at_left: Floats, at_right: Floats) -> Floats:
        width = np.maximum(right - left, np.finfo(float).tiny)[:, None]
        share = (self.omega - left[:, None]) / width
        kink = np.where((share > 0) & (share < 1), -(1 - share) * at_left - share * at_right, np.inf)
        ends = np.minimum(self.cost(left) - at_left, self.cost(right) - at_right)
        return np.asarray(np.minimum(kink, ends))


@dataclass(frozen=True)
class AffineLoss:
    """ℓ = −(f(a) + ω·g(a)) for actions in [low, high].

    `f` and `g` hold the function and its first two derivatives; `reply` gives the best action for each mean of ω.
    """

    prior: Floats = field(repr=False)
    omega: Floats = field(repr=False)
    f: Smooth = field(repr=False)
    g: Smooth = field(repr=False)
    low: float
    high: float
    reply: Callable[[Floats], Floats] = field(repr=False)

    def __post_init__(self) -> None:
        _check(self.prior, self.omega)
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(
                "the range of actions is empty",
                found=f"[{self.low}, {self.high}]",
                allowed="finite low < high",
                remedy="give the range that holds every best action",
            )

    def _derived(self, actions: Floats, order: int) -> Floats:
        """−π·(f⁽ᵏ⁾ + ω·g⁽ᵏ⁾) for the given order k, axes [..., state]."""
        at = np.asarray(actions, dtype=np.float64)
        parts = (np.broadcast_to(part[order](at), at.shape)[..., None] for part in (self.f, self.g))
        f, g = parts
        return np.asarray(-self.prior * (f + self.omega * g))

    def cost(self, actions: Floats) -> Floats:
        return self._derived(actions, 0)

    def rate(self, actions: Floats) -> Floats:
        return self._derived(actions, 1)

    def bend(self, actions: Floats) -> Floats:
        return np.maximum(self._derived(actions, 2), 0.0) / 2

    def best(self, kernel: Floats) -> Floats:
        weight = kernel * self.prior
        return self.reply((weight @ self.omega) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny))

    def piece_minimum(self, left: Floats, right: Floats, at_left: Floats, at_right: Floats) -> Floats:
        inside = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, LOOKS)
        bulge = BROADER * self.bend(inside).max(axis=1) * ((right - left) ** 2)[:, None] / 4
        ends = np.minimum(self.cost(left) - at_left, self.cost(right) - at_right)
        return np.asarray(ends - bulge)


def _check(prior: Floats, omega: Floats) -> None:
    if np.shape(prior) != np.shape(omega) or np.ndim(prior) != 1:
        raise InputError(
            "prior and statistic differ in length",
            found=f"{np.shape(prior)}, {np.shape(omega)}",
            allowed="one entry per state each",
            remedy="give both for every state",
        )
    if np.any(np.asarray(prior) < 0):
        raise InputError("a prior weight is negative", found="a negative number", allowed="weights ≥ 0", remedy="check the prior")
