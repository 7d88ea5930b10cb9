"""Maximum likelihood for type probabilities θ on the simplex, from many published cells.

With logits η, ∂ℓ/∂η_t = E[H_t | s, θ] − θ_t·E[H | s, θ], where H are the expected counts of types given the
published values: one pass of Bayes' rule gives the exact gradient, so quasi-Newton steps converge. A profile
interval for θ_t holds it fixed and maximises over the others. Information that the published values do not
hold shows as `identified = False`.

Notation: η → logits, H → expected counts. Reference: BG eq. (3); Louis (1982) for gradients of incomplete data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.interpret.channel import Outputs
from discreet.interpret.likelihood import output_counts
from discreet.interpret.models import MultinomialModel
from discreet.interpret.naive import Naive, naive_analysis, published_numbers
from discreet.interpret.regions import check_level
from discreet.numerics.logspace import log_sum_exp

Array = NDArray[np.float64]
STEEPEST = 30.0
"""Logits stay within ±30 of the first: probabilities below e^−30 count as zero."""
SINGULAR = 1e-8


@dataclass(frozen=True)
class SimplexFit:
    """Estimates of all type probabilities; standard errors are None where the data do not identify them."""

    estimate: tuple[float, ...]
    standard_errors: tuple[float, ...] | None
    intervals: tuple[tuple[float, float], ...]
    level: float
    log_likelihood: float
    cells: int
    identified: bool
    naive: Naive | None


@dataclass(frozen=True)
class _Data:
    groups: tuple[tuple[MultinomialModel, Array], ...]

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """ℓ(θ) and expected counts of types given all published values."""
        total, expected = 0.0, np.zeros(len(theta))
        for model, counts in self.groups:
            seen = counts > 0
            logs = model.log_kernel[seen] + model.log_atoms(theta)
            peaks = log_sum_exp(logs, axis=1)
            total += float(counts[seen] @ peaks)
            if np.isfinite(peaks).all():
                expected += (counts[seen] @ np.exp(logs - peaks[:, None])) @ model.vectors
        return total, expected


def fit_simplex(
    groups: Sequence[tuple[MultinomialModel, Outputs]], *, level: float = 0.95, profiles: bool = True
) -> SimplexFit:
    """The maximum-likelihood type probabilities; `profiles=False` leaves the intervals to ± normal quantile × error."""
    from scipy.stats import norm

    if not groups:
        raise InputError(
            "There are no cells to fit",
            found="an empty list",
            allowed="at least one group",
            remedy="give values",
        )
    level = check_level(level)
    if any(model.by_totals for model, _ in groups):
        raise InputError(
            "Fitting every type needs the histograms listed",
            found="too many histograms",
            allowed="fewer respondents or types",
            remedy="fit a one-parameter model",
        )
    data = _Data(tuple((model, output_counts(model, outputs)) for model, outputs in groups))
    types = groups[0][0].universe.types
    start = np.full(types, 1 / types)
    if not np.isfinite(data.evaluate(start)[0]):
        raise InputError(
            "No type probabilities can produce these published values",
            found="likelihood 0",
            allowed="values that the mechanism can publish",
            remedy="check the values",
        )
    theta, peak = _maximise(data, start, None)
    covariance = _covariance(data, theta)
    errors = None if covariance is None else tuple(float(e) for e in np.sqrt(np.diag(covariance)))
    if profiles:
        intervals = tuple(_profile(data, theta, peak, t, level) for t in range(types))
    else:
        z = float(norm.ppf((1 + level) / 2))
        spread = errors or (1.0,) * types
        intervals = tuple(
            (max(p - z * e, 0.0), min(p + z * e, 1.0)) for p, e in zip(theta, spread, strict=True)
        )
    return SimplexFit(
        tuple(float(p) for p in theta),
        errors,
        intervals,
        level,
        peak,
        int(sum(counts.sum() for _, counts in data.groups)),
        errors is not None,
        _naive(data, theta),
    )


def _maximise(data: _Data, start: Array, held: tuple[int, float] | None) -> tuple[Array, float]:
    """Quasi-Newton over logits of the free types; `held` fixes one type's probability."""
    from scipy.optimize import minimize

    free = [t for t in range(len(start)) if held is None or t != held[0]]
    room = 1.0 if held is None else 1.0 - held[1]

    def theta_of(eta: Array) -> Array:
        logits = np.concatenate([[0.0], eta])
        shares = np.exp(logits - logits.max())
        theta = np.zeros(len(start))
        theta[free] = room * shares / shares.sum()
        if held is not None:
            theta[held[0]] = held[1]
        return theta

    def objective(eta: Array) -> tuple[float, Array]:
        theta = theta_of(eta)
        value, expected = data.evaluate(theta)
        if not np.isfinite(value):
            return 1e300, np.zeros(len(eta))
        shares = theta[free] / max(room, 1e-300)
        gradient = expected[free] - expected[free].sum() * shares
        return -value, -gradient[1:]

    if len(free) == 1:
        theta = theta_of(np.zeros(0))
        return theta, data.evaluate(theta)[0]
    begin = np.log(np.maximum(start[free], 1e-9))
    found = minimize(
        objective,
        begin[1:] - begin[0],
        jac=True,
        method="L-BFGS-B",
        bounds=[(-STEEPEST, STEEPEST)] * (len(free) - 1),
        options={"ftol": 1e-14, "gtol": 1e-7, "maxiter": 500},
    )
    return theta_of(found.x), float(-found.fun)


