"""A low and a high cell where histograms are too many to list: the expected counts of the prior, tilted towards less and more.

With p the mean shares of the types, v their values, σ the deviation of ω and z a normal quantile, a cell has about
n·p_t·e^(θ·v_t)/Σ respondents of each type, θ such that its ω lies z·σ below or above the mean; counts are rounded by largest
remainders. Of all histograms with such an ω these are about the most probable. The number of respondents is its mean, rounded.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np

from discreet.errors import TooLarge
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, IndependentPrior, MixturePrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.numerics.exact import counted

HALVINGS, STEEPEST = 80, 60.0
Cell = tuple[int, ...]


def typical_cells(problem: Problem, spread: float) -> tuple[Cell, Cell]:
    """Two histograms whose values of ω hold about `spread` of the probability between them."""
    universe = problem.people
    values = problem.statistic.weights(universe)
    shares, size, deviation = _moments(problem)
    if values is None:
        raise TooLarge(
            "Typical cells of this statistic need a list of histograms",
            size=counted(universe.histogram_count),
            fits="a sum, mean or count",
            remedy="see the limits of a mechanism instead",
        )
    numbers = np.array([float(v) for v in values])
    mean, away = size * float(shares @ numbers), NormalDist().inv_cdf((1 + spread) / 2) * deviation
    low, high = (_rounded(_tilted(shares, numbers, target / size), size) for target in (mean - away, mean + away))
    return (low, high) if low != high else (low, _moved(low, numbers))


def _moments(problem: Problem) -> tuple[np.ndarray, int, float]:
    """The mean share of each type, a number of respondents, and the deviation of ω for cells of that size."""
    universe, prior = problem.people, problem.prior
    size: tuple[Fraction, ...] | None = getattr(prior, "size", None)
    n = universe.respondents if size is None else round(sum(p * (universe.smallest + i) for i, p in enumerate(size)))
    values = np.array([float(v) for v in problem.statistic.weights(universe) or [0] * universe.types])
    wider = 1.0
    if isinstance(prior, (IidPrior, ReferencePrior)):
        shares = np.array([float(p) for p in prior.probabilities])
    elif isinstance(prior, DirichletMultinomialPrior):
        c = np.array([float(x) for x in prior.concentration])
        shares, wider = c / c.sum(), (n + float(c.sum())) / (1 + float(c.sum()))
    elif isinstance(prior, MixturePrior):
        within = [_moments(replace(problem, prior=one)) for _, one in prior.parts]
        weights = np.array([float(w) for w in prior.weights])
        means = np.array([n * float(each @ values) for each, _, _ in within])
        deviations = np.array([d for _, _, d in within])
        between = float(weights @ means**2 - (weights @ means) ** 2)
        return weights @ np.array([each for each, _, _ in within]), n, sqrt(max(float(weights @ deviations**2) + between, 0.0))
    elif isinstance(prior, IndependentPrior):
        shares = np.array([[float(p) for p in row] for row in prior.rows]).mean(axis=0)
    else:
        raise TooLarge(
            "Typical cells of this prior need a list of histograms",
            size=counted(universe.histogram_count),
            fits="an iid, reference, independent or Dirichlet prior",
            remedy="see the limits of a mechanism instead",
        )
    variance = float(shares @ values**2) - float(shares @ values) ** 2
    return shares, max(n, 1), sqrt(max(n * variance * wider, 0.0))


def _tilted(shares: np.ndarray, values: np.ndarray, target: float) -> np.ndarray:
    """Shares ∝ p·e^(θ·v) whose mean of v is the target, or as near as tilting comes."""
    scale = max(float(np.ptp(values[shares > 0])), 1e-300)
    low, high = -STEEPEST / scale, STEEPEST / scale
    for _ in range(HALVINGS):
        theta = (low + high) / 2
        low, high = (theta, high) if float(_at(shares, values, theta) @ values) < target else (low, theta)
    return _at(shares, values, (low + high) / 2)


def _at(shares: np.ndarray, values: np.ndarray, theta: float) -> np.ndarray:
    logs = theta * values
    raised = np.asarray(shares * np.exp(logs - logs[shares > 0].max()))
    return raised / raised.sum()


def _rounded(shares: np.ndarray, size: int) -> Cell:
    """Whole counts that add up to the size, by largest remainders."""
    wanted = shares * size
    counts = np.floor(wanted).astype(int)
    for t in np.argsort(counts - wanted)[: size - int(counts.sum())].tolist():
        counts[t] += 1
    return tuple(counts.tolist())


def _moved(cell: Cell, values: np.ndarray) -> Cell:
    """The same cell with one respondent moved to a higher value."""
    order = np.argsort(values).tolist()
    held = next(t for t in order if cell[t])
    higher = next((t for t in order if values[t] > values[held]), order[-1])
    return tuple(c - (t == held) + (t == higher) for t, c in enumerate(cell))
