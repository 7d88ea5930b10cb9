"""Models of respondents: how the confidential data would come about if the parameter were θ.

`BinomialModel`     each of N respondents has type 1 with probability θ
`MultinomialModel`  each of N respondents has type t with probability θ_t (θ on the simplex)
`PoissonModel`      the summary's total is a Poisson(θ) count, clamped to the range that the mechanism reads
`GivenModel`        any law of the states, given by the user as a function of one parameter

A model gives the law P_θ of atoms (histograms, totals or states); with the kernel it gives the likelihood
p(s|θ) = Σ_x m(s|x) P_θ(x), BG eq. (3). `line` is (a, b) when E_θ[ω] = a·θ + b, which is what a naive reader inverts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InputError
from discreet.interpret.channel import kernel_logs, state_logs
from discreet.interpret.total_laws import affine, total_law
from discreet.model.kernel import CountedKernel
from discreet.model.mechanism import Mechanism
from discreet.model.statistic import on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import MOST_STATES, Universe
from discreet.numerics.arrays import Floats
from discreet.numerics.logspace import log_gamma, log_multinomial_pmf


@dataclass(frozen=True, eq=False)
class MultinomialModel:
    """Type probabilities θ; atoms are histograms, or totals where those are too many to list."""

    mechanism: Mechanism
    name = "multinomial"

    def __post_init__(self) -> None:
        universe = self.universe
        if not universe.fixed:
            raise InputError(
                "This model needs a fixed number of respondents",
                found=f"{universe.smallest} to {universe.largest}",
                allowed="one number",
                remedy="use a Poisson or a given model",
            )

    @property
    def universe(self) -> Universe:
        """The respondents and their types."""
        return _with_types(self.mechanism)

    @cached_property
    def by_totals(self) -> bool:
        """Whether histograms are too many, so that only the law of the summary's total is used."""
        return self.universe.histogram_count > MOST_STATES

    @cached_property
    def vectors(self) -> np.ndarray:
        """Atoms [atom, type], or [atom, 1] totals."""
        if not self.by_totals:
            return self.universe.histograms()
        uniform = np.full(self.universe.types, 1 / self.universe.types)
        return total_law(self.universe.respondents, uniform, self.mechanism.weighted_sum.weights)[0][:, None]

    @cached_property
    def omegas(self) -> Floats:
        """ω of each atom."""
        statistic, universe = self.mechanism.problem.statistic, self.universe
        if not self.by_totals:
            return np.array([float(v) for v in on_histograms(statistic, self.vectors, universe)])
        weights = statistic.weights(universe)
        line = affine(self.mechanism.summary.weights, weights) if weights is not None else None  # type: ignore[union-attr]
        if line is None:
            raise InputError(
                "The published total does not determine the statistic",
                found=f"{universe.respondents} respondents",
                allowed="a statistic that is a function of the mechanism's total",
                remedy="use fewer respondents",
            )
        return np.asarray(float(line[0]) * self.vectors[:, 0] + float(line[1]) * universe.respondents)

    @cached_property
    def log_kernel(self) -> Floats:
        """log m(s|x) [output, atom]."""
        return kernel_logs(self.mechanism, self.vectors, "total" if self.by_totals else "histogram")

    def log_atoms(self, theta: ArrayLike) -> Floats:
        """log P_θ of each atom."""
        chances = on_simplex(theta, self.universe.types)
        if not self.by_totals:
            return log_multinomial_pmf(self.vectors, chances)
        return total_law(self.universe.respondents, chances, self.mechanism.summary.weights)[1]  # type: ignore[union-attr]


@dataclass(frozen=True, eq=False)
class BinomialModel:
    """One probability θ that a respondent has type 1 of two types."""

    mechanism: Mechanism
    name = "binomial"
    lower = 0.0
    upper = 1.0

    def __post_init__(self) -> None:
        if self.inner.universe.types != 2:
            raise InputError(
                "A binomial model needs respondents of two types",
                found=f"{self.inner.universe.types} types",
                allowed="2",
                remedy="use the multinomial model",
            )

    @cached_property
    def inner(self) -> MultinomialModel:
        """The same as a multinomial model."""
        return MultinomialModel(self.mechanism)

    @property
    def log_kernel(self) -> Floats:
        """log m(s|x) [output, atom]."""
        return self.inner.log_kernel

    @property
    def omegas(self) -> Floats:
        """ω of each atom."""
        return self.inner.omegas

    def log_atoms(self, theta: float) -> Floats:
        """log P_θ of each atom."""
        return self.inner.log_atoms(np.array([1 - theta, theta]))

    @cached_property
    def line(self) -> tuple[float, float] | None:
        """E_θ[ω] = a·θ + b for the linear statistics."""
        weights = self.mechanism.problem.statistic.weights(self.inner.universe)
        if weights is None:
            return None
        n = self.inner.universe.respondents
        return float(n * (weights[1] - weights[0])), float(n * weights[0])


