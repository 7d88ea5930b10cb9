"""Partial pooling: strata with little to say borrow from the others, as far as the strata are alike.

Each stratum's share has a mean m_s and a variance v_s from its own number. Around a common mean μ the strata scatter with
deviation τ = κ·μ; κ is on the list `SCATTERS`, all equally likely beforehand, μ is the mean weighted by 1/(v_s + τ²). Given τ
a stratum's share has

    mean (m_s·τ² + μ·v_s)/(v_s + τ²),   variance v_s·τ²/(v_s + τ²) + (v_s/(v_s + τ²))²·Var μ,

and these are mixed over κ by the probability of the m_s. One stratum is left as it is. (Normal random effects, as in
meta-analysis.)
"""

from __future__ import annotations

import numpy as np

from discreet.learning.laws import Array

SCATTERS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0)


def pooled(means: Array, variances: Array) -> tuple[Array, Array]:
    """Means and variances of the strata after pooling."""
    if len(means) == 1:
        return means, variances
    found, logs = [], []
    first = float(np.average(means, weights=1 / variances))
    for scatter in SCATTERS:
        between = (scatter * first) ** 2
        around = variances + between
        centre = float(np.average(means, weights=1 / around))
        of_centre = float(1 / (1 / around).sum())
        pull = variances / around
        found.append(((1 - pull) * means + pull * centre, (1 - pull) * variances + pull**2 * of_centre))
        logs.append(-0.5 * float((np.log(around) + (means - centre) ** 2 / around).sum()) + 0.5 * float(np.log(of_centre)))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = sum(w * m for w, (m, _) in zip(weights, found, strict=True))
    variance = sum(w * (v + (m - mean) ** 2) for w, (m, v) in zip(weights, found, strict=True))
    return np.asarray(mean), np.asarray(variance)
