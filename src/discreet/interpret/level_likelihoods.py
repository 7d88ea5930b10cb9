"""What a value published about a whole region says of the region's total: log m(s | Ω = x), for mechanisms that read nothing else.

A mechanism on a weighted sum S with ω = a·S + b·N (total_laws.affine) reads the total alone; so does one on the histogram whose
probabilities agree wherever ω does. Any other mechanism also reads how the total came about, which the messages of a tree of totals
do not carry: it is refused.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.interpret.channel import log_likelihood, output_at, output_count
from discreet.interpret.coherent_levels import Likelihood
from discreet.interpret.total_laws import affine
from discreet.interpret.totals import number_in
from discreet.model.kernel import CountedKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.statistic import on_histograms
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats, Integers

MOST_HISTOGRAMS = 20_000


def level_likelihood(
    mechanism: Mechanism, position: int, offset: Fraction, unit: Fraction, scale: Fraction = Fraction(1)
) -> Likelihood:
    """Log likelihoods of the totals offset + unit·k after the output at a position; `scale` as in `PublishedGroup`."""
    line = _line(mechanism)
    if line is not None:
        slope, shift = line
        many, weights = mechanism.problem.people.respondents, mechanism.weighted_sum.weights
        first, step = (offset / scale - shift * many) / slope, unit / scale / slope
        bottom = np.lcm(first.denominator, step.denominator)
        start, stride = int(first * int(bottom)), int(step * int(bottom))

        def summed(steps: Integers) -> Floats:
            scaled = start + stride * steps
            totals = scaled // int(bottom)
            held = (scaled % int(bottom) == 0) & (totals >= many * min(weights)) & (totals <= many * max(weights))
            logs = np.full(len(steps), -np.inf)
            if held.any():
                logs[held] = log_likelihood(mechanism, position, totals[held][:, None], "total")
            return logs

        return summed
    known = {omega * scale: chance for omega, chance in _by_statistic(mechanism, position).items()}

    def looked_up(steps: Integers) -> Floats:
        return np.array([known.get(offset + unit * k, -np.inf) for k in steps.tolist()])

    return looked_up


def must_read_the_total(mechanism: Mechanism) -> None:
    """Refuse a mechanism that reads more of a region than its total, before it is published."""
    if _line(mechanism) is None:
        for position in range(output_count(mechanism)):
            _by_statistic(mechanism, position)


def _line(mechanism: Mechanism) -> tuple[Fraction, Fraction] | None:
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe) or not isinstance(mechanism.summary, LinearSummary):
        return None
    if isinstance(mechanism.kernel, CountedKernel):
        return None
    weights = mechanism.problem.statistic.weights(universe)
    return None if weights is None else affine(mechanism.summary.weights, weights)


def _by_statistic(mechanism: Mechanism, position: int) -> dict[Fraction, float]:
    """log m(s|ω) where the kernel knows nothing but ω."""
    universe, kernel = mechanism.problem.universe, mechanism.kernel
    if not isinstance(universe, Universe) or not isinstance(kernel, TableKernel) or universe.histogram_count > MOST_HISTOGRAMS:
        raise _reads_more()
    vectors = universe.histograms()
    states = mechanism.states_of(vectors)
    found: dict[Fraction, int] = {}
    for omega, state in zip(on_histograms(mechanism.problem.statistic, vectors, universe), states.tolist(), strict=True):
        if found.setdefault(omega, kernel.weights[position][state]) != kernel.weights[position][state]:
            raise _reads_more()
    with np.errstate(divide="ignore"):
        return {omega: float(np.log(weight / kernel.denominator)) for omega, weight in found.items()}


def _reads_more() -> InputError:
    return InputError(
        "A mechanism of an upper level reads more than the total",
        found="a summary that does not follow from the statistic",
        allowed="levels above the finest read the statistic alone",
        remedy="design them with: discreet design --within oblivious",
    )


def face_value(mechanism: Mechanism) -> tuple[Floats, float] | None:
    """For least squares: the number that each output stands for, and its variance in the middle of the range; None if unknown."""
    line = _line(mechanism)
    universe = mechanism.problem.universe
    if line is None or not isinstance(universe, Universe):
        return None
    slope, shift = line
    codes = [number_in(output_at(mechanism, i).label) for i in range(output_count(mechanism))]
    if any(code is None for code in codes):
        return None
    values = np.array([float(slope * code + shift * universe.respondents) for code in codes if code is not None])
    weights = mechanism.weighted_sum.weights
    middle = universe.respondents * (min(weights) + max(weights)) // 2
    logs = [float(log_likelihood(mechanism, i, np.array([[middle]]), "total")[0]) for i in range(len(values))]
    truth = float(slope * middle + shift * universe.respondents)
    return values, float(np.exp(logs) @ (values - truth) ** 2)
