"""Likelihood for analysts: p(s|θ) = Σ_x m(s|x) P_θ(x), maximised over one parameter for many published cells.

ℓ(θ) = Σ_cells log p(s_c | θ). The estimate maximises it; the standard error is (−ℓ″)^(−1/2) at the estimate
(absent at the edge of the parameter's range); the profile interval is {θ : 2(ℓ(θ̂) − ℓ(θ)) ≤ χ²_1 quantile},
which needs no symmetry. Cells of different sizes are groups with a model each and one θ. The naive analysis is
computed beside. Intervals hold if the model does: `check` asks whether the published values look like draws from it.

Reference: BG section 4, eq. (3) (privatised data probability). Implements it for finite mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.interpret.channel import Outputs, output_count, positions_of
from discreet.interpret.models import MultinomialModel, OneParameterModel
from discreet.interpret.naive import Naive, naive_analysis, published_numbers
from discreet.interpret.predictive import TableCheck, check_laws, misfit_words
from discreet.interpret.regions import check_level
from discreet.numerics.arrays import Floats
from discreet.numerics.logspace import log_sum_exp

GRID = 129
FLAT = 1e-9


@dataclass(frozen=True)
class Fit:
    """Maximum likelihood for one parameter. `standard_error` is None at the edge of the range, or where ℓ is flat.

    `check` compares the published values with the fitted law (None: too few cells), `warnings` say what was found wrong.
    """

    estimate: float
    standard_error: float | None
    interval: tuple[float, float]
    level: float
    log_likelihood: float
    cells: int
    at_edge: bool
    naive: Naive | None
    check: TableCheck | None
    warnings: tuple[str, ...]


def output_law(model: OneParameterModel | MultinomialModel, theta: float | Floats) -> Floats:
    """log p(s|θ) of every output."""
    atoms: Floats = model.log_atoms(theta)  # type: ignore[arg-type]
    return log_sum_exp(np.add(model.log_kernel, atoms), axis=1)


def output_counts(model: OneParameterModel | MultinomialModel, outputs: Outputs) -> Floats:
    """How often each output was published."""
    places = positions_of(model.mechanism, outputs)
    return np.bincount(places, minlength=output_count(model.mechanism)).astype(np.float64)


def fit(groups: Sequence[tuple[OneParameterModel, Outputs]], *, level: float = 0.95) -> Fit:
    """The maximum-likelihood estimate of θ from cells in groups (model, published values)."""
    if not groups:
        raise no_cells()
    level = check_level(level)
    counted = [(model, output_counts(model, outputs)) for model, outputs in groups]
    lower = max(model.lower for model, _ in counted)
    upper = min(model.upper for model, _ in counted)

    def log_likelihood(theta: float) -> float:
        total = 0.0
        for model, counts in counted:
            seen = counts > 0
            logs = log_sum_exp(model.log_kernel[seen] + model.log_atoms(theta), axis=1)
            total += float(counts[seen] @ logs)
        return total

    best, peak = _maximum(log_likelihood, lower, upper)
    if peak == -np.inf:
        raise InputError(
            "No value of the parameter can produce these published values",
            found="likelihood 0 everywhere",
            allowed="a model whose support reaches the data",
            remedy="choose another model or check the values",
        )
    width = upper - lower
    check = check_laws([(np.exp(output_law(model, best)), counts) for model, counts in counted])
    at_edge = bool(min(best - lower, upper - best) < 1e-6 * width)
    return Fit(
        estimate=best,
        standard_error=None if at_edge else _standard_error(log_likelihood, best, lower, upper),
        interval=_profile(log_likelihood, best, peak, lower, upper, level),
        level=level,
        log_likelihood=peak,
        cells=int(sum(counts.sum() for _, counts in counted)),
        at_edge=at_edge,
        naive=_naive(counted, best),
        check=check,
        warnings=misfit_words(check, level),
    )


def no_cells() -> InputError:
    """The refusal of an empty list."""
    return InputError("There are no cells to fit", found="an empty list", allowed="at least one group", remedy="give values")


def expected_naive(model: OneParameterModel, theta: float) -> Naive | None:
    """The naive analysis in expectation at a given θ: its bias without any data."""
    law = np.exp(output_law(model, theta))
    return _naive([(model, law)], theta)


def _maximum(objective: Callable[[float], float], lower: float, upper: float) -> tuple[float, float]:
    """The best of a grid that is dense near both ends, refined by Brent's method between its neighbours."""
    from scipy.optimize import minimize_scalar

    grid = lower + (upper - lower) * (1 - np.cos(np.linspace(0, np.pi, GRID))) / 2
    heights = np.array([objective(float(x)) for x in grid])
    top = int(np.argmax(heights))
    if heights[top] == -np.inf:
        return float(grid[top]), -np.inf
    low, high = float(grid[max(top - 1, 0)]), float(grid[min(top + 1, GRID - 1)])
    found = minimize_scalar(
        lambda x: -objective(float(x)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10 * max(1.0, upper - lower)},
    )
    if -found.fun >= heights[top]:
        return float(found.x), float(-found.fun)
    return float(grid[top]), float(heights[top])


def _standard_error(objective: Callable[[float], float], best: float, lower: float, upper: float) -> float | None:
    """(−ℓ″)^(−1/2) by central differences whose step is a small part of the curve's own width."""
    step = min(1e-3 * (upper - lower), (best - lower) / 2, (upper - best) / 2)
    curvature = 0.0
    for _ in range(3):
        curvature = (objective(best + step) - 2 * objective(best) + objective(best - step)) / step**2
        if curvature >= 0:
            return None
        step = min(0.1 * float((-curvature) ** -0.5), (best - lower) / 2, (upper - best) / 2)
    return None if -curvature < FLAT else float((-curvature) ** -0.5)


def _profile(
    objective: Callable[[float], float], best: float, peak: float, lower: float, upper: float, level: float
) -> tuple[float, float]:
    from scipy.optimize import brentq
    from scipy.stats import chi2

    floor = peak - float(chi2.ppf(level, 1)) / 2

    def above(theta: float) -> float:
        return max(objective(theta), -1e300) - floor

    left = lower if above(lower) >= 0 else float(brentq(above, lower, best, xtol=1e-12 * (upper - lower)))
    right = upper if above(upper) >= 0 else float(brentq(above, best, upper, xtol=1e-12 * (upper - lower)))
    return left, right


def _naive(counted: Sequence[tuple[OneParameterModel, Floats]], theta: float) -> Naive | None:
    groups = []
    for model, counts in counted:
        numbers = published_numbers(model.mechanism)
        if numbers is None:
            return None
        groups.append((counts, numbers, model.log_kernel, model.log_atoms(theta), model.omegas, model.line))
    return naive_analysis(groups)
