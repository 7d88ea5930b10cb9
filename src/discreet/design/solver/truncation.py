"""Truncating the histogram program by a clamp, with an upper and a lower bound that hold for any payoff.

Let r be the clamp to a box (`box`), π the prior, ℓ(a, h) the loss.

    upper    a kernel m private on the box, read as m(a | r(h)), is private everywhere and loses
             Σ_{h' in box} Σ_a m(a|h')·Σ_{h: r(h)=h'} π(h)·ℓ(a, h):  the cost pushed forward;
    lower    any private mechanism restricted to the box is feasible for the program with the cost of the states
             in the box alone, and on a dropped state loses at least min_a ℓ(a, h):
             optimum ≥ (optimum of the box's own cost) + Σ_{dropped} π(h)·min_a ℓ(a, h).

Dropping raw payoffs would prove nonsense; dropping regret does not.  If min_a ℓ(a, h) may be −∞, do not truncate.

For independent respondents the full list of histograms is never formed: states up to an outer box, which holds
all but a mass ρ, are summed exactly, and the rest is bounded by ρ times the extreme losses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.design.solver.box import Box, choose_box, histogram_edges, simplex_condition
from discreet.design.solver.program import Floats, Integers, Program
from discreet.errors import InputError


@dataclass(frozen=True)
class Truncated:
    """The program on the box, and how its numbers translate to the whole universe."""

    box: Box
    states: Integers = field(repr=False)
    edges: Integers = field(repr=False)
    prior: Floats = field(repr=False)
    lower_cost: Floats = field(repr=False)
    upper_cost: Floats = field(repr=False)
    lower_constant: float
    upper_constant: float

    def program(self, epsilon: float) -> Program:
        """The program to solve; its multipliers prove the lower bound, its kernel is priced by `loss`."""
        return Program(self.lower_cost, self.edges, epsilon)

    def loss(self, kernel: Floats) -> float:
        """Expected loss on the whole universe of a kernel on the box, clamp included (an upper bound on it)."""
        return float(np.sum(self.upper_cost * kernel)) + self.upper_constant

    def lower_bound(self, bound: float) -> float:
        """What a bound of `program` proves for the whole universe."""
        return bound + self.lower_constant


def truncate(histograms: Integers, prior: Floats, loss: Floats, box: Box) -> Truncated:
    """Push a listed histogram program [state, type], [state], [action, state] onto a box."""
    histograms = np.asarray(histograms, dtype=np.int64)
    if not np.all(np.isfinite(loss)):
        raise InputError("a loss is not finite, so nothing may be dropped", found="NaN or infinity",
                         allowed="finite losses", remedy="do not truncate, or leave out unbounded actions")
    states = box.states()
    image = _positions(states, box.clamp(histograms), box)
    inside = np.all((histograms >= box.lower) & (histograms <= box.upper), axis=1)
    weighted = prior * loss
    lower_cost = np.zeros((len(loss), len(states)))
    lower_cost[:, image[inside]] = weighted[:, inside]
    upper_cost = np.zeros_like(lower_cost)
    for row, values in zip(upper_cost, weighted, strict=True):
        row += np.bincount(image, values, len(states))
    mass = np.asarray(np.bincount(image[inside], prior[inside], len(states)), dtype=np.float64)
    dropped = weighted[:, ~inside].min(axis=0).sum() if np.any(~inside) else 0.0
    return Truncated(box, states, histogram_edges(states), mass, lower_cost, upper_cost, float(dropped), 0.0)


def regret_marginals(histograms: Integers, prior: Floats, loss: Floats) -> Floats:
    """Weight of each type's count for `choose_box`: prior times the regret of the best blind action.

    Where that action happens to be best its regret is zero, but a clamped state is not played blindly: its expected
    regret is added everywhere.
    """
    weighted = prior * loss
    blind = int(np.argmin(weighted.sum(axis=1)))
    regret = weighted[blind] - weighted.min(axis=0)
    weight = regret + prior * float(regret.sum())
    size = int(histograms[0].sum())
    return np.stack([np.bincount(column, weight, size + 1) for column in histograms.T])


def log_factorials(size: int) -> Floats:
    """log n! for n = 0..size."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1, dtype=np.float64)))])


