"""The float table of a closed form agrees with its exact probabilities, far into the tails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.model.kernel import GeometricKernel, StaircaseKernel
from discreet.model.priors.weights import log_ratio


@pytest.mark.parametrize(
    "kernel",
    [
        GeometricKernel(0, 60, 1, Fraction(1, 3)),
        GeometricKernel(-5, 40, 4, Fraction(999, 1000)),
        StaircaseKernel(0, 60, 5, 2, Fraction(1, 3)),
        StaircaseKernel(3, 90, 7, 7, Fraction(10**9 - 1, 10**9)),
        StaircaseKernel(0, 25, 3, 1, Fraction(1, 10**40)),
    ],
)
def test_logarithms_agree_with_the_exact_rows(kernel: GeometricKernel | StaircaseKernel) -> None:
    states = list(range(kernel.low, kernel.high + 1))
    found = kernel.logs(states)
    for i, output in enumerate(range(kernel.low, kernel.high + 1)):
        for j, state in enumerate(states):
            p = kernel.mass(output, state)
            assert found[i, j] == pytest.approx(log_ratio(p.numerator, p.denominator), rel=1e-12, abs=1e-12)
    assert np.exp(found).sum(axis=0) == pytest.approx(np.ones(len(states)), abs=1e-12)
