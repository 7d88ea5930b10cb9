"""Closed-form kernels are proved by their formula, in constant work for any number of states.

Both families add noise f to a whole number and gather the tails at the ends. Lemma: if f(j) ≤ c·f(j′) whenever
|j − j′| ≤ step, then every output's probability changes by a factor of at most c between states at most `step` apart
(for the ends sum the inequality over the tail). The summary moves by at most its own step between neighbours.

geometric: f(j) ∝ r^|j| changes by at most r^−step.   staircase: the exponent ⌊(x + W − m)/W⌋ changes by at most one
when x moves by at most W, so f changes by at most r^−1.

Attained: the geometric at s = low, low+d, output low: r^−d with d = min(step, range). The staircase at an inner output
k = s = low+1 against s + W when the range allows it; shorter ranges are compared entry by entry.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Refuted
from discreet.model.certificate import Counterexample, PrivacyProof
from discreet.model.kernel import ClosedKernel, GeometricKernel, closed_probability
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.numerics.brackets import compare_ratio_exp, log_bracket
from discreet.numerics.exact import format_exact

TIGHT_BITS = 64


def closed_form_privacy(mechanism: Mechanism, kernel: ClosedKernel) -> PrivacyProof | Counterexample:
    """The proof for a geometric or staircase kernel on a weighted sum."""
    summary, universe = mechanism.summary, mechanism.problem.universe
    if not isinstance(summary, LinearSummary) or not isinstance(universe, Universe):
        raise Refuted("a closed-form kernel reads a weighted sum", f"summary {summary.kind!r}")
    epsilon = mechanism.guarantee.epsilon
    moved = summary.step(mechanism.problem.neighbours)
    low, high = summary.range(universe)
    if moved > kernel.step or low < kernel.low or high > kernel.high:
        return Counterexample(
            "privacy", "The summary leaves the kernel's range or moves further than its step",
            found=f"totals {low}..{high}, step {moved}",
            allowed=f"totals {kernel.low}..{kernel.high}, step {kernel.step}",
        )
    edge, output, ratio = _attained(kernel, low, high, min(moved, high - low))
    bound = _proved_factor(kernel, moved)
    if compare_ratio_exp(bound.numerator, bound.denominator, epsilon) > 0:
        attained = compare_ratio_exp(ratio.numerator, ratio.denominator, epsilon) > 0
        return Counterexample(
            "privacy",
            f"Output {output} is too much likelier at state {edge[0]} than at its neighbour {edge[1]}"
            if attained
            else "The noise falls too fast for this ε",
            edge=edge, output=output, found=f"a ratio of {float(ratio if attained else bound):.15g}",
            allowed=f"a log-ratio of at most {format_exact(epsilon)}",
        )
    tight_low = log_bracket(ratio, TIGHT_BITS)[0] if ratio > 1 else Fraction(0)
    tight_high = min(log_bracket(bound, TIGHT_BITS)[1], epsilon) if bound > 1 else Fraction(0)
    width = kernel.high - kernel.low + 1
    return PrivacyProof(epsilon, max(tight_low, Fraction(0)), tight_high, edge, output, high - low, width, "closed-form")


def _proved_factor(kernel: ClosedKernel, moved: int) -> Fraction:
    """The lemma's factor c for a summary that moves by at most `moved`."""
    if moved == 0:
        return Fraction(1)
    if isinstance(kernel, GeometricKernel):
        return 1 / kernel.ratio**moved
    return 1 / kernel.ratio


def _attained(
    kernel: ClosedKernel, low: int, high: int, moved: int
) -> tuple[tuple[str, str], str, Fraction]:
    """A pair of totals `moved` apart and an output with a large ratio, for the two-sided bracket."""
    starts = {low, min(low + 1, high - moved), high - moved}
    ends = {kernel.low, kernel.high}
    best: tuple[Fraction, int, int, int] | None = None
    for start in starts:
        for near, far in ((start, start + moved), (start + moved, start)):
            for output in {near} | {end for end in ends if abs(end - near) <= kernel.step}:
                bottom = closed_probability(kernel, output, far)
                ratio = closed_probability(kernel, output, near) / bottom
                if best is None or ratio > best[0]:
                    best = (ratio, near, far, output)
    assert best is not None
    ratio, near, far, output = best
    return (str(near), str(far)), str(output), ratio