def multinomial(histograms: Integers, probabilities: Floats) -> Floats:
    """Probability of each histogram for independent respondents with these type probabilities."""
    table = log_factorials(int(histograms[0].sum()))
    with np.errstate(divide="ignore"):
        logs = np.where(probabilities > 0, np.log(np.maximum(probabilities, np.finfo(float).tiny)), -np.inf)
    terms = np.where(histograms > 0, histograms * np.where(histograms > 0, logs, 0.0), 0.0)
    return np.asarray(np.exp(table[-1] - table[histograms].sum(axis=1) + terms.sum(axis=1)))


def binomial_marginals(size: int, probabilities: Floats) -> Floats:
    """`marginals[j, n]`: probability that n of `size` independent respondents have type j."""
    counts = np.arange(size + 1)
    pairs = np.stack([counts, size - counts], axis=1)
    return np.stack([multinomial(pairs, np.array([p, 1.0 - p])) for p in probabilities])


def truncate_iid(
    size: int,
    probabilities: Floats,
    loss: Callable[[Integers], Floats],
    box: Box,
    loss_range: tuple[float, float],
    beyond: float = 1e-18,
) -> Truncated:
    """As `truncate` for independent respondents of any number.

    `loss(histograms)` gives losses [action, state] for histograms [state, type]; `loss_range` holds the least and
    the greatest loss over all actions and histograms.  The mass outside the outer box is bounded by its binomial
    tails, enlarged for rounding.
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    marginals = binomial_marginals(size, probabilities)
    outer = choose_box(marginals, beyond, box.reference)
    wide = Box(size, box.reference,
               tuple(min(a, b) for a, b in zip(outer.lower, box.lower, strict=True)) if _same_floor(outer, box)
               else (0,) * len(box.lower),
               tuple(max(a, b) for a, b in zip(outer.upper, box.upper, strict=True)))
    histograms = wide.states()
    tail = 0.0
    for j in range(len(probabilities)):
        if j != box.reference:
            tail += float(marginals[j, :wide.lower[j]].sum() + marginals[j, wide.upper[j] + 1:].sum())
    tail *= 1.0 + 1e-9
    listed = truncate(histograms, multinomial(histograms, probabilities), loss(histograms), box)
    low, high = loss_range
    return Truncated(
        listed.box, listed.states, listed.edges, listed.prior, listed.lower_cost, listed.upper_cost,
        listed.lower_constant + tail * min(low, 0.0), tail * max(high, 0.0),
    )


def _same_floor(outer: Box, box: Box) -> bool:
    """Whether the union of two boxes can keep its lower bounds (the simplex condition is rechecked by Box)."""
    others = [j for j in range(len(box.lower)) if j != box.reference]
    low = tuple(min(outer.lower[j], box.lower[j]) for j in others)
    high = tuple(max(outer.upper[j], box.upper[j]) for j in others)
    return simplex_condition(box.size, low, high)


def _positions(states: Integers, rows: Integers, box: Box) -> Integers:
    """Index in `states` of every row, both inside the box."""
    others = [j for j in range(len(box.lower)) if j != box.reference]
    if not others:
        return np.zeros(len(rows), dtype=np.int64)
    sides = [box.upper[j] - box.lower[j] + 1 for j in others]
    low = np.array([box.lower[j] for j in others])
    flat = np.ravel_multi_index(tuple((rows[:, others] - low).T), sides)
    known = np.ravel_multi_index(tuple((states[:, others] - low).T), sides)
    order = np.argsort(known, kind="stable")
    return np.asarray(order[np.searchsorted(known[order], flat)])
