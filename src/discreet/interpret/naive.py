"""The naive analysis: what a reader gets who takes published numbers for the truth.

It averages the published values and claims the standard error that the model would have without the mechanism. Its
bias is computed, not guessed: E_θ[value] − E_θ[ω] from the exact law of the outputs at the fitted θ.
`overconfidence` is the true standard deviation of a published value over the claimed one. Always shown beside
the analysis that heeds the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.interpret.channel import output_at, output_count
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact
from discreet.numerics.logspace import log_sum_exp


@dataclass(frozen=True)
class Naive:
    """Mean of the published values as if they were true, with its bias per value and the error it hides.

    `parameter` and `parameter_bias` are in units of θ, when the mean of the statistic is linear in θ.
    """

    mean: float
    claimed_standard_error: float
    bias: float
    overconfidence: float
    parameter: float | None
    parameter_bias: float | None


def published_numbers(mechanism: Mechanism) -> Floats | None:
    """The number that each output shows: its label, else its recommended action; None when some output has neither."""
    numbers = []
    for i in range(output_count(mechanism)):
        output = output_at(mechanism, i)
        try:
            numbers.append(float(exact(output.label)))
        except InputError:
            if not isinstance(output.action, Fraction):
                return None
            numbers.append(float(output.action))
    return np.array(numbers)


def naive_analysis(
    groups: Sequence[tuple[Floats, Floats, Floats, Floats, Floats, tuple[float, float] | None]],
) -> Naive | None:
    """Groups of cells: counts of outputs, published numbers, log kernel, log law at θ̂, ω of atoms, line."""
    cells = values = expected = truth = 0.0
    spread = noise = 0.0
    slopes = intercepts = 0.0
    linear = True
    for counts, numbers, log_kernel, log_atoms, omegas, line in groups:
        n = float(counts.sum())
        law = np.exp(log_sum_exp(log_kernel + log_atoms, axis=1))
        atoms = np.exp(log_atoms)
        inside = atoms > 0
        mean_omega = float(atoms[inside] @ omegas[inside])
        if line is not None and not np.isfinite(mean_omega):
            return None
        mean_value = float(law @ numbers)
        cells += n
        values += float(counts @ numbers)
        expected += n * mean_value
        truth += n * mean_omega
        spread += n * float(atoms[inside] @ (omegas[inside] - mean_omega) ** 2)
        noise += n * float(law @ (numbers - mean_value) ** 2)
        if line is None:
            linear = False
        else:
            slopes += n * line[0]
            intercepts += n * line[1]
    if not np.isfinite(truth):
        return None
    parameter = (values - intercepts) / slopes if linear and slopes else None
    return Naive(
        mean=values / cells,
        claimed_standard_error=float(np.sqrt(spread)) / cells,
        bias=(expected - truth) / cells,
        overconfidence=float(np.sqrt(noise / spread)) if spread > 0 else float("inf"),
        parameter=parameter,
        parameter_bias=(expected - truth) / slopes if linear and slopes else None,
    )