@dataclass(frozen=True, eq=False)
class PoissonModel:
    """The total that the mechanism reads is a Poisson(θ) count, clamped to the mechanism's range of totals."""

    mechanism: Mechanism
    name = "poisson"
    lower = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism.summary, LinearSummary) or isinstance(self.mechanism.kernel, CountedKernel):
            raise InputError(
                "A Poisson count needs a mechanism that reads a total and nothing else",
                found=f"summary {self.mechanism.summary.kind!r}, kernel {self.mechanism.kernel.family!r}",
                allowed="'linear', and another kernel than 'counted'",
                remedy="use a given model",
            )
        low, high = self.range
        if low < 0 or high <= low:
            raise InputError(
                "A Poisson count needs a range of totals from 0 or above",
                found=f"{low} to {high}",
                allowed="0 <= low < high",
                remedy="use a given model",
            )

    @property
    def range(self) -> tuple[int, int]:
        """The totals to which counts are clamped."""
        return self.mechanism.weighted_sum.range(_with_types(self.mechanism))

    @property
    def upper(self) -> float:
        """Beyond this nearly every count is clamped to the top, and the data cannot tell values of θ apart."""
        high = self.range[1]
        return high + 10 * np.sqrt(high + 1) + 30

    @cached_property
    def vectors(self) -> np.ndarray:
        """Totals [atom, 1]."""
        low, high = self.range
        return np.arange(low, high + 1)[:, None]

    @property
    def omegas(self) -> Floats:
        """The clamped count itself."""
        return self.vectors[:, 0].astype(np.float64)

    @cached_property
    def log_kernel(self) -> Floats:
        """log m(s|x) [output, atom]."""
        return kernel_logs(self.mechanism, self.vectors, "total")

    def log_atoms(self, theta: float) -> Floats:
        """log P_θ of the clamped count."""
        from scipy.special import gammainc, gammaincc

        low, high = self.range
        k = self.vectors[:, 0].astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where((k == 0) & (theta == 0), 0.0, k * np.log(theta)) - theta - log_gamma(k + 1)
            logs[0] = np.log(gammaincc(low + 1, theta))
            logs[-1] = np.log(gammainc(high, theta))
        return np.asarray(logs)

    @property
    def line(self) -> tuple[float, float]:
        """The mean of the unclamped count is θ."""
        return 1.0, 0.0


@dataclass(frozen=True, eq=False)
class GivenModel:
    """A user's model: `law(θ)` returns the probability of each state of the mechanism, in the order of its states."""

    mechanism: Mechanism
    law: Callable[[float], ArrayLike]
    lower: float
    upper: float
    name: str = "given"
    line: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lower) and np.isfinite(self.upper) and self.lower < self.upper):
            raise InputError(
                "A given model needs a finite range of its parameter",
                found=f"{self.lower} to {self.upper}",
                allowed="lower < upper",
                remedy="correct the range",
            )

    @cached_property
    def log_kernel(self) -> Floats:
        """log m(s|x) [output, state]."""
        return state_logs(self.mechanism)

    @cached_property
    def omegas(self) -> Floats:
        """The total or first coordinate of each state; NaN where states have no number."""
        vectors = self.mechanism.space.vectors
        one = isinstance(self.mechanism.summary, LinearSummary)
        return vectors[:, 0].astype(np.float64) if one else np.full(len(vectors), np.nan)

    def log_atoms(self, theta: float) -> Floats:
        """log P_θ of each state; refuses a law that is none."""
        law = np.asarray(self.law(theta), dtype=np.float64)
        states = len(self.mechanism.space)
        total = float(law.sum()) if law.shape == (states,) else float("nan")
        if not (law.shape == (states,) and bool((law >= 0).all()) and abs(total - 1) < 1e-9):
            raise InputError(
                "The model's law is not a probability for each state",
                found=f"shape {law.shape}, sum {total:g}",
                allowed=f"{states} numbers from 0 that sum to 1",
                remedy="correct the function `law`",
            )
        with np.errstate(divide="ignore"):
            return np.log(law / total)


OneParameterModel = BinomialModel | PoissonModel | GivenModel


def on_simplex(theta: ArrayLike, types: int) -> Floats:
    """θ as probabilities of the types; refuses anything else."""
    chances = np.asarray(theta, dtype=np.float64)
    good = chances.shape == (types,) and bool((chances >= -1e-12).all()) and abs(float(chances.sum()) - 1) < 1e-9
    if not good:
        raise InputError(
            "θ is not a probability for each type",
            found=str(chances.tolist()),
            allowed=f"{types} numbers that sum to 1",
            remedy="correct θ",
        )
    clean = np.maximum(chances, 0.0)
    return np.asarray(clean / clean.sum())


def _with_types(mechanism: Mechanism) -> Universe:
    return mechanism.problem.people_for("Databases listed by name have no respondents to model", "use a given model of the names")