def _score(data: _Data, theta: Array) -> Array:
    """∂ℓ/∂θ_t for t ≥ 1, θ_0 absorbing the change."""
    expected = data.evaluate(theta)[1]
    return np.asarray(expected[1:] / theta[1:] - expected[0] / theta[0])


def _covariance(data: _Data, theta: Array) -> Array | None:
    """The inverse observed information of all types (rows of θ_0 follow from the sum), or None where it is singular."""
    if theta.min() < 1e-6:
        return None
    size = len(theta) - 1
    information = np.zeros((size, size))
    for t in range(size):
        step = 1e-4 * min(theta[t + 1], theta[0])
        moved = np.zeros(len(theta))
        moved[t + 1], moved[0] = step, -step
        information[t] = -(_score(data, theta + moved) - _score(data, theta - moved)) / (2 * step)
    information = (information + information.T) / 2
    eigenvalues = np.linalg.eigvalsh(information)
    if eigenvalues[0] <= SINGULAR * max(eigenvalues[-1], 1.0):
        return None
    spread = np.vstack([-np.ones((1, size)), np.eye(size)])
    return np.asarray(spread @ np.linalg.inv(information) @ spread.T)


def _profile(data: _Data, best: Array, peak: float, t: int, level: float) -> tuple[float, float]:
    from scipy.optimize import brentq
    from scipy.stats import chi2

    floor = peak - float(chi2.ppf(level, 1)) / 2

    def above(p: float) -> float:
        start = best.copy()
        start[t] = 0.0
        return _maximise(data, np.maximum(start, 1e-6), (t, p))[1] - floor

    low, high = 1e-9, 1 - 1e-9
    here = float(np.clip(best[t], low, high))
    left = 0.0 if above(low) >= 0 else float(brentq(above, low, here, xtol=1e-7))
    right = 1.0 if above(high) >= 0 else float(brentq(above, here, high, xtol=1e-7))
    return left, right


def _naive(data: _Data, theta: Array) -> Naive | None:
    groups = []
    for model, counts in data.groups:
        numbers = published_numbers(model.mechanism)
        if numbers is None:
            return None
        groups.append((counts, numbers, model.log_kernel, model.log_atoms(theta), model.omegas, None))
    return naive_analysis(groups)
