"""How wrong a sum of n cells is, for each column that somebody may add up.

A column gives each output s a number c(s). Its error in one cell, e = c(s) − ω, has a bias b = E[e] and a variance v under what is
true of the cells; a sum over n independent cells is off by √(n·v + n²·b²) (root mean square): biases add up, errors average out.
What is true is the design's prior, or a prior that it misses: every probability off by a share, those of high values too low.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.interpret.beliefs import beliefs
from discreet.interpret.channel import kernel_logs
from discreet.interpret.reading import readings
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IidPrior, Prior, ReferencePrior
from discreet.model.unbiased import unbiased_values
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats

OFF = Fraction(1, 10)


@dataclass(frozen=True)
class ColumnError:
    """Bias and variance of a column's error in one cell."""

    bias: float
    variance: float

    def of_total(self, cells: int) -> float:
        """The root mean squared error of the sum over so many cells."""
        return sqrt(max(cells * self.variance + (cells * self.bias) ** 2, 0.0))


def column_values(mechanism: Mechanism) -> dict[str, Floats]:
    """What each column of a release says after each output: those that are numbers for all outputs."""
    actions = [output.action for output in mechanism.outputs]
    found: dict[str, Floats] = {}
    if all(isinstance(action, Fraction) for action in actions):
        found["published"] = np.array([float(action) for action in actions])  # type: ignore[arg-type]
    found["posterior_mean"] = readings(mechanism).mean
    unbiased = None if mechanism.problem.unbiased is not None and "published" in found else unbiased_values(mechanism)
    if unbiased is not None:  # where published values are unbiased by design they are that column
        found["unbiased"] = unbiased
    return {name: column for name, column in found.items() if np.isfinite(column).all()}


def column_errors(mechanism: Mechanism, truth: Prior | None = None) -> dict[str, ColumnError]:
    """Bias and variance of each column's error when `truth` (the design's prior by default) is true of the cells."""
    return errors_of(mechanism, column_values(mechanism), truth)


def errors_of(mechanism: Mechanism, columns: Mapping[str, Floats], truth: Prior | None = None) -> dict[str, ColumnError]:
    """The same for given columns."""
    held = beliefs([mechanism], truth)
    kernel = np.exp(kernel_logs(mechanism, held.vectors, held.kind))
    weights = np.exp(held.log_weights)
    omegas = held.numbers[held.omega]
    found = {}
    for name, column in columns.items():
        first = column @ kernel
        bias = float(weights @ (first - omegas))
        square = float(weights @ ((column**2) @ kernel - 2 * omegas * first + omegas**2))
        found[name] = ColumnError(bias, max(square - bias**2, 0.0))
    return found


def missed_prior(mechanism: Mechanism, share: Fraction = OFF) -> IidPrior | None:
    """The prior with every probability off by a share: more of the values above the mean, less of those below; None if not iid."""
    problem = mechanism.problem
    prior = problem.prior
    if not isinstance(prior, (IidPrior, ReferencePrior)) or not isinstance(problem.universe, Universe):
        return None
    values = problem.statistic.weights(problem.universe)
    if values is None:
        return None
    mean = sum((p * v for p, v in zip(prior.probabilities, values, strict=True)), Fraction(0))
    moved = [p * (1 + share * ((v > mean) - (v < mean))) for p, v in zip(prior.probabilities, values, strict=True)]
    return IidPrior(tuple(p / sum(moved) for p in moved), size=prior.size)
