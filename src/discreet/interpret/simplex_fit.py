"""Maximum likelihood for type probabilities θ on the simplex, from many published cells.

`simplex_search` finds the maximum from several starts and checks the conditions for one. A profile interval for θ_t holds it
fixed and maximises over the others. Information that the published values do not hold shows as `identified = False`, and
`warnings` say when the values do not look like draws from the model at all.

Reference: BG eq. (3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.interpret.channel import Outputs
from discreet.interpret.likelihood import no_cells, output_counts, output_law
from discreet.interpret.models import MultinomialModel
from discreet.interpret.naive import Naive, naive_analysis, published_numbers
from discreet.interpret.predictive import TableCheck, check_laws, misfit_words
from discreet.interpret.regions import check_level
from discreet.interpret.simplex_search import CLOSE, Held, Likelihood, Standing, modes, search
from discreet.numerics.arrays import Floats
from discreet.numerics.digits import about

SINGULAR = 1e-8
EDGE = 1e-6
"""Estimates this near to zero have no standard error: the likelihood does not turn there."""


@dataclass(frozen=True)
class SimplexFit:
    """Estimates of all type probabilities; standard errors are None at an edge, or where the data do not identify them.

    `gap` is what a straight step towards one type could still gain to first order, 0 at a maximum.
    """

    estimate: tuple[float, ...]
    standard_errors: tuple[float, ...] | None
    intervals: tuple[tuple[float, float], ...]
    level: float
    log_likelihood: float
    cells: int
    identified: bool
    at_edge: bool
    gap: float
    naive: Naive | None
    check: TableCheck | None
    warnings: tuple[str, ...]


def fit_simplex(groups: Sequence[tuple[MultinomialModel, Outputs]], *, level: float = 0.95, profiles: bool = True) -> SimplexFit:
    """The maximum-likelihood type probabilities; `profiles=False` leaves the intervals to ± normal quantile × error."""
    if not groups:
        raise no_cells()
    level = check_level(level)
    if any(model.by_totals for model, _ in groups):
        raise InputError(
            "Fitting every type needs the histograms listed",
            found="too many histograms",
            allowed="fewer respondents or types",
            remedy="fit a one-parameter model",
        )
    data = Likelihood(tuple((model, output_counts(model, outputs)) for model, outputs in groups))
    if not np.isfinite(data.at(np.full(data.types, 1 / data.types)).value):
        raise InputError(
            "No type probabilities can produce these published values",
            found="likelihood 0",
            allowed="values that the mechanism can publish",
            remedy="check the values",
        )
    tops = modes(data)
    best = tops[0]
    covariance = _covariance(best)
    at_edge = bool(best.theta.min() < EDGE)
    errors = None if covariance is None or at_edge else tuple(float(e) for e in np.sqrt(np.diag(covariance)))
    intervals = _profiles(data, tops, level) if profiles else _normal(best, errors, level)
    check = check_laws([(np.exp(output_law(model, best.theta)), counts) for model, counts in data.groups])
    return SimplexFit(
        estimate=tuple(float(p) for p in best.theta),
        standard_errors=errors,
        intervals=intervals,
        level=level,
        log_likelihood=best.value,
        cells=data.cells,
        identified=covariance is not None,
        at_edge=at_edge,
        gap=best.gap,
        naive=_naive(data, best.theta),
        check=check,
        warnings=_warnings(data, best, check, level),
    )


def _covariance(best: Standing) -> Floats | None:
    """The inverse observed information along the simplex, or None where it is singular."""
    size = len(best.theta) - 1
    spread = np.vstack([-np.ones((1, size)), np.eye(size)])
    information = spread.T @ best.information @ spread
    eigenvalues = np.linalg.eigvalsh(information)
    if eigenvalues[0] <= SINGULAR * max(eigenvalues[-1], 1.0):
        return None
    return np.asarray(spread @ np.linalg.inv(information) @ spread.T)


def _normal(best: Standing, errors: tuple[float, ...] | None, level: float) -> tuple[tuple[float, float], ...]:
    from scipy.stats import norm

    z = float(norm.ppf((1 + level) / 2))
    spread = errors or (1.0,) * len(best.theta)
    return tuple((max(p - z * e, 0.0), min(p + z * e, 1.0)) for p, e in zip(best.theta.tolist(), spread, strict=True))


def _profiles(data: Likelihood, tops: list[Standing], level: float) -> tuple[tuple[float, float], ...]:
    from scipy.stats import chi2

    floor = tops[0].value - float(chi2.ppf(level, 1)) / 2
    return tuple(_profile(data, [top.theta for top in tops], floor, t) for t in range(data.types))


def _profile(data: Likelihood, tops: list[Floats], floor: float, t: int) -> tuple[float, float]:
    """Where the best log-likelihood with θ_t held stays above the floor; each search starts at the last one and other modes."""
    from scipy.optimize import brentq

    last = [tops[0]]

    def above(p: float) -> float:
        found = search(data, [last[-1], *tops[1:]], Held(t, p))
        last.append(found.theta)
        return max(found.value, -1e300) - floor

    low, high = 1e-9, 1 - 1e-9
    here = float(np.clip(tops[0][t], low, high))
    left = 0.0 if above(low) >= 0 else float(brentq(above, low, here, xtol=1e-6))
    last.append(tops[0])
    right = 1.0 if above(high) >= 0 else float(brentq(above, here, high, xtol=1e-6))
    return left, right


def _warnings(data: Likelihood, best: Standing, check: TableCheck | None, level: float) -> tuple[str, ...]:
    words = []
    if best.gap > CLOSE * data.cells:
        words.append(
            f"The search stopped short of a maximum: a further step could still raise the log-likelihood by about "
            f"{about(best.gap, 2)}. Do not rely on these numbers."
        )
    return (*words, *misfit_words(check, level))


def _naive(data: Likelihood, theta: Floats) -> Naive | None:
    groups = []
    for model, counts in data.groups:
        numbers = published_numbers(model.mechanism)
        if numbers is None:
            return None
        groups.append((counts, numbers, model.log_kernel, model.log_atoms(theta), model.omegas, None))
    return naive_analysis(groups)
